"""Finds clusters of questions about the same document or page, by a field of their records."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, count, islice
from math import sqrt
from typing import Any, NamedTuple

from anls_metric.analysis.significance import Sample
from anls_metric.reading.column_records import ColumnRecords, get_column
from anls_metric.reading.layouts import look_up
from anls_metric.reading.long_tables import DOCUMENT_FIELDS
from anls_metric.reading.remedies import Remedy

CLUSTER_FIELDS = DOCUMENT_FIELDS

# The value of `cluster_by` that makes each question its own cluster.
NO_CLUSTERS = "none"

_NAMES = frozenset(CLUSTER_FIELDS)
_DEEPEST = 8  # levels of objects in which a field is searched
_MOST_PATHS = 64  # paths to such fields; in a file with more, names are data, and only its top level counts

# A field names kinds, not documents, if it has more questions per value than `_MANY_QUESTIONS`, and more than
# `_MANY_TIMES` times the number of values: two values for 41 questions, or ten for 401.
_MANY_QUESTIONS = 20
_MANY_TIMES = 4

_LARGE_SHARE = 0.25  # of the questions; if one document has this share, an interval is too narrow

CLUSTER_BY = Remedy(
    python="if {value} names the documents, choose it with cluster_by={value!r}",
    command="if {value} names the documents, choose it with --cluster-by {value}",
    page="if {value} names the documents, choose it under “More options”",
    endpoint="if {value} names the documents, score the files with anls --cluster-by {value}",
)
"""What to do about a field that may name the documents and was not chosen."""


class Clusters(NamedTuple):
    """The clusters of questions.

    Attributes:
        field: the field of the records that names the cluster, or the path to it.
        count: the number of clusters; a question without the field is its own cluster.
    """

    field: str
    count: int  # type: ignore[assignment]  # hides an unused method of tuples


class Doubt(NamedTuple):
    """A reason to doubt the clusters.

    Attributes:
        text: what looks wrong.
        field: the field that may be the right one, for `CLUSTER_BY`; "" for none.
    """

    text: str
    field: str = ""


class ClusteredScores:
    """Collects scores with all fields that may name their clusters. The field is chosen after all records were added.

    Args:
        cluster_by: a field of the records, or a path to one, or "none" for no clusters; None chooses as `cluster_field`
            does.
        most: the largest possible score.

    Example:
        >>> scores = ClusteredScores()
        >>> scores.add([1.0, 0.0], [{"doc": "a", "image": "a1"}, {"doc": "a", "image": "a1"}])
        >>> scores.add([1.0, 1.0], [{"doc": "a", "image": "a2"}, {"doc": "b", "image": "b1"}])
        >>> clusters, sample = scores.choose()
        >>> clusters, sample.mean
        (Clusters(field='doc', count=2), 0.75)
    """

    def __init__(self, cluster_by: str | None = None, most: float = 1.0) -> None:
        self._cluster_by = cluster_by
        self._most = most
        self._is_user_choice = cluster_by not in (None, NO_CLUSTERS)
        self._deepest = _DEEPEST
        self._alone: Counter[float] = Counter()  # the scores before the first record with a field to choose
        self._scores = array("d")  # the scores from there on,
        self._columns: dict[str, _Column] = {}  # and their clusters by each field
        if self._is_user_choice:
            self._columns[str(cluster_by)] = _Column(str(cluster_by))
        self._chosen: _Choice | None = None

    def add(self, scores: Sequence[float], records: Sequence[Mapping[str, Any]]) -> None:
        """Add scores.

        Args:
            scores: numbers from 0 to `most`.
            records: the record of each score.
        """
        self._chosen = None
        if self._cluster_by is None:
            self._find_columns(records)
        if not self._columns and not self._scores:
            self._alone.update(scores)
            return
        self._scores.extend(scores)
        for column in self._columns.values():
            column.add(records)

    def _find_columns(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Begin a column for each field that occurs for the first time."""
        for path in _find_paths(records, self._deepest) - self._columns.keys():
            self._columns[path] = _Column(path, len(self._scores))
        if len(self._columns) > _MOST_PATHS:
            self._deepest = 1
            self._columns = {path: column for path, column in self._columns.items() if path in _NAMES}

    def choose(self) -> tuple[Clusters | None, Sample]:
        """Choose the field with the fewest clusters among those that may name documents.

        Returns:
            The clusters, None for none, and the scores by cluster. They do not depend on the order of the records.

        Raises:
            ValueError: no record has the field of `cluster_by`.
        """
        choice = self._choose_field()
        return choice.field and Clusters(choice.field.path, choice.field.clusters), choice.sample

    def list_clusters(self) -> Sequence[int | None] | None:
        """List the number of the cluster of each score, in the order in which they were added.

        Returns:
            A list with None for each score that is its own cluster; None if all are.

        Raises:
            ValueError: as `choose`.
        """
        choice = self._choose_field()
        if choice.field is None:
            return None
        alone = choice.sample.count - len(self._scores)
        return [None] * alone + list(self._columns[choice.field.path].list_clusters())

    def find_doubts(self) -> list[Doubt]:
        """Find reasons to doubt the clusters: a cluster with a large share of the questions, or a close choice.

        Raises:
            ValueError: as `choose`.
        """
        choice = self._choose_field()
        doubts = [self._doubt_share(choice), None if self._is_user_choice else _doubt_choice(choice)]
        return list(filter(None, doubts))

    def _doubt_share(self, choice: _Choice) -> Doubt | None:
        """Doubt an interval if one cluster has a quarter of the questions, and half as many again as an equal share.

        In simulations the 95 % interval contained the truth in 90 of 100 samples if one of 76 documents had a quarter
        of the questions, and in 68 if it had half. With four documents of a quarter each, it did in 94.
        """
        if not choice.field or choice.field.clusters < 2:
            return None
        path, total = choice.field.path, choice.sample.count
        column = self._columns[path]
        size = column.largest
        if size < total * max(_LARGE_SHARE, 1.5 / choice.field.clusters):
            return None
        name = column.name_largest()
        name = " ".join(name[:60].split()) + ("..." if len(name) > 60 else "")
        problem = f"{size:,} of {total:,} questions are about one document ({path} {name})"
        return Doubt(f"{problem}: the 95 % interval is too narrow")

    def _choose_field(self) -> _Choice:
        """Choose the field, and keep the choice until more scores are added."""
        if self._chosen is None:
            alone = sum(self._alone.values())
            total = alone + len(self._scores)
            fields = [self._columns[path].describe(total) for path in sorted(self._columns, key=_rank)]
            if self._is_user_choice and not fields[0].values:
                raise ValueError(
                    f"no question has the field {self._cluster_by!r} to cluster by: name a field of the questions, "
                    "or leave the option out to detect it"
                )
            fields = [field for field in fields if self._is_user_choice or 1 < field.clusters < total]
            documents = [field for field in fields if self._is_user_choice or not field.is_kind]
            chosen = min(documents, key=lambda field: field.clusters, default=None)
            sample = Sample(most=self._most)
            sample.add(self._alone)
            sample.add(self._scores, self._columns[chosen.path].list_clusters() if chosen else None)
            self._chosen = _Choice(chosen, fields, sample)
        return self._chosen


