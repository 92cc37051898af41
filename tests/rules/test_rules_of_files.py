"""Files of benchmarks are scored by their rules through every door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import compare, get_scorer, rule, score
from anls_metric.rules import RULES
from tests.rules.cases import EXAMPLES
from tests.rules.conftest import Shell

DUDE_GOLD = {
    "dataset_name": "DUDE Dataset",
    "data": [
        {"questionId": "a", "question": "?", "answers": ["Coca Cola"], "answer_type": "extractive"},
        {"questionId": "b", "question": "?", "answers": [], "answer_type": "not-answerable"},
        {"questionId": "c", "question": "?", "answers": ["x", "y"], "answer_type": "list/extractive"},
    ],
}
DUDE_ANSWERS: list[dict[str, Any]] = [
    {"questionId": "a", "answers": ["CocaCola"], "answers_confidence": [0.9], "answers_abstain": False},
    {"questionId": "b", "answers": [], "answers_confidence": [0.4], "answers_abstain": True},
    {"questionId": "c", "answers": ["y", "x"], "answers_confidence": [0.2], "answers_abstain": False},
]


@pytest.fixture
def dude(shell: Shell) -> Shell:
    """A folder with a ground truth and submissions in the format of DUDE's script."""
    without = [{"questionId": each["questionId"], "answers": each["answers"]} for each in DUDE_ANSWERS]
    worse = [{**each, "answers": ["none"]} for each in DUDE_ANSWERS]
    shell.write({"gold.json": DUDE_GOLD, "base.json": DUDE_ANSWERS, "worse.json": worse})
    shell.write({"without.json": without, "fewer.json": without[1:]})
    return shell


