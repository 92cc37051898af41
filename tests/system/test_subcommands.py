"""The subcommands of anls."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import command_line, subcommands
from anls_metric.leaderboard import find_defects
from tests.conftest import ROOT, SHARED
from tests.system.conftest import Run, run_to_error, write

GOLD, SUBMISSION = ROOT / "examples" / "gold_label.json", ROOT / "examples" / "submission.json"
ANSWERS = json.loads(SUBMISSION.read_text(encoding="utf-8"))


def test_subcommands_are_those_of_the_parser(run: Run) -> None:
    assert tuple(subcommands.COMMANDS) == command_line.SUBCOMMANDS
    for name in command_line.SUBCOMMANDS:
        status, out, _ = run(name, "--help")
        assert (status, out.startswith(f"usage: anls {name}")) == (0, True)
        assert f"anls {name}" in " ".join(run("--help")[1].split())


def test_file_with_the_name_of_a_subcommand_is_scored_by_its_path(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(SUBMISSION, "export")
    assert run(GOLD, "./export", "--score-only", "--quiet") == (0, "0.6273148148148148\n", "")
    assert run("--score-only", "--quiet", GOLD, "export") == (0, "0.6273148148148148\n", "")


@pytest.mark.parametrize("name", ["variants", "layouts"])
def test_lists_are_those_of_the_flags(run: Run, name: str) -> None:
    assert run(name) == run(f"--list-{name}")


def test_unknown_flag_of_a_subcommand_is_one_line_of_error(run: Run) -> None:
    for flag in ("--id", "--gold", "-g"):
        assert "did you mean --ids?" in run_to_error(run, "check-submission", SUBMISSION, flag, GOLD)
    assert "name the file with the questions before the answers" in run_to_error(
        run, "export", "rrc", "-g", GOLD, SUBMISSION
    )


def test_export_says_how_to_give_files_that_are_out_of_place(run: Run, tmp_path: Path) -> None:
    error = run_to_error(run, "export", "rrc", SUBMISSION, GOLD)
    assert f"{SUBMISSION}: it has no accepted answers, and {GOLD} has some" in error
    assert error.endswith("look swapped: swap the two files\n")
    new, other = tmp_path / "new.json", tmp_path / "old.json"
    assert run_to_error(run, "export", "rrc", SUBMISSION, new).endswith(": to write this file, add -o before it\n")
    assert run("export", "rrc", SUBMISSION, "-o", new)[0] == 0
    assert run_to_error(run, "export", "rrc", GOLD, tmp_path / "ne.json").endswith(
        f"add -o before it; did you mean {new}?\n"
    )
    assert run_to_error(run, "export", "rrc", other).endswith(f"{other}: No such file or directory\n")


def test_plain_run_imports_nothing_of_the_subcommands(
    tmp_path: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    program = (
        "import sys; from anls_metric import command_line; "
        f"command_line.main([{str(GOLD)!r}, {str(SUBMISSION)!r}, '--quiet', '--score-only']); print(*sys.modules)"
    )
    modules = set(run_python(program, tmp_path).stdout.splitlines()[-1].split())
    assert "anls_metric.arguments" in modules
    names = {"subcommands", "leaderboard", "analysis.identification", "report.hub", "pytest", "lmms_eval"}
    assert modules & {f"anls_metric.{name}" for name in names} == set()


# identify

MODULE = """
import sys
from anls_metric import anls_score
print("loaded")
class Metrics:
    @staticmethod
    def rrc(answers, output):
        print("called")
        return 100 * anls_score(output, answers, variant="rrc")
def lenient(output, answers):
    return 1.0 if output == "rain" else anls_score(output, answers)
def broken(output, answers):
    raise RuntimeError("no model")
def leaving(output, answers):
    sys.exit("no model")
number = 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "made_up_metric", raising=False)
    return write(tmp_path / "made_up_metric.py", MODULE)


