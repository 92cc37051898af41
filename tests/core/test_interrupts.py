"""Ctrl-C at every line, and at every bytecode, of what takes rows: they never come apart, and none is left behind."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

import anls_metric

pytest.importorskip("evaluate")


@pytest.fixture(scope="module")
def metric() -> Any:
    return anls_metric.load()


ROWS = ["ab", "cd", "ef"]


def interrupt(call: Callable[[], object], event: str, which: int) -> bool:
    """Whether the call comes to so many lines (or bytecodes) of the package; there it is interrupted."""
    seen = 0

    def trace(frame: FrameType, happened: str, _: object) -> Any:
        nonlocal seen
        if not str(frame.f_globals.get("__name__")).startswith("anls_metric."):
            return None
        frame.f_trace_opcodes = event == "opcode"
        if happened == event:
            seen += 1
            if seen == which:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = event == "opcode"  # Python 3.12 asks a frame before it traces the first bytecode
    sys.settrace(trace)
    try:
        with suppress(KeyboardInterrupt):
            call()
    finally:
        sys.settrace(before)
    return seen >= which


def interruptions(metric: Any, call: Callable[[], object], event: str) -> Iterator[int]:
    """How many rows the metric has after each interruption of the call, before which it has three."""
    for which in range(1, 100_000):
        metric.add_batch(predictions=ROWS, references=ROWS)
        came = interrupt(call, event, which)
        yield len(metric)
        if len(metric):
            # Each prediction stands beside its own reference.
            scores = metric.compute(return_all_scores=True)["anls_scores"]
            assert set(scores) == {1.0}
        assert (metric.writer, metric.filelock, len(metric)) == (None, None, 0)
        assert metric.compute(predictions=["x", "y"], references=["x", "z"]) == {"anls": 0.5}
        if not came:
            return


@pytest.mark.parametrize("event", ["line", "opcode"])
@pytest.mark.parametrize(
    "row",
    [
        {"prediction": "gh", "reference": ["gh"]},
        {"prediction": "gh", "reference": "gh"},
        {"predictions": "gh", "references": {"gh", "ij"}},
    ],
    ids=["a list", "a string", "as combine says it"],
)
def test_add(metric: Any, row: dict[str, Any], event: str) -> None:
    lengths = list(interruptions(metric, lambda: metric.add(**row), event))
    assert len(lengths) > 5
    assert lengths == sorted(lengths)  # it is there from the moment on when it was added, and not before
    assert set(lengths) == {3, 4}


@pytest.mark.parametrize("event", ["line", "opcode"])
def test_add_batch(metric: Any, event: str) -> None:
    batch: dict[str, Any] = {"predictions": ["gh", "ij", "kl"], "references": [["gh"], ("x", "ij"), "kl"]}
    lengths = list(interruptions(metric, lambda: metric.add_batch(**batch), event))
    assert len(lengths) > 20
    assert lengths == sorted(lengths)
    assert set(lengths) == {3, 6}


@pytest.mark.parametrize("event", ["line", "opcode"])
@pytest.mark.parametrize("given", [{}, {"predictions": ["gh"], "references": [["x"]]}], ids=["added", "and given"])
def test_compute(metric: Any, given: dict[str, Any], event: str) -> None:
    lengths = list(interruptions(metric, lambda: metric.compute(**given, return_all_scores=True), event))
    assert len(lengths) > 40
    # All are there until it takes them, which is the first thing that it does; then none, whatever happens.
    assert set(lengths) == {0, 3}
    assert lengths == sorted(lengths, reverse=True)
    assert lengths.index(0) < len(lengths) / 4


def test_a_compute_that_fails_and_is_interrupted(metric: Any) -> None:
    def fail() -> None:
        with pytest.raises(ValueError, match="no variant 'squad'"):
            metric.compute(variant="squad")

    assert set(interruptions(metric, fail, "line")) == {0, 3}
