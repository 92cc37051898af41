"""Computes what format costs a submission and what wrong numbers gain it, in points of the score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, cast

from anls_metric.analysis.outcomes import (
    Answer,
    Judge,
    has_the_letters_and_digits,
    keep_digits,
    keep_in_each,
    keep_letters_and_digits,
)
from anls_metric.analysis.same_value import is_any_same_value, may_be_a_value
from anls_metric.reading.batch import Batch, Row

# The outcomes of answers that can have lost or gained points. Outcomes after "formatting" in the table have neither the
# same value nor the same letters and digits, and score 0.
_OUTCOMES = frozenset({"close enough", "same value", "contains an answer", "part of an answer", "formatting"})


class Points(NamedTuple):
    """Points of a score, from 0 to 1.

    Attributes:
        lost_to_format: how much higher the score would be if each answer scored 1 that has the value, or the letters
            and digits, of an accepted answer.
        given_to_wrong_numbers: how much lower the score would be if wrong numbers scored 0: answers under 1 that have
            digits, if an accepted answer has digits and none has the same digits. The same value is not wrong.
    """

    lost_to_format: float
    given_to_wrong_numbers: float


LOST_TO_FORMAT, GIVEN_TO_WRONG_NUMBERS = Points._fields


class PointCounter:
    """Counts the points of answers. The result does not depend on their order.

    Args:
        judge: the judge of texts that found the outcomes of the answers.

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
        # The scores of the answers that count, each with the number of runs of its question.
        self._scores: dict[str, Counter[tuple[float, int]]] = {name: Counter() for name in Points._fields}

    def add(
        self,
        rows: Sequence[Row],
        scores: Sequence[float],
        outcomes: Sequence[str],
        run_counts: Sequence[int] | None = None,
    ) -> None:
        """Add answers with their scores and outcomes.

        Args:
            rows, scores, outcomes: the answers; the runs of a question follow each other.
            run_counts: the number of runs of each question; None if each answer is a question.
        """
        runs = run_counts and [count for count in run_counts for _ in range(count)]
        for name, places in find_points(self._judge, rows, scores, outcomes).items():
            self._scores[name].update((scores[place], runs[place] if runs else 1) for place in places)

    def count_points(self, count: int) -> Points:
        """Compute the points of a set, given its number of questions. Runs are averaged by question."""
        lost, given = (self._scores[name].elements() for name in Points._fields)
        return Points(
            math.fsum((1.0 - score) / runs for score, runs in lost) / count,
            math.fsum(score / runs for score, runs in given) / count,
        )


def find_points(
    judge: Judge, rows: Sequence[Row], scores: Sequence[float], outcomes: Sequence[str]
) -> dict[str, list[int]]:
    """Find the answers that lose points by their format, and those that gain points with wrong numbers.

    Args:
        judge: the judge of texts that found the outcomes of the answers.
        rows: the answers.
        scores: their scores.
        outcomes: their outcomes.

    Returns:
        The places of the answers for each field of `Points`.

    Example:
        >>> rows = [Row("7", "240", ["240.00"], {}), Row("8", "0.26", ["0.28"], {})]
        >>> find_points(Judge(), rows, [0.5, 0.75], ["close enough", "close enough"])
        {'lost_to_format': [0], 'given_to_wrong_numbers': [1]}
    """
    batch = Batch.of(rows)
    places = [place for place, outcome in enumerate(outcomes) if outcome in _OUTCOMES and scores[place] < 1.0]
    predictions = [cast("str", batch.predictions[place] or "") for place in places]
    references = [cast("Sequence[str]", batch.references[place]) for place in places]
    lost, gained, others = [], [], []
    digits_of = _keep_in_rows(keep_digits, predictions, references)
    for place, prediction, accepted, (digits, *numbers) in zip(places, predictions, references, digits_of):
        if may_be_a_value(prediction, digits) and is_any_same_value(prediction, accepted):
            lost.append(place)
        elif digits in numbers:
            others.append((place, prediction, accepted))
        elif digits and any(numbers):  # "Prague 1999" for "Prague" is not a wrong number
            gained.append(place)
    rows_of_letters = _keep_in_rows(keep_letters_and_digits, [each[1] for each in others], [each[2] for each in others])
    for (place, prediction, accepted), (letters, *texts) in zip(others, rows_of_letters):
        folded = letters.casefold()
        if folded in map(str.casefold, texts) and has_the_letters_and_digits(
            Answer(prediction, accepted, scores[place], judge)  # as the variant normalizes them
        ):
            lost.append(place)
    return {LOST_TO_FORMAT: lost, GIVEN_TO_WRONG_NUMBERS: [place for place in gained if scores[place] > 0.0]}


def _keep_in_rows(
    keep: Callable[[str], str], predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> Iterator[list[str]]:
    """Apply a function like `keep_digits` to each prediction and its accepted answers."""
    texts = [text for prediction, accepted in zip(predictions, references) for text in (prediction, *accepted)]
    results = iter(keep_in_each(keep, texts))
    return (list(islice(results, 1 + len(accepted))) for accepted in references)
