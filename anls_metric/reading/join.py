"""Records become rows: a gold file and a submission joined by id, or one table that holds both sides.

Rows come in batches, one for each chunk of records. Whether all is right is found by looking at whole columns; a record
is looked at alone only to say what is wrong with it.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from anls import as_text
from anls_metric.reading.files import Chunk, Records, kind, some
from anls_metric.reading.layouts import ANSWER_FIELD, ID_FIELDS, REFERENCES_FIELD
from anls_metric.reading.rows import InputError, Row, parse_references


def join_files(gold: str | Records, submission: str | Records, missing: str = "error") -> Iterator[list[Row]]:
    """The questions of a gold file, in its order, each with the answer of a submission file.

    They are joined by id. Where both files are JSON lines, CSV or Parquet and come in the same order, memory
    stays small however long they are, but for 8 bytes an id; answers that come earlier than their question are
    kept until it comes.

    Args:
        gold: a file of records with an id and "answers", or "-" for standard input, or its `Records`.
        submission: a file of records with an id and "answer", likewise.
        missing: "error", or "zero" to give questions that have no answer with None as prediction.

    Yields:
        Batches of `Row`. What is wrong with the whole is raised at the end: take no result before it.

    Raises:
        InputError: what is wrong, in which file, at which id or line: ids that come twice, that are missing, that
            the other file does not have; a question without accepted answers; an answer that is not a string;
            a file that is not what its name says. OSError: a file that cannot be read.
    """
    gold = _records(gold)
    submission = _records(submission, [*ID_FIELDS, ANSWER_FIELD])
    if gold.path == submission.path == "-":
        raise InputError(
            "gold labels and submission cannot both come from standard input", remedy="name one of the files"
        )
    answers = _Answers(submission)
    asked = _Ids()
    unanswered: list[str] = []
    count = 0
    for chunk in gold.chunks():
        ids = _ids(gold, chunk)
        references = _column(gold, chunk, REFERENCES_FIELD, _TEST_SPLIT)
        references = _references(references, REFERENCES_FIELD, lambda n, ids=ids: f"{gold.name}, question {ids[n]}")
        asked.add(ids)
        predictions = answers.to(ids)
        if None in predictions:
            unanswered += [question_id for question_id, answer in zip(ids, predictions) if answer is None]
        count += len(ids)
        yield make_rows(ids, predictions, references, chunk.records)
    _refuse_repeated(gold, asked)
    early = answers.rest()
    surplus = asked.others(early) if early else []
    if surplus and count and len(unanswered) == count:
        raise submission.error(
            f"none of its ids ({some(surplus)}) is one of those of {gold.name} ({some(unanswered)})",
            remedy="write the same ids in both",
        )
    if surplus:
        raise submission.error(
            f"{_number(len(surplus), 'answer')} to questions that {gold.name} does not have ({some(surplus)})",
            remedy="leave them out",
        )
    if early:
        raise submission.error(
            f"{_number(len(early), 'question')} answered more than once ({some(early)})", remedy="keep one answer"
        )
    if unanswered and missing != "zero":
        raise submission.error(
            f"no answer to {len(unanswered)} of the questions of {gold.name} ({some(unanswered)})", remedy="missing"
        )


_TEST_SPLIT = "the test splits have none, the competition's site scores them"


def read_table(
    table: str | Records,
    prediction_field: str = "prediction",
    references_field: str = "references",
    id_field: str | None = None,
) -> Iterator[list[Row]]:
    """The questions of one table that holds predictions and accepted answers.

    Args:
        table: JSON lines, CSV, JSON or Parquet, or "-" for standard input, or its `Records`.
        prediction_field: where a record has the prediction.
        references_field: where it has the accepted answers: a list, a text, or a list written as a text.
        id_field: where it has its id; None numbers the records from 1.

    Yields:
        Batches of `Row`, streamed. What is wrong with the whole is raised at the end.

    Raises:
        InputError: what is wrong and where. OSError: the file cannot be read.
    """
    table = _records(table)
    ids_before = _Ids()
    count = 0
    for chunk in table.chunks():

        def where(number: int, chunk: Chunk = chunk) -> str:
            return f"{table.name}, {chunk.place(number)}"

        predictions = _texts(_column(table, chunk, prediction_field, "prediction field"), prediction_field, where)
        references = _column(table, chunk, references_field, "references field")
        references = _references(references, references_field, where)
        if id_field:
            ids = _ids(table, chunk, id_field)
            ids_before.add(ids)
        else:
            ids = list(map(str, range(count + 1, count + 1 + len(chunk.records))))
        count += len(ids)
        yield make_rows(ids, predictions, references, chunk.records)
    _refuse_repeated(table, ids_before, id_field)


def make_rows(
    ids: Iterable[str],
    predictions: Iterable[str | None],
    references: Iterable[Sequence[str]],
    records: Iterable[Mapping[str, Any]],
) -> list[Row]:
    """Columns as rows: `map(Row, ...)`, in a third of its time."""
    return list(map(tuple.__new__, repeat(Row), zip(ids, predictions, references, records)))


def _records(file: str | Records, columns: Sequence[str] | None = None) -> Records:
    return Records(file, columns) if isinstance(file, str) else file


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


# Columns


def _column(file: Records, chunk: Chunk, field: str, remedy: str = "") -> list[Any]:
    try:
        return [record[field] for record in chunk.records]
    except KeyError:
        number = next(number for number, record in enumerate(chunk.records) if field not in record)
        raise file.error_without_field(chunk.records[number], field, chunk.place(number), remedy) from None


def _ids(file: Records, chunk: Chunk, field: str | None = None) -> list[str]:
    """The ids of a chunk, as texts, so that 7 in one file is "7" in the other."""
    first = chunk.records[0]
    field = field or next((name for name in ID_FIELDS if name in first), ID_FIELDS[0])
    ids = _column(file, chunk, field)
    kinds = set(map(type, ids))
    if kinds - {str, int}:
        number, value = next((number, value) for number, value in enumerate(ids) if type(value) not in (str, int))
        raise file.error(
            f"{field} is {value!r} ({kind(value)})", chunk.place(number), "an id must be a text or a whole number"
        )
    return ids if kinds == {str} else list(map(str, ids))


def _texts(column: list[Any], field: str, where: Callable[[int], str]) -> list[str]:
    if set(map(type, column)) == {str}:
        return column
    return [_told(as_text, value, field, where, number) for number, value in enumerate(column)]


def _references(column: list[Any], field: str, where: Callable[[int], str]) -> list[Sequence[str]]:
    if set(map(type, column)) == {list} and all(column):
        try:
            "".join(chain.from_iterable(column))  # the fastest check that every item is a string
            return column
        except TypeError:
            pass
    return [_told(parse_references, value, field, where, number) for number, value in enumerate(column)]


def _told(read: Callable[[Any, str], Any], value: Any, field: str, where: Callable[[int], str], number: int) -> Any:
    """What is read from a value; where it cannot be, an error that says where it stands."""
    try:
        return read(value, field)
    except ValueError as error:
        raise InputError(str(error), where(number)) from None


class _Answers:
    """The answers of a submission, by id: those that came earlier than their question are kept until it comes."""

    def __init__(self, submission: Records) -> None:
        self._submission = submission
        self._chunks = submission.chunks()
        self._early: dict[str, str] = {}

    def to(self, ids: list[str]) -> list[str | None]:
        """The answers to these questions, None where there is none in the whole file."""
        early = self._early
        while not all(map(early.__contains__, ids)) and self._read():
            pass
        return list(map(early.pop, ids, repeat(None)))

    def rest(self) -> dict[str, str]:
        """The answers that nobody has asked for."""
        while self._read():
            pass
        return self._early

    def _read(self) -> bool:
        chunk = next(self._chunks, None)
        if chunk is None:
            return False
        ids = _ids(self._submission, chunk)
        answers = _column(self._submission, chunk, ANSWER_FIELD)
        answers = _texts(answers, ANSWER_FIELD, lambda n: f"{self._submission.name}, question {ids[n]}")
        before = len(self._early)
        known = self._early.keys() & set(ids) if before else set()
        self._early.update(zip(ids, answers))
        if len(self._early) != before + len(ids):
            repeated = next(iter(known), None) or Counter(ids).most_common(1)[0][0]
            raise self._submission.error(f"question {repeated} is answered more than once", remedy="keep one answer")
        return True


class _Ids:
    """Which ids came already, in 8 bytes each: their hashes."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, ids: Iterable[str]) -> None:
        self._hashes.extend(map(hash, ids))

    def others(self, ids: Iterable[str]) -> list[str]:
        """Those ids that did not come."""
        known = set(self._hashes)
        return [question_id for question_id in ids if hash(question_id) not in known]

    def repeated(self) -> set[int]:
        """The hashes that came more than once."""
        if len(self._hashes) < 1 << 20:
            parts = [self._hashes]
        else:  # a set of all of them at once would be too large
            parts = [array("q") for _ in range(256)]
            for value in self._hashes:
                parts[value & 255].append(value)
        crowded = (part for part in parts if len(set(part)) < len(part))
        return {value for part in crowded for value, count in Counter(part).items() if count > 1}


def _refuse_repeated(file: Records, ids: _Ids, id_field: str | None = None) -> None:
    repeated = ids.repeated()
    if repeated:
        first = ""
        if os.path.isfile(file.path):  # no pipe: it can be read once more
            again = Records(file.path, file.columns)
            found = chain.from_iterable(_ids(again, chunk, id_field) for chunk in again.chunks())
            first = next((f" (first: {question_id})" for question_id in found if hash(question_id) in repeated), "")
        raise file.error(f"{_number(len(repeated), 'id')} repeated{first}", remedy="keep one record of each")
