"""Computes how certain a score is, and whether one submission is better than another, given lists of scores.

Questions about one page or one document tend to be answered right or wrong together. They are a cluster, and the
sampling unit is the cluster: an interval that ignores clusters is too narrow. A question without a cluster is its own
cluster. Any order of the scores gives the same bits.
"""

from __future__ import annotations

import math
import operator
import struct
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from numbers import Real
from typing import NamedTuple

from anls_metric.core.checks import describe, name_row
from anls_metric.core.scorer import mean

CONFIDENCE = 0.95
Floats = Sequence[float]
Labels = Sequence[Hashable] | None
"""The cluster of each score, None for a score that is its own cluster; None instead of a list for no clusters."""

# The largest number of sign patterns that a test tries by default.
FLIPS = 10_000


class Interval(NamedTuple):
    """The two ends of a confidence interval of the mean."""

    low: float
    high: float


def interval(scores: Floats, clusters: Labels = None, confidence: float = CONFIDENCE) -> Interval:
    """Compute the confidence interval of a mean score.

    It is an Agresti-Coull interval of the effective number of questions: as many independent questions, each right or
    wrong, as would have the standard error of the mean. That error comes from leaving out each cluster in turn, and one
    more cluster is taken in, whose questions are all answered alike: few clusters with mistakes say little about it.

    Args:
        scores: N scores from 0 to 1.
        clusters: the cluster of each score, None for a score that is its own cluster. Without `clusters`, every score
            is its own cluster.
        confidence: from 0 to 1.

    Returns:
        An interval from 0 to 1 that holds the mean of all such questions in about 95 of 100 samples like this one.

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
    return _find_interval(scores, _sum_clusters(scores, clusters), confidence)


def mean_interval(scores: Floats, clusters: Labels, most: float = 1.0) -> Interval | None:
    """Compute, without checks, the 95% interval of a mean that lies between 0 and the largest possible mean.

    Args:
        scores: N scores.
        clusters: the cluster of each score, as in `interval`.
        most: the largest possible mean. If it is not 1, the interval is the mean plus and minus t standard errors.

    Returns:
        The interval; None for fewer than two clusters.

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
    if most == 1.0:
        return _find_interval(scores, sums, CONFIDENCE)
    estimate = _estimate_mean(scores, sums)
    half = estimate.t(CONFIDENCE) * math.sqrt(estimate.variance)
    return Interval(max(0.0, estimate.mean - half), min(most, estimate.mean + half))


def _find_interval(scores: Floats, sums: Sequence[_Cluster], confidence: float) -> Interval:
    """Compute the interval of a mean score: see `interval`."""
    estimate, count = _estimate_mean(scores, sums), len(scores)
    independent = estimate.mean * (1 - estimate.mean) / count  # the variance of as many right and wrong answers
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
    """A mean, its variance, and the degrees of freedom: one less than the effective number of clusters."""

    mean: float
    variance: float
    freedom: float

    def t(self, confidence: float) -> float:
        """The number of standard errors for a confidence. Clusters of very different sizes count as at least two."""
        return student_t(confidence, max(self.freedom, 1.0))


def _estimate_mean(values: Floats, sums: Sequence[_Cluster]) -> _Estimate:
    """Estimate the variance of a mean by leaving out each cluster in turn. ValueError: there are fewer than two
    clusters.
    """
    number, count = sum(cluster.times for cluster in sums), len(values)
    if number < 2:
        raise ValueError("an interval needs at least two clusters; a question without a cluster counts as its own")
    middle = mean(values)
    squares = math.fsum(times * ((total - middle * size) / (count - size)) ** 2 for total, size, times in sums)
    effective = count * count / sum(times * size * size for _, size, times in sums)
    return _Estimate(middle, (number - 1) / number * squares, effective - 1)


