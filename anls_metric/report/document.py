"""Builds one JSON document of all results. Every output prints this document, and computes nothing itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.scored import KEYS, Groups, Scored, describe_independence, list_worst
from anls_metric.core.checks import count_noun
from anls_metric.core.json_values import to_json
from anls_metric.core.scorer import Scorer
from anls_metric.messages import FrontEnd
from anls_metric.options import ABSTENTION, PARTIAL_CREDIT
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import Document

if TYPE_CHECKING:
    from anls_metric.core.statistics.clusters import Clusters


MAX_DIFFERENCES = 20
"""The most answers to list on which score and judge disagree."""


def build_document(result: Result, front_end: FrontEnd = "python", numbers: NumberFormat = PLAIN) -> Document:
    """Build the document of a result.

    Args:
        result: the scores, comparisons and hints.
        front_end: the front end in whose words hints name options.
        numbers: the format of the scores in hints.

    Returns:
        A dict of values that JSON can hold.
    """
    first, compared = result.submissions[0], result.compared
    clusters = compared.clusters if compared else first.clusters
    content: dict[str, Any] = {
        "signature": result.signature,
        "questions": max(len(scored.scores) for scored in result.submissions),
        "clusters": {"field": clusters.field, "count": clusters.size, "rule": clusters.rule} if clusters else None,
        "hints": [
            {
                "text": hint.text(front_end, numbers.format),
                "submission": hint.submission or None,
                "extract": hint.extract or None,
                "anls": hint.anls,
            }
            for hint in result.hints
        ],
        "submissions": [_describe_submission(scored, result) for scored in result.submissions],
        "comparisons": [],
    }
    if first.scorer.label != Scorer.label:
        content["label"] = first.scorer.label
    if clusters is None and first.settings.cluster_by is None and first.interval:
        content["independent"] = describe_independence(first)
    if compared:
        content["comparisons"] = [_describe_comparison(each, result) for each in compared.comparisons]
        content["best"] = {"name": compared.best, "no_significant_difference": compared.ties}
        content |= {"baseline": compared.baseline, "all_pairs": compared.all_pairs, "chose_best": compared.chose_best}
    document: Document = json.loads(json.dumps(content))  # lists in place of tuples
    return document


def add_figure_data(document: Document, result: Result, kind: str) -> Document:
    """Add the extra data for a kind of figure to the document of a result, unless it has them, and return the document.

    Raises:
        InputError: the result lacks the data of this kind.
    """
    from anls_metric.analysis.figure_data import check_figure, score_at_thresholds

    check_figure(result, kind)
    if kind == "threshold" and "threshold" not in document:
        document["threshold"] = result.submissions[0].scorer.threshold
        for submission, scored in zip(document["submissions"], result.submissions):
            scores = score_at_thresholds(scored).items()
            submission["thresholds"] = [{"threshold": threshold, "anls": anls} for threshold, anls in scores]
    return document


def _describe_submission(scored: Scored, result: Result) -> dict[str, Any]:
    answers, name = scored.answers, scored.name
    against = result.compared.groups.get(name) if result.compared else None
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
        "groups": {
            field: describe_groups(groups, scored.clusters, against and against[field])
            for field, groups in scored.groups.items()
        },
    }
    if scored.run_scores:
        content |= {"runs": len(scored.run_scores), "run_scores": scored.run_scores, "run_sd": scored.run_sd}
    found = result.assessments.get(name)
    differences = [each._asdict() for each in found.differences[:MAX_DIFFERENCES]] if found else []
    more = {
        "extraction": answers.extraction,
        "summary": scored.summary,
        "metrics": {
            metric: {"mean": each.mean, "interval": each.interval, "label": each.label}
            for metric, each in result.metrics.get(name, {}).items()
        },
        "confidence": found and found.confidence and found.confidence._asdict(),
        "judge": found and found.judge and {**found.judge._asdict(), "differences": differences},
        "variants": scored.means,
        "all_keys": {**scored.all_keys},
    }
    content |= {key: value for key, value in more.items() if value}
    for key, measures in found.by_key.items() if found else ():
        described = content["all_keys"] if key is None else content["groups"][KEYS][key]
        described["confidence"] = measures
    if PARTIAL_CREDIT in result.settings.metrics:
        from anls_metric.analysis.partial_credit import measure_partial_credit

        content["partial_credit"] = measure_partial_credit(scored)._asdict()
    if ABSTENTION in result.settings.metrics:
        from anls_metric.analysis.abstention import measure_abstention

        content["abstention"] = measure_abstention(scored)._asdict()
    if result.corrections:
        accepted = len(list(filter(None, result.added.values())))
        excluded = len(result.added) - accepted
        content["corrections"] = {"accepted": accepted, "excluded": excluded, "anls_without": result.uncorrected[name]}
    if result.settings.worst:
        content["worst"] = [_describe_worst(scored, place) for place in list_worst(scored, result.settings.worst)]
    return content


# The keys of a comparison of groups; only keys of nested values have a test.
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


def _describe_comparison(comparison: Any, result: Result) -> dict[str, Any]:
    without = comparison.one_document
    content: dict[str, Any] = {**comparison._asdict(), "one_document": without and without._asdict()}
    if comparison.first == result.compared.baseline and result.compared_metrics:
        content["metrics"] = {name: found[comparison.second] for name, found in result.compared_metrics.items()}
    return content


def describe_answer(scored: Scored, place: int, answer: int) -> dict[str, Any]:
    """Describe an answer and its score, given the place of the answer and the place of its question."""
    answers, questions = scored.answers, scored.questions
    content = {
        "id": questions.ids[place],
        "question": questions.texts[place],
        "prediction": to_json(answers.predictions[answer]),
        "references": list(map(to_json, questions.references[place])),
        "score": scored.answer_scores[answer],
        "outcome": scored.answer_outcomes[answer],
    }
    return content if answers.raw is None else {**content, "raw": answers.raw[answer]}


def _describe_worst(scored: Scored, place: int) -> dict[str, Any]:
    """Describe the answer to a question, and why it has its score."""
    answer = scored.representatives[place]
    content, why = describe_answer(scored, place, answer), scored.why(answer)
    content |= {"score": scored.scores[place], "closest_reference": None, "why": None}
    if why is not None:
        content |= {"closest_reference": to_json(why.closest), "why": str(why)}
    if hasattr(why, "leaves"):
        return content | {"leaves": list(map(_describe_leaf, why.leaves))}
    return content | {"edits": getattr(why, "edits", [])}


def _describe_leaf(leaf: Any) -> dict[str, Any]:
    return {
        "where": leaf.path,  # not "path": gradio takes a dict with this key for a file
        "prediction": to_json(leaf.prediction),
        "reference": to_json(leaf.reference),
        "score": leaf.score,
        "leaves": leaf.length,
        "why": leaf.note,
        "edits": leaf.edits,
    }


def get_label(document: Document) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def describe_clusters(document: Document) -> str:
    """Describe the clusters in words, such as "75 documents (by image)", or return "" if there are none."""
    clusters = document["clusters"]
    return f"{count_noun(clusters['count'], 'document')} (by {clusters['field']})" if clusters else ""
