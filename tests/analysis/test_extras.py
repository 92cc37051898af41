"""The most frequent edits of a set, and suspected label errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from anls_metric import compare, score
from anls_metric.analysis.suspects import Suspect

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

Pairs = Sequence[tuple[str | None, str]]
Answers = Mapping[str, str | None]


def count(pairs: Pairs, most: int = 10) -> list[tuple[str, str, int]]:
    predictions, accepted = zip(*pairs)
    confusions = score(list(predictions), [[text] for text in accepted], missing="zero").confusions(most)["data"]
    return [(each.predicted, each.accepted, each.count) for each in confusions]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (
            [("modem box", "modern box"), ("modem", "modern"), ("CocaCola", "Coca Cola"), ("12.", "12")],
            [("m", "rn", 2), ("", " ", 1), (".", "", 1)],
        ),
        ([("abXYcdefgh", "abZcdefgh")], [("xy", "z", 1)]),  # adjacent edits are one
        ([("Coca Cola", "Coca Cola Light")], []),  # a longer edit is another word
        ([("x", "y"), ("same", "same"), (None, "a")], []),  # scores of 0 and 1, and no answer
        ([("b0b", "bob"), ("ca1l", "call")], [("0", "o", 1), ("1", "l", 1)]),
        ([("ca1l", "call"), ("b0b", "bob")], [("0", "o", 1), ("1", "l", 1)]),  # in the order of the characters
    ],
)
def test_confusions_are_the_short_edits_by_frequency(pairs: Pairs, expected: list[tuple[str, str, int]]) -> None:
    assert count(pairs) == expected
    assert count(pairs, 1) == expected[:1]


def test_confusions_count_every_run() -> None:
    runs = [[{"id": 1, "answer": answer}] for answer in ("modem", "modem", "modern")]
    (confusion,) = score(runs, [{"id": 1, "answers": ["modern"]}]).confusions()["data"]
    assert confusion.count == 2


TEA, MILK = {"7": "Tea"}, {"7": "Milk"}


def find(*answers: Answers) -> list[Suspect]:
    """Compare submissions on the questions that one of them has."""
    ids = dict.fromkeys(key for each in answers for key in each)
    gold = [{"questionId": key, "answers": ["Cola"]} for key in ids]
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
def test_suspects_are_wrong_answers_on_which_most_agree(answers: list[Answers], expected: list[Suspect]) -> None:
    assert find(*answers) == expected


def test_suspects_are_sorted_by_agreement_and_then_by_the_order_of_the_questions() -> None:
    full = {"7": "Tea", "8": "Tea", "9": "Tea"}
    suspects = find(full, full, full, full | {"7": "Milk", "8": "Cocoa"})
    assert [(suspect.id, suspect.submissions) for suspect in suspects] == [("9", 4), ("7", 3), ("8", 3)]
