"""Computes the distribution of similarities of a scored set, and its mean at other thresholds."""

from __future__ import annotations

import math
from collections import Counter

from anls_metric.analysis.scored import ScoredSet
from anls_metric.core.kernel import LIMITS
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import Variant

THRESHOLDS = tuple(step / 100 for step in range(101))
"""The thresholds of `by_threshold`."""

BINS = 20
"""The number of bins of `spread`."""

# 1 - similarity differs from distance / length by rounding. Two different quotients differ by more than this.
_ROUNDING = 1e-12


def _variant_of(scored_set: ScoredSet) -> Variant:
    """Return the variant of a set of texts. ValueError: the set scores values."""
    if not isinstance(scored_set.scorer, Variant):
        raise ValueError(f"{scored_set.scorer.name} has no similarities of texts")
    return scored_set.scorer


def compute_means_by_threshold(scored_set: ScoredSet) -> list[tuple[float, float]]:
    """Compute the mean of a set at each of `THRESHOLDS`.

    Args:
        scored_set: a set of texts that keeps its rows with their similarities.

    Returns:
        Pairs of threshold and mean. Variants that compare the distance have no threshold 0, at which all scores are 0.

    Raises:
        ValueError: the set scores values.

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> scored_set = ScoredSet(keep=True)
        >>> scored = scored_set.add([Row("7", "ab", ["abcd"], {}), Row("8", "abcd", ["abcd"], {})])
        >>> dict(compute_means_by_threshold(scored_set))[0.5], dict(compute_means_by_threshold(scored_set))[0.51]
        (0.75, 0.5)
    """
    variant = _variant_of(scored_set)
    normalize = normalizer(variant)
    counts = Counter(
        scored.similarity
        for scored in scored_set.rows
        if scored.similarity
        and not (variant.no_answers and normalize(str(scored.row.prediction or "")) in variant.no_answers)
    )
    points = []
    for threshold in THRESHOLDS:
        low, high = LIMITS[variant.kept](threshold)
        if high >= 0:
            scoring = (
                (value, times) for value, times in counts.items() if value >= low and 1 - value <= high - _ROUNDING
            )
            total = math.fsum((1.0 if variant.all_or_nothing else value) * times for value, times in scoring)
            points.append((threshold, total / scored_set.count))
    return points


def least_similarity(variant: Variant) -> float:
    """Return the similarity above which an answer scores. The variant decides whether equality is enough."""
    low, high = LIMITS[variant.kept](variant.threshold)
    return max(low, 1 - high)


def count_similarities(scored_set: ScoredSet) -> tuple[list[int], int]:
    """Count the similarities of a set in bins.

    Args:
        scored_set: a set that keeps its rows with their similarities.

    Returns:
        The number of similarities in each of `BINS` equal bins from 0 to 1, and the number of similarities of 1, which
        are in no bin. The first bin includes negative similarities (lower-casing can make a text longer).

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> scored_set = ScoredSet(keep=True)
        >>> scored = scored_set.add([Row("7", "ab", ["abcd"], {}), Row("8", "abcd", ["abcd"], {})])
        >>> counts, equal = count_similarities(scored_set)
        >>> counts[10], sum(counts), equal
        (1, 1, 1)
    """
    counts = [0] * BINS
    similarities = [scored.similarity or 0.0 for scored in scored_set.rows]
    below = [similarity for similarity in similarities if similarity != 1.0]
    for similarity in below:
        counts[min(max(int(similarity * BINS), 0), BINS - 1)] += 1
    return counts, len(similarities) - len(below)
