"""Lists every answer with its score as records, and writes them as CSV, JSON lines or Parquet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, TypedDict

from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredRow, group_names
from anls_metric.reading.batch import Json
from anls_metric.reading.errors import InputError
from anls_metric.reading.values import as_json
from anls_metric.report.document import get_question_text
from anls_metric.report.results import open_aside


class Run(TypedDict):
    """The answer of one run."""

    prediction: Json
    score: float
    outcome: str


class _Always(TypedDict):
    submission: str
    id: str
    question: str | None
    prediction: Json
    references: list[Json]
    score: float
    outcome: str
    groups: dict[str, list[str]]


class Answer(_Always, total=False):
    """An answer with its score.

    Keys:
        submission: the name of the submission.
        id: the id of the question.
        question: the text of the question; None if the record has none.
        prediction: the answer, a text or a value; None for none.
        references: the accepted answers.
        score: from 0 to 1; with several runs, their mean.
        outcome: the reason for the score: the name of a row of `OUTCOMES`.
        groups: the groups that the question is in, by the fields of `by`.
        written: the raw model output, if the prediction was extracted from it.
        runs: the answer of each run, if there are several. The prediction is that with the score closest to the mean.
    """

    written: str
    runs: list[Run]


def list_answers(entries: Iterable[Entry]) -> Iterator[Answer]:
    """List the answers of submissions that keep their rows."""
    for entry in entries:
        fields = list(entry.scored_set.groups)
        for scored in entry.scored_set.rows:
            yield _describe_answer(entry.name, scored, fields)


def _describe_answer(submission: str, scored: ScoredRow, fields: Sequence[str]) -> Answer:
    row = scored.row
    answer: Answer = {
        "submission": submission,
        "id": row.id,
        "question": get_question_text(row),
        "prediction": as_json(row.prediction),
        "references": list(map(as_json, row.references)),
        "score": scored.score,
        "outcome": scored.outcome,
        "groups": {field: group_names(row.record, field) for field in fields},
    }
    if row.written is not None:
        answer["written"] = row.written
    if scored.runs:
        answer["runs"] = [
            {"prediction": as_json(run.row.prediction), "score": run.score, "outcome": run.outcome}
            for run in scored.runs
        ]
    return answer


def flatten_answer(answer: Answer) -> dict[str, Any]:
    """Make a flat record for a table, with a column for each field of the groups.

    Example:
        >>> answer = {"id": "7", "score": 1.0, "groups": {"kind": ["form"], "page": ["1", "2"]}}
        >>> flatten_answer(answer)
        {'id': '7', 'score': 1.0, 'kind': 'form', 'page': ['1', '2']}
    """
    record = dict(answer)
    groups: Mapping[str, list[str]] = record.pop("groups")  # type: ignore[assignment]
    return record | {field: names[0] if len(names) == 1 else names for field, names in groups.items()}


# Files


def write_answers(path: str, entries: Sequence[Entry]) -> None:
    """Write the answers of submissions to a file, as CSV, JSON lines or Parquet, by its ending.

    Raises:
        InputError: the ending is unknown, or the library for Parquet is missing. OSError: the file cannot be written.
    """
    writer = find_writer(path)
    with open_aside(path, "utf-8") as file:
        writer(file, list_answers(entries))


def find_writer(path: str) -> Callable[[IO[str], Iterable[Answer]], None]:
    """Find the function that writes a file by its ending. InputError: the ending is unknown."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in _WRITERS:
        problem = f"answers cannot be written as {ending!r}" if ending else "its name has no ending"
        raise InputError(problem, path, f"name a file that ends in {_ENDINGS}")
    return _WRITERS[ending]


def _write_csv(file: IO[str], answers: Iterable[Answer]) -> None:
    records = map(flatten_answer, answers)
    first = next(records)
    writer = csv.DictWriter(file, list(first), lineterminator="\n")
    writer.writeheader()
    for record in (first, *records):
        writer.writerow({name: _as_cell(value) for name, value in record.items()})


def _as_cell(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float)) else json.dumps(value, ensure_ascii=False)


def _write_json_lines(file: IO[str], answers: Iterable[Answer]) -> None:
    for answer in answers:
        file.write(json.dumps(answer, ensure_ascii=False) + "\n")


def _write_parquet(file: IO[str], answers: Iterable[Answer]) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError("Parquet needs pyarrow", remedy="pip install 'anls-metric[files]'") from None
    records = [
        {name: _as_cell(value) if name == "prediction" else value for name, value in flatten_answer(answer).items()}
        for answer in answers
    ]
    parquet.write_table(pyarrow.Table.from_pylist(records), file.buffer)  # type: ignore[attr-defined]


_WRITERS: Mapping[str, Callable[[IO[str], Iterable[Answer]], None]] = {
    ".csv": _write_csv,
    ".jsonl": _write_json_lines,
    ".parquet": _write_parquet,
}
_ENDINGS = ", ".join(_WRITERS)
