"""Runs work in processes of their own, which the system limits in memory and CPU time."""

from __future__ import annotations

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
_ROOM = threading.BoundedSemaphore(limits.MAX_PROCESSES)
_LOG = logging.getLogger(__name__)

# What the server of processes imports once, for all of them.
_PRELOADED = (
    "anls_metric.page.scoring",
    "anls_metric.page.answers",
    "anls_metric.analysis.comparison",
    "anls_metric.nested",
    "anls_metric.report.html",
)


class ExhaustedError(ValueError):
    """Work exceeded its limits."""


def start() -> None:
    """Start the server of processes, so that the first visitor does not wait for it."""
    if CAN_FORK:
        _CONTEXT.set_forkserver_preload(list(_PRELOADED))
    else:
        _LOG.warning("this system cannot fork: files are scored without limits of memory and CPU time")
    run(abs, -1)


def run(
    function: Callable[..., Any], *arguments: Any, seconds: float = limits.SECONDS, memory: int = limits.MEMORY
) -> Any:
    """Call a function in a process of its own.

    Args:
        function: a function at the top level of a module.
        *arguments: plain data: what a class of gradio needs to be unpickled would import gradio.
        seconds: the CPU time that it may take. After twice this time on the clock, it is killed as well.
        memory: the address space that it may take, in bytes.

    Returns:
        What the function returns: plain data, too.

    Raises:
        ValueError: the function raised one. ExhaustedError: it exceeded its limits, or the system killed it.
        RuntimeError: it failed in another way.
    """
    with _ROOM:
        receiver, sender = _CONTEXT.Pipe(duplex=False)
        process = _CONTEXT.Process(target=_work, args=(sender, function, arguments, int(seconds), memory), daemon=True)
        process.start()
        sender.close()
        try:
            return _receive(receiver, process, 2 * seconds)
        finally:
            process.kill()
            process.join()
            process.close()
            receiver.close()


def _receive(receiver: Connection, process: Any, seconds: float) -> Any:
    """Receive the result of a process."""
    if not receiver.poll(seconds):
        raise _exhausted("the clock")
    try:
        error, value = receiver.recv()
    except EOFError:
        process.join()
        if process.exitcode >= 0:
            raise RuntimeError(f"a process ended with status {process.exitcode}") from None
        raise _exhausted(signal.Signals(-process.exitcode).name) from None
    if error is MemoryError:
        raise _exhausted("its limit of memory")
    if error:
        raise error(value)
    return value


def _exhausted(cause: str) -> ExhaustedError:
    _LOG.warning("a process was ended by %s", cause)
    return ExhaustedError(EXHAUSTED)


def _work(
    connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: int, memory: int
) -> None:
    """Call a function within its limits, and send the kind of its error or None, and its words or the result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when its processes end
    _limit(seconds, memory)
    try:
        connection.send((None, function(*arguments)))
        return
    except MemoryError:
        failed: tuple[type[Exception], str] = MemoryError, ""
    except ValueError as error:
        failed = ValueError, str(error)
    except Exception:
        failed = RuntimeError, traceback.format_exc()
    connection.send(failed)  # outside of `except`, whose error keeps the data in memory


def _limit(seconds: int, memory: int) -> None:
    """Limit this process, as far as the system can."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)  # behind the server
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # a signal of its own before the kill
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
