"""Finds clusters of questions about the same document or page, by a field of their records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.messages import make_error
from anls_metric.options import NONE
from anls_metric.reading.layouts import take_column
from anls_metric.reading.roles import DOCUMENTS


class Clusters(NamedTuple):
    """The clusters of questions.

    Attributes:
        field: the field of the records that names the cluster.
        names: the cluster of each question; None for a question that is its own cluster.
    """

    field: str
    names: Sequence[Hashable]

    @property
    def size(self) -> int:
        """The number of clusters."""
        return len(set(self.names) - {None}) + self.names.count(None)


def find_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """Find the clusters of questions.

    Args:
        records: the records of the questions.
        cluster_by: the field or path that names the document of a question, "none" for no clusters; None takes the
            first of `roles.DOCUMENTS` that repeats: it has several values, and fewer than there are questions.

    Returns:
        The clusters; None for none.

    Raises:
        InputError: no record has the field of `cluster_by`.
    """
    if cluster_by == NONE:
        return None
    if cluster_by is not None:
        clusters = Clusters(cluster_by, _name_clusters(records, cluster_by))
        if all(name is None for name in clusters.names):
            sentence = "no question has the field {field!r}: {use.cluster_by} takes a field of the questions"
            raise make_error("", sentence, field=cluster_by)
        return clusters
    known: set[str] = set().union(*records[:100])
    for field in DOCUMENTS:
        if field in known:
            clusters = Clusters(field, _name_clusters(records, field))
            if 1 < clusters.size < len(records):
                return clusters
    return None


def _name_clusters(records: Sequence[Mapping[str, Any]], field: str) -> Sequence[Hashable]:
    """Name the cluster of each record; None for a value that groups nothing: NaN, an empty string, a list."""
    column = take_column(records, field)
    return [each if isinstance(each, (str, int, float)) and each == each and each != "" else None for each in column]


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Find the field that names the document of a question.

    Args:
        records: the records of the questions.

    Returns:
        The first field with a usual name, such as "docId" or "image", that has several values and fewer than there are
        questions; None for none.

    Raises:
        Nothing.

    Example:
        >>> cluster_field([{"id": 1, "doc": "a", "image": "a1"}, {"id": 2, "doc": "a", "image": "a2"}, {"doc": "b"}])
        'doc'
    """
    clusters = find_clusters(records)
    return clusters.field if clusters else None
