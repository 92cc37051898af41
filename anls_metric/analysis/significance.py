"""Computes how certain a score is, and whether one submission is better than another, from scores as numbers.

Questions about one page or one document tend to be answered right or wrong together. They are a cluster, and the
sampling unit is the cluster: an interval that ignores clusters is too narrow. A question without a cluster is its own
cluster. The results are the same to the bit for any order and any batches of the scores.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple

from anls_metric.core.rows import check_numbers, check_shares

CONFIDENCE = 0.95

# The largest number of sign patterns that a test tries by default.
FLIPS = 10_000


class Interval(NamedTuple):
    """The ends of a confidence interval of the mean."""

    low: float
    high: float


class Sample:
    """Collects scores by cluster.

    It takes 8 bytes for each score and about 300 for each cluster. Scores without a cluster are only counted, in
    constant memory.

    Args:
        least: the smallest possible mean, at which intervals end.
        most: the largest possible mean.

    Example:
        >>> sample = Sample()
        >>> sample.add([1.0, 1.0, 0.5], ["page 1", "page 1", "page 2"])
        >>> sample.add([0.0, 0.5], ["page 2", "page 3"])
        >>> sample.mean, sample.count, sample.cluster_count
        (0.6, 5, 3)
    """

    def __init__(self, least: float = 0.0, most: float = 1.0) -> None:
        self._limits = least, most
        self._alone: Counter[float] = Counter()
        self._together: defaultdict[Hashable, array[float]] = defaultdict(_no_scores)

    def add(self, scores: Sequence[float] | Mapping[float, int], clusters: Sequence[Hashable] | None = None) -> None:
        """Add scores.

        Args:
            scores: numbers; without `clusters` also a mapping with the number of each score.
            clusters: the cluster of each score, None for a score that is its own cluster. Without `clusters`, every
                score is its own cluster.

        Raises:
            ValueError: the numbers of scores and clusters differ.
        """
        if clusters is None:
            self._alone.update(scores)
            return
        if len(clusters) != len(scores):
            raise ValueError(f"{len(scores):,} scores and {len(clusters):,} clusters: give one cluster for each score")
        for together, score in zip(map(self._together.__getitem__, clusters), scores):
            together.append(score)
        self._alone.update(self._together.pop(None, ()))

    @property
    def count(self) -> int:
        """The number of scores."""
        return sum(self._alone.values()) + sum(map(len, self._together.values()))

    @property
    def cluster_count(self) -> int:
        """The number of clusters; a score without a cluster is its own."""
        return sum(self._alone.values()) + len(self._together)

    @property
    def mean(self) -> float:
        """The mean of the scores, with the same bits as `anls.mean`. ValueError: there are none."""
        if not self.count:
            raise ValueError("there are no scores: give the score of each question")
        return math.fsum(chain(self._alone.elements(), *self._together.values())) / self.count

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Compute the confidence interval of the mean: see the function `interval`."""
        mean = self.mean
        half = self._half_width(mean, confidence)
        least, most = self._limits
        return Interval(max(least, mean - half), min(most, mean + half))

    def _half_width(self, mean: float, confidence: float, power: float = 0.5) -> float:
        count, clusters = self.count, self.cluster_count
        if clusters < 2:
            raise ValueError(f"an interval needs two {'clusters' if count > 1 else 'questions'} or more, not 1")
        alone = (times * (score - mean) ** 2 for score, times in self._alone.items())
        together = ((math.fsum(scores) - mean * len(scores)) ** 2 for scores in self._together.values())
        squares = math.fsum(chain(alone, together))
        error = math.sqrt(clusters / (clusters - 1) * squares) / count
        return (student_t(confidence, clusters - 1) + student_t(2 * power - 1, clusters - 1)) * error

    def least_difference(self, confidence: float = CONFIDENCE, power: float = 0.5) -> float:
        """Compute the least difference of a sample of differences: see the function `least_difference`."""
        if not 0.5 <= power < 1:
            raise ValueError(f"the power is {power}: it is at least 0.5 and under 1")
        return self._half_width(self.mean, confidence, power)

    def flip_test(self, patterns: int | None = None) -> float:
        """Compute the p-value of a sample of differences: see `paired_test`.

        Args:
            patterns: the largest number of sign patterns to try; None tries `FLIPS`.
        """
        sums = chain(self._alone.elements(), map(math.fsum, self._together.values()))
        return _test_flips(sums, patterns or FLIPS)


def _no_scores() -> array[float]:
    return array("d")