class _Field(NamedTuple):
    """A field that may name the clusters, with its counts.

    Attributes:
        path: the field, or the path to it.
        clusters: the number of clusters; a question without the field is its own cluster.
        values: the number of different values.
        questions: the number of questions that have a value.
    """

    path: str
    clusters: int
    values: int
    questions: int

    @property
    def is_kind(self) -> bool:
        """Whether the field has too few values for its questions to name documents."""
        return self.questions > max(_MANY_QUESTIONS, _MANY_TIMES * self.values) * self.values

    def is_close(self, times: float) -> bool:
        """Whether this many times fewer values would make the field a kind, or this many times more a document."""
        border = sqrt(self.questions / _MANY_TIMES)
        return self.questions > _MANY_QUESTIONS * self.values and border / times < self.values < border * times


class _Choice(NamedTuple):
    """The chosen field, None for none; all fields that group some questions; and the sample."""

    field: _Field | None
    fields: list[_Field]
    sample: Sample


def _doubt_choice(choice: _Choice) -> Doubt | None:
    """Doubt a choice that a few more or fewer values would change."""
    chosen = choice.field
    if not chosen:
        return _doubt_kind([field for field in choice.fields if field.is_kind], "each question counts for itself")
    finer = [field for field in choice.fields if field.clusters > chosen.clusters]
    if finer and chosen.is_close(1.5):
        other = min(finer, key=lambda field: field.clusters)
        return Doubt(
            f"the clusters are the {chosen.values:,} values of {chosen.path}, few for {chosen.questions:,} questions; "
            f"{other.path} has {other.values:,} values",
            other.path,
        )
    kinds = [field for field in choice.fields if field.is_kind and field.is_close(2)]
    return _doubt_kind(kinds, f"the clusters are the {chosen.values:,} values of {chosen.path}")


