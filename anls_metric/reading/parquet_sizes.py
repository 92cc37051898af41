"""Measures how large the columns of a Parquet file become, by its page headers. The footer also says it, but may lie.

A page can store a value once for any number of rows: in a dictionary, or as a prefix that values share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from anls_metric.reading.input_file import IN_ALL, File, Growth

_REMEDY = "save it as JSON lines"
_MOST_IN_BATCH = 1 << 28  # bytes of the values of rows that are read together


def choose_batch_size(file: File, stream: IO[bytes], schema: Any, columns: Sequence[str], most: int) -> int:
    """Choose how many rows of a Parquet file are read together, so that their values fit into memory.

    Args:
        file: the file, which makes the errors.
        stream: its bytes.
        schema: its ``pyarrow.parquet.ParquetSchema``.
        columns: the names of the columns to read.
        most: the largest number of rows.

    Raises:
        InputError: the file becomes too large for its size. ValueError: it is cut off, or is not Parquet.
    """
    size = stream.seek(0, 2)
    growth = Growth(file, size, _REMEDY)
    longest: dict[int, int] = {}  # the longest value of each column
    for number, column in _read_columns(stream):
        if not any(f"{column.path}.".startswith(f"{name}.") for name in columns):
            continue
        values = _measure_values(column, stream, growth)
        longest[number] = max(values.longest, longest.get(number, 0))
        in_lists = number < len(schema) and schema.column(number).max_repetition_level > 0
        if in_lists and max(8 * values.number, values.longest * values.shared) > IN_ALL.of(size):
            problem = f"the lists of the column {column.path} may become too large for the size of the file"
            raise file.error(problem, remedy=_REMEDY)
    room = _MOST_IN_BATCH if file.most_bytes is None else file.most_bytes
    return max(1, min(most, room // max(1, sum(longest.values()))))


class _Values(NamedTuple):
    """The values of a column: their number, the number that share storage with others, and the longest of these."""

    number: int
    shared: int
    longest: int


def _measure_values(column: _Column, stream: IO[bytes], growth: Growth) -> _Values:
    number = shared = longest = 0
    for page in _read_pages(column, stream):
        growth.add(page.unpacked)
        growth.start_chunk()
        if page.kind == _DICTIONARY:
            longest = max(longest, _find_longest(column, stream, page))
        else:
            longest = max(longest, page.unpacked if page.encoding == _DELTA_BYTE_ARRAY else 0)
            number += page.values
            shared += page.values if page.encoding != _PLAIN else 0
    return _Values(number, shared, longest)


def _find_longest(column: _Column, stream: IO[bytes], page: _Page) -> int:
    """Find the length of the longest text of a dictionary, in which each text follows its length."""
    import pyarrow

    if column.kind != _BYTE_ARRAY:
        return page.unpacked // max(1, page.values)
    stream.seek(page.place)
    content = stream.read(page.packed)
    if column.codec:
        try:
            content = pyarrow.decompress(content, page.unpacked, _CODECS.get(column.codec, ""), asbytes=True)
        except (pyarrow.ArrowException, ValueError, OSError):  # a codec that pyarrow does not know by this name
            return page.unpacked
    longest = place = 0
    while place < len(content):
        length = int.from_bytes(content[place : place + 4], "little")
        longest = max(longest, length)
        place += 4 + length
    return min(longest, page.unpacked)


# The parts of a file, by the numbers of their fields in
# https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_DETAILS = {_DATA: (5, 2), _DICTIONARY: (7, 2), _DATA_2: (8, 4)}  # the fields of the details, and of the encoding there
_PLAIN, _DELTA_BYTE_ARRAY = 0, 7  # encodings
_BYTE_ARRAY = 6  # a type
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}


class _Column(NamedTuple):
    """A part of a column: its path, type, codec and number of values, and where its pages begin and end."""

    path: str
    kind: int
    codec: int
    values: int
    begin: int
    end: int


class _Page(NamedTuple):
    """A page: its place, its size in the file and unpacked, the number of its values, and their encoding."""

    kind: int
    place: int
    packed: int
    unpacked: int
    values: int
    encoding: int


def _read_columns(stream: IO[bytes]) -> Iterator[tuple[int, _Column]]:
    """Read the places of the columns from the footer, each with its number in the schema."""
    end = max(0, stream.seek(0, 2) - 8)
    stream.seek(end)
    length = min(end, int.from_bytes(stream.read(4), "little"))
    stream.seek(end - length)
    footer, _ = _read_struct(stream.read(length))
    for group in _list(footer, 4, dict):
        for number, chunk in enumerate(_list(group, 1, dict)):
            column = _struct(chunk, 3)
            path = ".".join(name.decode("utf-8", "replace") for name in _list(column, 3, bytes))
            kind, codec, values, size, data, dictionary = (_number(column, field) for field in (1, 4, 5, 7, 9, 11))
            begin = dictionary if 0 < dictionary < data else data
            yield number, _Column(path, kind, codec, values, begin, begin + size)


def _read_pages(column: _Column, stream: IO[bytes]) -> Iterator[_Page]:
    """Read the headers of the pages of a column."""
    place, count = column.begin, 0
    while 0 <= place < column.end and count < column.values:
        stream.seek(place)
        content = stream.read(1 << 12)
        try:
            header, length = _read_struct(content)
        except IndexError:  # the header is longer, because it holds long values
            header, length = _read_struct(content + stream.read(1 << 24))
        kind, unpacked, packed = (_number(header, field) for field in (1, 2, 3))
        if min(unpacked, packed) < 0:
            raise ValueError("a page has a negative size")
        field, encoding = _DETAILS.get(kind, (0, 0))
        details = _struct(header, field)
        page = _Page(kind, place + length, packed, unpacked, _number(details, 1), _number(details, encoding))
        count += page.values if kind != _DICTIONARY else 0
        place = page.place + packed
        yield page


# The compact protocol of Thrift: a struct is read as a dict of its fields, by their numbers

_Struct = dict[int, Any]
_MOST_LEVELS = 16  # of lists and structs in each other


def _number(struct: _Struct, field: int) -> int:
    """Return a field that is a number; 0 if it is missing."""
    value = struct.get(field)
    return value if isinstance(value, int) else 0


def _struct(struct: _Struct, field: int) -> _Struct:
    """Return a field that is a struct; an empty one if it is missing."""
    value = struct.get(field)
    return value if isinstance(value, dict) else {}


def _list(struct: _Struct, field: int, kind: type) -> list[Any]:
    """Return the items of a type from a field that is a list."""
    value = struct.get(field)
    return [item for item in value if isinstance(item, kind)] if isinstance(value, list) else []


def _read_struct(content: bytes) -> tuple[_Struct, int]:
    """Read a struct. Also returns its end. IndexError: it is cut off. ValueError: it is not a struct."""
    reader = _Reader(content)
    return reader.read_struct(), reader.place


class _Reader:
    """Reads values one after the other."""

    def __init__(self, content: bytes) -> None:
        self._content, self.place, self._depth = content, 0, 0

    def read_struct(self) -> _Struct:
        """Read the fields of a struct."""
        fields: _Struct = {}
        number = 0
        while head := self._read_byte():
            number = number + (head >> 4) if head >> 4 else self._read_number()
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._read_value(head & 15)
        return fields

    def _read_value(self, kind: int) -> Any:
        if kind in (4, 5, 6):
            return self._read_number()
        if kind == 8:
            return self._read_bytes(self._read_length())
        if kind in (9, 10, 12):
            return self._read_nested(kind)
        sizes = {1: 1, 2: 1, 3: 1, 7: 8}  # a bool in a list, a byte, a float
        if kind not in sizes:
            raise ValueError(f"there is no type {kind}")
        return self._read_bytes(sizes[kind])

    def _read_nested(self, kind: int) -> Any:
        if self._depth == _MOST_LEVELS:
            raise ValueError("it is nested too deeply")
        self._depth += 1
        value = self.read_struct() if kind == 12 else self._read_list()
        self._depth -= 1
        return value

    def _read_list(self) -> list[Any]:
        head = self._read_byte()
        size = head >> 4 if head >> 4 < 15 else self._read_length()
        if size > len(self._content) - self.place:
            raise IndexError("a list is cut off")
        return [self._read_value(head & 15) for _ in range(size)]

    def _read_bytes(self, size: int) -> bytes:
        begin, self.place = self.place, self.place + size
        if self.place > len(self._content):
            raise IndexError("a text is cut off")
        return self._content[begin : self.place]

    def _read_byte(self) -> int:
        self.place += 1
        return self._content[self.place - 1]

    def _read_length(self) -> int:
        value = shift = 0
        while shift < 64:
            byte = self._read_byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        return value

    def _read_number(self) -> int:
        value = self._read_length()
        return (value >> 1) ^ -(value & 1)
