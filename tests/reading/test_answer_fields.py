"""Confidences and verdicts in the record of an answer. The records are made up."""

from __future__ import annotations

import doctest
import math
from typing import Any

import pytest

from anls_metric.reading import answer_fields
from anls_metric.reading.answer_fields import read_confidence, read_verdict


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0.0), (1, 1.0), (0.25, 0.25), ("0.5", 0.5), (None, None), ("", None)]
)
def test_confidence_is_a_probability(value: Any, expected: float | None) -> None:
    assert read_confidence({"meta": {"p": value}}, "meta.p") == expected


@pytest.mark.parametrize("value", [True, "high", 1.5, -0.1, "95%", math.nan, [0.5]])
def test_other_confidence_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"p is .*: write a probability from 0 to 1"):
        read_confidence({"p": value}, "p")


def test_logprob_is_a_logarithm() -> None:
    assert read_confidence({"logprob": math.log(0.25)}, "logprob") == pytest.approx(0.25)
    assert read_confidence({"logprob": "-inf"}, "logprob") == 0.0
    for value in (0.5, "x", math.nan):
        with pytest.raises(ValueError, match="logarithm"):
            read_confidence({"logprob": value}, "logprob")


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "true", "Correct", "YES", " yes "])
def test_right_verdicts(value: Any) -> None:
    assert read_verdict({"judge": value}, "judge") is True


@pytest.mark.parametrize("value", [False, 0, 0.0, "0", "False", "incorrect", "no"])
def test_wrong_verdicts(value: Any) -> None:
    assert read_verdict({"judge": value}, "judge") is False


@pytest.mark.parametrize("value", [2, 0.5, "maybe", ["yes"], {"grade": 1}])
def test_other_verdict_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"judge is .*: write true or false"):
        read_verdict({"judge": value}, "judge")


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(answer_fields).failed == 0
