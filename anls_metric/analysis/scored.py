"""Scores answers. Everything known about them is computed from `Scored`, which holds lists of equal length."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import filterfalse, groupby
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from anls_metric.analysis.answer_types import ANSWER_TYPES
from anls_metric.analysis.question_hash import hash_questions
from anls_metric.core.json_strings import parse_written_list
from anls_metric.core.names import natural_key
from anls_metric.core.scorer import Scorer, mean
from anls_metric.core.statistics.clusters import Clusters, find_clusters, keep_names
from anls_metric.core.strings.metrics import Matches, NormalizedPair, find_matches, normalize_wrong
from anls_metric.messages import make_error
from anls_metric.options import KEYS, LEAVES, NONE, Settings
from anls_metric.reading.answers import (
    Answers,
    Questions,
    Record,
    average_runs,
    list_compared,
    list_ids,
    list_places,
    list_references,
)
from anls_metric.reading.layouts import ABSENT, take_column
from anls_metric.reading.roles import is_of_answers, list_plain_fields, take_whole_record
from anls_metric.reading.table import are_numbers, read_column

if TYPE_CHECKING:
    from anls_metric.analysis.leaf_keys import Figures
    from anls_metric.core.statistics.significance import Interval

MIN_GAIN = 0.005
"""The gain of the score below which a hint is not worth a sentence: half a point."""


class Group(NamedTuple):
    """The questions of a group, with their places and their scores. A group for a key also has the figures of the key's
    leaves.
    """

    places: list[int]
    scores: list[float]
    figures: Mapping[str, Any] = {}

    @property
    def mean(self) -> float | None:
        """The mean of the scores, or None if there are no questions."""
        return mean(self.scores) if self.scores else None

    def interval(self, clusters: Clusters | None) -> Interval | None:
        """Return the 95% confidence interval of the mean, or None if there are fewer than two clusters."""
        from anls_metric.core.statistics.significance import mean_interval

        return mean_interval(self.scores, clusters and [clusters.names[place] for place in self.places])


Groups = dict[str, Group]


@dataclass(frozen=True, eq=False)
class Scored:
    """The answers of a submission with their scores.

    Attributes:
        answers: the answers.
        scorer: what scored them.
        values: the score of each answer, as the scorer returns it: a float, or an object with the scores of the leaves.
        scores: the score of each question: with several runs, the mean of its answers.
        anls: the score of the set.
        settings: the options.
        means: the means under other variants, by name.
        groups: the groups of questions, by field and by name.
        all_keys: the figures of all leaves of nested values; {} if they are not counted.
        uncorrected: the score without corrections; None if there are none.
        added: the references that corrections added to the questions of all submissions, by the id of the question; []
            for a question that they left out.
        found: what functions with the decorator `once` found.
    """

    answers: Answers
    scorer: Scorer
    values: Sequence[Any] = field(repr=False)
    scores: Sequence[float] = field(repr=False)
    anls: float
    settings: Settings = field(default_factory=Settings, repr=False)
    means: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Groups] = field(default_factory=dict, repr=False)
    all_keys: Figures = field(default_factory=dict, repr=False)
    uncorrected: float | None = None
    added: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _explanations: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """The name of the submission."""
        return self.answers.name

    @property
    def questions(self) -> Questions:
        """The questions."""
        return self.answers.questions

    @cached_property
    def answer_scores(self) -> Sequence[float]:
        """The score of each answer."""
        return self.scores if self.answers.places is None else list(map(float, self.values))

    @cached_property
    def texts(self) -> Sequence[NormalizedPair]:
        """Each wrong answer with its references, normalized."""
        answers = self.answers
        return normalize_wrong(answers.predictions, list_references(answers), self.answer_scores, self.scorer)

    @cached_property
    def matches(self) -> Matches:
        """Which answers are exact matches, and which contain a reference."""
        answers = self.answers
        columns = answers.predictions, list_references(answers), self.answer_scores
        return find_matches(*columns, self.scorer, self.texts)

    @cached_property
    def compared(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The prediction of each answer, None for no answer, and its references, as the scorer takes them."""
        return list_compared(self.answers)

    def why(self, place: int) -> Any:
        """Explain the score of an answer, given its place. Return None if the question has no answer."""
        if place not in self._explanations:
            self._explanations[place] = self._explain(place)
        return self._explanations[place]

    def _explain(self, place: int) -> Any:
        prediction, accepted = (column[place] for column in self.compared)
        return None if prediction is None else self.scorer.explain(prediction, accepted)

    @property
    def extract(self) -> str:
        """The names of the extraction steps, comma-separated."""
        return ",".join(self.settings.extract or ())

    @cached_property
    def clusters(self) -> Clusters | None:
        """The clusters of the questions, or None if there are none."""
        return choose_clusters(self.questions.table.records, self.settings.cluster_by)

    @property
    def interval(self) -> Interval | None:
        """The 95% confidence interval of the score, or None if there are fewer than two clusters."""
        from anls_metric.core.statistics.significance import mean_interval  # which the score alone does not need

        names = self.clusters and self.clusters.names
        if self.scorer.averages_rows:
            return mean_interval(self.scores, names)
        leaves = [[*each.scores, *[0.0] * (each.length - len(each.scores))] for each in self.values]
        rows = [(place,) if names is None or names[place] is None else names[place] for place in range(len(leaves))]
        return mean_interval(
            [score for own in leaves for score in own], [row for row, own in zip(rows, leaves) for _ in own]
        )

    @property
    def exact_match(self) -> float:
        """The share of answers that equal a reference after normalization. Runs are averaged by question."""
        return mean(average(self.answers, list(map(float, self.matches.exact))))

    @property
    def contains(self) -> float:
        """The share of answers that contain a reference as whole words. Runs are averaged by question."""
        return mean(average(self.answers, list(map(float, self.matches.contains))))

    @cached_property
    def runs(self) -> Sequence[Sequence[int]]:
        """The places of the answers to each question. The answers to the same question follow one another."""
        places = range(len(self.scores)) if self.answers.places is None else self.answers.places
        return [list(run) for _, run in groupby(range(len(places)), key=places.__getitem__)]

    @cached_property
    def representatives(self) -> Sequence[int]:
        """The place of the answer that represents each question, which is the one with the score closest to the
        mean.
        """
        if self.answers.places is None:
            return range(len(self.scores))
        scores = self.answer_scores
        return [
            min(run, key=lambda place: (abs(scores[place] - own), scores[place]))
            for run, own in zip(self.runs, self.scores)
        ]

    @cached_property
    def run_scores(self) -> list[float]:
        """The score of each run, or [] if there is only one run or the questions have different numbers of answers."""
        if self.answers.places is None or len(set(map(len, self.runs))) > 1:
            return []
        return [mean([self.answer_scores[run[number]] for run in self.runs]) for number in range(len(self.runs[0]))]

    @property
    def run_sd(self) -> float | None:
        """The standard deviation of the scores of the runs (with n - 1), or None if there is only one run."""
        from statistics import stdev  # slow to import

        return stdev(self.run_scores) if len(self.run_scores) > 1 else None

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures that the benchmark's rule computes for the set, by name, with None in place of NaN and infinity;
        {} if there are several runs.

        Raises:
            InputError: a column that only the figures need holds a wrong value.
        """
        if self.answers.columns is None or self.answers.places is not None:
            return {}
        ids, rows = self.questions.ids, self.answers.columns
        try:
            found = self.scorer.summarize_scores(rows, self.scores, lambda place: f"question {ids[place]}")
        except ValueError as error:
            raise make_error(self.name, "{problem}", problem=str(error)) from None
        return {name: _drop_infinite(value) for name, value in found.items()}

    @property
    def signature(self) -> str:
        """The signature of the score, which says how it was computed and which questions were scored."""
        chosen = self.answers.samples and f"samples:{self.answers.samples}"
        counts = f"questions:{len(self.questions.ids)}", f"gold:{hash_questions(self.questions)}"
        parts = (*filter(None, [chosen]), *counts)
        return add_to_signature(self.scorer.signature(self.extract), *parts)


_Found = TypeVar("_Found")


def once(find: Callable[[Scored], _Found]) -> Callable[[Scored], _Found]:
    """Make a function of a submission compute its result only once for each submission."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def find_once(scored: Scored) -> _Found:
        if name not in scored.found:
            scored.found[name] = find(scored)
        found: _Found = scored.found[name]
        return found

    return find_once


