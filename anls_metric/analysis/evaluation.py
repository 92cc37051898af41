"""Runs everything behind the doors: scores submissions, collects hints, and compares. The doors print the results."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.clusters import CLUSTER_BY, CLUSTER_FIELDS
from anls_metric.analysis.gold_hash import GoldHash, add_to_signature
from anls_metric.analysis.hints import Hint, Hints
from anls_metric.analysis.scored import ANSWER_TYPES, ScoredBatch, ScoredSet
from anls_metric.core.choices import describe_unknown
from anls_metric.core.variants import (
    MEANINGS,
    OF_RULES,
    OF_VALUES,
    VARIANT_NAMES,
    VARIANTS,
    Scorer,
    Variant,
    get_variant,
)
from anls_metric.reading import remedies
from anls_metric.reading.answer_fields import JUDGE
from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import ExtractionReport
from anls_metric.reading.input_file import list_some
from anls_metric.reading.join import RepeatedIdsError
from anls_metric.reading.names import find_name
from anls_metric.reading.sources import AUTO
from anls_metric.reading.submissions import Submission

if TYPE_CHECKING:
    from anls_metric.analysis.assessments import Assessments
    from anls_metric.analysis.comparison import ComparisonSet
    from anls_metric.analysis.metrics import Metric, MetricComparison
    from anls_metric.analysis.suspects import Suspect
    from anls_metric.analysis.variant_search import VariantMatch
    from anls_metric.nested import Average, NoneKeys
    from anls_metric.reading.corrections import Corrections
    from anls_metric.reading.rule_columns import RuleColumns

EVERY_VARIANT = "all"


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector: for millions of records it takes half of the time, and they have no cycles."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def find_scorers(
    names: str,
    threshold: float | None = None,
    ignore_case: bool | None = None,
    none_keys: NoneKeys | None = None,
    average: Average | None = None,
) -> list[Scorer]:
    """Find scorers by their names.

    Args:
        names: a name, several names separated by commas, or "all", which begins with the default; "anls_star" or
            "anlsl" for lists and nested values; or the rule of a benchmark, such as "docvqa_2026".
        threshold, ignore_case: options for all scorers: see `get_variant`.
        none_keys, average: options for lists and nested values: see `nested.get_value_variant`.

    Returns:
        The scorers; the first one gives the scores.

    Raises:
        ValueError: there is no such variant, or it does not have the option.

    Example:
        >>> [scorer.name for scorer in find_scorers("rrc, standard")]
        ['rrc', 'standard']
    """
    if names in OF_RULES:
        from anls_metric.rules import rule

        for option, value in {"ignore_case": ignore_case, "none_keys": none_keys, "average": average}.items():
            if value is not None:
                raise ValueError(f"the rule {names} has no option {option!r}")
        return [rule(names) if threshold is None else rule(names, threshold=threshold)]
    if names in OF_VALUES:
        from anls_metric.nested import get_value_variant

        options = {"threshold": threshold, "ignore_case": ignore_case, "none_keys": none_keys, "average": average}
        return [get_value_variant(names, **options)]
    for option, value in {"none_keys": none_keys, "average": average}.items():
        if value is not None:
            raise ValueError(f"{option} is for lists and nested values: give it with variant={OF_VALUES[0]!r}")
    chosen = VARIANTS if names.strip() == EVERY_VARIANT else [name.strip() for name in names.split(",")]
    for name in chosen if len(chosen) > 1 else ():
        if name in (*OF_VALUES, *OF_RULES, EVERY_VARIANT):
            raise ValueError(f"{name} cannot be combined with other variants: score it by itself")
    for name in chosen:
        if name not in VARIANT_NAMES:
            raise ValueError(
                describe_unknown("variant", name, (*VARIANTS, *OF_VALUES, *OF_RULES), VARIANT_NAMES, MEANINGS)
            )
    variants = (get_variant(name, threshold, ignore_case) for name in chosen)
    return list({variant.name: variant for variant in variants}.values())


def find_rule_columns(name: str, named: Mapping[str, str] | None = None) -> RuleColumns | None:
    """Find the columns that the rule of a benchmark needs; None for the name of a variant.

    Raises:
        ValueError: the rule has no such column, or there is no rule.
    """
    if name not in OF_RULES:
        if named:
            raise ValueError(f"field is for the rule of a benchmark: choose a variant from {', '.join(OF_RULES)}")
        return None
    from anls_metric.reading.rule_columns import RuleColumns
    from anls_metric.rules import rule

    return RuleColumns(rule(name), dict(named or {})).check()


class Entry(NamedTuple):
    """A submission that was scored.

    Attributes:
        name: the name of the submission.
        scored_set: its scores.
        layout: the name of the layout of its file.
        extraction: what each extraction rule did; None without rules.
        questions: the hash that identifies the questions, before corrections.
        corrections: the corrections of the questions; None without any.
        uncorrected: the score without the corrections.
        assessments: the confidences and verdicts; None if the file has none.
    """

    name: str
    scored_set: ScoredSet
    layout: str = ""
    extraction: ExtractionReport | None = None
    questions: GoldHash | None = None
    corrections: Corrections | None = None
    uncorrected: float | None = None
    assessments: Assessments | None = None

    @property
    def signature(self) -> str:
        """The signature of the scored set, with the number and the hash of the questions."""
        parts = [*(self.questions.signature if self.questions else ())]
        if self.corrections:
            parts.append(self.corrections.signature)
        return add_to_signature(self.scored_set.signature, *parts)


class Evaluation:
    """Submissions to the same questions: scored one after the other, then compared.

    Args:
        submissions: the submissions to score.
        scorers: the first one gives the scores; the others give only their means.
        by: fields of the records to break the scores down by.
        answer_types: whether to also break the scores down by the fields of InfographicVQA that exist: `ANSWER_TYPES`.
        by_key: for lists and nested values: whether to collect the score of each key.
        worst: how many of the worst answers of each submission to keep.
        cluster_by: the field that names the document of a question: see `ScoredSet`.
        baseline: the name of the submission with which the others are compared; None takes the first.
        all_pairs: whether to compare every pair of submissions.
        keep: whether to keep the rows, which a report, a list of regressions and `find_variants` need.
        similarities: whether kept rows have their similarity.
        metrics: other metrics of texts to compute beside the scores: see `metrics.find_metrics`.
        confusions: whether to count the edits of answers that score between 0 and 1.
        corrections: corrections of the accepted answers.
        right_at: the lowest score of a right answer, for confidences and verdicts.
        skip_broken: whether to score the other files if one of several cannot be scored.

    Attributes:
        entries: the scored submissions. A file that holds several has an entry for each.
        compared_metrics: by the name of a submission, its comparisons with the baseline under other metrics.
        compared: the comparison; None for a single submission, or if a hint says why they cannot be compared.
        hints: reasons to doubt the numbers.
        notes: how the files were read.
        broken: with `skip_broken`, the error of each file that could not be scored, by the name of its submission.

    Example:
        >>> from anls_metric.reading.submissions import find_submissions
        >>> submissions = find_submissions(["examples/gold_label.json", "examples/submission.json"])
        >>> evaluation = Evaluation(submissions)
        >>> sum(len(batch) for _, batch in evaluation.run()), evaluation.entries[0].scored_set.mean
        (6, 0.6273148148148148)
    """

    def __init__(
        self,
        submissions: Sequence[Submission],
        scorers: Sequence[Scorer] = (VARIANTS["standard"],),
        *,
        by: Sequence[str] = (),
        answer_types: bool = False,
        by_key: bool = False,
        worst: int = 0,
        cluster_by: str | None = None,
        baseline: str | None = None,
        all_pairs: bool = False,
        keep: bool = False,
        similarities: bool = False,
        metrics: Sequence[Metric] = (),
        confusions: bool = False,
        corrections: Corrections | None = None,
        right_at: float | None = None,
        skip_broken: bool = False,
    ) -> None:
        if corrections and scorers[0].columns:
            raise ValueError(f"corrections are for texts, and {scorers[0].name} is the rule of a benchmark")
        if by_key and isinstance(scorers[0], Variant):
            raise ValueError(f"by_key is for lists and nested values: give it with variant={OF_VALUES[0]!r}")
        self.entries: list[Entry] = []
        self.broken: dict[str, ValueError | OSError] = {}
        self.compared: ComparisonSet | None = None
        self.compared_metrics: dict[str, list[MetricComparison]] = {}
        self.hints: list[Hint] = []
        self._submissions, self._scorers, self._baseline = submissions, scorers, baseline
        self._scored: list[Submission] = []
        self._corrections, self._right_at = corrections, right_at
        self._skip_broken = skip_broken
        self._more_notes: list[str] = []
        self._names_of_hints: dict[Hint, list[str]] = {}
        self._by, self._answer_types, self._all_pairs = by, answer_types, all_pairs
        self._options: dict[str, Any] = {
            "by": [*(ANSWER_TYPES if answer_types else ()), *by],
            "by_key": by_key,
            "worst": worst,
            "cluster_by": cluster_by,
            "keep": keep,
            "similarities": similarities,
            "metrics": metrics,
            "confusions": confusions,
            "others": scorers if len(scorers) > 1 else (),
        }

    @property
    def scored_sets(self) -> dict[str, ScoredSet]:
        """The scored sets by the names of their submissions."""
        return {entry.name: entry.scored_set for entry in self.entries}

    @property
    def notes(self) -> list[str]:
        """How the files were read, each sentence once."""
        return list(dict.fromkeys(note for submission in self._scored for note in submission.notes)) + self._more_notes

    @property
    def holds_several(self) -> bool:
        """Whether there are several submissions in the files that were opened so far."""
        return len(self._submissions) > 1 or len(self._scored) > 1

    @property
    def has_ids(self) -> bool:
        """Whether the questions have ids; otherwise they are numbered. It is known after scoring."""
        return self._scored[0].has_ids

    def run(
        self, batches: Callable[[Submission], Iterable[Sequence[Row]]] = Submission.batches
    ) -> Iterator[tuple[Submission, ScoredBatch]]:
        """Score everything in batches, then compare. The caller must take all batches.

        Args:
            batches: reads the rows of a submission; a door can pass its own function to limit them.

        Yields:
            Each submission with a batch of its scored rows. If a new submission has the name of an earlier one, the
            earlier batches are void: its ids were repeated, so it is scored again as runs.

        Raises:
            InputError: a submission cannot be read, holds a value that cannot be scored, has no questions, or lacks a
                field of `by`. With `skip_broken`, it is raised only if no submission can be scored.
            ValueError: no submission has the name of the baseline.
            OSError: a file cannot be opened.
        """
        for file in self._submissions:
            try:
                parts = file.split()
                self._scored += parts
                for submission in parts:
                    yield from self._score(submission, batches)
            except (ValueError, OSError) as error:
                if not self._skip_broken:
                    raise
                self.broken[file.name] = error
                scored = {entry.name for entry in self.entries}
                self._scored = [submission for submission in self._scored if submission.name in scored]
        if not self.entries:
            raise next(iter(self.broken.values()))
        if self._corrections:
            self._more_notes += self._corrections.conclude()
        self.hints = list(starmap(self._name_submissions, self._names_of_hints.items()))
        self._compare()

    def _score(
        self, submission: Submission, batches: Callable[[Submission], Iterable[Sequence[Row]]]
    ) -> Iterator[tuple[Submission, ScoredBatch]]:
        try:
            yield from self._score_once(submission, batches)
        except RepeatedIdsError as error:
            runs = submission.take_runs(error)
            self._scored[self._scored.index(submission)] = runs
            yield from self._score_once(runs, batches)

    def _score_once(
        self, submission: Submission, batches: Callable[[Submission], Iterable[Sequence[Row]]]
    ) -> Iterator[tuple[Submission, ScoredBatch]]:
        scored_set = ScoredSet(
            self._scorers[0], extract=submission.rules, comparable=self.holds_several, **self._options
        )
        hints = Hints(self._scorers[0], submission.rules)
        questions: GoldHash | None = None
        uncorrected = ScoredSet(self._scorers[0]) if self._corrections else None
        assessments: Assessments | None = None
        fields: Sequence[str] = ()
        for rows in batches(submission):
            fields = fields or list(rows[0].record)
            questions = questions or GoldHash(submission.has_ids, bool(self._options["keep"]))
            questions.add(rows)
            corrected = self._corrections.apply(rows) if self._corrections else rows
            try:
                scored = scored_set.add(corrected)
                if uncorrected:
                    uncorrected.add(rows)
            except InputError as error:
                raise InputError(error.problem, error.where or submission.name, error.remedy, error.value) from None
            except ValueError as error:  # its message names the question
                raise InputError(str(error), submission.name) from None
            assessments = assessments or self._start_assessments(submission)
            if assessments:
                assessments.add(scored)
            hints.add([run for answer in scored for run in answer.runs] if scored_set.run_scores else scored)
            yield submission, scored
        self._refuse_empty(submission, scored_set, fields)
        try:
            empty_figures = scored_set.empty_figures if scored_set.summary else []
        except ValueError as error:
            raise InputError(str(error), submission.name) from None
        self._more_notes += [f"{submission.name}: {note}" for note in empty_figures]
        if assessments:
            self._check_assessments(submission, assessments)
        self.entries.append(
            Entry(
                submission.name,
                scored_set,
                submission.layout,
                submission.extraction,
                questions,
                self._corrections,
                uncorrected.mean if uncorrected else None,
                assessments,
            )
        )
        doubts = [
            *(
                Hint("reading", each.text, each.remedy, each.value)
                for each in submission.doubts
                if scored_set.mean <= each.most
            ),
            *(Hint("clusters", each.text, CLUSTER_BY if each.field else "", each.field) for each in scored_set.doubts),
        ]
        numbers = submission.float_count, submission.accepted_number_count
        for hint in [*hints.conclude(submission.other_texts, *numbers), *doubts]:
            self._names_of_hints.setdefault(hint, []).append(submission.name)

    def _start_assessments(self, submission: Submission) -> Assessments | None:
        """Start to collect confidences and verdicts; None if the file has neither."""
        if not submission.beside_fields:
            return None
        from anls_metric.analysis.assessments import Assessments
        from anls_metric.analysis.confidence import RIGHT_AT

        return Assessments(submission.beside_fields, RIGHT_AT if self._right_at is None else self._right_at)

    def _check_assessments(self, submission: Submission, assessments: Assessments) -> None:
        """Refuse answers without a value in a field that the user names; only note it for a detected field."""
        named = {submission.reading.confidence_field, submission.reading.judge_field}
        for role, path in assessments.fields.items():
            missing = assessments.count_missing(role)
            if missing and (path in named or missing < assessments.count):
                what = "verdict" if role == JUDGE else role
                problem = f"{missing:,} of {assessments.count:,} answers have no {what} in the field {path!r}"
                if path in named:
                    remedy = "name another field, fill in this one, or leave the option out"
                    raise InputError(problem, submission.name, remedy)
                self._more_notes.append(f"{submission.name}: {problem}, so nothing is said about it")

    def _name_submissions(self, hint: Hint, names: Sequence[str]) -> Hint:
        """Add the names of the submissions to a hint, unless it is about all of them."""
        about = "" if len(names) == len(self.entries) else f"{', '.join(names)}: "
        return hint._replace(text=about + hint.text)

    def finish(self) -> Evaluation:
        """Run, and discard the batches."""
        deque(self.run(), maxlen=0)
        return self

    def _refuse_empty(self, submission: Submission, scored_set: ScoredSet, fields: Sequence[str]) -> None:
        if not scored_set.count:
            if self._corrections and self._corrections.excluded:
                raise InputError("it excludes every question", self._corrections.name, "exclude fewer questions")
            layout = submission.reading.layout
            problem = "it has no questions" if layout == AUTO else f"it has no records of the layout {layout}"
            raise InputError(problem, submission.questions_name, "" if layout == AUTO else remedies.LAYOUT)
        for field in self._by:
            if not scored_set.groups[field]:
                problem = f"no question has the field {field!r} (found {list_some(map(repr, fields), 12)})"
                are_several = "," in field and set(map(str.strip, field.split(","))) <= set(fields)
                raise InputError(problem, submission.questions_name, remedies.BY_EACH if are_several else remedies.BY)
        if self._answer_types and not any(scored_set.groups[field] for field in ANSWER_TYPES):
            problem = f"no question has an answer type (one of the fields {', '.join(ANSWER_TYPES)})"
            raise InputError(problem, submission.questions_name, remedies.BY)

    def _compare(self) -> None:
        """Compare the submissions; if that is impossible, a hint says why."""
        names = [entry.name for entry in self.entries]
        if self._baseline is not None:
            baseline = find_name(self._baseline, names)
            if not baseline and len(names) == 1:
                problem = f"unknown baseline {self._baseline!r} (the only submission is {names[0]})"
                raise ValueError(f"{problem}: give its file as a submission, and its name as the baseline")
            if not baseline:
                raise ValueError(describe_unknown("baseline", self._baseline, names))
            self._baseline = baseline
        if len(self.entries) < 2:
            return
        from anls_metric.analysis.comparison import compare

        try:
            self.compared = compare(self.scored_sets, self._baseline, self._options["cluster_by"], self._all_pairs)
        except InputError as error:
            problem = ": ".join(filter(None, ["not compared", error.where, error.problem]))
            self.hints.append(Hint("not compared", problem, error.remedy))
        except ValueError as error:
            self.hints.append(Hint("not compared", f"not compared: {error}"))
        else:
            self.hints += [Hint("comparison", text) for text in self.compared.hints]
            self._compare_metrics(self.compared)

    def _compare_metrics(self, compared: ComparisonSet) -> None:
        metrics = self._options["metrics"]
        if not metrics:
            return
        from anls_metric.analysis.metrics import MetricColumns, compare_metrics

        measured = {
            name: MetricColumns(each.answers.ids, each.answers.records, each.metrics.scores)
            for name, each in self.scored_sets.items()
            if each.answers and each.metrics
        }
        first = measured.pop(compared.baseline)
        clusters = compared.clusters.field if compared.clusters else None
        comparisons = compare_metrics(first, list(measured.values()), metrics, clusters)
        self.compared_metrics = dict(zip(measured, comparisons))

    def find_suspects(self) -> list[Suspect]:
        """Find the questions on which most submissions agree on an answer that is not accepted. Rows must be kept.

        Raises:
            ValueError: there are fewer than three submissions.
        """
        from anls_metric.analysis.outcomes import Judge
        from anls_metric.analysis.questions import join_questions
        from anls_metric.analysis.suspects import FEWEST, find_suspects

        if len(self.entries) < FEWEST:
            problem = f"suspects need three submissions or more, not {len(self.entries)}"
            raise ValueError(f"{problem}: add submissions, or leave the option out")
        return find_suspects(join_questions(list(self.scored_sets.values())), Judge(self._scorers[0]).normalize)

    def find_variants(self, number: str) -> list[VariantMatch]:
        """Find the variants that give a number: see `variant_search.find_variants`. Rows must be kept."""
        from anls_metric.analysis.variant_search import find_variants

        return find_variants(number, self.scored_sets, self._scorers)


def fields_of(by: Iterable[str], cluster_by: str | None) -> list[str]:
    """List the fields of the records that an evaluation uses. Some formats can skip the other fields."""
    return [*by, "question", *CLUSTER_FIELDS, *filter(None, [cluster_by])]
