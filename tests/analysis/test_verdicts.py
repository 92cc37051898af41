"""The agreement of scores and verdicts equals hand-computed numbers and scikit-learn. The numbers are made up."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis import verdicts
from anls_metric.analysis.verdicts import compare_verdicts, list_differences

ANSWERS = st.lists(st.tuples(st.sampled_from([0.0, 0.4, 0.5, 0.9, 1.0]), st.booleans()), min_size=1)


def test_textbook_example_of_kappa() -> None:
    """20 both yes, 5 yes and no, 10 no and yes, 15 both no: agreement 0.7, chance 0.5, kappa 0.4."""
    pairs = [(1.0, True)] * 20 + [(1.0, False)] * 5 + [(0.0, True)] * 10 + [(0.0, False)] * 15
    agreement = compare_verdicts([score for score, _ in pairs], [verdict for _, verdict in pairs])
    assert agreement.agreement == 0.7
    assert agreement.kappa == pytest.approx(0.4)
    assert agreement.table == {"right": {"right": 20, "wrong": 5}, "wrong": {"right": 10, "wrong": 15}}


def test_kappa_at_its_ends() -> None:
    assert compare_verdicts([1.0, 0.0], [True, False]).kappa == 1.0
    assert compare_verdicts([1.0, 0.0], [False, True]).kappa == -1.0
    assert compare_verdicts([1.0, 1.0], [True, True]).kappa is None
    assert compare_verdicts([1.0, 1.0], [False, False]).kappa == 0.0


@given(ANSWERS)
def test_differences_are_those_of_the_table_and_sorted(answers: list[tuple[float, bool]]) -> None:
    scores, judged = zip(*answers)
    agreement = compare_verdicts(scores, judged)
    places = list_differences(scores, judged)
    assert len(places) == agreement.table["right"]["wrong"] + agreement.table["wrong"]["right"]
    assert agreement.agreement == 1 - len(places) / len(answers) or places
    gaps = [abs(scores[place] - judged[place]) for place in places]
    assert gaps == sorted(gaps, reverse=True)


@given(ANSWERS)
def test_kappa_agrees_with_scikit_learn(answers: list[tuple[float, bool]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, judged = zip(*answers)
    kappa = compare_verdicts(scores, judged).kappa
    if kappa is not None:
        assert kappa == pytest.approx(metrics.cohen_kappa_score([score >= 0.5 for score in scores], judged))


def test_right_at_changes_what_is_right() -> None:
    assert compare_verdicts([0.6], [True]).agreement == 1.0
    assert compare_verdicts([0.6], [True], right_at=0.7).agreement == 0.0
    assert list_differences([0.6], [True], right_at=0.7) == [0]


def test_numbers_of_scores_and_verdicts_must_be_equal() -> None:
    for judged in ([], [True, False]):
        with pytest.raises(ValueError, match="verdicts"):
            compare_verdicts([1.0], judged)


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(verdicts).failed == 0
