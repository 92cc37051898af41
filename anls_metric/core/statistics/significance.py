"""Computes how certain a score is and whether one submission is better than another, given lists of scores.

Questions about one page or one document tend to be answered right or wrong together. Such questions form a cluster,
which is the sampling unit, and an interval that ignores clusters is too narrow. A question without a cluster is its own
cluster. The results are the same to the last bit in any order of the scores.
"""

from __future__ import annotations

import math
import operator
import struct
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, compress, count, islice, repeat
from numbers import Real
from typing import NamedTuple

from anls_metric.core.checks import describe, name_row
from anls_metric.core.scorer import mean

CONFIDENCE = 0.95
Floats = Sequence[float]
Labels = Sequence[Hashable] | None
"""The cluster of each score, or None for a score that is its own cluster. None in place of the list means no clusters.
"""

# The largest number of sign patterns that a test tries by default.
FLIPS = 10_000


LEAST_P = 1 / (FLIPS + 1)
"""The smallest p-value that random patterns can yield, which is a bound because the true p-value may be smaller."""


class Interval(NamedTuple):
    """The two ends of a confidence interval of the mean."""

    low: float
    high: float


def interval(scores: Floats, clusters: Labels = None, confidence: float = CONFIDENCE) -> Interval:
    """Compute the confidence interval of a mean score.

    It is an Agresti-Coull interval for the effective number of questions: the number of independent questions, each
    right or wrong, whose mean would have the same standard error. That error is estimated by leaving out each cluster
    in turn, and one more cluster is added whose questions are all answered alike, because a few clusters with mistakes
    reveal little about the error.

    Args:
        scores: N scores from 0 to 1.
        clusters: the cluster of each score, or None for a score that is its own cluster. Without `clusters`, every
            score is its own cluster.
        confidence: from 0 to 1.

    Returns:
        An interval between 0 and 1 that contains the mean of all such questions in about 95 of 100 samples like this
        one.

    Raises:
        ValueError: there are fewer than two clusters, a score is not a number from 0 to 1, the numbers of scores and
            clusters differ, or the confidence is outside [0, 1).

    Example:
        >>> low, high = interval([1.0, 1.0, 0.0, 1.0, 0.5, 1.0, 1.0, 0.0])
        >>> round(low, 3), round(high, 3)
        (0.3, 0.922)
        >>> low, high = interval([1.0, 1.0, 0.0, 0.0] * 10)
        >>> round(low, 3), round(high, 3)
        (0.346, 0.654)
        >>> low, high = interval([1.0, 1.0, 0.0, 0.0] * 10, [page // 2 for page in range(40)])
        >>> round(low, 3), round(high, 3)
        (0.284, 0.716)
        >>> low, high = interval([1.0] * 20)
        >>> round(low, 3), round(high, 3)
        (0.789, 1.0)

    Source: Agresti and Coull, "Approximate Is Better than 'Exact'", 1998, with the effective number of questions as in
    Dean and Pagano, "Evaluating Confidence Interval Methods for Binomial Proportions in Clustered Surveys", 2015; the
    cluster jackknife of MacKinnon, Nielsen and Webb, "Fast and Reliable Jackknife and Bootstrap Methods for
    Cluster-Robust Inference", 2023; Student's t for the effective number of clusters, (sum of sizes)^2 / sum of
    squared sizes (Kish 1965).
    """
    _check_numbers(scores)
    _check_length(clusters, "clusters", scores)
    return _find_interval(_estimate_mean(scores, _sum_clusters(scores, clusters)), confidence)


def mean_interval(scores: Floats, clusters: Labels, most: float = 1.0) -> Interval | None:
    """Compute the 95% interval of a mean that lies between 0 and the largest possible mean, without checking arguments.

    Args:
        scores: N scores.
        clusters: the cluster of each score, as in `interval`.
        most: the largest possible mean. If it is not 1, the interval is the mean plus or minus t standard errors.

    Returns:
        The interval, or None if there are fewer than two clusters.

    Raises:
        Nothing.

    Example:
        >>> found = mean_interval([1.0, 1.0, 0.0], ["page 1", "page 1", None])
        >>> found and [round(end, 3) for end in found]
        [0.002, 1.0]
        >>> mean_interval([0.5, 1.0], ["page 1", "page 1"])
    """
    sums = _sum_clusters(scores, clusters)
    if sum(cluster.times for cluster in sums) < 2:
        return None
    estimate = _estimate_mean(scores, sums)
    if most == 1.0:
        return _find_interval(estimate, CONFIDENCE)
    half = estimate.t(CONFIDENCE) * math.sqrt(estimate.variance)
    return Interval(max(0.0, estimate.mean - half), min(most, estimate.mean + half))


