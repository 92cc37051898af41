"""How sure a score is, and whether one submission is better than another: numbers in, numbers out.

Questions about one page or one document tend to be answered right or wrong together. They are a cluster, and what comes
by chance is the cluster: an interval or a test that takes each question for itself is surer than it may be. A question
without a cluster is one of its own. The same scores give the same bits, in whatever order and pieces they come.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

CONFIDENCE = 0.95

# How many patterns of signs a test looks at.
FLIPS = 10_000


class Interval(NamedTuple):
    """Between which two values the mean of all such questions lies, as far as these can tell."""

    low: float
    high: float


class Sample:
    """Scores by cluster, told piece by piece.

    Memory grows by 8 bytes a score and some 300 a cluster; scores that stand alone are counted, in memory that does not
    grow.

    Args:
        least: the mean can be no less: an interval is cut there.
        most: nor more.

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

    def add(self, scores: Sequence[float], clusters: Sequence[Hashable] | None = None) -> None:
        """Count these scores as well.

        Args:
            scores: numbers.
            clusters: the cluster of each, None for a score that stands alone; no clusters at all: all of them do.

        Raises:
            ValueError: there are more scores than clusters, or fewer.
        """
        if clusters is None:
            self._alone.update(scores)
            return
        if len(clusters) != len(scores):
            raise ValueError(f"{len(scores)} scores and {len(clusters)} clusters: each score has one")
        for together, score in zip(map(self._together.__getitem__, clusters), scores):
            together.append(score)
        self._alone.update(self._together.pop(None, ()))

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(self._alone.values()) + sum(map(len, self._together.values()))

    @property
    def cluster_count(self) -> int:
        """How many clusters there are; a score that stands alone is one."""
        return sum(self._alone.values()) + len(self._together)

    @property
    def mean(self) -> float:
        """The mean of the scores: the same bits as `anls.mean` of them. ValueError: there are none."""
        if not self.count:
            raise ValueError("there are no scores")
        return math.fsum(chain(self._alone.elements(), *self._together.values())) / self.count

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """The confidence interval of the mean: see `interval`. ValueError: fewer than two clusters."""
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
        """Of a sample of differences: see the function `least_difference`."""
        if not 0.5 <= power < 1:
            raise ValueError(f"the power is {power}: it is at least 0.5 and under 1")
        return self._half_width(self.mean, confidence, power)

    def flip_test(self) -> float:
        """Of a sample of differences: the p-value of `paired_test`."""
        return _flip_test(chain(self._alone.elements(), map(math.fsum, self._together.values())))


def _no_scores() -> array[float]:
    return array("d")


def interval(
    scores: Sequence[float], clusters: Sequence[Hashable] | None = None, confidence: float = CONFIDENCE
) -> Interval:
    """The confidence interval of the mean of scores: mean +- t times the cluster-robust standard error, within [0, 1].

    Args:
        scores: N scores from 0 to 1.
        clusters: the cluster of each, as `Sample.add` takes them.
        confidence: from 0 to 1.

    Returns:
        An interval that holds the mean of all such questions in about 95 of 100 samples like this one.

    Raises:
        ValueError: fewer than two clusters, or questions where there are no clusters.

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
    sample = Sample()
    sample.add(scores, clusters)
    return sample.interval(confidence)


def differences(first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None) -> Sample:
    """By how much a second submission is better, question by question, as a sample whose interval is not cut.

    Args:
        first: the N scores of one submission.
        second: those of another, of the same questions in the same order.
        clusters: the cluster of each question, as `Sample.add` takes them.

    Returns:
        The differences, second minus first: a sample with `.mean` and `.interval()`.

    Raises:
        ValueError: different numbers of scores.

    Example:
        >>> sample = differences([0.0, 0.5, 1.0], [0.5, 0.5, 1.0])
        >>> round(sample.mean, 4), [round(end, 4) for end in sample.interval()]
        (0.1667, [-0.5504, 0.8838])
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores and {len(second)}: compare submissions to the same questions")
    sample = Sample(-math.inf, math.inf)
    sample.add([after - before for before, after in zip(first, second)], clusters)
    return sample


