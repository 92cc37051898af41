"""Computes a result from inputs and options. A single function reads, scores and compares submissions and looks for
hints.

Front ends only parse options and print results, and nothing in the analysis depends on a front end.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from anls_metric.analysis.hint import Hint, may_have_hints, wants_account
from anls_metric.analysis.scored import Scored, add_to_signature, complete_keys, score_answers, score_under
from anls_metric.core.scorer import Form, Scorer, get_scorer
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.messages import Message, make_error
from anls_metric.options import LEAVES, PAGES, Settings
from anls_metric.reading.answers import Answers
from anls_metric.reading.columns import pair_columns
from anls_metric.reading.inputs import Input

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import ComparisonSet
    from anls_metric.core.strings.metrics import Metric

EVERY_VARIANT = "all"


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector, which would take half of the run time with millions of records although records
    contain no cycles.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@dataclass(frozen=True)
class Result:
    """The result of an evaluation: the scores, the comparison and the hints.

    Attributes:
        submissions: the submissions with their scores.
        settings: the options.
        signature: the signature of the first submission, which includes the number and the hash of the questions.
        compared: the comparisons of the submissions; None for a single submission.
        hints: reasons to doubt the scores, sorted by cost with the highest first.
    """

    submissions: list[Scored]
    settings: Settings
    signature: str
    compared: ComparisonSet | None = None
    hints: list[Hint] = field(default_factory=list)

    @cached_property
    def compared_metrics(self) -> dict[str, dict[str, Any]]:
        """The comparisons with the baseline under other metrics, keyed by metric name and submission name."""
        metrics, compared = _find_metrics(self.settings), self.compared
        if not metrics or compared is None:
            return {}
        from anls_metric.analysis.metric_values import compare_metric
        from anls_metric.analysis.pages import list_measured

        first, *others = sorted(self.submissions, key=lambda scored: scored.name != compared.baseline)
        measured = {scored.name: list_measured(scored) for scored in self.submissions}
        common = [metric for metric in metrics if all(metric.name in own for own in measured.values())]
        return {metric.name: compare_metric(metric, measured, first, others, compared.chose_best) for metric in common}


@pause_collector()
def evaluate(
    inputs: Sequence[Input],
    gold: Input | None,
    settings: Settings,
    show_progress: Callable[[int], None] = lambda count: None,
) -> Result:
    """Read, score and compare submissions.

    Args:
        inputs: the files and tables to read: see `reader.read_answers`.
        gold: the gold file.
        settings: the options.
        show_progress: a function that is called with the number of answers in a submission once the submission is
            scored.

    Raises:
        InputError: an input cannot be read, scored or compared. ValueError: an option has an unknown value.
        OSError: a file cannot be opened.
    """
    scorers = find_scorers(settings)
    read = _read(inputs, gold, settings, scorers[0])
    _find_metrics(settings)  # raises an error for an unknown name
    corrections = None
    if settings.corrections:
        from anls_metric.reading.corrections import correct, read_corrections

        corrections = read_corrections(settings.corrections)
    submissions: list[Scored] = []
    added: dict[str, Sequence[str]] = {}
    for answers in read:
        corrected: dict[str, Any] = {}
        if corrections:
            corrected = {"uncorrected": score_under(answers, scorers[0]), "added": added}
            answers, more = correct(answers, corrections)
            added |= more
        scored = score_answers(answers, scorers[0], settings, scorers if len(scorers) > 1 else ())
        submissions.append(replace(scored, **corrected))
        show_progress(len(answers.predictions))
    if settings.ignore_keys:
        from anls_metric.analysis.extra_keys import refuse_unknown_keys

        refuse_unknown_keys(submissions, settings.ignore_keys)
    if settings.by_key:
        submissions = complete_keys(submissions)
    if settings.field:
        from anls_metric.analysis.parts import find_parts

        for scored in submissions:
            find_parts(scored)  # raises an error for a field that lacks values
    signature = submissions[0].signature
    if corrections:
        signature = add_to_signature(signature, corrections.signature)
    return conclude(submissions, settings, signature)


def conclude(submissions: list[Scored], settings: Settings, signature: str) -> Result:
    """Compare scored submissions, and find what looks wrong with their answers.

    Raises:
        InputError: the submissions cannot be compared. ValueError: there is no such baseline.
    """
    compared = _compare(submissions, settings)
    hints = _list_hints(submissions, compared, settings)
    return Result(submissions, settings, signature, compared, hints)


def _read(inputs: Sequence[Input], gold: Input | None, settings: Settings, scorer: Scorer) -> Iterable[Answers]:
    """Read the answers in each submission, loading the full reader, which detects what a file contains, only if it is
    needed.
    """
    paired = pair_columns(inputs, gold, settings, scorer)
    if paired is not None:
        return paired
    from anls_metric.reading.reader import read_answers
    from anls_metric.reading.reading import make_reading

    return read_answers(inputs, gold, make_reading(settings, scorer))


def _find_metrics(settings: Settings) -> list[Metric]:
    """Return the string and page metrics that the user names. Raises ValueError if a name does not exist."""
    if not settings.metrics:
        return []
    from anls_metric.analysis.parts import BY_NAME
    from anls_metric.core.strings.metrics import find_metrics

    found = find_metrics(settings.metrics, [*BY_NAME])
    if PAGES in settings.metrics:
        from anls_metric.core.pages import PAGE_METRICS

        found += PAGE_METRICS.values()
    return found


def _list_hints(submissions: Sequence[Scored], compared: ComparisonSet | None, settings: Settings) -> list[Hint]:
    """List the hints about files (without duplicates), about comparisons and about answers, with the most expensive
    first.
    """
    messages = {message.text(): message for scored in submissions for message in scored.answers.hints}
    hints = [Hint(message, cost=1.0) for message in (*messages.values(), *(compared.hints if compared else ()))]
    doubtful = list(filter(may_have_hints, submissions)) if wants_account(settings) else []
    if doubtful:
        from anls_metric.analysis.hints import find_hints  # a quiet run does not need it

        for scored in doubtful:
            name = scored.name if len(submissions) > 1 else ""  # a hint about the only submission leaves out its name
            hints += [replace(hint, submission=name) for hint in find_hints(scored)]
    hints += map(Hint, compared.notes if compared else ())
    hints += map(Hint, _list_unfit_metrics(submissions[0], settings))
    return sorted(hints, key=lambda hint: -hint.cost)


def _list_unfit_metrics(scored: Scored, settings: Settings) -> Iterator[Message]:
    """Yield a warning for each metric under which some answers cannot reach 1 because their questions have too few
    references.
    """
    for metric in _find_metrics(settings):
        count = sum(len(each) < metric.least_references for each in scored.questions.references)
        if count:
            sentence = (
                "{count:,} of {total:,} questions have fewer than {least} references, with which no answer reaches a "
                "{metric} of 1: leave out this metric, or pass the answers of ten people"
            )
            total = len(scored.questions.ids)
            values = {"count": count, "total": total, "least": metric.least_references, "metric": metric.name}
            yield Message("", sentence, values)


def _compare(
    submissions: Sequence[Scored], settings: Settings, known: ComparisonSet | None = None
) -> ComparisonSet | None:
    """Compare the submissions if there are several, reusing the pairs of an earlier comparison."""
    if len(submissions) > 1:
        from anls_metric.analysis.comparison import compare

        first = submissions[0].name if settings.fail_if_worse else None
        return compare(submissions, settings.baseline or first, settings.all_pairs, known)
    if settings.baseline not in (None, submissions[0].name):
        sentence = (
            "there is only one submission, {name}, so there is nothing to compare it with: pass {baseline} as well"
        )
        raise make_error("", sentence, name=submissions[0].name, baseline=settings.baseline)
    return None


def sort_for_report(result: Result) -> Result:
    """Return a copy of the result whose submissions are sorted by score and compared only with the baseline."""
    from anls_metric.analysis.comparison import sort_by_score

    submissions, baseline, known = sort_by_score(result.submissions), result.settings.baseline, result.compared
    if len(submissions) == 2 or result.settings.fail_if_worse:
        baseline = known and known.baseline
    compared = _compare(submissions, replace(result.settings, baseline=baseline, all_pairs=False), known)
    old_notes = known.notes if known else ()
    hints = [hint for hint in result.hints if hint.message not in old_notes]
    hints += map(Hint, compared.notes if compared else ())
    return replace(result, submissions=submissions, compared=compared, hints=hints)


def find_scorers(settings: Settings) -> list[Scorer]:
    """Find the scorers for the variants requested by the user.

    Returns:
        The scorers, the first of which computes the scores that are compared.

    Raises:
        InputError: an option does not fit the scorers. ValueError: a variant does not exist or does not support an
            option.

    Example:
        >>> [scorer.name for scorer in find_scorers(Settings(variant="rrc,standard"))]
        ['rrc', 'standard']
    """
    chosen = [name.strip() for name in (settings.variant or "standard").split(",")]
    if len(chosen) > 1:
        for name in chosen:
            if name == EVERY_VARIANT or get_scorer(name).form != "text":
                raise ValueError(f"{name} cannot be combined with other variants: pass it alone")
    chosen = list(VARIANTS) if chosen == [EVERY_VARIANT] else chosen
    _refuse_unfit(get_scorer(chosen[0]), settings)
    names = ("threshold", "ignore_case", "normalize", *_OF_VALUES)
    options = {name: getattr(settings, name) for name in names}
    return [get_scorer(name, **options) for name in dict.fromkeys(chosen)]


_OF_VALUES = ("none_keys", "average", "numbers", "ignore_keys")
"""The options that only scorers for nested values have."""


def _refuse_unfit(scorer: Scorer, settings: Settings) -> None:
    """Raise InputError if an option does not fit a scorer."""
    for_strings = "applies only to strings: leave it out"
    for_values = "applies only to structured answers: add {use.variant:anls_star}"
    of_leaves = "needs the leaves of ANLS*: use {use.variant:anls_star}"
    for_answers = "does not apply to benchmark metrics: leave it out"
    form, without_leaves = scorer.form, () if scorer.has_leaves else get_args(Form)
    unfit = (
        ("references_separator", ("value",), for_strings),
        ("by_key", without_leaves, of_leaves),
        ("output_rows", without_leaves if settings.output_rows == LEAVES else (), of_leaves),
        *((option, ("text",), for_values) for option in _OF_VALUES),
        *((option, ("row",), for_answers) for option in ("corrections", "normalize", "samples")),
    )
    for option, forms, words in unfit:
        if form in forms and getattr(settings, option):
            raise make_error("", f"{{use.{option}}} {words}")
    _refuse_unfit_metrics(form, settings.metrics)


def _refuse_unfit_metrics(form: Form, names: Sequence[str]) -> None:
    """Raise InputError if answers are not strings but a chosen metric applies only to strings."""
    if form == "text" or not names:
        return
    from anls_metric.analysis.parts import BY_NAME

    known = [name for name, part in BY_NAME.items() if form in part.forms]
    sentence = "{use.metrics} applies only to strings: leave it out"
    if form == "value":
        known.insert(0, "exact_match")
        words = f"{', '.join(known[:-1])} and {known[-1]}"
        sentence = f"for structured answers, {{use.metrics}} supports only {words}: leave out the others"
    if not {*names} <= {*known}:
        raise make_error("", sentence)
