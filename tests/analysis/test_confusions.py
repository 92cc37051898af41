"""The most frequent edits of a set."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from anls_metric import score

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

Pairs = Sequence[tuple[str | None, str]]


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
