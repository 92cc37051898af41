"""Progress lines for long work: `Stopwatch` runs beside the work, and `StatusLine` shows what the work reports."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import threading


def replace_line(stream: TextIO, text: str) -> None:
    """Print a text over the last line of a terminal; "" clears the line."""
    print(f"\r\x1b[K{text}", end="", file=stream, flush=True)


class Stopwatch:
    """A context manager that shows, on a terminal, how long work of more than a second has been running.

    Its line disappears at the end. If stderr is not a terminal, it does nothing.

    Args:
        work: the words for the work. `add` appends a count.
    """

    SECONDS = 1.0

    def __init__(self, work: str) -> None:
        self._work, self._unit, self._count = work, "", 0
        self._start = time.monotonic()
        self._is_visible = False
        self._end: threading.Event | None = None

    def __enter__(self) -> Stopwatch:
        if sys.stderr and sys.stderr.isatty():
            import threading  # slow to import

            self._end = threading.Event()
            self._thread = threading.Thread(target=self._show_every_second, args=(self._end,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._end:
            self._end.set()
            self._thread.join()
        if self._is_visible:
            replace_line(sys.stderr, "")

    def add(self, count: int, unit: str = "questions") -> None:
        """Count completed work."""
        self._count += count
        self._unit = unit

    def show(self) -> None:
        """Show the work, its count and its seconds."""
        count = f": {self._count:,} {self._unit}" if self._unit else ""
        replace_line(sys.stderr, f"{self._work}{count}, {time.monotonic() - self._start:,.0f} s")
        self._is_visible = True

    def _show_every_second(self, end: threading.Event) -> None:
        while not end.wait(self.SECONDS):
            self.show()


class StatusLine:
    """Shows the state of work: in one changing line of a terminal, elsewhere in a new line now and then.

    Args:
        name: the result of the work, with which each line begins.
        stream: where to print the lines.
    """

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name, self._stream = name, stream
        self._is_terminal = stream.isatty()
        self._pause = 0.2 if self._is_terminal else 5.0  # seconds between two lines
        self._last = time.monotonic()

    def show(self, state: str) -> None:
        """Show the state, if the last line is old enough; "" ends the line."""
        now = time.monotonic()
        if state and now - self._last < self._pause:
            return
        self._last = now
        if self._is_terminal:
            replace_line(self._stream, state and f"{self._name}: {state}")
        elif state:
            print(f"{self._name}: {state}", file=self._stream, flush=True)
