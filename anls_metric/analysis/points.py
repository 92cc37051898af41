"""What format costs a submission, and what wrong numbers give it, in points of the score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from anls_metric.analysis.outcomes import (
    Answer,
    Judge,
    has_the_letters_and_digits,
    has_the_same_value,
    keep_digits,
)
from anls_metric.reading.join import Row

# The outcomes of answers that can have lost or got points. Whatever comes after "formatting" in the table of outcomes
# is neither the same value nor the same letters and digits, and scores 0.
_OUTCOMES = frozenset({"close enough", "same value", "contains an answer", "part of an answer", "formatting"})


class Points(NamedTuple):
    """Points of a score, from 0 to 1.

    Attributes:
        lost_to_format: how much higher the score would be if every answer that is the same value as an accepted one,
            or has the same letters and digits, scored 1.
        given_to_wrong_numbers: how much lower the score would be if every answer under 1 scored 0 whose digits differ
            from those of every accepted answer, and which is not the same value.
    """

    lost_to_format: float
    given_to_wrong_numbers: float


class PointCounter:
    """Counts the points of answers. The order of the answers does not change a bit.

    Args:
        judge: the judge that found the outcomes of the answers; it judges texts.

    Example:
        >>> answers = {"240": ("240.00", 0.5), "$ 5.12": ("$5.12", 0.75), "0.26": ("0.28", 0.75), "coal": ("cola", 0.5)}
        >>> rows = [Row(text, text, [accepted], {}) for text, (accepted, _) in answers.items()]
        >>> scores = [score for _, score in answers.values()]
        >>> judge = Judge()
        >>> counter = PointCounter(judge)
        >>> counter.add(rows, scores, judge.find_outcomes(rows, scores))
        >>> counter.count_points(4)
        Points(lost_to_format=0.1875, given_to_wrong_numbers=0.1875)
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lost: Counter[float] = Counter()
        self._given: Counter[float] = Counter()

    def add(self, rows: Sequence[Row], scores: Sequence[float], outcomes: Sequence[str]) -> None:
        """Add answers with their scores and outcomes."""
        for row, score, outcome in zip(rows, scores, outcomes):
            if score < 1.0 and outcome in _OUTCOMES:
                answer = Answer(row, score, self._judge)
                if keep_digits(answer.prediction) in map(keep_digits, answer.references):
                    is_lost = has_the_letters_and_digits(answer) or has_the_same_value(answer)
                else:
                    is_lost = has_the_same_value(answer)
                    if not is_lost:
                        self._given[score] += 1
                if is_lost:
                    self._lost[1.0 - score] += 1

    def count_points(self, count: int) -> Points:
        """The points of a set of so many questions."""
        return Points(*(math.fsum(each.elements()) / count for each in (self._lost, self._given)))
