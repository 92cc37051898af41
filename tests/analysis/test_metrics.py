"""Other metrics equal published implementations or their results; measures of confidences and verdicts, definitions."""

from __future__ import annotations

import json
import random
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import compare, get_variant, holm, paired_test, rule, score
from anls_metric.analysis.parts.confidence import LEVELS, measure_confidence
from anls_metric.analysis.parts.judge import compare_verdicts
from anls_metric.core.strings.metrics import METRICS, is_relaxed_match, score_cer, score_f1
from anls_metric.core.strings.vqa import score_vqa
from tests.conftest import ROOT

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")


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


TEXTS = [("the quick brown fox", "a quick brown dog ran"), ("same", "same"), ("", "gone"), ("a b c", "c")]


@pytest.mark.needs("jiwer")
@pytest.mark.parametrize("name", ["cer", "wer"])
def test_error_rate_is_that_of_the_corpus_and_its_mean_has_another_name(name: str) -> None:
    jiwer = pytest.importorskip("jiwer")
    predictions, references = (list(column) for column in zip(*TEXTS))
    document: Any = score(predictions, [[text] for text in references], metrics=f"{name},mean_{name}").to_dict()
    found = document["submissions"][0]["metrics"]
    rate = getattr(jiwer, name)
    assert found[name]["mean"] == pytest.approx(rate(references, predictions))
    assert found[f"mean_{name}"]["mean"] == pytest.approx(fmean(map(rate, references, predictions)))
    assert found[name]["interval"][0] < found[name]["mean"] < found[name]["interval"][1]


def test_error_rates_of_a_corpus_are_compared_by_their_difference() -> None:
    chance = random.Random(4)
    texts = ["".join(chance.choices("ab ", k=chance.randint(1, 60))).strip() or "a" for _ in range(60)]
    tables = {
        name: [{"id": n, "prediction": text[: -1 - n % cut], "references": [text]} for n, text in enumerate(texts)]
        for name, cut in {"one": 2, "two": 9}.items()
    }
    document: Any = compare(tables, metrics="cer").to_dict()
    one, two = (submission["metrics"]["cer"]["mean"] for submission in document["submissions"])
    assert document["comparisons"][0]["metrics"]["cer"]["difference"] == pytest.approx(two - one)
    assert document["comparisons"][0]["metrics"]["cer"]["p_value"] < 0.01


def test_vqa_accuracy_is_bit_by_bit_that_of_the_official_program() -> None:
    golden = json.loads((ROOT / "tests/data/vqa_accuracy.json").read_text(encoding="utf-8"))
    cases = [case for case in golden["cases"] if len(case[1]) == 10]
    predictions, references, expected = zip(*cases)
    found = METRICS["vqa_accuracy"].compute(predictions, references, [], get_variant())
    assert found == list(expected)
    document: Any = score(list(predictions), list(references), metrics="vqa_accuracy").to_dict()
    assert document["submissions"][0]["metrics"]["vqa_accuracy"]["mean"] == fmean(expected)
    assert len(document["submissions"][0]["metrics"]["vqa_accuracy"]["interval"]) == 2
    assert not any("vqa_accuracy" in hint["text"] for hint in document["hints"])
    assert [score_vqa(text, texts) for text, texts, _ in golden["cases"]] == [case[2] for case in golden["cases"]]


def test_vqa_accuracy_of_few_references_has_a_hint_and_is_not_searched() -> None:
    scores = score(["Cola", "x"], [["Cola"], ["y"]], metrics="vqa_accuracy")
    assert any("2 of 2 questions have fewer than 4 references" in hint for hint in scores.hints)
    assert "vqa_accuracy" not in [match.variant for match in scores.find("0.5")]
    many = score(["Cola", "x"], [["Cola"] * 2 + ["Pepsi"] * 8, ["y"] * 10])
    assert [match.variant for match in many.find("0.30")] == ["vqa_accuracy"]


