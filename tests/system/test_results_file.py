"""The command writes a complete results.json or none, never overwrites other results, and leaves no other files."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anls_metric import command_line
from tests.conftest import ROOT

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs anls in this process, and returns its exit status and stderr."""

    def run(*arguments: object) -> tuple[int, str]:
        status = command_line.main([str(argument) for argument in arguments])
        return status, capsys.readouterr().err

    return run


def write_table(path: Path, count: int = 3, prediction: str = "a") -> Path:
    path.write_text(f'{{"prediction": "{prediction}", "references": ["a"]}}\n' * count)
    return path


def read_results(folder: Path) -> Any:
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_results_of_other_inputs_are_not_overwritten(run: Run, tmp_path: Path) -> None:
    first, second = write_table(tmp_path / "first.jsonl"), write_table(tmp_path / "second.jsonl", prediction="b")
    out = tmp_path / "out"
    assert run(first, "--output-dir", out)[0] == 0
    before = (out / "results.json").read_bytes()
    assert read_results(out)["inputs"] == [str(first)]
    write_table(first, 4)
    assert run(first, "--output-dir", out)[0] == 0
    assert len(read_results(out)["per_sample_result"]) == 4
    status, error = run(second, "--output-dir", out)
    assert status == 2
    assert f"results.json: the file holds results of other inputs ({first}): name another folder with --output" in error
    assert read_results(out)["inputs"] == [str(first)]
    assert before != (out / "results.json").read_bytes()
    assert run(second, "--output-dir", out, "--force")[0] == 0
    assert read_results(out)["inputs"] == [str(second)]


@pytest.mark.parametrize("content", ["", "{}", '{"result": {"score": 1}}', '{"inputs": 7,', "\x00\xff", "[]"])
def test_results_without_inputs_are_not_overwritten(run: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content, encoding="latin-1")
    table = write_table(tmp_path / "table.jsonl")
    status, error = run(table, "--output-dir", tmp_path)
    assert status == 2
    assert "the file holds results of unknown inputs" in error
    assert (tmp_path / "results.json").read_text(encoding="latin-1") == content
    assert run(table, "--output-dir", tmp_path, "--force")[0] == 0
    assert read_results(tmp_path)["inputs"] == [str(table)]


@pytest.mark.parametrize("link", [False, True])
def test_results_file_refuses_to_overwrite_an_input(run: Run, tmp_path: Path, link: bool) -> None:
    gold = tmp_path / "results.json"
    gold.write_text('[{"questionId": 1, "answers": ["a"]}]')
    named = tmp_path / "gold.json"
    if link:
        named.symlink_to(gold)
    answers = tmp_path / "answers.json"
    answers.write_text('[{"questionId": 1, "answer": "a"}]')
    files = ["--gold-label-file", named if link else gold, "--submission-file", answers]
    status, error = run(*files, "--output-dir", tmp_path, "--force")
    assert status == 2
    assert "results.json: the file is an input, and would be overwritten: name another file or folder" in error
    assert gold.read_text() == '[{"questionId": 1, "answers": ["a"]}]'


def test_failed_run_leaves_the_previous_results(run: Run, tmp_path: Path) -> None:
    table, out = write_table(tmp_path / "table.jsonl"), tmp_path / "out"
    run(table, "--output-dir", out)
    before = (out / "results.json").read_bytes()
    table.write_text(table.read_text() + "{}\n")
    assert run(table, "--output-dir", out)[0] == 2
    assert (out / "results.json").read_bytes() == before
    assert os.listdir(out) == ["results.json"]


def test_planted_link_is_replaced_and_not_followed(run: Run, tmp_path: Path) -> None:
    victim, out = tmp_path / "victim", tmp_path / "out"
    victim.write_text("precious")
    out.mkdir()
    (out / "results.json").symlink_to(victim)
    for number in (1, os.getpid()):
        (out / f".results.json.{number}").symlink_to(victim)
        (out / f".results.json.{number}.unfinished").symlink_to(victim)
    assert run(write_table(tmp_path / "table.jsonl"), "--output-dir", out, "--force")[0] == 0
    assert victim.read_text() == "precious"
    assert not (out / "results.json").is_symlink()
    assert len(read_results(out)["per_sample_result"]) == 3


