"""Several processes that live as long as the tests of a module, and what they do: each has a metric of its own.

A new process imports this module and nothing of the tests, as fast as can be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

# Where they are installed, evaluate imports transformers and scipy at its beginning, and these torch or TensorFlow: 3 s
# become 20. It does without them.
if "evaluate" not in sys.modules:
    sys.modules |= dict.fromkeys(("transformers", "scipy"))  # type: ignore[arg-type]
    with suppress(ImportError):
        import evaluate  # noqa: F401
    for name in ("transformers", "scipy"):
        del sys.modules[name]

import anls_metric

METRIC: Any = None


def make(**options: Any) -> None:
    """Load the metric that what follows is done with."""
    global METRIC
    METRIC = None
    METRIC = anls_metric.load(**options)


def forget() -> None:
    global METRIC
    METRIC = None


def add(predictions: Any, references: Any, one_by_one: bool = False) -> None:
    if one_by_one:
        for prediction, reference in zip(predictions, references):
            METRIC.add(prediction=prediction, reference=reference)
    else:
        METRIC.add_batch(predictions=predictions, references=references)


def compute(**options: Any) -> Any:
    return METRIC.compute(**options)


def arrow_files() -> list[str]:
    return [path.name for path in Path(METRIC.data_dir).glob("*.arrow")]


def rounds(process_id: int) -> list[Any]:
    """Six rounds without a pause, and one without rows."""
    said = []
    for number in range(6):
        METRIC.add_batch(predictions=[str(number)] * 20, references=[str(number) if process_id else "x"] * 20)
        said.append(METRIC.compute(variant="rrc" if number % 2 else "standard"))
    try:
        said.append(METRIC.compute())
    except ValueError as error:
        said.append(str(error))
    return said


class Team:
    """So many processes, each of which does what it is told in its turn."""

    def __init__(self, size: int) -> None:
        context = get_context("spawn")
        self._members = [ProcessPoolExecutor(1, mp_context=context) for _ in range(size)]
        self.all(forget)  # they start at the same time

    def tell(self, member: int, function: Any, *arguments: Any, **options: Any) -> Future[Any]:
        """Have a process do something. Its result, or what it raises, is that of the `Future`."""
        return self._members[member].submit(function, *arguments, **options)

    def all(self, function: Any, members: Iterable[int] | None = None, *arguments: Any, **options: Any) -> list[Any]:
        """What each of some processes gives, or the ValueError that it raises, when they do the same at once."""
        members = range(len(self._members)) if members is None else members
        return self.wait([self.tell(member, function, *arguments, **options) for member in members])

    @staticmethod
    def wait(told: Iterable[Future[Any]]) -> list[Any]:
        """What came of what they were told."""
        results: list[Any] = []
        for future in told:
            try:
                results.append(future.result(120))
            except ValueError as error:
                results.append(error)
        return results

    def end(self) -> None:
        """End the processes."""
        for member in self._members:
            member.shutdown()
