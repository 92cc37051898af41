"""A file becomes records, each with its place. What a file is, its first bytes or its name tell: see `FORMATS`.

Records come in chunks and are streamed, so that a file need not fit into memory (JSON that is one value, and a
workbook, are loaded whole). What is wrong is an `InputError` that says in which file and where.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, Any, NamedTuple

from anls_metric.reading.containers import records_of
from anls_metric.reading.rows import InputError

# How many records are read at a time. What is done to a chunk is done to whole columns.
CHUNK = 1024

# A JSON file is often one line, which is read faster where it fits into the buffer; larger ones may be streams.
_SMALL = 1 << 22

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
        path: a file, "-" for standard input, or files whose records are one set: a folder of them, or a pattern
            like ``shards/*.jsonl``.
        columns: the fields that are wanted, None for all. Only Parquet and Arrow files are spared the others; columns
            of images are left out in any case.
        most_bytes: how much a packed file may hold once it is unpacked; None for any amount.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        self.path = path
        self.columns = columns
        self.most_bytes = most_bytes
        self.name = "standard input" if path == "-" else path
        self.unless_bytes: Sequence[str] = ()
        self.fields: list[str] = []  # all that there are, where `columns` leaves some out
        self._peeked: Chunk | None = None
        self._chunks: Iterator[Chunk] | None = None
        self._held: bytes | None = None  # what came from standard input and is read again

    def error(self, found: str, place: str = "", remedy: str = "") -> InputError:
        """An error that says where."""
        return InputError(found, self.name + (place and f", {place}"), remedy)

    def error_without_field(self, record: Mapping[str, Any], field: str, place: str, remedy: str = "") -> InputError:
        """The error of a record that has no such field: it says which ones it has."""
        found = some(map(repr, self.fields or record)) or "none"
        return self.error(f"there is no field {field!r} (found {found})", place, remedy)

    def chunks(self) -> Iterator[Chunk]:
        """The records, in the order of the file.

        Raises:
            InputError: what is wrong and where. OSError: the file cannot be read.
        """
        if self._chunks is None:
            yield from self._checked_chunks()
            return
        chunks, self._chunks = self._chunks, None
        if self._peeked is not None:
            yield self._peeked
            self._peeked = None
        yield from chunks

    def first(self) -> dict[str, Any]:
        """The first record, which `chunks` gives as well; an empty one where there is none."""
        if self._chunks is None:
            self._chunks = self._checked_chunks()
            self._peeked = next(self._chunks, None)
        return self._peeked.records[0] if self._peeked else {}

    def only(self, columns: Sequence[str], unless_bytes: Sequence[str] = ()) -> None:
        """Leave out all other columns from now on, where the format can; some also if they hold bytes, as images do."""
        if self.fields:
            self.columns, self.unless_bytes = columns, unless_bytes
            self._chunks = self._peeked = None

    def _checked_chunks(self) -> Iterator[Chunk]:
        for chunk in self._read():
            if set(map(type, chunk.records)) - {dict}:
                number, record = next((n, one) for n, one in enumerate(chunk.records) if not isinstance(one, dict))
                raise self.error(f"expected an object with fields, found {kind(record)}", chunk.place(number))
            yield chunk

    def _read(self) -> Iterator[Chunk]:
        parts = shards(self.path)
        if parts is not None:
            for part in parts:
                shard = Records(part, self.columns, self.most_bytes)
                for chunk in shard._checked_chunks():
                    self.fields = shard.fields
                    yield chunk._replace(unit=f"{os.path.basename(part)}, {chunk.unit}")
            return
        with self._opened() as stream:
            form = self._format(stream)
            yield from form.read(self, stream)

    def _format(self, stream: Any) -> Format:
        head = stream.peek(16)
        ending = os.path.splitext(self.path)[1].lower()
        return next(
            form for form in FORMATS if (head.startswith(form.begins) if form.begins else ending in form.endings)
        )

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader]:
        """The file, which must be the same when all of it is read."""
        if self.path == "-":
            stream: Any = sys.stdin.buffer if self._held is None else io.BytesIO(self._held)
            yield stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
            return
        size = os.path.getsize(self.path)
        with open(self.path, "rb", size + 1 if _SMALL > size >= io.DEFAULT_BUFFER_SIZE else -1) as stream:
            before = os.fstat(stream.fileno())
            yield stream
            after = os.fstat(stream.fileno())
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise self.error("the file changed while it was read", remedy="score it again when it is written")

    def hold(self, stream: IO[bytes]) -> IO[bytes]:
        """The stream as one that can be read from any place: standard input is held in memory."""
        if self.path != "-":
            return stream
        if self._held is None:
            self._held = stream.read()
        return io.BytesIO(self._held)

    def text(self, content: bytes, first_line: int = 1) -> str:
        """Bytes of the file as text."""
        try:
            return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            number = first_line + content.count(b"\n", 0, error.start)
            found = f"byte {content[error.start]:#04x} is not UTF-8"
            raise self.error(found, f"line {number}", remedy="save the file as UTF-8") from None


_SHARDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".json")


def shards(path: str) -> list[str] | None:
    """The files whose records are one set, where a path is a folder or a pattern; None where it is one file.

    Raises:
        InputError: a folder in which there are none, or files of several kinds.
    """
    if not os.path.isdir(path) and not any(sign in path for sign in "*?["):
        return None
    import glob

    if os.path.isdir(path):
        folder = glob.escape(path)
        if os.path.exists(os.path.join(path, "dataset_dict.json")):
            splits = sorted(name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name)))
            raise InputError("a data set of several splits", path, f"name the folder of one of them: {some(splits)}")
        if os.path.exists(os.path.join(path, "state.json")):  # of datasets.save_to_disk
            return sorted(glob.glob(os.path.join(folder, "*.arrow")))
        files = sorted(glob.glob(os.path.join(folder, "*")), key=natural)
    elif not os.path.exists(path):
        files = sorted(glob.glob(path), key=natural)
    else:
        return None
    endings = {os.path.splitext(name.removesuffix(".gz"))[1].lower() for name in files if os.path.isfile(name)}
    if len(endings & set(_SHARDS)) != 1:
        there = some(os.path.basename(name) for name in files) or "nothing"
        found = f"a folder or pattern of no parts of one file (found {there})"
        raise InputError(found, path, "name the file, or a pattern of its parts")
    return [name for name in files if os.path.splitext(name.removesuffix(".gz"))[1].lower() in _SHARDS]


def natural(name: str) -> list[tuple[bool, int, str]]:
    """A key that sorts "part 2" before "part 10"."""
    parts = re.split(r"(\d{1,300})", name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts if part]


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


def chunked(numbered: Iterable[tuple[int, Any]], unit: str) -> Iterator[Chunk]:
    """Records with their numbers, so many at a time."""
    numbered = iter(numbered)
    while part := list(islice(numbered, CHUNK)):
        places, records = zip(*part)
        yield Chunk(list(records), places, unit)


# Text: CSV (which is in delimited.py), or JSON: lines that each hold a record, or one value for the whole file

_JSON_LINES = (".jsonl", ".ndjson")
_JSON = (".json", *_JSON_LINES)
_DELIMITED = (".csv", ".tsv")


def _read_text(file: Records, stream: Iterable[bytes]) -> Iterator[Chunk]:
    lines = iter(stream)
    head = list(_until_text(lines))
    begins = (head[-1][:100].lstrip(_BLANK) or head[-1].lstrip(_BLANK))[:1] if head else b""
    if not begins:
        raise file.error("the file is empty")
    ending = os.path.splitext(file.path)[1].lower()
    is_json = ending in _JSON or (begins in (b"[", b"{") and ending not in _DELIMITED)
    if is_json:
        yield from _read_json(file, head, lines)
    else:
        from anls_metric.reading.delimited import read_csv

        yield from read_csv(file, head, lines)


def _read_json(file: Records, head: list[bytes], lines: Iterator[bytes]) -> Iterator[Chunk]:
    first = len(head)
    text = file.text(head.pop() if first == 1 else b"".join(head))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # no line that stands for itself
        value = _values(file, text + file.text(b"".join(lines), first + 1))
    else:
        after = list(_until_text(lines))
        more = bool(after) and not after[-1].isspace()
        if isinstance(value, dict) and (more or os.path.splitext(file.path)[1].lower() in _JSON_LINES):
            yield Chunk([value], [first], "line")
            yield from chunked(_json_lines(file, chain(after, lines), first + 1), "line")
            return
        if more:
            value = _values(file, text + file.text(b"".join(chain(after, lines)), first + 1))
    del text
    yield from _listed(file, value)


def _until_text(lines: Iterator[bytes]) -> Iterator[bytes]:
    """The lines up to the first that is not blank."""
    for line in lines:
        yield line
        if line[:100].strip(_BLANK) or line.strip(_BLANK):  # a line may be the whole file
            return


def _json_lines(file: Records, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, first):
        text = file.text(line, number)
        if not text.isspace():
            yield number, _json(file, text.rstrip(), number)


def _json(file: Records, text: str, first_line: int = 1) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {first_line + error.lineno - 1}, column {error.colno}"
        raise file.error(f"not JSON: {error.msg}", place) from None
    except RecursionError:
        raise file.error("not a list of records: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise file.error(f"not JSON that can be read: {error}") from None


def _values(file: Records, text: str) -> Any:
    """The one value of a text, or the objects that stand in it one after the other."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data" or text.lstrip()[:1] != "{":
            return _json(file, text)
    except (ValueError, RecursionError):
        return _json(file, text)
    decoder, values, end = json.JSONDecoder(), [], 0
    while text[end:].strip():
        start = len(text) - len(text[end:].lstrip())
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            return _json(file, text[start:], text.count("\n", 0, start) + 1)
        values.append(value)
    return values


