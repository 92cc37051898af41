"""Binary formats: Parquet, Arrow, Excel workbooks, and the zip archives of inspect_ai. Most need a library."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from typing import IO, Any

from anls_metric.reading.input_file import CHUNK, Chunk, File, list_some, natural_key, split_into_chunks

_FILES = "pip install 'anls-metric[files]'"


def _error_without(file: File, what: str, library: str) -> Exception:
    return file.error(f"reading {what} needs {library}", remedy=_FILES)


def _refuse_too_large(file: File, size: int) -> None:
    if file.most_bytes is not None and size > file.most_bytes:
        raise file.error(f"it holds {size >> 20} MB once unpacked, more than {file.most_bytes >> 20}")


# Parquet and Arrow


def read_parquet(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the rows of a Parquet file, without columns of images and columns that nobody needs."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise _error_without(file, "Parquet", "pyarrow") from None
    try:
        table = parquet.ParquetFile(file.hold(stream))
        names = _choose_columns(file, table.schema_arrow)
        yield from _read_batches(
            file, table.iter_batches(batch_size=_choose_batch_size(file, table.metadata), columns=names)
        )
    except (pyarrow.ArrowException, OSError) as error:
        raise file.error(f"not Parquet: {error}") from None


def read_arrow(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the rows of an Arrow file, as `datasets` stores them, or of an Arrow stream."""
    try:
        import pyarrow
    except ImportError:
        raise _error_without(file, "Arrow", "pyarrow") from None
    held = file.hold(stream)
    try:
        try:
            reader = pyarrow.ipc.open_stream(held)
        except pyarrow.ArrowInvalid:
            held.seek(0)
            reader = pyarrow.ipc.open_file(held)
        names = _choose_columns(file, reader.schema)
        count = getattr(reader, "num_record_batches", None)
        batches = reader if count is None else map(reader.get_batch, range(count))
        yield from _read_batches(file, (part for batch in batches for part in _split_batch(batch.select(names))))
    except (pyarrow.ArrowException, OSError) as error:
        raise file.error(f"not Arrow: {error}") from None


def _split_batch(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, CHUNK):
        yield batch.slice(start, CHUNK)


def _choose_columns(file: File, schema: Any) -> list[str]:
    """Choose the columns to read."""
    file.fields = schema.names
    repeated = [name for name, count in Counter(schema.names).items() if count > 1]
    if repeated:
        raise file.error(f"two columns have the same name: {', '.join(repeated)}")
    columns, others = file.columns, file.unless_bytes
    if columns is None:
        columns, others = (), schema.names
    return [
        field.name
        for field in schema
        if field.name in columns or (field.name in others and not _holds_bytes(field.type))
    ]


def _holds_bytes(kind: Any) -> bool:
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    return any(_holds_bytes(kind.field(place).type) for place in range(kind.num_fields))


def _read_batches(file: File, batches: Iterator[Any]) -> Iterator[Chunk]:
    read = 0
    for batch in batches:
        if records := _read_batch(file, batch, read):
            yield Chunk(records, range(read + 1, read + 1 + len(records)), "row")
            read += len(records)


def _read_batch(file: File, batch: Any, before: int) -> list[dict[str, Any]]:
    unreadable = (UnicodeDecodeError, LookupError, OverflowError)  # also a date that Python does not have
    try:
        records: list[dict[str, Any]] = batch.to_pylist()
    except unreadable:
        for number in range(batch.num_rows):
            try:
                batch.slice(number, 1).to_pylist()
            except unreadable as error:
                raise file.error(f"a value that cannot be read: {error}", f"row {before + number + 1}") from None
        raise
    return records