def test_results_file_has_the_rights_of_a_new_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    run(write_table(tmp_path / "table.jsonl"), "--output-dir", tmp_path / "out")
    assert (tmp_path / "out" / "results.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def is_writing(process: subprocess.Popen[bytes], out: Path) -> bool:
    return process.poll() is not None or any(out.glob(".results.json.*"))


PROGRAM = "import sys; from anls_metric.command_line import main; sys.exit(main(sys.argv[1:]))"
Started = subprocess.Popen[bytes]


def start_command(*arguments: object, before: str = "", **options: Any) -> Started:
    command = [sys.executable, "-c", before + PROGRAM, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are those of Unix")
def test_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
    table, out = write_table(tmp_path / "table.jsonl", 4000), tmp_path / "out"
    _, error = (process := start_command(table, "--output-dir", out, before=limit)).communicate(timeout=60)
    assert process.returncode == 2
    assert error.decode() == f"anls: error: {out / 'results.json'}: File too large\n"
    assert os.listdir(out) == []


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as on Unix")
def test_killed_run_leaves_whole_results_or_none(run: Run, tmp_path: Path) -> None:
    table, out = write_table(tmp_path / "table.jsonl", 20_000), tmp_path / "out"
    chance = random.Random(1)
    for _ in range(12):
        process = start_command(table, "--output-dir", out)
        wait_for(partial(is_writing, process, out))
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.communicate()
        if (out / "results.json").exists():
            assert len(read_results(out)["per_sample_result"]) == 20_000
    assert any(out.glob(".results.json.*.unfinished"))  # some were killed while they wrote
    assert run(table, "--output-dir", out)[0] == 0
    assert len(read_results(out)["per_sample_result"]) == 20_000


def test_two_writers_to_one_folder_leave_the_results_of_one(tmp_path: Path) -> None:
    """As in two containers with a shared folder, in which both processes have the same id."""
    same = "import os; os.getpid = lambda: 1;"
    tables = [write_table(tmp_path / f"{name}.jsonl", 3000, name) for name in ("one", "two")]
    for number in range(4):
        out = tmp_path / f"out {number}"
        processes = [start_command(table, "--output-dir", out, before=same) for table in tables]
        errors = [process.communicate(timeout=60)[1].decode() for process in processes]
        document = read_results(out)
        assert os.listdir(out) == ["results.json"]
        won = [process.returncode == 0 for process in processes]
        assert any(won)
        assert document["inputs"][0] in [str(table) for table, winner in zip(tables, won) if winner]
        assert {sample["det"] for sample in document["per_sample_result"].values()} == {
            Path(document["inputs"][0]).stem
        }
        assert all(("results of other inputs" in error) != winner for error, winner in zip(errors, won))


def test_run_leaves_the_unfinished_file_of_another_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    slow = start_command("-", "--output-dir", out, stdin=subprocess.PIPE)
    assert slow.stdin is not None
    slow.stdin.write(b'{"prediction": "a", "references": ["a"]}\n' * 2000)  # it looks at the first before it writes
    slow.stdin.flush()
    wait_for(lambda: out.exists() and os.listdir(out))
    time.sleep(0.2)
    (unfinished,) = os.listdir(out)
    quick = start_command(write_table(tmp_path / "table.jsonl"), "--output-dir", out)
    assert quick.wait(60) == 0
    assert set(os.listdir(out)) == {unfinished, "results.json"}
    slow.communicate(b'{"prediction": "a", "references": ["a"]}\n', timeout=60)
    assert slow.returncode == 2  # the results of other inputs have come in between
    assert os.listdir(out) == ["results.json"]
