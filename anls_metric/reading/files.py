"""A file becomes records, each with its place: RRC JSON, JSON lines, CSV, and Parquet where pyarrow is installed.

Records come in chunks and are streamed, so that a file need not fit into memory (JSON that is one value is loaded
whole). What is wrong is an `InputError` that says in which file and where.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, Any, NamedTuple

from anls_metric.reading.rows import InputError

# How many records are read at a time. What is done to a chunk is done to whole columns.
CHUNK = 1024

_JSON = (".json", ".jsonl", ".ndjson")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_PARQUET = (".parquet", ".pq")
_BLANK = b" \t\r\n\xef\xbb\xbf"  # white space, and the mark that some programs put before UTF-8


class Chunk(NamedTuple):
    """Some records of a file, one after the other.

    Attributes:
        records: objects with fields.
        places: the number of each in the file, counted from 1.
        unit: what is counted: "line", "record" or "row".
    """

    records: list[dict[str, Any]]
    places: Sequence[int]
    unit: str

    def place(self, number: int) -> str:
        """Where in the file a record of the chunk stands."""
        return f"{self.unit} {self.places[number]}"


class Records:
    """The records of a file.

    Args:
        path: a file, or "-" for standard input. Its ending tells the format (.csv, .tsv, .parquet, .json,
            .jsonl, .ndjson), else its first character does.
        columns: the fields that are wanted, None for all. Only a Parquet file is spared the others.
        most_bytes: how much a Parquet file may hold once it is no longer compressed; None for any amount.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        self.path = path
        self.columns = columns
        self.most_bytes = most_bytes
        self.name = "standard input" if path == "-" else path
        self._fields: list[str] = []  # all that there are, where `columns` leaves some out

    def error(self, found: str, place: str = "", remedy: str = "") -> InputError:
        """An error that says where."""
        return InputError(found, self.name + (place and f", {place}"), remedy)

    def chunks(self) -> Iterator[Chunk]:
        """The records, in the order of the file.

        Raises:
            InputError: what is wrong and where. OSError: the file cannot be read.
        """
        for chunk in self._read():
            if set(map(type, chunk.records)) - {dict}:
                number, record = next((n, one) for n, one in enumerate(chunk.records) if not isinstance(one, dict))
                raise self.error(f"expected an object with fields, found {kind(record)}", chunk.place(number))
            yield chunk

    def error_without_field(self, record: Mapping[str, Any], field: str, place: str, remedy: str = "") -> InputError:
        """The error of a record that has no such field: it says which ones it has."""
        found = some(map(repr, self._fields or record)) or "none"
        return self.error(f"there is no field {field!r} (found {found})", place, remedy)

    def _read(self) -> Iterator[Chunk]:
        ending = os.path.splitext(self.path)[1].lower()
        if ending in _PARQUET:
            yield from self._read_parquet()
            return
        with self._opened() as stream:
            head, first = self._head(stream)
            delimiter = _DELIMITERS.get(ending)
            if delimiter is None and (ending in _JSON or first in b"[{"):
                yield from self._read_json(stream, head)
            else:
                yield from self._read_csv(self._decoded(chain(head, stream)), delimiter or ",")

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        """The file, which must be the same when all of it is read."""
        with sys.stdin.buffer if self.path == "-" else open(self.path, "rb") as stream:
            before = os.fstat(stream.fileno()) if self.path != "-" else None
            yield stream
            after = os.fstat(stream.fileno()) if before else None
            if before and after and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise self.error("the file changed while it was read", remedy="score it again when it is written")

    def _head(self, stream: IO[bytes]) -> tuple[list[bytes], bytes]:
        """The lines up to the first that is not blank, and the first character of that one."""
        head = []
        for line in stream:
            head.append(line)
            begins = line[:100].lstrip(_BLANK) or line.lstrip(_BLANK)  # a line may be the whole file
            if begins:
                return head, begins[:1]
        raise self.error("the file is empty")

    def _text(self, content: bytes, first_line: int = 1) -> str:
        try:
            return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            number = first_line + content.count(b"\n", 0, error.start)
            found = f"byte {content[error.start]:#04x} is not UTF-8"
            raise self.error(found, f"line {number}", remedy="save the file as UTF-8") from None

    def _decoded(self, lines: Iterable[bytes]) -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            yield self._text(line, number)

    # JSON: lines that each hold a record, or one value for the whole file

    def _read_json(self, stream: IO[bytes], head: list[bytes]) -> Iterator[Chunk]:
        first = len(head)
        value, is_line = self._json_value(stream, head)
        if not is_line:
            yield from self._list(value)
            return
        yield Chunk([value], [first], "line")
        yield from _chunked(self._json_lines(stream, first + 1), "line")

    def _json_value(self, stream: IO[bytes], head: list[bytes]) -> tuple[Any, bool]:
        """The value of the whole file, or that of its first line where each line has one of its own."""
        first = len(head)
        text = self._text(head.pop() if first == 1 else b"".join(head))
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # no line that stands for itself: the file is one value
            return self._json(text + self._text(stream.read(), first + 1)), False
        if isinstance(value, dict) and not _is_wrapper(value):
            return value, True
        rest = self._text(stream.read(), first + 1)
        return self._json(text + rest) if rest.strip() else value, False

    def _json_lines(self, stream: IO[bytes], first: int) -> Iterator[tuple[int, Any]]:
        for number, line in enumerate(stream, first):
            text = self._text(line, number)
            if not text.isspace():
                yield number, self._json(text.rstrip(), number)

    def _json(self, text: str, first_line: int = 1) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            place = f"line {first_line + error.lineno - 1}, column {error.colno}"
            raise self.error(f"not JSON: {error.msg}", place) from None
        except RecursionError:
            raise self.error("not a list of records: it is nested too deeply") from None
        except ValueError as error:  # a number of thousands of digits
            raise self.error(f"not JSON that can be read: {error}") from None

    def _list(self, value: Any) -> Iterator[Chunk]:
        if isinstance(value, dict) and "data" in value:
            value = value["data"]
        if not isinstance(value, list):
            fields = f" with the fields {some(map(repr, value))}" if isinstance(value, dict) else ""
            raise self.error(f"expected a list of records, plain or under 'data', found {kind(value)}{fields}")
        for start in range(0, len(value), CHUNK):
            records = value[start : start + CHUNK]
            yield Chunk(records, range(start + 1, start + 1 + len(records)), "record")

    # CSV

    def _read_csv(self, lines: Iterator[str], delimiter: str) -> Iterator[Chunk]:
        import csv

        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        header: list[str] = []

        def records() -> Iterator[tuple[int, Any]]:
            for values in reader:
                if len(values) == len(header):
                    yield reader.line_num, dict(zip(header, values))
                elif values:
                    found = f"{len(values)} values for the {len(header)} columns {', '.join(header)}"
                    raise self.error(found, f"line {reader.line_num}")

        chunks = _chunked(records(), "line")
        try:
            with _cells_of_any_size():
                header += next(filter(any, reader), [])
            if len(set(header)) < len(header):
                raise self.error(f"two columns have the same name: {', '.join(header)}")
            while True:
                with _cells_of_any_size():
                    chunk = next(chunks, None)
                if chunk is None:
                    return
                yield chunk
        except csv.Error as error:
            ends = "lines end with a carriage return alone: save it with the line ends of Unix or Windows"
            found = ends if "new-line" in str(error) else f"not CSV: {error}"
            raise self.error(found, f"line {reader.line_num}") from None

    # Parquet

    def _read_parquet(self) -> Iterator[Chunk]:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            raise self.error("reading Parquet needs pyarrow", remedy="pip install pyarrow") from None
        with self._opened() as stream:
            try:
                file = parquet.ParquetFile(stream)
                self._fields = file.schema_arrow.names
                repeated = [name for name, count in Counter(self._fields).items() if count > 1]
                if repeated:
                    raise self.error(f"two columns have the same name: {', '.join(repeated)}")
                columns = None if self.columns is None else [name for name in self._fields if name in self.columns]
                read = 0
                for batch in file.iter_batches(batch_size=self._parquet_batch(file.metadata), columns=columns):
                    if records := self._parquet_records(batch, read):
                        yield Chunk(records, range(read + 1, read + 1 + len(records)), "row")
                        read += len(records)
            except (pyarrow.ArrowException, OSError) as error:
                raise self.error(f"not Parquet: {error}") from None

    def _parquet_records(self, batch: Any, before: int) -> list[dict[str, Any]]:
        unreadable = (UnicodeDecodeError, LookupError, OverflowError)  # also a date that Python does not have
        try:
            records: list[dict[str, Any]] = batch.to_pylist()
        except unreadable:
            for number in range(batch.num_rows):
                try:
                    batch.slice(number, 1).to_pylist()
                except unreadable as error:
                    raise self.error(f"a value that cannot be read: {error}", f"row {before + number + 1}") from None
            raise
        return records

    def _parquet_batch(self, metadata: Any) -> int:
        """How many rows to read at a time. A value is written once, however many rows have it."""
        if self.most_bytes is None:
            return CHUNK
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        sizes = [group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns)]
        if sum(sizes) > self.most_bytes:
            raise self.error(f"it holds {sum(sizes) >> 20} MB once unpacked, more than {self.most_bytes >> 20}")
        return int(max(1, min(CHUNK, self.most_bytes // max([*sizes, 1]))))


def _chunked(numbered: Iterator[tuple[int, Any]], unit: str) -> Iterator[Chunk]:
    while some := list(islice(numbered, CHUNK)):
        places, records = zip(*some)
        yield Chunk(list(records), places, unit)


_csv_limit = threading.Lock()


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """The limit of a cell belongs to the whole process: it is lifted while a chunk is read, and put back."""
    import csv

    with _csv_limit:
        before = csv.field_size_limit(2**31 - 1)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _is_wrapper(value: Mapping[str, Any]) -> bool:
    records = value.get("data")
    return isinstance(records, list) and all(isinstance(record, dict) for record in records)


_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    type(None): "nothing",
    int: "a number",
    float: "a number",
}


def kind(value: object) -> str:
    """What a value of a file is, in words."""
    return _KINDS.get(type(value), type(value).__name__)


def some(names: Iterable[str]) -> str:
    """A few of many names."""
    names = list(names)
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
