"""Computes the F1 of benchmarks with unanswerable questions, for which the right answer is `Not answerable`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anls_metric.core.scorer import mean
from anls_metric.rules.benchmark_rule import Summary
from anls_metric.rules.judgment import Row

_NOT_ANSWERABLE = "Not answerable"


def summarize_answerable(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """Compute the accuracy of a set and the F1 of its answerable questions in the same way as the authors' programs.

    Precision and recall both use the scores of the answerable questions.
    """
    answerable = [score for row, score in zip(rows, scores) if row["gold"] != _NOT_ANSWERABLE]
    answered = sum(row["prediction"] != _NOT_ANSWERABLE for row in rows)
    right = math.fsum(answerable)
    return {"acc": mean(scores), "f1": find_f1(divide(right, len(answerable)), divide(right, answered))}


def divide(part: float, whole: float) -> float:
    """Divide a part by a whole, or return 0 if the whole is 0."""
    return part / whole if whole else 0.0


def find_f1(recall: float, precision: float) -> float:
    """Compute the harmonic mean of recall and precision, or return 0 if both are 0."""
    return divide(2 * recall * precision, recall + precision)
