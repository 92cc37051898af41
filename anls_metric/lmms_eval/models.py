"""lmms-eval asks every package of ``LMMS_EVAL_PLUGINS`` for models. This package has none."""

from __future__ import annotations

AVAILABLE_MODELS: dict[str, str] = {}
