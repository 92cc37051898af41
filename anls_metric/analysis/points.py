"""What format costs a submission, and what wrong numbers give it, in points of the score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from anls_metric.analysis.outcomes import (
    Answer,
    Judge,
    has_the_letters_and_digits,
    keep_digits,
    keep_letters_and_digits,
)
from anls_metric.analysis.same_value import is_any_same_value, may_be_a_value
from anls_metric.reading.join import Row, get_texts

# The outcomes of answers that can have lost or got points. Whatever comes after "formatting" in the table of outcomes
# is neither the same value nor the same letters and digits, and scores 0.
_OUTCOMES = frozenset({"close enough", "same value", "contains an answer", "part of an answer", "formatting"})


# It ends a text among others. What removes signs from a text leaves it.
_END = "\0"


class Points(NamedTuple):
    """Points of a score, from 0 to 1.

    Attributes:
        lost_to_format: how much higher the score would be if every answer that is the same value as an accepted one,
            or has the same letters and digits, scored 1.
        given_to_wrong_numbers: how much lower the score would be if wrong numbers scored 0: answers under 1 that have
            digits, while an accepted answer has digits, too, and none has the same ones; the same value is not wrong.
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
        below = [
            (row, score) for row, score, outcome in zip(rows, scores, outcomes) if score < 1.0 and outcome in _OUTCOMES
        ]
        lost, given, others = [], [], []
        for (row, score), (digits, *accepted) in zip(below, _keep_in_each(keep_digits, [row for row, _ in below])):
            prediction, references = get_texts(row)
            if may_be_a_value(prediction, digits) and is_any_same_value(prediction, references):
                lost.append(score)
            elif digits in accepted:
                others.append((row, score))
            elif digits and any(accepted):  # "Prague 1999" for "Prague" is no wrong number
                given.append(score)
        kept = _keep_in_each(keep_letters_and_digits, [row for row, _ in others])
        for (row, score), (letters, *accepted) in zip(others, kept):
            if letters in accepted and self._has_the_letters(row, score):
                lost.append(score)
        self._lost.update(lost)
        self._given.update(given)

    def _has_the_letters(self, row: Row, score: float) -> bool:
        """Whether an answer has the letters and digits of an accepted one, as the variant normalizes them."""
        return has_the_letters_and_digits(Answer(row, score, self._judge))

    def count_points(self, count: int) -> Points:
        """The points of a set of so many questions."""
        lost = math.fsum(1.0 - score for score in self._lost.elements())
        return Points(lost / count, math.fsum(self._given.elements()) / count)


def _keep_in_each(keep: Callable[[str], str], rows: Sequence[Row]) -> Iterator[list[str]]:
    """What `keep` leaves of each prediction and its accepted answers, in lower case: in one call if all are ASCII."""
    pairs = map(get_texts, rows)
    texts = [text for prediction, references in pairs for text in (prediction, *references)]
    joined = _END.join(texts)
    is_simple = joined.isascii() and joined.count(_END) == len(texts) - 1
    kept = iter(keep(joined).lower().split(_END) if is_simple else [keep(text).casefold() for text in texts])
    return (list(islice(kept, 1 + len(row.references))) for row in rows)
