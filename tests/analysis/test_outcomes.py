"""The outcomes of answers: each row of the table, in its order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import VARIANTS, score
from anls_metric.analysis.outcomes import OUTCOMES, ZERO_OUTCOMES, is_contained, refuses
from tests.analysis.scoring import score_columns

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


def find_outcome(prediction: str | None, references: list[str], variant: str = "standard") -> str:
    return score_columns([prediction], [references], scorer=variant).findings.outcomes[0]


@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_outcome_is_the_first_row_that_fits_and_is_counted_in_the_document() -> None:
    predictions, references, expected = (list(column) for column in zip(*SITUATIONS))
    scores = score(predictions, references, missing="zero")
    assert [answer["outcome"] for answer in scores.answers()] == expected
    counts = {outcome.name: expected.count(outcome.name) for outcome in OUTCOMES}
    assert scores.to_dict()["submissions"][0]["outcomes"] == counts
    assert all(counts.values())  # each row of the table has a situation


def test_outcome_depends_on_the_variant() -> None:
    assert [find_outcome("none", ["cola"], name) for name in ("standard", "mp_docvqa")] == ["other", "empty"]
    found = [find_outcome("it says COLA and so on", ["cola"], name) for name in ("standard", "due")]
    assert found == ["contains an answer", "other"]


@given(st.text(), st.lists(st.text(), min_size=1, max_size=3), st.sampled_from(sorted(VARIANTS)))
def test_outcome_is_one_of_zero_exactly_for_a_score_of_0(prediction: str, references: list[str], variant: str) -> None:
    scored = score_columns([prediction], [references], scorer=variant)
    assert (scored.findings.outcomes[0] in ZERO_OUTCOMES) == (scored.scores[0] <= 0)
    assert scored.findings.exact[0] <= scored.findings.contains[0]


@pytest.mark.parametrize(
    ("parts", "whole", "expected"),
    [(("5", "$5", "is", "it is $5."), "it is $5.", True), (("", "i", "$5", "is", "5"), "it_is $55 15", False)],
)
def test_is_contained_compares_whole_words(parts: list[str], whole: str, expected: bool) -> None:
    assert {part: is_contained(part, whole) for part in parts} == dict.fromkeys(parts, expected)


def test_refuses_recognizes_refusals_and_lets_answers_pass() -> None:
    refusals = ["I'm sorry, but I can't", "Unanswerable", "It is not mentioned", "As an AI model"]
    answers = ["Can do", "Sorry", "No. 5", "not", "mention", "Dr. No"]
    assert [text for text in refusals + answers if refuses(text)] == refusals
