"""Runs work in subprocesses: the system limits their time and memory, and they never block the page.

The process that serves the page never reads or scores the data of visitors. All of that runs here.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar, cast

from anls_metric.page import fork_server, limits
from anls_metric.page.limits import Allowance, ExhaustedError

Step = TypeVar("Step")
Result = TypeVar("Result")


def run(
    function: Callable[..., Iterator[Step]],
    *arguments: object,
    is_large: bool = False,
    remedy: str | Callable[[], str] = limits.WITH_COMMAND,
) -> Iterator[Step]:
    """Run a generator function in a subprocess, which ends when the caller stops iterating.

    Small work does not wait for large work. If it exceeds the limits of small work, it starts again as large work.

    Args:
        function: a function at the top level of a module that yields the same each time. Its arguments, results and
            errors must be picklable.
        *arguments: the arguments of the function.
        is_large: whether the work may take long.
        remedy: what to do if it needs too much memory or time, as a sentence or a function that returns one.

    Raises:
        ValueError, OSError: as the function; also a ValueError if too many pieces of work wait. ExhaustedError: the
            work needs too much memory or time. RuntimeError: it failed in another way.
    """
    done = 0
    if not is_large:
        try:
            with limits.small.admit():
                for step in _run(function, arguments, limits.small.allowance):
                    done += 1
                    yield step
                return
        except ExhaustedError:
            pass
    with limits.large.admit():
        try:
            allowance = limits.large.allowance if is_large else limits.SECOND_TRY
            yield from islice(_run(function, arguments, allowance), done, None)
        except ExhaustedError:
            raise ExhaustedError(remedy if isinstance(remedy, str) else remedy()) from None


def call(function: Callable[..., Result], *arguments: object, **options: Any) -> Result:
    """Call a function in a subprocess, with the options and errors of `run`."""
    (result,) = run(_call, function, arguments, **options)
    return cast(Result, result)


def _call(function: Callable[..., Result], arguments: tuple[object, ...]) -> Iterator[Result]:
    yield function(*arguments)


def _run(
    function: Callable[..., Iterator[Step]], arguments: tuple[object, ...], allowance: Allowance
) -> Iterator[Step]:
    process = fork_server.begin(allowance.seconds)
    try:
        process.give((function, arguments), allowance)
        while True:
            is_step, value = pickle.load(process.output)
            if is_step:
                yield value
            elif value is None:
                return
            elif isinstance(value, MemoryError):
                raise ExhaustedError
            else:
                raise value
    except (EOFError, ConnectionError, pickle.UnpicklingError):
        status = process.end()
        if status < 0:
            logging.getLogger(__name__).warning("a process that worked was ended by signal %d", -status)
            raise ExhaustedError from None
        raise RuntimeError(f"the process that worked ended with status {status}") from None
    except RecursionError:
        raise ValueError("what was sent is nested too deeply") from None
    finally:
        process.end()
