"""Measures how large an Arrow file becomes: once it is unpacked, and once its values are Python objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from anls_metric.reading.input_file import AGAIN, File, Growth

REMEDY = "save it as JSON lines"

# Messages, which may be compressed

_MAGIC = b"ARROW1"
_CONTINUATION = b"\xff\xff\xff\xff"


def find_stream(stream: IO[bytes]) -> int:
    """Find where the messages begin. An Arrow file is its magic bytes, some zeros, and then a stream of messages."""
    stream.seek(0)
    if stream.read(len(_MAGIC)) != _MAGIC:
        return 0
    place = 8
    while stream.seek(place) and stream.read(8) == bytes(8):
        place += 8
    return place


def check_messages(file: File, stream: IO[bytes], place: int) -> None:
    """Check the size of each message before a library unpacks it.

    Args:
        file: the file, which makes the errors.
        stream: its bytes.
        place: where its messages begin.

    Raises:
        InputError: a message becomes too large for the size of the file, or is cut off. The library would allocate
            memory for it before it looks for its end.
    """
    end = stream.seek(0, 2)
    growth = Growth(file, end, REMEDY)
    while place < end:
        stream.seek(place)
        length = stream.read(4)
        length = stream.read(4) if length == _CONTINUATION else length
        size = _read_number(length, 0, 4)
        if size <= 0:
            return
        metadata = stream.read(min(size, end))
        message = _Table(metadata, _read_number(metadata, 0, 4))
        body = message.number(_BODY_LENGTH, 8)
        place = stream.tell()
        if len(metadata) < size or not 0 <= body <= end - place:
            raise file.error("it is not Arrow, or cut off", remedy=AGAIN)
        for offset, size in _list_packed_buffers(message):
            stream.seek(min(max(0, place + offset), end))
            unpacked = _read_number(stream.read(8), 0, 8)  # -1 if the buffer is stored uncompressed
            growth.add(max(size, unpacked))
        growth.start_chunk()
        place += body


# The fields of https://github.com/apache/arrow/blob/main/format/Message.fbs by their places in their tables.
_KIND, _HEADER, _BODY_LENGTH = 1, 2, 3  # of a message
_DICTIONARY = 2  # a kind, whose table has a batch
_BATCH = 1  # of a dictionary
_BUFFERS, _COMPRESSION = 2, 3  # of a batch


class _Table:
    """A table of FlatBuffers, whose list of offsets leads to its fields."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self._place = content, place

    def find(self, field: int) -> int:
        """Find the place of a field, 0 where the table does not have it."""
        offsets = self._place - _read_number(self._content, self._place, 4)
        if 4 + 2 * field >= _read_number(self._content, offsets, 2):
            return 0
        offset = _read_number(self._content, offsets + 4 + 2 * field, 2)
        return self._place + offset if offset else 0

    def number(self, field: int, size: int) -> int:
        """The number in a field."""
        place = self.find(field)
        return _read_number(self._content, place, size) if place else 0

    def follow(self, field: int) -> int:
        """The place that a field refers to, 0 where the table does not have it."""
        place = self.find(field)
        return place + _read_number(self._content, place, 4) if place else 0

    def table(self, field: int) -> _Table:
        """The table in a field."""
        return _Table(self._content, self.follow(field))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """The pairs of large numbers in a field."""
        place = self.follow(field)
        count = min(_read_number(self._content, place, 4), len(self._content) // 16) if place else 0
        numbers = [_read_number(self._content, place + 4 + 8 * number, 8) for number in range(2 * count)]
        return list(zip(numbers[::2], numbers[1::2]))


def _list_packed_buffers(message: _Table) -> list[tuple[int, int]]:
    """The offset and the size of each packed buffer of a message."""
    batch = message.table(_HEADER)
    if message.number(_KIND, 1) == _DICTIONARY:
        batch = batch.table(_BATCH)
    return batch.pairs(_BUFFERS) if batch.find(_COMPRESSION) else []


def _read_number(content: bytes, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "little", signed=True)


# Arrays, which may store a value once for many rows


def measure_array(array: Any) -> int:
    """Estimate how many bytes the values of an array take as Python objects. The estimate is never much too low."""
    from pyarrow import types

    kind, count = array.type, len(array)
    if not count:
        return 0
    if types.is_dictionary(kind):
        size = _measure_items(array.dictionary, array.indices.to_pylist())
    elif types.is_run_end_encoded(kind):
        size = count * measure_array(array.values.slice(array.find_physical_offset(), array.find_physical_length()))
    elif _is_any(kind, "list_view", "large_list_view"):
        size = count * measure_array(array.values)
    elif _is_any(kind, "list", "large_list", "map"):
        first, last = (array.offsets[place].as_py() for place in (0, -1))
        size = measure_array(array.values.slice(first, last - first))
    elif types.is_fixed_size_list(kind):
        size = measure_array(array.flatten())
    elif types.is_struct(kind):
        size = sum(measure_array(array.field(place)) for place in range(kind.num_fields))
    elif types.is_union(kind):
        size = count * sum(measure_array(array.field(place)) for place in range(kind.num_fields))
    elif hasattr(array, "storage"):  # of an extension type
        size = measure_array(array.storage)
    elif _is_any(kind, "string_view", "binary_view"):  # 16 bytes for a text: the first four hold its length
        size = sum(memoryview(array.buffers()[1]).cast("i")[4 * array.offset : 4 * (array.offset + count) : 4])
    else:
        offsets = _find_offsets(array)
        size = offsets[-1] - offsets[0] if offsets else 0
    return 8 * count + int(size)


def _measure_items(array: Any, places: Iterable[int | None]) -> int:
    """Measure the items of an array at some places. An item can have many places."""
    offsets, known = _find_offsets(array), [place for place in places if place is not None]
    if offsets:
        return sum(offsets[place + 1] - offsets[place] for place in known)
    return len(known) * measure_array(array)


def _find_offsets(array: Any) -> memoryview[int] | None:
    """Find the offsets of the texts of an array that stores them one after the other; None for any other array."""
    is_small, is_large = _is_any(array.type, "string", "binary"), _is_any(array.type, "large_string", "large_binary")
    if not len(array) or not (is_small or is_large):
        return None
    offsets = memoryview(array.buffers()[1]).cast("q" if is_large else "i")
    return offsets[array.offset : array.offset + len(array) + 1]


def _is_any(kind: Any, *names: str) -> bool:
    """Whether a type is any of these. Older versions of the library do not have all of them."""
    from pyarrow import types

    return any(hasattr(types, f"is_{name}") and getattr(types, f"is_{name}")(kind) for name in names)
