"""Work in a subprocess: its memory goes back when it ends, and nobody else waits for the interpreter."""

from __future__ import annotations

import gc
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from anls_metric.page import limits

Step = TypeVar("Step")

# What the other process begins with: it imports the same files as this one, but not the program that this one runs.
_BEGIN = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from anls_metric.page import subprocesses
subprocesses.work()
"""


def run(
    function: Callable[..., Iterator[Step]], *arguments: Any, seconds: float = limits.MOST_SECONDS
) -> Iterator[Step]:
    """Run a generator function in a subprocess, which ends when nobody takes the rest of what it yields.

    Args:
        function: of the top level of a module. What it is given, yields and raises must be picklable.
        arguments: of the function.
        seconds: how long it may take.

    Raises:
        ValueError, OSError: what the function raises; ValueError: it took too long. RuntimeError: it failed otherwise,
            and its error stands in the log.
    """
    process = subprocess.Popen([sys.executable, "-c", _BEGIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    clock = threading.Timer(seconds, stop)
    clock.daemon = True
    clock.start()
    try:
        with process.stdin as stream:
            for message in (sys.path, (function, arguments)):
                pickle.dump(message, stream)
        while True:
            yielded, value = pickle.load(process.stdout)
            if yielded:
                yield value
            elif value is None:
                return
            else:
                raise value
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        if late.is_set():
            raise ValueError(f"it takes more than {seconds:g} seconds: {limits.WITH_COMMAND}") from None
        raise RuntimeError(f"the process that scores ended with status {process.wait()}") from None
    finally:
        clock.cancel()
        process.kill()
        process.stdout.close()
        process.wait()


def work() -> None:
    """The other side of `run`: do what standard input says."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server, which gets it as well, ends this
    gc.disable()  # looking for cycles in a million rows, which have none, would be a third of the time
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what a library prints is no answer

    def tell(*message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    function, arguments = pickle.load(sys.stdin.buffer)
    try:
        for step in function(*arguments):
            tell(True, step)
        tell(False, None)
    except (ValueError, OSError) as error:
        tell(False, error)
