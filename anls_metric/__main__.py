"""The command ``anls``: ``python -m anls_metric`` is the same."""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def run() -> NoReturn:
    """Run the command, and end the process with its exit status."""
    gc.disable()  # there are no cycles among the modules and what is read, and looking for them takes 6 ms
    from anls_metric import command_line

    sys.exit(command_line.main())


if __name__ == "__main__":
    run()
