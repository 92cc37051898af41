"""Lists and nested values behind `evaluate.load("anls", "anls_star")` and `"anlsl"`."""

from __future__ import annotations

import copy
import json
import math
import pickle
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from anls_metric import nested

evaluate = pytest.importorskip("evaluate")
pyarrow = pytest.importorskip("pyarrow")


class Color(str, Enum):
    RED = "Red"


PREDICTIONS: list[Any] = [
    {"total": 12.5, "items": [{"name": "tee"}, {"name": "milk", "price": None}]},
    ["Air", "bus"],
    "CocaCola",
    {"paid": True, "date": "31 Dec 2023", "tags": []},
    None,
    [Color.RED, math.inf, "half a pair: \ud800"],
]
REFERENCES: list[Any] = [
    {"total": "12.50", "items": [{"name": "milk"}, {"name": ("tea", "coffee")}]},
    ["Bus", "Air", ("Other", "Others")],
    ["Coca Cola", "Coca Cola Company"],
    {"paid": ("yes", "true"), "date": ("31.12.2023", "31 Dec 2023"), "tip": None},
    {"a": {"b": "c"}},
    ["inf", "color.red"],
]
SCORES = nested.anls_star_scores(PREDICTIONS, REFERENCES)
STAR, LEAVES = nested.get_value_variant(), nested.get_value_variant(average="leaves")
ROWS = STAR.score(PREDICTIONS, REFERENCES)
MEAN = STAR.mean(ROWS)

LISTS = [["Cola", "tea", "milk"], "b", ["x"] * 9]
ACCEPTED = [["tea", "cola"], ["a", "b", "b"], ("x", "y")]


@pytest.fixture
def star(in_clone: Path) -> Any:
    return evaluate.load("anls", "anls_star")


@pytest.fixture
def anlsl(in_clone: Path) -> Any:
    return evaluate.load("anls", "anlsl")


def test_average_and_all_scores(star: Any) -> None:
    for variant in (STAR, LEAVES):
        rows: dict[str, Any] = {"predictions": PREDICTIONS, "references": REFERENCES, "average": variant.average}
        found = star.compute(**rows, return_all_scores=True)
        assert found == {"anls_star": variant.mean(ROWS), "anls_star_scores": SCORES}


def test_anlsl(anlsl: Any) -> None:
    scores = [nested.anlsl_score(*row) for row in zip(LISTS, ACCEPTED)]
    assert scores == [2 / 3, 0.5, 1 / 9]
    found = anlsl.compute(predictions=LISTS, references=ACCEPTED, return_all_scores=True)
    assert found == {"anlsl": math.fsum(scores) / 3, "anlsl_scores": scores}


def test_options_when_it_is_loaded_and_when_it_computes(in_clone: Path) -> None:
    strict = evaluate.load("anls", "anls_star", threshold=0.9, none_keys="ignored")
    rows = {"predictions": PREDICTIONS, "references": REFERENCES}
    expected = nested.anls_star_scores(*rows.values(), threshold=0.9, none_keys="ignored")
    assert strict.compute(**rows, return_all_scores=True)["anls_star_scores"] == expected
    again = nested.anls_star_scores(*rows.values(), threshold=0.9, none_keys="counted")
    assert strict.compute(**rows, return_all_scores=True, none_keys="counted")["anls_star_scores"] == again
    assert SCORES != expected != again
    assert "|none_keys:ignored|average:rows|threshold:0.9|" in strict.signature()
    assert "|none_keys:ignored|average:leaves|threshold:0.9|" in strict.signature(average="leaves")
    lists = evaluate.load("anls", "anlsl").signature(threshold=0.7)
    assert lists.startswith("anls|anlsl|matching:munkres-1.1.4|threshold:0.7")


def test_metric_describes_itself(star: Any, anlsl: Any) -> None:
    for metric, name, paper in ((star, "ANLS*", "2402.03848"), (anlsl, "ANLSL", "2104.14336")):
        assert name in metric.description
        assert metric.reference_urls == [f"https://arxiv.org/abs/{paper}"]
    assert [set(features) for features in star.features] == [{"predictions", "references"}]


# Ways to pass rows


def test_add_and_add_batch_and_compute_together(star: Any) -> None:
    star.add(prediction=PREDICTIONS[0], reference=REFERENCES[0])
    star.add_batch(predictions=PREDICTIONS[1:4], references=REFERENCES[1:4])
    star.add(prediction=None, reference=REFERENCES[4])  # None is a value
    assert len(star) == 5
    found = star.compute(predictions=PREDICTIONS[5:], references=REFERENCES[5:], return_all_scores=True)
    assert found == {"anls_star": MEAN, "anls_star_scores": SCORES}
    assert len(star) == 0


def test_rows_are_kept_as_they_were_when_they_were_added(star: Any) -> None:
    predictions, references = copy.deepcopy((PREDICTIONS, REFERENCES))
    star.add_batch(predictions=predictions, references=references)
    predictions[0]["items"][0]["name"] = "beer"
    references[1].clear()
    assert star.compute() == {"anls_star": MEAN}