def ratio_interval(parts: Iterable[tuple[float, int]]) -> Interval | None:
    """Compute the 95% interval of a ratio, such as precision, whose numerator and denominator are sums over documents.

    Args:
        parts: for each document, its amount in the numerator and its number of items in the denominator.

    Returns:
        The interval, computed as for a mean, or None if fewer than two documents have any items.

    Raises:
        Nothing.

    Example:
        >>> found = ratio_interval([(1, 2), (3, 3), (2, 4), (0, 0)])
        >>> found and [round(end, 3) for end in found]
        [0.072, 0.983]
    """
    sums = [Cluster(total, size, 1) for total, size in parts if size]
    if len(sums) < 2:
        return None
    count = sum(cluster.size for cluster in sums)
    return _find_interval(_estimate(math.fsum(cluster.total for cluster in sums) / count, count, sums), CONFIDENCE)


def _find_interval(estimate: _Estimate, confidence: float) -> Interval:
    """Compute the interval of a mean score as described in `interval`."""
    count, sums = estimate.size, estimate.sums
    independent = estimate.mean * (1 - estimate.mean) / count  # the variance of this many right and wrong answers
    alike = count / (estimate.freedom + 1)  # the design effect if all questions of a cluster are answered alike
    effect = estimate.variance / independent if independent else alike
    usual = 1.0 if estimate.mean > 0.5 else 0.0
    others = sum(times for total, size, times in sums if total != usual * size)
    effective = count / max(effect, (others * effect + alike) / (others + 1))
    t = estimate.t(confidence)
    total = effective + t * t
    middle = (estimate.mean * effective + t * t / 2) / total
    half = t * math.sqrt(middle * (1 - middle) / total)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


class _Estimate(NamedTuple):
    """The mean of ``size`` values in clusters, its variance and the degrees of freedom, which are one less than the
    effective number of clusters.
    """

    mean: float
    size: int
    sums: Sequence[Cluster]
    variance: float
    freedom: float

    def t(self, confidence: float) -> float:
        """Return the number of standard errors for a confidence, with an effective number of clusters of at least two
        even if the sizes of clusters differ a lot.
        """
        return student_t(confidence, max(self.freedom, 1.0))


_TOO_FEW = "an interval needs at least two clusters; a question without a cluster counts as its own"


def _estimate_mean(values: Floats, sums: Sequence[Cluster]) -> _Estimate:
    """Estimate the variance of a mean. Raises ValueError if there are fewer than two clusters."""
    if sum(cluster.times for cluster in sums) < 2:
        raise ValueError(_TOO_FEW)
    return _estimate(mean(values), len(values), sums)


def _estimate(middle: float, count: int, sums: Sequence[Cluster]) -> _Estimate:
    """Estimate the variance of a mean by leaving out each cluster in turn."""
    number = sum(cluster.times for cluster in sums)
    squares = math.fsum([times * ((total - middle * size) / (count - size)) ** 2 for total, size, times in sums])
    effective = count * count / sum([times * size * size for _, size, times in sums])
    return _Estimate(middle, count, sums, (number - 1) / number * squares, effective - 1)


