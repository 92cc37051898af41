"""Pieces of work for other processes. This module imports little, because the processes import it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from anls_metric.page import fork_server


def count_up(most: int) -> Iterator[tuple[int, int]]:
    """Yield numbers, with the process id."""
    print("this is no answer")
    for number in range(most):
        yield number, os.getpid()


def fail(error: BaseException) -> Iterator[int]:
    """Yield a number, then raise an error."""
    yield 1
    raise error


def sleep() -> Iterator[int]:
    """Yield the process id, then sleep."""
    yield os.getpid()
    time.sleep(600)
    yield 0


def search() -> Iterator[int]:
    """Search with a pattern of exponential time, which blocks the interpreter."""
    re.match(r"(a+)+$", "a" * 60 + "b")
    yield 0


def fill(size: int) -> Iterator[int]:
    yield len(bytes(size))


def end(signal: int) -> Iterator[int]:
    """End by a signal, as if the system killed the process or a library crashed."""
    if signal:
        os.kill(os.getpid(), signal)
    os._exit(7)
    yield 0


def take_twice(mark: Path) -> Iterator[int]:
    """Yield three numbers. The second takes long on the first run."""
    yield 1
    if not mark.exists():
        mark.touch()
        time.sleep(600)
    yield 2
    yield 3


def remember(seen: list[int] = []) -> Iterator[int]:  # noqa: B006, the default must persist
    seen.append(1)
    yield len(seen)


def grow_old() -> Iterator[int]:
    """Yield the niceness when it has increased."""
    while os.getpriority(os.PRIO_PROCESS, 0) < fork_server._NICE[1]:
        time.sleep(0.05)
    yield os.getpriority(os.PRIO_PROCESS, 0)


def hold(size: int) -> Iterator[int]:
    held = bytearray(os.urandom(1_000) * (size // 1_000))
    if len(held) < 10**6:
        yield len(held)
    time.sleep(600)
