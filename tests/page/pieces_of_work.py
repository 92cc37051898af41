"""What tests give to other processes, which import this module and therefore hardly anything."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from anls_metric.page import fork_server


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


def search() -> Iterator[int]:
    """A pattern that tries everything, and does not let go of the interpreter."""
    re.match(r"(a+)+$", "a" * 60 + "b")
    yield 0


def fill(size: int) -> Iterator[int]:
    yield len(bytes(size))


def end(signal: int) -> Iterator[int]:
    """Nothing, as where the system takes the memory of a process, or a library fails."""
    if signal:
        os.kill(os.getpid(), signal)
    os._exit(7)
    yield 0


def take_twice(mark: Path) -> Iterator[int]:
    """Three numbers, of which the second takes long for the first time."""
    yield 1
    if not mark.exists():
        mark.touch()
        time.sleep(600)
    yield 2
    yield 3


def remember(seen: list[int] = []) -> Iterator[int]:  # noqa: B006, it is to be remembered
    seen.append(1)
    yield len(seen)


def grow_old() -> Iterator[int]:
    """How nice it is, once it is nicer than when it began."""
    while os.getpriority(os.PRIO_PROCESS, 0) < fork_server._NICE[1]:
        time.sleep(0.05)
    yield os.getpriority(os.PRIO_PROCESS, 0)


def hold(size: int) -> Iterator[int]:
    held = bytearray(os.urandom(1_000) * (size // 1_000))
    if len(held) < 10**6:
        yield len(held)
    time.sleep(600)
