"""Which questions belong together: those about one document or page, by a field of their records."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count, islice
from operator import itemgetter
from typing import Any, NamedTuple

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


class Clusters(NamedTuple):
    """What questions belong together by.

    Attributes:
        field: the field of the records, or the path to it.
        count: how many clusters it makes; a question without the field is one of its own.
    """

    field: str
    count: int  # type: ignore[assignment]  # hides a method of tuples that nobody wants here


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
        self._alone = Sample()  # all scores, where there is no field, or
        self._scores = array("d")  # as they come, with
        self._columns: dict[str, _Column] | None = None  # the clusters by each field
        self._chosen: tuple[Clusters | None, Sample] | None = None

    def add(self, scores: Sequence[float], records: Sequence[Mapping[str, Any]]) -> None:
        """Count these scores as well.

        Args:
            scores: from 0 to 1.
            records: the record of each; those that come first say which fields there are.
        """
        if self._columns is None:
            self._columns = {field: _Column(field) for field in _fields(records, self._cluster_by)}
        self._chosen = None
        if not self._columns:
            self._alone.add(scores)
            return
        self._scores.extend(scores)
        for column in self._columns.values():
            column.add(records)

    def chosen(self) -> tuple[Clusters | None, Sample]:
        """What the questions belong together by, None for nothing, and the scores by it.

        Raises:
            ValueError: no record has the field of `cluster_by`.
        """
        if self._chosen is None:
            self._chosen = self._choose()
        return self._chosen

    def _choose(self) -> tuple[Clusters | None, Sample]:
        if not self._columns:
            return None, self._alone
        counts = {field: column.cluster_count for field, column in self._columns.items()}
        asked = self._cluster_by in self._columns
        if asked and not any(column.has_clusters for column in self._columns.values()):
            raise ValueError(f"no question has the field {self._cluster_by!r}, by which to cluster")
        found = [field for field, count in counts.items() if asked or 1 < count < len(self._scores)]
        sample = Sample()
        if not found:
            sample.add(self._scores)
            return None, sample
        field = min(found, key=counts.__getitem__)
        sample.add(self._scores, self._columns[field].clusters())
        return Clusters(field, counts[field]), sample


class _Column:
    """The cluster of each score by one field, as a number: most fields are not the one that is chosen."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._number_of: dict[Hashable, int] = {}
        self._numbers: list[int] = []

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        before = len(self._number_of)
        try:
            numbers = self._numbered(map(itemgetter(self._field), records))
        except (KeyError, TypeError):  # a record does not have it, or has a list
            numbers = []
        fresh = list(islice(reversed(self._number_of), len(self._number_of) - before))
        plain = "" not in self._number_of and set(map(type, fresh)) <= {str, int}
        if not numbers or not (plain or all(map(_is_name, fresh))):
            for cluster in fresh:
                del self._number_of[cluster]
            numbers = self._numbered(cluster_column(records, self._field))
        self._numbers += numbers

    def _numbered(self, clusters: Iterable[Hashable]) -> list[int]:
        """The number of each: the place of the first score of that cluster."""
        return list(map(self._number_of.setdefault, clusters, count(len(self._numbers))))

    @property
    def has_clusters(self) -> bool:
        return bool(self._number_of.keys() - {None})

    @property
    def cluster_count(self) -> int:
        """How many there are; a score without one is one of its own."""
        alone = self._number_of.get(None)
        return len(self._number_of) + (0 if alone is None else self._numbers.count(alone) - 1)

    def clusters(self) -> Sequence[int | None]:
        """The number of the cluster of each score, None for a score without one."""
        alone = self._number_of.get(None)
        return self._numbers if alone is None else [None if one == alone else one for one in self._numbers]


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
    return [value if _is_name(value) else None for value in values]


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value and value != ""


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Which field says what questions belong together: of `CLUSTER_FIELDS` the one that makes the fewest clusters.

    Args:
        records: those of the questions.

    Returns:
        The field; None where none is there that puts some questions into one cluster and others into another.

    Raises:
        Nothing.

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
