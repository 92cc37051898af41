"""The reward of `anls_metric.trl` for ms-swift, for ``--external_plugins`` and ``--reward_funcs anls``.

ms-swift loads the file `PLUGIN`, and puts its folder before all others on the path of Python. So the file stands in a
folder of its own, where no module has the name of a library.
"""

from __future__ import annotations

import os

__all__ = ["PLUGIN"]

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reward_plugin.py")
"""The file for ``--external_plugins``."""
