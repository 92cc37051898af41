"""Each other metric equals a published implementation, or the results of the published function."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import anls_score
from anls_metric.analysis import metrics
from anls_metric.analysis.metrics import (
    METRICS,
    MetricColumns,
    MetricScores,
    compare_metrics,
    find_metrics,
    is_relaxed_match,
    score_cer,
    score_f1,
)
from anls_metric.analysis.outcomes import Judge
from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.significance import paired_test
from anls_metric.reading.batch import Row


def score(name: str, prediction: str | None, references: list[str], variant: str = "standard") -> float:
    collected = MetricScores([METRICS[name]], Judge(variant))
    score = 0.0 if prediction is None else anls_score(prediction, references, variant=variant)
    return collected.measure([Row("7", prediction, references, {})], [score])[name][0]


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [  # as f1_score of evaluate's metrics/squad/compute_score.py, and compute_f1 of squad_v2 where a text is empty
        ("the Cola", "Cola", 1.0),
        ("Coca Cola Company", "Coca Cola", 0.8),
        ("Coca-Cola", "Coca Cola", 0.0),
        ("$5.00", "500", 1.0),
        ("a b b", "b b c", 0.8),
        ("theory", "the theory", 1.0),
        ("café", "Café.", 1.0),
        ("12 / 15", "12", 2 / 3),
        ("The", "an", 1.0),
        ("", "", 1.0),
        ("", "x", 0.0),
        ("x", "...", 0.0),
    ],
)
def test_f1_is_that_of_squad(prediction: str, reference: str, expected: float) -> None:
    assert score_f1(prediction, reference) == pytest.approx(expected)


@pytest.mark.slow
@given(st.text("ab the.-é ", max_size=12), st.text("ab the.-é ", max_size=12))
def test_f1_agrees_with_torchmetrics(prediction: str, reference: str) -> None:
    squad = pytest.importorskip("torchmetrics.functional.text.squad")
    assert score_f1(prediction, reference) == pytest.approx(float(squad._compute_f1_score(prediction, reference)))


@given(st.text("ab cé\t", max_size=12), st.text("ab cé\t", max_size=12))
def test_cer_agrees_with_jiwer(prediction: str, reference: str) -> None:
    jiwer = pytest.importorskip("jiwer")
    if not reference.strip():
        assert score_cer(prediction, reference) == len(prediction.strip())
    else:
        assert score_cer(prediction, reference) == pytest.approx(jiwer.cer(reference, prediction))


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [  # as relaxed_correctness of lmms-eval's tasks/chartqa/utils.py
        ("95", "100", True),
        ("94.9", "100", False),
        ("105", "100", True),
        ("-105", "-100", True),
        ("100", "-100", False),
        ("50%", "0.5", True),
        ("50%", "50", False),
        ("0", "0", True),
        ("0.0", "0", False),
        ("0", "0.01", False),
        ("1e2", "100", True),
        (" 100 ", "100", True),
        ("1,000", "1000", False),
        ("Yes", "yes", True),
        ("Yes ", "yes", False),
        ("nan", "100", False),
        ("100", "nan", False),
        ("5", "five", False),
    ],
)
def test_relaxed_is_that_of_chartqa(prediction: str, reference: str, expected: bool) -> None:
    assert is_relaxed_match(prediction, reference) is expected


def test_best_accepted_answer_counts() -> None:
    assert score("f1", "Cola", ["Pepsi", "the Cola"]) == 1.0
    assert score("cer", "Cola", ["Pepsi", "Coli"]) == 0.25
    assert score("relaxed", "104", ["200", "100"]) == 1.0
    assert score("exact", "COLA ", ["Pepsi", "cola"]) == 1.0
    assert score("contains", "It is 5", ["5", "6"]) == 1.0


def test_missing_answer_has_the_worst_score() -> None:
    assert {name: score(name, None, ["a"]) for name in METRICS} == {
        "f1": 0.0,
        "cer": 1.0,
        "relaxed": 0.0,
        "exact": 0.0,
        "contains": 0.0,
    }
    assert score("f1", None, [""]) == 0.0
    assert score("f1", "", [""]) == 1.0


@pytest.mark.parametrize("variant", ["standard", "due", "mp_docvqa"])
@given(
    st.lists(st.tuples(st.text("abA 1.", max_size=6), st.lists(st.text("abA 1.", max_size=6), min_size=1)), min_size=1)
)
def test_exact_and_contains_are_those_of_the_set(variant: str, pairs: list[tuple[str, list[str]]]) -> None:
    rows = [Row(str(place), *pair, {}) for place, pair in enumerate(pairs)]
    scored_set = ScoredSet(variant)
    scored = scored_set.add(rows)
    collected = MetricScores(find_metrics("exact,contains"), Judge(variant))
    collected.add(collected.measure(rows, [each.score for each in scored]), rows)
    summaries = collected.summarize()
    assert summaries["contains"].mean == pytest.approx(scored_set.contains)
    assert summaries["exact"].mean == pytest.approx(scored_set.exact_match)


def test_interval_is_that_of_clusters_and_may_exceed_1() -> None:
    rows = [Row(str(n), "abcdefgh" * (n % 3), ["ab"], {"doc": n // 4}) for n in range(40)]
    collected = MetricScores(find_metrics("cer"), Judge())
    collected.add(collected.measure(rows, [0.0] * 40), rows)
    low, high = collected.summarize()["cer"].interval or (math.nan, math.nan)
    assert 1.0 < low < collected.summarize()["cer"].mean < high
    alone = MetricScores(find_metrics("cer"), Judge(), cluster_by="none")
    alone.add(alone.measure(rows, [0.0] * 40), rows)
    assert alone.summarize()["cer"].interval != (low, high)


def test_comparison_uses_common_questions_and_the_paired_test() -> None:
    first = MetricColumns(["1", "2", "3", "4"], [{}] * 4, {"f1": [0.0, 0.0, 1.0, 0.5]})
    second = MetricColumns(["4", "3", "2", "9"], [{}] * 4, {"f1": [1.0, 1.0, 0.5, 0.0]})
    compared = compare_metrics(first, [second, second], find_metrics("f1"))
    assert compared[0][0].questions == 3
    assert compared[0][0].difference == pytest.approx(1 / 3)
    assert compared[0][0].p_value == paired_test([0.0, 1.0, 0.5], [0.5, 1.0, 1.0])
    assert compared[0][0].p_value_adjusted == min(1.0, 2 * compared[0][0].p_value)


def test_unknown_metric_is_named() -> None:
    with pytest.raises(ValueError, match=r"unknown metric 'cerr'; did you mean cer\? Choose from f1, cer"):
        find_metrics("f1,cerr")


def test_each_metric_names_its_source() -> None:
    assert all(metric.source and metric.meaning for metric in METRICS.values())


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(metrics).failed == 0
