"""Settings that must exist before a framework is imported."""

from __future__ import annotations

import os

os.environ.setdefault("KERAS_BACKEND", "torch")  # keras reads it only at import
