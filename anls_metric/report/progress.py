"""A line on the terminal for long work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def announce(text: str, seconds: float = 1.0) -> Iterator[None]:
    """Print a line on the terminal if the work in the context takes longer than some seconds."""
    if not (sys.stderr and sys.stderr.isatty()):
        yield
        return
    import threading  # slow to import

    timer = threading.Timer(seconds, print, [text], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
