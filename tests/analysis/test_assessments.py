"""Measures of confidences and verdicts equal their definitions. The numbers are made up."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis.assessments import compare_verdicts
from anls_metric.analysis.confidence import LEVELS, ConfidenceMeasures, measure_confidence

Pairs = list[tuple[float, float]]
PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.7, 0.9, 1.0]), st.sampled_from([0.0, 0.5, 0.8, 1.0])), min_size=1
)


def measure(pairs: Pairs) -> ConfidenceMeasures:
    confidences, scores = zip(*pairs)
    return measure_confidence(confidences, scores)


def accuracy(pairs: Pairs) -> float:
    return sum(score >= 0.5 for _, score in pairs) / len(pairs)


@given(PAIRS, st.randoms(use_true_random=False))
def test_measures_equal_their_definitions_in_any_order(pairs: Pairs, chance: random.Random) -> None:
    """AUROC counts pairs in the right order; AURC and coverage look at what is at least as confident as an answer."""
    measures = measure(pairs)
    assert measure(chance.sample(pairs, len(pairs))) == measures
    right, wrong = ([sure for sure, score in pairs if (score >= 0.5) == is_right] for is_right in (True, False))
    won = sum((a > b) + (a == b) / 2 for a in right for b in wrong)
    assert measures.auroc == (pytest.approx(won / (len(right) * len(wrong))) if right and wrong else None)
    chosen = [[pair for pair in pairs if pair[0] >= bound] for bound, _ in pairs]
    risks = [1 - sum(score for _, score in each) / len(each) for each in chosen]
    assert measures.aurc == pytest.approx(sum(risks) / len(risks))
    for level in LEVELS:
        shares = [len(each) / len(pairs) for each in chosen if accuracy(each) >= level]
        assert measures.coverage[str(level)] == max(shares, default=0.0)


def test_measures_equal_hand_computed_values() -> None:
    measures = measure_confidence([0.9, 0.8, 0.7, 0.6], [1.0, 0.75, 0.0, 1.0])
    assert measures.auroc == pytest.approx(2 / 3)
    assert measures.aurc == pytest.approx((0 + 0.125 + 1.25 / 3 + 1.25 / 4) / 4)
    assert measures.ece == pytest.approx((0.1 + 0.2 + abs(1.3 - 1)) / 4)  # 3 bins: 1, 1 and 2 answers
    assert measures.coverage == {"0.9": 0.5, "0.95": 0.5, "0.99": 0.5}
    # the ECE of one confidence is its distance from the accuracy
    assert measure_confidence([0.7] * 10, [1.0] * 9 + [0.0]).ece == pytest.approx(0.2)
    assert measure_confidence([0.7], [0.0]).ece == pytest.approx(0.7)
    assert measure_confidence([0.9, 0.1], [0.6, 0.4]).auroc == 1.0


@pytest.mark.parametrize(
    ("answers", "agreement", "kappa"),
    [
        # a textbook: 20 both yes, 5 yes and no, 10 no and yes, 15 both no: agreement 0.7, chance 0.5, kappa 0.4
        ([(1.0, True)] * 20 + [(1.0, False)] * 5 + [(0.0, True)] * 10 + [(0.0, False)] * 15, 0.7, pytest.approx(0.4)),
        ([(1.0, True), (0.0, False)], 1.0, 1.0),
        ([(1.0, False), (0.0, True)], 0.0, -1.0),
        ([(1.0, True), (1.0, True)], 1.0, None),
        ([(1.0, False), (1.0, False)], 0.0, 0.0),
        ([(0.6, True)], 1.0, None),
    ],
)
def test_agreement_and_kappa(answers: list[tuple[float, bool]], agreement: float, kappa: float | None) -> None:
    scores, verdicts = zip(*answers)
    compared = compare_verdicts(scores, verdicts)
    assert (compared.agreement, compared.kappa) == (agreement, kappa)
    names = {True: "correct", False: "wrong"}
    for verdict in names:
        for score in names:
            count = sum((each >= 0.5, judged) == (score, verdict) for each, judged in answers)
            assert compared.table[names[score]][names[verdict]] == count
