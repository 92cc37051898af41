"""Builds tables of the groups of questions: mean, interval and size by submission, and the difference of each pair."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from anls_metric.analysis.clusters import cluster_column
from anls_metric.analysis.comparison import GroupDifference, compare_groups, index_scores
from anls_metric.analysis.scored import Groups, ScoredSet, sort_groups
from anls_metric.analysis.significance import Interval

MOST_DIFFERENCES = 6_000
"""The most differences in a table. If there are more, it has those from the baseline; if still more, none."""


class GroupTable(NamedTuple):
    """The groups of a field. Each list has an item for each name, None if a submission does not have the group.

    Attributes:
        names: the names of the groups.
        counts: the number of questions in each group, by submission.
        means: the mean of each group, by submission.
        intervals: the interval of each mean, by submission; None if all questions are in one cluster.
        differences: for each pair of submissions, the second minus the first.
    """

    names: list[str]
    counts: list[list[int]]
    means: list[list[float | None]]
    intervals: list[list[Interval | None]]
    differences: dict[tuple[int, int], list[GroupDifference | None]]


def build_group_table(
    scored_sets: Sequence[ScoredSet],
    groups: Sequence[Groups],
    cluster_of: Mapping[str, Hashable],
    baseline: int | None = None,
) -> GroupTable:
    """Build the table of the groups of a field.

    Args:
        scored_sets: the sets, which keep their answers.
        groups: the groups of each set.
        cluster_of: the cluster of each question, by its id, for the differences.
        baseline: the place of the baseline; None for sets that are not compared.

    Example:
        >>> from anls_metric.analysis.scored import group
        >>> from anls_metric.reading.batch import Row
        >>> scored_set = ScoredSet(keep=True)
        >>> _ = scored_set.add([Row("7", "a", ["a"], {"kind": "x"}), Row("8", "a", ["b"], {"kind": "y"})])
        >>> table = build_group_table([scored_set], [group(scored_set.rows, "kind")], {})
        >>> table.names, table.means, table.counts
        (['x', 'y'], [[1.0, 0.0]], [[1, 1]])
    """
    everything = {name: each for by_name in reversed(groups) for name, each in by_name.items()}
    names = list(sort_groups(everything))
    pairs = [] if baseline is None else list(combinations(range(len(scored_sets)), 2))
    if len(pairs) * len(names) > MOST_DIFFERENCES:
        pairs = [(baseline, other) for other in range(len(scored_sets)) if baseline is not None and other != baseline]
    if len(pairs) * len(names) > MOST_DIFFERENCES:
        pairs = []
    scores = [
        {name: index_scores(scored_set, each) for name, each in by_name.items()} if pairs else {}
        for scored_set, by_name in zip(scored_sets, groups)
    ]
    clusters = list(map(_list_clusters, scored_sets))
    return GroupTable(
        names,
        [[by_name[name].count if name in by_name else 0 for name in names] for by_name in groups],
        [[by_name[name].mean if name in by_name else None for name in names] for by_name in groups],
        [
            [by_name[name].interval(column) if name in by_name else None for name in names]
            for by_name, column in zip(groups, clusters)
        ],
        {
            (first, second): [
                compare_groups(scores[first].get(name, {}), scores[second].get(name, {}), cluster_of) for name in names
            ]
            for first, second in pairs
        },
    )


def _list_clusters(scored_set: ScoredSet) -> Sequence[Hashable] | None:
    """List the cluster of each row of a set, as for its interval."""
    clusters = scored_set.clusters
    if clusters is None or scored_set.answers is None:
        return None
    return cluster_column(scored_set.answers.records, clusters.field)
