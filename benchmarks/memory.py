"""Measures the cost of scoring tables in memory: ``python benchmarks/memory.py``.

The same made-up answers, like those of DocVQA, are stored as each kind of table. It compares `score(table).anls` with
plain code: two lists of the columns, `anls_scores` and `mean`. Both run in this process, in turn, and the least
processor time of the repetitions counts. Install ``.[files]``, pandas, polars and datasets first; a table whose library
is missing is skipped.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from timing import keep, markdown, options
from workloads import docvqa_like

from anls_metric import anls_scores, mean, score

Columns = Mapping[str, Sequence[Any]]
COUNTS = [20_000, 1_000_000]


class Table(NamedTuple):
    """A kind of table: the function that makes it, and the function that converts a column to a list."""

    make: Callable[[Columns], Any]
    read: Callable[[Any, str], list[Any]]


def _to_list(table: Any, name: str) -> list[Any]:
    return list(table[name].to_list())


TABLES = {
    "a DataFrame of pandas": Table(lambda columns: import_module("pandas").DataFrame(columns), _to_list),
    "a DataFrame of polars": Table(lambda columns: import_module("polars").DataFrame(columns), _to_list),
    "a table of pyarrow": Table(
        lambda columns: import_module("pyarrow").table(dict(columns)), lambda table, name: table[name].to_pylist()
    ),
    "a Dataset of datasets": Table(
        lambda columns: import_module("datasets").Dataset.from_dict(dict(columns)), lambda table, name: table[name][:]
    ),
    "a list of dicts": Table(
        lambda columns: [dict(zip(columns, row)) for row in zip(*columns.values())],
        lambda table, name: [record[name] for record in table],
    ),
    "a dict of columns": Table(dict, lambda table, name: table[name]),
}


class Row(NamedTuple):
    """One line of the table: seconds on the processor."""

    table: str
    rows: int
    ours: float
    lines: float

    @property
    def ratio(self) -> float:
        """Our time divided by the time of the plain code."""
        return self.ours / self.lines


def make_columns(count: int) -> Columns:
    """Make the columns of a table with this number of made-up answers."""
    predictions, references = docvqa_like(count)[:2]
    return {"questionId": list(map(str, range(count))), "prediction": predictions, "references": references}


def measure(name: str, columns: Columns, repetitions: int) -> Row:
    """Time ours and the plain code in turn, on the same table."""
    kind = TABLES[name]
    table = kind.make(columns)
    entrants: list[Callable[[], float]] = [
        lambda: score(table).anls,
        lambda: mean(anls_scores(kind.read(table, "prediction"), kind.read(table, "references"))),
    ]
    ours, lines = (
        min(seconds) for seconds in zip(*[[_time(entrant) for entrant in entrants] for _ in range(repetitions)])
    )
    assert len({entrant() for entrant in entrants}) == 1, name
    return Row(name, len(columns["prediction"]), ours, lines)


def _time(entrant: Callable[[], float]) -> float:
    gc.collect()
    start = time.process_time()
    entrant()
    return time.process_time() - start


def measure_all(counts: Sequence[int], repetitions: int) -> Iterator[Row]:
    """Measure every kind of table, with each of these numbers of rows."""
    for count in counts:
        columns = make_columns(count)
        for name in TABLES:
            try:
                yield measure(name, columns, repetitions if count == counts[0] else 1)
            except ImportError as error:
                print(f"{name}: {error}")


COLUMNS = {
    "a table": ("table", "{}"),
    "rows": ("rows", "{:,}"),
    "`score`": ("ours", "{:.2f} s"),
    "your lines": ("lines", "{:.2f} s"),
    "ratio": ("ratio", "{:.1f}"),
}


def main() -> None:
    """Run the benchmark."""
    flags = options(__doc__, repetitions=10)
    rows = list(measure_all(COUNTS[: 1 if flags.quick else None], flags.repetitions))
    print(markdown(COLUMNS, rows))
    keep(flags.json, rows)


if __name__ == "__main__":
    main()
