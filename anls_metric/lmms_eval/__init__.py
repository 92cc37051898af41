"""The tasks of lmms-eval that are scored by ANLS, such as ``docvqa_val_anls``, for ``LMMS_EVAL_PLUGINS``.

lmms-eval is not imported here: it reads the YAML in the folder `TASKS` and calls the functions that the YAML names.
"""

from __future__ import annotations

import os

__all__ = ["TASKS"]

TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tasks")
"""The folder of the tasks, for ``--include_path``."""
