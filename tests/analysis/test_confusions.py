"""The most frequent edits of a set. The rows are made up."""

from __future__ import annotations

import doctest
from collections.abc import Sequence

from anls_metric import VARIANTS, anls_score
from anls_metric.analysis import confusions
from anls_metric.analysis.confusions import ConfusionCounter
from anls_metric.reading.batch import Row, get_texts


def count(pairs: Sequence[tuple[str | None, str]], most: int = 10) -> list[tuple[str, str, int]]:
    counter = ConfusionCounter(VARIANTS["standard"])
    rows = [Row(str(place), prediction, [accepted], {}) for place, (prediction, accepted) in enumerate(pairs)]
    counter.add(rows, [0.0 if row.prediction is None else anls_score(*get_texts(row)) for row in rows])
    return [(each.predicted, each.accepted, each.count) for each in counter.list_most_frequent(most)]


def test_letters_and_short_pieces_are_counted() -> None:
    pairs = [("modem box", "modern box"), ("modem", "modern"), ("CocaCola", "Coca Cola"), ("12.", "12")]
    assert count(pairs) == [("m", "rn", 2), ("", " ", 1), (".", "", 1)]


def test_edits_side_by_side_are_one_piece() -> None:
    assert count([("abXYcdefgh", "abZcdefgh")]) == [("xy", "z", 1)]


def test_long_pieces_are_other_words() -> None:
    assert count([("the white house on hill", "the black house on hill")]) == [
        piece
        for piece in count([("the white house on hill", "the black house on hill")])
        if max(map(len, piece[:2])) < 4
    ]
    assert count([("Coca Cola", "Coca Cola Light")]) == []


def test_answers_that_score_0_or_1_or_are_missing_do_not_count() -> None:
    assert count([("x", "y"), ("same", "same"), (None, "a")]) == []


def test_equally_frequent_edits_have_one_order() -> None:
    pairs = [("b0b", "bob"), ("ca1l", "call")]
    assert count(pairs) == count(pairs[::-1]) == [("0", "o", 1), ("1", "l", 1)]
    assert count(pairs, 1) == [("0", "o", 1)]


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(confusions).failed == 0
