"""Counts, by cause, the leaves of each answer that lose points, as in "2 missed, 1 close"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from anls_metric.analysis.lost_points import OF_LEAVES, account_for
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored


def list_leaf_counts(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]
) -> list[list[dict[str, int] | None]]:
    """List, for each submission and question, how many leaves of the answer have each cause, with the most frequent
    cause first.

    Returns:
        For each submission, a list with one item per question, which is None if the submission lacks the question. The
        outer list is empty if answers have no leaves.
    """
    if account_for(submissions[0]).table is not OF_LEAVES:
        return []
    return [
        [None if (place := each.places[number]) is None else _count(scored, place) for each in questions]
        for number, scored in enumerate(submissions)
    ]


def _count(scored: Scored, place: int) -> dict[str, int]:
    """Count the leaves by cause in the answer that represents a question."""
    losses = account_for(scored).causes[scored.representatives[place]]
    return dict(Counter(loss.cause for loss in losses).most_common())
