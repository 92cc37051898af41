"""Builds one JSON document of all results. Every output prints this document, and computes nothing itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.lost_points import account_for, compare_accounts, wants_account
from anls_metric.analysis.parts import find_parts
from anls_metric.analysis.parts.all_keys import assess_leaves
from anls_metric.analysis.scored import KEYS, Groups, Scored, describe_independence
from anls_metric.core.checks import count_noun
from anls_metric.core.scorer import Scorer
from anls_metric.core.statistics.significance import LEAST_P
from anls_metric.messages import FrontEnd, Message
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import FORMAT, Document

if TYPE_CHECKING:
    from anls_metric.core.statistics.clusters import Clusters


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
        "format": FORMAT,
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
        "submissions": [_describe_submission(scored, result, front_end) for scored in result.submissions],
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


def put_into_words(values: Any, front_end: FrontEnd) -> Any:
    """Replace the messages in nested values with their texts in the words of a front end."""
    if isinstance(values, Message):
        return values.text(front_end)
    if isinstance(values, dict):
        return {key: put_into_words(value, front_end) for key, value in values.items()}
    return [put_into_words(value, front_end) for value in values] if isinstance(values, list) else values


def _describe_submission(scored: Scored, result: Result, front_end: FrontEnd) -> dict[str, Any]:
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
    content |= put_into_words(find_parts(scored), front_end)
    for key, measures in assess_leaves(scored).items():
        if key is not None:
            content["groups"][KEYS][key]["confidence"] = measures
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
    from anls_metric.analysis.decisions import decide  # which a single submission does not need

    without = comparison.one_document
    content: dict[str, Any] = {**comparison._asdict(), "one_document": without and without._asdict()}
    content["p_value_is_bound"] = comparison.p_value <= LEAST_P
    content |= decide(result.compared, comparison)
    if wants_account(result.settings):
        from anls_metric.analysis.comparison import pair_questions  # which a single submission does not need

        named = {scored.name: scored for scored in result.submissions}
        first, second = named[comparison.first], named[comparison.second]
        pair = pair_questions(first, second)
        content["lost"] = compare_accounts(account_for(first), account_for(second), zip(pair.first, pair.second))
    if comparison.first == result.compared.baseline and result.compared_metrics:
        content["metrics"] = {name: found[comparison.second] for name, found in result.compared_metrics.items()}
    return content


def get_label(document: Document) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def describe_clusters(document: Document) -> str:
    """Describe the clusters in words, such as "75 documents (by image)", or return "" if there are none."""
    clusters = document["clusters"]
    return f"{count_noun(clusters['count'], 'document')} (by {clusters['field']})" if clusters else ""