@dataclass(frozen=True)
class Differences:
    """The differences between two submissions, which are the second score minus the first for each question.

    Attributes:
        values: the N differences.
        clusters: the cluster of each question, as in `interval`.
        most: the largest possible difference; infinity if there is none.

    Example:
        >>> between = Differences([0.5, 0.0, 0.25], ["page 1", "page 1", "page 2"])
        >>> between.mean, between.count, between.cluster_count
        (0.25, 3, 2)
    """

    values: Floats
    clusters: Labels = None
    most: float = 1.0

    @cached_property
    def sums(self) -> Mapping[Hashable, Cluster]:
        """The sum and the number of the differences in each named cluster, keyed by its name."""
        return _sum_named(self.values, self.clusters)

    @cached_property
    def _sums(self) -> list[Cluster]:
        return _sum_clusters(self.values, self.clusters, self.sums)

    @property
    def count(self) -> int:
        """The number of questions."""
        return len(self.values)

    @cached_property
    def cluster_count(self) -> int:
        """The number of clusters. A question without a cluster counts as its own cluster."""
        return sum(cluster.times for cluster in self._sums)

    @property
    def differing_count(self) -> int:
        """The number of clusters in which the sum of the differences is not 0."""
        return sum(cluster.times for cluster in self._sums if cluster.total)

    @cached_property
    def mean(self) -> float:
        """The mean difference. Raises ValueError if there are no questions."""
        return mean(self.values)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Compute the confidence interval of the mean difference. Raises ValueError if there are fewer than two
        clusters.

        It is the wider of two intervals and excludes 0 exactly if `p_value` is below 1 - confidence. The first consists
        of the differences that the test in `flip_test` does not reject. The second comes from Student's t, with two
        added questions, of which each submission wins one, unless a difference can be of any size (Agresti and Min,
        "Simple Improved Confidence Intervals for Comparing Matched Proportions", 2005).
        """
        low, high = self._find_interval(confidence)
        return Interval(max(-self.most, low), min(self.most, high))

    @property
    def usual_interval(self) -> Interval | None:
        """The 95% confidence interval of the mean difference, or None if there are fewer than two clusters or too few
        to limit a difference that can be of any size.
        """
        found = self.interval() if self.cluster_count > 1 else None
        return found if found and all(map(math.isfinite, found)) else None

    @cached_property
    def _intervals(self) -> dict[float, Interval]:
        return {}

    def _find_interval(self, confidence: float) -> Interval:
        """Compute the interval of the mean difference without limiting it to the largest possible difference."""
        if confidence in self._intervals:
            return self._intervals[confidence]
        shrunk, error, freedom = self._shrunk
        half, outside = student_t(confidence, freedom) * error, round(1 - confidence, 12)
        # t may differ from its share of the distribution in the last bit
        zero = [0.0] if self.p_value() >= outside else []
        low, high = min([shrunk - half, *zero]), max([shrunk + half, *zero])
        found = self._intervals[confidence] = self._halves.widen(low, high, outside)
        return found

    def p_value(self, patterns: int | None = None) -> float:
        """Compute the p-value of `paired_test`, which is the larger of the p-values for the two intervals.

        Args:
            patterns: see `flip_test`.
        """
        return max(self.flip_test(patterns), self._t_test if self.cluster_count > 1 else 0.0)

    @cached_property
    def _t_test(self) -> float:
        """The p-value that corresponds to the interval from Student's t."""
        shrunk, error, freedom = self._shrunk
        return _share_outside(abs(shrunk) / error, freedom) if error else float(shrunk == 0.0)

    def flip_test(self, patterns: int | None = None) -> float:
        """Compute the share of sign patterns whose mean is at least as far from 0 as the observed mean.

        Args:
            patterns: the returned share is at least 1 / (patterns + 1); None takes `FLIPS`, the number of patterns that
                are tried. If no pattern is as far from 0, the share is at most Chernoff's bound.
        """
        hits, tried = self._halves.hits, len(self._halves.totals)
        if self._halves.is_random:  # the observed signs are one more pattern
            hits, tried = hits + 1, tried + 1
        if self._halves.hits:
            return hits / tried
        return max(1 / ((patterns or FLIPS) + 1), min(1 / tried, self._halves.bound))

    @cached_property
    def _halves(self) -> _Halves:
        return _draw_halves(self._sums)

    def without(self, cluster: Hashable) -> Differences:
        """Return the differences without one cluster. The sign patterns of the other clusters stay the same."""
        clusters, sums, removed = self.clusters or (), [*self._sums], self.sums[cluster]
        rest = [name != cluster for name in clusters]
        left = Differences(list(compress(self.values, rest)), list(compress(clusters, rest)), self.most)
        sums.remove(removed)
        vars(left).update(_sums=sums, _halves=self._halves.remove(removed))
        return left

    def minimum_detectable_effect(self, confidence: float = CONFIDENCE, power: float = 0.8) -> float:
        """Compute the smallest difference that these questions can detect, as described in
        `minimum_detectable_effect`.
        """
        if not 0.5 <= power < 1:
            raise ValueError(f"power must be at least 0.5 and below 1, got {power}")
        (low, high), freedom = self._find_interval(confidence), self._shrunk[2]
        return (high - low) / 2 * (1 + student_t(2 * power - 1, freedom) / student_t(confidence, freedom))

    @cached_property
    def _shrunk(self) -> tuple[float, float, float]:
        """The mean with two added questions, its standard error, and the degrees of freedom."""
        if self.cluster_count < 2:
            raise ValueError(_TOO_FEW)
        estimate = _estimate(self.mean, self.count, self._sums)
        freedom = max(estimate.freedom, 1.0)
        if math.isinf(self.most):
            return estimate.mean, math.sqrt(estimate.variance), freedom
        total = self.count + 2
        share = self.count / total
        return estimate.mean * share, math.sqrt(estimate.variance * share**2 + (self.most / total) ** 2), freedom


