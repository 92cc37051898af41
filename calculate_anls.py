"""The command `calculate-anls`, outside of the package, so that it can say in one line why that cannot be imported."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command.

    Returns:
        The exit status: that of `anls_metric.command_line.main`, or 2 where it cannot be imported.
    """
    try:
        from anls_metric import command_line
    except ImportError as error:
        print(f"calculate-anls: error: {error}", file=sys.stderr)
        return 2
    return command_line.main()
