"""anls, as it is typed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line
from anls_metric.reading.records import Records
from anls_metric.report.progress import Stopwatch
from anls_metric.rules import RULES
from tests.conftest import ROOT, without_questions
from tests.system.conftest import Run, parse_document, run_to_error, write

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
FILES = ["--gold-label-file", str(GOLD), "--submission-file", str(SUBMISSION)]
SCORE = 0.6273148148148148


def write_pair(tmp_path: Path, gold: Any, submission: Any) -> list[object]:
    files = write(tmp_path / "gold.json", gold), write(tmp_path / "submission.json", submission)
    return ["--gold-label-file", files[0], "--submission-file", files[1]]


# What it prints


def test_command_prints_the_summary(run: Run) -> None:
    status, out, err = run(*FILES)
    assert (status, without_questions(out), err) == (
        0,
        "ANLS       0.6273\n"
        "questions  6\n"
        "95 %       0.1144 to 1.0000\n"
        "exact      0.3333\n"
        "contains   0.3333\n"
        "scored 0   2 (empty: 1, other: 1)\n"
        "points     0.0185 lost to format, 0.1458 given to wrong numbers\n"
        f"signature  {anls_metric.signature()}\n",
        "",
    )


def test_command_prints_the_mean_of_the_scores(run: Run) -> None:
    gold = {question["questionId"]: question["answers"] for question in json.loads(GOLD.read_text())["data"]}
    answers = {answer["questionId"]: answer["answer"] for answer in json.loads(SUBMISSION.read_text())}
    scores = anls_metric.anls_scores([answers[key] for key in gold], list(gold.values()))
    assert parse_document(run(*FILES, "--format", "json")[1])["anls"] == anls_metric.mean(scores) == SCORE


def test_json_has_the_document(run: Run) -> None:
    document = parse_document(run(*FILES, "--format", "json", "--by", "questionId", "--worst", 1)[1])
    keys = [
        "name",
        "layout",
        "questions",
        "anls",
        "interval",
        "exact_match",
        "contains",
        "outcomes",
        "groups",
        "points",
        "worst",
    ]
    assert list(document["submissions"][0]) == keys
    assert (document["name"], document["questions"], document["clusters"], document["hints"]) == (
        "submission",
        6,
        None,
        [],
    )
    counts = {name: count for name, count in document["outcomes"].items() if count}
    assert counts == {"equal": 2, "close enough": 2, "empty": 1, "other": 1}
    low, high = document["interval"]
    assert low < document["anls"] < high
    assert (document["exact_match"], document["contains"]) == (2 / 6, 2 / 6)
    assert without_questions(document["signature"]) == anls_metric.signature()
    assert document["groups"]["questionId"]["4"] == {"anls": 0.875, "interval": None, "questions": 1}
    worst = document["worst"][0]
    assert (worst["id"], worst["score"], worst["outcome"]) == ("2", 0.0, "other")
    assert (worst["prediction"], worst["closest_reference"]) == ("The Coca", "Coca Cola")
    assert "".join(edit[2] for edit in worst["edits"]) == "coca cola"


def test_flags_are_the_options_of_the_functions(run: Run) -> None:
    choices: list[tuple[list[str], dict[str, Any]]] = [
        (["--variant", "unitxt"], {"variant": "rrc"}),
        (["--anls-threshold", "0.9"], {"threshold": 0.9}),
        (["--no-ignore-case"], {"ignore_case": False}),
        (["--variant", "due", "--ignore-case"], {"variant": "due", "ignore_case": True}),
    ]
    for flags, options in choices:
        document = parse_document(run(*FILES, *flags, "--format", "json")[1])
        assert without_questions(document["signature"]) == anls_metric.signature(**options)
    assert parse_document(run(*FILES, "--anls-threshold", "0.9", "--format", "json")[1])["anls"] == pytest.approx(2 / 6)


def test_worst_prints_answers_with_an_alignment(run: Run) -> None:
    out = run(*FILES, "--worst", 3)[1]
    assert out.split("\n\n")[1] == (
        "question 2  score 0.0000  5 edits on 9 characters from 'Coca Cola': similarity 0.4444 is below the threshold"
        " of 0.5, so 0\n"
        "  question    Which company made the sign?\n"
        "  prediction  *the coca\n"
        "  reference   coca cola\n"
        "              IRRR   R\n"
        "  accepted    Coca Cola; Coca Cola Company"
    )
    assert out.split("\n\n")[2].startswith("question 6  score 0.0000  the prediction is empty, so 0")
    assert out.split("\n\n")[3].startswith("question 4  score 0.8750")
    assert out.split("\n\n")[4] == "alignment: * no character, D delete, I insert, R replace\n"


def test_worst_shows_what_the_model_wrote(run: Run, tmp_path: Path) -> None:
    gold = [{"questionId": 1, "answers": ["Coca Cola", "Coke"]}, {"questionId": 2, "answers": ["7"]}]
    answers = [{"questionId": 1, "answer": "<think>A logo.</think>Pepsi"}, {"questionId": 2, "answer": "8"}]
    first, second = run(*write_pair(tmp_path, gold, answers), "--extract", "think", "--worst", 2)[1].split("\n\n")[1:3]
    assert "\n  written     <think>A logo.</think>Pepsi\n  prediction  ****pepsi\n" in first
    assert first.endswith("\n  accepted    Coca Cola; Coke")
    assert "written" not in second
    out = run(*write_pair(tmp_path, gold, answers[:1]), "--missing", "zero", "--worst", 1)[1]
    assert out.count("alignment: ") == 1


def test_answer_types_break_the_score_down(run: Run) -> None:
    out = run(*FILES, "--answer-types")[1]
    assert re.search(
        r"\nby answer_type  ANLS    95 %              questions\n"
        r"  Image-Span    0\.5528  0\.\d{4} to 1\.0000  5\n"
        r"  None span     1\.0000  -                 1\n",
        out,
    )
    assert "  Visual/Layout  0.8889  -                 1\n" in out
    assert "  Counting              1.0000  -     1\n" in out


def test_by_breaks_the_score_down_by_any_field(run: Run, tmp_path: Path) -> None:
    gold = [
        {"questionId": 1, "answers": ["a"], "page": 3, "tags": ["x", "y"]},
        {"questionId": 2, "answers": ["b"], "page": 4, "tags": ["y"]},
        {"questionId": 3, "answers": ["c"], "page": 3},
    ]
    answers = [{"questionId": key, "answer": "a"} for key in (1, 2, 3)]
    arguments = [*write_pair(tmp_path, gold, answers), "--by", "page", "--by", "tags", "--format", "json"]
    groups = parse_document(run(*arguments)[1])["groups"]
    assert groups["page"] == {
        "3": {"anls": 0.5, "interval": [0.0, 1.0], "questions": 2},
        "4": {"anls": 0.0, "interval": None, "questions": 1},
    }
    assert groups["tags"] == {
        "x": {"anls": 1.0, "interval": None, "questions": 1},
        "y": {"anls": 0.5, "interval": [0.0, 1.0], "questions": 2},
    }
    assert "no question has the field 'colour' (found 'questionId'" in run_to_error(
        run, *arguments[:4], "--by", "colour"
    )
    assert "answer_type, evidence, operation/reasoning" in run_to_error(run, *arguments[:4], "--answer-types")


def test_results_file_has_the_structure_of_pypi_anls(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    status, out, _ = run(*FILES, "--answer-types", "--output-dir", folder)
    assert status == 0
    assert out.endswith(f"\nper answer: {folder / 'results.json'}\n")
    assert [path.name for path in folder.iterdir()] == ["results.json"]
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert set(results) == {"inputs", "result", "scores_by_types", "per_sample_result"}
    assert results["inputs"] == [str(GOLD), str(SUBMISSION)]
    assert without_questions(json.dumps(results["result"])) == json.dumps(
        {"score": SCORE, "signature": anls_metric.signature()}
    )
    assert results["scores_by_types"] == {
        "answer_types": {"Image-Span": pytest.approx(0.5527777777777778), "None span": 1.0},
        "evidence_types": {"Visual/Layout": 8 / 9, "Text": 0.46875, "Table/list": 1.0},
        "operation_types": {"Counting": 1.0},
    }
    assert list(results["per_sample_result"]) == ["1", "2", "3", "4", "5", "6"]
    assert results["per_sample_result"]["2"] == {
        "score": 0.0,
        "question": "Which company made the sign?",
        "gt": ["Coca Cola", "Coca Cola Company"],
        "det": "The Coca",
        "info": "other",
    }


def test_version_and_help_are_printed(run: Run) -> None:
    assert run("--version") == (0, f"anls {anls_metric.__version__}\n", "")
    status, out, _ = run("--help")
    assert status == 0
    for action in command_line.build_parser()._actions:
        for flag in action.option_strings:
            assert flag in out
    assert "mistral_evals" in out


HELP = command_line.build_parser().format_help()


def test_help_has_its_groups_in_order() -> None:
    titles = ["most used options:", "input:", "scoring:", "breakdown and comparison:", "output:", "report:"]
    assert re.findall(r"^([a-z][a-z ]*:)$", HELP, re.MULTILINE) == [*titles, "other:"]
    first = HELP.partition("input:")[0]
    assert len(re.findall(r"^  --", first, re.MULTILINE)) == 10


@pytest.mark.parametrize("example", re.findall(r"^  example: anls (.*)$", HELP, re.MULTILINE))
def test_example_of_the_help_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert run(*shlex.split(example))[0] == 0


TYPOS = {
    "--wrost 3": "unknown flag --wrost: did you mean --worst?",
    "-o x": "unknown flag -o: did you mean --output?",
    "-v rrc": "unknown flag -v: --help lists all flags",
    "--report r": "--report: 'r' does not end in .html: name a file such as r.html",
    "--report r.pdf": "--report: 'r.pdf' does not end in .html: name a file such as r.pdf.html",
    "--variant": "--variant needs a value after it",
    "--outptu x": "unknown flag --outptu: did you mean --output?",
    "--variant Standrad": "unknown variant 'Standrad'; did you mean standard?",
    "--predictions x": "unknown flag --predictions: did you mean --submission?",
    "--references x": "unknown flag --references: did you mean --gold?",
    "-gold x": "unknown flag -gold: did you mean --gold?",
    "—worst 3": "unknown flag —worst: did you mean --worst?",
    "–-threshold=0.5": "unknown flag –-threshold: did you mean --threshold?",
    "-metrics=f1": "unknown flag -metrics: did you mean --metrics?",
    "--variant anls": "unknown variant 'anls'; did you mean standard?",
    "--variant ANLS*": "unknown variant 'ANLS*'; did you mean anls_star?",
    "--variant DocVQA": "unknown variant 'DocVQA'; did you mean rrc?",
    "--layout docvqa": "unknown layout 'docvqa'; did you mean auto?",
    "--variant vlmeval_kit": "unknown variant 'vlmeval_kit'; did you mean vlmevalkit?",
    "--extract thnik": "unknown extraction rule 'thnik'; did you mean think?",
    "--layout lmms-evl": "unknown layout 'lmms-evl'; did you mean lmms_eval?",
    "--metrics relaxd": "unknown metric 'relaxd'; did you mean relaxed?",
    "--columns intervall": "unknown column 'intervall'; did you mean interval?",
    "--missing zeros": "--missing: unknown value 'zeros'; did you mean zero?",
    "--format marckdown": "--format: unknown value 'marckdown'; did you mean markdown?",
}


@pytest.mark.parametrize("typo", TYPOS)
def test_typo_is_answered_with_the_name_that_was_meant(run: Run, typo: str) -> None:
    error = run_to_error(run, *FILES, *typo.split())
    assert TYPOS[typo] in error[:120]
    assert "usage" not in error


def test_typo_in_a_subcommand_is_answered_with_its_name(run: Run) -> None:
    for word, meant in ("identfy", "identify"), ("check_submission", "check-submission"), ("export_rrc", "export"):
        error = run_to_error(run, word, SUBMISSION)
        assert f"unknown subcommand {word!r}; did you mean {meant}?" in error[:120]
    error = run_to_error(run, "export", SUBMISSION)
    assert "unknown leaderboard" in error
    assert error.endswith(": type anls export rrc FILE\n")


def test_values_without_a_comma_and_words_too_many_are_named(run: Run, tmp_path: Path) -> None:
    joined = "join the names with commas"
    assert f"final: No such file or directory: if it is for --extract, {joined}" in run_to_error(
        run, *FILES, "--extract", "think", "final"
    )
    assert f"if it is for --variant, {joined}" in run_to_error(run, *FILES, "--variant", "rrc", "lmms_eval")
    error = run_to_error(run, "check-submission", str(SUBMISSION), str(GOLD))
    assert "is one argument too many" in error
    assert "is a folder: name a file in it, such as report.html" in run_to_error(run, *FILES, "--report", str(tmp_path))


def test_word_that_is_no_file_is_answered_with_the_way_to_score(run: Run) -> None:
    error = run_to_error(run, "gold", str(GOLD), str(SUBMISSION))
    assert "gold: No such file or directory: to score files, type anls GOLD SUBMISSION" in error
    for word, line in ("score", "anls GOLD SUBMISSION"), ("report", "anls GOLD SUBMISSION --report report.html"):
        error = run_to_error(run, word, str(GOLD), str(SUBMISSION))
        assert f"there is no subcommand {word!r}: type {line}" in error
    for word in ("help", "version", "demo"):
        assert run_to_error(run, word).endswith(f"there is no subcommand {word!r}: type anls --{word}\n")


def test_file_is_no_folder_to_write_to(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "f", "")
    for flag, path in {"--output": "", "--output-dir": "", "--report": "r.html", "--answers": "a.csv"}.items():
        error = run_to_error(run, *FILES, flag, file / path)
        assert error.endswith(f": {file} is a file, not a folder: name another folder\n")
    error = run_to_error(run, "export", "rrc", GOLD, SUBMISSION, "-o", file / "a.json")
    assert error.endswith(f"/a.json: {file} is a file, not a folder: name another folder\n")


def test_parts_without_an_ending_need_the_ending_of_their_format(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("paa", "pab"):  # as the program split names them
        Path(name).write_text(json.dumps({"id": name, "prediction": "a", "references": ["a"]}) + "\n")
    for files in (tmp_path, "p*"):
        error = run_to_error(run, files)
        assert error.endswith(": name one file, or give the parts the ending of their format, such as .jsonl\n")
    for name in ("paa", "pab"):
        Path(name).rename(f"{name}.jsonl")
    assert run("p*", "--score-only")[:2] == (0, "1.0\n")


def test_only_a_file_with_a_near_name_is_suggested(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gold_label.json", "gold_label.csv", "one.jsonl", "utf32.json"):
        Path(name).touch()
    for typed, near in {"gold_labl.json": "gold_label.json", "gold.csv": "gold_label.csv"}.items():
        assert run_to_error(run, typed, str(GOLD)).endswith(f"No such file or directory: did you mean {near}?\n")
    for typed in ("tuned.json", "out2.json"):
        assert run_to_error(run, typed, str(GOLD)).endswith("No such file or directory\n")


def test_output_is_a_folder_or_a_json_file(run: Run, tmp_path: Path) -> None:
    file, folder = tmp_path / "new" / "scores.json", tmp_path / "out"
    assert run(*FILES, "--output", file)[1].endswith(f"\nper answer: {file}\n")
    assert run(*FILES, "--output", folder)[0] == run(*FILES, "--output-dir", tmp_path / "run.1")[0] == 0
    assert run(*FILES, "--output-dir", tmp_path / "odd.json")[0] == 0
    paths = [file, folder / "results.json", tmp_path / "run.1" / "results.json", tmp_path / "odd.json" / "results.json"]
    assert len({path.read_text(encoding="utf-8") for path in paths}) == 1
    for name, flag in (("a.xlsx", ""), ("a.csv", "--answers"), ("a.html", "--report")):
        advice = f"; for this file, type {flag} {tmp_path / name}" if flag else ""
        message = run_to_error(run, *FILES, "--output", tmp_path / name)
        assert message.endswith(f"ends in .{name[2:]}: name a folder, or a file that ends in .json{advice}\n")
    assert "--output-dir and --output mean the same: give one of them" in run_to_error(
        run, *FILES, "--output-dir", folder, "--output", file
    )
    both = GOLD, f"a={SUBMISSION}", f"b={SUBMISSION}"
    assert "is one file, and there are several submissions: name a folder" in run_to_error(
        run, *both, "--output", tmp_path / "both.json"
    )
    assert run(*both, "--output", tmp_path / "both")[0] == 0
    assert sorted(path.parent.name for path in (tmp_path / "both").glob("*/results.json")) == ["a", "b"]


# What it reads


def rewrite_files(tmp_path: Path, kind: str) -> list[object]:
    """The example files in another format."""
    gold = json.loads(GOLD.read_text(encoding="utf-8"))["data"]
    answers = json.loads(SUBMISSION.read_text(encoding="utf-8"))

    def table(records: list[dict[str, Any]], fields: list[str], delimiter: str) -> str:
        cells = [[record[field] for field in fields] for record in records]
        texts = [[cell if isinstance(cell, str) else json.dumps(cell) for cell in row] for row in cells]
        quoted = [['"' + text.replace('"', '""') + '"' for text in row] for row in [fields, *texts]]
        return "".join(delimiter.join(row) + "\r\n" for row in quoted)

    if kind == "without data":
        contents = json.dumps(gold), json.dumps({"data": answers})
    elif kind == "json lines":
        contents = tuple("".join(json.dumps(record) + "\n" for record in records) for records in (gold, answers))  # type: ignore[assignment]
    elif kind == "one line with a byte order mark":
        contents = "\ufeff" + json.dumps({"data": gold}), "\ufeff" + json.dumps(answers)
    else:
        delimiter = {"csv": ",", "tsv": "\t"}[kind]
        contents = (
            table(gold, ["questionId", "question", "answers"], delimiter),
            table(answers, ["questionId", "answer"], delimiter),
        )
    ending = {"json lines": "jsonl", "csv": "csv", "tsv": "tsv"}.get(kind, "json")
    files = write(tmp_path / f"gold.{ending}", contents[0]), write(tmp_path / f"answers.{ending}", contents[1])
    return ["--gold-label-file", files[0], "--submission-file", files[1]]


KINDS = ["without data", "json lines", "one line with a byte order mark", "csv", "tsv"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_gives_the_same_score(run: Run, tmp_path: Path, kind: str) -> None:
    status, out, err = run(*rewrite_files(tmp_path, kind), "--format", "json")
    assert (status, err) == (0, "")
    assert parse_document(out)["anls"] == SCORE


@pytest.mark.parametrize("kind", ["without data", "json lines", "csv"])
@pytest.mark.parametrize("side", [1, 3])
def test_standard_input_is_read_as_either_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, side: int
) -> None:
    arguments = rewrite_files(tmp_path, kind)
    content = Path(str(arguments[side])).read_bytes()
    arguments[side] = "-"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert parse_document(run(*arguments, "--format", "json")[1])["anls"] == SCORE


def test_command_joins_answers_by_id_in_any_order(run: Run, tmp_path: Path) -> None:
    gold = [{"question_id": str(key), "question": "the same", "answers": str(key)} for key in range(100)]
    answers = [{"id": key, "answer": str(key), "extra": None} for key in reversed(range(100))]
    status, out, _ = run(*write_pair(tmp_path, gold, answers), "--format", "json")
    assert status == 0
    assert parse_document(out)["anls"] == 1.0


def test_summary_writes_thousands_with_commas(run: Run, tmp_path: Path) -> None:
    gold = [{"questionId": key, "answers": ["a"]} for key in range(1200)]
    arguments = write_pair(tmp_path, gold, [{"questionId": 2, "answer": "a"}])
    _, out, _ = run(*arguments, "--missing", "zero")
    assert "\nquestions  1,200\n" in out
    assert "\nscored 0   1,199 (missing: 1,199)\n" in out


def test_missing_zero_counts_unanswered_questions_as_0(run: Run, tmp_path: Path) -> None:
    gold = [{"questionId": key, "answers": ["", "a"]} for key in range(4)]
    arguments = write_pair(tmp_path, gold, [{"questionId": 2, "answer": "a"}])
    assert "submission.json: no answer to 3 of the questions of" in run_to_error(run, *arguments)
    status, out, _ = run(*arguments, "--missing", "zero", "--worst", 1, "--output-dir", tmp_path)
    assert status == 0
    assert out.startswith("ANLS       0.2500\nquestions  4\n")
    assert "\nscored 0   3 (missing: 3)\n" in out
    assert "question 0  score 0.0000  the submission has no answer to it\n" in out
    samples = json.loads((tmp_path / "results.json").read_text())["per_sample_result"]
    assert (samples["0"]["det"], samples["0"]["info"]) == ("", "missing")


TABLE = [
    {"key": "x", "model": "CocaCola", "gold": ["Coca Cola", "Coca Cola Company"], "kind": "span"},
    {"key": "y", "model": "The Coca", "gold": "['Coca Cola', 'Coca Cola Company']", "kind": "span"},
    {"key": "z", "model": "[1, 2]", "gold": "[1, 2]", "kind": "list"},
]


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "parquet"])
def test_table_with_both_sides_is_scored(run: Run, tmp_path: Path, kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame, path = pandas.DataFrame(TABLE), tmp_path / f"table.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame["gold"] = [["Coca Cola", "Coca Cola Company"]] * 2 + [["[1, 2]"]]
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    fields = ["--prediction-field", "model", "--references-field", "gold"]
    document = parse_document(run(path, *fields, "--by", "kind", "--worst", 1, "--format", "json")[1])
    assert document["anls"] == pytest.approx((8 / 9 + 0 + 1) / 3)
    assert document["groups"]["kind"]["list"] == {"anls": 1.0, "interval": None, "questions": 1}
    assert document["worst"][0]["id"] == "2"
    document = parse_document(run(path, *fields, "--id-field", "key", "--worst", 1, "--format", "json")[1])
    assert document["worst"][0]["id"] == "y"


# What it refuses

GOLD_A = [{"questionId": 1, "answers": ["a"]}, {"questionId": 2, "answers": ["b"]}]
ANSWERS_A = [{"questionId": 1, "answer": "a"}, {"questionId": 2, "answer": "b"}]

BAD_FILES: dict[str, tuple[Any, Any, list[str]]] = {
    "extra id": (GOLD_A, [*ANSWERS_A, {"questionId": 7, "answer": "x"}], ["submission.json", "1 answer to", "(7)"]),
    "missing id": (GOLD_A, ANSWERS_A[:1], ["submission.json", "no answer to 1", "(2)", "--missing zero"]),
    "answered twice": (GOLD_A, [*ANSWERS_A, ANSWERS_A[0]], ["submission.json", "the id 1 is repeated"]),
    "answered twice in a row": (GOLD_A, [ANSWERS_A[1]] * 2, ["submission.json", "no answer to 1 of the questions"]),
    "asked twice": ([*GOLD_A, GOLD_A[0]], ANSWERS_A, ["gold.json", "the id 1 is repeated"]),
    "both twice": (GOLD_A * 2, ANSWERS_A * 2, ["gold.json", "2 ids are repeated", "the first: 1"]),
    "no references": ([{"questionId": 5, "answers": []}], [], ["gold.json", "question 5", "empty list"]),
    "no field for references": ([{"questionId": 5}], [], ["gold.json", "no accepted answers", "'questionId'", "test"]),
    "a reference that is true": ([{"questionId": 5, "answers": ["a", True]}], [], ["question 5", "True (bool)"]),
    "an empty list as a text": ([{"questionId": 5, "answers": "[]"}], [], ["question 5", "empty list"]),
    "references that are null": (
        [{"questionId": 5, "answers": None}],
        [],
        ["question 5", "'answers' is null", "leave the question out"],
    ),
    "a printed numpy array": ([{"questionId": 5, "answers": "['a' 'b']"}], [], ["question 5", "printed value", "JSON"]),
    "an answer that is true": (GOLD_A, [{"questionId": 1, "answer": True}], ["question 1", "True (bool)"]),
    "an answer that is null": (
        GOLD_A,
        [{"questionId": 1, "answer": None}],
        ["question 1", "null", '""', "--missing zero"],
    ),
    "an answer that is NaN": (GOLD_A, '[{"questionId": 1, "answer": NaN}]', ["question 1", "NaN", "--missing zero"]),
    "an answer that is a list": (
        GOLD_A,
        [{"questionId": 1, "answer": ["a", "b"]}],
        ["question 1", "['a', 'b'] (list), not a text", "--variant anls_star"],
    ),
    "no answer field": (
        GOLD_A,
        [{"questionId": 1, "text": "a"}],
        ["submission.json", "no predictions", "'text'", "--prediction-field"],
    ),
    "no id": (
        GOLD_A,
        [{"answer": "a"}],
        ["submission.json", "it has 1 answer without ids", "2 questions"],
    ),
    "an id that is null": (GOLD_A, [{"questionId": None, "answer": "a"}], ["record 1", "whole number"]),
    "an id that is a fraction": (GOLD_A, [{"questionId": 1.5, "answer": "a"}], ["record 1", "1.5", "whole number"]),
    "an object of lists and texts": (GOLD_A, {"1": ["a"], "2": "b"}, ["submission.json", "list of records", "'1'"]),
    "an object over several lines": (GOLD_A, '{\n"1": true\n}', ["submission.json", "list of records", "'1'"]),
    "a text": (GOLD_A, '"a"', ["submission.json", "list of records", "a text"]),
    "texts and objects": (GOLD_A, ["a", {}], ["submission.json, record 1", "an object", "a text"]),
    "data that is no list": (GOLD_A, '{\n"data": true}', ["submission.json", "list of records", "'data'"]),
    "not JSON": (GOLD_A, '[{"questionId": 1,\n "answer": }]', ["submission.json, line 2, column 12", "not JSON"]),
    "two values": (GOLD_A, "[]\n[]", ["submission.json, line 2, column 1", "not JSON"]),
    "a bad line": (
        GOLD_A,
        '{"questionId": 1, "answer": "a"}\n\n{"questionId"\n',
        ["submission.json, line 3", "the JSON is cut off"],
    ),
    "a line that a program printed": (
        GOLD_A,
        '{"questionId": 1, "answer": "a"}\nTraceback (most recent call last):\n',
        ["submission.json, line 2, column 1: this is not a record: remove it"],
    ),
    "printed Python": (GOLD_A, '{"questionId": 1, "answer": None}', ["this is printed Python", "json.dump"]),
    "commas after the lines": (
        GOLD_A,
        '{"questionId": 1, "answer": "a"},\n{"questionId": 2, "answer": "b"},\n',
        ["submission.json, line 1", "there is a comma between records: remove these commas"],
    ),
    "a comma after one line": (
        GOLD_A,
        '{"questionId": 1, "answer": "a"}\n{"questionId": 2, "answer": "b"},\n',
        ["submission.json, line 2", "there is a comma between records: remove these commas"],
    ),
    "ids of another kind": (
        GOLD_A,
        [{"questionId": f"{key}.0", "answer": "a"} for key in (1, 2)],
        ["none of its ids is in", "it has 1.0, 2.0"],
    ),
    "a number of many digits": (
        GOLD_A,
        '[{"questionId": ' + "9" * 5000 + "}]",
        ["submission.json", "thousands of digits"],
    ),
    "an empty file": (GOLD_A, " \n", ["submission.json", "empty"]),
    "no questions": ([], [], ["gold.json", "no questions"]),
    "deeply nested": (GOLD_A, "[" * 100_000, ["submission.json", "nested too deeply"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file_is_an_error_of_one_line(run: Run, tmp_path: Path, case: str) -> None:
    gold, submission, message_parts = BAD_FILES[case]
    error = run_to_error(run, *write_pair(tmp_path, gold, submission), "--output-dir", tmp_path / "out")
    for words in message_parts:
        assert words in error
    assert list((tmp_path / "out").glob("*")) == []


def test_file_that_cannot_be_what_was_meant_is_an_error_with_the_next_step(run: Run, tmp_path: Path) -> None:
    (tmp_path / "header.csv").write_text("prediction,answers\n")
    (tmp_path / "quote.csv").write_text('prediction,answers\n"a,b\nc,d\n')
    for words, message in {
        (tmp_path / "header.csv",): "header.csv: it has no records: add a record for each question",
        (tmp_path / "quote.csv",): "quote.csv, line 2: a value begins with a quotation mark and does not end",
        (*FILES[:2], "base="): "base=: there is no file after the equals sign: write NAME=FILE",
        ("https://example.org/a.json",): "it is an address, not a file: download the file, and name it here",
    }.items():
        assert message in run_to_error(run, *words)


def test_path_without_a_file_is_answered_with_the_next_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, path in ("gold.json", GOLD), ("a.json", SUBMISSION):
        shutil.copy(path, name)
    Path("link.json").symlink_to("nowhere.json")
    for words, message in {
        ("gold.json,a.json",): "name each file by itself, without a comma",
        ("gold.json", "link.json"): "link.json: the link leads to nowhere.json, which does not exist",
        ("lmms-lab/DocVQA", "a.json"): "if it is an id of the Hub, download the data set, and name its file",
        ("gold.json", "b.json"): "b.json: No such file or directory",
    }.items():
        assert run_to_error(run, *words).endswith(f"{message}\n")


def test_named_pipe_is_read(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[SUBMISSION.read_bytes()])
    writer.start()
    assert run(GOLD, tmp_path / "pipe", "--score-only")[:2] == (0, "0.6273148148148148\n")
    writer.join()


def test_bad_bytes_are_refused_with_their_line(run: Run, tmp_path: Path) -> None:
    for name, content in {
        "gold.jsonl": b'{"questionId": 1, "answers": ["a"]}\n{"questionId": 2, "answers": ["caf\xe9"]}\n',
        "gold.json": b'[{"questionId": 1, "answers": ["a"]},\n{"questionId": 2, "answers": ["caf\xe9"]}]',
        "gold.csv": b"questionId,answers\n1,caf\xe9\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        files = ["--gold-label-file", tmp_path / name, "--submission-file", SUBMISSION]
        assert f"{name}, line 2: the byte 0xe9 is not UTF-8: save the file as UTF-8" in run_to_error(run, *files)


def test_bad_csv_is_refused_with_its_line(run: Run, tmp_path: Path) -> None:
    for content, message in {
        "prediction,references\na,b\nc\n": "line 3: this line has 1 value, and the header has 2",
        'prediction,references\n"a"x,b\n': "line 2: not CSV",
        "prediction,references\ra,b\r": "carriage return alone",
        "prediction,prediction\na,b\n": "two columns have the same name",
        "text,references\na,b\n": "it has no predictions, only accepted answers in 'references' "
        "(found 'text', 'references'): add a submission after it, or name the field of the predictions",
    }.items():
        assert message in run_to_error(run, write(tmp_path / "table.csv", content))


@pytest.mark.parametrize(
    "cell", ["['a', nan]", "['a', None]", "['a' None]", "['a' 'b']", "array(['a', 'b'], dtype=object)"]
)
def test_printed_references_of_other_values_are_refused(run: Run, tmp_path: Path, cell: str) -> None:
    table = write(tmp_path / "table.csv", f'prediction,references\na,"{cell}"\n')
    assert (
        f"table.csv, line 2: 'references' is {cell!r} (str), a printed value that is not a list of strings"
        in run_to_error(run, table)
    )


def test_record_with_a_field_called_data_is_read(run: Run, tmp_path: Path) -> None:
    lines = '{"prediction": "a", "references": ["a"], "data": [1]}\n'
    for count in (1, 2):
        assert (
            parse_document(run(write(tmp_path / "t.jsonl", lines * count), "--format", "json")[1])["questions"] == count
        )


def test_answer_types_merge_values_with_one_name_in_the_competition(run: Run, tmp_path: Path) -> None:
    gold = [
        {"questionId": 1, "answers": ["a"], "evidence": ["textual", "Text", "textual"], "question": float("nan")},
        {"questionId": 2, "answers": ["b"], "evidence": ["textual"]},
    ]
    answers = [{"questionId": key, "answer": "a"} for key in (1, 2)]
    assert run(*write_pair(tmp_path, gold, answers), "--answer-types", "--output-dir", tmp_path)[0] == 0
    results = json.loads((tmp_path / "results.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert results["scores_by_types"]["evidence_types"] == {"Text": 0.5}


def test_parquet_skips_unwanted_columns_and_names_all_in_errors(run: Run, tmp_path: Path) -> None:
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    gold = pandas.DataFrame({"questionId": [1, 2], "answers": [["a"], ["b"]], "image": [b"x" * 1000] * 2})
    gold.to_parquet(tmp_path / "gold.parquet")
    gold.assign(answer="a").to_parquet(tmp_path / "answers.parquet")
    files = ["--gold-label-file", tmp_path / "gold.parquet", "--submission-file", tmp_path / "answers.parquet"]
    assert parse_document(run(*files, "--format", "json")[1])["anls"] == 0.5
    (chunk,) = Records(str(tmp_path / "gold.parquet"), ["answers"]).chunks()
    assert [set(record) for record in chunk.records] == [{"answers"}] * 2
    assert "found 'questionId', 'answers', 'image'" in run_to_error(run, tmp_path / "gold.parquet")
    assert f"{tmp_path / 'no.parquet'}: No such file" in run_to_error(run, tmp_path / "no.parquet")
    content = bytearray((tmp_path / "gold.parquet").read_bytes())
    start = parquet.ParquetFile(tmp_path / "gold.parquet").metadata.row_group(0).column(0).data_page_offset
    content[start : start + 20] = b"\xff" * 20
    (tmp_path / "bad.parquet").write_bytes(content)
    files[1] = tmp_path / "bad.parquet"
    assert "bad.parquet" in run_to_error(run, *files)


def test_bad_table_is_refused(run: Run, tmp_path: Path) -> None:
    table = write(tmp_path / "table.jsonl", '{"key": 1, "prediction": "a", "references": ["a"]}\n' * 2)
    assert run(table)[0] == 0
    assert "table.jsonl: the id 1 is repeated" in run_to_error(run, table, "--id-field", "key", "--runs", "error")
    assert "no field 'gold'" in run_to_error(run, table, "--references-field", "gold")
    assert "table.parquet: it is not Parquet, or damaged" in run_to_error(run, write(tmp_path / "table.parquet", "no"))


def test_bad_argument_is_refused(run: Run, tmp_path: Path) -> None:
    assert "no files to score: type anls GOLD SUBMISSION, or anls TABLE; --help shows examples" in run_to_error(run)
    assert "the gold file is missing: name the gold file with --gold" in run_to_error(run, *FILES[2:])
    assert "the submission is missing: name the submission with --submission" in run_to_error(run, *FILES[:2])
    assert "no field 'x'" in run_to_error(run, *FILES, "--prediction-field", "x")
    assert "cannot both be standard input" in run_to_error(run, "--gold-label-file", "-", "--submission-file", "-")
    assert "unknown variant 'squad'; choose from standard" in run_to_error(run, *FILES, "--variant", "squad")
    assert "'50' is not a number from 0 to 1" in run_to_error(run, *FILES, "--anls-threshold", "50")
    assert "'half' is not a number from 0 to 1" in run_to_error(run, *FILES, "--anls-threshold", "half")
    assert "'few' is not a whole number from 0" in run_to_error(run, *FILES, "--worst", "few")
    assert "--report: '-' is not the name of a file" in run_to_error(run, *FILES, "--report", "-")
    assert "--missing: unknown value 'ignore'; choose from error, zero" in run_to_error(
        run, *FILES, "--missing", "ignore"
    )
    assert "--colour" in run_to_error(run, *FILES, "--colour")
    missing = tmp_path / "none.json"
    assert f"{missing}: No such file" in run_to_error(run, "--gold-label-file", missing, *FILES[2:])
    assert f"{tmp_path}: it is an empty folder: name another folder, or a file\n" in run_to_error(
        run, "--gold-label-file", tmp_path, *FILES[2:]
    )


def test_lack_of_memory_is_an_error_in_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhaust(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(command_line, "find_submissions", exhaust)
    assert "this needs more memory than there is: score fewer answers at a time" in run_to_error(run, *FILES)


def test_flag_that_would_be_ignored_is_refused(run: Run, tmp_path: Path) -> None:
    assert f"{FILES[0]} and -g mean the same: give one of them" in run_to_error(run, *FILES, "-g", FILES[1])
    assert "two submissions are called" in run_to_error(run, *FILES, *FILES[2:])
    assert "--epoch and --run mean the same" in run_to_error(run, *FILES, "--epoch", "1", "--run", "1")
    assert "--percent takes no value\n" in run_to_error(run, *FILES, "--percent=yes")
    assert "--variant is given twice: give it once" in run_to_error(run, *FILES, "--variant", "rrc", "--variant", "due")
    assert "there is no run '2' (found 1): choose a run with --run" in run_to_error(run, *FILES, "--run", "2")
    assert "the name of a file is empty" in run_to_error(run, FILES[1], "")
    for flag in ("--variant", "--prediction-field", "--corrections", "--find"):
        assert f"{flag}: it is empty: give a value, or leave the flag out" in run_to_error(run, *FILES, flag, "")
    for name in ("", "-"):
        assert f"{name!r} is not the name of a folder" in run_to_error(run, *FILES, "--output-dir", name)
    assert run(*FILES, "--by", "question", "--by", "questionId")[0] == 0


@pytest.mark.parametrize(
    "flag", ["--format json", "--format latex", "--find 84", "--worst 2", "--suspects", "--confusions 3", "--percent"]
)
def test_flag_for_what_score_only_does_not_print_is_refused(run: Run, flag: str) -> None:
    error = run_to_error(run, *FILES, "--score-only", *flag.split())
    named = flag if "format" in flag else flag.split()[0]
    assert f"--score-only prints only the score, with all of its digits: leave out {named}\n" in error


def test_limit_of_right_answers_is_refused_without_confidences_and_verdicts(run: Run, tmp_path: Path) -> None:
    assert "--right-at is for confidences and verdicts, and the files have none" in run_to_error(
        run, *FILES, "--right-at", "0.7"
    )
    table = write(tmp_path / "t.json", [{"prediction": "a", "answers": ["a"], "sure": 0.9, "verdict": True}])
    for field in ("--confidence-field sure", "--judge-field verdict"):
        assert run(table, "--right-at", "0.7", *field.split())[0] == 0


def test_each_mistake_with_ids_has_its_own_error(run: Run, tmp_path: Path) -> None:
    gold = [{"questionId": 100 + n, "answers": ["a"]} for n in range(6)]
    places = [{"questionId": n, "answer": "a"} for n in range(6)]
    for flags in ([], ["--missing", "zero"], ["--extra", "ignore"], ["--missing", "zero", "--extra", "ignore"]):
        error = run_to_error(run, *write_pair(tmp_path, gold, places), *flags)
        assert "submission.json: none of its ids is in" in error
        assert "it has 0, 1, 2, 3, 4, ..., and " in error
        assert "--extra" not in error
        assert "--missing" not in error
    half = [{"questionId": 100 + n, "answer": "a"} for n in range(3)]
    assert "no answer to 3 of the questions" in run_to_error(run, *write_pair(tmp_path, gold, half))
    assert run(*write_pair(tmp_path, gold, half), "--missing", "zero")[0] == 0
    more = [{"questionId": 100 + n, "answer": "a"} for n in range(9)]
    error = run_to_error(run, *write_pair(tmp_path, gold, more))
    assert "3 answers to questions that" in error
    assert error.endswith("remove these answers, or ignore them with --extra ignore\n")
    status, out, _ = run(*write_pair(tmp_path, gold, more), "--extra", "ignore", "--format", "json")
    assert (status, parse_document(out)["questions"]) == (0, 6)


def test_swapped_files_are_refused(run: Run) -> None:
    error = run_to_error(run, "-g", SUBMISSION, "-s", GOLD)
    assert "has no accepted answers, and" in error
    assert error.endswith("the two look swapped: swap the two files\n")


@pytest.mark.parametrize("both", [True, False], ids=["table", "two files"])
def test_null_prediction_is_refused(run: Run, tmp_path: Path, both: bool) -> None:
    answers: list[dict[str, Any]] = [{"id": 1, "prediction": "a"}, {"id": 2, "prediction": None}]
    if both:
        records = [{**record, "references": ["a"]} for record in answers]
        files: list[object] = [
            write(tmp_path / "table.jsonl", "".join(json.dumps(record) + "\n" for record in records))
        ]
    else:
        files = write_pair(tmp_path, [{"id": n, "references": ["a"]} for n in (1, 2)], answers)
    error = run_to_error(run, *files)
    assert "'prediction' is null, not a text" in error
    assert error.endswith("or score it 0 with --missing zero\n")
    assert parse_document(run(*files, "--missing", "zero", "--format", "json")[1])["anls"] == 0.5


def test_repeated_id_of_a_table_is_refused_unless_ids_are_off(run: Run, tmp_path: Path) -> None:
    records = [{"id": 7, "prediction": "a", "references": [text]} for text in "ab"]
    table = write(tmp_path / "t.jsonl", "\n".join(map(json.dumps, records)))
    assert "t.jsonl: the id 7 is repeated: keep one record for each id" in run_to_error(run, table)
    assert parse_document(run(table, "--id-field", "none", "--format", "json")[1])["questions"] == 2


def test_flags_take_paths_of_fields(run: Run, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.json", [{"doc": {"key": n, "labels": ["a"]}, "a.b": {"c": n % 2}} for n in range(4)])
    answers = write(tmp_path / "answers.json", [{"doc": {"key": n}, "output": [{"text": "a"}]} for n in range(4)])
    paths = ["--id-field", "doc.key", "--prediction-field", "output.0.text", "--references-field", "doc.labels"]
    document = parse_document(run(gold, answers, *paths, "--by", "a.b.c", "--format", "json")[1])
    assert document["anls"] == 1.0
    group = {"anls": 1.0, "interval": [1.0, 1.0], "questions": 2}
    assert document["groups"]["a.b.c"] == {"0": group, "1": group}


def test_references_separator_splits_accepted_answers(run: Run, tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "prediction,references\nb,a | b\n")
    assert parse_document(run(table, "--format", "json")[1])["anls"] == 0.0
    assert parse_document(run(table, "--references-separator", "|", "--format", "json")[1])["anls"] == 1.0


def test_printed_lists_of_one_prediction_are_unwrapped_with_a_note(run: Run, tmp_path: Path) -> None:
    lines = ['["a"]', "['b']", '["it\'s"]']
    records = [{"prediction": line, "references": [answer]} for line, answer in zip(lines, ["a", "b", "it's"])]
    table = write(tmp_path / "t.json", records)
    status, out, err = run(table, "--format", "json")
    assert (status, parse_document(out)["anls"]) == (0, 1.0)
    assert "every 'prediction' is a printed list of one answer: it is read as that one" in err
    mixed = write(tmp_path / "mixed.json", [*records, {"prediction": "c", "references": ["c"]}])
    assert parse_document(run(mixed, "--format", "json")[1])["anls"] < 0.5
    late = write(tmp_path / "late.json", [*records * 500, {"prediction": "c", "references": ["c"]}])
    assert "no printed list of one answer, as those before are" in run_to_error(run, late)


def test_several_submissions_are_scored_and_compared(run: Run, tmp_path: Path) -> None:
    submissions = {"a": "a", "b": "x"}
    gold = write(tmp_path / "gold.json", [{"id": 1, "answers": ["a"]}])
    files = [write(tmp_path / f"{name}.json", [{"id": 1, "answer": text}]) for name, text in submissions.items()]
    for arguments in ([gold, *files], ["-g", gold, "-s", files[0], "-s", files[1]], ["-g", gold, *files]):
        document = parse_document(run(*arguments, "--format", "json")[1])
        assert {comparison["name"]: comparison["anls"] for comparison in document["submissions"]} == {
            "a": 1.0,
            "b": 0.0,
        }
        assert [
            (comparison["first"], comparison["second"], comparison["verdict"]) for comparison in document["comparisons"]
        ] == [("a", "b", "too few questions")]
    out = run(gold, *files, "--output-dir", tmp_path / "out")[1]
    assert re.search(r"^a  1\.0000  -     1\.0000  1\.0000    0\.0000  0\.0000$", out, re.MULTILINE)
    assert re.search(r"^b  0\.0000 .* -1\.0000 .* 0       1      too few questions  -$", out, re.MULTILINE)
    assert sorted(path.parent.name for path in (tmp_path / "out").glob("*/results.json")) == ["a", "b"]
    (tmp_path / "run").mkdir()
    same = write(tmp_path / "run" / "a.json", [{"id": 1, "answer": "a"}])
    submissions = parse_document(run(gold, files[0], same, "--format", "json")[1])["submissions"]
    assert [comparison["name"] for comparison in submissions] == [f"{tmp_path.name}/a", "run/a"]
    named = run(gold, f"mine={files[0]}", f"yours={files[0]}", "--format", "json")[1]
    assert [comparison["name"] for comparison in parse_document(named)["submissions"]] == ["mine", "yours"]


def test_submissions_without_common_ids_are_scored(run: Run, tmp_path: Path) -> None:
    tables = [
        write(tmp_path / f"{name}.json", [{"id": name, "prediction": "a", "references": ["a"]}]) for name in ("a", "b")
    ]
    status, out, err = run(*tables, "--format", "json")
    assert status == 0
    assert [comparison["anls"] for comparison in parse_document(out)["submissions"]] == [1.0, 1.0]
    assert parse_document(out)["comparisons"] == []
    assert err == "hint: not compared: b: no question ids in common with a: b here, a there\n"
    assert parse_document(out)["hints"] == ["not compared: b: no question ids in common with a: b here, a there"]
    assert "unknown baseline 'c'; choose from a, b" in run_to_error(run, *tables, "--baseline", "c")


def test_wrapped_hint_names_rules_that_extract_the_answers(run: Run, tmp_path: Path) -> None:
    gold = [{"id": n, "answers": [f"answer {n}"]} for n in range(20)]
    wrapped = [{"id": n, "answer": f"<think>Let me see.</think>**answer {n}**"} for n in range(20)]
    files = write_pair(tmp_path, gold, wrapped)
    status, out, err = run(*files, "--format", "json")
    hint = "20 of 20 predictions look like raw model output: extract the answers with --extract think,bold"
    assert (status, err, parse_document(out)["hints"]) == (0, f"hint: {hint}\n", [hint])
    assert parse_document(out)["anls"] < 0.5
    status, out, err = run(*files, "--extract", "think,bold", "--format", "json")
    assert (status, err, parse_document(out)["anls"]) == (0, "", 1.0)
    assert without_questions(parse_document(out)["signature"]) == anls_metric.signature(extract="think,bold")
    assert "|extract:think,bold|questions:" in parse_document(out)["signature"]
    assert "unknown extraction rule 'thinks'; did you mean think?" in run_to_error(run, *files, "--extract", "thinks")
    joined = write(tmp_path / "t.csv", "prediction,references\n" + "".join(f"a{n},a{n}|b{n}\n" for n in range(20)))
    assert '--references-separator "|"' in run(joined)[2]


def test_extraction_reports_itself_in_every_format(run: Run, tmp_path: Path) -> None:
    gold = [{"id": n, "answers": [f"answer {n}"]} for n in range(10)]
    objects = [{"id": n, "answer": json.dumps({"answer": f"answer {n}"})} for n in range(7)]
    cut = [{"id": n, "answer": f'{{"answer": "answer {n}'} for n in range(7, 9)]
    plain = {"id": 9, "answer": "<think>Hm.</think>answer 9"}
    files = write_pair(tmp_path, gold, [*objects, *cut, plain])
    status, out, _ = run(*files, "--extract", "think,json")
    sentences = [
        "think changed 1 of 10 answers and left 9",
        "json changed 7 of 10 answers and left 1; 2 are not valid JSON: cut off?",
    ]
    assert status == 0
    assert f"\nextracted  {sentences[0]}\n           {sentences[1]}\n" in out
    submission = parse_document(run(*files, "--extract", "think,json", "--format", "json")[1])["submissions"][0]
    assert submission["extraction"] == {
        "think": {"changed": 1, "left": 9, "unreadable": 0},
        "json": {"changed": 7, "left": 1, "unreadable": 2},
    }
    assert sentences[1] in str(anls_metric.score(str(files[3]), gold=str(files[1]), extract="think,json"))
    assert "extraction" not in parse_document(run(*files, "--format", "json")[1])["submissions"][0]
    report = tmp_path / "report.html"
    compared = [*files, write(tmp_path / "plain.json", [{"id": n, "answer": f"answer {n}"} for n in range(10)])]
    _, out, _ = run(*compared, "--extract", "json", "--report", report)
    assert f"\nextracted\n  submission: {sentences[1]}\n  plain: json changed 0 of 10 answers and left 10" in out
    assert f"submission: {sentences[1]}" in report.read_text("utf-8")


def test_extraction_counts_missing_answers_for_no_rule(run: Run, tmp_path: Path) -> None:
    gold = [{"id": n, "answers": ["a"]} for n in range(3)]
    files = write_pair(tmp_path, gold, [{"id": 0, "answer": "**a**"}, {"id": 1, "answer": None}])
    _, out, _ = run(*files, "--extract", "bold", "--missing", "zero")
    assert "extracted  bold changed 1 of 1 answer and left 0\n" in out


def test_cluster_by_chooses_the_clusters(run: Run, tmp_path: Path) -> None:
    gold = [{"id": n, "answers": ["a"], "image": f"{n // 2}.png", "shelf": n // 5} for n in range(20)]
    files = write_pair(tmp_path, gold, [{"id": n, "answer": "a" if n % 3 else "x"} for n in range(20)])
    assert parse_document(run(*files, "--format", "json")[1])["clusters"] == {"field": "image", "count": 10}
    document = parse_document(run(*files, "--cluster-by", "shelf", "--format", "json")[1])
    assert document["clusters"] == {"field": "shelf", "count": 4}
    assert parse_document(run(*files, "--cluster-by", "none", "--format", "json")[1])["clusters"] is None
    assert "95 %       " in run(*files)[1]
    assert ", 10 clusters by image\n" in run(*files)[1]
    assert "no question has the field 'x' to cluster by" in run_to_error(run, *files, "--cluster-by", "x")


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    return write(path, "".join(f"{json.dumps(record)}\n" for record in records))


def make_records(count: int, **fields: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Records of a table in which two answers of seven are wrong, with these fields."""
    return [
        {"id": n, "prediction": f"wrong {n}" if n % 7 in (2, 3) else "a", "references": ["a"]}
        | {name: value for name, find in fields.items() if (value := find(n)) is not None}
        for n in range(count)
    ]