@pytest.mark.parametrize("path", ["made_up_metric", "made_up_metric.py", "./made_up_metric.py"])
def test_identify_loads_a_function_and_names_its_variant(run: Run, module: Path, path: str) -> None:
    status, out, err = run("identify", f"{path}:Metrics.rrc")
    assert (status, out.splitlines()[0]) == (0, f"the function is rrc: {anls_metric.VARIANTS['rrc'].meaning}")
    assert "called with (references, prediction), it returns 100 times the score" in out
    assert "called\n" in err


def test_identify_shows_how_a_function_differs_from_the_nearest_variant(run: Run, module: Path) -> None:
    status, out, _ = run("identify", "made_up_metric:lenient")
    assert status == 1
    assert "no known variant; the nearest is standard: 1 of 34 cases differ" in out
    assert "  'rain' against 'shine': the function gives 1.0, standard gives 0.0" in out


def test_identify_prints_the_error_of_a_function_without_a_traceback(run: Run, module: Path) -> None:
    status, out, err = run("identify", "made_up_metric:broken")
    assert (status, out.count("\n")) == (1, 1)
    assert out.startswith("the function raises RuntimeError: no model, for 'CocaCola' against 'Coca Cola'")
    assert "Traceback" not in err


def test_identify_survives_a_function_that_ends_the_program(run: Run, module: Path) -> None:
    status, out, _ = run("identify", "made_up_metric:leaving")
    assert (status, out.startswith("the function raises SystemExit: no model")) == (1, True)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("made_up_metric", "is not a function: write MODULE:FUNCTION"),
        ("made_up_metric:", "is not a function"),
        ("made_up_metric:nothing", "AttributeError: module 'made_up_metric' has no attribute 'nothing'"),
        ("made_up_metric:number", "is not a function: it is of type int"),
        ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("no_such_file.py:f", "FileNotFoundError"),
    ],
)
def test_identify_refuses_what_it_cannot_load(run: Run, module: Path, name: str, problem: str) -> None:
    status, out, err = run("identify", name)
    assert (status, out) == (2, "")
    assert problem in err.splitlines()[-1]
    assert "Traceback" not in err


# export rrc


def test_export_writes_what_the_leaderboard_takes(run: Run, tmp_path: Path) -> None:
    log = [
        {"qid": str(each["questionId"]), "output": each["answer"] and f"It is so.\nAnswer: {each['answer']}"}
        for each in ANSWERS
    ]
    write(tmp_path / "log.jsonl", "".join(f"{json.dumps(line)}\n" for line in reversed(log)))
    output = tmp_path / "rrc.json"
    status, out, err = run("export", "rrc", GOLD, tmp_path / "log.jsonl", "--extract", "final", "-o", output)
    assert (status, out) == (0, "")
    assert "6 answers: " in err
    assert json.loads(output.read_text(encoding="utf-8")) == ANSWERS
    assert all(type(each["questionId"]) is int for each in ANSWERS)
    assert run("check-submission", output, "--ids", GOLD)[0] == 0


def test_export_without_a_file_prints_the_answers(run: Run) -> None:
    status, out, _ = run("export", "rrc", SUBMISSION)
    assert (status, json.loads(out)) == (0, ANSWERS)


def test_export_reads_a_table_with_accepted_answers(run: Run, tmp_path: Path) -> None:
    rows = [{"questionId": 7, "prediction": "a", "answers": ["b"]}, {"questionId": 8, "prediction": "", "answers": "c"}]
    exported = run("export", "rrc", write(tmp_path / "both.json", rows))[1]
    assert json.loads(exported) == [{"questionId": 7, "answer": "a"}, {"questionId": 8, "answer": ""}]


def test_export_takes_the_questions_of_a_test_split(run: Run, tmp_path: Path) -> None:
    """The organizers publish the questions without accepted answers."""
    questions = [{"questionId": number, "question": "?", "image": "a.png"} for number in (3, 1, 2)]
    gold = write(tmp_path / "test.json", {"dataset_name": "made up", "dataset_split": "test", "data": questions})
    answers = write(tmp_path / "a.json", [{"questionId": number, "answer": str(number)} for number in (1, 2, 3)])
    exported = json.loads(run("export", "rrc", gold, answers)[1])
    assert exported == [{"questionId": number, "answer": str(number)} for number in (3, 1, 2)]


