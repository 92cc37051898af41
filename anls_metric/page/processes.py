"""Runs work in separate processes, in which the system limits memory and CPU time."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, TypeVar, cast

from anls_metric.page import limits
from anls_metric.page.turns import Turns

CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()

EXHAUSTED = (
    "this needs more memory or time than the web app allows for one call: score the files with anls on your computer"
)

_CONTEXT: Any = multiprocessing.get_context("forkserver" if CAN_FORK else "spawn")
_FILES = Turns(limits.MAX_FILES_AT_ONCE, limits.MAX_VISITORS + limits.MAX_CALLS, limits.MAX_CALLS_OF_ONE)
_ANSWERS = Turns(limits.MAX_SLOW_AT_ONCE, limits.MAX_SLOW, limits.MAX_SLOW_OF_ONE)
_Result = TypeVar("_Result")
_LOG = logging.getLogger(__name__)

# The modules that the fork server imports once, for all processes.
_PRELOADED = (
    "anls_metric.page.file_scores",
    "anls_metric.page.typed_answers",
    "anls_metric.analysis.comparison",
    "anls_metric.analysis.report_data",
    "anls_metric.core.values",
    "anls_metric.report.html",
)


# What a process sends is JSON: one of these words or a key of `_ERRORS`, and a value.
_STAGE, _RESULT, _NO_MEMORY = "stage", "result", "no memory"
_ERRORS = {"wrong": ValueError, "fault": RuntimeError}


class ExhaustedError(ValueError):
    """Raised if work exceeds its limits or nobody is waiting for the result."""


def start() -> None:
    """Start the fork server, so that the first visitor does not have to wait for it to start."""
    if CAN_FORK:
        _CONTEXT.set_forkserver_preload(list(_PRELOADED))
    else:
        _LOG.warning("this system cannot fork: files are scored without limits of memory and CPU time")
    run(abs, -1)


def run_answers(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function in a separate process with the limits for typed answers, and wait for its result."""
    return run(function, *arguments, seconds=limits.SMALL_SECONDS, turns=_ANSWERS)


def run(function: Callable[..., _Result], *arguments: Any, **options: Any) -> _Result:
    """Call a function in a separate process and wait for its result. Raises ExhaustedError if the client leaves, and
    the same errors as `watch`.
    """
    value: Any = None
    visitor = VISITOR.get()
    with closing(watch(function, *arguments, wait=PAUSE, visitor=visitor.address, **options)) as looks:
        for _, value in looks:
            if value is None and visitor.has_left():
                raise ExhaustedError("the client has left")
    return cast("_Result", value)


class Visitor(NamedTuple):
    """The visitor who made a call.

    Attributes:
        address: the address of the visitor or, behind a proxy, the session, or "" to treat each call as a separate
            visitor.
        has_left: the function that returns whether nobody is waiting for the result anymore.
    """

    address: str = ""
    has_left: Callable[[], bool] = lambda: False


_NOBODY = Visitor()
VISITOR: ContextVar[Visitor] = ContextVar("VISITOR", default=_NOBODY)
"""The visitor who made the current call, whose work ends once the visitor has left."""

PAUSE = 0.1
"""The number of seconds between two checks of a process."""


def watch(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float = limits.SECONDS,
    memory: int = limits.MEMORY,
    most: int = limits.MAX_RESULT,
    turns: Turns = _FILES,
    visitor: str = "",
    wait: float = 0.0,
) -> Generator[tuple[str, Any], None, None]:
    """Call a function in a separate process, and yield its stages and its result. Closing the iterator ends the
    process.

    Args:
        function: a function at the top level of a module.
        *arguments: the arguments as plain data, because unpickling one of gradio's classes would import gradio.
        seconds: the maximum CPU time of the function. The process is also killed after twice this time on the clock.
        memory: the maximum address space of the process in bytes.
        most: the maximum size of the result as JSON in bytes.
        turns: the turns that limit the number of processes.
        visitor: the address of the visitor, who has one process at a time, or "" to treat each call as a separate
            visitor.
        wait: the number of seconds for which each check waits for news, which must be 0 in an event loop.

    Yields:
        At each check, the stage that the function last reported and None. At the end, "" and the result of the
        function, decoded from JSON.

    Raises:
        ValueError: the function raised a ValueError, or the result is too large. ExhaustedError: the function exceeded
            its limits, or the system killed the process. RuntimeError: the function failed in another way. BusyError:
            too many calls are waiting.
    """
    turn = turns.ask(visitor or object())
    try:
        while True:
            while not turns.begin(turn):
                yield "waiting until others have their scores", None
                time.sleep(wait)
            ends, stage = time.monotonic() + 2 * seconds, ""
            with _start(function, arguments, int(seconds), memory, most) as (receiver, process):
                while time.monotonic() < ends:
                    if receiver.poll(wait):
                        is_stage, value = _receive(receiver, process, most)
                        if not is_stage:
                            yield "", value
                            return
                        stage = value
                    if not turn.is_long and _is_long(process.pid) and not turns.go_on(turn):
                        break
                    yield stage, None
                else:
                    raise _exhausted("the clock")
    finally:
        turns.leave(turn)


