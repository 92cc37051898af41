"""Measures how much a model's confidence says about its answers, given confidences and scores as numbers.

Answers with the same confidence form one step: they can only be accepted together, so their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

CORRECT_AT = 0.5
"""The lowest score of a correct answer; a nested value is correct if all of its leaves are right."""

LEVELS = (0.9, 0.95, 0.99)
"""The accuracies of `ConfidenceMeasures.coverage`."""

BINS = 15
"""The most bins of the calibration error. In more bins, even perfect confidences have a large one: with 100, it is
0.10 for 1,000 answers.
"""


class ConfidenceMeasures(NamedTuple):
    """Measures computed from the confidences. The fields are the keys of the JSON document.

    Attributes:
        auroc: how often a right answer has a higher confidence than a wrong one, where a tie counts half; None if all
            are right, or all wrong.
        aurc: the area under the risk-coverage curve: the mean risk over all coverages. The risk is 1 - the mean score.
        ece: the expected calibration error: how far confidence and accuracy are apart, in bins of equally many answers.
        bins: the number of bins.
        coverage: the largest share of the answers, the most confident first, whose accuracy is at least "0.9", "0.95"
            or "0.99": the share that can be accepted without review.
    """

    auroc: float | None
    aurc: float
    ece: float
    bins: int
    coverage: dict[str, float]


def measure_confidence(
    confidences: Sequence[float], scores: Sequence[float], *, correct_at: float = CORRECT_AT, most_bins: int = BINS
) -> ConfidenceMeasures:
    """Measure how much confidences say about scores.

    Args:
        confidences: the confidence of each answer, from 0 to 1; one or more.
        scores: the score of each answer, from 0 to 1.
        correct_at: the lowest score of a correct answer.
        most_bins: the most bins of the calibration error; of n answers, there are at most n - 1.

    Example:
        >>> measures = measure_confidence([0.9, 0.8, 0.8, 0.3], [1.0, 1.0, 0.0, 0.0])
        >>> measures.auroc, round(measures.aurc, 4), round(measures.ece, 4), measures.coverage["0.9"]
        (0.875, 0.2917, 0.25, 0.25)

    Sources: AURC, Geifman and El-Yaniv, "Selective Classification for Deep Neural Networks", 2017,
    https://arxiv.org/abs/1705.08500; ECE, Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", 2015, with bins of equal mass as in DUDE, https://arxiv.org/abs/2305.08455.
    """
    count, right, total, won = 0, 0, 0.0, 0.0
    risks: list[float] = []
    sure: list[float] = []
    accuracies: list[float] = []
    coverage = {str(level): 0.0 for level in LEVELS}
    for confidence, pairs in groupby(sorted(zip(confidences, scores), reverse=True), key=itemgetter(0)):
        own = [score for _, score in pairs]
        hits, size = sum(score >= correct_at for score in own), len(own)
        count += size
        right += hits
        total += math.fsum(own)
        won += (size - hits) * (right - hits / 2)  # the wrong answers have a lower confidence than these right ones
        risks.append(size * (1.0 - total / count))
        sure += [confidence] * size
        accuracies += [hits / size] * size
        coverage |= {str(level): count / len(scores) for level in LEVELS if right / count >= level}
    possible, bins = right * (count - right), max(1, min(count - 1, most_bins))
    auroc, ece = won / possible if possible else None, _compute_ece(sure, accuracies, bins)
    return ConfidenceMeasures(auroc, math.fsum(risks) / count, ece, bins, coverage)


def _compute_ece(confidences: Sequence[float], accuracies: Sequence[float], bins: int) -> float:
    """Compute the expected calibration error in bins with equally many answers.

    Args:
        confidences: the confidence of each answer, the highest first.
        accuracies: for each answer the mean accuracy of the answers with its confidence, which two bins may share.
        bins: the number of bins.
    """
    total = len(accuracies)
    borders = [place * total // bins for place in range(bins + 1)]
    gaps = (
        abs(math.fsum(accuracies[start:end]) - math.fsum(confidences[start:end])) for start, end in pairwise(borders)
    )
    return math.fsum(gaps) / total
