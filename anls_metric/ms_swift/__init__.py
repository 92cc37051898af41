"""A reward for ms-swift: that of `anls_metric.trl`, for ``--external_plugins`` and ``--reward_funcs anls``.

ms-swift loads the file `PLUGIN` and puts its folder first on Python's module path. So the file has its own folder, in
which no module has the name of a library.
"""

from __future__ import annotations

import os

__all__ = ["PLUGIN"]

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reward_plugin.py")
"""The file for ``--external_plugins``."""
