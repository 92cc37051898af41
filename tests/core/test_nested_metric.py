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
        result = star.compute(**rows, return_all_scores=True)
        assert result == {"anls_star": variant.mean(ROWS), "anls_star_scores": SCORES}


def test_anlsl(anlsl: Any) -> None:
    scores = [nested.anlsl_score(*row) for row in zip(LISTS, ACCEPTED)]
    assert scores == [2 / 3, 0.5, 1 / 9]
    result = anlsl.compute(predictions=LISTS, references=ACCEPTED, return_all_scores=True)
    assert result == {"anlsl": math.fsum(scores) / 3, "anlsl_scores": scores}


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


def test_rows_are_kept_as_they_were_when_they_were_added(star: Any) -> None:
    predictions, references = copy.deepcopy((PREDICTIONS, REFERENCES))
    star.add(prediction=predictions[0], reference=references[0])
    star.add_batch(predictions=predictions[1:4], references=references[1:4])
    star.add(prediction=None, reference=references[4])  # None is a value
    predictions[0]["items"][0]["name"] = "beer"
    references[1].clear()
    twin = pickle.loads(pickle.dumps(star))
    for one in (star, twin):
        assert len(one) == 5
        result = one.compute(predictions=PREDICTIONS[5:], references=REFERENCES[5:], return_all_scores=True)
        assert result == {"anls_star": MEAN, "anls_star_scores": SCORES}
        assert len(one) == 0


def test_columns_of_pyarrow_with_structs(star: Any) -> None:
    predictions = pyarrow.array([{"n": "1", "m": ["a"]}, {"n": "2", "m": None}])
    references = pyarrow.array([{"n": "1", "m": ["a", "b"]}, {"n": "2", "m": None}])
    assert star.compute(predictions=predictions, references=references) == {"anls_star": (2 / 3 + 1) / 2}


# Refused input, of which nothing stays

BAD = {"items": [{"price": "1"}, {"price": "2"}, {"price": b"3"}]}


def test_error_names_the_row_and_the_place_in_it(star: Any, anlsl: Any) -> None:
    counted = r"row {} \(counted from 0\), items\[2\]\.price, is b'3'"
    for _ in range(2):
        star.add_batch(predictions=["a"] * 2, references=["a"] * 2)
        with pytest.raises(ValueError, match=rf"^the reference of {counted.format(2)}"):
            star.add(prediction="a", reference=BAD)
        assert len(star) == 2
        with pytest.raises(ValueError, match=rf"^the prediction of {counted.format(3)}"):
            star.compute(predictions=["a", BAD], references=["a", {}])
        assert len(star) == 0
    with pytest.raises(ValueError, match=r"the prediction of row 1 \(counted from 0\), item 1, is 5 "):
        anlsl.add_batch(predictions=[["a"], ["a", 5]], references=[["a"], ["a"]])
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
    with pytest.raises(ValueError, match="unknown argument 'variant'"):
        evaluate.load("anls", "anls_star", variant="rrc")
    with pytest.raises(ValueError, match="anls_star is for lists and nested values"):
        metric.compute(**rows, variant="anls_star")
    for options in ({}, {"average": "leaves"}):
        with pytest.raises(ValueError, match="there are no rows"):
            star.compute(**options)
    with pytest.raises(ValueError, match="anls_star"):  # the hook of a trainer scores strings
        star.build_compute_metrics(None)


# The values as JSON


def test_json_round_trip_keeps_values_and_what_enumerations_are_compared_as() -> None:
    values = [*PREDICTIONS[:5], *REFERENCES, {"a": ("x", {"b": (1, None)}), "c": [([],)], "d": {}}]
    assert nested.from_json(json.loads(json.dumps(nested.to_json(values)))) == values
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