def _choose_batch_size(file: File, metadata: Any) -> int:
    """Choose how many rows to read at a time: Parquet stores a value once that takes memory in every row."""
    if file.most_bytes is None:
        return CHUNK
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    sizes = [group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns)]
    _refuse_too_large(file, sum(sizes))
    return int(max(1, min(CHUNK, file.most_bytes // max([*sizes, 1]))))


# Zip archives: a workbook, or a log of inspect_ai


def read_zip(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the records of a zip archive that is a workbook or a log of inspect_ai."""
    held = file.hold(stream)
    try:
        archive = zipfile.ZipFile(held)
    except zipfile.BadZipFile as error:
        raise file.error(f"a zip archive that cannot be read: {error}") from None
    names = archive.namelist()
    if any(name.startswith("xl/") for name in names):
        held.seek(0)
        yield from read_excel(file, held)
    elif any(name.startswith("samples/") for name in names):
        yield from _read_samples(file, archive)
    else:
        raise file.error(
            f"a zip archive (of {list_some(names) or 'nothing'})", remedy="unpack it and name the file of answers"
        )


def _read_samples(file: File, archive: zipfile.ZipFile) -> Iterator[Chunk]:
    """Read the samples of an inspect_ai log: each is a file of the archive."""
    members = [member for member in archive.infolist() if member.filename.startswith("samples/")]
    members.sort(key=lambda member: natural_key(member.filename))
    _refuse_too_large(file, sum(member.file_size for member in members))

    def read_samples() -> Iterator[tuple[int, Any]]:
        for number, member in enumerate(members, 1):
            try:
                yield number, json.loads(_unpack(file, archive, member))
            except (ValueError, zipfile.BadZipFile, RecursionError, EOFError) as error:
                raise file.error(f"{member.filename} cannot be read: {error}") from None

    yield from split_into_chunks(read_samples(), "sample")


_ZSTANDARD = 93  # the number of the method in zip archives


def _unpack(file: File, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(member)
    except NotImplementedError:  # Zstandard, before Python 3.14
        if member.compress_type != _ZSTANDARD:
            raise file.error(f"{member.filename} is packed in a way that Python cannot unpack") from None
    try:
        import zstandard
    except ImportError:
        raise _error_without(file, "this log of inspect_ai, which is packed by Zstandard,", "zstandard") from None
    source = archive.fp
    assert source is not None
    source.seek(member.header_offset)
    header = source.read(30)  # it ends with the lengths of the name and of the extra field
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    try:
        unpacked: bytes = zstandard.ZstdDecompressor().decompressobj().decompress(source.read(member.compress_size))
    except zstandard.ZstdError as error:
        raise ValueError(error) from None
    return unpacked


# Excel


def read_excel(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the rows of the first sheet of a workbook; its first row names the columns. Empty cells are empty texts."""
    try:
        import python_calamine
    except ImportError:
        raise _error_without(file, "Excel", "python-calamine") from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(file.hold(stream))
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (python_calamine.CalamineError, OSError) as error:
        raise file.error(f"a workbook that cannot be read: {error}") from None
    if not rows:
        raise file.error("its first sheet is empty")
    header = [str(_read_cell(file, value, "row 1")) for value in rows[0]]
    while header and not header[-1]:
        header.pop()
    if len(set(header)) < len(header):
        raise file.error(f"two columns have the same name: {', '.join(header)}")

    def read_records() -> Iterator[tuple[int, Any]]:
        for number, row in enumerate(rows[1:], 2):
            if any(value != "" for value in row):
                yield (
                    number,
                    {name: _read_cell(file, value, f"row {number}, {name}") for name, value in zip(header, row)},
                )

    yield from split_into_chunks(read_records(), "row")


def _read_cell(file: File, value: Any, place: str) -> str | int | float:
    for kinds, read in _CELLS:
        if isinstance(value, kinds):
            return read(value)
    raise file.error(
        f"the cell is {value!s} ({type(value).__name__}), of which the text as it was typed is lost",
        place,
        "format the column as text and type it again",
    )


# Excel stores all numbers alike, and shows whole ones without a decimal point.
_CELLS: tuple[tuple[type, Callable[[Any], str | int | float]], ...] = (
    (str, str),
    (bool, lambda value: str(value).upper()),
    (int, int),
    (float, lambda value: int(value) if value.is_integer() else value),
)
