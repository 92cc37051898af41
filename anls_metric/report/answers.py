"""Writes rows of answers or leaves as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from anls_metric.messages import make_error
from anls_metric.report.texts import guard_formula
from anls_metric.writing import open_aside

Names = Sequence[str]
Rows = Sequence[Mapping[str, Any]]


def write_answers(path: str, answers: Rows, *, of_values: bool) -> None:
    """Write the answers in submissions to a file, as CSV, JSON lines or Parquet, depending on the file extension.

    Args:
        path: the file to write.
        answers: the rows from `answer_rows.list_answers`.
        of_values: whether the references are lists and nested values, so that a list is a single accepted value.

    Raises:
        InputError: the library for Parquet is missing. OSError: the file cannot be written.
    """
    if of_values:
        answers = [{**answer, "references": _write_references(answer["references"])} for answer in answers]
    write_rows(path, answers)


def _write_references(accepted: Sequence[Any]) -> Any:
    return accepted[0] if len(accepted) == 1 else {"__tuple__": accepted}


def write_rows(path: str, rows: Rows) -> None:
    """Write rows to a file. Raises the same errors as `write_answers`."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open_aside(path) as file:
        WRITERS[os.path.splitext(path)[1].lower()](file, names, rows)


def _write_csv(file: IO[str], names: Names, rows: Rows) -> None:
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _make_cell(value) for name, value in row.items()} for row in rows)


def _make_cell(value: Any) -> Any:
    """Convert a value to a CSV cell. Lists and objects become JSON, and strings that look like formulas are guarded."""
    if isinstance(value, str):
        return guard_formula(value)
    return value if value is None or isinstance(value, (int, float)) else json.dumps(value, ensure_ascii=False)


def _write_json_lines(file: IO[str], names: Names, rows: Rows) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_parquet(file: IO[str], names: Names, rows: Rows) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise make_error("", "Parquet needs pyarrow: pip install 'anls-metric[files]'") from None
    columns = {name: _make_column([row.get(name) for row in rows]) for name in names}
    parquet.write_table(pyarrow.table(columns), file.buffer)  # type: ignore[attr-defined]


def _make_column(values: Sequence[Any]) -> Sequence[Any]:
    """Convert values to a column of strings, numbers or lists of strings, writing values of any other type as JSON."""
    kinds = {type(value) for value in values if value is not None}
    items = {type(item) for value in values if isinstance(value, list) for item in value}
    if kinds <= {str} or kinds <= {int, float} or (kinds == {list} and items <= {str}):
        return values
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


WRITERS: Mapping[str, Callable[[IO[str], Names, Rows], None]] = {
    ".csv": _write_csv,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
"""The functions that write files of answers, keyed by file extension."""