def test_f1_of_texts_without_spaces_counts_characters_and_says_so() -> None:
    pairs = [("二零二四年六月", "二零二四年五月。"), ("上海分公司", "上海市分公司"), ("abc def", "abc 東京 def")]
    expected = [12 / 14, 10 / 11, 4 / 6]
    assert [score_f1(*pair) for pair in pairs] == pytest.approx(expected)
    assert score_f1("ราคา", "ราค") == pytest.approx(6 / 7)
    scores = score([pair[0] for pair in pairs], [[pair[1]] for pair in pairs], metrics="f1")
    assert "f1 by character" in str(scores)
    assert "| f1 by character |" in scores.to_markdown(columns="metric_f1")
    assert "by character" not in str(score(["a b"], [["a"]], metrics="f1"))


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
def test_best_accepted_answer_counts(metric: str, prediction: Any, references: list[str], expected: float) -> None:
    scores = score([prediction], [references], metrics=",".join(METRICS), missing="zero")
    assert scores.to_dict()["submissions"][0]["metrics"][metric]["mean"] == expected


def test_metrics_have_the_interval_of_the_clusters_which_may_exceed_1() -> None:
    rows = [{"prediction": "abcdefgh" * (n % 3), "answers": ["ab"], "doc": n // 4} for n in range(40)]
    documents: list[Any] = [score(rows, metrics="cer", cluster_by=by).to_dict() for by in (None, "none")]
    cer, alone = (document["submissions"][0]["metrics"]["cer"] for document in documents)
    low, high = cer["interval"]
    assert 1.0 < low < cer["mean"] < high
    assert alone["interval"] != cer["interval"]


@pytest.mark.parametrize("counts", [(699, 1), (9, 1)])
def test_documents_of_very_different_sizes_have_an_interval_as_of_two(counts: tuple[int, int]) -> None:
    texts = [("abc", 0)] * counts[0] + [("x", 1)] * counts[1]
    rows = [{"prediction": text, "answers": ["abd"], "doc": place} for text, place in texts]
    document: Any = score(rows, metrics="cer", cluster_by="doc").to_dict()
    cer = document["submissions"][0]["metrics"]["cer"]
    low, high = cer["interval"]
    assert 0.0 <= low < cer["mean"] < high < 10.0


def test_metric_that_equals_the_score_has_its_p_values() -> None:
    """With three submissions, the baseline is chosen as the best of them, which both p-values are adjusted for."""
    counts = {"a": 30, "b": 36, "c": 40}
    rows = {
        name: [{"id": n, "prediction": "a" if n < count else "zzz", "answers": ["a"]} for n in range(60)]
        for name, count in counts.items()
    }
    document: Any = compare(rows, metrics="exact_match").to_dict()
    pairs = document["comparisons"]
    adjusted = [pair["p_value_adjusted"] for pair in pairs]
    assert [pair["metrics"]["exact_match"]["p_value_adjusted"] for pair in pairs] == adjusted
    assert document["chose_best"]
    assert adjusted != holm([pair["p_value"] for pair in pairs])


@pytest.mark.parametrize(("metric", "difference"), [("relaxed", 1 / 3), ("cer", -1 / 3)])
def test_metrics_are_compared_on_common_questions_by_the_paired_test(metric: str, difference: float) -> None:
    def make_rows(answers: dict[int, str]) -> list[dict[str, Any]]:
        return [{"id": key, "prediction": answer, "answers": ["a"]} for key, answer in answers.items()]

    better = make_rows({4: "a", 3: "a", 2: "x", 9: "x"})
    tables = {"first": make_rows({1: "a", 2: "x", 3: "x", 4: "a"}), "second": better, "third": better}
    document: Any = compare(tables, metrics=metric).to_dict()
    found, again = (each["metrics"][metric] for each in document["comparisons"])
    assert (found["questions"], found["difference"]) == (3, pytest.approx(difference))
    assert found["p_value"] == paired_test([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    assert found["p_value_adjusted"] == again["p_value_adjusted"] == min(1.0, 2 * found["p_value"])
    assert found["is_better"] is True


# Confidences and verdicts

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.7, 0.9, 1.0]), st.sampled_from([0.0, 0.5, 0.8, 1.0])), min_size=1
)


