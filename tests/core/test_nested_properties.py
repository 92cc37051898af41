"""ANLS* on random values: the same bits as the original program, and properties of all values."""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.core.values import anls_star_score, anlsl_score, explain_star
from anls_metric.core.values.matching import match
from tests.core.test_nested import same

# Few and similar texts, so that there are many ties, and unusual texts.
TEXTS = ["", " ", "a", "b", "ab", "abc", "abd", "Hello", "hallo", "a  b", "a b", "ß", "İ", "Σς", "σσ", "漢字", "🙂"]
TEXTS += ["12.5", "12.50", "2021", "2022", "None", "nan", "True", "1", "1.0", "x" * 30, "x" * 29 + "y", "\x1ca"]
NAN = math.nan  # the same object on both sides is equal inside a container, and not by itself
OTHERS = [0, 1, 10**20, 1.0, -0.0, 12.5, NAN, float("nan"), math.inf, True, False, None, None]
KEYS = ["a", "b", "c", "d", 1, "1", True, None]


class Maker:
    """Makes random values, and predictions that are close to them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def leaf(self) -> Any:
        return self.chance.choice(TEXTS if self.chance.random() < 0.65 else OTHERS)

    def value(self, depth: int, options: bool) -> Any:
        kind = self.chance.random()
        if depth <= 0 or kind < 0.35:
            return self.leaf()
        if kind < 0.62:
            return self.values(depth, options, [0, 1, 1, 2, 2, 3, 4, 6])
        if kind < 0.9:
            keys = self.chance.choices(KEYS, [9, 9, 9, 9, 1, 1, 1, 1], k=self.chance.choice([0, 1, 2, 3, 4]))
            return {key: self.value(depth - 1, options) for key in keys}
        return tuple(self.values(depth, options, [1, 2, 3])) if options else self.leaf()

    def values(self, depth: int, options: bool, counts: list[int]) -> list[Any]:
        return [self.value(depth - 1, options) for _ in range(self.chance.choice(counts))]

    def flat(self, most: int) -> list[Any]:
        """Make a typical long list: texts, or the rows of a table."""
        count = self.chance.randint(2, most)
        make: Callable[[], Any] = self.chance.choice(
            [self.leaf, self.row, self.text, self.row_of_texts, lambda: f"Item {self.chance.randint(1, 30)} tea"]
        )
        return [make() for _ in range(count)]

    def text(self) -> str:
        return self.chance.choice(TEXTS)

    def row_of_texts(self) -> dict[str, str]:
        return {key: self.text() for key in self.chance.sample("abc", self.chance.randint(1, 3))}

    def row(self) -> dict[str, Any]:
        return {key: self.leaf() for key in self.chance.sample("abcd", self.chance.randint(1, 4))}

    def near(self, value: Any, depth: int = 3) -> Any:
        """Make a prediction that is close to a reference."""
        chance = self.chance
        if isinstance(value, tuple):
            return self.near(chance.choice(value), depth)
        if chance.random() < 0.06:
            return self.value(depth, options=False)
        if isinstance(value, list):
            items = [self.near(item, depth - 1) for item in value if chance.random() > 0.12]
            items += [self.value(depth - 1, options=False) for _ in range(chance.random() < 0.2)]
            return chance.sample(items, len(items)) if chance.random() < 0.5 else items
        if isinstance(value, dict):
            pairs = [(key, self.near(item, depth - 1)) for key, item in value.items() if chance.random() > 0.12]
            pairs += [(key, self.value(depth - 1, options=False)) for key in "az"[: chance.random() < 0.2]]
            return dict(chance.sample(pairs, len(pairs)))
        if isinstance(value, str) and value and chance.random() < 0.3:
            place = chance.randrange(len(value))
            return value[:place] + chance.choice("abx1 ") + value[place + 1 :]
        return value

    def rows(self, count: int, depth: int = 4) -> list[tuple[Any, Any]]:
        """Make predictions with their references."""
        references = [
            self.flat(12) if self.chance.random() < 0.2 else self.value(depth, options=True) for _ in range(count)
        ]
        return [(self.near(reference), reference) for reference in references]


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Any:
    """anls_star 1.0.1 with munkres 1.1.4, which adds floats as before Python 3.12."""
    pytest.importorskip("anls_star", reason="anls_star is not installed (pip install anls_star==1.0.1 munkres==1.1.4)")
    for package, wanted in (("anls_star", "1.0.1"), ("munkres", "1.1.4")):
        found = importlib.metadata.version(package)
        if found != wanted:
            pytest.skip(f"{package} {found} is installed: the numbers are those of {package} {wanted}")
    program = importlib.import_module("anls_star.anls_star")

    def added_in_turn(numbers: Any) -> Any:
        total = 0
        for number in numbers:
            total += number
        return total

    monkeypatch.setattr(program, "sum", added_in_turn, raising=False)
    return program


def list_keys(keys: dict[str, Any], score: str) -> dict[str, Any]:
    return {name: (getattr(key, score), list_keys(key.children, score)) for name, key in keys.items()}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 5))])
@pytest.mark.parametrize("threshold", [0.5, 0.0, 1 / 3, 1.0])
def test_original_gives_the_same_bits(
    seed: int, threshold: float, original: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(original.ANLSTree, "THRESHOLD", threshold)
    scores = set()
    for prediction, reference in Maker(seed + int(1000 * threshold)).rows(400 if threshold == 0.5 else 50):
        if reference == [] and isinstance(prediction, str):
            continue  # refused there, 0 here
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a list of texts against a text
            score, closest, keys = original.anls_score(reference, prediction, return_gt=True, return_key_scores=True)
        why = explain_star(prediction, reference, threshold=threshold)
        assert anls_star_score(prediction, reference, threshold=threshold) == why.score == score
        assert same(why.closest, closest)
        assert same(list_keys(why.key_scores, "score"), list_keys(keys, "anls_score"))
        scores.add(score)
    assert len(scores) > 8


def test_matching_is_that_of_munkres(original: Any) -> None:
    chance = random.Random(5)
    few = [0.0, 0.5, 2 / 3, 0.75, 1.0, math.nextafter(1.0, 2.0), 5e-324]
    for _ in range(1500):
        rows, columns = chance.randint(1, 9), chance.randint(1, 9)
        number: Callable[[], float] = chance.choice(
            [chance.random, lambda: chance.choice(few), lambda: 1 - chance.randint(0, 7) / 7]
        )
        weights = [[number() for _ in range(columns)] for _ in range(rows)]
        theirs = original.Munkres().compute(original.make_cost_matrix(weights))
        assert match(weights) == theirs


def test_no_matching_has_a_higher_sum() -> None:
    chance = random.Random(7)
    for _ in range(300):
        rows, columns = chance.randint(1, 5), chance.randint(1, 5)
        weights = [[chance.choice([chance.random(), 0.0, 1.0]) for _ in range(columns)] for _ in range(rows)]
        found = match(weights)
        assert len(found) == min(rows, columns) == len({row for row, _ in found}) == len({place for _, place in found})
        wide = weights if rows <= columns else [list(row) for row in zip(*weights)]
        best = max(
            math.fsum(row[place] for row, place in zip(wide, places))
            for places in itertools.permutations(range(len(wide[0])), len(wide))
        )
        assert math.fsum(weights[row][place] for row, place in found) == pytest.approx(best)


def test_keys_left_out_cost_nothing() -> None:
    """If dicts hold only leaves, "ignored" gives the score of "counted" without the ignored keys."""
    maker = Maker(13)
    for _ in range(300):
        reference, prediction = maker.row(), maker.row()
        kept = {key: item for key, item in prediction.items() if key in reference or item not in (None, "")}
        assert anls_star_score(prediction, reference, none_keys="ignored") == anls_star_score(kept, reference)


texts = st.text("abcAB 1.éß", max_size=6)
leaves = st.one_of(texts, st.integers(-3, 30), st.booleans(), st.none(), st.floats(-2, 2))
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
)


@given(values)
def test_value_against_itself_is_right(value: Any) -> None:
    why = explain_star(value, value)
    assert why.score == 1
    assert why.closest == value
    assert all(leaf.score == 1 for leaf in why.leaves)


@given(values, values, st.randoms(use_true_random=False))
def test_order_of_predicted_keys_does_not_matter(prediction: Any, reference: Any, chance: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {key: shuffled(value[key]) for key in chance.sample(list(value), len(value))}

    assert anls_star_score(shuffled(prediction), reference) == anls_star_score(prediction, reference)


@given(st.lists(texts, max_size=7), st.lists(texts, max_size=7), st.randoms(use_true_random=False))
def test_order_of_texts_does_not_matter(prediction: list[str], reference: list[str], chance: random.Random) -> None:
    star = anls_star_score(prediction, reference)
    lists = anlsl_score(prediction, reference) if reference else 0
    for side in (prediction, reference):
        chance.shuffle(side)
        assert anls_star_score(prediction, reference) == pytest.approx(star, abs=1e-12)
        assert not reference or anlsl_score(prediction, reference) == pytest.approx(lists, abs=1e-12)


@given(values.filter(lambda value: not isinstance(value, str)), st.lists(values, min_size=1, max_size=4))
def test_best_of_several_accepted_values_counts(prediction: Any, options: list[Any]) -> None:
    best = max(anls_star_score(prediction, option) for option in options)
    assert anls_star_score(prediction, tuple(options)) == best
    assert anls_star_score({"a": prediction}, {"a": tuple(options)}) == best
