"""A line that says how far long work is."""

from __future__ import annotations

import time
from typing import TextIO


class Progress:
    """Says how far the work is: on a terminal in one line that changes, elsewhere in a new line now and then.

    Args:
        name: what is being made; each line begins with it.
        stream: where the lines go.
    """

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name, self._stream = name, stream
        self._changes = stream.isatty()
        self._pause = 0.2 if self._changes else 5.0  # seconds between two lines
        self._last = time.monotonic()

    def show(self, state: str) -> None:
        """Show how far the work is; "" ends it."""
        now = time.monotonic()
        if state and now - self._last < self._pause:
            return
        self._last = now
        if self._changes:
            print(f"\r\x1b[K{state and f'{self._name}: {state}'}", end="", file=self._stream, flush=True)
        elif state:
            print(f"{self._name}: {state}", file=self._stream, flush=True)
