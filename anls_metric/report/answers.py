"""Lists every answer, or every leaf of nested values, as a flat dict, and writes them as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TypedDict

from anls_metric.analysis.scored import KEYS, Scored, name_groups
from anls_metric.core.json_values import to_json
from anls_metric.messages import make_error
from anls_metric.reading.layouts import take_column
from anls_metric.report.document import describe_answer
from anls_metric.report.files import open_aside
from anls_metric.report.texts import guard_formula

Names = Sequence[str]
Rows = Sequence[Mapping[str, Any]]


class Answer(TypedDict, total=False):
    """An answer with its score. It also has a key for each field in the option ``by``, and for the cluster field.

    Keys:
        submission: the name of the submission.
        id: the id of the question.
        question: the text of the question; None if the record has none.
        prediction: the answer, a string or a value; None for none.
        references: the accepted answers.
        score: from 0 to 1.
        outcome: the reason for the score: the name of a row of `OUTCOMES`.
        run: the number of the run, from 1, if there are several.
        raw: the model output, if the prediction was extracted from it.
    """

    submission: str
    id: str
    question: str | None
    prediction: Any
    references: list[Any]
    score: float
    outcome: str
    run: int
    raw: str | None


def list_answers(submissions: Iterable[Scored]) -> Iterator[Answer]:
    """List the answers of submissions, including those of all runs."""
    for scored in submissions:
        columns = {
            field: take_column(scored.questions.table.records, field) for field in scored.groups if field != KEYS
        }
        clusters = scored.clusters  # written, too, so that answers that are read again have the same interval
        for place, run in enumerate(scored.runs):
            groups: dict[str, Any] = {}
            if clusters:
                groups["document" if clusters.rule else clusters.field.rpartition(".")[2]] = clusters.names[place]
            for field, column in columns.items():
                names = name_groups(field, column[place])
                groups[field] = names[0] if len(names) == 1 else names
            for number, answer in enumerate(run, 1):
                row: Any = {**groups, "submission": scored.name, **describe_answer(scored, place, answer)}
                if scored.answers.places is not None:
                    row["run"] = number
                yield row


class LeafRow(TypedDict, total=False):
    """A leaf of a nested value, and its outcome.

    Keys:
        submission: the name of the submission.
        id: the id of the document.
        run: the number of the run, from 1, if there are several.
        key: the names that lead to the leaf, without the places in lists: items.price.
        path: its place in the prediction, such as items[2].price; in the reference, if it is missing there.
        outcome: right, close, wrong, missed, invented or blank.
        prediction: the predicted value; None for none.
        reference: the accepted value, of several the closest; None for none.
        score: from 0 to 1.
    """

    submission: str
    id: str
    run: int
    key: str
    path: str
    outcome: str
    prediction: Any
    reference: Any
    score: float


def list_leaves(submissions: Iterable[Scored]) -> Iterator[LeafRow]:
    """List the leaves of all answers, for those submissions whose leaves are counted."""
    for scored in submissions:
        for place, run in enumerate(scored.runs):
            for number, answer in enumerate(run, 1):
                start: dict[str, Any] = {"submission": scored.name, "id": scored.questions.ids[place]}
                start |= {} if scored.answers.places is None else {"run": number}
                for leaf in scored.values[answer].leaves:
                    row: Any = {
                        **start,
                        "key": ".".join(map(str, leaf.keys)),
                        "path": leaf.path,
                        "outcome": leaf.outcome,
                        "prediction": to_json(leaf.prediction),
                        "reference": to_json(leaf.reference),
                        "score": leaf.score,
                    }
                    yield row


def write_answers(path: str, submissions: Sequence[Scored]) -> None:
    """Write the answers of submissions to a file: CSV, JSON lines or Parquet, depending on the ending of the file name.

    Raises:
        InputError: the library for Parquet is missing. OSError: the file cannot be written.
    """
    rows: list[Any] = list(list_answers(submissions))
    if submissions[0].scorer.reads_json:  # where a list is one accepted value
        for row in rows:
            accepted = row["references"]
            row["references"] = accepted[0] if len(accepted) == 1 else {"__tuple__": accepted}
    write_rows(path, rows)


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
