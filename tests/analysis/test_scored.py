"""What is known about a scored set: groups, the worst answers, exact matches, similarities."""

from __future__ import annotations

from typing import Any

import pytest

import anls_metric
from anls_metric import VARIANTS, score
from anls_metric.analysis.scored import explain, list_grouping_fields
from tests.analysis.scoring import score_columns
from tests.conftest import fuzzed_rows

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")


def make_rows(letters: str) -> list[dict[str, Any]]:
    """Make a row for each letter: y is right, h scores 0.5, n is wrong."""
    answers = {"y": "Cola", "h": "Co", "n": "x"}
    return [{"prediction": answers[letter], "answers": ["Cola"]} for letter in letters]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["x", "y", "x", "y"], {"x": (2, 0.5), "y": (2, 0.75)}),
        ([["x", "y"], ["x"], "absent", None], {"x": (2, 1.0), "y": (1, 1.0)}),  # a list is several groups
        ([["x", "x"], [], "x", "y"], {"x": (2, 0.5), "y": (1, 0.5)}),
        ([7, "7", 7.0, 7.5], {"7": (3, 2 / 3), "7.5": (1, 0.5)}),  # formats write a value differently
        ([10, 2, True, 2], {"2": (2, 0.75), "10": (1, 1.0), "True": (1, 0.0)}),  # 2 before 10
    ],
)
def test_groups_are_by_the_values_of_a_field(values: list[Any], expected: dict[str, tuple[int, float]]) -> None:
    rows = [row | ({} if value == "absent" else {"kind": value}) for row, value in zip(make_rows("yynh"), values)]
    groups = score(rows, by="kind").to_dict()["submissions"][0]["groups"]["kind"]
    found = [(name, (group["questions"], group["anls"])) for name, group in groups.items()]
    assert found == [*expected.items()]


def test_groups_of_keys_count_a_key_without_a_prediction_as_0() -> None:
    accepted = {"total": "5", "items": [{"name": "tea"}, {"name": "milk"}]}
    predictions: list[Any] = [{"total": "5", "items": [{"name": "tea"}]}, None]
    rows = [{"prediction": prediction, "answers": accepted} for prediction in predictions]
    groups = score(rows, variant="anls_star", by_key=True, missing="zero").to_dict()["submissions"][0]["groups"]
    assert {name: group["anls"] for name, group in groups["key of the value"].items()} == {
        "items": 0.25,
        "items.name": 0.5,
        "total": 0.5,
    }


def test_worst_say_why_they_have_their_score() -> None:
    worst = score(make_rows("yhn"), worst=2).to_dict()["submissions"][0]["worst"]
    assert [(each["id"], each["score"], each["closest_reference"]) for each in worst] == [
        ("3", 0.0, "Cola"),
        ("2", 0.5, "Cola"),
    ]
    assert "2 edits on 4 characters" in worst[1]["why"]


@pytest.mark.parametrize(
    ("variant", "predictions", "exact_match", "contains"),
    [
        ("standard", ["Coca Cola", " coca  cola ", "Coca Col", "the Coca Cola sign", "Pepsi"], 2 / 5, 3 / 5),
        ("standard", ["It is: Coca Cola!", None], 0.0, 0.5),
        ("lmms_eval_0_2", ["Coca Col", "Coca Cola"], 0.5, 0.5),  # both score 1
        ("due", ["coca cola"], 0.0, 0.0),
    ],
)
def test_exact_match_and_contains_are_shares_of_normalized_answers(
    variant: str, predictions: list[str | None], exact_match: float, contains: float
) -> None:
    scored = score_columns(predictions, [["Coca Cola"]] * len(predictions), scorer=variant)
    assert (scored.exact_match, scored.contains) == (exact_match, contains)


@pytest.mark.parametrize("variant", VARIANTS)
def test_similarities_are_those_of_the_explanations(variant: str) -> None:
    rows = fuzzed_rows(300, seed=3)
    scored = score_columns(
        [None, "None", *(row[0] for row in rows)], [[""], ["none"], *(row[1] for row in rows)], scorer=variant
    )
    for place, pair in enumerate(zip(scored.scores, scored.similarities)):
        why = explain(scored, place)
        assert pair == ((why.score, why.best.similarity) if why else (0.0, 0.0))


def test_interval_of_a_mean_of_leaves_takes_each_question_as_a_cluster() -> None:
    predictions, references = [["a", "b"], ["a", "x"], ["c"]], [["a", "b"], ["a", "b"], ["x"]]
    scores = score(predictions, references, variant="anls_star", average="leaves")
    assert scores.anls == 0.6
    assert scores.interval == anls_metric.interval([1.0, 1.0, 1.0, 0.0, 0.0], [1, 1, 2, 2, 3])


def test_list_grouping_fields_lists_fields_with_few_values() -> None:
    odd: dict[str, Any] = {"none": None, "same": 1, "raw": b"x", "tags": ["a"]}
    records = [odd | {"kind": n % 3, "half": n % 2, "id": n} for n in range(9)]
    assert list_grouping_fields(records, 5) == ["half", "kind"]