@pytest.mark.parametrize(
    ("answers", "flags", "problem"),
    [
        (ANSWERS[1:], [], "no answer to 1 question (1): add the answers, or score them 0 with --missing zero"),
        ([*ANSWERS, {"questionId": 9, "answer": "a"}], [], "1 answer to other questions (9)"),
        ([*ANSWERS, ANSWERS[0]], [], "there are several answers to 1 question (the first: 1)"),
        (
            [each["answer"] for each in ANSWERS[1:]],
            ["--id-field", "none"],
            "it has 5 answers, and there are 6 questions",
        ),
    ],
)
def test_export_refuses_other_questions(run: Run, tmp_path: Path, answers: Any, flags: list[str], problem: str) -> None:
    assert problem in run_to_error(run, "export", "rrc", GOLD, write(tmp_path / "a.json", answers), *flags)


def test_export_fills_and_leaves_out_questions_on_request(run: Run, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.json", [*ANSWERS[1:], {"questionId": 9, "answer": "a"}])
    exported = json.loads(run("export", "rrc", GOLD, answers, "--missing", "zero", "--extra", "ignore")[1])
    assert exported == [{"questionId": 1, "answer": ""}, *ANSWERS[1:]]


def test_export_matches_by_position_on_request(run: Run, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.json", [each["answer"] for each in ANSWERS])
    assert json.loads(run("export", "rrc", GOLD, answers, "--id-field", "none")[1]) == ANSWERS


def test_export_says_how_to_match_a_list_of_texts(run: Run, tmp_path: Path) -> None:
    texts, questions = tmp_path / "texts.json", tmp_path / "ids.json"
    texts.write_text('["a", "b"]')
    questions.write_text("[7, 8]")
    error = run_to_error(run, "export", "rrc", str(texts))
    assert "name the file of the questions before it; if the answers are in the order of the questions" in error
    assert "with --id-field none" in run_to_error(run, "export", "rrc", str(questions), str(texts))
    status, printed, _ = run("export", "rrc", str(questions), str(texts), "--id-field", "none")
    assert (status, json.loads(printed)) == (0, [{"questionId": 7, "answer": "a"}, {"questionId": 8, "answer": "b"}])


def test_export_says_how_to_match_records_without_ids(run: Run, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.json", [{"answer": row["answer"]} for row in ANSWERS])
    error = run_to_error(run, "export", "rrc", GOLD, answers)
    assert "--id-field, or if the answers are in the order of the questions, match them by position with" in error
    status, printed, _ = run("export", "rrc", GOLD, answers, "--id-field", "none")
    assert (status, json.loads(printed)) == (0, ANSWERS)
    assert "name the file of the questions before it" in run_to_error(run, "export", "rrc", answers)


def test_export_of_lists_suggests_no_variant(run: Run, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.json", [{"questionId": 1, "answer": ["a", "x"]}])
    error = run_to_error(run, "export", "rrc", answers)
    assert error.endswith("not a text: name the field of the text with --prediction-field answer.0\n")
    assert run("export", "rrc", answers, "--prediction-field", "answer.0")[:2] == (
        0,
        '[\n{"questionId": 1, "answer": "a"}\n]\n',
    )
    write(answers, [{"questionId": 1, "answer": ["a", "x"]}, {"questionId": 2, "answer": []}])
    assert run_to_error(run, "export", "rrc", answers).endswith("not a text: write each answer as one text\n")


def test_export_of_two_submissions_says_that_one_gives_only_its_questions(run: Run, tmp_path: Path) -> None:
    questions, answers = tmp_path / "base.json", tmp_path / "tuned.json"
    for path in (questions, answers):
        path.write_text(json.dumps([{"questionId": 7, "answer": path.stem}]))
    status, printed, error = run("export", "rrc", str(questions), str(answers))
    assert (status, json.loads(printed)) == (0, [{"questionId": 7, "answer": "tuned"}])
    assert f"{questions}: only its questions are used, although it has the fields of a submission" in error


@pytest.mark.parametrize(
    ("around", "rules"),
    [("Final Answer: {}", "final"), ("**{}**", "bold"), ("<think>A logo.</think>\n\nAnswer: {}", "think,final")],
)
def test_words_around_all_answers_are_raw_output(run: Run, tmp_path: Path, around: str, rules: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"questionId": n, "answer": around.format(f"Cola {n}")} for n in range(12)]))
    _, printed, error = run("check-submission", str(path))
    command = re.search(r"anls (export rrc .*)", printed + error)
    assert command, printed + error
    words = shlex.split(command[1].replace(" extracts the answers", ""))
    assert words[-2:] == ["--extract", rules]
    status, _, _ = run(*words)
    (written,) = [name for name in tmp_path.iterdir() if name != path]
    assert (status, [each["answer"] for each in json.loads(written.read_text())]) == (
        0,
        [f"Cola {n}" for n in range(12)],
    )


def test_check_submission_refuses_to_check_a_file_against_itself(run: Run) -> None:
    file = str(ROOT / "examples" / "submission.json")
    error = run_to_error(run, "check-submission", file, "--ids", file)
    assert "is both the submission and the questions: name the file of the questions after --ids" in error


def test_check_submission_says_how_to_write_ids(run: Run, tmp_path: Path) -> None:
    ids = tmp_path / "ids.json"
    for content in ('[{"number_of_question": 1}]', "[1, 1]"):
        ids.write_text(content)
        error = run_to_error(run, "check-submission", SUBMISSION, "--ids", str(ids))
        assert "write a JSON list of the ids, or a text file with an id on each line" in error


def test_export_of_runs_needs_one_of_them(run: Run, tmp_path: Path) -> None:
    rows = [{"questionId": key, "prediction": f"{key} {run}", "epoch": run} for run in (1, 2) for key in (5, 6)]
    log = write(tmp_path / "runs.json", rows)
    assert "name one run with --run" in run_to_error(run, "export", "rrc", log)
    exported = json.loads(run("export", "rrc", log, "--run", "2")[1])
    assert exported == [{"questionId": 5, "answer": "5 2"}, {"questionId": 6, "answer": "6 2"}]


def test_export_of_repeated_ids_that_are_no_runs_suggests_no_run(run: Run, tmp_path: Path) -> None:
    answers = write(tmp_path / "a.json", [*ANSWERS, {"questionId": 1, "answer": "Pepsi"}])
    assert run_to_error(run, "export", "rrc", answers).endswith(": keep one answer to each question\n")


def test_export_warns_of_ids_that_are_positions(run: Run, tmp_path: Path) -> None:
    log = write(tmp_path / "log.json", [{"id": number, "prediction": "a"} for number in range(3)])
    assert "are positions and perhaps no ids of the leaderboard" in run("export", "rrc", log)[2]


def test_export_refuses_ids_that_are_no_numbers(run: Run, tmp_path: Path) -> None:
    log = write(tmp_path / "log.json", [{"questionId": "q-1", "prediction": "a"}])
    assert "the id of a question is 'q-1'" in run_to_error(run, "export", "rrc", log)


def test_export_refuses_several_models(run: Run, tmp_path: Path) -> None:
    rows = [{"questionId": key, "prediction": "a", "model": model} for model in "ab" for key in (5, 6)]
    assert "several models (a, b)" in run_to_error(run, "export", "rrc", write(tmp_path / "a.json", rows))
    assert "too many files" in run_to_error(run, "export", "rrc", GOLD, SUBMISSION, SUBMISSION)


def test_export_writes_only_json(run: Run, tmp_path: Path) -> None:
    for name, problem in ("-", "is not the name of a file"), ("out.csv", "does not end in .json"):
        assert problem in run_to_error(run, "export", "rrc", SUBMISSION, "-o", name)
    assert run("export", "rrc", SUBMISSION, "-o", tmp_path / "out.JSON")[0] == 0


def test_export_does_not_overwrite_its_input(run: Run, tmp_path: Path) -> None:
    answers = Path(shutil.copy(SUBMISSION, tmp_path))
    assert "the file is an input" in run_to_error(run, "export", "rrc", answers, "-o", answers)


LOGS = SHARED / "layouts"


@pytest.mark.skipif(not LOGS.is_dir(), reason="the files that programs wrote are not on this machine")
@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_export_gives_the_answers_of_logs_that_programs_wrote(run: Run) -> None:
    manifest = json.loads((LOGS / "MANIFEST.json").read_text(encoding="utf-8"))
    compared = 0
    for path in (LOGS / entry["file"] for entry in manifest):
        status, out, _ = run("export", "rrc", path) if path.suffix in (".json", ".jsonl", ".eval") else (2, "", "")
        if status == 0:
            compared += 1
            with contextlib.suppress(ValueError):  # it has no accepted answers
                answers = anls_metric.score(str(path)).answers()
                assert {str(each["questionId"]): each["answer"] for each in json.loads(out)} == {
                    each["id"]: each["prediction"] for each in answers
                }, path
    assert compared > 10


# check-submission


def test_submission_without_defects_is_accepted(run: Run) -> None:
    status, out, err = run("check-submission", SUBMISSION, "--ids", GOLD)
    assert (status, err) == (0, "")
    assert out == f"{SUBMISSION}: no defects: all 6 questions are answered\n"
    advice = "to check that all questions are answered, add --ids FILE"
    assert run("check-submission", SUBMISSION) == (0, f"{SUBMISSION}: no defects; {advice}\n", "")


@pytest.mark.parametrize(
    ("content", "defects"),
    [
        ("[1, 2", ["line 1, column 6: the JSON is cut off: copy or write the file again"]),
        ('[{"questionId": 1, "answer": NaN}]', ["it is not JSON: NaN is no JSON; write a text"]),
        (
            '{"questionId": 1},\n{"questionId": 2}',
            ["it is not a JSON list: write a list of objects with questionId and answer"],
        ),
        ({"1": "a"}, ["it is {'1': 'a'} (dict): write a list of objects with questionId and answer"]),
        ([], ["it has no answers"]),
        (ANSWERS[2:], ["question 1: there is no answer", "question 2: there is no answer"]),
        ([*ANSWERS, {"questionId": 7, "answer": "a"}], ["question 7: there is no such question"]),
        ([*ANSWERS, *ANSWERS[:1]], ["question 1: there are 2 answers"]),
        (
            [{"questionId": "1", "answer": "a"}, *ANSWERS[1:]],
            ["question 1: questionId is '1' (str): write a whole number"],
        ),
        (
            [{"questionId": True, "answer": "a"}, *ANSWERS],
            [
                "question True: questionId is True (bool): write a whole number",
                "question True: there is no such question",
            ],
        ),
        ([{"questionId": 1, "answer": None}, *ANSWERS[1:]], ["question 1: answer is None: write a text"]),
        ([{"questionId": 1, "answer": 12}, *ANSWERS[1:]], ["question 1: answer is 12 (int): write a text"]),
        ([{"questionId": 1}, *ANSWERS[1:]], ["question 1: there is no answer in it"]),
        ([{"answer": "a"}, *ANSWERS], ["answer 1: there is no questionId"]),
        (["a", *ANSWERS], ["answer 1: it is 'a' (str): write an object with questionId and answer"]),
    ],
)
def test_defects_are_named_with_their_questions(run: Run, tmp_path: Path, content: Any, defects: list[str]) -> None:
    path = write(tmp_path / "submission.json", content)
    status, out, err = run("check-submission", path, "--ids", GOLD)
    assert (status, err.startswith("hint: anls export rrc ")) == (1, bool(err))
    assert out.splitlines() == [f"{path}: {defect}" for defect in defects]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "questionId,answer\n" + "".join(f"{each['questionId']},{each['answer']}\n" for each in ANSWERS)),
        ("a.json", "".join(f"{json.dumps(each)}\n" for each in ANSWERS)),
        ("a.json", [{"questionId": each["questionId"], "prediction": each["answer"]} for each in ANSWERS]),
        ("a.json", {str(each["questionId"]): each["answer"] for each in ANSWERS}),
    ],
)
def test_export_that_the_check_suggests_removes_the_defects(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path(name), content)
    for more in ([], ["--ids", GOLD]):
        status, out, err = run("check-submission", name, *more)
        assert status == 1
        assert "not JSON:" not in out
        suggested = err.removeprefix("hint: ").partition(" writes these answers")[0]
        assert run(*shlex.split(suggested)[1:])[0] == 0
        assert run("check-submission", "a_rrc.json", "--ids", GOLD)[0] == 0
        assert json.loads(Path("a_rrc.json").read_text(encoding="utf-8")) == ANSWERS