def interval(
    scores: Sequence[float], clusters: Sequence[Hashable] | None = None, confidence: float = CONFIDENCE
) -> Interval:
    """Compute the confidence interval of a mean: mean +- t times the cluster-robust standard error, within [0, 1].

    Args:
        scores: N scores from 0 to 1.
        clusters: the cluster of each score, None for a score that is its own cluster. Without `clusters`, every score
            is its own cluster.
        confidence: from 0 to 1.

    Returns:
        An interval that holds the mean of all such questions in about 95 of 100 samples like this one.

    Raises:
        ValueError: there are fewer than two clusters, a score is not a number from 0 to 1, the numbers of scores and
            clusters differ, or the confidence is outside [0, 1).

    Example:
        >>> low, high = interval([1.0, 1.0, 0.0, 1.0, 0.5, 1.0, 1.0, 0.0])
        >>> round(low, 3), round(high, 3)
        (0.305, 1.0)
        >>> low, high = interval([1.0, 1.0, 0.0, 0.0] * 10)
        >>> round(low, 3), round(high, 3)
        (0.338, 0.662)
        >>> low, high = interval([1.0, 1.0, 0.0, 0.0] * 10, [page // 2 for page in range(40)])
        >>> round(low, 3), round(high, 3)
        (0.26, 0.74)

    Source: Miller, "Adding Error Bars to Evals", 2024, https://arxiv.org/abs/2411.00640, with the factor k / (k - 1)
    and the t distribution of k - 1 degrees of freedom for k clusters.
    """
    check_shares(scores)
    sample = Sample()
    sample.add(scores, clusters)
    return sample.interval(confidence)


