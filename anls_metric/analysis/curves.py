"""Computes the distribution of the similarities of answers, and their mean at other thresholds."""

from __future__ import annotations

import math
from collections import Counter

from anls_metric.analysis.scored import Scored
from anls_metric.core.kernel import LIMITS
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import Variant

THRESHOLDS = tuple(step / 100 for step in range(101))
"""The thresholds of `compute_means_by_threshold`."""

BINS = 20
"""The number of bins of `count_similarities`."""

# 1 - similarity differs from distance / length by rounding. Two different quotients differ by more than this.
_ROUNDING = 1e-12


def compute_means_by_threshold(scored: Scored, variant: Variant) -> list[tuple[float, float]]:
    """Compute the mean of a set at each of `THRESHOLDS`.

    Args:
        scored: answers of strings.
        variant: the variant that scored them.

    Returns:
        Pairs of threshold and mean. Variants that compare the distance have no threshold 0, at which all scores are 0.

    Example:
        >>> from anls_metric.analysis.scored import score_columns
        >>> from anls_metric.core.variants import get_variant
        >>> means = dict(compute_means_by_threshold(score_columns(["ab", "abcd"], [["abcd"], ["abcd"]]), get_variant()))
        >>> means[0.5], means[0.51]
        (0.75, 0.5)
    """
    normalize = normalizer(variant)
    similarities = [scored.similarities[place] for place in scored.representatives]
    counts = Counter(
        similarity
        for place, similarity in zip(scored.representatives, similarities)
        if similarity
        and not (variant.no_answers and normalize(scored.answers.predictions[place] or "") in variant.no_answers)
    )
    points = []
    for threshold in THRESHOLDS:
        low, high = LIMITS[variant.kept](threshold)
        if high >= 0:
            kept = ((value, times) for value, times in counts.items() if value >= low and 1 - value <= high - _ROUNDING)
            total = math.fsum((1.0 if variant.all_or_nothing else value) * times for value, times in kept)
            points.append((threshold, total / len(scored.scores)))
    return points


def get_minimum_similarity(variant: Variant) -> float:
    """Return the similarity above which an answer scores. The variant decides whether equality is enough."""
    low, high = LIMITS[variant.kept](variant.threshold)
    return max(low, 1 - high)


def count_similarities(scored: Scored) -> tuple[list[int], int]:
    """Count the similarities of answers of strings in bins.

    Returns:
        The number of similarities in each of `BINS` equal bins from 0 to 1, and the number of similarities of 1, which
        are in no bin. The first bin includes negative similarities (lower-casing can make a string longer).

    Example:
        >>> from anls_metric.analysis.scored import score_columns
        >>> counts, equal = count_similarities(score_columns(["ab", "abcd"], [["abcd"], ["abcd"]]))
        >>> counts[10], sum(counts), equal
        (1, 1, 1)
    """
    counts = [0] * BINS
    similarities = [scored.similarities[place] for place in scored.representatives]
    below = [similarity for similarity in similarities if similarity != 1.0]
    for similarity in below:
        counts[min(max(int(similarity * BINS), 0), BINS - 1)] += 1
    return counts, len(similarities) - len(below)
