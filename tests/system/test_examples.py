"""The examples that have no file of tests of their own."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT

Load = Callable[[str], ModuleType]


def test_a_confidence_interval(load_example: Load, capsys: pytest.CaptureFixture[str]) -> None:
    example: Any = load_example("confidence_interval")
    example.main(str(ROOT / "examples" / "gold_label.json"), str(ROOT / "examples" / "submission.json"))
    printed = capsys.readouterr().out
    score, low, high = map(float, re.findall(r"\d\.\d{4}", printed))
    assert score == 0.6273
    assert low < score < high
    assert anls_metric.signature() in printed


def test_anls_beside_another_metric(load_example: Load) -> None:
    pytest.importorskip("evaluate")
    example: Any = load_example("combine_metrics")
    assert example.main() == {"anls": (8 / 9 + 0 + 0.875 + 1) / 4, "exact_answer": 0.25}
