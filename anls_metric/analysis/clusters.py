"""Finds the clusters of questions: those about one document or page, by a field of their records."""

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
from anls_metric.reading.remedies import Remedy

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

_NAMES = frozenset(CLUSTER_FIELDS)
_DEEPEST = 8  # objects inside each other in which a field is looked for
_MOST_PATHS = 64  # paths to such fields; a file with more has names that are data, and only its top level counts

# A field names kinds, and no documents, where a value has more questions than this, and more than so many times the
# number of values: two values of 41 questions, ten of 401.
_MANY_QUESTIONS = 20
_MANY_TIMES = 4

_LARGE_SHARE = 0.25  # of the questions; an interval is too narrow where one document has it

CLUSTER_BY = Remedy(
    python="if {value} names the documents, choose it with cluster_by={value!r}",
    command="if {value} names the documents, choose it with --cluster-by {value}",
    page="if {value} names the documents, choose it under “More options”",
    endpoint="if {value} names the documents, score the files with anls --cluster-by {value}",
)
"""What to do where a field may name the documents, and was not chosen."""


class Clusters(NamedTuple):
    """The clusters of questions.

    Attributes:
        field: the field of the records that names the cluster, or the path to it.
        count: the number of clusters; a question without the field is its own cluster.
    """

    field: str
    count: int  # type: ignore[assignment]  # hides a method of tuples that nobody needs here


class Doubt(NamedTuple):
    """A reason to doubt the clusters.

    Attributes:
        text: what looks wrong.
        field: the field that may be the right one, for `CLUSTER_BY`; "" for none.
    """

    text: str
    field: str = ""


class ClusteredScores:
    """Collects scores with all fields that may name their clusters; the field is chosen when all records are known.

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
        self._is_named = cluster_by not in (None, NO_CLUSTERS)
        self._deepest = _DEEPEST
        self._alone: Counter[float] = Counter()  # the scores before the first record with a field to choose
        self._scores = array("d")  # the scores from there on,
        self._columns: dict[str, _Column] = {}  # and their clusters by each field
        if self._is_named:
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
        """Begin a column for each field that comes for the first time."""
        for path in _find_paths(records, self._deepest) - self._columns.keys():
            self._columns[path] = _Column(path, len(self._scores))
        if len(self._columns) > _MOST_PATHS:
            self._deepest = 1
            self._columns = {path: column for path, column in self._columns.items() if path in _NAMES}

    def choose(self) -> tuple[Clusters | None, Sample]:
        """Choose the field that makes the fewest clusters, of those that may name documents.

        Returns:
            The clusters, None if there are none, and the scores by cluster. The order of the records changes neither.

        Raises:
            ValueError: no record has the field of `cluster_by`.
        """
        choice = self._choose_field()
        return choice.field and Clusters(choice.field.path, choice.field.clusters), choice.sample

    def list_clusters(self) -> Sequence[int | None] | None:
        """List the number of the cluster of each score, in the order in which they were added.

        Returns:
            None for a score that is its own cluster; None instead of a list if all are.

        Raises:
            ValueError: as `choose`.
        """
        choice = self._choose_field()
        if choice.field is None:
            return None
        alone = choice.sample.count - len(self._scores)
        return [None] * alone + list(self._columns[choice.field.path].list_clusters())

    def find_doubts(self) -> list[Doubt]:
        """Find reasons to doubt the clusters: one with a large share of the questions, or a choice that was close.

        Raises:
            ValueError: as `choose`.
        """
        choice = self._choose_field()
        doubts = [self._doubt_share(choice), None if self._is_named else _doubt_choice(choice)]
        return list(filter(None, doubts))

    def _doubt_share(self, choice: _Choice) -> Doubt | None:
        """Doubt an interval where one of the clusters holds a quarter of the questions, and half more than its share.

        In simulations the interval of 95 % held the truth in 90 of 100 samples where one of 76 documents had a quarter
        of the questions, and in 68 where it had half; where each of four documents had a quarter it held in 94.
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
        """Choose the field, and keep the choice until more scores come."""
        if self._chosen is None:
            alone = sum(self._alone.values())
            total = alone + len(self._scores)
            fields = [self._columns[path].describe(total) for path in sorted(self._columns, key=_rank)]
            if self._is_named and not fields[0].values:
                raise ValueError(
                    f"no question has the field {self._cluster_by!r} to cluster by: name a field of the questions"
                )
            fields = [field for field in fields if self._is_named or 1 < field.clusters < total]
            documents = [field for field in fields if self._is_named or not field.is_kind]
            chosen = min(documents, key=lambda field: field.clusters, default=None)
            sample = Sample(most=self._most)
            sample.add(self._alone)
            sample.add(self._scores, self._columns[chosen.path].list_clusters() if chosen else None)
            self._chosen = _Choice(chosen, fields, sample)
        return self._chosen


