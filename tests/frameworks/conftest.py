"""Shared by the tests of frameworks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import ROOT

os.environ.setdefault("KERAS_BACKEND", "torch")  # keras reads it only at import

# The examples for harnesses, their questions, and made-up answers to these.
HARNESSES = ROOT / "examples" / "harnesses"
QUESTIONS = [json.loads(line) for line in (HARNESSES / "questions" / "test.jsonl").read_text().splitlines()]
ACCEPTED = [line["answers"] for line in QUESTIONS]
ANSWERS = ["12.34 EUR", "CocaCola", "12/15/89", "eight"]


@pytest.fixture(scope="module")
def single_thread() -> Iterator[None]:
    """Torch with a single thread, since test processes run side by side."""
    torch: Any = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def join_other_process(rank: int, folder: str) -> None:
    """Make this process one of two that torch distributes work to."""
    import torch

    torch.set_num_threads(1)
    os.environ.update(WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", OMP_NUM_THREADS="1")
    os.environ["RANK"] = os.environ["LOCAL_RANK"] = str(rank)
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2, timeout=timedelta(seconds=60)
    )
