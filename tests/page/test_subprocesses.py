"""Work in a process of its own: what it yields and raises comes as if it were done here, and nothing of it stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anls_metric.page import subprocesses
from anls_metric.reading.errors import InputError
from tests.conftest import ROOT
from tests.page.files import write_table


def count_up(most: int) -> Iterator[tuple[int, int]]:
    """Numbers, with the process that they come from."""
    print("this is no answer")
    for number in range(most):
        yield number, os.getpid()


def fail(error: BaseException) -> Iterator[int]:
    """One number, then an error."""
    yield 1
    raise error


def sleep() -> Iterator[int]:
    """The process, for long."""
    yield os.getpid()
    time.sleep(600)
    yield 0


def end() -> Iterator[int]:
    """Nothing, as where the system takes the memory of a process."""
    os._exit(7)
    yield 0


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_it_yields_comes_from_another_process() -> None:
    numbers, processes = zip(*subprocesses.run(count_up, 3))
    assert numbers == (0, 1, 2)
    assert os.getpid() not in processes
    assert list(subprocesses.run(count_up, 0)) == []


def test_its_errors_are_raised_here_with_their_remedies() -> None:
    steps = subprocesses.run(fail, InputError("no answer", "answers.json", "missing"))
    assert next(steps) == 1
    with pytest.raises(InputError) as error:
        next(steps)
    assert (error.value.where, error.value.remedy) == ("answers.json", "missing")
    with pytest.raises(FileNotFoundError):
        list(subprocesses.run(fail, FileNotFoundError(2, "gone")))


def test_an_error_that_nobody_foresaw_stands_in_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    for function, arguments in ((fail, [KeyError("x")]), (end, [])):
        with pytest.raises(RuntimeError, match="ended with status"):
            list(subprocesses.run(function, *arguments))
    assert "KeyError: 'x'" in capfd.readouterr().err


def test_it_ends_when_nobody_takes_the_rest() -> None:
    steps = subprocesses.run(sleep)
    process = next(steps)
    assert is_running(process)
    steps.close()  # type: ignore[attr-defined]
    assert not is_running(process)


def test_what_takes_too_long_is_told() -> None:
    with pytest.raises(ValueError, match="it takes more than 1 seconds: score it with anls"):
        list(subprocesses.run(sleep, seconds=1))


def test_the_memory_of_large_files_goes_back(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.jsonl", 40_000)
    program = f"""
import resource, sys

from anls_metric.page.upload_scoring import Report, Result, Task, score
from anls_metric.page.uploads import Upload

def largest():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # MB

before = largest()
steps = list(score(Task([Upload({table.path!r})], report=True), "page"))
assert [step.document["questions"] for step in steps if isinstance(step, Result)] == [40_000]
assert isinstance(steps[-1], Report)
print(largest() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    here, there = map(int, done.stdout.split())
    assert there > 60
    assert here < 20
