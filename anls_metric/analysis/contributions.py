"""Splits the difference between two submissions, or the loss of one, by outcome: where do the points go?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import repeat
from pathlib import PurePath
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


def list_lowest(scored: Scored) -> Sequence[int]:
    """List the place of the lowest-scoring answer to each question."""
    if scored.answers.places is None:
        return range(len(scored.scores))
    scores = scored.answer_scores
    return [min(run, key=lambda place: scores[place]) for run in scored.runs]


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
    outcomes = _list_outcomes(first), _list_outcomes(second)
    rows = []
    for own, other, cluster in zip(pair.first, pair.second, pair.clusters or repeat(None)):
        difference = first.scores[own] - second.scores[other]
        if difference:
            rows.append((difference, outcomes[0][own] if difference < 0 else outcomes[1][other], cluster))
    return _sum_up(rows, len(pair.first))


def split_loss(scored: Scored) -> list[Contribution]:
    """Split what a submission lacks to a perfect score, by the outcome of its lowest-scoring answer to a question.

    Example:
        >>> from anls_metric import score
        >>> [each[:4] for each in split_loss(score(["", "Cola", "Col", "tea"], [["Cola"]] * 4)["data"])]
        [('empty', -0.25, 1, 0), ('other', -0.25, 1, 0), ('close enough', -0.0625, 1, 0)]
    """
    clusters = scored.clusters.names if scored.clusters else repeat(None)
    rows = zip(scored.scores, _list_outcomes(scored), clusters)
    losses = [(score - 1, outcome, cluster) for score, outcome, cluster in rows if score < 1]
    return _sum_up(losses, len(scored.scores))


def _list_outcomes(scored: Scored) -> list[str]:
    """List the outcome of the lowest-scoring answer to each question."""
    return [scored.findings.outcomes[answer] for answer in list_lowest(scored)]


def _sum_up(rows: Sequence[tuple[float, str, Hashable]], count: int) -> list[Contribution]:
    """Sum up differences by outcome: each has its outcome and its cluster, and `count` is the number of questions."""
    questions: dict[str, list[tuple[float, Hashable]]] = {}
    for difference, outcome, cluster in rows:
        questions.setdefault(outcome, []).append((difference, cluster))
    contributions = []
    for outcome, pairs in questions.items():
        lost = [cluster for difference, cluster in pairs if difference < 0]
        won = [cluster for difference, cluster in pairs if difference > 0]
        most = won if len(won) > len(lost) else lost
        points = math.fsum(difference for difference, _ in pairs) / count
        document, shared = Counter(map(_name_document, most)).most_common(1)[0]
        if document is None or shared < max(MIN_COMMON, len(most) / 2):
            document, shared = None, 0
        contributions.append(Contribution(outcome, points, len(lost), len(won), document, shared))
    return sorted(contributions, key=lambda each: (each.points, each.outcome))


def _name_document(cluster: Hashable) -> Hashable:
    """Return the document of a page image such as documents/xyz_12.png; any other cluster is a document itself."""
    path = PurePath(str(cluster))
    document, _, page = path.stem.rpartition("_")
    return document if path.suffix and page.isdigit() else cluster
