"""Times the functions and the metric against other libraries, on the same rows in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import evaluate
import peers
from timing import Row, race
from workloads import WORKLOADS, Rows

import anls_metric

ROWS = {"W1": 5_000, "W2": 5_000, "W3": 2, "W3b": 50}  # as many as the slowest library scores in some seconds
MANY_ROWS = 200_000  # of W2, for programs that take microseconds a row
CHECKED_ROWS = 100  # pairs are checked with a textbook algorithm in Python, which takes its time
BATCH = 32  # rows of a batch in an evaluation loop


def compare(
    ours: str, scorer: peers.Scorer, others: Mapping[str, peers.Scorer], workload: str, rows: Rows, repetitions: int
) -> Iterator[Row]:
    """Time a function of this package and other libraries on the same rows."""
    calls = {name: partial(each, *rows) for name, each in {ours: scorer, **others}.items()}
    count = len(rows[0])
    times = {name: 1e6 * seconds / count for name, seconds in race(calls, repetitions).items()}
    for name in others:
        yield Row(ours, name, workload, count, times[ours], times[name])


def check(name: str, scorer: peers.Scorer, definition: peers.Definition, rows: Rows) -> None:
    """Raise an error if a library does not compute what its definition says."""
    some = rows[0][:CHECKED_ROWS], rows[1][:CHECKED_ROWS]
    for score, prediction, accepted in zip(scorer(*some), *some):
        expected = definition(prediction, accepted)
        if abs(score - expected) > 1e-6:
            raise RuntimeError(f"{name} gives {score} for {prediction!r} and {accepted}, expected {expected}")


def time_scores(pypi_anls: Path, repetitions: int) -> Iterator[Row]:
    """Time `anls_scores` on each workload, one call a row, and all variants."""
    libraries = {name: (load(), definition) for name, (load, definition) in peers.PEERS.items()}
    libraries["PyPI anls 0.0.2"] = peers.load_pypi_anls(pypi_anls), peers.strict
    others = {name: scorer for name, (scorer, _) in libraries.items()}
    for workload, count in ROWS.items():
        rows = WORKLOADS[workload](count)
        check("anls_scores", anls_metric.anls_scores, peers.standard, rows)
        for name, (scorer, definition) in libraries.items():
            check(name, scorer, definition, rows)
        yield from compare("anls_scores", anls_metric.anls_scores, others, workload, rows, repetitions)

    rows = WORKLOADS["W2"](MANY_ROWS)
    fast = {name: others[name] for name in peers.FAST}
    yield from compare("anls_scores", anls_metric.anls_scores, fast, "W2", rows, repetitions)
    variants = {name: partial(anls_metric.anls_scores, variant=name) for name in list(anls_metric.VARIANTS)[1:]}
    for row in compare("anls_scores", anls_metric.anls_scores, variants, "W2", rows, repetitions):
        yield row._replace(other="other variants", workload=f"W2, {row.other}")

    def one_by_one(predictions: list[str], references: list[list[str]]) -> list[float]:
        return list(map(anls_metric.anls_score, predictions, references))

    pypi = {"PyPI anls 0.0.2": others["PyPI anls 0.0.2"]}
    yield from compare("anls_score, a call a row", one_by_one, pypi, "W2", WORKLOADS["W2"](ROWS["W2"]), repetitions)


# The metric of evaluate


def compute(metric: Any, predictions: list[str], references: list[list[str]]) -> list[float]:
    return [metric.compute(predictions=predictions, references=references)["anls"]]


def add_batch(metric: Any, predictions: list[str], references: list[list[str]]) -> list[float]:
    for start in range(0, len(predictions), BATCH):
        batch = slice(start, start + BATCH)
        metric.add_batch(predictions=predictions[batch], references=references[batch])
    return [metric.compute()["anls"]]


def add(metric: Any, predictions: list[str], references: list[list[str]]) -> list[float]:
    for prediction, accepted in zip(predictions, references):
        metric.add(prediction=prediction, reference=accepted)
    return [metric.compute()["anls"]]


WAYS: list[Callable[..., list[float]]] = [compute, add_batch, add]


def time_evaluate(repetitions: int) -> Iterator[Row]:
    """Time the metric against a module as most people write it."""
    ours, usual = anls_metric.load(), evaluate.load(str(Path(__file__).with_name("usual_module.py")))
    for workload, count in (("W1", MANY_ROWS), ("W2", MANY_ROWS), ("W2", ROWS["W2"])):
        rows = WORKLOADS[workload](count)
        for way in WAYS:
            (score,), (other,) = way(ours, *rows), way(usual, *rows)
            assert abs(score - other) < 1e-9, (workload, way)
            others = {"the usual module": partial(way, usual)}
            yield from compare(f"{way.__name__} of evaluate", partial(way, ours), others, workload, rows, repetitions)
