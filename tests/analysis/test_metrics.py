"""Each other metric equals a published implementation, or the results of the published function."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import compare, paired_test, score
from anls_metric.analysis.metrics import METRICS, is_relaxed_match, score_cer, score_f1

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

ALL = ",".join(METRICS)


def measure_one(prediction: str | None, references: list[str]) -> dict[str, float]:
    """Measure one answer under every metric."""
    (submission,) = score([prediction], [references], metrics=ALL, missing="zero").to_dict()["submissions"]
    return {name: metric["mean"] for name, metric in submission["metrics"].items()}


@pytest.mark.parametrize(
    ("expected", "pairs"),
    [  # as f1_score of evaluate's metrics/squad/compute_score.py, and compute_f1 of squad_v2 where a text is empty
        (1.0, [("the Cola", "Cola"), ("$5.00", "500"), ("theory", "the theory"), ("café", "Café."), ("The", "an")]),
        (1.0, [("", "")]),
        (0.8, [("Coca Cola Company", "Coca Cola"), ("a b b", "b b c")]),
        (2 / 3, [("12 / 15", "12")]),
        (0.0, [("Coca-Cola", "Coca Cola"), ("", "x"), ("x", "...")]),
    ],
)
def test_score_f1_is_that_of_squad(expected: float, pairs: list[tuple[str, str]]) -> None:
    assert [score_f1(*pair) for pair in pairs] == pytest.approx([expected] * len(pairs))


@pytest.mark.needs("jiwer")
@given(st.text("ab cé\t", max_size=12), st.text("ab cé\t", max_size=12))
def test_score_cer_agrees_with_jiwer(prediction: str, reference: str) -> None:
    jiwer = pytest.importorskip("jiwer")
    if not reference.strip():
        assert score_cer(prediction, reference) == len(prediction.strip())
    else:
        assert score_cer(prediction, reference) == pytest.approx(jiwer.cer(reference, prediction))


@pytest.mark.parametrize(
    ("expected", "pairs"),
    [  # as relaxed_correctness of lmms-eval's tasks/chartqa/utils.py
        (True, [("95", "100"), ("105", "100"), ("-105", "-100"), ("1e2", "100"), (" 100 ", "100"), ("50%", "0.5")]),
        (True, [("0", "0"), ("Yes", "yes")]),
        (False, [("94.9", "100"), ("100", "-100"), ("50%", "50"), ("0.0", "0"), ("0", "0.01"), ("1,000", "1000")]),
        (False, [("nan", "100"), ("100", "nan"), ("Yes ", "yes"), ("5", "five")]),
    ],
)
def test_is_relaxed_match_is_that_of_chartqa(expected: bool, pairs: list[tuple[str, str]]) -> None:
    assert [is_relaxed_match(*pair) for pair in pairs] == [expected] * len(pairs)


@pytest.mark.parametrize(
    ("metric", "prediction", "references", "expected"),
    [
        ("f1", "Cola", ["Pepsi", "the Cola"], 1.0),
        ("cer", "Cola", ["Pepsi", "Coli"], 0.25),
        ("relaxed", "104", ["200", "100"], 1.0),
        ("exact_match", "COLA ", ["Pepsi", "cola"], 1.0),
        ("contains", "It is 5", ["5", "6"], 1.0),
        ("f1", None, [""], 0.0),
        ("f1", "", [""], 1.0),
        ("cer", None, ["a"], 1.0),
        ("exact_match", None, ["a"], 0.0),
    ],
)
def test_metrics_count_the_best_accepted_answer(
    metric: str, prediction: str | None, references: list[str], expected: float
) -> None:
    assert measure_one(prediction, references)[metric] == expected


def test_metrics_have_the_interval_of_the_clusters_which_may_exceed_1() -> None:
    rows = [{"prediction": "abcdefgh" * (n % 3), "answers": ["ab"], "doc": n // 4} for n in range(40)]
    documents = [score(rows, metrics="cer", cluster_by=by).to_dict() for by in (None, "none")]
    cer, alone = (document["submissions"][0]["metrics"]["cer"] for document in documents)
    low, high = cer["interval"]
    assert 1.0 < low < cer["mean"] < high
    assert alone["interval"] != cer["interval"]


@pytest.mark.parametrize(("metric", "difference"), [("relaxed", 1 / 3), ("cer", -1 / 3)])
def test_metrics_are_compared_on_common_questions_by_the_paired_test(metric: str, difference: float) -> None:
    def make_rows(answers: dict[int, str]) -> list[dict[str, Any]]:
        return [{"id": key, "prediction": answer, "answers": ["a"]} for key, answer in answers.items()]

    better = make_rows({4: "a", 3: "a", 2: "x", 9: "x"})
    tables = {"first": make_rows({1: "a", 2: "x", 3: "x", 4: "a"}), "second": better, "third": better}
    found, again = (each["metrics"][metric] for each in compare(tables, metrics=metric).to_dict()["comparisons"])
    assert (found["questions"], found["difference"]) == (3, pytest.approx(difference))
    assert found["p_value"] == paired_test([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    assert found["p_value_adjusted"] == again["p_value_adjusted"] == min(1.0, 2 * found["p_value"])
    assert found["is_better"] is True