@pytest.mark.parametrize("wrapping", ["<think>Long.</think>{}", "```\n{}\n```", "{}<|im_end|>", "\\boxed{{{}}}"])
def test_raw_output_for_the_leaderboard_is_a_hint(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapping: str
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = [{**each, "answer": each["answer"] and wrapping.format(each["answer"])} for each in ANSWERS]
    status, _, err = run("export", "rrc", write(Path("raw.json"), raw), "-o", "submission.json")
    assert (status, "hint: 5 of 6 answers look like raw model output" in err) == (0, True)
    status, out, err = run("check-submission", "submission.json")
    assert (status, "no defects" in out) == (0, True)
    suggested = err.partition(": anls ")[2].removesuffix(" extracts the answers\n")
    status, _, err = run(*shlex.split(suggested))
    assert (status, "hint:" in err) == (0, False)
    assert json.loads(Path("submission_rrc.json").read_text(encoding="utf-8")) == ANSWERS


@pytest.mark.parametrize(
    ("content", "defect"),
    [
        (b'["\xff"]', "it is not JSON: byte 2 is not UTF-8: save the file as UTF-8"),
        (b"%PDF-1.7", "it is a PDF document: name a file of answers"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer in place of the file: run git lfs"),
        (gzip.compress(SUBMISSION.read_bytes()), "its format is gzip, not JSON in UTF-8: write a JSON list of objects"),
        (json.dumps(ANSWERS).encode("utf-16"), "its format is UTF-16, not JSON in UTF-8: write a JSON list of objects"),
        (b"\xef\xbb\xbf" + SUBMISSION.read_bytes(), "it begins with a byte order mark: save it as UTF-8 without this"),
    ],
)
def test_bytes_that_the_leaderboard_cannot_read_are_a_defect_with_the_next_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, defect: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_bytes(content)
    status, out, err = run("check-submission", "a.json")
    assert (status, out.count("\n")) == (1, 1)
    assert out.startswith(f"a.json: {defect}")
    if not defect.startswith("it is"):  # the answers can be read
        assert run(*shlex.split(err.removeprefix("hint: anls ").partition(" writes these answers")[0]))[0] == 0
        assert run("check-submission", "a_rrc.json", "--ids", GOLD)[0] == 0


def test_deeply_nested_json_is_a_defect() -> None:
    assert find_defects("[" * 100_000)[0].startswith("it is not JSON")


@pytest.mark.parametrize("content", ["1\n2\n3\n4\n5\n6\n", "[1, 2, 3, 4, 5, 6]", '["1", "2", "3", "4", "5", "6"]'])
def test_ids_may_be_a_list(run: Run, tmp_path: Path, content: str) -> None:
    path = write(tmp_path / ("ids.json" if content.startswith("[") else "ids.txt"), content)
    assert run("check-submission", SUBMISSION, "--ids", path)[0] == 0


def test_files_that_are_not_there_are_errors(run: Run, tmp_path: Path) -> None:
    assert "No such file" in run_to_error(run, "check-submission", tmp_path / "none.json")
    assert "No such file" in run_to_error(run, "check-submission", SUBMISSION, "--ids", tmp_path / "none.json")
    assert "ids are repeated (the first: 1)" in run_to_error(
        run, "check-submission", SUBMISSION, "--ids", write(tmp_path / "ids.txt", "1 1 2 2")
    )