def paired_test(first: Sequence[float], second: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float:
    """How often chance alone makes two equally good submissions differ as much: the two-sided p-value.

    If both are equally good, either could have given the other's answers to a cluster: the sign of its difference may
    as well be the other one. All patterns of signs are tried where there are at most 10,000, else 10,000 random ones,
    the same ones each time.

    Args:
        first: the N scores of one submission.
        second: those of another, of the same questions in the same order.
        clusters: the cluster of each question, as `Sample.add` takes them.

    Returns:
        The share of patterns whose mean is as far from 0 as what was found, from above 0 to 1; of n random ones
        (hits + 1) / (n + 1). It is the same for both directions.

    Raises:
        ValueError: different numbers of scores.

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
    """The smallest difference that these questions can tell: under it, the interval of a difference holds 0.

    It is half the width of that interval. So a true difference of just this size is told from 0 in about half of the
    samples like this one, and a smaller one in fewer; `power` asks for one that is told in more of them.

    Args:
        first: the N scores of one submission.
        second: those of another, of the same questions in the same order.
        clusters: the cluster of each question, as `Sample.add` takes them.
        confidence: from 0 to 1.
        power: in which share of samples the difference is to be told, from 0.5.

    Returns:
        The difference, from 0.

    Raises:
        ValueError: as `interval`; different numbers of scores; a power outside [0.5, 1).

    Example:
        >>> first, second = [1.0, 0.0, 1.0, 1.0] * 25, [1.0, 1.0, 1.0, 0.0] * 25
        >>> round(least_difference(first, second), 3), round(least_difference(first, second, power=0.8), 3)
        (0.141, 0.201)

    Source: the power analysis of Miller 2024, https://arxiv.org/abs/2411.00640.
    """
    return differences(first, second, clusters).least_difference(confidence, power)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of several tests, adjusted: of many tests, chance alone makes some small.

    Args:
        p_values: those of the tests.

    Returns:
        The adjusted ones, in the same order: taking those up to 0.05 for true errs in at most 5 of 100 such families.

    Raises:
        Nothing.

    Example:
        >>> holm([0.25, 0.01, 0.02])
        [0.25, 0.03, 0.04]

    Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure", 1979.
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = adjusted[place] = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
    return adjusted


# The sizes of differences are flipped as whole numbers, the largest as this one: the sum of eight fits into four bytes.
_LARGEST = 2**29 - 1


def _flip_test(sums: Iterable[float]) -> float:
    """The share of patterns of signs with which the sums of the clusters add up to as much, one way or the other."""
    # In one order, so that it is of no matter how they come, and without those that a flip does not change.
    sums = sorted(filter(None, sums), key=abs)
    wholes = [round(total / abs(sums[-1]) * _LARGEST) for total in sums]
    sizes = [abs(whole) for whole in wholes]
    all_signs = 1 << len(sizes) <= FLIPS
    pluses = _subset_sums(sizes) if all_signs else _random_subset_sums(sizes)
    enough = abs(sum(wholes)) - len(wholes)  # a hair for rounding
    whole = sum(sizes)
    hits = sum(abs(2 * plus - whole) >= enough for plus in pluses)
    return hits / len(pluses) if all_signs else (hits + 1) / (FLIPS + 1)


def _subset_sums(sizes: Iterable[int]) -> list[int]:
    """What those of the sizes that have a plus add up to, for every pattern of signs."""
    sums = [0]
    for size in sizes:
        sums += [total + size for total in sums]
    return sums


def _random_subset_sums(sizes: Sequence[int]) -> Sequence[int]:
    """The same for random patterns, the same ones each time."""
    import random
    import struct

    # A random byte says which of eight sizes have a plus, and a table of 256 what these add up to. All patterns look it
    # up at once, a byte of the sum at a time, and add it to numbers of their own: eight bytes each of one long integer.
    chance = random.Random(0)
    added = bytearray(8 * FLIPS)
    pluses = 0
    for start in range(0, len(sizes), 8):
        eight = (*sizes[start : start + 8], *repeat(0, start + 8 - len(sizes)))
        table = b"".join([total.to_bytes(4, "little") for total in _subset_sums(eight)])
        signs = chance.randbytes(FLIPS)
        for place in range(4):
            added[place::8] = signs.translate(table[place::4])
        pluses += int.from_bytes(added, "little")
    return struct.unpack(f"<{FLIPS}Q", pluses.to_bytes(8 * FLIPS, "little"))


def student_t(confidence: float, freedom: int) -> float:
    """The t between which and -t a share of Student's t distribution lies.

    Args:
        confidence: the share, from 0 and under 1.
        freedom: the degrees of freedom, 1 or more.

    Raises:
        ValueError: another confidence.

    Example:
        >>> round(student_t(0.95, 1), 4), round(student_t(0.95, 279), 4)
        (12.7062, 1.9685)
    """
    if not 0 <= confidence < 1:
        raise ValueError(f"the confidence is {confidence}: it is from 0 and under 1, 0.95 for 95 %")
    outside = 1 - confidence
    at_zero = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    t = 0.0
    while True:  # Newton's steps never pass the solution: what lies outside falls ever more slowly
        density = at_zero * math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (_outside(t, freedom) - outside) / (2 * density)
        t += step
        if step <= 1e-12 * t:
            return t


def _outside(t: float, freedom: int) -> float:
    """The share of Student's t distribution beyond -t and t: the regularized incomplete beta function."""
    a, b = freedom / 2, 0.5
    x, y = freedom / (freedom + t * t), t * t / (freedom + t * t)
    scale = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - a * math.log1p(t * t / freedom))
    scale *= math.sqrt(y)
    if x < (a + 1) / (a + b + 2):
        return scale * _beta_fraction(a, b, x) / a
    return 1 - scale * _beta_fraction(b, a, y) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

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
