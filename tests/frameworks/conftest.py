"""What has to be there before a framework is imported."""

from __future__ import annotations

import os

os.environ.setdefault("KERAS_BACKEND", "torch")  # keras asks for it once, when it is imported