# Accepted answers as one text. As a list of one they have the same score and signature.
TEXTS: dict[str, dict[str, Any]] = {
    "chartqapro": {"question_type": "Factoid", "year": ["NO"], "answer": "100", "prediction": "104"},
    "chartqapro_openbench": {"question_type": "Factoid", "year": ["NO"], "answer": "100", "prediction": "104"},
    "chartqapro_lmms_eval": {"question_type": "Factoid", "year": ["NO"], "answer": "100", "prediction": "104"},
    "dude": {"answer_type": "extractive", "answers": "Coca Cola", "prediction": "Coca Cola"},
    "mmlongbench_doc": {"answer_format": "Str", "answers": "red", "prediction": "red"},
    "mmlongbench_doc_lmms_eval": {"answer_format": "Str", "answers": "red", "prediction": "red"},
    "longdocurl": {"answer_format": "String", "answers": "red", "prediction": "red"},
    "longdocurl_vlmevalkit": {"answer_format": "Integer", "answers": "12", "prediction": "12"},
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_and_list_of_one_text_are_the_same_accepted_answer(shell: Shell, name: str) -> None:
    row = TEXTS[name]
    field = "answers" if "answers" in row else "answer"
    shell.write({"text.json": [{"id": 1, **row}], "list.json": [{"id": 1, **row, field: [row[field]]}]})
    text, one = (shell.document(f"{file}.json --variant {name} --quiet") for file in ("text", "list"))
    assert (text["submissions"][0]["anls"], text["signature"]) == (one["submissions"][0]["anls"], one["signature"])
    assert text["submissions"][0]["anls"] == 1
    for missing in (None, [None], float("nan")):
        shell.write({"none.json": [{"id": 7, **row, field: missing}]})
        assert "of question 7 must be " in shell.error(f"none.json --variant {name}")
    if "answer_format" in row:
        shell.write({"two.json": [{"id": 7, **row, field: ["red", "12"]}]})
        message = "two.json: gold of question 7 is a list of 2 answers, but a format other than List takes exactly one"
        assert message in shell.error(f"two.json --variant {name}")


def test_extraction_leaves_the_lists_of_a_submission_that_it_does_not_change(dude: Shell) -> None:
    assert dude.scores("gold.json base.json --variant dude --extract think") == [(8 / 9 + 2) / 3]


def test_dude_files_are_scored_by_type_with_confidences(dude: Shell) -> None:
    scores = score("base.json", "gold.json", variant="dude")
    (submission,) = scores.to_dict()["submissions"]
    assert submission["layout"] == "dude_submission"
    assert scores.anls == submission["summary"]["anls"] == (8 / 9 + 2) / 3
    assert scores.signature.startswith("anls|dude|threshold:0.5|")
    printed = dude.print("gold.json base.json --variant dude --worst 1")
    figures = "             Not Answerable 1.0000", "             aurc 0.0000", "             Extractive 0.8889"
    assert {"ANLS         0.9630", "summary      anls 0.9630", *figures} <= set(printed.splitlines())
    assert "question type 'extractive': 'CocaCola' against ['Coca Cola']" in printed
    strict = dude.document("gold.json base.json --variant dude --threshold 0.9")
    assert (strict["submissions"][0]["anls"], "threshold:0.9" in strict["signature"]) == (2 / 3, True)
    assert dude.scores("gold.json without.json --variant dude") == [(8 / 9 + 2) / 3]
    assert dude.scores("gold.json fewer.json --variant dude --missing zero") == [2 / 3]


def test_rules_are_compared_with_intervals_and_a_report(dude: Shell) -> None:
    scores = compare({"base": "base.json", "worse": "worse.json"}, "gold.json", variant="dude")
    document = scores.to_dict()
    assert [each["anls"] for each in document["submissions"]] == [(8 / 9 + 2) / 3, 0.0]
    assert document["comparisons"][0]["losses"] == 3
    scores.report("report.html")
    assert "Coca Cola" in Path("report.html").read_text(encoding="utf-8")
    assert "summary      anls 0.9630" in str(scores)
    assert "0.9630" in scores.to_markdown()


def test_column_may_have_another_name(shell: Shell) -> None:
    shell.write({"t.json": [{"expected": "12", "output": "12.1", "meta": {"kind": "Float"}}]})
    line = "t.json --variant mmlongbench_doc --prediction-field output --references-field expected --field"
    assert shell.scores(f"{line} answer_format=meta.kind") == [1]
    message = "no field 'meta.format' for --field answer_format=... (found 'expected' '12'"
    assert message in shell.error(f"{line} answer_format=meta.format")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs answer_format, which no file has: name the field with field="),
        (
            {"field": {"format": "x"}},
            "no field 'format' to read: choose from question, confidence, judge, page, gold_page, answer_f",
        ),
        ({"variant": "all,rrc"}, "all cannot be combined with other variants: pass it alone"),
    ],
)
def test_missing_column_is_an_error_that_lists_it(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        score([{"gold": ["a"], "prediction": "a"}], **{"variant": "mmlongbench_doc", **options})


def test_predictions_without_the_marker_of_docvqa_2026_are_a_hint() -> None:
    rows = [{"prediction": text, "gold": "a"} for text in ("a", "FINAL ANSWER: a", "b")]
    with pytest.warns(anls_metric.ANLSWarning, match='2 of 3 predictions lack "FINAL ANSWER:"'):
        scores = score(rows, variant="docvqa_2026")
    assert scores.anls == 1 / 3
    assert score(rows[1:2], variant="docvqa_2026").hints == []


@pytest.mark.parametrize("name", RULES)
def test_rows_in_memory_have_the_scores_of_the_rule(name: str) -> None:
    rows = [example.row for example in EXAMPLES if example.rule == name and example.row["prediction"] is not None]
    scores = score(rows, variant=name)
    assert [each["score"] for each in scores.answers()] == rule(name).scores(rows)
    (submission,) = scores.to_dict()["submissions"]
    assert submission["summary"] == rule(name).summary(rows) or name == "madqa"
    assert scores.signature.startswith(rule(name).signature().rpartition("|")[0])


def test_extracted_answer_is_what_the_rule_scores() -> None:
    table = [{"answer_format": "Int", "gold": "12", "prediction": "<think>13</think>12"}]
    scores = score(table, variant="mmlongbench_doc", extract="think")
    assert (scores.anls, "extract:think" in scores.signature) == (1.0, True)


def test_docvqa_2026_scores_the_whole_output(shell: Shell) -> None:
    ids = {"question_id": ["m1", "m2"]}
    gold = {"questions": {**ids, "question": ["?", "?"]}, "answers": {**ids, "answer": ["50 kg", "Unknown"]}}
    answers = [
        {"question_id": "m1", "answer": "50 kg", "full_answer": "FINAL ANSWER: 50kg"},
        {"question_id": "m2", "answer": "Unknown", "full_answer": "Unknown"},
    ]
    shell.write({"gold.json": [{"doc_id": "maps_2", **gold}], "x.json": answers})
    assert shell.scores("gold.json x.json --variant docvqa_2026") == [0.5]


def test_madqa_files_have_citations_and_effort(shell: Shell) -> None:
    gold = {"id": "1", "question": "?", "answers": [["a", "b"]], "evidence": [{"document": "a.pdf", "page": 1}]}
    cited = [{"file": "a.pdf", "page": 1}]
    answers = [{"id": "1", "question": "?", "answer": ["b", "a"], "citations": cited, "search_history": ["s"]}]
    shell.write({"gold.json": [gold], "x.json": answers, "wrong.json": [{**gold, "evidence": cited}]})
    (submission,) = shell.document("gold.json x.json --variant madqa")["submissions"]
    assert (submission["anls"], submission["summary"]["page_f1"]) == (1.0, 1.0)
    assert submission["summary"]["mean_steps_correct"] == 1.0
    assert submission["summary"]["kuiper_stat"] is None
    shell.write({"wrong_answer.json": [{**answers[0], "answer": ["c"], "search_history": []}]})
    shell.print("gold.json wrong_answer.json --variant madqa --report report.html")
    (submission,) = shell.document("gold.json wrong_answer.json --variant madqa")["submissions"]
    (hops,) = submission["summary"]["by_hop_type"].values()
    assert hops["kuiper_stat"] is hops["wasted_effort_ratio"] is None  # no NaN, no infinity
    message = "x: evidence of question 1 must be an object such as"
    assert message in shell.error("wrong.json x.json --variant madqa")


def test_chartqapro_parquet_is_joined_with_predictions_by_position(shell: Shell) -> None:
    rows = [
        {"Question": ["?"], "Answer": ["10"], "Question Type": "Factoid", "Year": ["NO"]},
        {"Question": ["?"], "Answer": ["[2010, 2011]"], "Question Type": "Factoid", "Year": ["YES"]},
    ]
    shell.write({"g.parquet": [{**row, "image": b"\x89PNG"} for row in rows], "x.json": ["10.4", "[2010, 2012]"]})
    assert shell.scores("g.parquet x.json --variant chartqapro") == [0.75]


@pytest.mark.parametrize("name", [*RULES])
def test_columns_of_different_lengths_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"^the lengths differ \(predictions has 2, references has 1\)"):
        get_scorer(name).score(["a", "b"], [{"gold": "a"}])
