"""Ranks submissions for the report: which is best, against which others, and which variants reverse their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anls_metric.analysis.comparison import Comparison, ComparisonSet, compare_each_with_each, sort_by_score
from anls_metric.analysis.scored import Scored


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


def rank_submissions(submissions: Sequence[Scored], compared: ComparisonSet) -> Ranking:
    """Rank submissions, given their comparison."""
    names = [scored.name for scored in sort_by_score(submissions)]
    ties = (compared.best, *compared.ties)
    ranks = [1 if name in ties else place for place, name in enumerate(names, 1)]
    p_values = [compared.p_values.get(name, 1.0) for name in names]
    return Ranking(names, ranks, p_values, compare_each_with_each(submissions, compared))


def find_reversals(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Find the variants under which the second of two submissions scores more, and by how much.

    Args:
        first, second: the score of each submission under each variant, by the name of the variant.

    Example:
        >>> find_reversals({"standard": 0.9, "due": 0.7}, {"standard": 0.8, "due": 0.75})
        {'due': 0.050000000000000044}
    """
    return {name: second[name] - score for name, score in first.items() if second[name] > score}
