"""Declares that this package has no models, because lmms-eval looks for models in every package listed in
``LMMS_EVAL_PLUGINS``.
"""

from __future__ import annotations

AVAILABLE_MODELS: dict[str, str] = {}
