"""Runs work in processes of their own, which the system limits in memory and CPU time."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from anls_metric.page import limits

CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()

EXHAUSTED = (
    "this needs more memory or time than the web app allows for one call: score the files with anls on your computer"
)

_CONTEXT: Any = multiprocessing.get_context("forkserver" if CAN_FORK else "spawn")
_FILES = threading.BoundedSemaphore(limits.MAX_FILES_AT_ONCE)
_ANSWERS = threading.BoundedSemaphore(limits.MAX_SLOW_AT_ONCE)
_WAITING = threading.BoundedSemaphore(limits.MAX_SLOW)
_LOG = logging.getLogger(__name__)

# What the server of processes imports once, for all of them.
_PRELOADED = (
    "anls_metric.page.scoring",
    "anls_metric.page.answers",
    "anls_metric.analysis.comparison",
    "anls_metric.nested",
    "anls_metric.report.html",
)


BUSY = "too many long answers are being scored: try again in a minute, or score them with anls on your computer"

# The first byte of what a process sends -> what it is.
_KINDS = {b"R": None, b"V": ValueError, b"M": MemoryError, b"F": RuntimeError}


class ExhaustedError(ValueError):
    """Work exceeded its limits."""


def start() -> None:
    """Start the server of processes, so that the first visitor does not wait for it."""
    if CAN_FORK:
        _CONTEXT.set_forkserver_preload(list(_PRELOADED))
    else:
        _LOG.warning("this system cannot fork: files are scored without limits of memory and CPU time")
    run(abs, -1)


def run_answers(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that scores answers, as `run` does. ExhaustedError: also if too many others wait."""
    if not _WAITING.acquire(blocking=False):
        raise ExhaustedError(BUSY)
    try:
        return run(function, *arguments, seconds=limits.SMALL_SECONDS, room=_ANSWERS)
    finally:
        _WAITING.release()


def run(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float = limits.SECONDS,
    memory: int = limits.MEMORY,
    most: int = limits.MAX_RESULT,
    room: threading.Semaphore = _FILES,
) -> Any:
    """Call a function in a process of its own.

    Args:
        function: a function at the top level of a module.
        *arguments: plain data: what a class of gradio needs to be unpickled would import gradio.
        seconds: the CPU time that it may take. After twice this time on the clock, it is killed as well.
        memory: the address space that it may take, in bytes.
        most: the bytes that its result may take as JSON.
        room: what limits the number of processes.

    Returns:
        What the function returns, as JSON has it.

    Raises:
        ValueError: the function raised one. ExhaustedError: it exceeded its limits, or the system killed it.
        RuntimeError: it failed in another way.
    """
    with room:
        receiver, sender = _CONTEXT.Pipe(duplex=False)
        work = (sender, function, arguments, int(seconds), memory, most)
        process = _CONTEXT.Process(target=_work, args=work, daemon=True)
        process.start()
        sender.close()
        try:
            return _receive(receiver, process, 2 * seconds, most)
        finally:
            process.kill()
            process.join()
            process.close()
            receiver.close()


def _receive(receiver: Connection, process: Any, seconds: float, most: int) -> Any:
    """Receive the result of a process."""
    if not receiver.poll(seconds):
        raise _exhausted("the clock")
    try:
        content = receiver.recv_bytes(most + 1)
    except (EOFError, OSError):
        process.join()
        if process.exitcode >= 0:
            raise RuntimeError(f"a process ended with status {process.exitcode}") from None
        raise _exhausted(signal.Signals(-process.exitcode).name) from None
    error, value = _KINDS[content[:1]], json.loads(content[1:])
    if error is MemoryError:
        raise _exhausted("its limit of memory")
    if error:
        raise error(value)
    return value


def _exhausted(cause: str) -> ExhaustedError:
    _LOG.warning("a process was ended by %s", cause)
    return ExhaustedError(EXHAUSTED)


def _work(
    connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...], *limits_of_work: int
) -> None:
    """Call a function within its limits, and send a byte of `_KINDS`, and the result or the words of an error."""
    seconds, memory, most = limits_of_work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when its processes end
    _limit(seconds, memory)
    try:
        content = b"R" + _encode(function(*arguments))
        if len(content) > most:
            content = b"V" + _encode(_TOO_LARGE.format(size=len(content) / limits.MB, most=most / limits.MB))
        connection.send_bytes(content)
        return
    except MemoryError:
        kind, words = b"M", ""
    except ValueError as error:
        kind, words = b"V", str(error)
    except Exception:
        kind, words = b"F", traceback.format_exc()
    connection.send_bytes(kind + _encode(words[-10_000:]))  # outside of `except`, whose error keeps data in memory


_TOO_LARGE = (
    "the result has {size:.1f} MB, and the web app returns at most {most:g} MB: ask for fewer answers, or score the "
    "files with anls on your computer"
)


def _encode(value: Any) -> bytes:
    """Encode JSON, in which half a surrogate pair, which has no bytes, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _limit(seconds: int, memory: int) -> None:
    """Limit this process, as far as the system can."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)  # behind the server
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # a signal of its own before the kill
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
