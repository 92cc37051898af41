"""The subcommands of anls: variants, layouts, demo, identify, export and check-submission."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.command import command_line, subcommands
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.report.hub import as_eval_results
from tests.conftest import ROOT
from tests.system.conftest import Shell

GOLD, SUBMISSION = f"{ROOT}/examples/gold_label.json", f"{ROOT}/examples/submission.json"
ANSWERS: list[dict[str, Any]] = json.loads(Path(SUBMISSION).read_text(encoding="utf-8"))


def test_subcommands_are_those_of_the_help(shell: Shell) -> None:
    assert {name.split()[0] for name in subcommands.SUBCOMMANDS} == set(command_line.SUBCOMMANDS)
    for name in subcommands.SUBCOMMANDS:
        assert shell.print(f"{name} --help").startswith(f"usage: anls {name} ")
        assert f"anls {name}" in " ".join(shell.print("--help").split())


def test_file_with_the_name_of_a_subcommand_is_scored_by_its_path(shell: Shell) -> None:
    shutil.copy(SUBMISSION, "export")
    assert shell.print(f"./export --gold {GOLD} --score-only") == "0.6273148148148148\n"
    assert shell.print(f"--score-only {GOLD} export") == "0.6273148148148148\n"


def test_lists_have_a_line_for_each_name(shell: Shell) -> None:
    variants = [*anls_metric.SCORERS]
    for name, expected in {"variants": variants, "layouts": [layout.name for layout in LAYOUTS]}.items():
        head, *lines = shell.print(name).splitlines()
        assert [line.split()[0] for line in lines] == expected
        assert head.endswith("source")
        assert "unknown argument x: --help lists arguments and flags" in shell.error(f"{name} x")


def test_demo_opens_the_page_or_says_what_to_install(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.delitem(sys.modules, "anls_metric.page.server", raising=False)
    monkeypatch.delattr("anls_metric.page.server", raising=False)
    assert "anls demo needs gradio: pip install 'anls-metric[app]'" in shell.error("demo")


# identify

MODULE = """
import sys
from anls_metric import anls_score
class Metrics:
    @staticmethod
    def rrc(answers, output):
        print("called")
        return 100 * anls_score(output, answers, variant="rrc")
def lenient(output, answers):
    return 1.0 if output == "rain" else anls_score(output, answers)
def leaving(output, answers):
    sys.exit("no model")
number = 1
"""
SCRIPT = """
import sys
def read(path):
    return open(path).read()
def my_anls(output, answers):
    from anls_metric import anls_score
    print("called")
    return anls_score(output, answers, variant="rrc")