@dataclass(frozen=True)
class Differences:
    """The differences between two submissions for each question: the second minus the first.

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
    def _sums(self) -> list[_Cluster]:
        return _sum_clusters(self.values, self.clusters)

    @property
    def count(self) -> int:
        """The number of questions."""
        return len(self.values)

    @property
    def cluster_count(self) -> int:
        """The number of clusters. A question without a cluster counts as its own cluster."""
        return sum(cluster.times for cluster in self._sums)

    @property
    def mean(self) -> float:
        """The mean difference. Raises ValueError if there are no questions."""
        return mean(self.values)

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Compute the confidence interval of the mean difference. Raises ValueError if there are fewer than two
        clusters.

        Two questions are taken in, of which each submission wins one, unless a difference can be of any size (Agresti
        and Min, "Simple Improved Confidence Intervals for Comparing Matched Proportions", 2005).
        """
        shrunk, error, freedom = self._shrunk
        half = student_t(confidence, freedom) * error
        return Interval(max(-self.most, shrunk - half), min(self.most, shrunk + half))

    @property
    def usual_interval(self) -> Interval | None:
        """The 95% confidence interval of the mean difference, or None if there are fewer than two clusters."""
        return self.interval() if self.cluster_count > 1 else None

    def flip_test(self, patterns: int | None = None) -> float:
        """Compute the p-value, as described in `paired_test`.

        Args:
            patterns: the p-value is at least 1 / (patterns + 1); None takes `FLIPS`, the number of patterns that are
                tried. If none of these is as far from 0, the p-value is at most Chernoff's bound.
        """
        # Sorting makes the result independent of the order. A flip does not change a zero.
        sums = sorted((each.total for each in self._sums if each.total for _ in range(each.times)), key=abs)
        wholes = [round(total / abs(sums[-1]) * _LARGEST) for total in sums]
        sizes = list(map(abs, wholes))
        whole, most = sum(sizes), patterns or FLIPS
        enough = abs(sum(wholes)) - len(wholes)  # minus the rounding errors
        tried = min(most, FLIPS)
        is_random = 1 << len(sizes) > tried
        pluses = _sum_random_subsets(sizes, tried) if is_random else _sum_subsets(sizes)
        hits = sum(abs(2 * plus - whole) >= enough for plus in pluses)
        p_value = (hits + is_random) / (len(pluses) + is_random)  # the observed signs are one more pattern
        if hits == 0 and most > FLIPS:
            return min(p_value, max(1 / (most + 1), _bound_tail(sizes, enough)))
        return p_value

    def minimum_detectable_effect(self, confidence: float = CONFIDENCE, power: float = 0.8) -> float:
        """Compute the smallest difference that these questions can detect, as described in
        `minimum_detectable_effect`.
        """
        if not 0.5 <= power < 1:
            raise ValueError(f"power must be at least 0.5 and below 1, got {power}")
        _, error, freedom = self._shrunk
        return (student_t(confidence, freedom) + student_t(2 * power - 1, freedom)) * error

    @cached_property
    def _shrunk(self) -> tuple[float, float, float]:
        """The mean with two more questions, its standard error, and the degrees of freedom."""
        estimate = _estimate_mean(self.values, self._sums)
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
        second: the scores of the other one for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.

    Returns:
        The differences, second minus first, with `.mean` and `.interval()`, which is from -1 to 1 for scores from 0 to
        1, and else has no limits.

    Raises:
        ValueError: the numbers of scores or clusters differ, or a score is not a finite number.

    Example:
        >>> between = differences([0.0, 0.5, 1.0], [0.5, 0.5, 1.0])
        >>> round(between.mean, 4), [round(end, 4) for end in between.interval()]
        (0.1667, [-0.8621, 1.0])
    """
    _check_numbers(first, any_size=True)
    _check_numbers(second, any_size=True)
    _check_length(second, "scores of the second submission", first)
    _check_length(clusters, "clusters", first)
    most = 1.0 if all(0 <= score <= 1 for score in (*first, *second)) else math.inf
    return Differences([after - before for before, after in zip(first, second)], clusters, most)


def paired_test(first: Floats, second: Floats, clusters: Labels = None) -> float:
    """Compute the two-sided p-value, which is how often chance alone makes two equally good submissions differ this
    much.

    If both are equally good, either could have given the other's answers to a cluster, so each difference could have
    the other sign. The test tries all patterns of signs if there are at most 10,000, and otherwise 10,000 random ones,
    which are the same each time.

    Args:
        first: the N scores of one submission.
        second: the scores of the other one for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.

    Returns:
        The share of patterns whose mean is at least as far from 0 as the observed one, from above 0 to 1; for n random
        patterns (hits + 1) / (n + 1). Swapping the submissions does not change it.

    Raises:
        ValueError: the numbers of scores or clusters differ, or a score is not a finite number.

    Example:
        >>> paired_test([0.0, 0.0, 0.0, 0.0, 0.5], [1.0, 1.0, 0.5, 1.0, 0.5])
        0.125

    Source: approximate randomization, Riezler and Maxwell, "On Some Pitfalls in Automatic Evaluation and Significance
    Testing for MT", 2005, https://aclanthology.org/W05-0908, by clusters.
    """
    return differences(first, second, clusters).flip_test()


def minimum_detectable_effect(
    first: Floats,
    second: Floats,
    clusters: Labels = None,
    confidence: float = CONFIDENCE,
    power: float = 0.8,
) -> float:
    """Compute the smallest difference that these questions can detect between two submissions.

    A true difference of this size is detected in about 80 of 100 samples like this one. With a power of 0.5 it is half
    the width of the interval of the difference, and the interval of every smaller difference contains 0.

    Args:
        first: the N scores of one submission.
        second: the scores of the other one for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.
        confidence: from 0 to 1.
        power: the share of samples in which the difference is to be detected, from 0.5.

    Returns:
        The difference, from 0.

    Raises:
        ValueError: as `differences`; there are fewer than two clusters; the confidence is outside [0, 1), or the power
            outside [0.5, 1).

    Example:
        >>> first, second = [1.0, 0.0, 1.0, 1.0] * 25, [1.0, 1.0, 1.0, 0.0] * 25
        >>> round(minimum_detectable_effect(first, second), 3)
        0.199
        >>> round(minimum_detectable_effect(first, second, power=0.5), 3)
        0.14

    Source: the power analysis of Miller 2024, https://arxiv.org/abs/2411.00640.
    """
    return differences(first, second, clusters).minimum_detectable_effect(confidence, power)


def holm(p_values: Floats) -> list[float]:
    """Adjust the p-values of several tests, because some of many p-values are small just by chance.

    Args:
        p_values: the p-values of the tests.

    Returns:
        The adjusted p-values in the same order. If you call a difference significant where its adjusted p-value is at
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

    The best is partly the luckiest. Holm's adjustment is for a baseline that was chosen before: with ten equally good
    submissions, it calls one worse than the best in more than 8 of 100 families. Any pair could have been the best and
    the worst, so the smallest p-value is multiplied by the number of all pairs, the next one by that of the pairs of
    the submissions that are left.

    Args:
        p_values: the p-values of the best against each of the others.

    Returns:
        The adjusted p-values in the same order. Of equally good submissions, one gets an adjusted p-value up to 0.05 in
        at most 5 of 100 such families.

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
    """Multiply the sorted p-values by these factors. No adjusted p-value is below that of a smaller p-value."""
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for place, factor in zip(sorted(range(len(p_values)), key=p_values.__getitem__), times):
        least = adjusted[place] = max(least, min(1.0, factor * p_values[place]))
    return adjusted


