"""The command `calculate-anls`, outside of the package, so that it can say in one line why that cannot be imported."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Run the command, and end the process with its exit status: 2 where the package cannot be imported.

    A process that ends here need neither look for cycles among its modules nor take apart what it read, which would be
    a tenth of its time.
    """
    gc.disable()
    status = _run()
    with suppress(OSError, AttributeError):  # nobody reads what is left, or there is no such stream
        sys.stderr.flush()
        sys.stdout.flush()
    if "gradio" in sys.modules:  # the page cleans up behind itself
        sys.exit(status)
    os._exit(status)


def _run() -> int:
    try:
        from anls_metric import command_line
    except ImportError as error:
        print(f"calculate-anls: error: {error}", file=sys.stderr)
        return 2
    try:
        return command_line.main()
    except SystemExit as error:  # of the parser
        return error.code if isinstance(error.code, int) else 0