def _drop_infinite(value: Any) -> Any:
    """Put None in place of NaN and infinity, which JSON does not have."""
    if isinstance(value, Mapping):
        return {name: _drop_infinite(own) for name, own in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value


def add_to_signature(signature: str, *parts: str) -> str:
    """Add parts to a signature, before the version at its end.

    Example:
        >>> add_to_signature("anls|standard|threshold:0.5|v2", "questions:2", "gold:f8cc8a3c")
        'anls|standard|threshold:0.5|questions:2|gold:f8cc8a3c|v2'
    """
    *before, version = signature.split("|")
    return "|".join([*before, *parts, version])


def score_answers(
    answers: Answers, scorer: Scorer, settings: Settings | None = None, others: Sequence[Scorer] = ()
) -> Scored:
    """Score the answers of a submission.

    Args:
        answers: the answers.
        scorer: what scores them.
        settings: the options: groups, clusters and extraction steps.
        others: more scorers, for `Scored.means`.

    Raises:
        InputError: an answer cannot be scored, or no question has a field of ``settings.by``.
    """
    settings, questions = settings or Settings(), answers.questions
    if answers.columns is not None:
        answers = answers._replace(columns=_complete_columns(answers, scorer))
    lists_leaves = settings.by_key or settings.output_rows == LEAVES
    values = score_predictions(answers, answers.predictions, scorer.list_leaves() if lists_leaves else scorer)
    scores = average(answers, list(map(float, values)))
    groups = {name: group_scores(questions.table.records, scores, name) for name in settings.by}
    for name, found in groups.items():
        if not found:
            sentence = (
                "no question has the field {field!r}: pass fields of the questions with {use.by} (found {fields})"
            )
            fields = ", ".join(map(repr, questions.table.records[0]))
            raise make_error(questions.table.name, sentence, field=name, fields=fields)
    all_keys: Figures = {}
    if settings.by_key:
        from anls_metric.analysis.leaf_keys import count_keys

        clusters = choose_clusters(questions.table.records, settings.cluster_by)
        all_keys, keys = count_keys(list_places(answers), values, clusters and clusters.names)
        groups[KEYS] = {name: Group(list(key.places), list(key.scores), key.figures) for name, key in keys.items()}
    means = {other.name: score_under(answers, other) for other in others}
    return Scored(answers, scorer, values, scores, mean_of(answers, values, scorer), settings, means, groups, all_keys)


def score_predictions(answers: Answers, predictions: Sequence[Any], scorer: Scorer) -> Sequence[Any]:
    """Score predictions against the references. They may differ from the predictions in the answers.

    Raises:
        InputError: an answer cannot be scored; it names the question.
    """
    references, ids = list_references(answers), list_ids(answers)

    def name(place: int) -> str:
        return f"question {ids[place]}"

    has_gaps, nothing = None in predictions, scorer.nothing
    texts = [nothing if each is None else each for each in predictions] if has_gaps else predictions
    accepted: Sequence[Any] = references
    if answers.columns is not None:
        texts, accepted = [row["prediction"] for row in answers.columns], answers.columns
    try:
        values: Sequence[Any] = scorer.score_checked(texts, accepted, name)
        if has_gaps:
            rows = enumerate(zip(predictions, references, values))
            values = [
                scorer.score_missing(own, name(place)) if prediction is None else value
                for place, (prediction, own, value) in rows
            ]
        return values
    except ValueError as error:  # its message names the question
        raise make_error(answers.name, "{problem}", problem=str(error)) from None


def _complete_columns(answers: Answers, scorer: Scorer) -> list[Record]:
    """Complete the columns of a rule with the predictions of questions without an answer.

    Raises:
        InputError: an answer lacks a column.
    """
    pairs = zip(answers.columns or (), answers.predictions)
    rows = [{**row, "prediction": ""} if prediction is None else row for row, prediction in pairs]
    missing = [column for column in scorer.columns if not all(column in row for row in rows)]
    if missing:
        sentence = (
            "{rule} needs {columns}, which no file has: name the field with {use.field:{option}} (found {fields})"
        )
        values = {"columns": " and ".join(missing), "option": f"{missing[0]}=PATH"}
        fields = ", ".join(map(repr, answers.questions.table.records[0]))
        raise make_error(answers.name, sentence, rule=scorer.name, fields=fields, **values)
    return rows


def average(answers: Answers, values: Sequence[float]) -> Sequence[float]:
    """Average the values of the answers to each question."""
    return values if answers.places is None else average_runs(answers.places, values)


def mean_of(answers: Answers, values: Sequence[Any], scorer: Scorer) -> float:
    """Compute the score of a set from the scores of its answers.

    Raises:
        InputError: there are runs, and the score is a mean of leaves.
    """
    if answers.places is None:
        return float(scorer.mean(values))
    if not scorer.averages_rows:
        raise make_error(answers.name, "runs can only be averaged question by question: use {use.average:rows}")
    return mean(average(answers, list(map(float, values))))


def choose_clusters(records: Sequence[Mapping[str, Any]], cluster_by: str | None = None) -> Clusters | None:
    """Find the document that each question is about.

    Args:
        records: the records of the questions.
        cluster_by: the field or path that names the document of a question, as it is; "none" for no documents. None
            takes a usual field: see `anls_metric.core.statistics.clusters.find_clusters`.

    Raises:
        InputError: no record has the field of `cluster_by`.
    """
    if cluster_by is None:
        return find_clusters(records)
    if cluster_by == NONE:
        return None
    names = keep_names(take_column(records, cluster_by))
    if all(name is None for name in names):
        sentence = "no question has the field {field!r}: pass a field of the questions with {use.cluster_by}"
        raise make_error("", sentence, field=cluster_by)
    return Clusters(cluster_by, names)


LEAST_DOCUMENTS = 6
"""The fewest values of a field that may identify documents: fewer cannot be tested."""


def describe_independence(scored: Scored) -> str:
    """Say that no field identifies the documents of questions, and which field may: the one that repeats with the most
    values.

    Example:
        >>> from anls_metric import score
        >>> rows = [{"prediction": "a", "references": ["a"], "scan": n // 2} for n in range(20)]
        >>> describe_independence(score(rows)["data"]).rpartition("; ")[2]
        "if 'scan' does, add --cluster-by scan (cluster_by)"
    """
    table, roles = scored.questions.table, scored.questions.roles
    is_one_answer = roles.references is take_whole_record  # then all fields are values to score
    sizes = {}
    for name in [] if is_one_answer else filterfalse(is_of_answers, list_plain_fields(table, roles)):
        values = keep_names(read_column(table, name))
        size = len({*values})
        if LEAST_DOCUMENTS <= size < len(values) and None not in values and _may_be_documents(values):
            sizes[name] = size
    sentence = "questions taken as independent: no field names their document"
    if not sizes:
        return sentence
    field = max(sizes, key=sizes.__getitem__)
    return f"{sentence}; if {field!r} does, add --cluster-by {shlex.quote(field)} (cluster_by)"


def _may_be_documents(values: Sequence[Any]) -> bool:
    """Whether values may identify documents: numbers do if the questions of a document follow one another."""
    blocks = sum(1 for _ in groupby(values))
    return blocks == len({*values}) or not are_numbers(values)


def score_under(answers: Answers, scorer: Scorer, predictions: Sequence[Any] | None = None) -> float:
    """Compute the score of answers under a different scorer, or with different predictions."""
    values = score_predictions(answers, answers.predictions if predictions is None else predictions, scorer)
    return mean_of(answers, values, scorer)


def list_worst(scored: Scored, count: int) -> list[int]:
    """List the places of the lowest-scoring questions, the lowest first. Only scores below 1 count."""
    order = sorted(range(len(scored.scores)), key=scored.scores.__getitem__)
    return [place for place in order[:count] if scored.scores[place] < 1.0]


# Groups


def group_scores(records: Sequence[Record], scores: Sequence[float], field: str) -> Groups:
    """Group the scores of questions by the values of a field in their records. Groups are sorted by name, with 2 before
    10.

    Example:
        >>> groups = group_scores([{"kind": "x"}, {"kind": ["x", "y"]}], [1.0, 0.0], "kind")
        >>> {name: group.mean for name, group in groups.items()}
        {'x': 0.5, 'y': 0.0}
    """
    groups: Groups = {}
    for place, value in enumerate(take_column(records, field)):
        for name in name_groups(field, value):
            group = groups.setdefault(name, Group([], []))
            group.places.append(place)
            group.scores.append(scores[place])
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def name_groups(field: str, value: Any) -> list[str]:
    """Return the names of the groups to which a question with this value of a field belongs, each once. A printed list
    of strings is treated as a list.

    Example:
        >>> name_groups("evidence_sources", "['Table', 'Chart']"), name_groups("page", [2, 2.0])
        (['Table', 'Chart'], ['2'])
    """
    if isinstance(value, str):
        with suppress(ValueError):  # it only begins like a list
            value = parse_written_list(value, field)
    items = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(_name_group(field, item) for item in items if item is not None and item is not ABSENT))


