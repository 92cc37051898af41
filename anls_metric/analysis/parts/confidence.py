"""Measures how well a model's confidences predict the scores of its answers.

Answers with the same confidence form one group, because they can only be accepted together and their order does not
matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypedDict

from anls_metric.analysis.part import Line, Part, Write
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import Scorer
from anls_metric.messages import make_error

LEVELS = (0.9, 0.95, 0.99)
"""The accuracies at which `Confidence.coverage` is computed."""

BINS = 15
"""The maximum number of bins for the calibration error. With more bins, even perfect confidences have a large error,
such as 0.10 for 1,000 answers in 100 bins.
"""


class Confidence(TypedDict):
    """How well the confidences predict the scores."""

    auroc: float | None
    """the AUROC, in which ties count half; null if all answers are right or all are wrong"""
    aurc: float
    """the AURC"""
    ece: float
    bins: int
    """the ECE, and the number of its bins"""
    coverage: Mapping[str, float]
    """the coverage at an accuracy of `0.9`, `0.95` and `0.99`"""


def measure_confidence(
    confidences: Sequence[float],
    scores: Sequence[float],
    *,
    correct_at: float = Scorer.correct_at,
    most_bins: int = BINS,
) -> Confidence:
    """Measure how well confidences predict scores.

    Args:
        confidences: the confidence of each answer, from 0 to 1; one or more.
        scores: the score of each answer, from 0 to 1.
        correct_at: the lowest score of a correct answer.
        most_bins: the maximum number of bins for the calibration error; n answers have at most n - 1 bins.

    Example:
        >>> measures = measure_confidence([0.9, 0.8, 0.8, 0.3], [1.0, 1.0, 0.0, 0.0])
        >>> measures["auroc"], round(measures["aurc"], 4), round(measures["ece"], 4), measures["coverage"]["0.9"]
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
        won += (size - hits) * (right - hits / 2)  # the wrong answers with a lower confidence than these right ones
        risks.append(size * (1.0 - total / count))
        sure += [confidence] * size
        accuracies += [hits / size] * size
        coverage |= {str(level): count / len(scores) for level in LEVELS if right / count >= level}
    possible, bins = right * (count - right), max(1, min(count - 1, most_bins))
    return Confidence(
        auroc=won / possible if possible else None,
        aurc=math.fsum(risks) / count,
        ece=_compute_ece(sure, accuracies, bins),
        bins=bins,
        coverage=coverage,
    )


def _compute_ece(confidences: Sequence[float], accuracies: Sequence[float], bins: int) -> float:
    """Compute the expected calibration error with bins that contain equally many answers.

    Args:
        confidences: the confidence of each answer, with the highest first.
        accuracies: for each answer, the mean accuracy of all answers with the same confidence, even if they are in two
            bins.
        bins: the number of bins.
    """
    total = len(accuracies)
    borders = [place * total // bins for place in range(bins + 1)]
    gaps = (
        abs(math.fsum(accuracies[start:end]) - math.fsum(confidences[start:end])) for start, end in pairwise(borders)
    )
    return math.fsum(gaps) / total


# For a submission


def take_assessments(scored: Scored, role: str) -> tuple[list[int], list[Any]]:
    """Return the confidences of answers, or a judge's verdicts on answers, if every answer has one. Missing answers are
    left out.

    Args:
        scored: the submission.
        role: "confidence" or "judge".

    Returns:
        The positions of the answers, and the values of these answers, or [] if any answer lacks a value.

    Raises:
        InputError: an answer has no value, although the user names the field.
    """
    answers = scored.answers
    column = answers.verdicts if role == "judge" else answers.confidences
    places = [place for place, prediction in enumerate(answers.predictions) if prediction is not None]
    values = [column[place] for place in places] if column else []
    if None not in values:
        return places, values
    if role in answers.named:
        sentence = "{count:,} of {total:,} answers have no {what}: fill them in, or leave out {use.field}"
        what = "verdict" if role == "judge" else role
        raise make_error(answers.name, sentence, count=values.count(None), total=len(values), what=what)
    return places, []


def assess_confidence(scored: Scored) -> Confidence | None:
    """Measure how well a submission's confidences predict its scores, or return None if there are no confidences or
    only confidences for leaves.
    """
    places, confidences = take_assessments(scored, "confidence")
    if not confidences or any(isinstance(each, (dict, list)) for each in confidences):
        return None
    scores = [scored.answer_scores[place] for place in places]
    bins = scored.scorer.confidence_bins or BINS
    return measure_confidence(confidences, scores, correct_at=scored.scorer.correct_at, most_bins=bins)


def _write_lines(values: Confidence, write: Write) -> Iterable[Line]:
    auroc, aurc, ece = map(write, (values["auroc"], values["aurc"], values["ece"]))
    shares = (f"{share:.0%} at {float(level):.0%} accuracy" for level, share in values["coverage"].items())
    return [
        Line("confidence", f"AUROC {auroc}, AURC {aurc}, ECE ({values['bins']} bins) {ece}"),
        Line("", f"coverage {', '.join(shares)}"),
    ]


PART = Part(
    key="confidence",
    sentence="with [confidences](confidence_and_judges.md)",
    find=assess_confidence,
    type=Confidence,
    order=70,
    by_name=False,
    lines=_write_lines,
)
