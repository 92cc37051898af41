"""How sure a score is, and whether one submission is better than another: bootstrap over the questions.

Resamples are drawn with a fixed seed, so that the same scores give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

RESAMPLES = 2000

_BATCH_SIZE = 4_000_000  # numbers held at once while resampling


class Interval(NamedTuple):
    """Between which two values the mean of another sample of such questions would lie."""

    low: float
    high: float


class Comparison(NamedTuple):
    """Two submissions on the same questions: by how much the second one is better, and how sure that is.

    ``p_value`` is the share of bootstrap samples in which a difference as large would come by chance, were
    the two equally good.
    """

    difference: float
    interval: Interval
    p_value: float


def interval(scores: Sequence[float], confidence: float = 0.95) -> Interval:
    """The confidence interval of the mean of scores, by the percentiles of a bootstrap.

    Args:
        scores: the scores of two questions or more.
        confidence: from 0 to 1.

    Raises:
        ValueError: fewer than two scores.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(low=1.0, high=1.0)

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 13.3.
    """
    return _interval(_bootstrap(np.asarray(scores, float), confidence))


def compare(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Comparison:
    """Whether the second of two submissions is better, by a paired bootstrap.

    Args:
        first: the scores of one submission.
        second: those of another, of the same questions in the same order.
        confidence: of the interval, from 0 to 1.

    Raises:
        ValueError: fewer than two scores, different numbers of scores.

    Example:
        >>> compare([0.0, 0.5, 1.0], [0.0, 0.5, 1.0])
        Comparison(difference=0.0, interval=Interval(low=0.0, high=0.0), p_value=1.0)

    Source: Koehn, "Statistical Significance Tests for Machine Translation Evaluation", EMNLP 2004; the p-value as
    sacreBLEU's, https://github.com/mjpost/sacrebleu.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} scores and {len(second)}: compare submissions to the same questions")
    differences = np.asarray(second, float) - np.asarray(first, float)
    found = _bootstrap(differences, confidence)
    difference = float(differences.mean())
    # Around 0 in place of the difference that was found, the resamples are what chance gives to equals. A hair is
    # left for rounding.
    by_chance = np.abs(found.bootstrap_distribution - difference)
    as_large = int(np.sum(by_chance >= abs(difference) - 1e-12))
    return Comparison(difference, _interval(found), (as_large + 1) / (RESAMPLES + 1))


def _bootstrap(values: Any, confidence: float) -> Any:
    if len(values) < 2:
        raise ValueError(f"an interval needs two questions or more, not {len(values)}")
    return stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _BATCH_SIZE // len(values)),
        confidence_level=confidence,
        method="percentile",
        rng=np.random.default_rng(0),
    )


def _interval(found: Any) -> Interval:
    low, high = found.confidence_interval
    return Interval(float(low), float(high))
