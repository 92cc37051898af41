"""Builds one JSON document of all results. Every output prints this document, and computes nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.hints import Hint
from anls_metric.analysis.scored import Scored, explain, list_worst
from anls_metric.core.variants import Variant
from anls_metric.messages import FrontEnd
from anls_metric.options import PARTIAL_CREDIT
from anls_metric.reading.extract import describe_extraction
from anls_metric.reading.values import as_json

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import ComparisonSet

Document = Mapping[str, Any]
"""The JSON document of all results, or a dict in it."""

MAX_DIFFERENCES = 20
"""The most answers to list on which score and judge disagree."""


def build_document(result: Result, front_end: FrontEnd = "python") -> dict[str, Any]:
    """Build the document of a result.

    Args:
        result: the scores, comparisons and hints.
        front_end: the front end in whose words hints name options.

    Returns:
        A dict of values that JSON can hold: ``signature``, ``questions`` (their number), ``clusters`` (field and count,
        or None), ``hints``, ``submissions`` and ``comparisons``, lists of dicts. With several submissions also
        ``best``, ``baseline`` and ``all_pairs``. ``label`` is the name of the score if it is not ANLS.
    """
    first, compared = result.submissions[0], result.compared
    clusters = compared.clusters if compared else first.clusters
    content: dict[str, Any] = {
        "signature": result.signature,
        "questions": max(len(scored.scores) for scored in result.submissions),
        "clusters": {"field": clusters.field, "count": clusters.size} if clusters else None,
        "hints": [_describe_hint(hint, front_end) for hint in result.hints],
        "submissions": [_describe_submission(scored, result) for scored in result.submissions],
        "comparisons": [],
    }
    if first.scorer.label != Variant.label:
        content["label"] = first.scorer.label
    if compared:
        content["comparisons"] = [_describe_comparison(each, result) for each in compared.comparisons]
        content["best"] = {"name": compared.best, "no_significant_difference": compared.ties}
        content |= {"baseline": compared.baseline, "all_pairs": compared.all_pairs}
    document: dict[str, Any] = _make_plain(content)
    return document


def _make_plain(value: Any) -> Any:
    """Replace what JSON does not have: tuples by lists, and NaN and infinite numbers by None."""
    if isinstance(value, dict):
        return {name: _make_plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_make_plain, value))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _describe_hint(hint: Hint, front_end: FrontEnd) -> dict[str, Any]:
    """Describe a hint: its sentence, its submission, the rules that it proposes, and the score after them."""
    return {
        "text": hint.text(front_end),
        "submission": hint.submission or None,
        "extract": hint.extract or None,
        "anls": hint.anls,
    }


def _describe_submission(scored: Scored, result: Result) -> dict[str, Any]:
    answers, name = scored.answers, scored.name
    content: dict[str, Any] = {
        "name": name,
        "read": answers.read.text(),
        "layout": answers.layout,
        "questions": len(scored.scores),
        "anls": scored.anls,
        "interval": scored.interval,
        "exact_match": scored.exact_match,
        "contains": scored.contains,
        "outcomes": scored.outcomes,
        "groups": {field: _describe_groups(scored, field, result.compared) for field in scored.groups},
    }
    if scored.run_scores:
        content |= {"runs": len(scored.run_scores), "run_scores": scored.run_scores, "run_sd": scored.run_sd}
    if answers.extraction is not None:
        content["extraction"] = {rule: dict(counts) for rule, counts in answers.extraction.items()}
    if scored.summary:
        content["summary"] = scored.summary
    if PARTIAL_CREDIT in result.settings.metrics:
        content["partial_credit"] = describe_partial_credit(scored)
    if result.corrections:
        accepted = sum(bool(texts) for texts in result.added.values())
        excluded = len(result.added) - accepted
        content["corrections"] = {"accepted": accepted, "excluded": excluded, "anls_without": result.uncorrected[name]}
    if result.metrics.get(name):
        metrics = result.metrics[name].items()
        content["metrics"] = {metric: {"mean": each.mean, "interval": each.interval} for metric, each in metrics}
    assessments = result.assessments.get(name)
    if assessments and assessments.confidence:
        content["confidence"] = assessments.confidence._asdict()
    if assessments and assessments.judge:
        differences = [each._asdict() for each in assessments.differences[:MAX_DIFFERENCES]]
        content["judge"] = {**assessments.judge._asdict(), "differences": differences}
    if scored.means:
        content["variants"] = scored.means
    if result.settings.worst:
        content["worst"] = [_describe_answer(scored, place) for place in list_worst(scored, result.settings.worst)]
    return content


def describe_partial_credit(scored: Scored) -> dict[str, float]:
    """Measure the partial credit of a submission, by the keys of the document."""
    from anls_metric.analysis.partial_credit import measure_partial_credit

    return measure_partial_credit(scored)._asdict()


def _describe_groups(scored: Scored, field: str, compared: ComparisonSet | None) -> dict[str, dict[str, Any]]:
    """Describe the groups of a field: score, interval and size; if compared, also the difference from the baseline."""
    content: dict[str, dict[str, Any]] = {}
    for name, group in scored.groups[field].items():
        interval = group.interval(scored.clusters)
        content[name] = {"anls": group.mean, "interval": interval, "questions": len(group.scores)}
        if compared and scored.name in compared.groups:
            difference, interval = compared.groups[scored.name][field].get(name, (None, None))
            content[name] |= {"difference": difference, "difference_interval": interval}
    return content


def _describe_comparison(comparison: Any, result: Result) -> dict[str, Any]:
    content: dict[str, Any] = comparison._asdict()
    if comparison.first == result.compared.baseline and result.compared_metrics:
        content["metrics"] = {name: found[comparison.second] for name, found in result.compared_metrics.items()}
    return content


def _describe_answer(scored: Scored, place: int) -> dict[str, Any]:
    """Describe the answer to a question: what it is, what it was compared with, and why it has its score."""
    answer, answers = scored.representatives[place], scored.answers
    why: Any = explain(scored, answer)
    content = {
        "id": scored.questions.ids[place],
        "question": scored.questions.texts[place],
        "score": scored.scores[place],
        "outcome": scored.findings.outcomes[answer],
        "prediction": as_json(answers.predictions[answer]),
        "references": list(map(as_json, scored.questions.references[place])),
        "closest_reference": None if why is None else as_json(why.closest),
        "why": None if why is None else str(why),
    }
    if hasattr(why, "leaves"):
        content["leaves"] = list(map(_describe_leaf, why.leaves))
    else:
        content["edits"] = [] if why is None else why.edits
    if answers.raw is not None and answers.raw[answer] is not None:
        content["raw"] = answers.raw[answer]
    return content


def _describe_leaf(leaf: Any) -> dict[str, Any]:
    return {
        "where": leaf.path,  # not "path": gradio takes a dict with this key for a file
        "prediction": as_json(leaf.prediction),
        "reference": as_json(leaf.reference),
        "score": leaf.score,
        "leaves": leaf.length,
        "why": leaf.sentence,
        "edits": leaf.edits,
    }


def describe_clusters(document: Document) -> str:
    """Describe the clusters in words, such as "75 clusters by image"; "" if there are none."""
    clusters = document["clusters"]
    return f"{clusters['count']:,} clusters by {clusters['field']}" if clusters else ""


def index_comparisons(document: Document) -> dict[str, Mapping[str, Any]]:
    """Index the comparisons with the baseline by the name of the submission."""
    return {
        comparison["second"]: comparison
        for comparison in document["comparisons"]
        if comparison["first"] == document["baseline"]
    }


def list_extraction(document: Document) -> list[str]:
    """List sentences about what the extraction rules did, with the names of the submissions if there are several."""
    several = len(document["submissions"]) > 1
    return [
        f"{submission['name']}: {sentence}" if several else sentence
        for submission in document["submissions"]
        for sentence in describe_extraction(submission.get("extraction", {}))
    ]
