"""Computes the distribution of the similarities of answers, before the threshold."""

from __future__ import annotations

from anls_metric.analysis.scored import Scored
from anls_metric.core.strings.kernel import LIMITS
from anls_metric.core.strings.variants import Variant

BINS = 20
"""The number of bins of `count_similarities`."""


def get_minimum_similarity(variant: Variant) -> float:
    """Return the similarity above which an answer scores. The variant decides whether equality is enough."""
    low, high = LIMITS[variant.kept](variant.threshold)
    return max(low, 1 - high)


def count_similarities(scored: Scored) -> list[int]:
    """Count the similarities of answers of strings in bins.

    Returns:
        The number of similarities in each of `BINS` equal bins from 0 to 1. Similarities of 1 are in no bin. The first
        bin includes negative similarities (lower-casing can make a string longer).

    Example:
        >>> from anls_metric import score
        >>> count_similarities(score(["ab", "abcd"], [["abcd"], ["abcd"]])["data"])[10:]
        [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    counts = [0] * BINS
    for place in scored.representatives:
        similarity = scored.similarities[place]
        if similarity != 1.0:
            counts[max(int(similarity * BINS), 0)] += 1
    return counts
