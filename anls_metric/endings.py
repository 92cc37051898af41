"""Cleans up when a signal ends the process.

The command leaves Ctrl-C, SIGTERM and SIGHUP to the operating system, which ends the process at once, even while a
library is computing and Python could not call a handler. A handler is installed only while the end of the process would
leave something behind, such as an unfinished file, and removes it first.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a process; Windows has no SIGHUP."""


@contextmanager
def clean_up(clean: Callable[[], object]) -> Iterator[None]:
    """Within this context, call a function if a signal ends the process.

    Signals that the program handles or ignores are left to the program. In threads other than the main thread, which
    receive no signals, the function is never called.
    """

    def end(number: int, frame: object) -> None:
        clean()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    is_main = threading.current_thread() is threading.main_thread()
    deadly = [each for each in SIGNALS if is_main and signal.getsignal(each) is signal.SIG_DFL]
    for each in deadly:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in deadly:
            signal.signal(each, signal.SIG_DFL)