def _is_long(process: int) -> bool:
    """Whether a process has used more than `FIRST_SECONDS` of CPU time, which can be determined only on Linux."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return False
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > limits.FIRST_SECONDS


@contextmanager
def _start(function: Callable[..., Any], arguments: Any, *limits_of_work: int) -> Iterator[tuple[Connection, Any]]:
    """Start a process that ends with this context, and yield the connection from which to receive its messages, and the
    process.
    """
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    life, own_life = _CONTEXT.Pipe(duplex=False)  # nothing is sent through it: it closes when this process ends
    process = _CONTEXT.Process(target=_work, args=(life, sender, function, arguments, *limits_of_work), daemon=True)
    process.start()
    sender.close()
    life.close()
    try:
        yield receiver, process
    finally:
        process.kill()
        process.join()
        process.close()
        receiver.close()
        own_life.close()


def tell(stage: str) -> None:
    """Tell the server which stage of the work this process has reached, or do nothing if this process is the server."""
    if _sender:
        _sender[0].send_bytes(_encode([_STAGE, stage]))


_sender: list[Connection] = []


def _receive(receiver: Connection, process: Any, most: int) -> tuple[bool, Any]:
    """Receive a message from a process, and return whether it is a stage, and the stage or the result. Raises the
    errors of `watch`.
    """
    try:
        kind, value = json.loads(receiver.recv_bytes(most + 1))
    except (EOFError, OSError):
        process.join()
        if process.exitcode >= 0:
            raise RuntimeError(f"a process ended with status {process.exitcode}") from None
        raise _exhausted(signal.Signals(-process.exitcode).name) from None
    if kind == _NO_MEMORY:
        raise _exhausted("its limit of memory")
    if kind in _ERRORS:
        raise _ERRORS[kind](value)
    return kind == _STAGE, value


def _exhausted(cause: str) -> ExhaustedError:
    _LOG.warning("a process was ended by %s", cause)
    return ExhaustedError(EXHAUSTED)


def _work(
    life: Connection,
    connection: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    *limits_of_work: int,
) -> None:
    """Call a function within its limits and send its result or an error message."""
    seconds, memory, most = limits_of_work
    _sender.append(connection)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when its processes end
    _end_with_server(life)
    _limit(seconds, memory)
    try:
        content = _encode([_RESULT, function(*arguments)])
        if len(content) > most:
            raise ValueError(_TOO_LARGE.format(size=len(content) / limits.MB, most=most / limits.MB))
        connection.send_bytes(content)
        return
    except MemoryError:
        kind, words = _NO_MEMORY, ""
    except ValueError as error:
        kind, words = "wrong", str(error)
    except Exception:
        kind, words = "fault", traceback.format_exc()
    # Outside of `except`, whose error keeps data in memory.
    connection.send_bytes(_encode([kind, words[-10_000:]]))


_TOO_LARGE = (
    "the result is {size:.1f} MB, but the web app returns at most {most:g} MB: request fewer answers, or score the "
    "files with anls on your computer"
)


def _encode(value: Any) -> bytes:
    """Encode a value as JSON, replacing lone surrogates, which cannot be encoded, with question marks."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _end_with_server(life: Connection) -> None:
    """Make the system end this process as soon as the server ends for any reason, even during a long computation."""
    if sys.platform == "win32":
        return
    import fcntl

    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends the process
    fcntl.fcntl(life.fileno(), fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life.fileno(), fcntl.F_SETFL, fcntl.fcntl(life.fileno(), fcntl.F_GETFL) | os.O_ASYNC)
    if life.poll(0):  # it ended before
        os._exit(1)


def _limit(seconds: int, memory: int) -> None:
    """Limit the priority, CPU time and memory of this process, except on Windows."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)  # the server comes first
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # a separate signal before the kill
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
