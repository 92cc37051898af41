"""The statistics of a scored set."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anls_metric
from anls_metric.analysis.scored import ScoredSet, Tally, group, grouping_fields
from anls_metric.reading.batch import Row
from anls_metric.reading.submissions import find_submissions
from tests.conftest import fuzzed_rows

ROWS = [
    Row("1", "CocaCola", ["Coca Cola"], {"page": 1, "tags": ["x", "y"]}),
    Row("2", "The Coca", ["Coca Cola"], {"page": 2, "tags": ["x"]}),
    Row("3", "", ["Coca Cola"], {"page": 2}),
    Row("4", None, [""], {"page": None}),
]


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=1), st.randoms(use_true_random=False))
def test_tally_has_the_bits_of_the_mean_in_any_order_and_pieces(scores: list[float], chance: random.Random) -> None:
    shuffled = chance.sample(scores, len(scores))
    cut = chance.randint(0, len(scores))
    tally = Tally()
    tally.add(shuffled[:cut])
    tally.add(shuffled[cut:])
    assert tally.mean == anls_metric.mean(scores)
    assert tally.count == len(scores)


def test_scored_set_counts_zeros_by_outcome() -> None:
    scored_set = ScoredSet()
    scored = scored_set.add(ROWS)
    assert [answer.zero for answer in scored] == ["", "other", "empty", "missing"]
    assert scored_set.zeros == dict.fromkeys(scored_set.zeros, 0) | {"other": 1, "empty": 1, "missing": 1}
    assert scored_set.mean == pytest.approx(8 / 9 / 4)
    assert scored_set.count == 4
    assert scored_set.explain(scored[3]) is None


def test_zeros_depend_on_the_variant() -> None:
    scored_set = ScoredSet(replace(anls_metric.VARIANTS["nls"], no_answers=("The Coca",)))
    assert [answer.zero for answer in scored_set.add(ROWS)] == ["", "empty", "empty", "missing"]
    assert scored_set.signature == "anls|nls|threshold:0.0|no_answers:('The Coca',)|v" + anls_metric.__version__


def test_group_adds_batches() -> None:
    scored_set = ScoredSet(by=["page", "tags"])
    for row in ROWS:
        scored_set.add([row])
    assert {name: tally.count for name, tally in scored_set.groups["page"].items()} == {"1": 1, "2": 2}
    assert {name: tally.mean for name, tally in scored_set.groups["tags"].items()} == {"x": 4 / 9, "y": 8 / 9}


@pytest.mark.parametrize("worst", [0, 1, 3, 10])
@pytest.mark.parametrize("piece", [1, 2, 7])
def test_worst_are_sorted_by_score_and_place(worst: int, piece: int) -> None:
    chance = random.Random(worst)
    rows = [Row(str(place), "ab" + "c" * chance.randint(0, 4), ["abcc"], {}) for place in range(20)]
    scored_set = ScoredSet(worst=worst)
    scored = [answer for start in range(0, 20, piece) for answer in scored_set.add(rows[start : start + piece])]
    assert scored_set.worst == sorted(scored, key=lambda answer: answer.score)[:worst]


def test_group_names_equal_values_alike() -> None:
    """Different formats hold the same value as 7, "7" or 7.0."""
    rows = [Row(str(n), "a", ["a"], {"page": page}) for n, page in enumerate([1, "1", 1.0, 1.5, True, None])]
    assert {name: tally.count for name, tally in group(ScoredSet().add(rows), "page").items()} == {
        "1": 3,
        "1.5": 1,
        "True": 1,
    }


def test_empty_set_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no rows to score"):
        _ = ScoredSet().mean
    assert list(ScoredSet().add([])) == []


@pytest.mark.parametrize("variant", anls_metric.VARIANTS)
def test_kept_rows_have_the_same_scores_and_similarities(variant: str) -> None:
    rows = [Row(str(n), *row, {}) for n, row in enumerate(fuzzed_rows(300, seed=3))]
    rows[7] = rows[7]._replace(prediction=None)
    rows[8] = rows[8]._replace(prediction="None", references=["none"])
    light, with_rows = ScoredSet(variant), ScoredSet(variant, keep=True)
    scored = light.add(rows)
    with_rows.add(rows[:100])
    with_rows.add(rows[100:])
    assert [answer[:2] for answer in with_rows.rows] == [answer[:2] for answer in scored]
    assert [answer.outcome for answer in with_rows.rows] == [answer.outcome for answer in scored]
    assert with_rows.mean == light.mean
    assert with_rows.outcomes == light.outcomes
    assert {answer.similarity for answer in scored} == {None}
    for answer in with_rows.rows:
        why = with_rows.explain(answer)
        assert (answer.score, answer.similarity) == ((why.score, why.best.similarity) if why else (0.0, 0.0))


def test_grouping_fields_lists_fields_that_make_groups() -> None:
    records = [
        {"none": None, "same": 1, "kind": n % 3, "tags": ["a", "b"][: n % 2], "raw": b"x", "id": n} for n in range(9)
    ]
    assert grouping_fields([Row(str(n), "a", ["a"], record) for n, record in enumerate(records)]) == ["kind"]


def test_exact_match_and_contains_count_normalized_answers() -> None:
    predictions = ["Coca Cola", " coca  cola ", "Coca Col", "the Coca Cola sign", "It is: Coca Cola!", "Pepsi", None]
    scored_set = ScoredSet()
    scored_set.add([Row(str(n), text, ["Coca Cola"], {}) for n, text in enumerate(predictions)])
    assert scored_set.exact_match == 2 / 7
    assert scored_set.contains == 4 / 7


def test_exact_match_of_a_variant_that_scores_all_or_nothing() -> None:
    scored_set = ScoredSet("lmms_eval_0_2")
    scored_set.add([Row("1", "Coca Col", ["Coca Cola"], {}), Row("2", "Coca Cola", ["Coca Cola"], {})])
    assert scored_set.mean == 1.0
    assert scored_set.exact_match == 0.5


def test_exact_match_and_contains_agree_with_plain_steps_on_real_answers(real_answers: Path) -> None:
    """Of the answers of maverick, 0.861 are exact, and 0.916 contain an accepted answer."""
    files = find_submissions([str(real_answers / "gold.json"), str(real_answers / "submission__llama_maverick.json")])
    scored_set = ScoredSet()
    for rows in files[0].batches():
        scored_set.add(rows)
    assert scored_set.exact_match == 0.861
    assert scored_set.contains == 0.916