def _listed(file: Records, value: Any) -> Iterator[Chunk]:
    records = records_of(value)
    if records is None:
        fields = f" with the fields {some(map(repr, value))}" if isinstance(value, dict) else ""
        raise file.error(f"expected a list of records, plain or under 'data', found {kind(value)}{fields}")
    del value
    for start in range(0, len(records), CHUNK):
        part = records[start : start + CHUNK]
        yield Chunk(part, range(start + 1, start + 1 + len(part)), "record")


# What is packed


class _Unpacked(io.RawIOBase):
    """A stream that refuses to grow beyond a limit."""

    def __init__(self, file: Records, stream: IO[bytes]) -> None:
        self._file, self._stream, self._count = file, stream, 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        try:
            read = self._stream.read(len(buffer))
        except (OSError, EOFError, ValueError) as error:
            raise self._file.error(f"it cannot be unpacked: {error}") from None
        self._count += len(read)
        most = self._file.most_bytes
        if most is not None and self._count > most:
            raise self._file.error(f"it holds more than {most >> 20} MB once unpacked")
        buffer[: len(read)] = read
        return len(read)


def _unpacked(module: str) -> Callable[[Records, IO[bytes]], Iterator[Chunk]]:
    """The reader of a file that a module of the standard library unpacks."""

    def read(file: Records, stream: IO[bytes]) -> Iterator[Chunk]:
        import importlib

        unpacked = importlib.import_module(module).open(stream, "rb")
        inner = io.BufferedReader(_Unpacked(file, unpacked))
        named = Records(os.path.splitext(file.path)[0], file.columns, file.most_bytes)
        named.name = file.name
        form = named._format(inner)
        yield from form.read(named, inner)

    return read


