"""Runs the command ``anls``; ``python -m anls_metric`` does the same."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command, and end the process with its exit status."""
    gc.disable()  # records hold no cycles, and looking for cycles takes 6 ms
    # Until the command catches Ctrl-C, it ends the process without a traceback of the imports.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from anls_metric.command import command_line

    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = command_line.main()
    if status == 130:
        os._exit(status)  # after Ctrl-C, without waiting for threads that wait for the Hub
    gc.freeze()  # keeps the interpreter from looking for cycles when it ends, which takes 7 ms
    sys.exit(status)


if __name__ == "__main__":
    run()
