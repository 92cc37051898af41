"""Gold and submission files of the Robust Reading Competition: read, check, join.

A gold file holds the accepted answers of each question, a submission file one answer a question. Either may be
RRC JSON (a list of records, plain or under "data"), JSON lines, CSV, or Parquet where pyarrow is installed. One
table that holds both sides is read as well. Records are streamed, so that a file need not fit into memory (RRC
JSON is one value and is loaded whole).

Source: the formats of https://rrc.cvc.uab.es/?ch=17&com=tasks.
"""

from __future__ import annotations

import json
import os
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from anls import as_references, as_text

ID_FIELDS = ("questionId", "question_id", "id")
ANSWER_FIELD = "answer"
REFERENCES_FIELD = "answers"

_JSON = (".json", ".jsonl", ".ndjson")
_BLANK = b" \t\r\n\xef\xbb\xbf"  # white space, and the mark that some programs put before UTF-8


class Question(NamedTuple):
    """One question with all that its score needs.

    ``prediction`` is None where the submission has no answer to it; ``record`` is the record of the gold file
    or table that it came from.
    """

    id: str
    prediction: str | None
    references: Sequence[str]
    record: Mapping[str, Any]


class Records:
    """The records of a file, one after the other, and a name for the place where the reading stands.

    Args:
        path: a file, or "-" for standard input. Its ending tells the format (.csv, .tsv, .parquet, .json,
            .jsonl, .ndjson), else its first character does.
        columns: the fields that are wanted, None for all. Only a Parquet file is spared the others.
        most_bytes: how much a Parquet file may hold once it is no longer compressed; None for any amount.

    Raises:
        ValueError: while iterating: what is wrong, in which file and where. OSError: it cannot be read.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        self.path = path
        self.columns = columns
        self.most_bytes = most_bytes
        self.name = "standard input" if path == "-" else path
        self.place = ""
        self._fields: list[str] = []  # all that there are, where `columns` leaves some out
        self._position: Callable[[], float | None] = lambda: None

    @property
    def fraction(self) -> float | None:
        """How much of the file is read, from 0 to 1; None where nobody knows its size."""
        return self._position()

    def fail(self, message: str) -> NoReturn:
        """Raise a ValueError that says where."""
        raise ValueError(f"{self.name}{self.place and ', ' + self.place}: {message}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for record in self._read():
            if not isinstance(record, dict):
                self.fail(f"expected an object with fields, found {_kind(record)}")
            yield record

    def field(self, record: Mapping[str, Any], name: str, hint: str = "") -> Any:
        """A field of the current record."""
        if name not in record:
            self.fail(f"there is no field {name!r} (found {_some(map(repr, self._fields or record)) or 'none'}){hint}")
        return record[name]

    def id(self, record: Mapping[str, Any], name: str | None = None) -> str:
        """The id of the current record, as text, so that 7 in one file is "7" in the other."""
        if name is None:
            name = next((field for field in ID_FIELDS if field in record), ID_FIELDS[0])
        value = self.field(record, name)
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            self.fail(f"{name} is {value!r} ({_kind(value)}): an id must be a text or a whole number")
        return str(value)

    def _read(self) -> Iterator[Any]:
        ending = Path(self.path).suffix.lower()
        if ending in (".parquet", ".pq"):
            yield from self._read_parquet()
            return
        with sys.stdin.buffer if self.path == "-" else open(self.path, "rb") as stream:
            size = 0 if self.path == "-" else os.fstat(stream.fileno()).st_size
            self._position = lambda: stream.tell() / size if size and not stream.closed else None
            head = []
            for line in stream:
                head.append(line)
                if line.strip(_BLANK):
                    break
            else:
                self.fail("the file is empty")
            lines = self._decoded(chain(head, stream))
            delimiter = {".csv": ",", ".tsv": "\t"}.get(ending)
            if delimiter is None and (ending in _JSON or head[-1].lstrip(_BLANK)[:1] in b"[{"):
                yield from self._read_json(lines, len(head))
            else:
                yield from self._read_csv(lines, delimiter or ",")

    def _decoded(self, lines: Iterable[bytes]) -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                self.place = f"line {number}"
                self.fail(f"byte {line[error.start]:#04x} is not UTF-8: save the file as UTF-8")

    def _read_json(self, lines: Iterator[str], head: int) -> Iterator[Any]:
        text = "".join(islice(lines, head))
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # no line that stands for itself: the file is one value
            yield from self._list(self._json(text + "".join(lines)))
            return
        if not isinstance(value, dict) or _is_wrapper(value):
            rest = "".join(lines)
            yield from self._list(self._json(text + rest) if rest.strip() else value)
            return
        self.place = f"line {head}"
        yield value
        for number, text in enumerate(lines, head + 1):
            self.place = f"line {number}"
            if not text.isspace():
                yield self._json(text.rstrip(), number)
        self.place = ""

    def _json(self, text: str, number: int = 1) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            self.place = f"line {number + error.lineno - 1}, column {error.colno}"
            self.fail(f"not JSON: {error.msg}")
        except RecursionError:
            self.fail("not a list of records: it is nested too deeply")
        except ValueError as error:  # a number of thousands of digits
            self.fail(f"not JSON that can be read: {error}")

    def _list(self, value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and "data" in value:
            value = value["data"]
        if not isinstance(value, list):
            self.fail(
                f"expected a list of records, plain or under 'data', found {_kind(value)}"
                + (f" with the fields {_some(map(repr, value))}" if isinstance(value, dict) else "")
            )
        for number, record in enumerate(value, 1):
            self.place = f"record {number}"
            yield record
        self.place = ""

    def _read_csv(self, lines: Iterator[str], delimiter: str) -> Iterator[Any]:
        import csv

        csv.field_size_limit(2**31 - 1)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            header = next(filter(any, reader), [])
            if len(set(header)) < len(header):
                self.fail(f"two columns have the same name: {', '.join(header)}")
            for values in reader:
                self.place = f"line {reader.line_num}"
                if len(values) == len(header):
                    yield dict(zip(header, values))
                elif values:
                    self.fail(f"{len(values)} values for the {len(header)} columns {', '.join(header)}")
        except csv.Error as error:
            self.place = f"line {reader.line_num}"
            ends = "lines end with a carriage return alone: save it with the line ends of Unix or Windows"
            self.fail(ends if "new-line" in str(error) else f"not CSV: {error}")
        self.place = ""

    def _read_parquet(self) -> Iterator[Any]:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            self.fail("reading Parquet needs pyarrow: pip install pyarrow")
        with open(self.path, "rb") as stream:
            try:
                file = parquet.ParquetFile(stream)
                self._fields = file.schema_arrow.names
                columns = None if self.columns is None else [name for name in self._fields if name in self.columns]
                number, rows = 0, file.metadata.num_rows
                self._position = lambda: number / rows if rows else None
                for batch in file.iter_batches(batch_size=self._parquet_batch(file.metadata), columns=columns):
                    for record in batch.to_pylist():
                        number += 1
                        self.place = f"row {number}"
                        yield record
            except (pyarrow.ArrowException, OSError) as error:
                self.fail(f"not Parquet: {error}")
            except (LookupError, OverflowError) as error:  # a date or a time zone that Python does not have
                self.fail(f"a value that cannot be read: {error}")
        self.place = ""

    def _parquet_batch(self, metadata: Any) -> int:
        """How many rows to read at a time. A value is written once, however many rows have it."""
        if self.most_bytes is None:
            return 1024
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        sizes = [group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns)]
        if sum(sizes) > self.most_bytes:
            self.fail(f"it holds {sum(sizes) >> 20} MB once unpacked, more than {self.most_bytes >> 20}")
        return int(max(1, min(1024, self.most_bytes // max([*sizes, 1]))))


def _is_wrapper(value: Mapping[str, Any]) -> bool:
    records = value.get("data")
    return isinstance(records, list) and all(isinstance(record, dict) for record in records)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else type(value).__name__)


def parse_references(value: Any, what: str) -> Sequence[str]:
    """The accepted answers that a field of a file holds: a list, a text, or a list written as a text.

    Args:
        value: the field. ``'["a", "b"]'`` and ``"['a', 'b']"`` are lists of two, as CSV files hold them; any
            other text is one accepted answer, as it is.
        what: what to call it in an error.

    Returns:
        One string or more.

    Raises:
        ValueError: no answers, an answer that is not a string, or the printed form of a list that holds something
            else, or of a numpy array, whose items cannot be told apart.

    Example:
        >>> parse_references('["Coca Cola", "Coca Cola Company"]', "answers")
        ('Coca Cola', 'Coca Cola Company')
        >>> parse_references("[1, 2]", "answers")
        ('[1, 2]',)
    """
    text = value.strip() if isinstance(value, str) else ""
    if text.startswith(("[", "(", "array(")):
        written = _written_list(text, what)
        value = value if written is None else written
    return as_references(value, what)


def _written_list(text: str, what: str) -> list[str] | None:
    """The list of strings that a text is the written form of, if it is one."""
    import ast
    import io
    import tokenize

    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        try:
            items = ast.literal_eval(text)
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            items = None
        else:
            if isinstance(items, (list, tuple)) and sum(token.type == tokenize.STRING for token in tokens) > len(items):
                items = None  # without commas, as numpy prints them, Python takes neighbouring texts for one
    if items == [] or (isinstance(items, (list, tuple)) and items and all(isinstance(item, str) for item in items)):
        return list(items)
    some = isinstance(items, (list, tuple)) and any(isinstance(item, str) for item in items)
    if some or text.startswith("array([") or (items is None and text[:2] in ("['", '["') and text.endswith("]")):
        raise ValueError(
            f"{what} is {text!r}, the printed form of something that is no list of strings: write it as JSON, "
            'like ["first answer", "second answer"]'
        )
    return None


class _Ids:
    """Which ids came already, in 8 bytes each: their hashes, spread over small arrays."""

    def __init__(self) -> None:
        self._hashes = [array("q") for _ in range(256)]

    def add(self, question_id: str) -> None:
        value = hash(question_id)
        self._hashes[value & 255].append(value)

    def others(self, ids: Iterable[str]) -> list[str]:
        """Those ids that did not come."""
        known = set(chain.from_iterable(self._hashes))
        return [question_id for question_id in ids if hash(question_id) not in known]

    def repeated(self) -> set[int]:
        """The hashes that came more than once."""
        crowded = (hashes for hashes in self._hashes if len(set(hashes)) < len(hashes))
        return {value for hashes in crowded for value, count in Counter(hashes).items() if count > 1}


def _refuse_repeated(records: Records, ids: _Ids, id_field: str | None = None) -> None:
    repeated = ids.repeated()
    if repeated:
        first = ""
        if Path(records.path).is_file():  # no pipe: it can be read once more
            again = Records(records.path, records.columns)
            found = (again.id(record, id_field) for record in again)
            first = next((f" (first: {question_id})" for question_id in found if hash(question_id) in repeated), "")
        records.fail(f"{_number(len(repeated), 'id')} repeated{first}: keep one record of each")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def read_questions(gold: str | Records, submission: str | Records, missing: str = "error") -> Iterator[Question]:
    """The questions of a gold file, in its order, each with the answer of a submission file.

    They are joined by id. Where both files are JSON lines, CSV or Parquet and come in the same order, memory
    stays small however long they are, but for 8 bytes an id; answers that come earlier than their question are
    kept until it comes.

    Args:
        gold: a file of records with an id and "answers", or "-" for standard input, or its `Records`.
        submission: a file of records with an id and "answer", likewise.
        missing: "error", or "zero" to give questions that have no answer with None as prediction.

    Yields:
        Each `Question`. What is wrong with the whole is raised at the end: take no result before it.

    Raises:
        ValueError: what is wrong, in which file, at which id or line: ids that come twice, that are missing, that
            the other file does not have; a question without accepted answers; an answer that is not a string;
            a file that is not what its name says. OSError: a file that cannot be read.
    """
    gold = _records(gold)
    submission = _records(submission, [*ID_FIELDS, ANSWER_FIELD])
    if gold.path == submission.path == "-":
        raise ValueError("gold labels and submission cannot both come from standard input: name one of the files")
    answers = _answers(submission)
    early: dict[str, str] = {}
    asked = _Ids()
    unanswered: list[str] = []
    answered_any = False
    for record in gold:
        question_id = gold.id(record)
        hint = "; the test splits have none, the competition's site scores them"
        references = gold.field(record, REFERENCES_FIELD, hint)
        references = parse_references(references, f"{gold.name}, question {question_id}: {REFERENCES_FIELD}")
        asked.add(question_id)
        prediction = early.pop(question_id, None)
        if prediction is None:
            for answered, answer in answers:
                if answered == question_id:
                    prediction = answer
                    break
                if answered in early:
                    submission.fail(f"question {answered} is answered more than once: keep one answer")
                early[answered] = answer
            else:
                unanswered.append(question_id)
        answered_any = answered_any or prediction is not None
        yield Question(question_id, prediction, references, record)
    gold.place = submission.place = ""
    _refuse_repeated(gold, asked)
    for answered, answer in answers:
        early[answered] = answer
    submission.place = ""
    surplus = asked.others(early) if early else []
    if surplus and unanswered and not answered_any:
        submission.fail(
            f"none of its ids ({_some(surplus)}) is one of those of {gold.name} ({_some(unanswered)}): "
            "write the same ids in both"
        )
    if surplus:
        submission.fail(
            f"{_number(len(surplus), 'answer')} to questions that {gold.name} does not have "
            f"({_some(surplus)}): leave them out"
        )
    if early:
        submission.fail(f"{_number(len(early), 'question')} answered more than once ({_some(early)}): keep one answer")
    if unanswered and missing != "zero":
        submission.fail(
            f"no answer to {len(unanswered)} of the questions of {gold.name} ({_some(unanswered)}): "
            "add them, or count them as 0 with --missing zero"
        )


def _records(file: str | Records, columns: Sequence[str] | None = None) -> Records:
    return Records(file, columns) if isinstance(file, str) else file


def _answers(submission: Records) -> Iterator[tuple[str, str]]:
    for record in submission:
        question_id = submission.id(record)
        answer = submission.field(record, ANSWER_FIELD)
        yield question_id, as_text(answer, f"{submission.name}, question {question_id}: {ANSWER_FIELD}")


def _some(names: Iterable[str]) -> str:
    """A few of many names."""
    names = list(names)
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def read_table(
    table: str | Records,
    prediction_field: str = "prediction",
    references_field: str = "references",
    id_field: str | None = None,
) -> Iterator[Question]:
    """The questions of one table that holds predictions and accepted answers.

    Args:
        table: JSON lines, CSV, JSON or Parquet, or "-" for standard input, or its `Records`.
        prediction_field: where a record has the prediction.
        references_field: where it has the accepted answers: a list, a text, or a list written as a text.
        id_field: where it has its id; None numbers the records from 1.

    Yields:
        Each `Question`, streamed. What is wrong with the whole is raised at the end.

    Raises:
        ValueError: what is wrong and where. OSError: the file cannot be read.
    """
    table = _records(table)
    ids = _Ids()
    for number, record in enumerate(table, 1):
        prediction = as_text(
            table.field(record, prediction_field, "; name the right one with --prediction-field"),
            f"{table.name}, {table.place}: {prediction_field}",
        )
        references = parse_references(
            table.field(record, references_field, "; name the right one with --references-field"),
            f"{table.name}, {table.place}: {references_field}",
        )
        question_id = table.id(record, id_field) if id_field else str(number)
        if id_field:
            ids.add(question_id)
        yield Question(question_id, prediction, references, record)
    _refuse_repeated(table, ids, id_field)
