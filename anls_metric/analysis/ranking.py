"""Ranks submissions for the report: which is best, against which others, and which variants reverse their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anls_metric.analysis.comparison import SIGNIFICANT, TOO_FEW, Comparison, ComparisonSet, compare_each_with_each
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.significance import adjust_for_best


class Ranking(NamedTuple):
    """The ranks of submissions, which do not depend on the order of the files.

    Attributes:
        names: the names, the best first.
        ranks: the rank of each: 1 for the best and all without a significant difference from it, else its place.
        p_values: the p-value of each against the best, adjusted for the choice of the best; 1 for the best itself.
        pairs: the comparisons by the name of the baseline and of the other submission.
    """

    names: list[str]
    ranks: list[int]
    p_values: list[float]
    pairs: Mapping[str, Mapping[str, Comparison]]

    @property
    def ties(self) -> list[str]:
        """The names of the submissions with rank 1."""
        return [name for name, rank in zip(self.names, self.ranks) if rank == 1]


def sort_by_score(submissions: Sequence[Scored]) -> list[Scored]:
    """Sort submissions by score, the best first; equal scores by name."""
    return sorted(submissions, key=lambda scored: (-scored.anls, scored.name))


def rank_submissions(submissions: Sequence[Scored], compared: ComparisonSet) -> Ranking:
    """Rank submissions, given their comparison."""
    pairs = compare_each_with_each(submissions, compared)
    best, *others = (scored.name for scored in sort_by_score(submissions))
    own = [pairs[best][name] for name in others]
    p_values = adjust_for_best([each.p_value for each in own])
    is_tie = [each.verdict == TOO_FEW or p_value >= SIGNIFICANT for each, p_value in zip(own, p_values)]
    ranks = [1 if tied else place for place, tied in enumerate(is_tie, 2)]
    return Ranking([best, *others], [1, *ranks], [1.0, *p_values], pairs)


def find_reversals(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Find the variants under which the second of two submissions scores more, and by how much.

    Args:
        first, second: the score of each submission under each variant, by the name of the variant.

    Example:
        >>> find_reversals({"standard": 0.9, "due": 0.7}, {"standard": 0.8, "due": 0.75})
        {'due': 0.050000000000000044}
    """
    return {name: second[name] - score for name, score in first.items() if second[name] > score}
