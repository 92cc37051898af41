"""Breaks down by cause the difference between two submissions, or the points that one submission loses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations, repeat
from typing import NamedTuple

from anls_metric.analysis.comparison import pair_questions
from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.scored import Scored

MIN_COMMON = 3
"""The number of questions about one document from which a contribution mentions that document, provided that these
questions are at least half of those won or lost.
"""


class Contribution(NamedTuple):
    """The contribution of one cause to a difference. The fields are keys of the report data.

    Attributes:
        outcome: the cause.
        points: the sum of the differences due to the cause, divided by the number of all questions.
        losses: the number of questions on which the first submission lost points.
        wins: the number of questions on which the first submission gained points.
        document: the document with at least half of the losses, or of the wins if there are more wins than losses; None
            if no document has that many.
        shared: the number of these losses or wins on questions about this document.
    """

    outcome: str
    points: float
    losses: int
    wins: int
    document: Hashable
    shared: int


def split_points(submissions: Sequence[Scored]) -> dict[str, list[Contribution]]:
    """Break down by cause the points that each submission loses, under keys such as "0", and the difference between
    each pair, under keys such as "0 1".
    """
    parts = {str(number): split_loss(scored) for number, scored in enumerate(submissions)}
    for (first, scored), (second, other) in combinations(enumerate(submissions), 2):
        parts[f"{first} {second}"] = split_difference(scored, other)
    return parts


def split_loss(scored: Scored) -> list[Contribution]:
    """Break down by cause the points that a submission loses.

    Example:
        >>> from anls_metric import score
        >>> [each[:4] for each in split_loss(score(["", "Cola", "Col", "tea"], [["Cola"]] * 4)["data"])]
        [('empty', -0.25, 1, 0), ('wrong', -0.25, 1, 0), ('a few characters', -0.0625, 1, 0)]
    """
    clusters = scored.clusters.names if scored.clusters else repeat(None)
    rows = [
        (-points, cause, cluster)
        for lost, cluster in zip(account_for(scored).by_question, clusters)
        for cause, points in lost.items()
    ]
    return _sum_up(rows, len(scored.scores))


def split_difference(first: Scored, second: Scored) -> list[Contribution]:
    """Break down by cause the first score minus the second, which is how much more the second submission loses to each
    cause.

    Raises:
        InputError: the submissions have no questions in common.

    Example:
        >>> from anls_metric import score
        >>> first, second = (score(texts, [["Cola"]] * 2)["data"] for texts in (["", "Cola"], ["Cola", "Col"]))
        >>> [each[:4] for each in split_difference(first, second)]
        [('empty', -0.5, 1, 0), ('a few characters', 0.125, 0, 1)]
    """
    pair = pair_questions(first, second)
    rows, lost, lost_by_second = [], account_for(first).by_question, account_for(second).by_question
    for own, other, cluster in zip(pair.first, pair.second, pair.clusters or repeat(None)):
        before, after = lost[own], lost_by_second[other]
        rows += [(after.get(cause, 0.0) - before.get(cause, 0.0), cause, cluster) for cause in {**before, **after}]
    return _sum_up(rows, len(pair.first))


def _sum_up(rows: Sequence[tuple[float, str, Hashable]], count: int) -> list[Contribution]:
    """Sum up differences by cause, given rows of a difference, its cause, and the document of the question."""
    by_cause: dict[str, tuple[list[float], list[Hashable], list[Hashable]]] = {}
    for difference, cause, cluster in rows:
        if difference:
            differences, lost, won = by_cause.setdefault(cause, ([], [], []))
            differences.append(difference)
            (lost if difference < 0 else won).append(cluster)
    contributions = []
    for cause, (differences, lost, won) in by_cause.items():
        most = max(lost, won, key=len)
        document, shared = Counter(most).most_common(1)[0]
        if document is None or shared < max(MIN_COMMON, len(most) / 2):
            document, shared = None, 0
        points = math.fsum(differences) / count
        contributions.append(Contribution(cause, points, len(lost), len(won), document, shared))
    return sorted(contributions, key=lambda each: (each.points, each.outcome))
