"""The examples without their own test file."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT, without_questions

Load = Callable[[str], ModuleType]


def test_confidence_interval_example_agrees_with_the_command(
    load_example: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    example: Any = load_example("confidence_interval")
    files = [str(ROOT / "examples" / "compare" / name) for name in ("gold.json", "tuned.json")]
    example.main(*files)
    printed = capsys.readouterr().out
    document = anls_metric.score(files[1], files[0]).to_dict()
    (submission,) = document["submissions"]
    assert re.findall(r"\d\.\d{4}", printed) == [f"{x:.4f}" for x in (submission["anls"], *submission["interval"])]
    assert f"(by {document['clusters']['field']})" in printed
    assert anls_metric.signature() in without_questions(printed)


def test_combine_metrics_example_gives_both_scores(load_example: Load) -> None:
    pytest.importorskip("evaluate")
    example: Any = load_example("combine_metrics")
    assert example.main() == {"anls": (8 / 9 + 0 + 0.875 + 1) / 4, "exact_answer": 0.25}
