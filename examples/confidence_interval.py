"""ANLS with a 95 % confidence interval, by a bootstrap over the scores of the answers.

    python examples/confidence_interval.py examples/gold_label.json examples/submission.json

Needs ``pip install anls-metric scipy``.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import stats

import anls
from anls_metric.report import Report
from anls_metric.rrc import read_questions


def interval(scores: list[float], confidence: float = 0.95) -> tuple[float, float]:
    """Between which two values the ANLS of another sample of such questions would lie."""
    found = stats.bootstrap((np.array(scores),), np.mean, confidence_level=confidence, rng=np.random.default_rng(0))
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def main(gold: str, submission: str) -> None:
    """Print the score of a submission and its interval."""
    scores = [scored.score for scored in Report().score(list(read_questions(gold, submission)))]
    low, high = interval(scores)
    print(f"{anls.mean(scores):.4f}  95 % interval {low:.4f} to {high:.4f}  {anls.signature()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
