"""Finds the interval that decides a comparison, at the level of the adjusted p-value, and the number of documents that
would be needed for a verdict.
"""

from __future__ import annotations

import math
from typing import TypedDict

from anls_metric.analysis.comparison import Comparison, ComparisonSet
from anls_metric.analysis.verdicts import SIGNIFICANT
from anls_metric.core.statistics.significance import Interval

MOST_DOCUMENTS = 1_000_000
"""The number of documents above which `documents_needed` is None, because so many documents are out of reach."""


class Decision(TypedDict):
    """The interval that decides a comparison and the number of documents needed. The keys are those of the JSON
    document.
    """

    deciding_interval: Interval | None
    """the interval of the difference at the level of `p_value_adjusted`, which excludes 0 exactly if the difference is
    significant
    """
    documents_needed: int | None
    """the approximate number of documents like these that would show such a difference at 80% power; null if more than
    a million
    """


def decide(compared: ComparisonSet, comparison: Comparison) -> Decision:
    """Find the interval that decides a comparison, and the number of documents needed, within a set of comparisons.

    Example:
        >>> import anls_metric
        >>> from anls_metric.analysis.comparison import compare
        >>> answers = {"a": ["Cola", "x"] * 30, "b": ["Cola", "Col", "Cola"] * 20}
        >>> scores = anls_metric.compare(answers, [["Cola"]] * 60)
        >>> compared = compare([scores["a"], scores["b"]])
        >>> decision = decide(compared, compared.comparisons[0])
        >>> decision["deciding_interval"] == compared.comparisons[0].interval, decision["documents_needed"]
        (True, 14)
    """
    sample, sign = compared.pairs.find_sample(comparison.first, comparison.second)
    if comparison.interval is None:
        return {"deciding_interval": None, "documents_needed": None}
    # A p-value multiplied by a factor is below 0.05 exactly if the p-value is below 0.05 divided by this factor.
    outside = SIGNIFICANT * comparison.p_value / comparison.p_value_adjusted
    low, high = sorted(sign * end for end in sample.interval(1 - outside))
    needed = math.inf
    if comparison.difference:
        ratio = sample.minimum_detectable_effect(1 - outside) / abs(comparison.difference)
        needed = sample.cluster_count * ratio**2
    return {
        "deciding_interval": Interval(low + 0.0, high + 0.0) if outside < SIGNIFICANT else comparison.interval,
        "documents_needed": math.ceil(needed) if needed <= MOST_DOCUMENTS else None,
    }
