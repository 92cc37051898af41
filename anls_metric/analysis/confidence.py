"""Measures how much the confidence of a model says about its answers, given confidences and scores as numbers.

Answers with the same confidence form one step: they can only be accepted together, so their order does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from anls_metric.core.rows import check_shares

CORRECT_AT = 0.5
"""The lowest score of a correct answer."""

LEVELS = (0.9, 0.95, 0.99)
"""The accuracies of `ConfidenceMeasures.coverage`."""

MAX_BINS = 100


@dataclass(frozen=True)
class Step:
    """A point of the risk-coverage curve: all answers down to a confidence.

    Attributes:
        confidence: the lowest confidence among them.
        added: the number of answers with this confidence.
        added_right: the number of right answers with this confidence.
        count: the number of all answers down to it.
        right: the number of right answers down to it.
        total: the sum of their scores.
    """

    confidence: float
    added: int
    added_right: int
    count: int
    right: int
    total: float

    @property
    def risk(self) -> float:
        """1 - the mean score."""
        return 1.0 - self.total / self.count


class ConfidenceMeasures(NamedTuple):
    """The measures of confidences. The fields are the keys of the JSON document.

    Attributes:
        auroc: how often a right answer has a higher confidence than a wrong one, where a tie counts half; None if all
            are right, or all wrong.
        aurc: the area under the risk-coverage curve: the mean risk over all coverages. The risk is 1 - the mean score.
        ece: the expected calibration error: how far confidence and accuracy are apart, in bins of equally many answers.
        coverage: the largest share of the answers, the most confident first, whose accuracy is at least "0.9", "0.95"
            or "0.99": the share that can be accepted without review.
    """

    auroc: float | None
    aurc: float
    ece: float
    coverage: dict[str, float]


def measure_confidence(confidences: Sequence[float], scores: Sequence[float]) -> ConfidenceMeasures:
    """Measure how much confidences tell about scores.

    Args:
        confidences: the confidence of each answer, from 0 to 1.
        scores: the score of each answer, from 0 to 1.

    Raises:
        ValueError: there are no answers, the numbers of confidences and scores differ, or a confidence is outside
            [0, 1].

    Example:
        >>> measures = measure_confidence([0.9, 0.8, 0.8, 0.3], [1.0, 1.0, 0.0, 0.0])
        >>> measures.auroc, round(measures.aurc, 4), round(measures.ece, 4), measures.coverage["0.9"]
        (0.875, 0.2917, 0.25, 0.25)

    Sources: AURC, Geifman and El-Yaniv, "Selective Classification for Deep Neural Networks", 2017,
    https://arxiv.org/abs/1705.08500; ECE, Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian
    Binning", 2015, with bins of equal mass as in DUDE, https://arxiv.org/abs/2305.08455.
    """
    steps = list_steps(confidences, scores)
    return ConfidenceMeasures(
        _compute_auroc(steps),
        _compute_aurc(steps),
        _compute_ece(steps),
        {str(level): _compute_coverage(steps, level) for level in LEVELS},
    )


def list_steps(confidences: Sequence[float], scores: Sequence[float]) -> list[Step]:
    """List the steps from the most confident answers to all answers: the points of the risk-coverage curve.

    Raises:
        ValueError: as `measure_confidence`.

    Example:
        >>> [(step.count, step.risk) for step in list_steps([0.9, 0.5, 0.5], [1.0, 1.0, 0.0])]
        [(1, 0.0), (3, 0.33333333333333337)]
    """
    if len(confidences) != len(scores) or not scores:
        raise ValueError(
            f"{len(confidences):,} confidences and {len(scores):,} scores: each of one answer or more has both"
        )
    check_shares(confidences, "confidence")
    steps: list[Step] = []
    count, right, total = 0, 0, 0.0
    for confidence, pairs in groupby(sorted(zip(confidences, scores), reverse=True), key=itemgetter(0)):
        group = [score for _, score in pairs]
        added_right = sum(score >= CORRECT_AT for score in group)
        count += len(group)
        right += added_right
        total += math.fsum(group)
        steps.append(Step(confidence, len(group), added_right, count, right, total))
    return steps


def _compute_auroc(steps: Sequence[Step]) -> float | None:
    """Compute how often a right answer has a higher confidence than a wrong answer; None without such pairs."""
    last = steps[-1]
    pairs = last.right * (last.count - last.right)
    won = sum((step.added - step.added_right) * (step.right - step.added_right / 2) for step in steps)
    return won / pairs if pairs else None


def _compute_aurc(steps: Sequence[Step]) -> float:
    """Compute the mean risk over all coverages. A step counts once for each of its answers."""
    return math.fsum(step.added * step.risk for step in steps) / steps[-1].count


def _compute_ece(steps: Sequence[Step]) -> float:
    """Compute the expected calibration error in min(n - 1, 100) bins of equally many answers.

    If answers with the same confidence are split between two bins, both bins get their mean accuracy.
    """
    confidences: list[float] = []
    rights: list[float] = []
    for step in steps:
        confidences += [step.confidence] * step.added
        rights += [step.added_right / step.added] * step.added
    total = len(rights)
    bins = max(1, min(total - 1, MAX_BINS))
    borders = [place * total // bins for place in range(bins + 1)]
    gaps = (abs(math.fsum(rights[start:end]) - math.fsum(confidences[start:end])) for start, end in pairwise(borders))
    return math.fsum(gaps) / total


def _compute_coverage(steps: Sequence[Step], accuracy: float) -> float:
    """Compute the largest share of answers, the most confident first, with at least this accuracy; 0 for none."""
    counts = (step.count for step in steps if step.right / step.count >= accuracy)
    return max(counts, default=0) / steps[-1].count
