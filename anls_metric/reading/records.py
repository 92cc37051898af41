"""Reads a file as records with their places. Its first bytes, or its name, tell the format: see `FORMATS`.

Records are streamed in chunks, so that a file need not fit into memory. Workbooks, and JSON files that are one value,
are loaded whole. An `InputError` says what is wrong, in which file, and where.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import chain
from typing import IO, Any, NamedTuple, cast

from anls_metric.reading.column_records import ColumnRecords, get_column
from anls_metric.reading.containers import FILE, NAMES, VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import (
    AGAIN,
    AS_UTF_8,
    BLANK,
    Chunk,
    File,
    Growth,
    describe_kind,
    list_some,
    natural_key,
    split_into_chunks,
)
from anls_metric.reading.json_text import JSON_LINES, read_json, read_until_text


class Records(File):
    """The records of a file.

    Args:
        path: a file, "-" for standard input, or several files that are read as one: a folder, or a pattern like
            ``shards/*.jsonl``.
        columns, most_bytes: see `File`.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        super().__init__(path, columns, most_bytes)
        self._peeked: Chunk | None = None
        self._chunks: Iterator[Chunk] | None = None

    def reopen(self) -> Records | None:
        """Return the same records from the beginning; None for a pipe, which cannot be read again."""
        if self.path == "-" or (
            os.path.exists(self.path) and not os.path.isfile(self.path) and not os.path.isdir(self.path)
        ):
            return None
        again = Records(self.path, most_bytes=self.most_bytes)
        again.name = self.name
        return again

    def chunks(self) -> Iterator[Chunk]:
        """Yield the records in the order of the file.

        Raises:
            InputError: the file is not valid in its format. OSError: the file cannot be opened.
        """
        if self._chunks is None:
            yield from self._check_chunks()
            return
        chunks, self._chunks = self._chunks, None
        if self._peeked is not None:
            yield self._peeked
            self._peeked = None
        yield from chunks

    def first_records(self) -> Sequence[dict[str, Any]]:
        """The records of the first chunk, which `chunks` yields again."""
        if self._chunks is None:
            self._chunks = self._check_chunks()
            self._peeked = next(self._chunks, None)
        return self._peeked.records if self._peeked else []

    def keep_columns(self, columns: Sequence[str], unless_bytes: Sequence[str] = ()) -> None:
        """Skip all other columns from now on, if the format allows it.

        Args:
            columns: the columns to read.
            unless_bytes: more columns to read, unless they hold bytes, as images do.
        """
        if self.fields:
            self.columns, self.unless_bytes = columns, unless_bytes
            self._chunks = self._peeked = None

    def _check_chunks(self) -> Iterator[Chunk]:
        for chunk in self._read():
            kinds = {dict} if isinstance(chunk.records, ColumnRecords) else set(map(type, chunk.records))
            if kinds <= _ANSWERS:  # without fields around them
                chunk = chunk._replace(records=[{VALUE: answer} for answer in chunk.records])
            elif kinds != {dict}:
                number, record = next(item for item in enumerate(chunk.records) if not isinstance(item[1], dict))
                raise self.error(f"it is {describe_kind(record)}, not an object", chunk.place_of(number), _AS_OBJECT)
            elif (again := _find_header(chunk.records)) is not None:
                problem = f"this {chunk.unit.rpartition(' ')[2]} is the header again, as if several files were joined"
                raise self.error(problem, chunk.place_of(again), "remove it")
            yield chunk

    def _read(self) -> Iterator[Chunk]:
        parts = find_shards(self.path)
        if parts is not None:
            for part in parts:
                shard = Records(part, self.columns, self.most_bytes)
                for chunk in shard._check_chunks():
                    self.fields = shard.fields
                    yield _name_file(chunk, os.path.basename(part))
                notes = (f"{os.path.basename(part)}: {note}" for note in shard.notes)
                self.notes += (note for note in notes if note not in self.notes)
            return
        with self.open() as stream:
            yield from self.recognize_format(stream).read(self, stream)

    def recognize_format(self, stream: Any) -> Format:
        """Find the format of a stream by its first bytes, or by the name of the file."""
        head = stream.peek(16)
        return next(
            form for form in FORMATS if (head.startswith(form.begins) if form.begins else self.ending in form.endings)
        )


_ANSWERS = {str, int, float, type(None)}
_PLAIN = {*_ANSWERS, bool, list, dict}
_AS_OBJECT = 'write each record as an object, such as {"questionId": 1, "answer": "a text"}'


def _find_header(records: Sequence[dict[str, Any]]) -> int | None:
    """Find a record whose values are the names of its fields; None for none."""
    name = next(iter(records[0]), None)
    try:
        column = get_column(records, name)  # type: ignore[arg-type]
    except KeyError:
        column = [record.get(name) for record in records]  # type: ignore[arg-type]
    kinds = set(map(type, column))  # comparing arrays with a text would raise an error
    if str not in kinds or not kinds <= _PLAIN or name not in column:
        return None
    headers = (number for number, record in enumerate(records) if list(record) == list(record.values()))
    return next((number for number in headers if len(records[number]) > 1), None)


def _name_file(chunk: Chunk, name: str) -> Chunk:
    """Add the name of the file to a chunk of a folder: to the places, and to the record if the file holds only one."""
    records = chunk.records
    if chunk.unit == "record" and len(records) == 1:
        records = [{FILE: os.path.splitext(name.removesuffix(".gz"))[0], **records[0]}]
    return Chunk(records, chunk.places, f"{name}, {chunk.unit}")


_SHARDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".json")


def find_shards(path: str) -> list[str] | None:
    """Find the files of a folder or a pattern.

    Args:
        path: a file, a folder, a folder of `datasets`, or a pattern like ``shards/*.jsonl``.

    Returns:
        The paths, "part 2" before "part 10"; None where the path is one file.

    Raises:
        InputError: there are no such files, or files of several formats.
    """
    if not os.path.isdir(path) and not any(sign in path for sign in "*?["):
        return None
    import glob

    if os.path.isdir(path):
        folder = glob.escape(path)
        if os.path.exists(os.path.join(path, "dataset_dict.json")):
            splits = sorted(name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name)))
            raise InputError("it holds several splits", path, f"name the folder of one split: {list_some(splits)}")
        if os.path.exists(os.path.join(path, "state.json")):  # of datasets.save_to_disk
            return sorted(glob.glob(os.path.join(folder, "*.arrow")))
        files = sorted(glob.glob(os.path.join(folder, "*")), key=natural_key)
    elif not os.path.exists(path):
        files = sorted(glob.glob(path), key=natural_key)
    else:
        return None
    endings = {os.path.splitext(name.removesuffix(".gz"))[1].lower() for name in files if os.path.isfile(name)}
    if len(endings & set(_SHARDS)) != 1:
        there = list_some(os.path.basename(name) for name in files)
        if not files and os.path.isdir(path):
            raise InputError("it is an empty folder", path, "name another folder, or a file")
        problem = (
            f"it holds {there}, which are not parts of one file" if there else "no file has a name of this pattern"
        )
        remedy = "a pattern of its parts, such as 'folder/part-*.jsonl'"
        if there and endings.isdisjoint(_SHARDS):
            remedy = "give the parts the ending of their format, such as .jsonl"
        raise InputError(problem, path, f"name one file, or {remedy}")
    return [name for name in files if os.path.splitext(name.removesuffix(".gz"))[1].lower() in _SHARDS]


# Text: CSV, or JSON

# The places of zeros among the first bytes of a text that begins with ASCII, as JSON and most tables do.
_ENCODINGS_BY_ZEROS = {
    **dict.fromkeys(("x0x0", "0x0x", "x0x", "x0"), "UTF-16"),
    **dict.fromkeys(("x000", "000x"), "UTF-32"),
}

_JSON = (".json", *JSON_LINES)
DELIMITED = (".csv", ".tsv")
TABLES = (*DELIMITED, ".xlsx", ".xls", ".ods")


def _read_text(file: File, stream: Iterable[bytes]) -> Iterator[Chunk]:
    lines = iter(stream)
    head = list(read_until_text(lines))
    zeros = "".join("0" if byte == 0 else "x" for byte in b"".join(head[:4])[:4])
    if zeros in _ENCODINGS_BY_ZEROS:
        raise file.error(f"it is {_ENCODINGS_BY_ZEROS[zeros]} without a byte order mark", remedy=AS_UTF_8)
    begins = (head[-1][:100].lstrip(BLANK) or head[-1].lstrip(BLANK))[:1] if head else b""
    if not begins:
        raise file.error("the file is empty", remedy="look at the program that wrote it")
    may_be_json = begins in (b"[", b"{")
    if file.ending in (".txt", *DELIMITED) and may_be_json:  # an answer or a name of a column can be in brackets
        may_be_json = re.match(_BEGINS_JSON, head[-1].lstrip(BLANK)) is not None
    if file.ending in _JSON or may_be_json:
        yield from read_json(file, head, lines)
    elif file.ending == ".txt" and not _names_columns(file.decode(head[-1])):
        yield from split_into_chunks(_read_lines(file, chain(head, lines)), "line")
    else:
        from anls_metric.reading.delimited import read_csv

        yield from read_csv(file, head, lines)


_BEGINS_JSON = rb"""[\[{]\s*(?:$|["'\[{}\]\d-]|(?:null|true|false)\s*[,\]])"""


def _names_columns(line: str) -> bool:
    """Whether a line is the header of a table rather than an answer."""
    cells = [cell.strip(" \"'") for cell in re.split(r"[,;\t|]", line.strip())]
    return len(cells) > 1 and not NAMES.isdisjoint(cells)


def _read_lines(file: File, lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Read a text with an answer on each line."""
    for number, line in enumerate(lines, 1):
        yield number, file.decode(line, number).rstrip("\r\n")


# Compressed files


class _PackedStream:
    """A packed stream that counts its bytes as they are read."""

    def __init__(self, stream: IO[bytes], growth: Growth) -> None:
        self._stream, self._growth = stream, growth

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes."""
        content = self._stream.read(size)
        self._growth.packed += len(content)
        return content


class _UnpackedStream(io.RawIOBase):
    """An unpacked stream, which is refused if it grows out of proportion."""

    def __init__(self, file: File, stream: IO[bytes], growth: Growth) -> None:
        self._file, self._stream, self._growth = file, stream, growth

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        try:
            content = self._stream.read(len(buffer))
        except InputError:  # from a packed file inside a packed file
            raise
        except Exception as error:  # each module raises its own errors
            raise self._file.error(f"it cannot be unpacked ({error})", remedy=AGAIN) from None
        self._growth.add(len(content))
        buffer[: len(content)] = content
        return len(content)


_MOST_LAYERS = 3  # layers of packed files inside packed files


def _make_unpacking_reader(module: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    """Make the reader of files that a module of the standard library unpacks."""

    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
        growth, packed = file.growth, stream
        if growth is None:  # the outermost file, whose size counts
            growth = Growth(file)
            packed = cast(IO[bytes], _PackedStream(stream, growth))
        growth.layers += 1
        if growth.layers > _MOST_LAYERS:
            raise file.error(f"it is packed more than {_MOST_LAYERS} times", remedy="unpack it first")
        unpacked = import_module(module).open(packed, "rb")
        inner = io.BufferedReader(_UnpackedStream(file, unpacked, growth))
        content = Records(os.path.splitext(file.path)[0], file.columns, file.most_bytes)
        content.name, content.growth = file.name, growth
        for chunk in content.recognize_format(inner).read(content, inner):
            yield chunk
            growth.start_chunk()
        file.notes = content.notes

    return read


def _read_utf_16(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read UTF-16 text; the other readers expect UTF-8."""
    texts = io.TextIOWrapper(stream, "utf-16", newline="\n")
    try:
        yield from _read_text(file, (line.encode() for line in texts))
    except UnicodeError as error:
        raise file.error(f"it is not UTF-16 ({error})", remedy=AS_UTF_8) from None
    finally:
        texts.detach()  # deleting `texts` would close the file


def _make_reader(module: str, name: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    """Make a reader that imports a function when it is needed."""

    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
        chunks: Iterator[Chunk] = getattr(import_module(f"anls_metric.reading.{module}"), name)(file, stream)
        return chunks

    return read


def _make_refuser(what: str, remedy: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
        raise file.error(what, remedy=remedy)

    return read


class Format(NamedTuple):
    """A format of files: a row of `FORMATS`.

    Attributes:
        name: the name of the format.
        read: reads such a file in chunks, or raises an `InputError` that says why it cannot be read.
        begins: the possible first bytes of such a file. They count before its name.
        endings: the endings of its name, where the bytes do not tell.
    """

    name: str
    read: Callable[[File, IO[bytes]], Iterator[Chunk]]
    begins: tuple[bytes, ...] = ()
    endings: tuple[str, ...] = ()


_AS_TEXT = "save its answers as CSV, JSON lines or Parquet"
_RENAME = "save it again, or give it the ending of its format, such as .csv or .json"
_NAME_ANSWERS = "name a file of answers (JSON, JSON lines, CSV, Parquet, Arrow or Excel)"
FORMATS = (
    Format("Parquet", _make_reader("binary_formats", "read_parquet"), (b"PAR1",)),
    Format("Arrow", _make_reader("binary_formats", "read_arrow"), (b"ARROW1", b"\xff\xff\xff\xff")),
    Format("gzip", _make_unpacking_reader("gzip"), (b"\x1f\x8b",)),
    Format("bzip2", _make_unpacking_reader("bz2"), (b"BZh",)),
    Format("xz", _make_unpacking_reader("lzma"), (b"\xfd7zXZ\x00",)),
    Format("zip", _make_reader("archives", "read_zip"), (b"PK\x03\x04", b"PK\x05\x06")),
    Format("an old Excel workbook", _make_reader("archives", "read_excel"), (b"\xd0\xcf\x11\xe0",)),
    Format("UTF-32", _make_refuser("it is UTF-32 text", AS_UTF_8), (b"\xff\xfe\0\0", b"\0\0\xfe\xff")),
    Format("UTF-16", _read_utf_16, (b"\xff\xfe", b"\xfe\xff")),
    Format("Zstandard", _make_refuser("it is packed by Zstandard", "unpack it first"), (b"\x28\xb5\x2f\xfd",)),
    Format(
        "pickle",
        _make_refuser("it is a pickle, and reading a pickle can run any program", _AS_TEXT),
        tuple(b"\x80" + bytes([version]) for version in range(2, 6)),
    ),
    Format("PDF", _make_refuser("it is a PDF document", _NAME_ANSWERS), (b"%PDF",)),
    Format("SQLite", _make_refuser("it is an SQLite database", _AS_TEXT), (b"SQLite format 3",)),
    Format(
        "HTML",
        _make_refuser("it is a web page, perhaps in place of a download", "download the file again"),
        (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML"),
    ),
    Format(
        "Git LFS",
        _make_refuser("it is a Git LFS pointer in place of the file", "run git lfs pull in its repository"),
        (b"version https://git-lfs",),
    ),
    Format("NumPy", _make_refuser("it is a NumPy array", _AS_TEXT), (b"\x93NUMPY",)),
    Format("image", _make_refuser("it is an image", _NAME_ANSWERS), (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
    Format("Parquet", _make_reader("binary_formats", "read_parquet"), endings=(".parquet", ".pq")),
    Format("Arrow", _make_reader("binary_formats", "read_arrow"), endings=(".arrow",)),
    Format("Excel", _make_refuser("it is not an Excel workbook", _RENAME), endings=(".xlsx", ".xls", ".xlsm")),
    Format("inspect_ai log", _make_refuser("it is not an inspect_ai log", _RENAME), endings=(".eval",)),
    Format(
        "pickle",
        _make_refuser("its name ends like that of a pickle, and pickles are never read", _AS_TEXT),
        endings=(".pkl", ".pickle"),
    ),
    Format(
        "another format",
        _make_refuser("files of this kind are not read", _AS_TEXT),
        endings=(".yaml", ".yml", ".toml", ".xml", ".safetensors"),
    ),
    Format("text", _read_text, begins=(b"",)),
)
