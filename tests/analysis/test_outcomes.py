"""The outcomes of answers: each row of the table, in its order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anls_metric
from anls_metric.analysis.outcomes import OUTCOMES, Judge, refuses, stands_in
from anls_metric.reading.batch import Row


def find_outcome(prediction: str | None, references: list[str], variant: str = "standard") -> str:
    score = 0.0 if prediction is None else anls_metric.anls_score(prediction, references, variant=variant)
    return Judge(variant).find_outcome(Row("7", prediction, references, {}), score)


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
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
    ],
)
def test_find_outcome_takes_the_first_row_that_fits(
    prediction: str | None, references: list[str], expected: str
) -> None:
    assert find_outcome(prediction, references) == expected


def test_find_outcome_depends_on_the_variant() -> None:
    assert find_outcome("none", ["Coca Cola"]) == "other"
    assert find_outcome("none", ["Coca Cola"], "mp_docvqa") == "empty"
    assert find_outcome("it says COLA and so on", ["cola"]) == "contains an answer"
    assert find_outcome("it says COLA and so on", ["cola"], "due") == "other"


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3), st.sampled_from(sorted(anls_metric.VARIANTS)))
def test_outcome_fits_the_score_of_any_answer(prediction: str, references: list[str], variant: str) -> None:
    score = anls_metric.anls_score(prediction, references, variant=variant)
    name = find_outcome(prediction, references, variant)
    row = next(outcome for outcome in OUTCOMES if outcome.name == name)
    assert row.scores_zero == (score <= 0)
    judge = Judge(variant)
    rows = [Row("7", prediction, references, {})] * 2
    assert judge.find_outcomes(rows, [score, score]) == [name, name]


def test_stands_in_compares_whole_words() -> None:
    assert stands_in("$5", "it is $5.")
    assert stands_in("ab c", "x ab c y")
    assert not stands_in("b", "abc")
    assert not stands_in("", "abc")
    assert not stands_in("é", "né")


def test_refuses_recognizes_refusals() -> None:
    for text in ("I'm sorry, but I can't", "Unanswerable", "The answer is not mentioned", "As an AI model"):
        assert refuses(text)
    for text in ("Can do", "Sorry", "No. 5", "not", "mention", "Dr. No"):
        assert not refuses(text)
