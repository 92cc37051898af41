"""The pages of a Parquet file tell how large its values become when it is read. Its footer tells that too, but may lie.

A page may store a value once that any number of rows have: in a dictionary, or as a beginning that values share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from anls_metric.reading.input_file import IN_ALL, File, Growth

_REMEDY = "write it as JSON lines"
_MOST_IN_BATCH = 1 << 28  # bytes of the values of rows that are read together


def choose_batch_size(file: File, stream: IO[bytes], table: Any, columns: Sequence[str], most: int) -> int:
    """Choose how many rows of a Parquet file are read together, so that their values fit into memory.

    Args:
        file: the file, which makes the errors.
        stream: its bytes.
        table: its ``pyarrow.parquet.ParquetFile``.
        columns: the names of the columns to read.
        most: the largest number of rows.

    Raises:
        InputError: it becomes too large for its size. ValueError: the header of a page cannot be read.
    """
    size = stream.seek(0, 2)
    growth = Growth(file, size, _REMEDY)
    longest: dict[int, int] = {}  # the longest value of each column
    for group in map(table.metadata.row_group, range(table.metadata.num_row_groups)):
        for number in range(group.num_columns):
            chunk = group.column(number)
            if not any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in columns):
                continue
            values = _measure_values(chunk, stream, growth)
            longest[number] = max(values.longest, longest.get(number, 0))
            in_lists = table.schema.column(number).max_repetition_level > 0
            if in_lists and max(8 * values.number, values.longest * values.shared) > IN_ALL.of(size):
                problem = f"the lists of {chunk.path_in_schema} may become too large for its size"
                raise file.error(problem, remedy=_REMEDY)
    room = _MOST_IN_BATCH if file.most_bytes is None else file.most_bytes
    return max(1, min(most, room // max(1, sum(longest.values()))))


class _Values(NamedTuple):
    """The values of a column: how many, how many of them are stored together with others, and the longest of these."""

    number: int
    shared: int
    longest: int


def _measure_values(chunk: Any, stream: IO[bytes], growth: Growth) -> _Values:
    number = shared = longest = 0
    for page in _read_headers(chunk, stream):
        growth.add(page.unpacked)
        growth.start_chunk()
        if page.kind == _DICTIONARY:
            longest = max(longest, _find_longest(chunk, stream, page))
        elif page.encoding == _DELTA_BYTE_ARRAY:
            longest = max(longest, page.unpacked)
        if page.kind != _DICTIONARY:
            number += page.values
            shared += page.values if page.encoding != _PLAIN else 0
    return _Values(number, shared, longest)


def _find_longest(chunk: Any, stream: IO[bytes], page: _Page) -> int:
    """Find the length of the longest text of a dictionary: each stands after its length."""
    import pyarrow

    stream.seek(page.place)
    content = stream.read(page.packed)
    try:
        if chunk.compression != "UNCOMPRESSED":
            content = pyarrow.decompress(content, page.unpacked, chunk.compression.lower(), asbytes=True)
    except (pyarrow.ArrowException, ValueError):  # packed in a way that has no name here
        return page.unpacked
    if chunk.physical_type != "BYTE_ARRAY":
        return page.unpacked // max(1, page.values)
    longest = place = 0
    while place < len(content):
        length = int.from_bytes(content[place : place + 4], "little")
        longest = max(longest, length)
        place += 4 + length
    return min(longest, page.unpacked)


# The headers, https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # the kinds of pages
_DETAILS = {_DATA: (5, 2), _DICTIONARY: (7, 2), _DATA_2: (8, 4)}  # the fields with the details, and with the encoding
_PLAIN, _DELTA_BYTE_ARRAY = 0, 7  # encodings


class _Page(NamedTuple):
    """A page: where it is, its size there and once it is unpacked, how many values it has, and how."""

    kind: int
    place: int
    packed: int
    unpacked: int
    values: int
    encoding: int


def _read_headers(chunk: Any, stream: IO[bytes]) -> Iterator[_Page]:
    """Read the headers of the pages of a column."""
    place = min(filter(None, [chunk.data_page_offset, chunk.has_dictionary_page and chunk.dictionary_page_offset]))
    end, count = place + chunk.total_compressed_size, 0
    while place < end and count < chunk.num_values:
        stream.seek(place)
        header = _read_struct(stream)
        kind, unpacked, packed = (header.get(field, -1) for field in (1, 2, 3))
        if min(kind, unpacked, packed) < 0:
            raise ValueError("the header of a page lacks its size")
        field, encoding = _DETAILS.get(kind, (0, 0))
        details = header.get(field, {})
        page = _Page(kind, stream.tell(), packed, unpacked, details.get(1, 0), details.get(encoding, _PLAIN))
        count += page.values if kind != _DICTIONARY else 0
        place = page.place + packed
        yield page


def _read_struct(stream: IO[bytes], depth: int = 0) -> dict[int, Any]:
    """Read the fields of a struct, by their numbers, in the compact protocol of Thrift."""
    fields: dict[int, Any] = {}
    number = 0
    while head := _read_byte(stream):
        number = number + (head >> 4) if head >> 4 else _read_number(stream)
        fields[number] = _read_value(stream, head & 15, depth)
    return fields


def _read_value(stream: IO[bytes], kind: int, depth: int) -> Any:
    if kind in (1, 2):
        return kind == 1
    if kind in (4, 5, 6):
        return _read_number(stream)
    if kind == 12 and depth < 8:
        return _read_struct(stream, depth + 1)
    sizes = {3: 1, 7: 8}
    if kind not in (*sizes, 8):
        raise ValueError(f"the header of a page has a field of kind {kind}")
    return stream.seek(sizes[kind] if kind in sizes else _read_length(stream), 1)


def _read_byte(stream: IO[bytes]) -> int:
    byte = stream.read(1)
    if not byte:
        raise ValueError("the header of a page is cut off")
    return byte[0]


def _read_length(stream: IO[bytes]) -> int:
    value = 0
    for shift in range(0, 64, 7):
        byte = _read_byte(stream)
        value |= (byte & 127) << shift
        if byte < 128:
            break
    return value


def _read_number(stream: IO[bytes]) -> int:
    value = _read_length(stream)
    return (value >> 1) ^ -(value & 1)
