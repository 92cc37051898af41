"""Corrections of accepted answers. The files are made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.reading.conftest import Shell

GOLD = [{"questionId": n, "answers": [text]} for n, text in ((7, "Tea time"), (8, "milk"), (9, "y"))]
ANSWERS = {"7": "tea", "8": "x", "9": "1,5"}
ACCEPTED = {"questionId": 7, "accept": ["a tea", "tea"], "note": "as the page says"}

# A file of corrections, its content, and the score: 7 and 9 are right with more accepted answers, and 8 is excluded.
FILES: list[tuple[str, Any, float]] = [
    ("c.json", [ACCEPTED, {"questionId": "8", "exclude": True}, {"questionId": 9, "accept": "1,5"}], 1),
    ("c.csv",
        'questionId,accept,exclude,note\n8,,true,no\n7,"[""tea"", ""a tea""]",,\n9,"1,5",false,"so, ""it"" is"\n', 1),
    ("c.jsonl", [{"questionId": 9, "accept": "1,5"}, ACCEPTED, {"questionId": 8, "exclude": "yes"}], 1),
    ("c.json", [ACCEPTED], 1 / 3),
    ("c.json", [{"questionId": 8, "exclude": True}], 0),
    ("c.json", [{**ACCEPTED, "mark": "annotation wrong"}, {"questionId": "8", "mark": "unclear"}], 1 / 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "expected"), FILES)
def test_corrections_change_the_score(shell: Shell, name: str, content: Any, expected: float) -> None:
    shell.write({"gold.json": GOLD, "x.json": ANSWERS, name: content})
    assert shell.scores(f"gold.json x.json --corrections {name}") == pytest.approx([expected])
    assert shell.scores("gold.json x.json --quiet") == [0]
    assert shell.scores(f"gold.json x.json n=x.json --corrections {name}") == pytest.approx([expected] * 2)


def test_signature_depends_on_what_is_corrected_alone(shell: Shell) -> None:
    shell.write({"gold.json": GOLD, "x.json": ANSWERS})

    def sign(records: Any) -> str:
        shell.write({"c.json": records})
        signature: str = shell.document("gold.json x.json --corrections c.json")["signature"]
        return signature.partition("|corrections:")[2].partition("|")[0]

    excluded = {"questionId": 8, "exclude": True}
    first = sign([ACCEPTED, excluded])
    assert first == sign([excluded, {"questionId": "7", "accept": ["tea", "a tea", "tea"]}])
    others = [[ACCEPTED], [{**ACCEPTED, "questionId": 9}, excluded], [{**ACCEPTED, "accept": "tea"}, excluded]]
    assert len({first, *map(sign, others)}) == 4
    assert all(len(each) == 8 for each in [first, *map(sign, others)])


@pytest.mark.parametrize("is_text", [True, False])
def test_value_that_is_accepted_is_an_alternative_to_the_reference(shell: Shell, is_text: bool) -> None:
    rows = [{"questionId": n, "prediction": {"sum": "5.0"}, "answers": {"sum": "5"}} for n in range(4)]
    value = {"sum": "5.0"}
    shell.write({"t.json": rows, "c.json": [{"questionId": 2, "accept": json.dumps(value) if is_text else value}]})
    assert shell.scores("t.json --variant anls_star") == [0.0]
    assert shell.scores("t.json --variant anls_star --corrections c.json") == [0.25]


def test_corrections_of_numbered_questions_name_the_option_that_is_missing(shell: Shell) -> None:
    rows = [{"doc_ref": f"d{n}", "prediction": "a", "answers": ["b"]} for n in range(4)]
    shell.write({"t.json": rows, "c.json": [{"questionId": "d2", "accept": "a"}]})
    assert "have none of the ids d2: pass the id field with --id-field" in shell.error("t.json --corrections c.json")
    assert shell.scores("t.json --corrections c.json --id-field doc_ref") == [0.25]


REFUSED: list[tuple[Any, str]] = [
    ([{"accept": "x"}], "c.json, record 1: questionId must be the id of a question, got None"),
    ([{"questionId": True, "accept": "x"}], "c.json, record 1: questionId must be the id of a question, got True"),
    ([{"questionId": 7, "acept": "x"}], "unknown field 'acept'; choose from questionId, accept"),
    ({"1": ["x"]}, "unknown field '(key)'; choose from questionId, accept, exclude, note"),
    ([{"questionId": 7}], "a correction must have either accept or exclude: fix the one for question 7"),
    ([{"questionId": 7, "accept": "x", "exclude": True}], "a correction must have either accept or exclude: fix"),
    ([{"questionId": 7, "exclude": "perhaps"}], "exclude must be true or false, 1 or 0, correct or incorrect, yes"),
    ([{"questionId": 7, "accept": [1]}], "accept of question 7, item 0, is 1 (int), not a string"),
    ([ACCEPTED, {"questionId": "7", "accept": "y"}], "c.json, record 2: there is more than one correction for"),
    ([{"questionId": 7, "mark": "unclear"}, ACCEPTED], "c.json, record 2: there is more than one correction for"),
    ([ACCEPTED, {"questionId": 77, "exclude": True}], "c.json: it corrects questions that do not exist (77): use"),
    ([{"questionId": n, "exclude": True} for n in (7, 8, 9)], "c.json: every question is excluded"),
]  # fmt: skip


@pytest.mark.parametrize(("records", "message"), REFUSED)
def test_wrong_correction_is_refused_with_its_place(shell: Shell, records: Any, message: str) -> None:
    shell.write({"gold.json": GOLD, "x.json": ANSWERS, "c.json": records})
    error = shell.error("gold.json x.json --corrections c.json")
    assert error.startswith("c.json")
    assert message in error
