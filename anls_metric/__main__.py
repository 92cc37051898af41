"""Runs the ``anls`` command, also as ``python -m anls_metric``."""

from __future__ import annotations

import gc
import io
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command and end the process with its exit status."""
    gc.disable()  # records hold no cycles, and looking for cycles takes 6 ms
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the process at once: see `endings`
    if sys.stdout and isinstance(sys.stdout.buffer, io.RawIOBase):  # PYTHONUNBUFFERED: a full disk would lose output
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(sys.stdout.buffer), sys.stdout.encoding, sys.stdout.errors)
    from anls_metric.command import command_line

    status = command_line.main()
    gc.freeze()  # keeps the interpreter from looking for cycles when it ends, which takes 7 ms
    sys.exit(status)


if __name__ == "__main__":
    run()
