"""Each measure of confidence equals its definition in plain steps, and scikit-learn. The numbers are made up."""

from __future__ import annotations

import doctest
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis import confidence
from anls_metric.analysis.confidence import LEVELS, ConfidenceMeasures, measure_confidence

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.7, 0.9, 1.0]), st.sampled_from([0.0, 0.5, 0.8, 1.0])), min_size=1
)


def measure(pairs: list[tuple[float, float]]) -> ConfidenceMeasures:
    return measure_confidence([confidence for confidence, _ in pairs], [score for _, score in pairs])


def accuracy(pairs: list[tuple[float, float]]) -> float:
    return sum(score >= 0.5 for _, score in pairs) / len(pairs)


@given(PAIRS)
def test_auroc_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, float]]) -> None:
    right = [confidence for confidence, score in pairs if score >= 0.5]
    wrong = [confidence for confidence, score in pairs if score < 0.5]
    won = sum((a > b) + (a == b) / 2 for a in right for b in wrong)
    measured = measure(pairs).auroc
    assert measured == (pytest.approx(won / (len(right) * len(wrong))) if right and wrong else None)


@given(PAIRS)
def test_aurc_is_the_mean_risk_of_what_is_at_least_as_confident(pairs: list[tuple[float, float]]) -> None:
    risks = []
    for bound, _ in pairs:
        chosen = [score for confidence, score in pairs if confidence >= bound]
        risks.append(1 - sum(chosen) / len(chosen))
    assert measure(pairs).aurc == pytest.approx(sum(risks) / len(risks))


@given(PAIRS)
def test_coverage_is_the_largest_share_that_is_accurate_enough(pairs: list[tuple[float, float]]) -> None:
    for level in LEVELS:
        shares = [0.0]
        for bound, _ in pairs:
            chosen = [pair for pair in pairs if pair[0] >= bound]
            if accuracy(chosen) >= level:
                shares.append(len(chosen) / len(pairs))
        assert measure(pairs).coverage[str(level)] == max(shares)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([0.0, 1.0])), min_size=1, unique_by=lambda pair: pair[0]))
def test_ece_takes_bins_of_equal_mass(pairs: list[tuple[float, float]]) -> None:
    pairs = sorted(pairs, reverse=True)
    bins = max(1, min(len(pairs) - 1, 100))
    total = 0.0
    for place in range(bins):
        chosen = pairs[place * len(pairs) // bins : (place + 1) * len(pairs) // bins]
        total += len(chosen) * abs(accuracy(chosen) - sum(confidence for confidence, _ in chosen) / len(chosen))
    assert measure(pairs).ece == pytest.approx(total / len(pairs))


def test_ece_of_one_confidence_is_its_distance_from_the_accuracy() -> None:
    assert measure_confidence([0.7] * 10, [1.0] * 9 + [0.0]).ece == pytest.approx(0.2)
    assert measure_confidence([0.7], [0.0]).ece == pytest.approx(0.7)


@given(PAIRS, st.randoms(use_true_random=False))
def test_order_changes_nothing(pairs: list[tuple[float, float]], chance: random.Random) -> None:
    shuffled = chance.sample(pairs, len(pairs))
    assert measure(shuffled) == measure(pairs)


def test_measures_equal_hand_computed_values() -> None:
    measures = measure_confidence([0.9, 0.8, 0.7, 0.6], [1.0, 0.75, 0.0, 1.0])
    assert measures.auroc == pytest.approx(2 / 3)
    assert measures.aurc == pytest.approx((0 + 0.125 + 1.25 / 3 + 1.25 / 4) / 4)
    assert measures.ece == pytest.approx((0.1 + 0.2 + abs(1.3 - 1)) / 4)  # 3 bins: 1, 1 and 2 answers
    assert measures.coverage == {"0.9": 0.5, "0.95": 0.5, "0.99": 0.5}


def test_right_at_changes_what_is_right() -> None:
    assert measure_confidence([0.9, 0.1], [0.6, 0.4]).auroc == 1.0
    assert measure_confidence([0.9, 0.1], [0.6, 0.4], right_at=0.7).auroc is None


@given(PAIRS)
def test_auroc_agrees_with_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    confidences, scores = zip(*pairs)
    measured = measure_confidence(confidences, scores).auroc
    if measured is not None:
        assert measured == pytest.approx(metrics.roc_auc_score([score >= 0.5 for score in scores], confidences))


@pytest.mark.parametrize("confidences", [[], [0.5], [0.5, 1.1], [0.5, -0.1], [0.5, float("nan")]])
def test_bad_confidences_are_refused(confidences: list[float]) -> None:
    with pytest.raises(ValueError, match="confidence"):
        measure_confidence(confidences, [1.0] * (2 if confidences else 0))


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(confidence).failed == 0