# Differences are scaled to whole numbers up to this, so that the sum of eight fits into four bytes.
_LARGEST = 2**29 - 1


def _sum_subsets(sizes: Iterable[int]) -> Sequence[int]:
    """Sum the sizes with a plus sign, for every pattern of signs."""
    sums = [0]
    for size in sizes:
        sums += [total + size for total in sums]
    return sums


def _sum_random_subsets(sizes: Sequence[int], patterns: int) -> Sequence[int]:
    """Sum the sizes with a plus sign, for random patterns, which are the same each time."""
    import random  # slow to import

    # A random byte says which of eight sizes have a plus sign, and a table of 256 entries holds their sums. One long
    # integer holds the totals of all patterns, eight bytes each, so that one addition updates all of them.
    chance = random.Random(0)
    added = bytearray(8 * patterns)
    pluses = 0
    padded = [*sizes, *[0] * (-len(sizes) % 8)]
    for start in range(0, len(padded), 8):
        table = b"".join(total.to_bytes(4, "little") for total in _sum_subsets(padded[start : start + 8]))
        signs = chance.randbytes(patterns)
        for place in range(4):
            added[place::8] = signs.translate(table[place::4])
        pluses += int.from_bytes(added, "little")
    return struct.unpack(f"<{patterns}Q", pluses.to_bytes(8 * patterns, "little"))


def _bound_tail(sizes: Sequence[int], enough: int) -> float:
    """Bound the probability that sizes with random signs add up to this much, on either side: Chernoff's bound.

    It holds for every exponent, so a few steps towards the best one are enough.
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


class _Cluster(NamedTuple):
    """The sum and the number of the scores of a cluster, and how many such clusters there are."""

    total: float
    size: int
    times: int


def _sum_clusters(scores: Floats, clusters: Labels) -> list[_Cluster]:
    """Sum the scores of each cluster. Equal scores without a cluster are counted."""
    together: defaultdict[Hashable, list[float]] = defaultdict(list)
    for cluster, score in zip(repeat(None) if clusters is None else clusters, scores):
        together[cluster].append(score)
    alone = Counter(together.pop(None, ()))
    return [
        *(_Cluster(score, 1, times) for score, times in alone.items()),
        *(_Cluster(math.fsum(each), len(each), 1) for each in together.values()),
    ]


def _check_numbers(numbers: Sequence[float], what: str = "score", any_size: bool = False) -> None:
    """Refuse values that are not numbers from 0 to 1 or, if any size is allowed, not finite. ValueError: it names the
    first one.
    """
    if not isinstance(numbers, Iterable) or isinstance(numbers, str):
        raise ValueError(f"{what}s must be a list of numbers, got {describe(numbers)}")
    for row, number in enumerate(numbers):
        if not (isinstance(number, Real) and math.isfinite(number) and (any_size or 0 <= number <= 1)):
            limits = "a finite number" if any_size else "a number from 0 to 1"
            raise ValueError(f"the {what} of {name_row(row)} is {describe(number)}: pass {limits}")


def _check_length(values: Sized | None, what: str, scores: Sized) -> None:
    """Refuse values that are not as many as the scores."""
    if values is not None and len(values) != len(scores):
        raise ValueError(f"{len(scores):,} scores and {len(values):,} {what}: pass one of each per question")


def student_t(confidence: float, freedom: float) -> float:
    """Compute the t for which the given share of Student's t distribution lies between -t and t.

    Args:
        confidence: the share, from 0 and under 1.
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
    """Compute the share of Student's t distribution outside -t and t: the regularized incomplete beta function."""
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