def differences(first: Floats, second: Floats, clusters: Labels = None) -> Differences:
    """Compute the differences between two submissions for each question.

    Args:
        first: the N scores of one submission.
        second: the scores of the other submission for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.

    Returns:
        The differences, second minus first, with `.mean` and `.interval()`. The interval lies between -1 and 1 if all
        scores are from 0 to 1; otherwise, it has no limits.

    Raises:
        ValueError: the numbers of scores or clusters differ, or a score is not a finite number.

    Example:
        >>> between = differences([0.0, 0.5, 1.0] * 4, [0.5, 0.5, 1.0] * 4)
        >>> round(between.mean, 4), [round(end, 4) for end in between.interval()]
        (0.1667, [-0.0638, 0.3495])
    """
    _check_numbers(first, any_size=True)
    _check_numbers(second, any_size=True)
    _check_length(second, "scores of the second submission", first)
    _check_length(clusters, "clusters", first)
    most = 1.0 if _are_fractions(first) and _are_fractions(second) else math.inf
    return Differences([after - before for before, after in zip(first, second)], clusters, most)


def paired_test(first: Floats, second: Floats, clusters: Labels = None) -> float:
    """Compute the two-sided p-value, which is how often chance alone makes two equally good submissions differ this
    much.

    If both are equally good, either could have given the other's answers to a cluster, so each difference could have
    the opposite sign. The test tries all patterns of signs if there are at most 10,000; otherwise, it tries 10,000
    random ones, which are the same each time. A second p-value comes from Student's t, and the larger of the two is
    returned.

    Args:
        first: the N scores of one submission.
        second: the scores of the other submission for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.

    Returns:
        The p-value, which is below 0.05 exactly if the 95% interval of `differences` excludes 0. It is at least the
        share of patterns whose mean is as far from 0 as the observed one, or (hits + 1) / (n + 1) for n random ones.
        Swapping the submissions does not change it.

    Raises:
        ValueError: the numbers of scores or clusters differ, or a score is not a finite number.

    Example:
        >>> paired_test([0.0, 0.0, 0.0, 0.0, 0.5], [1.0, 1.0, 0.5, 1.0, 0.5])
        0.125

    Source: approximate randomization, Riezler and Maxwell, "On Some Pitfalls in Automatic Evaluation and Significance
    Testing for MT", 2005, https://aclanthology.org/W05-0908, by clusters.
    """
    return differences(first, second, clusters).p_value()


def minimum_detectable_effect(
    first: Floats,
    second: Floats,
    clusters: Labels = None,
    confidence: float = CONFIDENCE,
    power: float = 0.8,
) -> float:
    """Compute the smallest difference that these questions can detect between two submissions.

    A true difference of this size is detected in about 80 of 100 samples like this one. With a power of 0.5, the size
    is half the width of the interval of the difference, and the interval of every smaller difference contains 0.

    Args:
        first: the N scores of one submission.
        second: the scores of the other submission for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.
        confidence: from 0 to 1.
        power: the share of samples in which the difference is to be detected, 0.5 or more.

    Returns:
        The difference, 0 or more.

    Raises:
        ValueError: as in `differences`; there are fewer than two clusters; the confidence is outside [0, 1); or the
            power is outside [0.5, 1).

    Example:
        >>> first, second = [1.0, 0.0, 1.0, 1.0] * 25, [1.0, 1.0, 1.0, 0.0] * 25
        >>> round(minimum_detectable_effect(first, second), 3)
        0.204
        >>> round(minimum_detectable_effect(first, second, power=0.5), 3)
        0.143

    Source: the power analysis of Miller 2024, https://arxiv.org/abs/2411.00640.
    """
    return differences(first, second, clusters).minimum_detectable_effect(confidence, power)