def _name_group(field: str, value: Any) -> str:
    """Name a group: 7, "7" and 7.0 are the same group, since formats write the same value differently."""
    name = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return ANSWER_TYPES[field][1].get(name, name) if field in ANSWER_TYPES else name


def complete_keys(submissions: Sequence[Scored]) -> list[Scored]:
    """Give each submission a group for every key that any submission has. A group without leaves has no questions."""
    from anls_metric.analysis.leaf_keys import NO_LEAVES

    names = sorted({name for scored in submissions for name in scored.groups[KEYS]}, key=natural_key)
    nothing = Group([], [], NO_LEAVES)
    return [
        replace(
            scored, groups={**scored.groups, KEYS: {name: scored.groups[KEYS].get(name, nothing) for name in names}}
        )
        for scored in submissions
    ]


MAX_GROUPS = 12
"""The most values of a field that groups questions without being asked for."""


def list_grouping_fields(scored: Scored) -> list[str]:
    """List the fields with few values, those with the fewest first. Fields with the texts of questions or answers are
    left out.
    """
    records = scored.questions.table.records
    texts = (list(scored.questions.texts), list(scored.answers.predictions))
    fields = _list_fields_with_few_values(records, min(MAX_GROUPS, len(records) // 2))
    return [field for field in fields if take_column(records, field) not in texts]


def _list_fields_with_few_values(records: Sequence[Record], most: int) -> list[str]:
    """List the fields of records that have at most this many values, those with the fewest values first."""
    sample = records[:2000]
    sizes: dict[str, int] = {}
    for name in {name: None for record in sample[:100] for name in record}:
        values = [record.get(name) for record in sample]
        if not any(isinstance(value, (bytes, dict, list)) for value in values):
            sizes[name] = len({str(value) for value in values if value is not None})
    return sorted((name for name, size in sizes.items() if 1 < size <= most), key=sizes.__getitem__)
