"""Times whole programs: `anls` on files of each kind, against a short script, and against PyPI's command."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from files import KINDS
from timing import Call, Row, race
from workloads import docvqa_like

PYTHON = sys.executable
ANLS = str(Path(PYTHON).with_name("anls"))
PYPI_COMMAND = "from anls.cli.run import run; run()"


def run(*command: str, folder: str, path: str = "") -> str:
    """Run a program, and return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPATH": path}  # a user's second run has the bytecode of the first one
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def compare(workload: str, count: int, ours: Call, other: str, theirs: Call, repetitions: int) -> Row:
    """Time `anls` and another program on the same files."""
    times = race({"anls": ours, other: theirs}, repetitions)
    return Row("anls", other, workload, count, *(1e6 * seconds / count for seconds in times.values()))


def time_files(repetitions: int) -> Iterator[Row]:
    """Time `anls` and a script on each kind of file."""
    for name, kind in KINDS.items():
        for count in (5_000, 200_000):
            with tempfile.TemporaryDirectory() as folder:
                kind.write(docvqa_like(count), *(Path(folder, file) for file in kind.files))
                ours = partial(run, ANLS, *kind.files, folder=folder)
                script = partial(run, PYTHON, "-c", kind.script, *kind.files, folder=folder)
                assert f"ANLS       {float(script()):.4f}\n" in ours(), name
                yield compare(name, count, ours, "a script", script, repetitions)


def time_pypi_command(pypi_anls: Path, repetitions: int) -> Iterator[Row]:
    """Time the command of PyPI's `anls`, which takes the same flags."""
    name, count = "leaderboard files", 5_000
    with tempfile.TemporaryDirectory() as folder:
        gold, submission = KINDS[name].files
        KINDS[name].write(docvqa_like(count), Path(folder, gold), Path(folder, submission))
        files = ("--gold-label-file", gold, "--submission-file", submission, "--output-dir")
        ours = partial(run, ANLS, *files, "ours", folder=folder)
        Path(folder, "theirs").mkdir()
        theirs = partial(run, PYTHON, "-c", PYPI_COMMAND, *files, "theirs", folder=folder, path=str(pypi_anls))
        yield compare(name, count, ours, "PyPI anls 0.0.2", theirs, repetitions)
