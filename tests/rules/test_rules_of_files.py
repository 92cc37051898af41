"""Files of benchmarks are scored by their rules through every door."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line, compare, rule, score
from anls_metric.core.variants import OF_RULES
from anls_metric.rules import RULES
from tests.reading import test_layouts
from tests.reading.seeds import damage
from tests.rules.cases import EXAMPLES

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


def write(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.fixture
def dude(tmp_path: Path) -> tuple[str, str]:
    """A ground truth and a submission in the format of DUDE's script."""
    return write(tmp_path / "gold.json", DUDE_GOLD), write(tmp_path / "answers.json", DUDE_ANSWERS)


def test_names_of_rules_are_those_of_the_table() -> None:
    assert tuple(RULES) == OF_RULES


def test_dude_files_are_scored_by_type_with_confidences(
    dude: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    scores = score(dude[1], gold=dude[0], variant="dude")
    (submission,) = scores.to_dict()["submissions"]
    assert submission["layout"] == "dude_submission"
    assert scores.anls == submission["summary"]["anls"] == (8 / 9 + 2) / 3
    assert scores.signature.startswith("anls|dude|threshold:0.5|")
    assert command_line.main([*dude, "--variant", "dude", "--worst", "1"]) == 0
    printed = capsys.readouterr().out
    figures = "           Not Answerable 1.0000", "           aurc 0.0000", "           Extractive 0.8889"
    assert {"ANLS       0.9630", "summary    anls 0.9630", *figures} <= set(printed.splitlines())
    assert "as 'extractive' question: 'CocaCola' against ['Coca Cola']" in printed


def test_options_of_dude(dude: tuple[str, str], tmp_path: Path) -> None:
    assert score(dude[1], gold=dude[0], variant="dude", threshold=0.9).anls == 2 / 3
    with pytest.raises(ValueError, match="the rule madqa has no option 'threshold'"):
        score(dude[1], gold=dude[0], variant="madqa", threshold=0.9)
    answers = [{"questionId": each["questionId"], "answers": each["answers"]} for each in DUDE_ANSWERS]
    without = write(tmp_path / "without.json", answers)
    assert score(without, gold=dude[0], variant="dude").anls == (8 / 9 + 2) / 3
    fewer = write(tmp_path / "fewer.json", answers[1:])
    assert score(fewer, gold=dude[0], variant="dude", missing="zero").anls == 2 / 3
    corrections = write(tmp_path / "corrections.json", [{"questionId": "a", "accept": ["CocaCola"]}])
    with pytest.raises(ValueError, match="corrections= is not for the rule of a benchmark"):
        score(dude[1], gold=dude[0], variant="dude", corrections=corrections)


def test_column_may_have_another_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = [{"meta": {"format": "Float"}, "expected": "12", "output": "12.1"}]
    fields: dict[str, Any] = {
        "prediction": "output",
        "references": "expected",
        "field": {"answer_format": "meta.format"},
    }
    assert score(table, variant="mmlongbench_doc", **fields).anls == 1.0
    flags = ["--prediction-field", "output", "--references-field", "expected", "--field", "answer_format=meta.format"]
    path = write(tmp_path / "table.json", table)
    assert command_line.main([path, "--variant", "mmlongbench_doc", "--score-only", *flags]) == 0
    assert capsys.readouterr().out == "1.0\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"variant": "mmlongbench_doc"},
            "needs answer_format, which no file has .found 'gold', 'prediction'.: pass its path with field=",
        ),
        (
            {"variant": "mmlongbench_doc", "field": {"format": "x"}},
            "there is no field 'format' to read: choose from question, confidence, judge, answer_format",
        ),
        (
            {"variant": "standard", "field": {"format": "x"}},
            "there is no field 'format' to read",
        ),
        ({"variant": "dude"}, r"dude needs answer_type, which no file has"),
        ({"variant": "dude", "ignore_case": True}, "the rule dude has no option 'ignore_case'"),
        ({"variant": "dude,standard"}, "dude cannot be combined with other variants"),
        ({"variant": "all,rrc"}, "all cannot be combined with other variants: score it by itself"),
    ],
)
def test_missing_column_is_an_error_that_lists_it(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        score([{"gold": ["a"], "prediction": "a"}], **options)


def test_wrong_path_of_a_column_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"prediction": "7", "answer": "7", "answer_format": "Int", "meta": {"kind": "Int"}}
    command = [write(tmp_path / "table.json", [row]), "--variant", "mmlongbench_doc", "--field"]
    assert command_line.main([*command, "answer_format=meta.format"]) == 2
    error = capsys.readouterr().err
    assert "no field 'meta.format' for --field answer_format=... (found 'prediction' '7'" in error
    assert command_line.main([*command, "answer_format=meta.kind"]) == 0


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
    assert scores.signature.startswith(str(rule(name).signature).rpartition("|")[0])


