"""lmms-eval looks for models in every package listed in ``LMMS_EVAL_PLUGINS``. This package has none."""

from __future__ import annotations

AVAILABLE_MODELS: dict[str, str] = {}
