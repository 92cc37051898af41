"""anls --report writes a complete file or none, and never overwrites an input."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from anls_metric import command_line
from tests.conftest import ROOT
from tests.report.sample_reports import read_data

GOLD, SUBMISSION = (str(ROOT / "examples" / name) for name in ("gold_label.json", "submission.json"))

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_report_flag_writes_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "the report.html"
    assert command_line.main([GOLD, SUBMISSION, "--report", str(path), "--format", "json"]) == 0
    captured = capsys.readouterr()
    submission = json.loads(captured.out)["submissions"][0]
    assert f"report: {path}" in captured.err
    page = path.read_bytes().decode()
    assert read_data(page)["document"]["submissions"][0]["anls"] == submission["anls"]
    assert "6 questions of gold_label.json" in page
    assert read_data(page)["submissions"] == ["submission"]
    assert sum(read_data(page)["answers"][0]["scores"]) == pytest.approx(6 * submission["anls"])
    assert os.listdir(tmp_path) == ["the report.html"]
    assert command_line.main([GOLD, SUBMISSION, "--report", str(path)]) == 0  # a report may be written again


def test_report_has_submissions_groups_and_hints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrapped = [
        {**answer, "answer": f"The answer is {answer['answer']}."}
        for answer in json.loads(Path(SUBMISSION).read_text())
    ]
    (tmp_path / "wrapped.json").write_text(json.dumps(wrapped))
    path = tmp_path / "report.html"
    files = [GOLD, SUBMISSION, str(tmp_path / "wrapped.json")]
    assert command_line.main([*files, "--report", str(path), "--by", "evidence", "--baseline", "wrapped"]) == 0
    data = read_data(path.read_text(encoding="utf-8"))
    (hint,) = re.findall(r"hint: (.*)", capsys.readouterr().err)[:1]
    assert hint in data["document"]["hints"]
    assert "evidence" in data["tables"]
    assert data["submissions"][data["baseline"]] == "wrapped"


def test_report_has_raw_model_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = json.loads(Path(SUBMISSION).read_text())
    wrapped = [{**answer, "answer": f"The answer is {answer['answer']}"} for answer in answers]
    (tmp_path / "wrapped.json").write_text(json.dumps(wrapped))
    path = tmp_path / "report.html"
    options = ["--extract", "final", "--report", str(path), "--worst", "9", "--format", "json"]
    assert command_line.main([GOLD, str(tmp_path / "wrapped.json"), *options]) == 0
    (of,) = read_data(path.read_text(encoding="utf-8"))["answers"]
    whole = [of["written"].get(str(place), of["predictions"][place]) for place in range(6)]
    assert whole == [answer["answer"] for answer in wrapped]
    assert of["predictions"][:5] == [answer["answer"] for answer in answers[:5]]
    worst = json.loads(capsys.readouterr().out)["submissions"][0]["worst"]
    assert {answer["id"]: answer["written"] for answer in worst} == {
        str(answer["questionId"]): answer["answer"] for answer in wrapped
    }


@pytest.mark.parametrize("named", [GOLD, SUBMISSION])
def test_report_refuses_to_overwrite_an_input(named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(named).read_bytes()
    link = tmp_path / "link.html"
    link.symlink_to(named)
    assert command_line.main([GOLD, SUBMISSION, "--report", str(link)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"anls: error: {link}: the file is an input, and would be overwritten: " + (
        "write it to another file\n"
    )
    assert Path(named).read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--report", "absent/report.html"], "absent/report.html: there is no folder absent"),
        (["--report", ""], "'' is not the name of a file"),
        (["--images", "."], "--images is for the report: add --report FILE.html"),
        (["--report", "report.html", "--images", "absent"], "absent: there is no such folder"),
        (["--report", "report.html", "--images", "."], ".: it has no images"),
    ],
)
def test_report_that_cannot_be_written_is_an_error(
    flags: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "--images" in flags:
        pytest.importorskip("PIL", reason="images need Pillow: pip install 'anls-metric[images]'")
    monkeypatch.chdir(tmp_path)
    try:
        status = command_line.main([GOLD, SUBMISSION, *flags])
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert status == 2
    assert message in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_report_needs_no_other_library(run_python: Run, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "for name in ('PIL', 'jinja2', 'numpy', 'evaluate', 'gradio', 'scipy', 'pandas', 'pyarrow'):\n"
        "    sys.modules[name] = None\n"
        "from anls_metric.command_line import main\n"
        f"sys.exit(main([{GOLD!r}, {SUBMISSION!r}, '--report', 'report.html']))"
    )
    done = run_python(program, tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").stat().st_size > 10_000
    done = run_python(program.replace("'report.html']", "'r.html', '--images', '.']"), tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 2
    assert "images need Pillow: pip install 'anls-metric[images]'" in done.stderr