def test_extracted_answer_is_what_the_rule_scores() -> None:
    table = [{"answer_format": "Int", "gold": "12", "prediction": "<think>13</think>12"}]
    scores = score(table, variant="mmlongbench_doc", extract="think")
    assert (scores.anls, "extract:think" in scores.signature) == (1.0, True)


def test_docvqa_2026_scores_the_whole_output(tmp_path: Path) -> None:
    gold = {
        "doc_id": "maps_2",
        "questions": {"question_id": ["m1", "m2"], "question": ["?", "?"]},
        "answers": {"question_id": ["m1", "m2"], "answer": ["50 kg", "Unknown"]},
    }
    answers = [
        {"question_id": "m1", "answer": "50 kg", "full_answer": "FINAL ANSWER: 50kg"},
        {"question_id": "m2", "answer": "Unknown", "full_answer": "Unknown"},
    ]
    paths = write(tmp_path / "gold.json", [gold]), write(tmp_path / "answers.json", answers)
    assert score(paths[1], gold=paths[0], variant="docvqa_2026").anls == 0.5


def test_madqa_files_have_citations_and_effort(tmp_path: Path) -> None:
    gold = [{"id": "1", "question": "?", "answers": [["a", "b"]], "evidence": [{"document": "a.pdf", "page": 1}]}]
    cited = [{"file": "a.pdf", "page": 1}]
    answers = [{"id": "1", "question": "?", "answer": ["b", "a"], "citations": cited, "search_history": ["s"]}]
    paths = write(tmp_path / "gold.json", gold), write(tmp_path / "answers.json", answers)
    (submission,) = score(paths[1], gold=paths[0], variant="madqa").to_dict()["submissions"]
    assert (submission["anls"], submission["summary"]["page_f1"]) == (1.0, 1.0)
    assert submission["summary"]["mean_steps_correct"] == 1.0
    assert submission["summary"]["kuiper_stat"] is None
    write(tmp_path / "gold.json", [{**gold[0], "evidence": cited}])
    with pytest.raises(ValueError, match=r"answers: evidence of question 1 must be an object such as"):
        score(paths[1], gold=paths[0], variant="madqa").to_dict()


def test_chartqapro_parquet_is_joined_with_predictions_by_position(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {"Question": ["?"], "Answer": ["10"], "Question Type": "Factoid", "Year": ["NO"], "image": b"\x89PNG"},
        {"Question": ["?"], "Answer": ["2010"], "Question Type": "Factoid", "Year": ["YES"], "image": b"\x89PNG"},
    ]
    rows[1]["Answer"] = ["[2010, 2011]"]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "gold.parquet")
    answers = write(tmp_path / "answers.json", ["10.4", "[2010, 2012]"])
    assert score(answers, gold=str(tmp_path / "gold.parquet"), variant="chartqapro").anls == 0.75


def test_rules_are_compared_with_intervals_and_a_report(dude: tuple[str, str], tmp_path: Path) -> None:
    worse = [{**answer, "answers": ["none"]} for answer in DUDE_ANSWERS]
    scores = compare({"base": dude[1], "worse": write(tmp_path / "worse.json", worse)}, dude[0], variant="dude")
    document = scores.to_dict()
    assert [each["anls"] for each in document["submissions"]] == [(8 / 9 + 2) / 3, 0.0]
    assert document["comparisons"][0]["losses"] == 3
    scores.report(tmp_path / "report.html")
    assert "Coca Cola" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "summary    anls 0.9630" in str(scores)
    assert "0.9630" in scores.to_markdown()


BENCHMARK_FILES = {
    "dude_submission": "dude",
    "docvqa_2026": "docvqa_2026",
    "docvqa_2026_submission": "docvqa_2026",
    "longdocurl": "longdocurl",
    "mmlongbench_doc": "mmlongbench_doc",
    "chartqapro": "chartqapro",
    "ocrbench_v2": "ocrbench_v2",
    "madqa": "madqa",
    "madqa_results": "madqa",
}


@pytest.mark.parametrize("layout", BENCHMARK_FILES)
def test_damaged_file_is_scored_or_refused(layout: str, tmp_path: Path) -> None:
    chance = random.Random(layout)
    name, content = test_layouts.FILES[layout]
    path = Path(test_layouts.write(tmp_path / name, content))
    whole = path.read_bytes()
    gold = write(tmp_path / "gold.json", [*test_layouts.GOLD])
    refused: list[str] = []
    for _ in range(60):
        path.write_bytes(damage(whole, whole, chance))
        for others in ({}, {"gold": gold}):
            try:
                score(str(path), variant=BENCHMARK_FILES[layout], missing="zero", extra="ignore", **others)  # type: ignore[arg-type]
            except ValueError as error:
                refused.append(str(error))
    assert all(refused)
