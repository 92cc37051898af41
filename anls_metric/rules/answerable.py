"""The F1 of benchmarks with questions that cannot be answered: `Not answerable` is an answer like any other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anls_metric.core.kernel import mean
from anls_metric.rules.benchmark_rule import Summary
from anls_metric.rules.judgement import Row

_NOT_ANSWERABLE = "Not answerable"


def summarize_answerable(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """The accuracy of a set, and the F1 of its answerable questions as the programs of the authors have it.

    Both precision and recall take the scores of the questions that are answerable.
    """
    answerable = [score for row, score in zip(rows, scores) if row["gold"] != _NOT_ANSWERABLE]
    answered = sum(row["prediction"] != _NOT_ANSWERABLE for row in rows)
    right = math.fsum(answerable)
    return {"acc": mean(scores), "f1": find_f1(divide(right, len(answerable)), divide(right, answered))}


def divide(part: float, whole: float) -> float:
    """The share of a part; 0 of nothing."""
    return part / whole if whole else 0.0


def find_f1(recall: float, precision: float) -> float:
    """The harmonic mean; 0 where both are 0."""
    return divide(2 * recall * precision, recall + precision)
