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
    """Raised if work exceeds its limits."""


def start() -> None:
    """Start the server that starts processes, so that the first visitor does not have to wait for it."""
    if CAN_FORK:
        _CONTEXT.set_forkserver_preload(list(_PRELOADED))
    else:
        _LOG.warning("this system cannot fork: files are scored without limits of memory and CPU time")
    run(abs, -1)


def run_answers(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function that scores answers, as `run` does."""
    return run(function, *arguments, seconds=limits.SMALL_SECONDS, turns=_ANSWERS)


def run(function: Callable[..., _Result], *arguments: Any, **options: Any) -> _Result:
    """Call a function as `watch` does and wait for its result. Also raises ExhaustedError if the client has left."""
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
        address: what distinguishes the visitor: the address or, behind a proxy, the session; "" to treat each call as a
            separate visitor.
        has_left: tells whether nobody is waiting for the result anymore.
    """

    address: str = ""
    has_left: Callable[[], bool] = lambda: False


_NOBODY = Visitor()
VISITOR: ContextVar[Visitor] = ContextVar("VISITOR", default=_NOBODY)
"""The visitor who made this call. If the visitor has left, the work ends."""

PAUSE = 0.1
"""The number of seconds between two looks at a process."""


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
    """Call a function in a separate process and watch it. If this iterator is closed, the process ends.

    Args:
        function: a function at the top level of a module.
        *arguments: plain data, because unpickling one of gradio's classes would import gradio.
        seconds: the CPU time that the function may take. After twice this time on the clock, it is killed as well.
        memory: the address space that the function may use, in bytes.
        most: the maximum size of the result as JSON, in bytes.
        turns: what limits the number of processes.
        visitor: what distinguishes the visitor, who has one process at a time; "" to treat each call as a separate
            visitor.
        wait: how many seconds each look waits for news; 0 in an event loop.

    Yields:
        At each look, the stage that the function last reported, and None. At the end, "" and what the function
        returned, as read from JSON.

    Raises:
        ValueError: the function raised it. ExhaustedError: the function exceeded its limits, or the system killed it.
            RuntimeError: the function failed in some other way. BusyError: too many calls are waiting.
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
    """Whether a process has used the CPU time that everyone's work gets first. This is known only on Linux."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return False
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") > limits.FIRST_SECONDS


@contextmanager
def _start(function: Callable[..., Any], arguments: Any, *limits_of_work: int) -> Iterator[tuple[Connection, Any]]:
    """Start a process, and end it with this context. Yields the connection on which it sends, and the process."""
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
    """Tell the server what this process is doing now. In the server itself, nothing happens."""
    if _sender:
        _sender[0].send_bytes(_encode([_STAGE, stage]))


_sender: list[Connection] = []


def _receive(receiver: Connection, process: Any, most: int) -> tuple[bool, Any]:
    """Receive what a process sends. Returns whether it is a stage, and the stage or the result."""
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
    """Encode a value as JSON. A lone surrogate, which cannot be encoded, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _end_with_server(life: Connection) -> None:
    """Let the system end this process once the server has ended, however it ended and whatever this process is
    computing.
    """
    if sys.platform == "win32":
        return
    import fcntl

    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends the process
    fcntl.fcntl(life.fileno(), fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life.fileno(), fcntl.F_SETFL, fcntl.fcntl(life.fileno(), fcntl.F_GETFL) | os.O_ASYNC)
    if life.poll(0):  # it ended before
        os._exit(1)


def _limit(seconds: int, memory: int) -> None:
    """Limit this process as far as the system allows."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)  # the server comes first
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # a separate signal before the kill
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