def differences(first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Sample:
    """Compute the differences between two submissions, question by question.

    Args:
        first: the N scores of one submission.
        second: the scores of another one for the same questions in the same order.
        clusters: the cluster of each question, as in `interval`.

    Returns:
        The differences, second minus first: a sample with `.mean` and `.interval()`, which is not cut off at 0 and 1.

    Raises:
        ValueError: the numbers of scores or clusters differ, or a score is not a finite number.

    Example:
        >>> sample = differences([0.0, 0.5, 1.0], [0.5, 0.5, 1.0])
        >>> round(sample.mean, 4), [round(end, 4) for end in sample.interval()]
        (0.1667, [-0.5504, 0.8838])
    """
    if len(first) != len(second):
        problem = f"the first submission has {len(first):,} scores, and the second has {len(second):,}"
        raise ValueError(f"{problem}: give the scores of the same questions")
    check_numbers(first)
    check_numbers(second)
    sample = Sample(-math.inf, math.inf)
    sample.add([after - before for before, after in zip(first, second)], clusters)
    return sample


def paired_test(first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """Compute the two-sided p-value: how often chance alone makes two equally good submissions differ as much.

    If both are equally good, either could have given the other's answers to a cluster, so each difference could have
    the other sign. The test tries all patterns of signs if there are at most 10,000, and otherwise 10,000 random ones,
    which are the same each time.

    Args:
        first: the N scores of one submission.
        second: the scores of another one for the same questions in the same order.
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


def least_difference(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
    power: float = 0.5,
) -> float:
    """Compute the smallest difference that these questions can detect: half the width of the interval of a difference.

    The interval of a smaller difference contains 0. A true difference of this size is detected in about half of the
    samples like this one; `power` asks for a difference that is detected in more of them.

    Args:
        first: the N scores of one submission.
        second: the scores of another one for the same questions in the same order.
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
        >>> round(least_difference(first, second), 3), round(least_difference(first, second, power=0.8), 3)
        (0.141, 0.201)

    Source: the power analysis of Miller 2024, https://arxiv.org/abs/2411.00640.
    """
    return differences(first, second, clusters).least_difference(confidence, power)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of several tests, because among many tests some p-values are small by chance.

    Args:
        p_values: the p-values of the tests.

    Returns:
        The adjusted p-values in the same order. If you call a difference significant where its adjusted p-value is at
        most 0.05, the chance of one or more false alarms among all tests is at most 5 %.

    Raises:
        ValueError: a p-value is not a number from 0 to 1.

    Example:
        >>> holm([0.25, 0.01, 0.02])
        [0.25, 0.03, 0.04]

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    check_shares(p_values, "p-value")
    return _adjust(p_values, range(len(p_values), 0, -1))


def adjust_for_best(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of comparisons with the best of several submissions, which the same questions chose.

    The best is partly the luckiest. Holm's adjustment is for a baseline that was chosen before: with ten equally
    good submissions it calls one worse than the best in 14 of 100 families. Any pair could have been the best and the
    worst, so the smallest p-value counts for all pairs, the next one for all pairs of the submissions that are left.

    Args:
        p_values: the p-values of the best against each of the others.

    Returns:
        The adjusted p-values in the same order. Of equally good submissions, one gets an adjusted p-value up to 0.05 in
        at most 5 of 100 such families; in simulations it was 4.

    Raises:
        Nothing.

    Example:
        >>> adjust_for_best([0.25, 0.01, 0.0005])
        [0.25, 0.03, 0.003]
        >>> adjust_for_best([0.04])
        [0.04]
    """
    return _adjust(p_values, [math.comb(left, 2) for left in range(len(p_values) + 1, 1, -1)])


def _adjust(p_values: Sequence[float], times: Iterable[int]) -> list[float]:
    """Multiply the sorted p-values by these factors. No adjusted p-value is below that of a smaller p-value."""
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for place, factor in zip(sorted(range(len(p_values)), key=p_values.__getitem__), times):
        least = adjusted[place] = max(least, min(1.0, factor * p_values[place]))
    return adjusted


# Differences are scaled to whole numbers up to this, so that the sum of eight fits into four bytes.
_LARGEST = 2**29 - 1


def _test_flips(sums: Iterable[float], patterns: int) -> float:
    """Compute the share of sign patterns whose total is at least as far from 0 as the observed one."""
    # Sorting makes the result independent of the order. A flip does not change a zero.
    sums = sorted(filter(None, sums), key=abs)
    wholes = [round(total / abs(sums[-1]) * _LARGEST) for total in sums]
    sizes = [abs(whole) for whole in wholes]
    all_signs = 1 << len(sizes) <= patterns
    pluses = _sum_subsets(sizes) if all_signs else _sum_random_subsets(sizes, patterns)
    enough = abs(sum(wholes)) - len(wholes)  # minus the rounding errors
    whole = sum(sizes)
    hits = sum(abs(2 * plus - whole) >= enough for plus in pluses)
    return hits / len(pluses) if all_signs else (hits + 1) / (patterns + 1)


def _sum_subsets(sizes: Iterable[int]) -> list[int]:
    """Sum the sizes with a plus sign, for every pattern of signs."""
    sums = [0]
    for size in sizes:
        sums += [total + size for total in sums]
    return sums


def _sum_random_subsets(sizes: Sequence[int], patterns: int) -> Sequence[int]:
    """Sum the sizes with a plus sign, for random patterns, which are the same each time."""
    import random
    import struct

    # A random byte says which of eight sizes have a plus sign, and a table of 256 entries holds their sums. One long
    # integer holds the totals of all patterns, eight bytes each, so that one addition updates all of them.
    chance = random.Random(0)
    added = bytearray(8 * patterns)
    pluses = 0
    for start in range(0, len(sizes), 8):
        eight = (*sizes[start : start + 8], *repeat(0, start + 8 - len(sizes)))
        table = b"".join([total.to_bytes(4, "little") for total in _sum_subsets(eight)])
        signs = chance.randbytes(patterns)
        for place in range(4):
            added[place::8] = signs.translate(table[place::4])
        pluses += int.from_bytes(added, "little")
    return struct.unpack(f"<{patterns}Q", pluses.to_bytes(8 * patterns, "little"))


def student_t(confidence: float, freedom: int) -> float:
    """Compute the t for which a share of Student's t distribution lies between -t and t.

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
        raise ValueError(f"the confidence is {confidence}: it is from 0 and under 1, 0.95 for 95 %")
    outside = 1 - confidence
    at_zero = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = 0.0
    while True:  # Newton's method never oversteps the solution, since the share outside is convex
        density = at_zero * math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (_share_outside(t, freedom) - outside) / (2 * density)
        t += step
        if step <= 1e-12 * t:
            return t


def _share_outside(t: float, freedom: int) -> float:
    """Compute the share of Student's t distribution outside -t and t: the regularized incomplete beta function."""
    a, b = freedom / 2, 0.5
    x, y = freedom / (freedom + t * t), t * t / (freedom + t * t)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - a * math.log1p(t * t / freedom))
    scale *= math.sqrt(y)
    if x < (a + 1) / (a + b + 2):
        return scale * _beta_fraction(a, b, x) / a
    return 1 - scale * _beta_fraction(b, a, y) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Compute the continued fraction of the incomplete beta function by Lentz's method.

    Source: https://dlmf.nist.gov/8.17#v, equation 8.17.22.
    """
    fraction = upper = 1.0
    lower = 0.0
    for step in range(1, 1_000_000):
        m, odd = divmod(step, 2)
        if odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        fraction *= upper * lower
        if abs(upper * lower - 1) < 1e-15:
            break
    return 1 / fraction
