"""The command ``anls``: ``python -m anls_metric`` is the same."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn


def run() -> NoReturn:
    """Run the command, and end the process with its exit status.

    A process that ends here need neither look for cycles among its modules nor take apart what it read, which would be
    a tenth of its time.
    """
    gc.disable()
    from anls_metric import command_line

    try:
        status = command_line.main()
    except SystemExit as error:  # of the parser
        status = error.code if isinstance(error.code, int) else 0
    with suppress(OSError, AttributeError):  # nobody reads what is left, or there is no such stream
        sys.stderr.flush()
        sys.stdout.flush()
    if "gradio" in sys.modules:  # the page cleans up behind itself
        sys.exit(status)
    os._exit(status)


if __name__ == "__main__":
    run()
