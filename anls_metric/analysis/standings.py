"""Ranks submissions, and finds the variants that reverse the order of the best two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anls_metric.analysis.comparison import Comparison, rank_submissions
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.scored import Scored, score_under
from anls_metric.core.strings.variants import VARIANTS


def describe_standings(result: Result) -> dict[str, Any]:
    """Describe which submission is ahead, and by how much.

    Args:
        result: the result, sorted by `sort_for_report`.

    Returns:
        ``variants``, the score of each submission under each variant; and, for several submissions:

        - ``ranks``, ``reported_baseline``, ``pairs``, ``reversed_by``: see `schema.Headline`
        - ``best_two``: the comparison of the best with the second, with an unadjusted p-value
        - ``reversals_count_case``: whether all variants that reverse the order are case-sensitive
        - ``p_value``: the p-value of the second against the best, adjusted for the choice of the best
        - ``one_document``: the document that decides the comparison of these two, with their comparison as ``of``; None
          if there is no such document.
    """
    variants, compared = _score_under_variants(result.submissions), result.compared
    if compared is None:
        return {"variants": variants}
    ranks = rank_submissions(result.submissions, compared)
    best, second, *_ = ranks
    gains = {name: variants[second][name] - score for name, score in variants[best].items()} if variants else {}
    reversed_by = {name: gain for name, gain in gains.items() if gain > 0}
    return {
        "variants": variants,
        "ranks": ranks,
        "reported_baseline": compared.baseline,
        "pairs": {compared.baseline: {each.second: _describe(each) for each in compared.comparisons}},
        "best_two": _describe(compared.pairs[second, best]),
        "reversed_by": reversed_by,
        "reversals_count_case": not any(VARIANTS[name].ignore_case for name in reversed_by),
        "p_value": compared.p_values[second],
        "one_document": _find_deciding(compared.comparisons, second, best),
    }


def _score_under_variants(submissions: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """Score each submission with string answers under every variant."""
    return {
        scored.name: {variant.name: score_under(scored.answers, variant) for variant in VARIANTS.values()}
        for scored in submissions
        if scored.scorer.form == "text"
    }


def _describe(comparison: Comparison) -> dict[str, Any]:
    values = {**comparison._asdict(), "note": comparison.note}
    del values["one_document"]  # it is known only for the comparisons in the document
    return values


def _find_deciding(comparisons: Sequence[Comparison], first: str, second: str) -> dict[str, Any] | None:
    """Return the document that decides the comparison of two submissions, with the comparison as ``of``, or None if
    there is no such document.
    """
    for each in comparisons:
        if {each.first, each.second} == {first, second} and each.one_document:
            return {**each.one_document._asdict(), "of": each._asdict()}
    return None