class _Field(NamedTuple):
    """What is known of a field that may name the clusters.

    Attributes:
        path: the field, or the path to it.
        clusters: the number of clusters; a question without the field is its own cluster.
        values: the number of different values.
        named: the number of questions that have one.
    """

    path: str
    clusters: int
    values: int
    named: int

    @property
    def is_kind(self) -> bool:
        """Whether it has too few values for the number of its questions to name documents."""
        return self.named > max(_MANY_QUESTIONS, _MANY_TIMES * self.values) * self.values

    def is_close(self, times: float) -> bool:
        """Whether so many times fewer values would have made it a kind, or so many times more a document."""
        border = sqrt(self.named / _MANY_TIMES)
        return self.named > _MANY_QUESTIONS * self.values and border / times < self.values < border * times


class _Choice(NamedTuple):
    """The field that was chosen, None if none was; all fields that put some questions together; and the sample."""

    field: _Field | None
    fields: list[_Field]
    sample: Sample


def _doubt_choice(choice: _Choice) -> Doubt | None:
    """Doubt a choice that would have been another one with a few values more, or fewer."""
    chosen = choice.field
    if not chosen:
        return _doubt_kind([field for field in choice.fields if field.is_kind], "each question counts for itself")
    finer = [field for field in choice.fields if field.clusters > chosen.clusters]
    if finer and chosen.is_close(1.5):
        other = min(finer, key=lambda field: field.clusters)
        return Doubt(
            f"the clusters are the {chosen.values:,} values of {chosen.path}, few for {chosen.named:,} questions; "
            f"{other.path} has {other.values:,} values",
            other.path,
        )
    kinds = [field for field in choice.fields if field.is_kind and field.is_close(2)]
    return _doubt_kind(kinds, f"the clusters are the {chosen.values:,} values of {chosen.path}")


def _doubt_kind(kinds: Sequence[_Field], instead: str) -> Doubt | None:
    """Doubt that the field with the most values names a kind, and no document."""
    if not kinds:
        return None
    kind = max(kinds, key=lambda field: field.values)
    return Doubt(f"{kind.path} has only {kind.values:,} values for {kind.named:,} questions, so {instead}", kind.path)


class _Column:
    """The cluster of each score by one field, kept as a number, since most fields are not chosen.

    Args:
        field: the field, or the path to it.
        before: the number of scores before the first record that has it.
    """

    def __init__(self, field: str, before: int = 0) -> None:
        self._field = field
        self._number_of: dict[Hashable, int] = {None: 0} if before else {}
        self._numbers: list[int] = [0] * before

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        before = len(self._number_of)
        try:
            numbers = self._number_clusters(get_column(records, self._field))
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

    def describe(self, total: int) -> _Field:
        """Describe the field, for so many questions."""
        alone = self._number_of.get(None)
        values = len(self._number_of) - (alone is not None)
        named = len(self._numbers) - (0 if alone is None else self._numbers.count(alone))
        return _Field(self._field, values + total - named, values, named)

    @property
    def largest(self) -> int:
        """The number of questions in the largest cluster."""
        alone = self._number_of.get(None)
        return max((size for number, size in Counter(self._numbers).items() if number != alone), default=0)

    def name_largest(self) -> str:
        """The name of the largest cluster."""
        sizes, largest = Counter(self._numbers), self.largest
        return min(
            str(name) for name, number in self._number_of.items() if sizes[number] == largest and name is not None
        )

    def list_clusters(self) -> Sequence[int | None]:
        """The number of the cluster of each score, None for a score without one."""
        alone = self._number_of.get(None)
        return self._numbers if alone is None else [None if number == alone else number for number in self._numbers]


def _rank(path: str) -> tuple[int, int, str]:
    """Rank a field of `CLUSTER_FIELDS`, or a path to it: of equal ones the first is chosen."""
    name = path.rpartition(".")[2]
    return CLUSTER_FIELDS.index(name) if name in _NAMES else -1, path.count("."), path


def _find_paths(records: Sequence[Mapping[str, Any]], deepest: int, before: str = "") -> set[str]:
    """Find the paths of the fields of `CLUSTER_FIELDS` in records, and in objects inside them."""
    if isinstance(records, ColumnRecords) and dict not in map(type, records.list_values()):
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
    for name, found in inner.items() if deepest > 1 else ():
        paths |= _find_paths(found, deepest - 1, f"{before}{name}.")
    return paths


def cluster_column(records: Sequence[Mapping[str, Any]], field: str) -> list[str | float | None]:
    """The cluster of each record: the value of a field or path, None if it is no text and no number.

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
