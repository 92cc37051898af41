"""Scores answers and keeps the results in `Scored`, from which every analysis is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

from anls_metric.analysis.question_hash import hash_questions
from anls_metric.core.names import natural_key
from anls_metric.core.scorer import Scorer, mean
from anls_metric.messages import make_error
from anls_metric.options import KEYS, LEAVES, Settings
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

if TYPE_CHECKING:
    from anls_metric.analysis.groups import Groups
    from anls_metric.analysis.leaf_keys import Figures
    from anls_metric.core.statistics.clusters import Clusters
    from anls_metric.core.statistics.significance import Interval
    from anls_metric.core.strings.matches import Matches, NormalizedPair

MIN_GAIN = 0.005
"""The gain in score below which a hint is not worth mentioning, which is half a point."""


@dataclass(frozen=True, eq=False)
class Scored:
    """The answers in a submission with their scores.

    Attributes:
        answers: the answers.
        scorer: the scorer of the answers.
        values: the score of each answer, as the scorer returns it: a float, or an object with the scores of the leaves.
        scores: the score of each question, averaged over its answers if there are several runs.
        anls: the score of the submission.
        settings: the options.
        means: the means under other variants, by name.
        groups: the groups of questions, by field and name.
        all_keys: the figures for all leaves of nested values; {} if they are not counted.
        uncorrected: the score without corrections; None if there are no corrections.
        added: the references that corrections added to the questions of all submissions, keyed by question id; [] for a
            question that was left out.
        found: the cached results of functions with the decorator `once`.
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
        """The normalized text and references of each answer that may be wrong, or ("", ()) for any other answer."""
        from anls_metric.core.strings.matches import normalize_wrong  # scores do not need it

        answers = self.answers
        return normalize_wrong(answers.predictions, list_references(answers), self.answer_scores, self.scorer)

    @cached_property
    def matches(self) -> Matches:
        """Flags for the answers that equal a reference and for the answers that contain a reference."""
        from anls_metric.core.strings.matches import find_matches  # scores do not need it

        answers = self.answers
        columns = answers.predictions, list_references(answers), self.answer_scores
        return find_matches(*columns, self.scorer, self.texts)

    @cached_property
    def compared(self) -> tuple[Sequence[Any], Sequence[Any]]:
        """The prediction of each answer (None if the answer is missing) and the references, in the form that the scorer
        takes.
        """
        return list_compared(self.answers)

    def why(self, place: int) -> Any:
        """Explain the score of the answer at a position, or return None if the answer is missing."""
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
        from anls_metric.analysis.clustering import choose_clusters  # scores do not need it

        return choose_clusters(self.questions.table.records, self.settings.cluster_by)

    @property
    def interval(self) -> Interval | None:
        """The 95% confidence interval of the score, or None if there are fewer than two clusters."""
        from anls_metric.core.statistics.significance import mean_interval  # the score alone does not need it

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
        """The positions of the answers to each question. Answers to the same question are adjacent."""
        places = range(len(self.scores)) if self.answers.places is None else self.answers.places
        return [list(run) for _, run in groupby(range(len(places)), key=places.__getitem__)]

    @cached_property
    def representatives(self) -> Sequence[int]:
        """The position of the answer that represents each question, which is the answer whose score is closest to the
        mean over the runs.
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
        """The sample standard deviation of the run scores, or None if there is only one run."""
        from statistics import stdev  # slow to import

        return stdev(self.run_scores) if len(self.run_scores) > 1 else None

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures that the benchmark's rule computes for the submission, by name, with None in place of NaN and
        infinity. Empty if there is no rule or if there are several runs.

        Raises:
            InputError: a column that only the figures need contains an invalid value.
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
        """The signature of the score, which records how it was computed and which questions were scored."""
        chosen = self.answers.samples and f"samples:{self.answers.samples}"
        counts = f"questions:{len(self.questions.ids)}", f"gold:{hash_questions(self.questions)}"
        parts = (*filter(None, [chosen]), *counts)
        return add_to_signature(self.scorer.signature(self.extract), *parts)


_Found = TypeVar("_Found")


def once(find: Callable[[Scored], _Found]) -> Callable[[Scored], _Found]:
    """Decorate a function of a submission so that its result is computed only once for each submission."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def find_once(scored: Scored) -> _Found:
        if name not in scored.found:
            scored.found[name] = find(scored)
        found: _Found = scored.found[name]
        return found

    return find_once


