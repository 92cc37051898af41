"""Ctrl-C at every line and bytecode of add, add_batch and compute never separates predictions from references."""

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
    """Interrupt the call at the line (or bytecode) with this number in the package; False if there are fewer."""
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


def interrupt_everywhere(metric: Any, call: Callable[[], object], event: str) -> Iterator[int]:
    """Interrupt the call at every place, with three rows in the metric. Yields the number of rows after each."""
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
def test_interrupted_add_adds_the_whole_row_or_nothing(metric: Any, row: dict[str, Any], event: str) -> None:
    lengths = list(interrupt_everywhere(metric, lambda: metric.add(**row), event))
    assert len(lengths) > 5
    assert lengths == sorted(lengths)  # once the row is added, it stays
    assert set(lengths) == {3, 4}


@pytest.mark.parametrize("event", ["line", "opcode"])
def test_interrupted_add_batch_adds_the_whole_batch_or_nothing(metric: Any, event: str) -> None:
    batch: dict[str, Any] = {"predictions": ["gh", "ij", "kl"], "references": [["gh"], ("x", "ij"), "kl"]}
    lengths = list(interrupt_everywhere(metric, lambda: metric.add_batch(**batch), event))
    assert len(lengths) > 20
    assert lengths == sorted(lengths)
    assert set(lengths) == {3, 6}


@pytest.mark.parametrize("event", ["line", "opcode"])
@pytest.mark.parametrize("given", [{}, {"predictions": ["gh"], "references": [["x"]]}], ids=["added", "and given"])
def test_interrupted_compute_takes_all_rows_or_none(metric: Any, given: dict[str, Any], event: str) -> None:
    lengths = list(interrupt_everywhere(metric, lambda: metric.compute(**given, return_all_scores=True), event))
    assert len(lengths) > 40
    # compute takes all rows at its beginning; before that all rows are there, after that none.
    assert set(lengths) == {0, 3}
    assert lengths == sorted(lengths, reverse=True)
    assert lengths.index(0) < len(lengths) / 4


def test_interrupted_compute_that_fails_takes_all_rows_or_none(metric: Any) -> None:
    def fail() -> None:
        with pytest.raises(ValueError, match="unknown variant 'squad'"):
            metric.compute(variant="squad")

    assert set(interrupt_everywhere(metric, fail, "line")) == {0, 3}
