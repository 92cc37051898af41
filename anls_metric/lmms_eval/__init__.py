"""Provides tasks that are scored with ANLS, such as ``docvqa_val_anls``, which lmms-eval finds through
``LMMS_EVAL_PLUGINS``.

This package does not import lmms-eval, which reads the YAML in the folder `TASKS` and calls the functions named there.
"""

from __future__ import annotations

import os

__all__ = ["TASKS"]

TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tasks")
"""The folder that contains the tasks, for ``--include_path``."""
