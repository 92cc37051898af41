"""Work in processes: results, errors, limits of the system, and nothing left behind."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import operator
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import processes
from anls_metric.page.processes import ExhaustedError, run
from tests.conftest import ROOT, wait_for

needs_limits = pytest.mark.skipif(sys.platform != "linux", reason="the system has no limits")


def test_each_call_has_a_process() -> None:
    assert len({os.getpid(), *(run(os.getpid) for _ in range(3))}) == 4
    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(lambda number: run(len, "x" * number), range(40))) == list(range(40))


@pytest.mark.parametrize(
    ("function", "arguments", "error", "words"),
    [
        (int, ["x"], ValueError, "^invalid literal for int"),
        (operator.getitem, [{}, "x"], RuntimeError, r"in _work\n.*\n(.*\n)?KeyError: 'x'"),
        (os._exit, [7], RuntimeError, "status 7"),
    ],
)
def test_errors_of_the_process_are_raised(
    function: Callable[..., Any], arguments: list[Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        run(function, *arguments)


@pytest.mark.thorough
@needs_limits
@pytest.mark.parametrize(
    ("function", "arguments", "cause"),
    [
        (re.match, ["(a+)+$", "a" * 60 + "b"], "(SIGXCPU|the clock)"),  # on a busy machine, the clock is first
        (time.sleep, [600], "the clock"),
        (bytes, [2_000_000_000], "its limit of memory"),
        (signal.raise_signal, [signal.SIGKILL], "SIGKILL"),
        (signal.raise_signal, [signal.SIGABRT], "SIGABRT"),
        (ctypes.string_at, [0], "SIGSEGV"),
    ],
)
def test_work_beyond_its_limits_ends_and_is_logged(
    function: Callable[..., Any], arguments: list[Any], cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(ExhaustedError, match="more memory or time"):
        run(function, *arguments, seconds=2, memory=1_500_000_000)
    (message,) = caplog.messages
    assert re.fullmatch(f"a process was ended by {cause}", message)
    assert run(abs, -1) == 1


def test_system_without_fork_says_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(processes, "CAN_FORK", False)
    monkeypatch.setattr(processes, "_CONTEXT", multiprocessing.get_context("spawn"))
    processes.start()
    assert caplog.messages == ["this system cannot fork: files are scored without limits of memory and CPU time"]


def sleep() -> None:
    """Print the id of the process, then sleep."""
    print(os.getpid(), flush=True)
    time.sleep(600)


def compute() -> None:
    """Print the id of the process, then keep the interpreter busy, so that no other thread of it can run."""
    print(os.getpid(), flush=True)
    re.match("(a+)+$", "a" * 60 + "b")


def list_session(number: int) -> list[str]:
    """List the processes of a session. A zombie is none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
            found += [path.parent.name] if session == str(number) and state != "Z" else []
    return found


@needs_limits
def test_processes_end_with_a_server_that_is_killed() -> None:
    program = """
import threading
from anls_metric.page import processes
from tests.page.test_processes import compute, sleep
for function in (compute, sleep):
    threading.Thread(target=processes.run, args=[function]).start()
"""
    options: Any = {"cwd": ROOT, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
    server = subprocess.Popen([sys.executable, "-c", program], **options)
    assert server.stdout
    working = {server.stdout.readline().strip() for _ in range(2)}
    assert working < {*list_session(server.pid)}
    server.stdout.close()
    server.kill()
    server.wait(60)
    wait_for(lambda: not list_session(server.pid))


@needs_limits
def test_processes_end_with_the_server() -> None:
    program = """
import signal, sys, threading, time
from anls_metric.page.processes import run
from tests.page.test_processes import sleep
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
threading.Thread(target=run, args=[sleep], daemon=True).start()
time.sleep(60)
"""
    server = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    pid = int(server.stdout.readline())
    server.stdout.close()
    server.terminate()
    server.wait(30)
    end = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")
