"""Counts by key: figures of keys, models compared by key, and what the outputs make of them."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

from anls_metric import Scores, compare, differences, holm, interval, paired_test, score

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

KEYS = "key of the value"
Rows = list[dict[str, Any]]


def make_rows(seed: int, count: int = 40, rate: float = 0.3) -> Rows:
    """Make answers about invoices, in which a share of the values is wrong, missed or written differently."""
    chance, rows = random.Random(7), []
    errors = random.Random(seed)
    for number in range(count):
        items = [{"name": chance.choice(["tea", "milk"]), "price": f"{chance.randint(1, 9)}.50"} for _ in range(3)]
        gold: dict[str, Any] = {"total": f"{chance.randint(10, 99)}.50", "items": items, "tip": None}
        answer: dict[str, Any] = {"total": gold["total"], "items": [dict(item) for item in items]}
        if errors.random() < rate:
            answer["total"] = errors.choice([None, gold["total"][:-1], "no"])
        if errors.random() < rate:
            answer["items"].pop()
        if errors.random() < rate:
            answer["vat"] = {"rate": "19", "sum": None}
        rows.append({"id": number, "prediction": answer, "references": gold})
    return rows


def score_by_key(rows: Rows, **options: Any) -> Any:
    return score(rows, variant="anls_star", by_key=True, **options).to_dict()["submissions"][0]


def test_figures_add_up() -> None:
    document = score_by_key(make_rows(1))
    keys, everything = document["groups"][KEYS], document["all_keys"]
    assert list(keys) == ["items", "items.name", "items.price", "tip", "total", "vat", "vat.rate", "vat.sum"]
    outcomes = ("right", "close", "wrong", "missed", "invented", "blank")
    for figures in (*keys.values(), everything):
        assert sum(figures[outcome] for outcome in outcomes) == figures["leaves"]
    top = [keys[name] for name in ("items", "tip", "total", "vat")]
    for figure in ("leaves", "same_value", *outcomes):
        assert sum(key[figure] for key in top) == everything[figure]
    assert sum(key["cost"] for key in top) == pytest.approx(1 - document["anls"])
    assert keys["items"]["missed"] == keys["items.name"]["missed"] + keys["items.price"]["missed"] > 0
    assert keys["total"]["same_value"] == keys["total"]["close"] > 0  # 25.5 for 25.50
    assert (keys["vat"]["precision"], keys["vat"]["recall"], keys["vat"]["f1"]) == (0.0, None, 0.0)
    assert (keys["tip"]["blank"], keys["tip"]["f1"], keys["tip"]["exact_match"]) == (40, None, 1.0)
    right, given, accepted = (
        everything["right"],
        sum(everything[name] for name in ("right", "close", "wrong", "invented")),
        sum(everything[name] for name in ("right", "close", "wrong", "missed")),
    )
    assert (everything["precision"], everything["recall"]) == (right / given, right / accepted)
    assert everything["f1"] == 2 * right / (given + accepted)
    assert everything["mean_score"] == score(make_rows(1), variant="anls_star", average="leaves").anls


def test_key_without_an_answer_and_runs() -> None:
    rows = [
        {"id": 1, "run": run, "prediction": prediction, "references": {"a": "x", "b": "y"}}
        for run, prediction in enumerate([{"a": "x", "b": "y"}, {"a": "x", "c": "z"}, None])
    ]
    document = score_by_key(rows, runs="question", missing="zero")
    figures = ("right", "missed", "invented", "anls", "exact_match", "cost")
    keys = {name: [key[figure] for figure in figures] for name, key in document["groups"][KEYS].items()}
    assert keys == {
        "a": [2, 1, 0, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(1 / 6)],
        "b": [1, 2, 0, pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx((1 / 3 + 1 / 2) / 3)],
        "c": [0, 0, 1, 0.0, 0.0, pytest.approx(1 / 9)],
    }
    assert document["groups"][KEYS]["a"]["questions"] == 1
    assert sum(key[-1] for key in keys.values()) == pytest.approx(1 - document["anls"])


@pytest.fixture(scope="module")
def compared() -> Scores:
    first, second = make_rows(1, rate=0.6), make_rows(2, rate=0.05)
    for row in second:
        row["prediction"].pop("vat", None)
    return compare({"base": first, "tuned": second}, variant="anls_star", by_key=True)


def test_models_are_compared_by_key(compared: Scores) -> None:
    """On the documents where one of them or the reference has a leaf of the key; the other one scores 1 there."""
    document: Any = compared.to_dict()
    base, tuned = (submission["groups"][KEYS] for submission in document["submissions"])
    assert list(base) == list(tuned)
    assert (tuned["vat"]["anls"], tuned["vat"]["questions"], tuned["vat"]["leaves"]) == (None, 0, 0)
    assert (tuned["vat"]["mean_score"], tuned["vat"]["exact_match"], tuned["vat"]["cost"]) == (None, None, 0.0)
    assert (tuned["vat"]["difference"], tuned["vat"]["verdict"], tuned["vat"]["few_documents"]) == (1.0, "better", True)
    samples = {}
    for name in base:
        before, after = (
            dict(zip(group.places, group.scores))
            for group in (compared[each].groups[KEYS][name] for each in ("base", "tuned"))
        )
        places = sorted({*before, *after})
        samples[name] = [before.get(place, 1.0) for place in places], [after.get(place, 1.0) for place in places]
    p_values = holm([paired_test(*columns) for columns in samples.values()])
    for (name, columns), p_value in zip(samples.items(), p_values):
        sample = differences(*columns)
        assert tuned[name]["difference"] == pytest.approx(sample.mean)
        assert tuned[name]["difference_interval"] == pytest.approx(list(sample.interval()))
        assert tuned[name]["p_value_adjusted"] == pytest.approx(p_value)
        if len(columns[0]) >= 6:
            assert tuned[name]["verdict"] == ("better" if p_value < 0.05 else "no significant difference")
    assert tuned["total"]["verdict"] == "better"
    assert "difference" not in base["total"]


def test_precision_recall_and_f1_have_intervals_of_their_own_by_document() -> None:
    """Where each document has one leaf on both sides, they are shares of documents; else, they are ratios of sums."""
    chance = random.Random(3)
    rows: list[dict[str, Any]] = []
    for number in range(60):
        items = [str(chance.randrange(3)) for _ in range(chance.randint(1, 4))]
        read = [item if chance.random() < 0.7 else "x" for item in items][: chance.randint(1, 4)]
        one = {"prediction": {"a": "x" if number % 5 else "y", "items": read}}
        rows.append({"references": {"a": "y", "items": items}, "doc_id": number // 2, **one})
    names = [row["doc_id"] for row in rows]
    leaf: Any = score(rows, variant="anls_star", by_key=True).to_dict()["submissions"][0]["groups"][KEYS]
    by_document = list(interval([float(number % 5 == 0) for number in range(60)], names))
    assert leaf["a"]["precision_interval"] == leaf["a"]["recall_interval"] == pytest.approx(by_document)
    assert leaf["a"]["f1_interval"] == pytest.approx(by_document)
    by_question: Any = score(rows, variant="anls_star", by_key=True, cluster_by="none").to_dict()["submissions"][0]
    for name in ("precision", "recall", "f1"):
        low, high = leaf["items"][f"{name}_interval"]
        assert low < leaf["items"][name] < high
        assert by_question["groups"][KEYS]["items"][f"{name}_interval"] != [low, high]
        assert [low, high] != leaf["items"]["interval"]


def test_outputs_have_the_counts(compared: Scores) -> None:
    rows = list(csv.DictReader(io.StringIO(compared.to_csv())))
    assert [(row["name"], row["key"]) for row in rows[:2]] == [("base", ""), ("base", "items")]
    assert len(rows) == 2 * 9
    (total,) = (row for row in rows if (row["name"], row["key"]) == ("tuned", "total"))
    right = compared.to_dict()["submissions"][1]["groups"][KEYS]["total"]["right"]
    assert (total["right"], total["leaves"], total["verdict"]) == (str(right), "40", "better")
    assert "precision" in str(compared)
    head = "| key of the value | submission | right | close | wrong | missed | invented | precision | recall | F1 |"
    assert head in compared.to_markdown()
    assert "invented & precision & recall & F1" in compared.to_latex()


def test_straight_through_rate_has_an_interval() -> None:
    rows = make_rows(1)
    rows[0]["prediction"] = {"A": "x", "b": ["y"]}
    rows[0]["references"] = {"a": "x", "b": ["y"]}  # equal but for case as JSON, and not as values
    document = score_by_key(rows, metrics="exact_match")
    exact = [float(each == 1.0) for each in score(rows, variant="anls_star")["data"].scores]
    metric = document["metrics"]["exact_match"]
    assert metric["mean"] == document["exact_match"] == pytest.approx(sum(exact) / len(exact))
    assert metric["interval"] == list(interval(exact))


def test_document_is_correct_if_all_of_its_values_are_right() -> None:
    answers: list[dict[str, Any]] = [{"a": "tea", "b": "x"}, {"a": "tee", "b": "x"}]
    rows = [
        {"prediction": answer, "references": answers[0], "confidence": 0.9 - place / 10, "verdict": not place}
        for place, answer in enumerate(answers)
    ]
    (document,) = score(rows, variant="anls_star", field={"judge": "verdict"}).to_dict()["submissions"]
    assert document["confidence"]["coverage"] == {"0.9": 0.5, "0.95": 0.5, "0.99": 0.5}
    assert (document["confidence"]["auroc"], document["judge"]["agreement"]) == (1.0, 1.0)


def test_confidences_of_single_values_are_measured_by_key() -> None:
    rows: list[dict[str, Any]] = [
        {
            "prediction": {"a": "x" if number % 2 else "y", "items": [{"n": "tea"}, {"n": "ice"}], "z": None},
            "references": {"a": "x", "items": [{"n": "ice"}, {"n": "tea"}], "b": "missed"},
            "scores": {"a": 0.9 if number % 2 else 0.25, "items": [{"n": 1}, {"n": "0.5"}] if number else 0.75},
        }
        for number in range(4)
    ]
    document = score_by_key(rows, field={"confidence": "scores"})
    keys = document["groups"][KEYS]
    assert keys["a"]["confidence"] | {"reliability": []} == {
        "leaves": 4,
        "auroc": 1.0,
        "aurc": 0.25,
        "ece": pytest.approx((0.1 * 2 + 0.25 * 2) / 4),
        "bins": 3,
        "coverage": {"0.9": 0.5, "0.95": 0.5, "0.99": 0.5},
        "reliability": [],
    }
    assert keys["a"]["confidence"]["reliability"] == [
        {"low": 0.2, "high": 0.3, "leaves": 2, "confidence": 0.25, "accuracy": 0.0},
        {"low": 0.9, "high": 1.0, "leaves": 2, "confidence": 0.9, "accuracy": 1.0},
    ]
    bins = {each["low"]: each["leaves"] for each in keys["items.n"]["confidence"]["reliability"]}
    assert bins == {0.5: 3, 0.7: 2, 0.9: 3}
    assert document["all_keys"]["confidence"]["leaves"] == 12
    assert "confidence" not in keys["b"] | keys["z"]
    assert "Confidence by key of the value" in str(
        score(rows, variant="anls_star", by_key=True, field={"confidence": "scores"})
    )
    with pytest.raises(ValueError, match='use variant="anls_star" and by_key=True'):
        score(rows, variant="anls_star", field={"confidence": "scores"})


def test_an_empty_key_is_a_key_of_its_own() -> None:
    rows = [{"prediction": {"": "x", "b": "y"}, "references": {"": "x", "b": "z"}, "confidence": {"": 0.9, "b": 0.4}}]
    document = score_by_key(rows)
    leaves = {name: group["confidence"]["leaves"] for name, group in document["groups"][KEYS].items()}
    assert (leaves, document["all_keys"]["confidence"]["leaves"]) == ({"": 1, "b": 1}, 2)


def test_values_without_keys_have_counts_and_no_table(tmp_path: Path) -> None:
    scores = score(["tea", ["a", "b"]] * 20, ["tea", ["b"]] * 20, variant="anls_star", by_key=True)
    (document,) = scores.to_dict()["submissions"]
    assert (document["groups"], document["all_keys"]["right"], document["all_keys"]["invented"]) == ({KEYS: {}}, 40, 20)
    assert "60 (40 right" in str(scores)
    assert KEYS not in str(scores) + scores.to_markdown()
    assert ",key," not in scores.to_csv()
    scores.report(tmp_path / "report.html")
