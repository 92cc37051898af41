"""Suspected label errors: questions where most submissions agree on an answer that is not accepted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from anls_metric import compare
from anls_metric.analysis.suspects import Suspect

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

TEA, MILK = {"7": "Tea"}, {"7": "Milk"}


def find(*answers: Mapping[str, str | None], accepted: str = "Cola") -> list[Suspect]:
    """Compare submissions on the questions that one of them has."""
    ids = dict.fromkeys(key for each in answers for key in each)
    gold = [{"questionId": key, "answers": [accepted]} for key in ids]
    tables = {str(place): [{"id": key, "answer": each[key]} for key in each] for place, each in enumerate(answers)}
    return compare(tables, gold, missing="zero").suspects()


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([TEA, {"7": " tea"}, {"7": "TEA"}], [Suspect("7", "tea", 3, ["Cola"])]),
        ([{"7": "Colas"}] * 3, [Suspect("7", "colas", 3, ["Cola"])]),  # it scores 0.8
        ([TEA, TEA, MILK], []),  # fewer than three agree
        ([*[TEA] * 3, *[MILK] * 3], []),  # not more than half
        ([*[TEA] * 3, *[MILK] * 2], [Suspect("7", "tea", 3, ["Cola"])]),
        ([{"7": "Cola"}] * 3, []),
        ([{"7": "  "}] * 3, []),
        ([{"7": None}] * 3, []),
        ([*[TEA] * 3, *[{"8": "Tea"}] * 3], []),  # who lacks a question does not agree
    ],
)
def test_suspects_are_wrong_answers_on_which_most_submissions_agree(
    answers: list[Mapping[str, str | None]], expected: list[Suspect]
) -> None:
    assert find(*answers) == expected


def test_suspects_are_sorted_by_agreement_and_then_by_the_order_of_the_questions() -> None:
    full = {"7": "Tea", "8": "Tea", "9": "Tea"}
    suspects = find(full, full, full, full | {"7": "Milk", "8": "Cocoa"})
    assert [(suspect.id, suspect.submissions) for suspect in suspects] == [("9", 4), ("7", 3), ("8", 3)]


def test_suspects_need_three_submissions() -> None:
    with pytest.raises(ValueError, match="suspected label errors need 3 submissions, got 2"):
        find(TEA, TEA)
