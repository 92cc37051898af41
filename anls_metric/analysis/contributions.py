"""Splits the difference between two submissions, or the loss of one, by outcome: where do the points go?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import NamedTuple

from anls_metric.analysis.comparison import pair_questions
from anls_metric.analysis.scored import Scored

MIN_COMMON = 3
"""The fewest questions about one document that a contribution mentions, if they are at least half of its questions."""


class Contribution(NamedTuple):
    """What the answers with one outcome contribute to a difference. The fields are keys of the report's data.

    Attributes:
        outcome: the outcome of the answer that lost the question.
        points: the sum of the differences of these questions, divided by the number of all questions.
        losses: the number of questions that the first submission lost.
        wins: the number of questions that the first submission won.
        document: the document that has at least half of the losses, or of the wins if these are more; None for none.
        shared: the number of questions about this document.
    """

    outcome: str
    points: float
    losses: int
    wins: int
    document: Hashable
    shared: int


def list_lowest_outcomes(scored: Scored) -> list[str]:
    """List the outcome of the lowest-scoring answer to each question."""
    outcomes, scores = scored.findings.outcomes, scored.answer_scores
    return [outcomes[min(run, key=scores.__getitem__)] for run in scored.runs]


def split_difference(first: Scored, second: Scored) -> list[Contribution]:
    """Split the score of the first submission minus that of the second, by the outcome of the losing answer.

    Returns:
        The outcomes, those that cost the first submission most at the beginning. Their points add up to the difference,
        and their losses and wins to all losses and wins.

    Raises:
        InputError: the submissions have no question in common.

    Example:
        >>> from anls_metric import score
        >>> first, second = (score(texts, [["Cola"]] * 2)["data"] for texts in (["", "Cola"], ["Cola", "Col"]))
        >>> [each[:4] for each in split_difference(first, second)]
        [('empty', -0.5, 1, 0), ('close enough', 0.125, 0, 1)]
    """
    pair = pair_questions(first, second)
    outcomes, others = list_lowest_outcomes(first), list_lowest_outcomes(second)
    rows = []
    for own, other, cluster in zip(pair.first, pair.second, pair.clusters or repeat(None)):
        difference = first.scores[own] - second.scores[other]
        rows.append((difference, outcomes[own] if difference < 0 else others[other], cluster))
    return _sum_up(rows)


def split_loss(scored: Scored) -> list[Contribution]:
    """Split what a submission lacks to a perfect score, by the outcome of its lowest-scoring answer to a question.

    Example:
        >>> from anls_metric import score
        >>> [each[:4] for each in split_loss(score(["", "Cola", "Col", "tea"], [["Cola"]] * 4)["data"])]
        [('empty', -0.25, 1, 0), ('other', -0.25, 1, 0), ('close enough', -0.0625, 1, 0)]
    """
    clusters = scored.clusters.names if scored.clusters else repeat(None)
    rows = zip(scored.scores, list_lowest_outcomes(scored), clusters)
    return _sum_up([(score - 1, outcome, cluster) for score, outcome, cluster in rows])


def _sum_up(rows: Sequence[tuple[float, str, Hashable]]) -> list[Contribution]:
    """Sum up by outcome what differs: each row of a question has its difference, its outcome and its document."""
    by_outcome: dict[str, tuple[list[float], list[Hashable], list[Hashable]]] = {}
    for difference, outcome, cluster in rows:
        if difference:
            differences, lost, won = by_outcome.setdefault(outcome, ([], [], []))
            differences.append(difference)
            (lost if difference < 0 else won).append(cluster)
    contributions = []
    for outcome, (differences, lost, won) in by_outcome.items():
        most = max(lost, won, key=len)
        document, shared = Counter(most).most_common(1)[0]
        if document is None or shared < max(MIN_COMMON, len(most) / 2):
            document, shared = None, 0
        points = math.fsum(differences) / len(rows)
        contributions.append(Contribution(outcome, points, len(lost), len(won), document, shared))
    return sorted(contributions, key=lambda each: (each.points, each.outcome))
