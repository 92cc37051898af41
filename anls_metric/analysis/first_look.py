"""Chooses up to three questions to look at first, one for each of the largest causes, including one on which the metric
is too strict.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored

STRICT = ("another form", "punctuation")
"""The causes whose answers people would accept."""

CASES = 3


class Case(NamedTuple):
    """A question to look at.

    Attributes:
        row: the position of the question among those in the report.
        who: the number of the submission that loses points on the question.
        cause: the cause that the question illustrates.
        like: the number of questions with this cause.
        is_strict: whether the question was chosen because people would accept the answer.
    """

    row: int
    who: int
    cause: str
    like: int
    is_strict: bool


def choose_cases(
    submissions: Sequence[Scored],
    questions: Sequence[JoinedQuestion],
    first: int,
    second: int,
    pictured: Collection[int] = (),
) -> list[Case]:
    """Choose the questions to look at first.

    Args:
        submissions: the submissions.
        questions: the questions in the report.
        first, second: the numbers of a submission and of its baseline; -1 for no baseline.
        pictured: the positions of the questions whose page image is in the report, which are preferred as examples.
    """
    costs = _subtract_costs(submissions, questions, first, second)
    totals: dict[str, list[float]] = {}
    for own in costs:
        for cause, points in own.items():
            totals.setdefault(cause, []).append(points)
    points_of = {cause: math.fsum(values) for cause, values in totals.items()}
    ranked = sorted(points_of, key=lambda cause: (-abs(points_of[cause]), cause))
    alone = [next(iter(own)) if len(own) == 1 else "" for own in costs]  # the only cause of a structured answer
    strict = [
        cause for cause in STRICT if any(own == cause and costs[row][cause] > 0 for row, own in enumerate(alone))
    ][:1]
    causes = [cause for cause in ranked if cause not in strict][: CASES - len(strict)]
    cases: list[Case] = []
    for cause in [*causes, *strict]:
        sign = 1.0 if cause in strict or points_of[cause] >= 0 else -1.0
        rows = [row for row, own in enumerate(costs) if own.get(cause, 0.0) * sign > 0]
        taken = {case.row for case in cases}
        left = [row for row in rows if row not in taken and (cause not in strict or alone[row] == cause)]
        if left:
            best = min(left, key=lambda row: (-round(costs[row][cause] * sign, 2), row not in pictured, row))
            cases.append(Case(best, first if sign > 0 else second, cause, len(rows), cause in strict))
    return cases


def _subtract_costs(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], first: int, second: int
) -> list[Mapping[str, float]]:
    """List, for each question, how much more the first submission loses to each cause than the second."""
    found: list[Mapping[str, float]] = []
    for question in questions:
        sums: dict[str, float] = {}
        places: list[Any] = [(question.places[first], submissions[first], 1.0)]
        places += [(question.places[second], submissions[second], -1.0)] if second >= 0 else []
        if all(place is not None for place, *_ in places):
            for place, scored, sign in places:
                for cause, points in account_for(scored).by_question[place].items():
                    sums[cause] = sums.get(cause, 0.0) + sign * points
        found.append(sums)
    return found
