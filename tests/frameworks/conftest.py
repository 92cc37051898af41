"""Shared by the tests of frameworks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")  # keras reads it only at import


@pytest.fixture(scope="module")
def single_thread() -> Iterator[None]:
    """Torch with a single thread, since test processes run side by side."""
    torch: Any = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
