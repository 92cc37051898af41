"""What format costs a submission, and what it gains from wrong numbers: equal to the definition in plain steps."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import VARIANTS, anls_score, score
from anls_metric.analysis.outcomes import keep_digits, keep_letters_and_digits
from anls_metric.analysis.partial_credit import measure_partial_credit
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.scoring import normalizer
from tests.analysis.scoring import score_columns

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")


@pytest.mark.parametrize(
    ("prediction", "references", "format_loss", "wrong_number_credit"),
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
def test_partial_credit_of_an_answer(
    prediction: str | None, references: list[str], format_loss: float, wrong_number_credit: float
) -> None:
    scores = score([prediction], [references], metrics="partial_credit", missing="zero")
    expected = {"format_loss": format_loss, "wrong_number_credit": wrong_number_credit}
    assert scores.to_dict()["submissions"][0]["partial_credit"] == pytest.approx(expected)


TEXTS = st.text(st.sampled_from("0012.,$% -ab"), max_size=8)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1), st.sampled_from([*VARIANTS]))
def test_partial_credit_is_the_sum_of_the_definition(pairs: list[tuple[str, list[str]]], variant: str) -> None:
    normalize, lost, gained = normalizer(variant), Fraction(), Fraction()
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


def test_partial_credit_is_averaged_over_runs_by_question() -> None:
    runs = [[{"id": 1, "answer": first}, {"id": 2, "answer": "a"}] for first in ("240", "240.00")]
    gold = [{"id": 1, "answers": ["240.00"]}, {"id": 2, "answers": ["a"]}]
    found = score(runs, gold, metrics="partial_credit").to_dict()["submissions"][0]["partial_credit"]
    assert found == {"format_loss": 0.125, "wrong_number_credit": 0.0}
