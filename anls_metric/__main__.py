"""The command ``anls``: ``python -m anls_metric`` is the same."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command, and end the process with its exit status."""
    gc.disable()  # what is read holds no cycles, and looking for them takes 6 ms
    from anls_metric import command_line

    status = command_line.main()
    gc.freeze()  # nor does the interpreter look for them when it ends, which takes 7 ms
    sys.exit(status)


if __name__ == "__main__":
    run()
