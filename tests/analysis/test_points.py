"""The points lost to format and given to wrong numbers equal the definition in plain steps. The rows are made up."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import VARIANTS, anls_score
from anls_metric.analysis import points
from anls_metric.analysis.outcomes import Judge, keep_digits, keep_letters_and_digits
from anls_metric.analysis.points import PointCounter, Points
from anls_metric.analysis.same_value import is_same_value
from anls_metric.core.scoring import normalizer
from anls_metric.reading.batch import Row


def count_points(pairs: list[tuple[str, list[str]]], variant: str = "standard") -> Points:
    judge = Judge(variant)
    rows = [Row(str(place), prediction, references, {}) for place, (prediction, references) in enumerate(pairs)]
    scores = [anls_score(prediction, references, variant=variant) for prediction, references in pairs]
    counter = PointCounter(judge)
    for row, score in zip(rows, scores):  # in pieces
        counter.add([row], [score], judge.find_outcomes([row], [score]))
    return counter.count_points(len(rows))


@pytest.mark.parametrize(
    ("prediction", "references", "lost", "given_to"),
    [
        ("977,633", ["977633"], Fraction(1, 7), 0),
        ("240", ["240.00"], Fraction(1, 2), 0),
        ("ten", ["10"], 1, 0),
        ("- 12 -", ["12"], 1, 0),
        ("(4 waves)", ["4 waves"], Fraction(2, 9), 0),
        ("$3,000.00", ["3000"], 1, 0),
        ("0.26", ["0.28"], 0, Fraction(3, 4)),
        ("0.26", ["0.28", "0.26%"], Fraction(1, 5), 0),
        ("report 12", ["report"], 0, 0),
        ("report", ["report 12"], 0, 0),
        ("report 12", ["report 13", "report"], 0, Fraction(8, 9)),
        ("Coca Col", ["Coca Cola"], 0, 0),
        ("1988", ["2019"], 0, 0),
        ("it is 5 or so", ["5"], 0, 0),
        ("5", ["5"], 0, 0),
        ("", ["5"], 0, 0),
    ],
)
def test_points_of_an_answer(prediction: str, references: list[str], lost: float, given_to: float) -> None:
    assert count_points([(prediction, references)]) == pytest.approx((lost, given_to))


TEXTS = st.text(st.sampled_from("0012.,$% -ab"), max_size=8)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1), st.sampled_from([*VARIANTS]))
def test_points_are_the_sums_of_the_definition(pairs: list[tuple[str, list[str]]], variant: str) -> None:
    normalize, lost, given_to = normalizer(variant), Fraction(), Fraction()
    for prediction, references in pairs:
        score = anls_score(prediction, references, variant=variant)
        text, accepted = normalize(prediction), list(map(normalize, references))
        if score >= 1 or text in Judge(variant).no_answers:
            continue
        letters = keep_letters_and_digits(text)
        same = any(is_same_value(text, other) for other in accepted)
        if same or (letters and letters in map(keep_letters_and_digits, accepted)):
            lost += 1 - Fraction(score)
        elif (digits := keep_digits(text)) and any(others := list(map(keep_digits, accepted))) and digits not in others:
            given_to += Fraction(score)
    assert count_points(pairs, variant) == pytest.approx((lost / len(pairs), given_to / len(pairs)))


def test_examples_of_the_docstrings_run() -> None:
    assert doctest.testmod(points).failed == 0
