"""The example for accelerate scores each row once in two processes, without the rows that fill the last batch."""

from __future__ import annotations

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks.conftest import join_other_process

torch: Any = pytest.importorskip("torch", reason="the extra `torch` is not installed")
pytest.importorskip("transformers", reason="the extra `transformers` is not installed")
pytest.importorskip("accelerate", reason="the extra `transformers` is not installed")
pytest.importorskip("evaluate")

# Made-up rows: seven, so that the first is repeated in the last batch of two processes.
ANSWERS = ["12/15/89", "Coca Cola", "7", "Durham", "16.5", "yes", "ab345678"]
ACCEPTED = [["12/15/88"], ["Coca Cola", "Coke"], ["7", "seven"], ["Durham"], ["16.5"], ["yes"], ["12345670"]]
MEAN = (0.875 + 5 + 0.625) / 7


def score_share(rank: int, folder: str) -> None:
    """Score in one of two processes, and write the scores to a file."""
    os.environ["ACCELERATE_USE_CPU"] = "true"
    join_other_process(rank, folder)
    rows = [{"answer": answer, "references": accepted} for answer, accepted in zip(ANSWERS, ACCEPTED)]
    loader = torch.utils.data.DataLoader(
        rows, batch_size=2, collate_fn=lambda batch: {name: [row[name] for row in batch] for name in batch[0]}
    )
    example = import_module("evaluate_with_accelerate")
    scores = example.evaluate(torch.nn.Linear(1, 1), loader, lambda model, batch: batch["answer"])
    Path(folder, f"{rank}.json").write_text(json.dumps(scores), encoding="utf-8")
    torch.distributed.destroy_process_group()


def test_two_processes_score_each_row_once(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(score_share, (str(tmp_path),), nprocs=2)
    scores = [json.loads((tmp_path / f"{rank}.json").read_text("utf-8")) for rank in range(2)]
    assert scores == [{"anls": pytest.approx(MEAN)}] * 2  # 0.9286; with the repeated row it would be 0.9219


def test_example_runs_in_one_process(capsys: pytest.CaptureFixture[str]) -> None:
    import_module("evaluate_with_accelerate").main()
    assert capsys.readouterr().out.startswith("{'anls': ")
