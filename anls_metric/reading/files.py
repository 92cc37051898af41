"""A file that is read: where it is, its bytes and its text, and errors that say where in it something is wrong."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, NamedTuple

from anls_metric.reading.remedies import Remedy
from anls_metric.reading.rows import InputError

# How many records are read at a time. What is done to a chunk is done to whole columns.
CHUNK = 1024

# A JSON file is often one line, which is read faster where it fits into the buffer; larger ones may be streams.
_SMALL = 1 << 22

BLANK = b" \t\r\n\xef\xbb\xbf"  # white space, and the mark that some programs put before UTF-8


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


class File:
    """A file, as those who read one of its formats see it.

    Args:
        path: where it is, "-" for standard input.
        columns: the fields that are wanted, None for all. Only Parquet and Arrow files are spared the others; columns
            of images are left out in any case.
        most_bytes: how much a packed file may hold once it is unpacked; None for any amount.

    Attributes:
        name: what an error calls it.
        fields: all fields that there are, where `columns` leaves some out.
        unless_bytes: further fields that are wanted, unless they hold bytes.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        self.path = path
        self.columns = columns
        self.most_bytes = most_bytes
        self.name = "standard input" if path == "-" else path
        self.unless_bytes: Sequence[str] = ()
        self.fields: list[str] = []
        self._held: bytes | None = None  # what came from standard input and is read again

    @property
    def ending(self) -> str:
        """The ending of its name, in lower case, with the dot."""
        return os.path.splitext(self.path)[1].lower()

    def error(self, found: str, place: str = "", remedy: Remedy | str = "") -> InputError:
        """An error that says where."""
        return InputError(found, self.name + (place and f", {place}"), remedy)

    def error_without_field(
        self, record: Mapping[str, Any], field: str, place: str, remedy: Remedy | str = ""
    ) -> InputError:
        """The error of a record that has no such field: it says which ones it has."""
        found = some(map(repr, self.fields or record)) or "none"
        return self.error(f"there is no field {field!r} (found {found})", place, remedy)

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
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
