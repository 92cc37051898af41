"""Lists every answer as a flat dict, and writes answers and leaves as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TypedDict

from anls_metric.analysis.answer_rows import AnswerRow, Run
from anls_metric.messages import make_error
from anls_metric.report.texts import guard_formula
from anls_metric.writing import open_aside

Names = Sequence[str]
Rows = Sequence[Mapping[str, Any]]


class _Scored(TypedDict):
    submission: str
    id: str
    question: str | None
    prediction: Any
    references: list[Any]
    score: float
    outcome: str


class Answer(_Scored, total=False):
    """An answer with its score. It also has a key for each field in the option ``by``, and for the cluster field.

    Keys:
        submission: the name of the submission.
        id: the id of the question.
        question: the text of the question; None if the record has none.
        prediction: the answer, a string or a value; None for none.
        references: the accepted answers.
        score: from 0 to 1.
        outcome: the cause that costs the answer most, "right" for none: see `lost_points`.
        run: the number of the run, from 1, if there are several.
        raw: the model output, if the prediction was extracted from it.
    """

    run: int
    raw: str | None


def list_answers(rows: Mapping[str, Iterable[AnswerRow]]) -> Iterator[Answer]:
    """List the answers of submissions, including those of all runs, given their rows by the name of the submission."""
    for name, own in rows.items():
        for row in own:
            question = {key: row[key] for key in ("id", "question", "prediction", "references")}
            for number, run in enumerate(row.get("runs", [row]), 1):
                answer: Any = {**row["groups"], "submission": name, **question}
                answer |= {key: value for key, value in run.items() if key in Run.__annotations__}
                if "runs" in row:
                    answer["run"] = number
                yield answer


def write_answers(path: str, rows: Mapping[str, Iterable[AnswerRow]], *, of_values: bool) -> None:
    """Write the answers of submissions to a file: CSV, JSON lines or Parquet, depending on the ending of the file name.

    Args:
        path: the file to write.
        rows: the rows of `answer_rows.list_rows`, by the name of the submission.
        of_values: whether the references are lists and nested values.

    Raises:
        InputError: the library for Parquet is missing. OSError: the file cannot be written.
    """
    answers: list[Any] = list(list_answers(rows))
    if of_values:  # where a list is one accepted value
        for answer in answers:
            accepted = answer["references"]
            answer["references"] = accepted[0] if len(accepted) == 1 else {"__tuple__": accepted}
    write_rows(path, answers)


def write_rows(path: str, rows: Rows) -> None:
    """Write rows to a file. Raises InputError and OSError as `write_answers` does."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with open_aside(path) as file:
        WRITERS[os.path.splitext(path)[1].lower()](file, names, rows)


def _write_csv(file: IO[str], names: Names, rows: Rows) -> None:
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _make_cell(value) for name, value in row.items()} for row in rows)


def _make_cell(value: Any) -> Any:
    """Make a cell from a value. Lists and objects become JSON, and no text becomes a formula."""
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
    """Make a column of one type: strings, numbers, or lists of strings; other values become JSON."""
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
"""The ending of a file of answers -> what writes it."""
