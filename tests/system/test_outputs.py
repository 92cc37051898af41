"""Files that the command writes: answers, results and the report. They can be scored again, and replace no input."""

from __future__ import annotations

import csv
import html
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric.writing import open_aside
from tests.conftest import ROOT
from tests.system.conftest import BASE, BETTER, IDS, MEAN, SCORE, Shell, list_answers, list_both

EXAMPLE = f"{ROOT}/examples/gold_label.json {ROOT}/examples/submission.json"


def read_json(path: str) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


# Read back


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("line", "scores"),
    [
        ("gold.json a.json", [SCORE]),
        ("gold.json a.json b.json", [SCORE, BETTER]),
        ("gold.json m=a.json m=b.json", [MEAN]),
        ("gold.json m=a.json m=b.json n=a.json n=b.json", [MEAN, MEAN]),
        ("gold.json few.json --missing zero", [15 / 24]),
        ("gold.json a.json --extract think --by questionId", [SCORE]),
    ],
)
def test_answers_scored_again_have_the_same_score(shell: Shell, ending: str, line: str, scores: list[float]) -> None:
    shell.write({"few.json": {str(key): BASE[key] for key in [IDS[0], *IDS[5:]]}})
    before = shell.document(f"{line} --output x.{ending} --quiet")
    again = shell.document(f"x.{ending} --missing zero --quiet")
    assert [submission["anls"] for submission in before["submissions"]] == pytest.approx(scores)
    keys = ("anls", "interval", "exact_match", "run_scores", *["name"] * (len(scores) > 1))
    found = [[{key: row.get(key) for key in keys} for row in each["submissions"]] for each in (before, again)]
    assert found[0] == found[1]
    assert again["signature"] == before["signature"].replace("|extract:think", "")
    assert again["comparisons"] == before["comparisons"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_answers_scored_again_have_the_same_clusters(shell: Shell, ending: str) -> None:
    rows = [{"id": n, "document": n // 3, "prediction": "ab"[n > 3], "answer": "a"} for n in range(12)]
    shell.write({"rows.json": rows})
    before = shell.document(f"rows.json --output x.{ending} --quiet")
    again = shell.document(f"x.{ending} --quiet")
    assert before["clusters"] == again["clusters"] == {"field": "document", "count": 4, "rule": ""}
    assert before["submissions"][0]["interval"] == again["submissions"][0]["interval"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_lists_and_nested_values_that_are_scored_again_have_the_same_score(shell: Shell, ending: str) -> None:
    values = [[{"total": "12.50", "items": ["tea"]}, ["a"]], [{"total": "12.5"}, ["a", "b"]]]
    gold, answers = ([{"id": n, "answer": value} for n, value in enumerate(each)] for each in values)
    shell.write({"g.json": gold, "x.json": answers})
    before = shell.scores(f"g.json x.json --variant anls_star --output x.{ending} --quiet")
    assert shell.scores(f"x.{ending} --variant anls_star --quiet") == before


@pytest.mark.parametrize("path", ["x.json", "out/results.json", "out"])
def test_results_that_are_scored_again_have_the_same_score(shell: Shell, path: str) -> None:
    assert shell.scores("gold.json a.json --output x.json --output out --quiet") == [SCORE]
    assert shell.scores(path) == [SCORE]


def test_results_of_runs_that_are_scored_again_need_their_option(shell: Shell) -> None:
    shell.print("gold.json m=a.json m=b.json --output x.json")
    assert "add --runs question to score the mean over runs" in shell.error("x.json")
    assert shell.scores("x.json --runs question") == [pytest.approx(MEAN)]


# Results


def test_results_have_the_keys_of_pypi_anls(shell: Shell) -> None:
    out = shell.type(f"{EXAMPLE} --by answer_type,evidence,operation/reasoning --output-dir new/folder")
    assert (out.status, out.err) == (0, "output: new/folder/\n")
    results = read_json("new/folder/results.json")
    assert list(results) == ["inputs", "per_sample_result", "result", "scores_by_types"]
    assert results["inputs"] == EXAMPLE.split()
    assert results["result"]["score"] == 0.6273148148148148
    assert results["scores_by_types"] == {
        "answer_types": {"Image-Span": pytest.approx(0.5527777777777778), "None span": 1.0},
        "evidence_types": {"Visual/Layout": 8 / 9, "Text": 0.46875, "Table/list": 1.0},
        "operation_types": {"Counting": 1.0},
    }
    score = {"score": 0.0, "det": "The Coca", "info": "wrong"}
    question = {"question": "Which company made the sign?", "gt": ["Coca Cola", "Coca Cola Company"]}
    assert results["per_sample_result"]["2"] == question | score


@pytest.mark.parametrize(
    ("flags", "paths"),
    [
        ("a.json --output out", ["out/results.json"]),
        ("a.json --output out --output-dir r.1 --output y.json", ["out/results.json", "r.1/results.json", "y.json"]),
        ("a.json b.json --output out", ["out/a/results.json", "out/b/results.json"]),
        ("long.json --output out", ["out/base/results.json", "out/tuned/results.json"]),
    ],
)
def test_output_writes_a_folder_or_a_file(shell: Shell, flags: str, paths: list[str]) -> None:
    shell.write({"long.json": [{**row, "questionId": row["id"]} for row in list_both("model", "../../base", "/tuned")]})
    before = set(Path().iterdir())
    shell.print(f"gold.json {flags} --quiet")
    assert {path.as_posix() for path in set(Path().rglob("*")) - before if path.is_file()} == set(paths)


@pytest.mark.parametrize("names", [("m", "m/."), ("a/b", "a\\b"), ("M", "m"), ("\u00e9", "e\u0301")])
def test_results_of_two_submissions_never_share_a_file(shell: Shell, names: tuple[str, str]) -> None:
    shell.write({"long.json": [{**row, "questionId": row["id"]} for row in list_both("model", *names)]})
    before = set(Path().iterdir())
    message = shell.error("gold.json long.json --output out")
    assert message.startswith(f"out: the results of {names[0]!r} and {names[1]!r} would share a folder: rename one")
    assert set(Path().iterdir()) == before
    shell.print("gold.json long.json --output answers.csv")
    assert shell.scores("answers.csv") == [SCORE, BETTER]


def test_results_are_written_again(shell: Shell) -> None:
    for inputs in ("gold.json a.json", "a.json --gold gold.json"):
        shell.print(f"{inputs} --output out --output x.json")
    results = Path("x.json").read_bytes()
    assert Path("out/results.json").read_bytes() == results
    shell.print("gold.json b.json --output x.json")
    assert read_json("x.json")["inputs"] == [os.path.abspath(name) for name in ("gold.json", "b.json")]
    assert Path("x.json").read_bytes() != results


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (
            "--output x.xlsx",
            "x.xlsx: --output must be a folder, or a file that ends in .json, .csv, .jsonl, .parquet or .anls.json",
        ),
        ("gone.json --output out", "gone.json does not exist"),  # every input is looked for before anything is written
        ("--output x.html", "; for .html, use --report"),
        ("--output x.tex", "; for .html, use --report; for a LaTeX table, use --format latex > FILE"),
        ("--output y.csv --output x.xlsx", "x.xlsx: --output must be a folder, or a file that ends in .json"),
        ("--output y.csv --output absent/x.csv", "absent/x.csv: there is no folder absent"),
        ("--output y.csv --report x.pdf", "x.pdf: the file name of a report must end in .html"),
        ("--output y.csv --plot x.gif", "x.gif: the file name of a figure must end in .pdf, .svg or .png"),
        ("--find 84 --format markdown", "--find prints what gives the number: leave out --score-only and --format"),
        ("--find 84 --score-only", "--find prints what gives the number: leave out --score-only and --format"),
        ("--output -", "-: --output must be a folder, or a file that ends in"),
        ("Qwen/VL=a.json --output out", "Qwen/VL=a.json does not exist"),  # a slash begins a path
        ("--output a.json", "a.json: the file is an input: write to a different file"),
        ("--output link.csv", "link.csv: the file is an input"),
        ("--report link.html", "link.html: the file is an input"),
        ("--output absent/x.csv", "absent/x.csv: there is no folder absent: create it, or write to a different folder"),
        ("--output-dir gold.json", "there is no folder gold.json: create it, or write to a different folder"),
        ("b.json --output x.json", "x.json: one file cannot hold several submissions: pass a folder"),
        ("--report x.pdf", "x.pdf: the file name of a report must end in .html, such as report.html"),
        ("--report .", ".: the file name of a report must end in .html, such as report.html"),
        ("--report x.html --images absent", "absent does not exist"),
        ("--report x.html --images .", ".: no images (.png,"),
    ],
)
def test_output_that_cannot_be_written_is_an_error_and_leaves_every_file(shell: Shell, flags: str, words: str) -> None:
    for ending in ("csv", "html"):
        Path(f"link.{ending}").symlink_to("a.json")
    before = {path: path.read_bytes() for path in Path().rglob("*")}
    assert words in shell.error(f"gold.json a.json {flags}")
    assert {path: path.read_bytes() for path in Path().rglob("*")} == before


@pytest.mark.parametrize(
    ("files", "flags", "output"),
    [
        ("gold.json parts", "--output", "parts/part-1.jsonl"),
        ("gold.json 'parts/*.jsonl'", "--output", "parts/part-2.jsonl"),
        ("gold.json a.json --corrections c.json", "--output", "c.json"),
        ("gold.json a.json --corrections c.json", "--report", "link.html"),
        ("gold.json a.json --images pages", "--report", "pages/link.html"),
    ],
)
def test_outputs_never_replace_what_was_read(shell: Shell, files: str, flags: str, output: str) -> None:
    half = len(IDS) // 2
    rows = list_answers()
    shell.write({"parts/part-1.jsonl": rows[:half], "parts/part-2.jsonl": rows[half:]})
    shell.write({"c.json": [{"questionId": IDS[0], "accept": "more"}]})
    Path("link.html").symlink_to("c.json")
    Path("pages/deep").mkdir(parents=True)
    Path("pages/deep/a.png").write_bytes(b"\x89PNG")
    Path("pages/link.html").symlink_to("deep/a.png")
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    report = "" if flags == "--report" else "--report new.html" if "--images" in files else ""
    message = shell.error(f"{files} {flags} {output} {report}")
    assert message == f"{output}: the file is an input: write to a different file"
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_report_of_python_never_replaces_what_was_read(shell: Shell) -> None:
    Path("a.html").symlink_to("a.json")
    with pytest.raises(ValueError, match=r"a\.html: the file is an input"):
        anls_metric.score("a.json", "gold.json").report("a.html")


def test_pipe_gets_the_output_and_stays_a_pipe(shell: Shell) -> None:
    os.mkfifo("report.html")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(Path("report.html").read_bytes()))
    reader.start()
    shell.print("gold.json a.json --report report.html")
    reader.join(10)
    assert received[0].startswith(b"<!DOCTYPE html>")
    assert Path("report.html").is_fifo()


def test_written_file_keeps_its_permissions_and_its_link(shell: Shell) -> None:
    before = os.umask(0o027)
    try:
        shell.print("gold.json a.json --output x.csv")
        assert Path("x.csv").stat().st_mode & 0o777 == 0o640
        Path("x.csv").chmod(0o604)
        Path("y.csv").symlink_to("x.csv")
        shell.print("gold.json b.json --output y.csv")
    finally:
        os.umask(before)
    assert (Path("y.csv").is_symlink(), Path("x.csv").stat().st_mode & 0o777) == (True, 0o604)
    assert "\nb,49000," in Path("x.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["x.csv", "x.json", "out", "x.html", "x.pdf"])
def test_write_protected_file_is_not_replaced(shell: Shell, path: str) -> None:
    if path == "x.pdf":
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
    written = Path("out/results.json" if path == "out" else path)
    written.parent.mkdir(exist_ok=True)
    written.write_text("", encoding="utf-8")
    written.chmod(0o444)
    flag = {"x.html": "--report", "x.pdf": "--plot"}.get(path, "--output")
    assert shell.error(f"gold.json a.json {flag} {path}").startswith(f"{written}: the file is write-protected: ")
    assert (written.read_bytes(), written.stat().st_mode & 0o777) == (b"", 0o444)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has other signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_while_a_file_is_written_leaves_nothing(shell: Shell, name: str) -> None:
    before = set(Path().iterdir())
    program = f"""
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
from anls_metric.writing import open_aside
with open_aside("x.csv") as file:
    file.write("a")
    file.flush()
    assert any(name.endswith(".unfinished") for name in os.listdir())
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
"""
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, set(Path().iterdir())) == (-getattr(signal, name), before)


def test_program_that_handles_a_signal_keeps_its_handler(tmp_path: Path) -> None:
    def handle(*_: Any) -> None:
        received.append("x")

    received: list[str] = []
    before = signal.signal(signal.SIGTERM, handle)
    try:
        with open_aside(str(tmp_path / "x.csv")):
            signal.raise_signal(signal.SIGTERM)
        assert (received, signal.getsignal(signal.SIGTERM)) == (["x"], handle)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_file_appears_only_when_it_is_complete(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.print("gold.json a.json --output x.csv --output out --report x.html")
    before = {name: name.read_bytes() for name in Path().rglob("*") if name.is_file()}

    def fail(old: str, new: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    for flags in ("--output x.csv", "--output out", "--report x.html"):
        assert shell.error(f"gold.json a.json {flags}").endswith(": No space left on device")
    assert {name: name.read_bytes() for name in Path().rglob("*") if name.is_file()} == before


def test_csv_of_answers_has_no_formulas_and_the_same_scores(shell: Shell) -> None:
    texts = ["=1+1", "+1", "-1+2", "-12.5", "@name", "\t7", " =x", "＝x", "'=x", "a", "'"]
    rows = [{"id": n, "prediction": text, "references": [text.swapcase()]} for n, text in enumerate(texts)]
    shell.write({"tricky.json": rows})
    shell.print("tricky.json --output x.csv --quiet")
    with open("x.csv", encoding="utf-8", newline="") as file:
        cells = [row["prediction"] for row in csv.DictReader(file)]
    assert cells == ["'=1+1", "'+1", "'-1+2", "-12.5", "'@name", "'\t7", "' =x", "'＝x", "''=x", "a", "'"]
    again = anls_metric.score("x.csv")
    assert [row["prediction"] for row in again.answers()] == texts


# The report


def test_report_is_written_beside_the_text(shell: Shell) -> None:
    done = shell.type("gold.json a.json b.json --report 'the report.html' --by questionId")
    assert (done.status, done.err) == (0, "report: the report.html\n")
    content = Path("the report.html").read_text(encoding="utf-8")
    assert done.out.startswith("   ANLS ")
    assert f"What is {IDS[0]}?" in content
    assert shell.document("gold.json a.json b.json")["signature"] in content


@pytest.mark.parametrize(("typed", "expected"), [("", "think"), ("--extract=final", "final,think")])
def test_commands_of_the_report_are_those_that_were_typed_and_work(shell: Shell, typed: str, expected: str) -> None:
    shell.write(
        {"raw.json": {str(row["questionId"]): f"<think>x</think>{row['prediction']}" for row in list_answers()}}
    )
    line = "--quiet gold.json raw.json a.json --report 'the report.html'"
    shell.print(f"{line} {typed}".strip())
    content = html.unescape(Path("the report.html").read_text(encoding="utf-8"))
    own, proposed = re.findall(r"<code>anls (.*?)</code></p>", content)
    assert (own, proposed) == (f"{line} {typed}".strip(), f"{line} --extract {expected}")
    hints = shell.document(f"gold.json raw.json a.json {typed}")["hints"]
    promised = [hint["anls"] for hint in hints if hint["extract"]]
    assert [shell.document(proposed)["submissions"][0]["anls"]] == promised
