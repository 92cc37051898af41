"""Builds the document of a result, which contains everything that views show, so that views compute nothing.

The keys in `schema.Document` are what ``--format json`` prints. The other keys are for views: see `schema.Run`.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, get_args

import rapidfuzz

from anls_metric.analysis.evaluation import Result, sort_for_report
from anls_metric.analysis.groups import Groups
from anls_metric.analysis.hint import Hint, wants_account
from anls_metric.analysis.independence import describe_independence
from anls_metric.analysis.parts import find_parts
from anls_metric.analysis.parts.all_keys import assess_leaves
from anls_metric.analysis.parts.lost import describe_lost
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import Scorer
from anls_metric.core.version import __version__
from anls_metric.messages import FrontEnd, InputError, Message
from anls_metric.options import KEYS, Options, Settings
from anls_metric.report.schema import FORMAT, FigureKind, HintMessage, Run

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Comparison, ComparisonSet
    from anls_metric.analysis.images import Images
    from anls_metric.core.statistics.clusters import Clusters

REPORT, ROWS = "report", "rows"
"""The parts that views may need beyond the figures in every document: the data for the HTML report, and the answers."""

KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
"""The names of the kinds of figures, with which views ask for the data of a figure."""

EVERYTHING = "everything"
"""The name for everything that a run in a file needs: `REPORT`, `ROWS`, and each of the `KINDS` whose data exist."""

MAX_BYTES = 32_000_000
"""The limit for the text in a report: about 200,000 answers of typical length."""

_FRONT_ENDS: tuple[FrontEnd, ...] = ("command", "page")  # other than Python, whose wording a document uses

_Words = dict[str, dict[str, str]]


def build_document(
    result: Result,
    needs: Collection[str] = (),
    images: Images | None = None,
    most_bytes: int = MAX_BYTES,
    command: str = "",
) -> Run:
    """Build the document of a result.

    Args:
        result: the scores, comparisons and hints.
        needs: the additional parts that views need: `REPORT`, `ROWS` and kinds of figures, or `EVERYTHING`.
        images: the page images for the report.
        most_bytes: the limit for the text in the report. If it is exceeded, questions with different scores or a score
            of 0 take precedence.
        command: the command that computed the scores; "" for none.

    Returns:
        A dict that can be stored as JSON.

    Raises:
        InputError: the result lacks the data of a kind of figure that a view needs.
    """
    words: _Words = {}
    run: Any = {
        **_describe_result(result, words, wants_account(result.settings)),
        "messages": _list_messages(result, words),
        "words": words,
        "made": _describe_making(),
        "options": _list_options(result.settings),
        "digits": result.settings.digits,
        "averages_rows": result.submissions[0].scorer.averages_rows,
        "command": command,
    }
    if ROWS in needs or EVERYTHING in needs:
        run["rows"] = {scored.name: _list_rows(scored) for scored in result.submissions}
    if REPORT in needs or EVERYTHING in needs:
        run["report"] = _describe_report(result, words, images, most_bytes)
    kinds = KINDS if EVERYTHING in needs else [kind for kind in KINDS if kind in needs]
    if kinds:
        run["figures"] = _describe_figures(result, words, kinds, refuses=EVERYTHING not in needs)
    built: Run = run
    return built


def _describe_report(result: Result, words: _Words, images: Images | None, most_bytes: int) -> dict[str, Any]:
    """Describe the data that only the report shows, with the submissions sorted by score."""
    from anls_metric.analysis.images import Images
    from anls_metric.analysis.report_data import build_report_data

    ordered = sort_for_report(result)
    document = _describe_result(ordered, words, has_account=True)
    for submission in document["submissions"]:
        submission.pop("worst", None)  # the report shows all answers
    data = build_report_data(ordered, images or Images(), most_bytes)
    groups = [
        {field: describe_groups(own, scored.clusters) for field, own in fields.items()}
        for scored, fields in zip(ordered.submissions, data.pop("grouped"))
    ]
    order = [scored.name for scored in result.submissions]
    return {
        "document": document,
        "messages": _list_messages(ordered, words),
        "order": order,
        "grouped": groups,
        **data,
    }


def _describe_figures(result: Result, words: _Words, kinds: Sequence[str], refuses: bool) -> dict[str, Any]:
    """Describe the data that only figures show. If the data of a kind are missing, raise InputError if ``refuses`` is
    true, or record the reason.
    """
    from anls_metric.analysis.figure_data import check_figure, score_at_thresholds

    unfit: dict[str, str] = {}
    for kind in kinds:
        try:
            check_figure(result, kind)
        except InputError as error:
            if refuses:
                raise
            unfit[kind] = _word(error.message, words)
    if "threshold" not in kinds or "threshold" in unfit:
        return {"unfit": unfit}
    scores = [score_at_thresholds(scored).items() for scored in result.submissions]
    return {
        "unfit": unfit,
        "threshold": getattr(result.submissions[0].scorer, "threshold"),  # noqa: B009
        "thresholds": [[{"threshold": threshold, "anls": anls} for threshold, anls in own] for own in scores],
    }


def _list_rows(scored: Scored) -> list[dict[str, Any]]:
    """List the answers of a submission, with the lost points and the document of each question."""
    from anls_metric.analysis.answer_rows import list_rows  # which the figures do not need
    from anls_metric.analysis.lost_points import account_for

    parts, names = account_for(scored).parts, scored.clusters.names if scored.clusters else repeat(None)
    return [
        {**row, "lost": [[part.cause, part.points] for part in own], "document": name}
        for row, own, name in zip(list_rows(scored), parts, names)
    ]


def _list_messages(result: Result, words: _Words) -> list[HintMessage]:
    """List the messages of the hints."""
    notes = result.compared.notes if result.compared else ()
    return [describe_message(hint, hint.message in notes, words) for hint in result.hints]


def describe_message(hint: Hint, is_note: bool, words: _Words) -> HintMessage:
    """Describe the message of a hint and collect its wording for other front ends."""
    return {
        "text": _word(hint.message, words),
        "before": hint.before,
        "options": hint.message.find_options(),
        "is_note": is_note,
        "cost": hint.cost,
    }


def _describe_making() -> dict[str, str]:
    """Return the date and the versions of the software with which the scores were computed. SOURCE_DATE_EPOCH sets the
    date, so that the same input produces the same document on any day.
    """
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    versions = {"anls-metric": __version__, "Python": platform.python_version(), "rapidfuzz": rapidfuzz.__version__}
    return {"date": date, **versions}


def _list_options(settings: Settings) -> dict[str, Any]:
    """List the options of `score` and `compare` that differ from their defaults."""
    usual = Settings()
    options = {name: getattr(settings, name) for name in Options.__annotations__}
    return {name: value for name, value in options.items() if value != getattr(usual, name)}


def _describe_result(result: Result, words: _Words, has_account: bool) -> dict[str, Any]:
    """Describe a result and collect the wording of its messages for other front ends."""
    first, compared = result.submissions[0], result.compared
    clusters = compared.clusters if compared else first.clusters
    content: dict[str, Any] = {
        "format": FORMAT,
        "signature": result.signature,
        "questions": max(len(scored.scores) for scored in result.submissions),
        "clusters": {"field": clusters.field, "count": clusters.size, "rule": clusters.rule} if clusters else None,
        "hints": list(map(describe_hint, result.hints)),
        "submissions": [_describe_submission(scored, result, words, has_account) for scored in result.submissions],
        "comparisons": [],
    }
    if first.scorer.label != Scorer.label:
        content["label"] = first.scorer.label
    if clusters is None and first.settings.cluster_by is None and first.interval:
        content["independent"] = describe_independence(first)
    if compared:
        content["comparisons"] = [_describe_comparison_of(each, compared, result) for each in compared.comparisons]
        content["best"] = {"name": compared.best, "no_significant_difference": compared.ties}
        content |= {"baseline": compared.baseline, "all_pairs": compared.all_pairs, "chose_best": compared.chose_best}
    document: dict[str, Any] = json.loads(json.dumps(content))  # as a file has it: lists for tuples, strings as keys
    return document


def describe_hint(hint: Hint) -> dict[str, Any]:
    """Describe a hint as a dict for the JSON document."""
    named = {"submission": hint.submission or None, "extract": hint.extract or None}
    return {"text": hint.text(), **named, "anls": hint.anls}


def put_into_words(values: Any, words: _Words) -> Any:
    """Replace the messages in nested values with their wording for Python, and collect the wording for other front
    ends.
    """
    if isinstance(values, Message):
        return _word(values, words)
    if isinstance(values, dict):
        return {key: put_into_words(value, words) for key, value in values.items()}
    return [put_into_words(value, words) for value in values] if isinstance(values, list) else values


def _word(message: Message, words: _Words) -> str:
    """Word a message for Python, and collect the wordings for other front ends if these differ."""
    text = message.text()
    others: dict[str, str] = {front_end: message.text(front_end) for front_end in _FRONT_ENDS}
    if {*others.values()} != {text}:
        words[text] = others
    return text


def _describe_submission(scored: Scored, result: Result, words: _Words, has_account: bool) -> dict[str, Any]:
    answers, name = scored.answers, scored.name
    against = result.compared.groups.get(name) if result.compared else None
    content: dict[str, Any] = {
        "name": name,
        "read": answers.read.text(),
        "source": answers.read._asdict(),
        "layout": answers.layout,
        "questions": len(scored.scores),
        "anls": scored.anls,
        "interval": scored.interval,
        "exact_match": scored.exact_match,
        "contains": scored.contains,
        "groups": {
            field: describe_groups(groups, scored.clusters, against and against[field])
            for field, groups in scored.groups.items()
        },
    }
    if scored.run_scores:
        content |= {"runs": len(scored.run_scores), "run_scores": scored.run_scores, "run_sd": scored.run_sd}
    content |= put_into_words(find_parts(scored), words)
    if has_account and "lost" not in content:  # the report shows it in any case
        content["lost"] = put_into_words(describe_lost(scored), words)
    for key, measures in assess_leaves(scored).items():
        if key is not None:
            content["groups"][KEYS][key]["confidence"] = measures
    return content


# The keys in a comparison of groups; only the groups for keys of nested values have a test.
_DIFFERENCES = ("difference", "difference_interval", "p_value_adjusted", "verdict", "few_documents")


def describe_groups(
    groups: Groups, clusters: Clusters | None, differences: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Describe the groups of a field: their score, interval and size and, in a comparison, their difference from the
    baseline.
    """
    content: dict[str, dict[str, Any]] = {}
    for name, group in groups.items():
        content[name] = {"anls": group.mean, "interval": group.interval(clusters), "questions": len(group.scores)}
        content[name] |= group.figures
        if differences is not None:
            keys = _DIFFERENCES if group.figures else _DIFFERENCES[:2]
            content[name] |= {key: getattr(differences.get(name), key, None) for key in keys}
    return content


def _describe_comparison_of(comparison: Comparison, compared: ComparisonSet, result: Result) -> dict[str, Any]:
    from anls_metric.analysis.decisions import decide  # not needed for a single submission

    content = {**describe_comparison(comparison), **decide(compared, comparison)}
    if wants_account(result.settings):
        from anls_metric.analysis.comparison import pair_questions  # not needed for a single submission
        from anls_metric.analysis.lost_points import account_for, compare_losses

        named = {scored.name: scored for scored in result.submissions}
        first, second = named[comparison.first], named[comparison.second]
        pair = pair_questions(first, second)
        own, other = account_for(first).parts, account_for(second).parts
        content["lost"] = compare_losses(own, other, zip(pair.first, pair.second))
    if comparison.first == compared.baseline and result.compared_metrics:
        content["metrics"] = {name: found[comparison.second] for name, found in result.compared_metrics.items()}
    return content


def describe_comparison(comparison: Comparison) -> dict[str, Any]:
    """Describe a comparison of two submissions as a dict for the JSON document."""
    without = comparison.one_document
    content: dict[str, Any] = {**comparison._asdict(), "one_document": without and without._asdict()}
    content["p_value_is_bound"] = comparison.p_value_is_bound
    return content
