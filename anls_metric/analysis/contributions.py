"""Splits the difference between two submissions, or the points that one submission loses, by outcome."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import combinations, repeat
from typing import NamedTuple

from anls_metric.analysis.comparison import pair_questions
from anls_metric.analysis.outcomes import Outcome
from anls_metric.analysis.scored import Scored

MIN_COMMON = 3
"""The fewest questions about one document that a contribution mentions, if they are at least half of its questions."""


class Contribution(NamedTuple):
    """What the answers with one outcome contribute to a difference. The fields are keys of the report data.

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
    outcomes, scores = scored.answer_outcomes, scored.answer_scores
    return [outcomes[min(run, key=scores.__getitem__)] for run in scored.runs]


def split_difference(first: Scored, second: Scored) -> list[Contribution]:
    """Split the difference between two scores, the first minus the second, by what caused the loss of each question.

    That is the outcome of the losing answer; of nested values, the outcomes of the leaves.

    Returns:
        The outcomes, those that cost the first submission most at the beginning. Their points add up to the difference,
        and of strings their losses and wins to all losses and wins.

    Raises:
        InputError: the submissions have no question in common.

    Example:
        >>> from anls_metric import score
        >>> first, second = (score(texts, [["Cola"]] * 2)["data"] for texts in (["", "Cola"], ["Cola", "Col"]))
        >>> [each[:4] for each in split_difference(first, second)]
        [('empty', -0.5, 1, 0), ('close enough', 0.125, 0, 1)]
    """
    pair = pair_questions(first, second)
    costs, others = list_leaf_costs(first), list_leaf_costs(second)
    lowest, others_lowest = list_lowest_outcomes(first), list_lowest_outcomes(second)
    rows = []
    for own, other, cluster in zip(pair.first, pair.second, pair.clusters or repeat(None)):
        difference = first.scores[own] - second.scores[other]
        parts = {lowest[own] if difference < 0 else others_lowest[other]: difference}
        if costs and others:
            names = {**costs[own], **others[other]}
            parts = {name: others[other].get(name, 0.0) - costs[own].get(name, 0.0) for name in names}
        rows += [(part, outcome, cluster) for outcome, part in parts.items()]
    return _sum_up(rows, len(pair.first))


def split_points(submissions: Sequence[Scored]) -> dict[str, list[Contribution]]:
    """Split what submissions lose, keyed by their numbers such as "0", and their differences, keyed by "0 1"."""
    parts = {str(number): split_loss(scored) for number, scored in enumerate(submissions)}
    for (first, scored), (second, other) in combinations(enumerate(submissions), 2):
        parts[f"{first} {second}"] = split_difference(scored, other)
    return parts


def split_loss(scored: Scored) -> list[Contribution]:
    """Split, by outcome, the points that a submission loses. For each question, the outcome of its lowest-scoring
    answer counts.

    Example:
        >>> from anls_metric import score
        >>> [each[:4] for each in split_loss(score(["", "Cola", "Col", "tea"], [["Cola"]] * 4)["data"])]
        [('empty', -0.25, 1, 0), ('other', -0.25, 1, 0), ('close enough', -0.0625, 1, 0)]
    """
    clusters, lowest = scored.clusters.names if scored.clusters else repeat(None), list_lowest_outcomes(scored)
    costs = list_leaf_costs(scored) or [{name: 1 - score} for name, score in zip(lowest, scored.scores)]
    rows = [(-cost, outcome, cluster) for own, cluster in zip(costs, clusters) for outcome, cost in own.items()]
    return _sum_up(rows, len(scored.scores))


LEAF_CAUSES = (
    Outcome("missed", "has leaves without a value where one is accepted"),
    Outcome("invented", "has leaves with a value where none is accepted"),
    Outcome("wrong", "has leaves with a different value"),
    Outcome("close", "has leaves that are similar to the accepted value"),
)
"""The causes of nested values: the outcomes of leaves that cost something."""


def list_leaf_costs(scored: Scored) -> list[dict[str, float]]:
    """List how much of its score each question loses to the leaves with each outcome, or return [] if there are no
    leaves.

    Example:
        >>> from anls_metric import score
        >>> scores = score([{"a": "tea"}], [{"a": "tea", "b": "1"}], variant="anls_star")
        >>> list_leaf_costs(scores["data"])
        [{'missed': 0.5}]
    """
    if not (scored.scorer.has_leaves and scored.scorer.averages_rows):
        return []
    rows, costs = scored.rows_of_leaves, []
    for run in scored.runs:
        own: dict[str, float] = {}
        for answer in run:
            row = rows[answer]
            for leaf in row.leaves:
                if leaf.score < 1.0:
                    own[leaf.outcome] = own.get(leaf.outcome, 0.0) + (1.0 - leaf.score) / (row.length * len(run))
        costs.append(own)
    return costs


def _sum_up(rows: Sequence[tuple[float, str, Hashable]], count: int) -> list[Contribution]:
    """Sum up the differences by outcome: each row has a difference on a question, its outcome and its document."""
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
        points = math.fsum(differences) / count
        contributions.append(Contribution(outcome, points, len(lost), len(won), document, shared))
    return sorted(contributions, key=lambda each: (each.points, each.outcome))
