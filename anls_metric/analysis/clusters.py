"""Finds the clusters of questions: those about one document or page, by a field of their records."""

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

# The value of `cluster_by` that makes each question its own cluster.
NO_CLUSTERS = "none"

_FIRST_RECORDS = 100  # the records that show which of the fields exist


class Clusters(NamedTuple):
    """The clusters of questions.

    Attributes:
        field: the field of the records that names the cluster, or the path to it.
        count: the number of clusters; a question without the field is its own cluster.
    """

    field: str
    count: int  # type: ignore[assignment]  # hides a method of tuples that nobody needs here


class ClusteredScores:
    """Collects scores with all fields that may name their clusters; the field is chosen when all records are known.

    Args:
        cluster_by: a field of the records, or a path to one, or "none" for no clusters; None chooses as `cluster_field`
            does.

    Example:
        >>> scores = ClusteredScores()
        >>> scores.add([1.0, 0.0], [{"doc": "a", "image": "a1"}, {"doc": "a", "image": "a1"}])
        >>> scores.add([1.0, 1.0], [{"doc": "a", "image": "a2"}, {"doc": "b", "image": "b1"}])
        >>> clusters, sample = scores.choose()
        >>> clusters, sample.mean
        (Clusters(field='doc', count=2), 0.75)
    """

    def __init__(self, cluster_by: str | None = None) -> None:
        self._cluster_by = cluster_by
        self._alone = Sample()  # the scores, if there is no field to choose
        self._scores = array("d")  # the scores otherwise,
        self._columns: dict[str, _Column] | None = None  # and their clusters by each field
        self._chosen: tuple[Clusters | None, Sample] | None = None

    def add(self, scores: Sequence[float], records: Sequence[Mapping[str, Any]]) -> None:
        """Add scores.

        Args:
            scores: numbers from 0 to 1.
            records: the record of each score; the first ones show which fields exist.
        """
        if self._columns is None:
            self._columns = {field: _Column(field) for field in _list_fields(records, self._cluster_by)}
        self._chosen = None
        if not self._columns:
            self._alone.add(scores)
            return
        self._scores.extend(scores)
        for column in self._columns.values():
            column.add(records)

    def choose(self) -> tuple[Clusters | None, Sample]:
        """Choose the field that makes the fewest clusters.

        Returns:
            The clusters, None if there are none, and the scores by cluster.

        Raises:
            ValueError: no record has the field of `cluster_by`.
        """
        if self._chosen is None:
            self._chosen = self._choose_field()
        return self._chosen

    def _choose_field(self) -> tuple[Clusters | None, Sample]:
        if not self._columns:
            return None, self._alone
        counts = {field: column.cluster_count for field, column in self._columns.items()}
        is_named = self._cluster_by in self._columns
        if is_named and not any(column.has_clusters for column in self._columns.values()):
            raise ValueError(f"no question has the field {self._cluster_by!r}, by which to cluster")
        fields = [field for field, count in counts.items() if is_named or 1 < count < len(self._scores)]
        sample = Sample()
        if not fields:
            sample.add(self._scores)
            return None, sample
        field = min(fields, key=counts.__getitem__)
        sample.add(self._scores, self._columns[field].clusters())
        return Clusters(field, counts[field]), sample


class _Column:
    """The cluster of each score by one field, kept as a number, since most fields are not chosen."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._number_of: dict[Hashable, int] = {}
        self._numbers: list[int] = []

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        before = len(self._number_of)
        try:
            numbers = self._number_clusters(map(itemgetter(self._field), records))
        except (KeyError, TypeError):  # a record does not have it, or has a list
            numbers = []
        fresh = list(islice(reversed(self._number_of), len(self._number_of) - before))
        plain = "" not in self._number_of and set(map(type, fresh)) <= {str, int}
        if not numbers or not (plain or all(map(_is_name, fresh))):
            for cluster in fresh:
                del self._number_of[cluster]
            numbers = self._number_clusters(cluster_column(records, self._field))
        self._numbers += numbers

    def _number_clusters(self, clusters: Iterable[Hashable]) -> list[int]:
        """Number clusters by the place of their first score."""
        return list(map(self._number_of.setdefault, clusters, count(len(self._numbers))))

    @property
    def has_clusters(self) -> bool:
        return bool(self._number_of.keys() - {None})

    @property
    def cluster_count(self) -> int:
        """The number of clusters; a score without one is its own cluster."""
        alone = self._number_of.get(None)
        return len(self._number_of) + (0 if alone is None else self._numbers.count(alone) - 1)

    def clusters(self) -> Sequence[int | None]:
        """The number of the cluster of each score, None for a score without one."""
        alone = self._number_of.get(None)
        return self._numbers if alone is None else [None if number == alone else number for number in self._numbers]


def _list_fields(records: Sequence[Mapping[str, Any]], cluster_by: str | None) -> list[str]:
    """List the fields that may name the cluster."""
    if cluster_by == NO_CLUSTERS:
        return []
    if cluster_by is not None:
        return [cluster_by]
    paths = dict.fromkeys(path for record in records[:_FIRST_RECORDS] for path in _find_paths(record))
    return sorted(paths, key=lambda path: CLUSTER_FIELDS.index(path.rpartition(".")[2]))


def _find_paths(record: Mapping[str, Any]) -> Iterator[str]:
    """Find the fields in a record, or in an object inside it."""
    for name, value in record.items():
        if name in CLUSTER_FIELDS and not isinstance(value, Mapping):
            yield name
        elif isinstance(value, Mapping):
            yield from (f"{name}.{path}" for path in _find_paths(value))


def cluster_column(records: Sequence[Mapping[str, Any]], field: str) -> list[str | float | None]:
    """The cluster of each record: the value of a field or path, None if it is no text and no number.

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
    """Find the field that says which questions belong together: the one of `CLUSTER_FIELDS` with the fewest clusters.

    Args:
        records: the records of the questions.

    Returns:
        The field; None if there is no field that puts some questions, but not all, into one cluster.

    Raises:
        Nothing.

    Example:
        >>> cluster_field([{"id": 1, "doc": "a", "image": "a1"}, {"id": 2, "doc": "a", "image": "a2"}, {"doc": "b"}])
        'doc'
    """
    clusters = find_clusters(records)
    return clusters.field if clusters else None


def find_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """Find the clusters of questions, None if there are none.

    Args:
        records: the records of the questions.
        cluster_by: see `ClusteredScores`.

    Raises:
        ValueError: no record has the field of `cluster_by`.
    """
    scores = ClusteredScores(cluster_by)
    scores.add([0.0] * len(records), records)
    return scores.choose()[0]
