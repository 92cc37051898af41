"""Finds the images of pages in tables: in a column of bytes beside the questions, as `datasets` stores them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

from anls_metric.reading.formats import find_format, import_library
from anls_metric.reading.image_cells import read_cell
from anls_metric.reading.roles import IDS, usual_field
from anls_metric.reading.table import MAX_SAMPLE, Table, list_files
from anls_metric.report.image_files import ImageSource, PageImage

IMAGE_COLUMN = "image"
"""The column that holds the images where several columns hold bytes."""

Columns = Mapping[str, Callable[[], Iterable[Any]]]
"""The columns of a table. Each is read when it is called."""

_BATCH = 16  # rows of images that are decoded together


def open_table(data: Any) -> ImageSource | None:
    """Find the column of images of a table.

    Args:
        data: the path of a Parquet or Arrow file, or of a folder of such files; or a table in memory.

    Returns:
        The source, with an image for each record; None for other files, and for a table without a column of images or
        with several, none of them called "image".

    Raises:
        InputError: the path is a folder of other files. OSError: a file cannot be opened.
    """
    is_path = isinstance(data, str)
    columns = _open_files(data) if is_path else _open_memory(data)
    sources = {name: partial(_read_images, read, opens_files=not is_path) for name, read in columns.items()}
    names = [name for name, read in sources.items() if any(image.key for image in islice(read(), MAX_SAMPLE))]
    if IMAGE_COLUMN not in names and len(names) != 1:
        return None
    ids = usual_field(Table("", [], None, dict.fromkeys(columns, False)), IDS)
    return ImageSource(
        sources[IMAGE_COLUMN if IMAGE_COLUMN in names else names[0]],
        lambda: list(map(str, columns[ids]())) if ids else [],
    )


def _read_images(read: Callable[[], Iterable[Any]], opens_files: bool) -> Iterator[PageImage]:
    """Read the images in the cells of a column. Only where a table is in memory, the files that it names are opened."""
    for cell in read():
        path, content = read_cell(cell, opens_files)
        key = hashlib.blake2b(content, digest_size=16).hexdigest() if content else ""
        yield PageImage(path, key, partial(bytes, content or b""))


def _open_files(path: str) -> Columns:
    """Open the columns of a file, or of all files of a folder or a pattern."""
    parts = list(map(_open_file, list_files(path) or [path]))
    return {name: partial(_chain, parts, name) for name in parts[0]}


def _chain(parts: Iterable[Columns], name: str) -> Iterator[Any]:
    return chain.from_iterable(part[name]() for part in parts)


def _open_file(path: str) -> Columns:
    with open(path, "rb") as file:
        head = file.read(8)
    kind = find_format(head, path).name
    if kind == "Parquet":
        parquet = import_library("pyarrow.parquet", kind, path).ParquetFile(path)
        return {name: partial(_read_parquet, parquet, name) for name in parquet.schema_arrow.names}
    if kind == "Arrow":
        arrow = import_library("pyarrow", kind, path)
        opened = arrow.ipc.open_file if head.startswith(b"ARROW1") else arrow.ipc.open_stream
        return _open_memory(opened(arrow.memory_map(path)).read_all())
    return {}


def _read_parquet(parquet: Any, name: str) -> Iterator[Any]:
    for batch in parquet.iter_batches(_BATCH, columns=[name]):
        yield from _read_cells(batch, name)


def _open_memory(data: Any) -> Columns:
    """Open the columns of a table in memory: of pandas, polars, pyarrow or datasets, of lists, or a list of records."""
    if isinstance(data, (list, tuple)):
        records = [record for record in data if isinstance(record, Mapping)]
        data = {name: [record.get(name) for record in records] for name in dict.fromkeys(chain(*records))}
    if hasattr(data, "with_format"):  # of datasets, which decodes images otherwise
        data = data.with_format("arrow")
    names = getattr(data, "column_names", None) or getattr(data, "columns", data)
    return {str(name): partial(_read_cells, data, name) for name in names if hasattr(data[name], "__iter__")}


def _read_cells(table: Any, name: str) -> Iterator[Any]:
    """Read the cells of a column one by one."""
    for cell in table[name]:
        yield cell.as_py() if hasattr(cell, "as_py") else cell