def _drop_infinite(value: Any) -> Any:
    """Replace NaN and infinity, which do not exist in JSON, with None."""
    if isinstance(value, Mapping):
        return {name: _drop_infinite(own) for name, own in value.items()}
    return None if isinstance(value, float) and not isfinite(value) else value


def add_to_signature(signature: str, *parts: str) -> str:
    """Add parts to a signature before the version at its end.

    Example:
        >>> add_to_signature("anls|standard|threshold:0.5|v2", "questions:2", "gold:f8cc8a3c")
        'anls|standard|threshold:0.5|questions:2|gold:f8cc8a3c|v2'
    """
    *before, version = signature.split("|")
    return "|".join([*before, *parts, version])


def score_answers(
    answers: Answers, scorer: Scorer, settings: Settings | None = None, others: Sequence[Scorer] = ()
) -> Scored:
    """Score the answers in a submission.

    Args:
        answers: the answers.
        scorer: the scorer of the answers.
        settings: the options, such as groups, clusters and extraction steps.
        others: additional scorers, for `Scored.means`.

    Raises:
        InputError: an answer cannot be scored, or no question has a field of ``settings.by``.
    """
    settings, questions = settings or Settings(), answers.questions
    if answers.columns is not None:
        answers = answers._replace(columns=_complete_columns(answers, scorer))
    lists_leaves = settings.by_key or settings.output_rows == LEAVES
    values = score_predictions(answers, answers.predictions, scorer.list_leaves() if lists_leaves else scorer)
    scores = average(answers, list(map(float, values)))
    groups: dict[str, Groups] = {}
    if settings.by:
        from anls_metric.analysis.groups import group_by_fields

        groups = group_by_fields(questions, scores, settings.by)
    all_keys: Figures = {}
    if settings.by_key:
        from anls_metric.analysis.clustering import choose_clusters
        from anls_metric.analysis.groups import Group
        from anls_metric.analysis.leaf_keys import count_keys

        clusters = choose_clusters(questions.table.records, settings.cluster_by)
        all_keys, keys = count_keys(list_places(answers), values, clusters and clusters.names)
        groups[KEYS] = {name: Group(list(key.places), list(key.scores), key.figures) for name, key in keys.items()}
    means = {other.name: score_under(answers, other) for other in others}
    return Scored(answers, scorer, values, scores, mean_of(answers, values, scorer), settings, means, groups, all_keys)


def score_predictions(answers: Answers, predictions: Sequence[Any], scorer: Scorer) -> Sequence[Any]:
    """Score predictions, which may differ from those in the answers, against the references of the answers.

    Raises:
        InputError: an answer cannot be scored; the message names the question.
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
    """Complete the columns of a rule with empty predictions for questions without an answer.

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
    """Compute the score of a set from the values of its answers.

    Raises:
        InputError: there are several runs, and the score is a mean of leaves.
    """
    if answers.places is None:
        return float(scorer.mean(values))
    if not scorer.averages_rows:
        raise make_error(answers.name, "runs can only be averaged question by question: use {use.average:rows}")
    return mean(average(answers, list(map(float, values))))


def score_under(answers: Answers, scorer: Scorer, predictions: Sequence[Any] | None = None) -> float:
    """Compute the score of answers under another scorer, or with other predictions."""
    values = score_predictions(answers, answers.predictions if predictions is None else predictions, scorer)
    return mean_of(answers, values, scorer)


def list_worst(scored: Scored, count: int) -> list[int]:
    """List the positions of the lowest-scoring questions, with the lowest first. Only questions that score below 1 are
    listed.
    """
    order = sorted(range(len(scored.scores)), key=scored.scores.__getitem__)
    return [place for place in order[:count] if scored.scores[place] < 1.0]


def complete_keys(submissions: Sequence[Scored]) -> list[Scored]:
    """Add to each submission an empty group for every key that only other submissions have."""
    from anls_metric.analysis.groups import Group
    from anls_metric.analysis.leaf_keys import NO_LEAVES

    names = sorted({name for scored in submissions for name in scored.groups[KEYS]}, key=natural_key)
    nothing = Group([], [], NO_LEAVES)
    return [
        replace(
            scored, groups={**scored.groups, KEYS: {name: scored.groups[KEYS].get(name, nothing) for name in names}}
        )
        for scored in submissions
    ]
