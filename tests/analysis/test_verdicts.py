"""The agreement of scores and verdicts equals hand-computed numbers and scikit-learn. The numbers are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis.verdicts import compare_verdicts, list_differences

ANSWERS = st.lists(st.tuples(st.sampled_from([0.0, 0.4, 0.5, 0.9, 1.0]), st.booleans()), min_size=1)


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


@given(ANSWERS)
def test_differences_are_those_of_the_table_and_sorted(answers: list[tuple[float, bool]]) -> None:
    scores, judged = zip(*answers)
    agreement = compare_verdicts(scores, judged)
    places = list_differences(scores, judged)
    assert len(places) == agreement.table["correct"]["wrong"] + agreement.table["wrong"]["correct"]
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
