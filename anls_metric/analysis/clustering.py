"""Finds the documents that questions are about, which serve as the clusters of the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.core.statistics.clusters import Clusters, find_clusters, keep_names
from anls_metric.messages import make_error
from anls_metric.options import NONE
from anls_metric.reading.records import take_column


def choose_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """Find the document that each question is about.

    Args:
        records: the records of the questions.
        cluster_by: the field or path whose values, unchanged, name the documents; "none" for no documents. None selects
            one of the usual fields: see `anls_metric.core.statistics.clusters.find_clusters`.

    Raises:
        InputError: no record has the field given as `cluster_by`.
    """
    if cluster_by is None:
        return find_clusters(records)
    if cluster_by == NONE:
        return None
    names = keep_names(take_column(records, cluster_by))
    if all(name is None for name in names):
        sentence = "no question has the field {field!r}: with {use.cluster_by}, pass a field that they have"
        raise make_error("", sentence, field=cluster_by)
    return Clusters(cluster_by, names)
