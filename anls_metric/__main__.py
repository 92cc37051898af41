"""``python -m anls_metric`` is the command `calculate-anls`."""

from __future__ import annotations

import sys

from anls_metric.command_line import main

if __name__ == "__main__":
    sys.exit(main())