def test_order_of_lines_changes_neither_clusters_nor_interval(run: Run, tmp_path: Path) -> None:
    """The field of the documents is missing in more than the first hundred lines, or in the last."""
    records = make_records(400, docId=lambda n: n // 8 if n >= 150 else None)
    found = []
    for lines in (records, records[::-1], random.Random(1).sample(records, 400)):
        document = parse_document(run(write_lines(tmp_path / "t.jsonl", lines), "--format", "json")[1])
        found.append((document["clusters"], document["interval"], document["anls"]))
    assert found[0][0] == {"field": "docId", "count": 182}
    assert found == [found[0]] * 3


def test_kind_of_image_is_no_document(run: Run, tmp_path: Path) -> None:
    fields: dict[str, Callable[[int], Any]] = {"image": lambda n: "yes" if n % 3 else "no", "docId": lambda n: n // 2}
    table = write_lines(tmp_path / "t.jsonl", make_records(160, **fields))
    _, out, err = run(table, "--format", "json")
    assert (parse_document(out)["clusters"], err) == ({"field": "docId", "count": 80}, "")
    table = write_lines(tmp_path / "t.jsonl", make_records(160, image=fields["image"]))
    status, out, err = run(table, "--format", "json")
    assert (status, parse_document(out)["clusters"]) == (0, None)
    assert err == (
        "hint: image has only 2 values for 160 questions, so each question counts for itself: "
        "if image names the documents, choose it with --cluster-by image\n"
    )
    assert parse_document(run(table, "--format", "json", "--cluster-by", "image")[1])["clusters"]["count"] == 2


def test_document_with_half_of_the_questions_is_named(run: Run, tmp_path: Path) -> None:
    table = write_lines(tmp_path / "t.jsonl", make_records(600, docId=lambda n: n // 4 if n < 300 else "annual report"))
    status, out, err = run(table)
    assert (status, err) == (
        0,
        "hint: 300 of 600 questions are about one document (docId annual report): the 95 % interval is too narrow\n",
    )
    assert ", 76 clusters by docId\n" in out


def test_list_variants_prints_the_variants(run: Run) -> None:
    status, out, _ = run("--list-variants")
    assert status == 0
    head, *lines = out.splitlines()
    assert head.split()[0] == "variant"
    assert [line.split()[0] for line in lines] == [*anls_metric.VARIANTS, *anls_metric.OF_VALUES, *RULES]
    assert lines[1].startswith("rrc ")
    assert all("  https://" in line for line in lines)


def test_list_layouts_prints_the_layouts(run: Run) -> None:
    status, out, _ = run("--list-layouts")
    assert status == 0
    holds = {line.split()[0]: line.split("  ", 1)[1].strip().split("  ")[0] for line in out.splitlines()}
    assert holds["lmms_eval"] == "both"
    assert (holds["openai_batch"], holds["squad"], holds["answers_by_id"]) == ("answers", "gold", "answers or gold")
    assert "https://github.com/open-compass/VLMEvalKit" in out
    assert "unknown layout 'x'; choose from lm_eval" in run_to_error(run, *FILES, "--layout", "x")
    assert parse_document(run(GOLD, SUBMISSION, "--layout", "auto", "--format", "json")[1])["layout"] == "table"


# As a process


@pytest.fixture
def command() -> list[str]:
    script = Path(sysconfig.get_path("scripts")) / "anls"
    if not script.exists():
        pytest.skip("anls is not installed beside this Python: pip install -e .")
    return [str(script)]


def test_installed_command_runs(command: list[str], tmp_path: Path) -> None:
    done = subprocess.run([*command, *FILES], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ANLS       0.6273\n")
    failed = subprocess.run([*command, "x"], capture_output=True, text=True, cwd=tmp_path)
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr.startswith("anls: error: x: No such file or directory: ")


def test_answers_are_escaped_for_a_terminal_that_cannot_show_them(command: list[str], tmp_path: Path) -> None:
    files = write_pair(
        tmp_path, [{"questionId": 1, "answers": ["漢字\ud800"]}], [{"questionId": 1, "answer": "\x1b[31m漢"}]
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*command, *map(str, files), "--worst", "1"], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\u6f22" in done.stdout
    assert b"\x1b" not in done.stdout


def test_ids_and_groups_are_escaped_for_the_terminal(run: Run, tmp_path: Path) -> None:
    record = {"questionId": "1\x1b[31m", "answers": ["a"], "kind": "a\nb\x1b[31m", "question": "\x1bq"}
    files = write_pair(tmp_path, [record], [{"questionId": "1\x1b[31m", "answer": "b"}])
    out = run(*files, "--worst", 1, "--by", "kind")[1]
    assert "\x1b" not in out
    assert "  a·b·[31m" in out


HOSTILE = "x\x1b[2J\x1b]0;title\x07\x9b31m\u202ey\r\x08z"


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal as on Unix")
@pytest.mark.parametrize("case", ["id", "header", "field", "file", "group", "cell", "answer"])
def test_texts_of_a_file_are_escaped_for_the_terminal(command: list[str], tmp_path: Path, case: str) -> None:
    """On a real terminal of its own: ids, headers, names of files and fields, groups and answers."""
    import pty

    gold: list[dict[str, Any]] = [
        {"questionId": HOSTILE, "answers": ["a" + HOSTILE], "kind" + HOSTILE: HOSTILE, "question": HOSTILE}
    ]
    answers = [{"questionId": HOSTILE, "answer": "b" + HOSTILE}]
    if case == "id":
        answers[0]["questionId"] += "!"
    elif case == "cell":
        gold[0]["answers"] = f"['{HOSTILE}', None]"
    files = write_pair(tmp_path, gold, answers)
    if case == "header":
        files = [write(tmp_path / "table.csv", f'"prediction{HOSTILE}","{HOSTILE}"\na,b\n')]
    elif case == "file":
        files[1] = tmp_path / HOSTILE.replace("\r", "")
    elif case == "field":
        files += ["--by", HOSTILE]
    elif case == "group":
        files += ["--by", "kind" + HOSTILE]
    ours, theirs = pty.openpty()
    done = subprocess.Popen([*command, *map(str, files), "--worst", "1"], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
        while read := os.read(ours, 1 << 16):
            shown += read
    os.close(ours)
    assert done.wait(60) == (0 if case in ("group", "answer") else 2)
    text = shown.decode().replace("\r\n", "\n").replace("\n", "")
    escaped = "x\\x1b[2J" in text  # as a header is named
    assert escaped if case in ("header", "field") else "x·[2J·]0;title··31m·y" in text
    assert all(character.isprintable() for character in text), text


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_output_is_no_error(command: list[str], closed: str) -> None:
    done = subprocess.run(["bash", "-c", f'"$0" "$@" {closed}', *command, *FILES], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_repeated_ids_of_a_pipe_are_refused(command: list[str], tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", '{"questionId": 1, "answers": ["a"]}\n' * 2)
    script = f'"$0" --gold-label-file <(cat {gold}) --submission-file {SUBMISSION}'
    done = subprocess.run(["bash", "-c", script, *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "an id is repeated: write one record for each question" in done.stderr
    table = write(tmp_path / "table.jsonl", '{"id": 1, "prediction": "a", "references": ["a"]}\n' * 2)
    for more, status in ("", 2), ("--runs question", 0):
        done = subprocess.run(["bash", "-c", f'cat {table} | "$0" - {more}', *command], capture_output=True, text=True)
        assert done.returncode == status


def test_output_that_is_cut_off_is_no_error(command: list[str]) -> None:
    process = subprocess.Popen([*command, *FILES, "--worst", "6"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(60) == 0
    process.stderr.close()


def _accept_ctrl_c() -> None:
    """Where the tests run in the background, a process would ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_the_command_with_status_130(command: list[str], tmp_path: Path) -> None:
    """It reads a pipe that does not end."""
    arguments = [*command, "-", "--output-dir", str(tmp_path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=_accept_ctrl_c)
    assert process.stdin is not None
    process.stdin.write(b'{"prediction": "a", "references": ["a"]}\n' * 10_000)
    process.stdin.flush()
    end = time.monotonic() + 60
    while not list(tmp_path.iterdir()):
        assert time.monotonic() < end
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"anls: interrupted\n")
    assert list(tmp_path.iterdir()) == []


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_stopwatch_shows_count_and_seconds_and_disappears(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    with Stopwatch("writing the report") as stopwatch:
        stopwatch.show()
        stopwatch.add(4096, "images")
        stopwatch.add(4096, "images")
        monkeypatch.setattr(time, "monotonic", lambda: 6.0)
        stopwatch.show()
    clear = "\r\x1b[K"
    assert stream.getvalue() == f"{clear}writing the report, 0 s{clear}writing the report: 8,192 images, 6 s{clear}"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_stopwatch_starts_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(Stopwatch, "SECONDS", 0.001)
    with Stopwatch("scoring"):
        end = time.monotonic() + 60
        while stream.isatty() and not stream.getvalue():
            assert time.monotonic() < end
            time.sleep(0.001)
    assert ("scoring" in stream.getvalue()) == stream.isatty()