def welch_bound(first: Floats, second: Floats, confidence: float = CONFIDENCE) -> float | None:
    """Compute the largest difference in means at which the runs of two submissions may still be equal, which is t
    standard errors as in Welch's test.

    Args:
        first: the score of each run of one submission.
        second: the score of each run of the other submission.
        confidence: from 0 to 1.

    Returns:
        The difference, 0 or more, or None if a submission has fewer than two runs.

    Raises:
        ValueError: the confidence is outside [0, 1).

    Example:
        >>> round(welch_bound([0.8, 0.82, 0.84], [0.83, 0.83, 0.86]), 4)
        0.0428

    Source: Welch, "The Generalization of 'Student's' Problem when Several Different Population Variances are
    Involved", 1947.
    """
    from statistics import variance  # slow to import

    runs = first, second
    if min(map(len, runs)) < 2:
        return None
    parts = [variance(own) / len(own) for own in runs]
    total = math.fsum(parts)
    if not total:
        return 0.0
    freedom = total * total / math.fsum(part * part / (len(own) - 1) for part, own in zip(parts, runs))
    return student_t(confidence, freedom) * math.sqrt(total)


def holm(p_values: Floats) -> list[float]:
    """Adjust the p-values of several tests, because among many p-values some are small just by chance.

    Args:
        p_values: the p-values of the tests.

    Returns:
        The adjusted p-values in the same order. If you call a difference significant when its adjusted p-value is at
        most 0.05, the chance of one or more false alarms among all tests is at most 5%.

    Raises:
        ValueError: a p-value is not a number from 0 to 1.

    Example:
        >>> holm([0.25, 0.01, 0.02])
        [0.25, 0.03, 0.04]

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    _check_numbers(p_values, "p-value")
    return _adjust(p_values, range(len(p_values), 0, -1))


def adjust_for_best(p_values: Floats) -> list[float]:
    """Adjust the p-values of comparisons with the best of several submissions, if it was chosen on the same questions.

    The best is partly the luckiest. Holm's adjustment is for a baseline that was chosen beforehand: with ten equally
    good submissions, it calls one worse than the best in more than 8 of 100 families. Any pair could have been the best
    and the worst, so the smallest p-value is multiplied by the number of all pairs, and the next one by the number of
    pairs among the remaining submissions.

    Args:
        p_values: the p-values of the best against each of the others.

    Returns:
        The adjusted p-values in the same order. If all submissions are equally good, at least one adjusted p-value is
        0.05 or less in at most 5 of 100 such families.

    Raises:
        Nothing.

    Example:
        >>> adjust_for_best([0.25, 0.01, 0.0005])
        [0.25, 0.03, 0.003]
        >>> adjust_for_best([0.04])
        [0.04]
    """
    return _adjust(p_values, [math.comb(left, 2) for left in range(len(p_values) + 1, 1, -1)])


def _adjust(p_values: Floats, times: Iterable[int]) -> list[float]:
    """Multiply the p-values, from the smallest to the largest, by the given factors without changing their order."""
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for place, factor in zip(sorted(range(len(p_values)), key=p_values.__getitem__), times):
        least = adjusted[place] = max(least, min(1.0, factor * p_values[place]))
    return adjusted


# Differences are scaled to whole numbers up to this one, so that the sum of all fits into eight bytes.
_LARGEST = 2**29 - 1

Row = tuple[int, int]
"""The number of questions in one or more clusters and the sum of their differences, as whole numbers."""

BLOCKS, FIRST, FAR = 1_000, 2_000, 0.2
"""If there are more than `BLOCKS` clusters, the clusters get their signs in `BLOCKS` random groups, which is equally
valid and faster. The test then stops after the first `FIRST` patterns if the p-value is at least `FAR` or if more
patterns would find nothing (Besag and Clifford, "Sequential Monte Carlo p-values", 1991).
"""


@dataclass(frozen=True)
class _Halves:
    """The sums of the clusters with a plus sign, for each pattern of signs.

    Attributes:
        rows: the size and the difference of each cluster, as whole numbers.
        blocks: the sums of the rows that share a sign in every pattern.
        unit: the difference that a whole number of 1 stands for.
        totals: for each pattern, the sum of the differences with a plus sign.
        sizes: for each pattern, the sum of the sizes of the clusters with a plus sign.
        is_random: whether the patterns are random ones instead of all possible ones.
    """

    rows: Sequence[Row]
    blocks: Sequence[Row]
    unit: float
    totals: Sequence[int]
    sizes: Sequence[int]
    is_random: bool

    @cached_property
    def whole(self) -> int:
        """The sum of all differences."""
        return sum(total for _, total in self.blocks)

    @cached_property
    def hits(self) -> int:
        """The number of patterns that are at least as far from 0 as the observed one, allowing for rounding errors."""
        whole, enough = self.whole, abs(self.whole) - len(self.rows)
        low, high = (whole - enough) // 2, -((-whole - enough) // 2)
        return len([total for total in self.totals if total <= low or total >= high])

    @cached_property
    def bound(self) -> float:
        """Chernoff's bound on the share of patterns that are at least as far from 0 as the observed one."""
        return _bound_tail([abs(total) for _, total in self.blocks if total], abs(self.whole) - len(self.rows))

    def widen(self, low: float, high: float, outside: float) -> Interval:
        """Widen an interval to include the differences that the test does not reject at the significance level
        ``outside``.

        A pattern is at least as far from a difference as the observed pattern if the difference lies between the means
        of the pattern's two halves of the questions (Hartigan, "Using Subsample Values as Typical Values", 1969;
        Garthwaite, "Confidence Intervals from Randomization Tests", 1996). The mean of all questions also lies between
        the means of the two halves, so the lower half of the means of all halves are the lower ends.
        """
        whole, count, unit = self.whole, sum(size for size, _ in self.blocks), self.unit
        halves = [(total, size) for total, size in zip(self.totals, self.sizes) if 0 < size < count]
        ends = [total / size * unit for total, size in halves]
        ends += [(whole - total) / (count - size) * unit for total, size in halves]
        # A pattern with only one half is as far from every difference, and so are the observed signs.
        others = len(self.totals) - len(halves) + self.is_random
        enough = math.ceil(outside * (len(halves) + others) - 1e-9) - others
        if enough < 1:
            return Interval(-math.inf, math.inf)
        below, above = sorted([end for end in ends if end <= low]), sorted([end for end in ends if end >= high])
        return Interval(
            below[enough - 1] if len(below) >= enough else low, above[-enough] if len(above) >= enough else high
        )

    def remove(self, cluster: Cluster) -> _Halves:
        """Return the sums without one cluster."""
        size, total = row = cluster.size, round(cluster.total / self.unit)
        place, patterns, blocks = self.rows.index(row), len(self.totals), [*self.blocks]
        number = place % len(blocks)
        blocks[number] = blocks[number][0] - size, blocks[number][1] - total
        if self.is_random:
            signs = [byte >> number % 8 & 1 for byte in _draw_signs(number // 8, patterns)]
        else:
            signs = [pattern >> number & 1 for pattern in range(patterns)]
        rows = [*self.rows[:place], *self.rows[place + 1 :]]
        totals = [own - total * sign for own, sign in zip(self.totals, signs)]
        sizes = [own - size * sign for own, sign in zip(self.sizes, signs)]
        return _Halves(rows, blocks, self.unit, totals, sizes, self.is_random)


def _draw_halves(sums: Iterable[Cluster]) -> _Halves:
    """Sum the clusters for all patterns of signs, or for random ones if there are more than `FLIPS`."""
    own = list(sums)
    unit = (max((abs(total) for total, _, _ in own), default=0.0) or 1.0) / _LARGEST
    # In this order, neither the order of the questions nor that of the submissions matters.
    counts = sorted([(size, round(total / unit), times) for total, size, times in own])
    whole = sum(total * times for _, total, times in counts)
    if whole <= 0:
        mirrored = sorted([(size, -total, times) for size, total, times in counts])
        if whole < 0 or mirrored > counts:
            counts, unit = mirrored, -unit
    rows = [(size, total) for size, total, times in counts for _ in range(times)]
    if 1 << min(len(rows), 64) <= FLIPS:
        sizes, totals = ([row[column] for row in rows] for column in range(2))
        return _Halves(rows, rows, unit, _sum_subsets(totals), _sum_subsets(sizes), False)
    if len(rows) <= BLOCKS:
        return _draw(rows, unit, FLIPS)
    import random  # slow to import

    random.Random(0).shuffle(rows)
    first = _draw(rows, unit, min(FIRST, FLIPS))
    is_far = first.hits >= FAR * FIRST or (first.hits == 0 and first.bound <= 1 / (FLIPS + 1))
    return first if is_far else _draw(rows, unit, FLIPS)


def _draw(rows: Sequence[Row], unit: float, patterns: int) -> _Halves:
    """Sum the clusters for random patterns of signs."""
    sizes, totals = ([row[column] for row in rows] for column in range(2))
    if len(rows) > BLOCKS:
        sizes, totals = ([sum(column[place::BLOCKS]) for place in range(BLOCKS)] for column in (sizes, totals))
    blocks = list(zip(sizes, totals))
    return _Halves(rows, blocks, unit, _sum_random_subsets(totals, patterns), _sum_sizes((*sizes,), patterns), True)


def _sum_subsets(sizes: Iterable[int], start: int = 0) -> list[int]:
    """Sum the sizes with a plus sign, for every pattern of signs."""
    sums = [start]
    for size in sizes:
        sums += [total + size for total in sums]
    return sums


@lru_cache(maxsize=256)
def _draw_signs(chunk: int, patterns: int) -> bytes:
    """Draw the signs of eight clusters for random patterns, which are the same in every test. A bit of 1 means plus."""
    import random  # slow to import

    return random.Random(chunk).randbytes(patterns)


def _sum_random_subsets(sizes: Sequence[int], patterns: int) -> Sequence[int]:
    """Sum the sizes with a plus sign, for random patterns."""
    # A byte holds the signs of eight sizes, and a table of 256 entries holds their sums, shifted to start at 0. One
    # long integer holds the totals of all patterns, each as wide as the largest, so that one addition updates all of
    # them.
    pluses, least = 0, sum(size for size in sizes if size < 0)
    width = max(1, (sum(map(abs, sizes)).bit_length() + 7) // 8)
    for start in range(0, len(sizes), 8):
        chunk = sizes[start : start + 8]
        if any(chunk):
            sums = _sum_subsets(chunk, -sum(size for size in chunk if size < 0))
            table = struct.pack("<256Q", *sums * (256 // len(sums)))
            signs, added = _draw_signs(start // 8, patterns), bytearray(width * patterns)
            for place in range(width):
                if any(column := table[place::8]):
                    added[place::width] = signs.translate(column)
            pluses += int.from_bytes(added, "little")
    narrow, wide = pluses.to_bytes(width * patterns, "little"), bytearray(8 * patterns)
    for place in range(width):
        wide[place::8] = narrow[place::width]
    return [total + least for total in struct.unpack(f"<{patterns}Q", wide)]


@lru_cache(maxsize=4)
def _sum_sizes(sizes: tuple[int, ...], patterns: int) -> Sequence[int]:
    """Sum the sizes of clusters for random patterns, cached for all comparisons on the same questions."""
    return _sum_random_subsets(sizes, patterns)


def _bound_tail(sizes: Sequence[int], enough: int) -> float:
    """Compute Chernoff's bound on the probability that the absolute sum of sizes with random signs is at least
    ``enough``.

    The bound holds for every exponent, so a few steps toward the best one are enough.
    """
    largest = max(sizes)
    shares, least = [size / largest for size in sizes], enough / largest
    exponent = least / math.fsum(share * share for share in shares)
    for _ in range(5):
        tangents = [math.tanh(exponent * share) for share in shares]
        slope = math.fsum(map(operator.mul, shares, tangents)) - least
        curvature = math.fsum(share * share * (1 - tangent * tangent) for share, tangent in zip(shares, tangents))
        exponent -= slope / max(curvature, 1e-9 * len(shares))
    powers = (exponent * share for share in shares)
    logarithm = math.fsum(power + math.log1p(math.exp(-2 * power)) - math.log(2) for power in powers)
    return 2 * math.exp(min(0.0, logarithm - exponent * least))


class Cluster(NamedTuple):
    """The sum and the number of the scores in a cluster, and the number of identical clusters."""

    total: float
    size: int
    times: int


def _sum_clusters(scores: Floats, clusters: Labels, named: Mapping[Hashable, Cluster] | None = None) -> list[Cluster]:
    """Sum the scores in each cluster. Equal scores without a cluster are counted together."""
    alone = scores if clusters is None else map(scores.__getitem__, _sort_places(tuple(clusters))[0])
    sums = _sum_named(scores, clusters) if named is None else named
    return [*(Cluster(score, 1, times) for score, times in Counter(alone).items()), *sums.values()]


def _sum_named(scores: Floats, clusters: Labels) -> dict[Hashable, Cluster]:
    """Sum the scores in each cluster that has a name."""
    if clusters is None:
        return {}
    _, places, sizes = _sort_places(tuple(clusters))
    ordered = map(scores.__getitem__, places)
    totals = [math.fsum(islice(ordered, size)) for size in sizes.values()]
    return dict(zip(sizes, map(Cluster, totals, sizes.values(), repeat(1))))


@lru_cache(maxsize=2)
def _sort_places(clusters: tuple[Hashable, ...]) -> tuple[Sequence[int], Sequence[int], Mapping[Hashable, int]]:
    """Return the positions without a cluster, the other positions grouped by cluster, and the size of each cluster. The
    result is cached for all submissions on the same questions.
    """
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place, cluster in enumerate(clusters):
        places[cluster].append(place)
    alone = places.pop(None, [])
    return alone, [*chain.from_iterable(places.values())], {name: len(own) for name, own in places.items()}


def _check_numbers(numbers: Sequence[float], what: str = "score", any_size: bool = False) -> None:
    """Raise a ValueError that names the first value that is not a number from 0 to 1 or, if ``any_size`` is true, not a
    finite number.
    """
    if not isinstance(numbers, Iterable) or isinstance(numbers, str):
        raise ValueError(f"{what}s must be a list of numbers, got {describe(numbers)}")
    are_floats = {*map(type, numbers)} <= {float} and all(map(math.isfinite, numbers))
    if are_floats and (any_size or _are_fractions(numbers)):
        return
    for row, number in enumerate(numbers):
        if not (isinstance(number, Real) and math.isfinite(number) and (any_size or 0 <= number <= 1)):
            limits = "a finite number" if any_size else "a number from 0 to 1"
            raise ValueError(f"the {what} of {name_row(row)} is {describe(number)}: pass {limits}")


def _are_fractions(numbers: Sequence[float]) -> bool:
    """Whether numbers are from 0 to 1."""
    return min(numbers, default=0.0) >= 0.0 and max(numbers, default=0.0) <= 1.0


def _check_length(values: Sized | None, what: str, scores: Sized) -> None:
    """Raise ValueError unless there are as many values as scores."""
    if values is not None and len(values) != len(scores):
        raise ValueError(f"{len(scores):,} scores and {len(values):,} {what}: pass one of each per question")


def student_t(confidence: float, freedom: float) -> float:
    """Compute the t for which the given share of Student's t distribution lies between -t and t.

    Args:
        confidence: the share, at least 0 and below 1.
        freedom: the degrees of freedom, 1 or more.

    Raises:
        ValueError: the confidence is outside [0, 1).

    Example:
        >>> round(student_t(0.95, 1), 4), round(student_t(0.95, 279), 4)
        (12.7062, 1.9685)
    """
    if not 0 <= confidence < 1:
        raise ValueError(f"confidence must be at least 0 and below 1, such as 0.95, got {confidence}")
    outside = 1 - confidence
    at_zero = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = 0.0
    while True:  # Newton's method never oversteps the solution, since the share outside is convex
        density = at_zero * math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (_share_outside(t, freedom) - outside) / (2 * density)
        t += step
        if step <= 1e-12 * t:
            return t


def _share_outside(t: float, freedom: float) -> float:
    """Compute the share of Student's t distribution that lies outside -t and t, which is the regularized incomplete
    beta function.
    """
    a, b = freedom / 2, 0.5
    square = t * t
    x, y = freedom / (freedom + square), square / (freedom + square)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - a * math.log1p(square / freedom))
    if x < (a + 1) / (a + b + 2):
        return scale * math.sqrt(y) * _beta_fraction(a, b, x) / a
    return 1 - scale * math.sqrt(y) * _beta_fraction(b, a, y) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Compute the continued fraction of the incomplete beta function by Lentz's method.

    Source: https://dlmf.nist.gov/8.17#v, equation 8.17.22.
    """
    fraction = upper = 1.0
    lower = 0.0
    for step in count(1):
        m, is_odd = divmod(step, 2)
        factor = -(a + m) * (a + b + m) if is_odd else m * (b - m)
        term = factor * x / ((a + step - 1) * (a + step))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        fraction *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return 1 / fraction