@given(PAIRS, st.randoms(use_true_random=False))
def test_measures_equal_their_definitions_in_any_order(pairs: list[tuple[float, float]], chance: random.Random) -> None:
    """AUROC counts pairs in the right order; AURC and coverage look at what is at least as confident as an answer."""
    measures = measure_confidence(*zip(*pairs))
    assert measure_confidence(*zip(*chance.sample(pairs, len(pairs)))) == measures
    right, wrong = ([sure for sure, score in pairs if (score >= 0.5) == is_right] for is_right in (True, False))
    won = sum((a > b) + (a == b) / 2 for a in right for b in wrong)
    assert measures["auroc"] == (pytest.approx(won / (len(right) * len(wrong))) if right and wrong else None)
    chosen = [[pair for pair in pairs if pair[0] >= bound] for bound, _ in pairs]
    risks = [1 - fmean(score for _, score in each) for each in chosen]
    assert measures["aurc"] == pytest.approx(fmean(risks))
    for level in LEVELS:
        shares = [len(each) / len(pairs) for each in chosen if fmean(score >= 0.5 for _, score in each) >= level]
        assert measures["coverage"][str(level)] == max(shares, default=0.0)


def test_measures_equal_hand_computed_values() -> None:
    measures = measure_confidence([0.9, 0.8, 0.7, 0.6], [1.0, 0.75, 0.0, 1.0])
    assert measures["auroc"] == pytest.approx(2 / 3)
    assert measures["aurc"] == pytest.approx((0 + 0.125 + 1.25 / 3 + 1.25 / 4) / 4)
    assert measures["ece"] == pytest.approx((0.1 + 0.2 + abs(1.3 - 1)) / 4)  # 3 bins: 1, 1 and 2 answers
    assert measures["coverage"] == {"0.9": 0.5, "0.95": 0.5, "0.99": 0.5}
    # the ECE of one confidence is its distance from the accuracy
    assert measure_confidence([0.7] * 10, [1.0] * 9 + [0.0])["ece"] == pytest.approx(0.2)
    assert measure_confidence([0.7], [0.0])["ece"] == pytest.approx(0.7)
    assert measure_confidence([0.9, 0.1], [0.6, 0.4])["auroc"] == 1.0


def test_calibration_error_has_15_bins_and_says_so() -> None:
    chance = random.Random(2)
    rows: list[Any] = [{"answers": ["a"], "p": chance.random()} for _ in range(1000)]
    rows = [{**row, "id": n, "prediction": "a" if chance.random() < row["p"] else "b"} for n, row in enumerate(rows)]
    scores = score(rows, field={"confidence": "p"})
    confidence: Any = scores.to_dict()["submissions"][0]["confidence"]
    assert (confidence["bins"], confidence["ece"] < 0.06) == (15, True)
    assert f"ECE (15 bins) {confidence['ece']:.4f}" in str(scores)
    assert measure_confidence([row["p"] for row in rows], [1.0] * 1000, most_bins=100)["bins"] == 100
    assert measure_confidence([0.5] * 4, [1.0] * 4)["bins"] == 3
    assert (rule("dude").confidence_bins, rule("longdocurl").confidence_bins) == (100, None)


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
    assert (compared["agreement"], compared["kappa"]) == (agreement, kappa)
    names = {True: "correct", False: "wrong"}
    for verdict in names:
        for is_right in names:
            count = sum((each >= 0.5, judged) == (is_right, verdict) for each, judged in answers)
            assert compared["table"][names[is_right]][names[verdict]] == count