def _read_utf_16(file: Records, stream: IO[bytes]) -> Iterator[Chunk]:
    """UTF-16 becomes UTF-8 on the way."""
    texts = io.TextIOWrapper(stream, "utf-16", newline="\n")
    try:
        yield from _read_text(file, (line.encode() for line in texts))
    except UnicodeError as error:
        raise file.error(f"not UTF-16: {error}", remedy="save the file as UTF-8") from None
    finally:
        texts.detach()  # it would close the file


def _outside(name: str) -> Callable[[Records, IO[bytes]], Iterator[Chunk]]:
    """A reader of `formats`, which is imported when it is needed."""

    def read(file: Records, stream: IO[bytes]) -> Iterator[Chunk]:
        from anls_metric.reading import formats

        chunks: Iterator[Chunk] = getattr(formats, name)(file, stream)
        return chunks

    return read


def _refused(what: str, remedy: str) -> Callable[[Records, IO[bytes]], Iterator[Chunk]]:
    def read(file: Records, stream: IO[bytes]) -> Iterator[Chunk]:
        raise file.error(what, remedy=remedy)

    return read


class Format(NamedTuple):
    """What a file is.

    Attributes:
        name: what it is called.
        read: makes chunks of it, or says why not.
        begins: the first bytes of such a file: they tell it whatever its name.
        endings: of the names of such files, where the bytes do not tell.
    """

    name: str
    read: Callable[[Records, IO[bytes]], Iterator[Chunk]]
    begins: tuple[bytes, ...] = ()
    endings: tuple[str, ...] = ()


_AS_TEXT = "save it as CSV, JSON lines or Parquet"
FORMATS = (
    Format("Parquet", _outside("read_parquet"), (b"PAR1",)),
    Format("Arrow", _outside("read_arrow"), (b"ARROW1", b"\xff\xff\xff\xff")),
    Format("gzip", _unpacked("gzip"), (b"\x1f\x8b",)),
    Format("bzip2", _unpacked("bz2"), (b"BZh",)),
    Format("xz", _unpacked("lzma"), (b"\xfd7zXZ\x00",)),
    Format("zip", _outside("read_zip"), (b"PK\x03\x04", b"PK\x05\x06")),
    Format("an old Excel workbook", _outside("read_excel"), (b"\xd0\xcf\x11\xe0",)),
    Format("UTF-16", _read_utf_16, (b"\xff\xfe", b"\xfe\xff")),
    Format("Zstandard", _refused("a Zstandard file", "unpack it first"), (b"\x28\xb5\x2f\xfd",)),
    Format(
        "pickle",
        _refused("a pickle, which could run any program when it is read", _AS_TEXT),
        tuple(b"\x80" + bytes([version]) for version in range(2, 6)),
    ),
    Format("PDF", _refused("a PDF document", _AS_TEXT), (b"%PDF",)),
    Format("SQLite", _refused("an SQLite database", _AS_TEXT), (b"SQLite format 3",)),
    Format("HTML", _refused("a web page", _AS_TEXT), (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML")),
    Format("image", _refused("an image", _AS_TEXT), (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
    Format("Parquet", _outside("read_parquet"), endings=(".parquet", ".pq")),
    Format("Arrow", _outside("read_arrow"), endings=(".arrow",)),
    Format("Excel", _refused("not an Excel workbook", "save it again"), endings=(".xlsx", ".xls", ".xlsm")),
    Format("inspect_ai log", _refused("not an inspect_ai log", "name a .eval file"), endings=(".eval",)),
    Format("pickle", _refused("a pickle, which is never read", _AS_TEXT), endings=(".pkl", ".pickle")),
    Format("text", _read_text, begins=(b"",)),
)
