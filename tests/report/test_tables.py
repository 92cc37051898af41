"""The tables of submissions, and the sentence for a paper that begins them in LaTeX and ends them in Markdown."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from anls_metric import compare, score
from anls_metric.analysis.evaluation import evaluate
from anls_metric.document import build_document
from anls_metric.options import Settings
from anls_metric.reading.inputs import Input
from anls_metric.report.numbers import PERCENT, PLAIN, NumberFormat
from anls_metric.report.tables import _escape_latex, as_latex, as_markdown, write_sentence
from anls_metric.report.wording import word


def write(numbers: NumberFormat = PERCENT, rows: Any = (), rights: Any = (), fewer: int = 0, **options: Any) -> str:
    """Write the sentence about submissions a_0, a_1 and so on, given the numbers of their right answers.

    The last one has fewer rows, by a number.
    """
    inputs = []
    for place, right in enumerate(rights):
        own = rows[: len(rows) - fewer * (place > 0)]
        answers = [{"id": n, **row, "prediction": "tea" if n < right else "no"} for n, row in enumerate(own)]
        inputs.append(Input(answers, f"a_{place}"))
    return write_sentence(
        word(build_document(evaluate(inputs, None, Settings(quiet=True, **options)))),
        numbers,
        quote=lambda signature: "SIGNATURE",
    )


PLAIN_ROWS = [{"answers": ["tea"]}] * 100
DOCUMENTS = [{"answers": ["tea"], "docId": f"d{n // 2}"} for n in range(100)]
RUNS = [{"answers": ["tea"], "id": n // 2, "seed": n % 2} for n in range(100)]
SCORE, BY = "a_0 scores 80.0 ANLS (95% CI 70.9 to 86.8; SIGNATURE)", "paired randomization test by"
SITUATIONS: Any = [
    ({"rights": [80]}, f"On 100 questions, {SCORE}."),
    ({"rights": [80], "rows": DOCUMENTS}, "On 100 questions about 50 documents, a_0 scores 80.0 ANLS"),
    (
        {"rights": [80, 60]},
        f"{SCORE}, 20.0 points higher than a_1 (95% CI of the difference 11.5 to 28.0; {BY} question",
    ),
    ({"rights": [60, 80]}, "a_1 scores 80.0 ANLS (95% CI 70.9 to 86.8; SIGNATURE), 20.0 points higher than a_0"),
    ({"rights": [80, 60], "rows": DOCUMENTS}, f"{BY} document, p = 0.003)."),
    ({"rights": [80, 80]}, "a_1 scores 80.0 ANLS (95% CI 70.9 to 86.8; SIGNATURE), level with a_0 (95% CI of the"),
    ({"rights": [80, 79]}, f"-1.8 to 3.7; {BY} question, p = 1.00; minimum detectable effect 3.9)."),
    ({"rights": [80, 60, 20]}, "than a_1 (unadjusted 95% CI of the difference 11.5 to 28.0"),
    ({"rights": [80, 60, 20]}, "p < 0.001, adjusted for choosing a_0, the best of 3)."),
    (
        {"rights": [80, 60, 20], "baseline": "a_2"},
        "60.0 points higher than a_2 (unadjusted 95% CI of the difference 49.0",
    ),
    ({"rights": [80, 60, 20], "baseline": "a_2"}, "p < 0.001, adjusted for 2 comparisons with a_2 (Holm))."),
    ({"rights": [80, 60, 20], "all_pairs": True}, "p < 0.001, adjusted for 3 comparisons (Holm))."),
    ({"rights": [8, 0], "rows": PLAIN_ROWS[:10]}, "p = 0.008; few documents)."),
    ({"rights": [5, 0], "rows": PLAIN_ROWS[:5]}, "p = 0.06; too few documents for a verdict)."),
    (
        {"rights": [1, 0], "rows": PLAIN_ROWS[:1]},
        f"a_0 scores 100.0 ANLS (SIGNATURE), 100.0 points higher than a_1 ({BY}",
    ),
    (
        {"rights": [1, 0], "numbers": PLAIN},
        "a_0 scores 0.0100 ANLS (95% CI 0.0000 to 0.0614; SIGNATURE), 0.0100 higher than a_1",
    ),
    ({"rights": [80], "variant": "anls_star"}, "a_0 scores 80.0 ANLS* (95% CI"),
    ({"rights": [80], "rows": RUNS}, "On 50 questions, a_0 scores 80.0 ANLS (mean of 2 runs, 95% CI"),
    ({"rights": [80, 60], "fewer": 10}, "22.2 points higher than a_1 (on the 90 questions that both have; 95%"),
]


@pytest.mark.parametrize(("situation", "part"), SITUATIONS)
def test_sentence_says_what_was_scored_compared_and_tested(situation: Any, part: str) -> None:
    assert part in write(**{"rows": PLAIN_ROWS, **situation})


def test_sentence_counts_the_questions_that_are_unanswered() -> None:
    gold = [{"id": n, "answers": ["tea"]} for n in range(10)]
    inputs = [Input([{"id": n, "answer": "tea"} for n in range(8)], "a")]
    document = word(build_document(evaluate(inputs, Input(gold, "gold"), Settings(missing="zero", quiet=True))))
    assert document["submissions"][0]["unanswered"] == 2
    for write_table in (as_markdown, as_latex):
        assert "Unanswered questions, which score 0: 2 of a." in write_table(document, PERCENT, ())
    start = "On 10 questions (2 of them unanswered, which score 0), a scores 80.0 ANLS"
    assert write_sentence(document, PERCENT).startswith(start)
    document = word(build_document(evaluate(inputs, Input(gold, "gold"), Settings(missing="skip", quiet=True))))
    assert "unanswered" not in document["submissions"][0]
    assert write_sentence(document, PERCENT).startswith("On 8 questions, a scores 100.0 ANLS")


def test_sentence_stands_in_markdown_and_as_a_comment_in_latex() -> None:
    rows = [{"id": n, "prediction": "tea", "references": ["tea"]} for n in range(40)]
    document = word(build_document(evaluate([Input(rows, "a_%|1")], None, Settings(quiet=True))))
    interval = PERCENT.format(document["submissions"][0]["interval"])
    signature, score = document["signature"], f"scores 100.0 ANLS (95% CI {interval}; "
    sentence = as_markdown(document, PERCENT, ()).splitlines()[-1]
    assert sentence == rf"> On 40 questions, a\_%\|1 {score}`{signature}`)."
    quoted = rf"\texttt{{{signature.replace('|', chr(92) + 'textbar{}')}}}"
    comment = as_latex(document, PERCENT, ()).splitlines()[1]
    assert comment == rf"% On 40 questions, a\_\%\textbar{{}}1 {score.replace('%', chr(92) + '%')}{quoted})."


def test_submissions_without_a_verdict_are_not_called_without_a_difference() -> None:
    predictions = {"a": ["tea"] * 4 + ["no"], "b": ["no"] * 5}
    scores = compare(predictions, [["tea"]] * 5)
    assert "**Best**; *too few documents for a verdict*." in scores.to_markdown()
    assert "Bold: the best; underlined: too few documents for a verdict." in scores.to_latex()
    enough = compare({name: texts * 20 for name, texts in predictions.items()}, [["tea"]] * 100)
    assert "underlined" not in enough.to_latex()
    equal = compare(dict.fromkeys("ab", predictions["a"] * 20), [["tea"]] * 100)
    assert "; underlined: not significantly worse than the best." in equal.to_latex()


@pytest.mark.parametrize("end", [-0.0003, 0.0, 0.0003])
def test_zero_has_no_sign_and_ends_an_interval_in_latex(end: float) -> None:
    text = PERCENT.format((-0.1, end), "+")
    assert text == "-10.0 to 0.0"
    assert _escape_latex(text) == "$[-10.0,0.0]$"


def test_csv_has_any_column_that_a_key_has() -> None:
    values = score([{"a": "x", "b": "y"}], [{"a": "x", "b": "z"}], variant="anls_star", by_key=True)
    rows = list(csv.DictReader(values.to_csv(columns="cost").splitlines()))
    assert [(row["key"], row["cost"]) for row in rows] == [("", ""), ("a", "0.0"), ("b", "0.5")]
