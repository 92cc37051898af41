"""Exact match and contains agree with plain definitions, for any scorer and any answers."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from anls_metric import get_scorer, get_variant
from anls_metric.core.strings.matches import contains_any, find_matches, is_contained, normalize_wrong

TEXT = st.text("ab 1_-é", max_size=6)


@given(TEXT, TEXT)
def test_part_is_contained_as_whole_words(part: str, whole: str) -> None:
    found = re.search(rf"(?<!\w){re.escape(part)}(?!\w)", whole) if part else None
    assert is_contained(part, whole) == (found is not None)


@given(TEXT, st.lists(TEXT, max_size=3))
def test_any_reference_can_be_contained(prediction: str, references: list[str]) -> None:
    assert contains_any(prediction, references) == any(is_contained(text, prediction) for text in references)


FEW = st.sampled_from(["", "a", "A ", "a b", "b", "ab", " 1", "b a"])  # which are often equal
ROW = st.tuples(FEW | st.none(), st.lists(FEW, min_size=1, max_size=3))


@given(st.lists(ROW, min_size=1, max_size=5), st.sampled_from(["standard", "rrc", "due", "lmms_eval_0_2", "mp_docvqa"]))
def test_matches_are_those_of_normalized_strings(rows: list[tuple[str | None, list[str]]], variant: str) -> None:
    scorer = get_variant(variant)
    predictions, references = map(list, zip(*rows))
    answers = [prediction or "" for prediction in predictions]
    scores = [0.0 if row[0] is None else score for row, score in zip(rows, scorer.score(answers, references))]
    found = find_matches(predictions, references, scores, scorer)
    assert found == find_matches(
        predictions, references, scores, scorer, normalize_wrong(predictions, references, scores, scorer)
    )
    for place, (prediction, texts) in enumerate(rows):
        normalized = list(map(scorer.as_text, texts))
        text = "" if prediction is None else scorer.as_text(prediction)
        is_exact = prediction is not None and scores[place] > 0.0 and text in normalized
        assert found.exact[place] == is_exact
        assert found.contains[place] == (is_exact or contains_any(text, normalized))


def test_equal_strings_of_different_values_do_not_match() -> None:
    star = get_scorer("anls_star")
    scores = [0.5, 1.0]
    found = find_matches([{"a": "x", "b": 1}, {"a": "x"}], [({"a": "x", "B": 1},), ({"a": "x"},)], scores, star)
    assert found.exact == [False, True]
