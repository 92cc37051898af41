"""Which questions belong together: those about one document or page, by a field of their records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anls_metric.analysis.significance import Sample
from anls_metric.reading.layouts import look_up

# The fields that name the document, page or image of a question, in the files of data sets and programs.
CLUSTER_FIELDS = (
    "ucsf_document_id",  # SP-DocVQA
    "docId",  # SP-DocVQA
    "doc_id",  # MP-DocVQA, MMLongBench-Doc
    "document_id",
    "documentId",
    "document",
    "document_name",
    "doc_name",
    "docName",
    "doc",
    "deck_name",  # SlideVQA
    "arxiv_id",
    "pdf",
    "file_name",
    "filename",
    "image",
    "image_id",
    "imageId",
    "image_name",
    "image_path",
    "image_url",
    "image_local_name",  # InfographicVQA
    "page_id",
)

# What `cluster_by` says for none of them: each question is a cluster of its own.
NO_CLUSTERS = "none"

_FIRST_RECORDS = 100  # say which of the fields there are


@dataclass(frozen=True)
class Clusters:
    """What questions belong together by.

    Attributes:
        field: the field of the records, or the path to it.
        count: how many clusters it makes; a question without the field is one of its own.
    """

    field: str
    count: int


class ClusteredScores:
    """Scores with what may be the cluster of each, so that the field is chosen when all records have been seen.

    Args:
        cluster_by: a field of the records, or a path to one, or "none" for no clusters; None chooses as `cluster_field`
            does.

    Example:
        >>> scores = ClusteredScores()
        >>> scores.add([1.0, 0.0], [{"doc": "a", "image": "a1"}, {"doc": "a", "image": "a1"}])
        >>> scores.add([1.0, 1.0], [{"doc": "a", "image": "a2"}, {"doc": "b", "image": "b1"}])
        >>> clusters, sample = scores.chosen()
        >>> clusters, sample.mean
        (Clusters(field='doc', count=2), 0.75)
    """

    def __init__(self, cluster_by: str | None = None) -> None:
        self._cluster_by = cluster_by
        self._alone = Sample()
        self._samples: dict[str, Sample] | None = None  # by field

    def add(self, scores: Sequence[float], records: Sequence[Mapping[str, Any]]) -> None:
        """Count these scores as well.

        Args:
            scores: from 0 to 1.
            records: the record of each; those that come first say which fields there are.
        """
        if self._samples is None:
            self._samples = {field: Sample() for field in _fields(records, self._cluster_by)}
        self._alone.add(scores)
        for field, sample in self._samples.items():
            sample.add(scores, cluster_column(records, field))

    def chosen(self) -> tuple[Clusters | None, Sample]:
        """What the questions belong together by, None for nothing, and the scores by it.

        Raises:
            ValueError: no record has the field of `cluster_by`.
        """
        samples = self._samples or {}
        asked = samples.get(self._cluster_by or "")
        if asked and not asked.has_clusters:
            raise ValueError(f"no question has the field {self._cluster_by!r}, by which to cluster")
        found = [field for field, sample in samples.items() if asked or 1 < sample.cluster_count < sample.count]
        if found:
            field = min(found, key=lambda field: samples[field].cluster_count)
            return Clusters(field, samples[field].cluster_count), samples[field]
        return None, self._alone


def _fields(records: Sequence[Mapping[str, Any]], cluster_by: str | None) -> list[str]:
    """Which fields may be the cluster."""
    if cluster_by == NO_CLUSTERS:
        return []
    if cluster_by is not None:
        return [cluster_by]
    paths = dict.fromkeys(path for record in records[:_FIRST_RECORDS] for path in _paths(record))
    return sorted(paths, key=lambda path: CLUSTER_FIELDS.index(path.rpartition(".")[2]))


def _paths(record: Mapping[str, Any]) -> Iterator[str]:
    """Where a record has one of the fields, in itself or in an object that it holds."""
    for name, value in record.items():
        if name in CLUSTER_FIELDS and not isinstance(value, Mapping):
            yield name
        elif isinstance(value, Mapping):
            yield from (f"{name}.{path}" for path in _paths(value))


def cluster_column(records: Sequence[Mapping[str, Any]], field: str) -> list[str | float | None]:
    """The cluster of each record: what its field holds, or a path leads to, None where that is no name and no number.

    Example:
        >>> cluster_column([{"page": "7"}, {"page": ""}, {}, {"page": ["7", "8"]}], "page")
        ['7', None, None, None]
        >>> cluster_column([{"doc": {"page": "7"}}], "doc.page")
        ['7']
    """
    values = [record[field] if field in record else look_up(record, field) for record in records]
    if set(map(type, values)) == {str} and "" not in values:
        return values
    return [value if _is_name(value) else None for value in values]


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value and value != ""


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Which field says what questions belong together: of `CLUSTER_FIELDS` the one that makes the fewest clusters.

    Args:
        records: those of the questions.

    Returns:
        The field; None where none is there that puts some questions into one cluster and others into another.

    Example:
        >>> cluster_field([{"id": 1, "doc": "a", "image": "a1"}, {"id": 2, "doc": "a", "image": "a2"}, {"doc": "b"}])
        'doc'
    """
    clusters = find_clusters(records)
    return clusters.field if clusters else None


def find_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """What these questions belong together by, None for nothing.

    Args:
        records: those of the questions.
        cluster_by: as `ClusteredScores` takes it.

    Raises:
        ValueError: no record has the field of `cluster_by`.
    """
    scores = ClusteredScores(cluster_by)
    scores.add([0.0] * len(records), records)
    return scores.chosen()[0]