def test_columns_of_pyarrow_with_structs(star: Any) -> None:
    predictions = pyarrow.array([{"n": "1", "m": ["a"]}, {"n": "2", "m": None}])
    references = pyarrow.array([{"n": "1", "m": ["a", "b"]}, {"n": "2", "m": None}])
    assert star.compute(predictions=predictions, references=references) == {"anls_star": (2 / 3 + 1) / 2}


def test_pickled_before_and_after_use(star: Any) -> None:
    star.add_batch(predictions=PREDICTIONS[:3], references=REFERENCES[:3])
    twin = pickle.loads(pickle.dumps(star))
    for one in (star, twin):
        one.add_batch(predictions=PREDICTIONS[3:], references=REFERENCES[3:])
        assert one.compute() == {"anls_star": MEAN}


# Refused input, of which nothing stays

BAD = {"items": [{"price": "1"}, {"price": "2"}, {"price": b"3"}]}


def test_error_names_the_row_and_the_path(star: Any) -> None:
    def refused(side: str, row: int, call: Any, *columns: Any) -> None:
        names = ("prediction", "reference") if call == star.add else ("predictions", "references")
        with pytest.raises(
            ValueError, match=rf"^the {side} of row {row} \(counted from 0\), items\[2\]\.price, is b'3'"
        ):
            call(**dict(zip(names, columns)))

    star.add_batch(predictions=["a"] * 2, references=["a"] * 2)
    refused("prediction", 3, star.add_batch, ["a", BAD], ["a", {}])
    refused("reference", 2, star.add, "a", BAD)
    with pytest.raises(ValueError, match=r"the prediction of row 2 \(counted from 0\) is a tuple"):
        star.add(prediction=("a",), reference="a")
    assert len(star) == 2
    assert star.compute() == {"anls_star": 1.0}
    refused("prediction", 1, star.compute, ["a", BAD], ["a", {}])
    star.add(prediction="a", reference="a")
    refused("prediction", 2, star.compute, ["a", BAD], ["a", {}])
    assert len(star) == 0
    assert star.compute(predictions=["a"], references=["b"]) == {"anls_star": 0.0}


def test_error_of_a_list_names_the_row_and_the_item(anlsl: Any) -> None:
    with pytest.raises(ValueError, match=r"the prediction of row 1 \(counted from 0\), item 1, is 5 "):
        anlsl.add_batch(predictions=[["a"], ["a", 5]], references=[["a"], ["a"]])
    with pytest.raises(ValueError, match=r"the references of row 0 \(counted from 0\) is an empty list"):
        anlsl.add(prediction=["a"], reference=[])
    assert len(anlsl) == 0


def test_unknown_arguments_are_refused(star: Any, anlsl: Any, metric: Any) -> None:
    rows: dict[str, Any] = {"predictions": ["a"], "references": ["a"]}
    for one, option, there_are in (
        (star, {"variant": "rrc"}, "none_keys, average, threshold"),
        (star, {"ignore_case": False}, "none_keys, average, threshold"),
        (anlsl, {"average": "leaves"}, "threshold"),
        (metric, {"average": "leaves"}, "variant, threshold, ignore_case"),
    ):
        with pytest.raises(ValueError, match=f"'{next(iter(option))}'; choose from .*{there_are}"):
            one.compute(**rows, **option)
    with pytest.raises(ValueError, match=r"average must be one of 'rows', 'leaves', got 'row'"):
        star.compute(**rows, average="row")
    with pytest.raises(ValueError, match="unknown argument 'variant'"):
        evaluate.load("anls", "anls_star", variant="rrc")
    with pytest.raises(ValueError, match="anls_star is for lists and nested values"):
        metric.compute(**rows, variant="anls_star")
    with pytest.raises(ValueError, match="no rows to score"):
        star.compute()
    with pytest.raises(ValueError, match="there are no rows"):
        star.compute(average="leaves")


def test_trainer_hook_is_one_of_texts(star: Any) -> None:
    with pytest.raises(ValueError, match="anls_star"):
        star.build_compute_metrics(None)


# The values as JSON


@pytest.mark.parametrize(
    "value",
    [*PREDICTIONS[:5], *REFERENCES, {"a": ("x", {"b": (1, None)}), "c": [([],)], "d": {}}],
)
def test_json_round_trip_keeps_values(value: Any) -> None:
    assert nested.from_json(json.loads(json.dumps(nested.to_json(value)))) == value


def test_enumerations_travel_as_they_are_compared() -> None:
    assert nested.to_json([Color.RED, 1.5, True, None]) == ["Color.RED", 1.5, True, None]


DEEP: list[Any] = []
DEEP.append(DEEP)


@pytest.mark.parametrize(
    ("convert", "value", "message"),
    [
        (nested.to_json, {1: "a"}, "cannot be written as JSON"),
        (nested.to_json, {"a": [{"__tuple__": ["a"]}]}, "cannot be written as JSON"),
        (nested.to_json, {None: "a"}, "cannot be written as JSON"),
        (nested.from_json, [{"__tuple__": "ab"}], "write one of several values as"),
        (nested.from_json, [{"__tuple__": [1], "b": 2}], "write one of several values as"),
        (nested.from_json, DEEP, "nested too deep"),
    ],
)
def test_values_that_json_cannot_hold_are_refused(convert: Any, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(value)
