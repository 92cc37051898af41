"""Reads Parquet and Arrow files, with pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from anls_metric.reading import arrow_sizes, parquet_sizes
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import AGAIN, AT_ONCE, CHUNK, Chunk, File, Growth


def read_parquet(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the rows of a Parquet file, without columns of images and other columns that are not needed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise file.error_without_library("Parquet", "pyarrow") from None
    held = file.hold(stream)
    try:
        table = parquet.ParquetFile(held)
        names = _choose_columns(file, table.schema_arrow)
        size = parquet_sizes.choose_batch_size(file, held, table.schema, names, CHUNK)
        count = 0
        for chunk in _read_batches(file, held, table.iter_batches(batch_size=size, columns=names)):
            count += len(chunk.records)
            yield chunk
        if names and count < table.metadata.num_rows:  # the library silently skips rows of a broken column
            problem = f"only {count:,} of its {table.metadata.num_rows:,} rows can be read"
            raise file.error(problem, remedy=AGAIN)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, IndexError) as error:
        raise file.error(f"it is not Parquet, or damaged ({error})", remedy=AGAIN) from None


def read_arrow(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the rows of an Arrow file, as `datasets` stores them, or of an Arrow stream."""
    try:
        import pyarrow
    except ImportError:
        raise file.error_without_library("Arrow", "pyarrow") from None
    held = file.hold(stream)
    place = arrow_sizes.find_stream(held)
    arrow_sizes.check_messages(file, held, place)
    held.seek(place)
    try:
        reader = pyarrow.ipc.open_stream(held)
        names = _choose_columns(file, reader.schema)
        yield from _read_batches(file, held, (batch.select(names) for batch in reader), may_be_broken=True)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise file.error(f"it is not Arrow, or damaged ({error})", remedy=AGAIN) from None


def _choose_columns(file: File, schema: Any) -> list[str]:
    """Choose the columns to read."""
    file.fields = schema.names
    file.refuse_repeated(schema.names)
    columns, others = file.columns, file.unless_bytes
    if columns is None:
        columns, others = (), schema.names
    return [
        field.name
        for field in schema
        if field.name in columns or (field.name in others and not holds_bytes(field.type))
    ]


def holds_bytes(kind: Any) -> bool:
    """Whether values of a type of pyarrow hold bytes, as images do."""
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    return any(holds_bytes(kind.field(place).type) for place in range(kind.num_fields))


def _read_batches(file: File, held: IO[bytes], batches: Iterable[Any], may_be_broken: bool = False) -> Iterator[Chunk]:
    place = held.tell()
    growth = Growth(file, held.seek(0, 2), arrow_sizes.REMEDY)
    held.seek(place)
    read = 0
    for batch in batches:
        if may_be_broken:
            batch.validate(full=True)
        for part in _split_batch(batch, growth):
            if records := _read_batch(file, part, read):
                yield Chunk(records, range(read + 1, read + 1 + len(records)), "row")
                read += len(records)


def _split_batch(batch: Any, growth: Growth) -> Iterator[Any]:
    """Split a batch into parts whose records fit into memory."""
    for start in range(0, batch.num_rows, CHUNK):
        part = batch.slice(start, CHUNK)
        size = _measure_batch(part)
        growth.add(size)
        yield from _halve(part, size)
        growth.start_chunk()


def _halve(batch: Any, size: int) -> Iterator[Any]:
    count = batch.num_rows
    if size <= AT_ONCE.least or count == 1:
        yield batch
        return
    for half in (batch.slice(0, count // 2), batch.slice(count // 2)):
        yield from _halve(half, _measure_batch(half))


def _measure_batch(batch: Any) -> int:
    return sum(map(arrow_sizes.measure_array, batch.columns))


def _read_batch(file: File, batch: Any, before: int) -> list[dict[str, Any]]:
    unreadable = (UnicodeDecodeError, LookupError, OverflowError)  # OverflowError: a date outside Python's range
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
