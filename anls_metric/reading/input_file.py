"""An input file: opens and decodes it, and makes errors that name the place in the file."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import IO, Any, NamedTuple

from anls_metric.core.choices import find_similar_name
from anls_metric.reading.errors import InputError
from anls_metric.reading.remedies import Remedy

# How many records are read at a time, so that they can be processed as whole columns.
CHUNK = 1024

# A JSON file is often a single line, which is read faster if it fits into the buffer.
_LARGEST_BUFFER = 1 << 22

BLANK = b" \t\r\n\xef\xbb\xbf"  # white space, and the mark that some programs put before UTF-8


AS_UTF_8 = "save the file as UTF-8"
AGAIN = "copy or download the file again"


class Chunk(NamedTuple):
    """Consecutive records of a file.

    Attributes:
        records: objects with fields.
        places: the number of each in the file, counted from 1.
        unit: what is counted: "line", "record" or "row".
    """

    records: Sequence[dict[str, Any]]
    places: Sequence[int]
    unit: str

    def place_of(self, number: int) -> str:
        """The place of a record in the file, like "line 7"."""
        return f"{self.unit} {self.places[number]}"


class Limit(NamedTuple):
    """How large a packed file may become: a number of bytes, or a multiple of its size if that is more."""

    least: int
    times: int

    def of(self, packed: int) -> int:
        """The limit for a file of this size."""
        return max(self.least, self.times * packed)


# A tiny file that becomes huge was made to exhaust memory. Files that programs write become 5 to 50 times as large.
AT_ONCE = Limit(64 << 20, 100)  # for the bytes of one chunk, which are in memory together
IN_ALL = Limit(1 << 28, 300)  # for the whole file, which takes time


class Growth:
    """Counts the bytes that are unpacked while a file is read, and refuses a file that grows out of proportion.

    Args:
        file: the file, which makes the errors.
        packed: the size of the packed file; for a stream, the number of bytes read so far.
        remedy: what to do about a file that is refused.

    Attributes:
        layers: how many layers of packing were found so far.
    """

    def __init__(self, file: File, packed: int = 0, remedy: str = "unpack it first") -> None:
        self.packed, self.layers = packed, 0
        self._file, self._remedy = file, remedy
        self._count = self._chunk_start = 0

    def add(self, count: int) -> None:
        """Count bytes that are about to be unpacked.

        Raises:
            InputError: there are too many for the size of the file.
        """
        self._count += count
        most = self._file.most_bytes
        if most is not None and self._count > most:
            raise self._file.error(f"it holds more than {most >> 20:,} MB once unpacked")
        for limit, size in ((AT_ONCE, self._count - self._chunk_start), (IN_ALL, self._count)):
            if size > limit.of(self.packed):
                problem = f"it holds more than {limit.of(self.packed) >> 20:,} MB once unpacked, too much for its size"
                raise self._file.error(problem, remedy=self._remedy)

    def start_chunk(self) -> None:
        """Begin the next chunk. The bytes before it may leave memory."""
        self._chunk_start = self._count


FIRST_SHEET = "move the sheet of the answers to the front, or save it as CSV"


class File:
    """A file, as the reader of a format sees it.

    Args:
        path: the path, "-" for standard input.
        columns: the fields to read; None for all. Only the readers of Parquet and Arrow files can skip fields; they
            always skip columns of images.
        most_bytes: the largest size of a packed file once it is unpacked; None for any size.

    Attributes:
        name: the name in errors.
        fields: all fields of the file, where its reader can skip some.
        unless_bytes: more fields to read, unless they hold bytes.
        notes: what was not read.
    """

    def __init__(self, path: str, columns: Sequence[str] | None = None, most_bytes: int | None = None) -> None:
        self.path = path
        self.columns = columns
        self.most_bytes = most_bytes
        self.name = "standard input" if path == "-" else path
        self.unless_bytes: Sequence[str] = ()
        self.fields: list[str] = []
        self.notes: list[str] = []
        self.other_sheets: list[str] = []  # of a workbook
        self.growth: Growth | None = None  # set if the file was unpacked from another file
        self._standard_input: bytes | None = None  # the content of standard input, if it is read more than once

    @property
    def ending(self) -> str:
        """The ending of the name, in lower case, with the dot."""
        return os.path.splitext(self.path)[1].lower()

    def error(self, problem: str, place: str = "", remedy: Remedy | str = "", value: str = "") -> InputError:
        """Make an error that says where in the file the problem is."""
        return InputError(problem, self.name + (place and f", {place}"), remedy, value)

    def error_without_library(self, what: str, library: str) -> InputError:
        """Make the error for a library that is not installed."""
        return self.error(f"reading {what} needs {library}", remedy="pip install 'anls-metric[files]'")

    def refuse_repeated(self, columns: Sequence[str]) -> None:
        """Raise an `InputError` where two columns have the same name."""
        if len(set(columns)) < len(columns):
            repeated = [name for name, count in Counter(columns).items() if count > 1]
            raise self.error(f"two columns have the same name ({list_some(repeated)})", remedy="rename one of them")

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """Open the file.

        Raises:
            InputError: the file changed before it was closed.
        """
        if self.path == "-":
            stream: Any = sys.stdin.buffer if self._standard_input is None else io.BytesIO(self._standard_input)
            yield stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)
            return
        size = os.path.getsize(self.path)
        with open(self.path, "rb", size + 1 if _LARGEST_BUFFER > size >= io.DEFAULT_BUFFER_SIZE else -1) as stream:
            before = os.fstat(stream.fileno())
            yield stream
            after = os.fstat(stream.fileno())
            is_changed = (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
            if is_changed and stat.S_ISREG(before.st_mode):  # a pipe changes while it is read
                raise self.error("the file changed while it was read", remedy="score it again when it is written")

    def hold(self, stream: IO[bytes]) -> IO[bytes]:
        """Make a stream seekable. Standard input and unpacked streams are loaded into memory."""
        if self.path != "-" and stream.seekable():
            return stream
        if self._standard_input is None:
            self._standard_input = stream.read()
        return io.BytesIO(self._standard_input)

    def decode(self, content: bytes, first_line: int = 1) -> str:
        """Decode bytes of the file.

        Args:
            content: whole lines, as UTF-8.
            first_line: the number of the first line; a byte order mark may stand before line 1.

        Raises:
            InputError: a byte is not UTF-8, or a second mark follows the first; it names the line.
        """
        try:
            text = content.decode("utf-8-sig" if first_line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            number = first_line + content.count(b"\n", 0, error.start)
            problem = f"the byte {content[error.start]:#04x} is not UTF-8"
            raise self.error(problem, f"line {number}", remedy=AS_UTF_8) from None
        if first_line == 1 and text.startswith("\ufeff"):
            raise self.error("it begins with two byte order marks", remedy=AS_UTF_8)
        return text


def describe_missing_file(path: str) -> tuple[str, str]:
    """Say what is wrong with the path of a file that does not exist, and what to do; "" if nothing is similar."""
    if not path:
        return "the name of a file is empty", ""
    if "://" in path:
        return "it is an address, not a file", "download the file, and name it here"
    if os.path.islink(path):
        return f"the link leads to {os.readlink(path)}, which does not exist", ""
    problem, (folder, name) = os.strerror(errno.ENOENT), os.path.split(path)
    if "," in path and all(map(os.path.exists, path.split(","))):
        return problem, "name each file by itself, without a comma"
    if path.count("/") == 1 and "." not in path and not os.path.exists(folder):
        return problem, "if it is an id of the Hub, download the data set, and name its file"
    stem, ending = os.path.splitext(name)
    stems: dict[str, str] = {}
    with suppress(OSError, ValueError):  # a path can hold a null character
        names = sorted(os.listdir(folder or "."), key=lambda each: each.endswith(ending))
        stems = {os.path.splitext(each)[0]: each for each in names}
    similar = find_similar_name(stem, stems)
    return problem, f"did you mean {os.path.join(folder, stems[similar])}?" if similar else ""


def natural_key(name: str) -> list[tuple[bool, int, str]]:
    """Make a key that sorts "part 2" before "part 10"."""
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


def describe_kind(value: object) -> str:
    """Name the type of a JSON value in words."""
    return _KINDS.get(type(value), type(value).__name__)


def count_noun(count: int, noun: str) -> str:
    """Format a count with its noun, such as "1 answer" or "2 answers"."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def list_some(names: Iterable[str], most: int = 5) -> str:
    """List the first names, with commas. Long names are cut."""
    names = list(names)
    some = (name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..." for name in names[:most])
    return ", ".join(some) + (", ..." if len(names) > most else "")


_LONGEST_NAME = 80


def split_into_chunks(numbered: Iterable[tuple[int, Any]], unit: str) -> Iterator[Chunk]:
    """Split a stream of numbered records into chunks of `CHUNK` records."""
    numbered = iter(numbered)
    while part := list(islice(numbered, CHUNK)):
        places, records = zip(*part)
        yield Chunk(list(records), places, unit)
