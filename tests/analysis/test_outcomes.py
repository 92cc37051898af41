"""The outcomes of answers, each row of the table in its order, and the credit that they lose or gain."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import VARIANTS, anls_score, get_variant, score
from anls_metric.analysis.outcomes import (
    OUTCOMES,
    ZERO_OUTCOMES,
    keep_digits,
    keep_letters_and_digits,
)
from anls_metric.analysis.partial_credit import measure_partial_credit
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.strings.metrics import is_contained
from tests.analysis.scoring import score_columns

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

SITUATIONS = [
    (None, ["a"], "missing"),
    ("coca  COLA", ["Coca Cola"], "equal"),
    ("Coca Col", ["Coca Cola"], "close enough"),
    ("  ", ["Coca Cola"], "empty"),
    ("5.0", ["5"], "same value"),
    ("ten", ["10"], "same value"),
    ("10 percent of", ["10"], "contains an answer"),
    ("The total is 5, as the table says", ["5"], "contains an answer"),
    ("The total is 15, as the table says", ["5"], "another number"),
    ("5", ["5 million dollars a year"], "part of an answer"),
    ("1-2-3-4-5", ["12345"], "close enough"),
    ("1.2.3.4", ["1234567", "1 2 3 4 /////////"], "formatting"),
    ("é à", ["e…………… a………………"], "formatting"),
    ("1988", ["2019"], "another number"),
    ("1988", ["nineteen"], "other"),
    ("I cannot answer this", ["Coca Cola"], "refusal"),
    ("I cannot answer this", ["It cannot be determined from the page at all, not at all"], "other"),
    ("Pepsi", ["Coca Cola"], "other"),
    ("...", ["Coca Cola"], "other"),
]


def test_outcome_is_the_first_row_that_fits_and_is_counted_in_the_document() -> None:
    predictions, references, expected = (list(column) for column in zip(*SITUATIONS))
    scores = score(predictions, references, missing="zero")
    assert [answer["outcome"] for answer in scores.answers()] == expected
    counts = {outcome.name: expected.count(outcome.name) for outcome in OUTCOMES}
    assert scores.to_dict()["submissions"][0]["outcomes"] == counts
    assert all(counts.values())  # each row of the table has a situation


def test_outcome_depends_on_the_variant() -> None:
    outcomes = {
        "standard": ["refusal", "contains an answer"],
        "mp_docvqa": ["empty", "contains an answer"],
        "due": ["refusal", "other"],
    }
    for variant, expected in outcomes.items():
        scored = score_columns(["none", "it says COLA and so on"], [["cola"]] * 2, scorer=variant)
        assert scored.answer_outcomes == expected


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3), st.sampled_from(sorted(VARIANTS)))
def test_outcome_is_one_of_zero_exactly_for_a_score_of_0(prediction: str, references: list[str], variant: str) -> None:
    scored = score_columns([prediction], [references], scorer=variant)
    assert (scored.answer_outcomes[0] in ZERO_OUTCOMES) == (scored.scores[0] <= 0)
    assert scored.matches.exact[0] <= scored.matches.contains[0]


def test_is_contained_compares_whole_words() -> None:
    assert all(is_contained(part, "it is $5.") for part in ("5", "$5", "is", "it is $5."))
    assert not any(is_contained(part, "it_is $55 15") for part in ("", "i", "$5", "is", "5"))


# What format costs, and what wrong numbers gain: equal to the definition in plain steps


@pytest.mark.parametrize(
    ("prediction", "references", "lost", "gained"),
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
        ("x²", ["x2"], Fraction(1, 2), 0),
        ("5", ["5"], 0, 0),
        ("", ["5"], 0, 0),
        (None, ["5"], 0, 0),
    ],
)
def test_partial_credit_of_an_answer(prediction: Any, references: list[str], lost: float, gained: float) -> None:
    scores = score([prediction], [references], metrics="partial_credit", missing="zero")
    expected = {"format_loss": lost, "wrong_number_credit": gained}
    assert scores.to_dict()["submissions"][0]["partial_credit"] == pytest.approx(expected)


TEXTS = st.text(st.sampled_from("0012.,$% -ab"), max_size=8)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1), st.sampled_from([*VARIANTS]))
def test_partial_credit_is_the_sum_of_the_definition(pairs: list[tuple[str, list[str]]], variant: str) -> None:
    normalize, lost, gained = get_variant(variant).as_text, Fraction(), Fraction()
    for prediction, references in pairs:
        points = anls_score(prediction, references, variant=variant)
        text, accepted = normalize(prediction), list(map(normalize, references))
        if points >= 1 or text in VARIANTS[variant].no_answers:
            continue
        letters, digits, others = keep_letters_and_digits(text), keep_digits(text), list(map(keep_digits, accepted))
        same = is_any_same_value(text, accepted)
        if same or (letters and letters in map(keep_letters_and_digits, accepted)):
            lost += 1 - Fraction(points)
        elif digits and any(others) and digits not in others:
            gained += Fraction(points)
    predictions, accepted_answers = zip(*pairs)
    found = measure_partial_credit(score_columns(predictions, accepted_answers, scorer=variant))
    assert found == pytest.approx((lost / len(pairs), gained / len(pairs)))