def _doubt_kind(kinds: Sequence[_Field], instead: str) -> Doubt | None:
    """Doubt that the field with the most values names a kind rather than a document."""
    if not kinds:
        return None
    kind = max(kinds, key=lambda field: field.values)
    return Doubt(
        f"{kind.path} has only {kind.values:,} values for {kind.questions:,} questions, so {instead}", kind.path
    )


class _Column:
    """The cluster of each score by one field, as a number, because most fields are never chosen.

    Args:
        field: the field, or the path to it.
        before: the number of scores before the first record with the field.
    """

    def __init__(self, field: str, before: int = 0) -> None:
        self._field = field
        self._number_of: dict[Hashable, int] = {None: 0} if before else {}
        self._numbers: list[int] = [0] * before

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        before = len(self._number_of)
        try:
            numbers = self._number_clusters(get_column(records, self._field))
        except (KeyError, TypeError):  # a record lacks the field, or has a list
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

    def describe(self, total: int) -> _Field:
        """Describe the field, given the number of all questions."""
        alone = self._number_of.get(None)
        values = len(self._number_of) - (alone is not None)
        count = len(self._numbers) - (0 if alone is None else self._numbers.count(alone))
        return _Field(self._field, values + total - count, values, count)

    @property
    def largest(self) -> int:
        """The number of questions in the largest cluster."""
        alone = self._number_of.get(None)
        return max((size for number, size in Counter(self._numbers).items() if number != alone), default=0)

    def name_largest(self) -> str:
        """Name the largest cluster."""
        sizes, largest = Counter(self._numbers), self.largest
        return min(
            str(name) for name, number in self._number_of.items() if sizes[number] == largest and name is not None
        )

    def list_clusters(self) -> Sequence[int | None]:
        """List the number of the cluster of each score, None for a score without one."""
        alone = self._number_of.get(None)
        return self._numbers if alone is None else [None if number == alone else number for number in self._numbers]


def _rank(path: str) -> tuple[int, int, str]:
    """Rank a field of `CLUSTER_FIELDS`, or a path to it. If two fields are equally good, the lower rank is chosen."""
    name = path.rpartition(".")[2]
    return CLUSTER_FIELDS.index(name) if name in _NAMES else -1, path.count("."), path


def _find_paths(records: Sequence[Mapping[str, Any]], deepest: int, before: str = "") -> set[str]:
    """Find the paths of the fields of `CLUSTER_FIELDS` in records, and in objects inside them."""
    if isinstance(records, ColumnRecords) and records.is_flat:
        return {before + name for name in _NAMES.intersection(records.names)}
    try:
        is_flat = dict not in map(type, chain.from_iterable(map(dict.values, records)))  # type: ignore[arg-type]
    except TypeError:  # a record is a mapping of another kind
        is_flat = False
    if is_flat:
        return {before + name for name in _NAMES.intersection(set().union(*records))}
    paths: set[str] = set()
    inner: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        for name, value in record.items():
            if isinstance(value, dict):
                inner[name].append(value)
            elif name in _NAMES:
                paths.add(before + name)
    for name, objects in inner.items() if deepest > 1 else ():
        paths |= _find_paths(objects, deepest - 1, f"{before}{name}.")
    return paths


def cluster_column(records: Sequence[Mapping[str, Any]], field: str) -> list[str | float | None]:
    """Return the cluster of each record: the value of a field or path, None if it is neither a text nor a number.

    Example:
        >>> cluster_column([{"page": "7"}, {"page": ""}, {}, {"page": ["7", "8"]}], "page")
        ['7', None, None, None]
        >>> cluster_column([{"doc": {"page": "7"}}], "doc.page")
        ['7']
    """
    if isinstance(records, ColumnRecords) and field in records.names:
        values = records.get_column(field)
    else:
        values = [record[field] if field in record else look_up(record, field) for record in records]
    return [value if _is_name(value) else None for value in values]


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int, float)) and value == value and value != ""


def cluster_field(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Find the field that names the document of a question.

    Of the fields with usual names, such as "doc" or "image", it is the one with the fewest clusters.

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
    """Find the clusters of questions; None for none.

    Args:
        records: the records of the questions.
        cluster_by: see `ClusteredScores`.

    Raises:
        ValueError: no record has the field of `cluster_by`.
    """
    scores = ClusteredScores(cluster_by)
    scores.add([0.0] * len(records), records)
    return scores.choose()[0]