print(my_anls(read(sys.argv[1]), [read(sys.argv[2])]))
"""


@pytest.fixture
def module(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    shell.write({"made_up_metric.py": MODULE, "script.py": SCRIPT})
    shell.write({"lines.py": "print(0.5)\n", "relative.py": "from . import f"})
    yield shell
    for name in ("made_up_metric", "script", "relative"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("made_up_metric:Metrics.rrc", 0, "called with (references, prediction), it returns 100 times the score"),
        ("made_up_metric.py:Metrics.rrc", 0, f"the function is rrc: {anls_metric.VARIANTS['rrc'].meaning}\n"),
        ("./made_up_metric.py:Metrics.rrc", 0, "the function is rrc: "),
        ("made_up_metric:lenient", 1, "not a known variant; the nearest is standard: 1 of 118 cases differ"),
        ("made_up_metric:leaving", 1, "the function raises SystemExit: no model"),
        ("script.py:my_anls", 0, "the function is rrc: "),
    ],
)
def test_identify_names_the_variant_of_a_function(module: Shell, name: str, status: int, words: str) -> None:
    done = module.type(f"identify {name}")
    assert (done.status, words in done.out, "called\n" in done.err) == (status, True, status == 0), done.out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("made_up_metric:nothing", "AttributeError: module 'made_up_metric' has no attribute 'nothing'"),
        ("made_up_metric:number", "'made_up_metric:number' is not a function: write MODULE:FUNCTION"),
        ("made_up_metric.number", "'made_up_metric.number' is not a function: write MODULE:FUNCTION"),
        ("made_up_metric.py", "made_up_metric.py defines lenient, leaving: write made_up_metric.py:lenient"),
        ("script.py", "script.py defines read, my_anls: write script.py:my_anls"),
        ("script.py:other", "cannot load script.py:other: IndexError: list index out of range; importing the file"),
        ("relative.py:f", "ImportError: attempted relative import with no known parent package"),
        ("lines.py", "lines.py defines no function: to find the variant of its score, use anls GOLD SUBMISSION --find"),
        ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("no_such_folder/metrics:f", "no_such_folder/metrics.py does not exist"),
        ("no_such_file.py:f", "no_such_file.py does not exist"),
    ],
)
def test_identify_refuses_what_it_cannot_load(module: Shell, name: str, words: str) -> None:
    assert words in module.error(f"identify {name}")


# export rrc

LOG = [{"qid": str(row["questionId"]), "output": f"So.\nAnswer: {row['answer']}"} for row in ANSWERS[:5]]
EPOCHS = [{"id": 5, "epoch": n, "answer": f"a{n}"} for n in (1, 2)]
# A log of lm_eval whose filter is chosen, and which still has two answers to a question.
SEEDS = [
    {"doc_id": 0, "doc": {"questionId": 7}, "target": "a", "resps": [[f"a{n}"]], "filtered_resps": [f"a{n}"]}
    | {"filter": "none", "seed": n}
    for n in (1, 2)
]
EXPORTS: list[tuple[str, Any, Any]] = [
    ("x.json", ANSWERS, ANSWERS),
    ("x.jsonl --extract final", LOG[::-1], ANSWERS[:5][::-1]),
    ("x.csv", [{"questionId": 7, "prediction": "a", "answers": "b"}], [{"questionId": 7, "answer": "a"}]),
    ("split.json x.json", ANSWERS[:2], ANSWERS[1::-1]),
    (f"{GOLD} x.json --id-field none", [row["answer"] for row in ANSWERS], ANSWERS),
    (f"{GOLD} x.json --missing zero", ANSWERS[1:], [{"questionId": 1, "answer": ""}, *ANSWERS[1:]]),
    (f"{GOLD} x.json --extra ignore", [*ANSWERS, {"questionId": 9, "answer": "a"}], ANSWERS),
    (
        "x.json",
        {"Scores by samples": {"5": {"pred_answer": "a", "pred_answer_page": 2}}},
        [{"questionId": 5, "answer": "a", "answer_page": 2}],
    ),
    (
        "x.csv",
        "id,answer,answer_page\n5,a,2\n6,b,\n",
        [{"questionId": 5, "answer": "a", "answer_page": 2}, {"questionId": 6, "answer": "b"}],
    ),
    (
        "x.json",
        [{"questionId": key, "answer": "a", "answer_page": page} for key, page in enumerate((2.0, float("nan"), None))],
        [{"questionId": 0, "answer": "a", "answer_page": 2}, *({"questionId": n, "answer": "a"} for n in (1, 2))],
    ),
    ("x.json --missing zero", [{"questionId": 5, "answer": None}], [{"questionId": 5, "answer": ""}]),
    ("x.json --filter 2", EPOCHS, [{"questionId": 5, "answer": "a2"}]),
    ("x.json --prediction-field out.0 --id-field nr", [{"nr": 5, "out": ["a"]}], [{"questionId": 5, "answer": "a"}]),
]
SPLIT = {"data": [{"questionId": row["questionId"], "question": "?"} for row in ANSWERS[1::-1]]}  # of a test split


@pytest.mark.parametrize(("line", "content", "expected"), EXPORTS)
def test_export_writes_what_the_leaderboard_takes(shell: Shell, line: str, content: Any, expected: Any) -> None:
    (name,) = re.findall(r"\bx\.\w+", line)
    shell.write({name: content, "split.json": SPLIT})
    assert json.loads(shell.print(f"export rrc {line}")) == expected
    shell.print(f"export rrc {line} -o rrc.json")
    assert shell.print("check-submission rrc.json").startswith("rrc.json: no defects; to check that all questions are")


@pytest.mark.parametrize(
    ("line", "content", "words"),
    [
        (
            "x.json",
            [{"questionId": "x1", "answer": "a"}],
            "question ids must be whole numbers for the leaderboard, got 'x1': pass",
        ),
        (
            "x.json",
            ["a", "b"],
            "it has no question ids: pass their field with --id-field, or pass the questions file before it",
        ),
        *(
            (
                f"{line} --missing {choice}",
                content,
                "no answer to 1 question (1): to submit empty answers, add --missing zero",
            )
            for choice in ("error", "skip")
            for line, content in (
                (f"{GOLD} x.json", ANSWERS[1:]),
                ("x.json", [*ANSWERS[1:], {"questionId": 1, "answer": None}]),
            )
        ),
        (
            "x.json",
            [{"questionId": 5, "answer": "a", "pred_answer_page": "p_3"}],
            "x.json, record 1: pred_answer_page must be a whole number, got 'p_3' (str): write the position",
        ),
        (f"{GOLD} x.json", [*ANSWERS, {"questionId": 9, "answer": "a"}], "--extra ignore skips such answers"),
        (f"{GOLD} x.json", [*ANSWERS, ANSWERS[0]], "1 id repeated (the first is 1): keep only one record for each id"),
        ("x.json", EPOCHS, "choose one with --filter"),
        ("x.json --filter none", SEEDS, "it has several runs (1, 2)"),
        ("x.json", [{"questionId": 5, "model": m, "answer": "a"} for m in "ab"], "answers of several models (a, b)"),
        ("x.json -o x.json", ANSWERS, "x.json: the file is an input"),
        (f"{GOLD} x.json {GOLD}", ANSWERS, "takes one answers file, optionally preceded by a questions file"),
        ("x.json --worst 3", ANSWERS, "unknown flag --worst"),
        (
            "x.json --ids x.json",
            ANSWERS,
            "unknown flag --ids: pass the file with the questions first, as in anls export rrc",
        ),
    ],
)
def test_export_refuses_what_the_leaderboard_would(shell: Shell, line: str, content: Any, words: str) -> None:
    shell.write({"x.json": content})
    message = shell.error(f"export rrc {line}")
    assert words in message
    assert "--runs" not in message  # a submission has one answer to each question


# export hub: the format of the Hugging Face Hub

HUB = f"export hub {GOLD} {SUBMISSION} --dataset made-up/DocVQA --task val"
KEYS = {"dataset", "value", "date", "notes"}  # of the published schema, eval_results.yaml of hub-docs


def test_export_hub_fits_the_published_schema(shell: Shell) -> None:
    yaml = pytest.importorskip("yaml")
    (entry,) = yaml.safe_load(shell.print(f"{HUB} --variant rrc --extract think --threshold 0.9"))
    scores = anls_metric.score(SUBMISSION, gold=GOLD, variant="rrc", extract="think", threshold=0.9)
    assert set(entry) == KEYS
    assert entry["dataset"] == {"id": "made-up/DocVQA", "task_id": "val"}
    assert (entry["value"], entry["notes"]) == (scores.anls, scores.signature)
    assert "source" not in entry
    datetime.date.fromisoformat(entry["date"])


def test_library_of_the_hub_reads_the_yaml(shell: Shell) -> None:
    yaml = pytest.importorskip("yaml")
    hub: Any = pytest.importorskip("huggingface_hub", minversion="1.4")
    text = shell.print(f"{HUB} --percent --digits 1 --source https://example.org/logs")
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(text))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("made-up/DocVQA", "val", 62.7)
    assert entry.source_url == "https://example.org/logs"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"export hub {GOLD} {SUBMISSION}", "the following arguments are required: --dataset, --task"),
        (
            f"{HUB} x={SUBMISSION}",
            "the Hub accepts the score of only one model: pass one of submission, x",
        ),
        (HUB.replace("made-up/", ""), "'DocVQA' is not a dataset id: write OWNER/NAME, such as"),
        *((f"{HUB} {flag} x", f"unknown flag {flag}") for flag in ("--worst", "--format", "--baseline", "--columns")),
    ],
)
def test_score_that_the_hub_does_not_take_is_an_error(shell: Shell, line: str, words: str) -> None:
    done = shell.type(line)
    assert (done.status, done.out) == (2, "")
    assert words in done.err


@pytest.mark.parametrize("mean", [0.0, 1.0, 1 / 3, 1e-05, 2.5e-7])
def test_value_of_the_hub_is_a_number_with_all_of_its_digits(mean: float) -> None:
    document: Any = {"submissions": [{"name": "a", "anls": mean}], "signature": 'a "quoted" text: \\ #'}
    text = as_eval_results(document, "a/b", "1", "https://example.org", "2026-11-22")
    (value,) = re.findall(r"^  value: ([\d.]+)$", text, re.MULTILINE)
    assert float(value) == mean
    assert pytest.importorskip("yaml").safe_load(text)[0]["notes"] == document["signature"]


# check-submission


@pytest.mark.parametrize(
    ("content", "defect"),
    [
        ([{"questionId": "1", "answer": "a"}], "question 1: questionId is '1' (str): write a whole number"),
        ([{"questionId": 1, "answer": 3}], "question 1: answer is 3 (int): write a string"),
        ([{"answer": "a"}], "answer 1 is {'answer': 'a'} (dict): write an object with questionId and answer"),
        ([{"questionId": 1}], "question 1: answer is None: write a string"),
        (
            [{"questionId": 1, "answer": "a", "answer_page": "p_3"}],
            "question 1: answer_page is 'p_3' (str): write the position of the page, from 0",
        ),
        ([7], "answer 1 is 7 (int): write an object with questionId and answer"),
        ([{"questionId": 1, "answer": text} for text in "ab"], "question 1: there are 2 answers"),
        ({"1": "a"}, "it is {'1': 'a'} (dict): write a list of objects with questionId and answer"),
        ('{"questionId": 1}\n{"questionId": 2}\n', "it is JSON lines, and the server expects one JSON list"),
        ('[{"questionId": 1', "it is not JSON in UTF-8: Expecting ',' delimiter: line 1 column 18 (char 17)"),
    ],
)
def test_check_submission_lists_what_the_server_would_refuse(shell: Shell, content: Any, defect: str) -> None:
    shell.write({"x.json": content})
    assert shell.type("check-submission x.json")[:2] == (1, f"x.json: {defect}\n")


def test_check_submission_counts_what_most_answers_have(shell: Shell) -> None:
    shell.write({"x.json": [{"questionId": str(n), "answer": 7 if n == 3 else "a"} for n in range(1007)]})
    *lines, rest, other = shell.type("check-submission x.json").out.splitlines()
    assert lines == [f"x.json: question {n}: questionId is '{n}' (str): write a whole number" for n in range(5)]
    assert rest == "x.json: and 1,002 more like the last"
    assert other == "x.json: question 3: answer is 7 (int): write a string"


@pytest.mark.parametrize("words", [GOLD, f"--gold {GOLD}"])
def test_check_submission_names_the_flag_for_the_questions(shell: Shell, words: str) -> None:
    assert shell.error(f"check-submission {SUBMISSION} {words}").endswith(": for the questions, type --ids FILE")


def test_check_submission_compares_the_ids_with_those_of_the_questions(shell: Shell) -> None:
    shell.write({"x.json": [*ANSWERS[1:], {"questionId": 9, "answer": "a"}]})
    done = shell.type(f"check-submission x.json --ids {GOLD}")
    assert done.out == "x.json: question 1: there is no answer\nx.json: question 9: there is no such question\n"
    assert "no defects: all 6 questions are answered\n" in shell.print(f"check-submission {SUBMISSION} --ids {GOLD}")


def test_check_submission_names_the_command_that_mends_the_file(shell: Shell) -> None:
    shell.write({"x.json": [{"questionId": str(n), "answer": f"<think>x</think>Cola {n}"} for n in range(12)]})
    hint = "hint: to write answers in the leaderboard's format, use anls export rrc\n"
    assert shell.type("check-submission x.json").err == hint
    words = "12 of 12 answers look like raw model output: extract the answers with anls export rrc --extract think"
    assert shell.type("export rrc x.json -o y.json").err == f"hint: {words}\n12 answers: y.json\n"
    assert shell.type("check-submission y.json").err == f"hint: {words}\n"
    assert json.loads(shell.print("export rrc x.json --extract think"))[0] == {"questionId": 0, "answer": "Cola 0"}
