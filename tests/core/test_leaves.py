"""What becomes of each leaf, against a brute force of its own: it tries all orders of a list, and shares no code."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.core.values import VALUE_VARIANTS, NoneKeys, RowScore
from tests.core.test_nested_properties import Maker


def score_leaves(prediction: Any, reference: Any, none_keys: NoneKeys = "counted") -> RowScore:
    variant = replace(VALUE_VARIANTS["anls_star"], none_keys=none_keys, lists_leaves=True)
    return variant.score_row(prediction, reference)


def count(row: RowScore) -> dict[str, int]:
    """Count the leaves by "outcome key"."""
    return dict(Counter(" ".join([leaf.outcome, ".".join(map(str, leaf.keys))]).strip() for leaf in row.leaves))


NO_VALUES: tuple[Any, ...] = (None, "", [], {})
NP = {"n": "tea", "p": "2"}


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        *(({"a": value}, {"a": None}, {"blank a": 1}) for value in NO_VALUES),
        ({}, {"a": None}, {"blank a": 1}),
        ({"a": "x"}, {"a": None}, {"invented a": 1}),
        ({"a": {"b": 1, "c": [2, 3]}}, {"a": None}, {"invented a.b": 1, "invented a.c": 2}),
        ({"a": ""}, {"a": ""}, {"blank a": 1}),
        ({}, {"a": ""}, {"missed a": 1}),
        ({"a": None}, {"a": ""}, {"missed a": 1}),
        ({"a": "x"}, {"a": " "}, {"invented a": 1}),
        ({"a": []}, {"a": []}, {}),
        ({}, {"a": []}, {"missed a": 1}),
        ({"a": [{"k": 1, "l": 2}]}, {"a": []}, {"invented a.k": 1, "invented a.l": 1}),
        *(({"a": value}, {"a": "x"}, {"missed a": 1}) for value in (*NO_VALUES, "  ")),
        ({"z": None}, {}, {"invented z": 1}),
        ({"z": {"b": []}}, {}, {"invented z": 1}),
        ({"a": {"v": 1, "c": 2}}, {"a": "12.50 EUR"}, {"wrong a": 1, "invented a.c": 1}),
        ({"a": "12.50 EUR"}, {"a": {"v": 1, "c": 2}}, {"wrong a.v": 1, "wrong a.c": 1}),
        ({"a": []}, {"a": {"v": 1, "c": 2}}, {"missed a.v": 1, "missed a.c": 1}),
        ([NP], NP, {"wrong n": 1, "wrong p": 1}),
        (NP, [NP, NP], {"wrong n": 2, "wrong p": 2}),
        ("I cannot read it", {"a": 1, "m": [2, {"n": 3}]}, {"missed a": 1, "missed m": 1, "missed m.n": 1}),
        (7, {"a": 1, "m": 2}, {"wrong a": 1, "wrong m": 1}),
        ("x", {}, {"invented": 1}),
        ("tea", ["coffee", "tea"], {"right": 1}),  # a text against a list of texts: one of them
        ([{"n": "milk"}], [NP, {"n": "milk"}], {"right n": 1, "missed n": 1, "missed p": 1}),
        ([{"n": "milk"}, NP, {"q": 1}], [NP, {"n": "milk"}], {"right n": 2, "right p": 1, "invented q": 1}),
        ([["c"], ["a", "xy"]], [["a", "b"], ["c"]], {"right": 2, "wrong": 1}),
        ({"a": "tee"}, {"a": ("coffee", "tea")}, {"close a": 1}),
        ([], [("tea", {"n": "tea", "p": 2})], {"missed n": 1, "missed p": 1}),  # of a missed item, the largest
        ({"a": [[]]}, {"a": {"b": []}}, {}),  # both sides without leaves
    ],
)
def test_outcomes(prediction: Any, reference: Any, expected: dict[str, int]) -> None:
    assert count(score_leaves(prediction, reference)) == expected


def test_unknown_keys_without_a_value_can_be_ignored() -> None:
    assert count(score_leaves({"z": None, "y": "", "x": 0}, {}, "ignored")) == {"invented x": 1}


@pytest.mark.parametrize(
    ("reference", "expected"), [({"a": None, "b": ["x"]}, {"missed a": 1, "missed b": 1}), ([], {"missed": 1})]
)
def test_question_without_an_answer_misses_every_leaf(reference: Any, expected: dict[str, int]) -> None:
    variant = replace(VALUE_VARIANTS["anls_star"], lists_leaves=True)
    row = variant.score_missing(reference)
    assert (count(row), len(row.leaves)) == (expected, row.length)


def test_leaves_have_values_and_paths() -> None:
    prediction = {"items": [{"n": "milk", "p": None}, {"n": "tee"}], "total": {"v": 1}, "tip": 2}
    reference = {"items": [{"n": "tea", "p": "2"}, {"n": "milk", "p": "1"}, {"n": "ice"}], "total": "1 EUR"}
    found = [leaf for leaf in score_leaves(prediction, reference).leaves if leaf.outcome != "right"]
    assert [(leaf.path, leaf.outcome, leaf.prediction, leaf.reference) for leaf in found] == [
        ("items[1].n", "close", "tee", "tea"),
        ("items[0].p", "missed", None, "2"),
        ("items[0].p", "missed", None, "1"),
        ("items[2].n", "missed", None, "ice"),
        ("total", "wrong", {"v": 1}, "1 EUR"),
        ("tip", "invented", 2, None),
    ]


@pytest.mark.parametrize("none_keys", ["counted", "ignored"])
def test_every_leaf_of_the_score_has_one_outcome(none_keys: NoneKeys) -> None:
    for prediction, reference in Maker(17).rows(1500):
        row = score_leaves(prediction, reference, none_keys)
        assert len(row.leaves) == row.length
        assert math.fsum(leaf.score for leaf in row.leaves) == pytest.approx(math.fsum(row.scores) if row.length else 0)
        assert all(bool(leaf.path) or not leaf.keys for leaf in row.leaves)


# The brute force: counts by "outcome" and keys, the number of leaves, and the sum of their scores


class Found:
    def __init__(self, *leaves: tuple[str, tuple[str, ...], float]) -> None:
        self.leaves = list(leaves)

    def __add__(self, other: Found) -> Found:
        return Found(*self.leaves, *other.leaves)

    @property
    def average(self) -> float:
        return sum(score for _, _, score in self.leaves) / len(self.leaves) if self.leaves else 1.0


@lru_cache
def distance(one: str, other: str) -> int:
    if not one or not other:
        return len(one) + len(other)
    return min(
        distance(one[1:], other) + 1, distance(one, other[1:]) + 1, distance(one[1:], other[1:]) + (one[0] != other[0])
    )


def is_blank(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def spread(outcome: str, value: Any, keys: tuple[str, ...]) -> Found:
    """Every leaf inside a value gets one outcome."""
    if isinstance(value, dict):
        return sum((spread(outcome, item, (*keys, key)) for key, item in value.items()), Found())
    if isinstance(value, list):
        return sum((spread(outcome, item, keys) for item in value), Found())
    return Found((outcome, keys, 0.0))


def at_least_one(found: Found, outcome: str, keys: tuple[str, ...]) -> Found:
    return found if found.leaves else Found((outcome, keys, 0.0))


def compare(p: Any, r: Any, keys: tuple[str, ...] = (), *, is_root: bool = True) -> list[Found]:
    """All results that equally good orders of lists can have."""
    if isinstance(p, dict) and isinstance(r, dict):
        results = [Found()]
        for key, item in r.items():
            inner = compare(p.get(key), item, (*keys, key), is_root=False)
            results = [one + other for one in results for other in inner]
        more = [
            at_least_one(spread("invented", p[key], (*keys, key)), "invented", (*keys, key))
            for key in p
            if key not in r
        ]
        return [sum(more, one) for one in results]
    if isinstance(p, list) and isinstance(r, list):
        return compare_lists(p, r, keys)
    if r is None and (p is None or p in ("", [], {})):
        return [Found(("blank", keys, 1.0))]
    if not any(isinstance(side, (dict, list, type(None))) for side in (p, r)):
        return [compare_texts(str(p), str(r), keys)]
    if r is None or (is_blank(r) and not is_blank(p)):
        found, outcome = spread("invented", p, keys), "invented"
    elif is_blank(p) or (is_root and isinstance(p, str)):
        found, outcome = spread("missed", r, keys), "missed"
    else:
        found, outcome = at_least_one(spread("wrong", r, keys), "wrong", keys), "wrong"
        found = found + Found(*spread("invented", p, keys).leaves[len(found.leaves) :])
    has_leaves = any(not isinstance(side, (dict, list)) or spread("", side, ()).leaves for side in (p, r))
    return [at_least_one(found, outcome, keys) if has_leaves else Found()]


def compare_texts(p: str, r: str, keys: tuple[str, ...]) -> Found:
    p, r = (" ".join(text.lower().split()) for text in (p, r))
    score = 1 - distance(p, r) / max(len(p), len(r)) if p or r else 1.0
    if score == 1.0:
        return Found(("right" if r else "blank", keys, 1.0))
    if score >= 0.5:
        return Found(("close", keys, score))
    return Found(("missed" if not p else "wrong" if r else "invented", keys, 0.0))


def compare_lists(p: list[Any], r: list[Any], keys: tuple[str, ...]) -> list[Found]:
    pairs = [[compare(item, other, keys, is_root=False)[0] for item in p] for other in r]
    best = -1.0
    results: list[Found] = []
    count = min(len(p), len(r))
    for rows in itertools.combinations(range(len(r)), count):
        for columns in itertools.permutations(range(len(p)), count):
            chosen = list(zip(rows, columns))
            weight = sum(pairs[row][column].average for row, column in chosen)
            if weight > best + 1e-9:
                best, results = weight, []
            if weight > best - 1e-9:
                missed = [spread("missed", item, keys) for place, item in enumerate(r) if place not in rows]
                invented = [spread("invented", item, keys) for place, item in enumerate(p) if place not in columns]
                results.append(sum([*(pairs[row][column] for row, column in chosen), *missed, *invented], Found()))
    return results


texts = st.sampled_from(["", " ", "a", "b", "ab", "abc", "abd", "1", "12", "1.2"])
leaves = texts | st.integers(-1, 12) | st.booleans() | st.none()
records = st.dictionaries(st.sampled_from("ab"), leaves, max_size=2)
values = st.recursive(
    leaves | st.lists(leaves | records, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(values, values)
def test_counts_are_those_of_a_brute_force_and_add_up_to_the_denominator(prediction: Any, reference: Any) -> None:
    if isinstance(prediction, str) and isinstance(reference, list) and all(isinstance(r, str) for r in reference):
        reference = {"a": reference}  # elsewhere, these are accepted texts
    row = score_leaves(prediction, reference)
    found = Counter((leaf.outcome, leaf.keys) for leaf in row.leaves)
    possible = compare(prediction, reference)
    assert found.total() == row.length
    assert found in [Counter((outcome, keys) for outcome, keys, _ in each.leaves) for each in possible]
    assert any(float(row) == pytest.approx(each.average) for each in possible)
