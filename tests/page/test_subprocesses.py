"""Work in subprocesses: it behaves like local work, stays within its allowance, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from anls_metric.page import fork_server, limits, subprocesses
from anls_metric.page.limits import Allowance, ExhaustedError, Lane
from anls_metric.reading.errors import InputError
from tests.conftest import ROOT
from tests.page.files import write_table
from tests.page.pieces_of_work import count_up, end, fail, fill, grow_old, hold, remember, search, sleep, take_twice

needs_fork = pytest.mark.skipif(not fork_server.CAN_FORK, reason="the system cannot fork")


@pytest.fixture(params=["forked", "started"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way to start a process. The second is for Windows."""
    monkeypatch.setattr(fork_server, "CAN_FORK", fork_server.CAN_FORK and request.param == "forked")


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small allowances, which work soon exceeds."""
    allowance = Allowance(seconds=1, memory=400_000_000)
    monkeypatch.setattr(limits, "small", Lane(4, 4, allowance))
    monkeypatch.setattr(limits, "large", Lane(4, 4, allowance))
    monkeypatch.setattr(limits, "SECOND_TRY", allowance)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.usefixtures("way")
def test_results_come_from_another_process() -> None:
    numbers, processes = zip(*subprocesses.run(count_up, 3))
    assert numbers == (0, 1, 2)
    assert os.getpid() not in processes
    assert list(subprocesses.run(count_up, 0)) == []
    assert subprocesses.call(len, "abc", is_large=True) == 3


@pytest.mark.usefixtures("way")
def test_errors_of_the_process_are_raised_with_remedies() -> None:
    steps = subprocesses.run(fail, InputError("no answer", "answers.json", "missing"))
    assert next(steps) == 1
    with pytest.raises(InputError) as error:
        next(steps)
    assert (error.value.where, error.value.remedy) == ("answers.json", "missing")
    with pytest.raises(FileNotFoundError):
        list(subprocesses.run(fail, FileNotFoundError(2, "gone")))


@pytest.mark.usefixtures("way")
def test_error_that_nobody_foresaw_says_where_it_was() -> None:
    with pytest.raises(RuntimeError, match=r"line \d+, in fail\n.*\nKeyError: 'x'"):
        list(subprocesses.run(fail, KeyError("x")))
    with pytest.raises(RuntimeError, match="ended with status 7"):
        list(subprocesses.run(end, 0))


def test_deeply_nested_argument_is_reported() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ValueError, match="nested too deeply"):
        subprocesses.call(len, nested)


@pytest.mark.usefixtures("way")
def test_process_ends_when_iteration_stops() -> None:
    steps = subprocesses.run(sleep)
    process = next(steps)
    assert is_running(process)
    steps.close()  # type: ignore[attr-defined]
    assert not is_running(process)


# Allowances


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize(("function", "argument"), [(sleep, []), (search, []), (fill, [500_000_000])])
def test_work_over_its_allowance_ends_with_a_remedy(
    function: object, argument: list[int], is_large: bool, way: None
) -> None:
    if function is fill and sys.platform != "linux":
        pytest.skip("the system does not bound memory")
    with pytest.raises(ExhaustedError, match=r"needs more memory or time than the page has for it: type anls x$"):
        list(subprocesses.run(function, *argument, is_large=is_large, remedy="type anls x"))  # type: ignore[arg-type]


@needs_fork
@pytest.mark.parametrize("signal", [6, 9, 11])
def test_killed_process_is_reported_as_exhausted(signal: int, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ExhaustedError, match="score it with anls"):
        list(subprocesses.run(end, signal, is_large=True))
    assert caplog.messages == [f"a process that worked was ended by signal {signal}"]


@needs_fork
def test_small_work_that_takes_long_goes_on_as_large_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work starts again, without repeating results."""
    monkeypatch.setattr(limits, "small", Lane(1, 1, Allowance(seconds=1, memory=10**9)))
    assert list(subprocesses.run(take_twice, tmp_path / "mark")) == [1, 2, 3]


def test_small_work_does_not_wait_for_large_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "large", Lane(1, 1, limits.large.allowance))
    with limits.large.admit():
        assert subprocesses.call(len, "abc") == 3
        with pytest.raises(ValueError, match="try again in a minute"):
            subprocesses.call(len, "abc", is_large=True)
    assert subprocesses.call(len, "abc", is_large=True) == 3


def test_many_at_once_get_their_own_results() -> None:
    found: dict[int, int] = {}

    def work(number: int) -> None:
        found[number] = subprocesses.call(len, "x" * number)

    threads = [threading.Thread(target=work, args=[number]) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number for number in range(40)}


# The fork server


@needs_fork
def test_pieces_of_work_share_no_state() -> None:
    assert [list(subprocesses.run(remember)) for _ in range(3)] == [[1]] * 3


@needs_fork
def test_process_that_forks_is_started_again_where_it_has_ended() -> None:
    assert subprocesses.call(len, "abc") == 3
    forking = fork_server.SERVER._process
    assert forking
    forking.kill()
    forking.wait()
    assert subprocesses.call(len, "abc") == 3
    assert fork_server.SERVER._process is not forking


@needs_fork
def test_processes_end_with_the_page() -> None:
    """The fork server, and the processes that it forked."""
    program = """
import sys
from anls_metric.page import fork_server, subprocesses
from tests.page.pieces_of_work import sleep

steps = subprocesses.run(sleep, is_large=True)
print(next(steps), fork_server.SERVER._process.pid, flush=True)
sys.stdin.read()
import os
os._exit(0)
"""
    page = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert page.stdout
    processes = list(map(int, page.stdout.readline().split()))
    assert all(map(is_running, processes))
    page.communicate()
    for process in processes:
        while is_running(process):
            time.sleep(0.05)


@needs_fork
def test_older_work_makes_way_for_younger() -> None:
    assert list(subprocesses.run(grow_old, is_large=True)) == [fork_server._NICE[1]]


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say how much memory a process has")
def test_largest_process_ends_where_all_together_take_too_much() -> None:
    with ExitStack() as stack:
        server = fork_server.ForkServer()
        stack.callback(server.stop)
        server.start(["tests.page.little_memory"])
        small, large = server.fork(), server.fork()
        stack.callback(small.end)
        for process, size in ((small, 1_000), (large, 300_000_000)):
            process.give((hold, (size,)), Allowance(seconds=60, memory=10**9))
        assert large.output.read() == b""
        assert large.end() == -9
        assert small.output.read(1)


@pytest.mark.thorough
def test_memory_of_large_files_is_released(tmp_path: Path) -> None:
    table = write_table(tmp_path / "table.jsonl", 40_000)
    program = f"""
import resource, sys

from anls_metric.page import fork_server, subprocesses
from anls_metric.page.upload_scoring import Report, Result, Task, score
from anls_metric.page.uploads import Upload

def largest():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # MB

before = largest()
steps = list(subprocesses.run(score, Task([Upload({table.path!r})], report=True), "page", is_large=True))
assert [step.document["questions"] for step in steps if isinstance(step, Result)] == [40_000]
assert isinstance(steps[-1], Report)
fork_server.SERVER.stop()
print(largest() - before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    here, there = map(int, done.stdout.split())
    assert there > 60
    assert here < 20
