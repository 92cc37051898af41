"""A file becomes records, each with its place. What a file is, its first bytes or its name tell: see `FORMATS`.

Records come in chunks and are streamed, so that a file need not fit into memory (JSON that is one value, and a
workbook, are loaded whole). What is wrong is an `InputError` that says in which file and where.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import IO, Any, NamedTuple

from anls_metric.reading.files import BLANK, Chunk, File, kind, natural, some
from anls_metric.reading.json_text import JSON_LINES, read_json, read_until_text
from anls_metric.reading.rows import InputError


class Records(File):
    """The records of a file.

    Args:
        path: a file, "-" for standard input, or files whose records are one set: a folder of them, or a pattern
            like ``shards/*.jsonl``.
        columns, most_bytes: as `File` takes them.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        super().__init__(path, columns, most_bytes)
        self._peeked: Chunk | None = None
        self._chunks: Iterator[Chunk] | None = None

    def chunks(self) -> Iterator[Chunk]:
        """The records, in the order of the file.

        Raises:
            InputError: what is wrong and where. OSError: the file cannot be read.
        """
        if self._chunks is None:
            yield from self._check_chunks()
            return
        chunks, self._chunks = self._chunks, None
        if self._peeked is not None:
            yield self._peeked
            self._peeked = None
        yield from chunks

    def first(self) -> dict[str, Any]:
        """The first record, which `chunks` gives as well; an empty one where there is none."""
        if self._chunks is None:
            self._chunks = self._check_chunks()
            self._peeked = next(self._chunks, None)
        return self._peeked.records[0] if self._peeked else {}

    def only(self, columns: Sequence[str], unless_bytes: Sequence[str] = ()) -> None:
        """Leave out all other columns from now on, where the format can; some also if they hold bytes, as images do."""
        if self.fields:
            self.columns, self.unless_bytes = columns, unless_bytes
            self._chunks = self._peeked = None

    def _check_chunks(self) -> Iterator[Chunk]:
        for chunk in self._read():
            if set(map(type, chunk.records)) - {dict}:
                number, record = next((n, one) for n, one in enumerate(chunk.records) if not isinstance(one, dict))
                raise self.error(f"expected an object with fields, found {kind(record)}", chunk.place(number))
            yield chunk

    def _read(self) -> Iterator[Chunk]:
        parts = find_shards(self.path)
        if parts is not None:
            for part in parts:
                shard = Records(part, self.columns, self.most_bytes)
                for chunk in shard._check_chunks():
                    self.fields = shard.fields
                    yield chunk._replace(unit=f"{os.path.basename(part)}, {chunk.unit}")
            return
        with self.open() as stream:
            form = self._format(stream)
            yield from form.read(self, stream)

    def _format(self, stream: Any) -> Format:
        head = stream.peek(16)
        return next(
            form for form in FORMATS if (head.startswith(form.begins) if form.begins else self.ending in form.endings)
        )


_SHARDS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".json")


def find_shards(path: str) -> list[str] | None:
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


# Text: CSV, or JSON

_JSON = (".json", *JSON_LINES)
_DELIMITED = (".csv", ".tsv")


def _read_text(file: File, stream: Iterable[bytes]) -> Iterator[Chunk]:
    lines = iter(stream)
    head = list(read_until_text(lines))
    begins = (head[-1][:100].lstrip(BLANK) or head[-1].lstrip(BLANK))[:1] if head else b""
    if not begins:
        raise file.error("the file is empty")
    is_json = file.ending in _JSON or (begins in (b"[", b"{") and file.ending not in _DELIMITED)
    if is_json:
        yield from read_json(file, head, lines)
    else:
        from anls_metric.reading.delimited import read_csv

        yield from read_csv(file, head, lines)


# What is packed


class _Unpacked(io.RawIOBase):
    """A stream that refuses to grow beyond a limit."""

    def __init__(self, file: File, stream: IO[bytes]) -> None:
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


def _reader_of_packed(module: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    """The reader of a file that a module of the standard library unpacks."""

    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
        unpacked = import_module(module).open(stream, "rb")
        inner = io.BufferedReader(_Unpacked(file, unpacked))
        named = Records(os.path.splitext(file.path)[0], file.columns, file.most_bytes)
        named.name = file.name
        form = named._format(inner)
        yield from form.read(named, inner)

    return read


def _read_utf_16(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """UTF-16 becomes UTF-8 on the way."""
    texts = io.TextIOWrapper(stream, "utf-16", newline="\n")
    try:
        yield from _read_text(file, (line.encode() for line in texts))
    except UnicodeError as error:
        raise file.error(f"not UTF-16: {error}", remedy="save the file as UTF-8") from None
    finally:
        texts.detach()  # it would close the file


def _reader_of(name: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    """A reader of `formats`, which is imported when it is needed."""

    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
        from anls_metric.reading import formats

        chunks: Iterator[Chunk] = getattr(formats, name)(file, stream)
        return chunks

    return read


def _refuser(what: str, remedy: str) -> Callable[[File, IO[bytes]], Iterator[Chunk]]:
    def read(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
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
    read: Callable[[File, IO[bytes]], Iterator[Chunk]]
    begins: tuple[bytes, ...] = ()
    endings: tuple[str, ...] = ()


_AS_TEXT = "save it as CSV, JSON lines or Parquet"
FORMATS = (
    Format("Parquet", _reader_of("read_parquet"), (b"PAR1",)),
    Format("Arrow", _reader_of("read_arrow"), (b"ARROW1", b"\xff\xff\xff\xff")),
    Format("gzip", _reader_of_packed("gzip"), (b"\x1f\x8b",)),
    Format("bzip2", _reader_of_packed("bz2"), (b"BZh",)),
    Format("xz", _reader_of_packed("lzma"), (b"\xfd7zXZ\x00",)),
    Format("zip", _reader_of("read_zip"), (b"PK\x03\x04", b"PK\x05\x06")),
    Format("an old Excel workbook", _reader_of("read_excel"), (b"\xd0\xcf\x11\xe0",)),
    Format("UTF-16", _read_utf_16, (b"\xff\xfe", b"\xfe\xff")),
    Format("Zstandard", _refuser("a Zstandard file", "unpack it first"), (b"\x28\xb5\x2f\xfd",)),
    Format(
        "pickle",
        _refuser("a pickle, which could run any program when it is read", _AS_TEXT),
        tuple(b"\x80" + bytes([version]) for version in range(2, 6)),
    ),
    Format("PDF", _refuser("a PDF document", _AS_TEXT), (b"%PDF",)),
    Format("SQLite", _refuser("an SQLite database", _AS_TEXT), (b"SQLite format 3",)),
    Format("HTML", _refuser("a web page", _AS_TEXT), (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML")),
    Format("image", _refuser("an image", _AS_TEXT), (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")),
    Format("Parquet", _reader_of("read_parquet"), endings=(".parquet", ".pq")),
    Format("Arrow", _reader_of("read_arrow"), endings=(".arrow",)),
    Format("Excel", _refuser("not an Excel workbook", "save it again"), endings=(".xlsx", ".xls", ".xlsm")),
    Format("inspect_ai log", _refuser("not an inspect_ai log", "name a .eval file"), endings=(".eval",)),
    Format("pickle", _refuser("a pickle, which is never read", _AS_TEXT), endings=(".pkl", ".pickle")),
    Format("text", _read_text, begins=(b"",)),
)
