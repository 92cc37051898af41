"""Finds page images in tables: a column of bytes beside the questions, as `datasets` stores it in Parquet files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.reading.column_records import ColumnRecords
from anls_metric.reading.errors import InputError
from anls_metric.reading.image_cells import IMAGE_FIELDS, holds_image, names_file, read_cell
from anls_metric.reading.input_file import Chunk
from anls_metric.reading.memory_tables import Table
from anls_metric.reading.records import Records, find_shards
from anls_metric.reading.resolver import ID_FIELDS

IMAGE_COLUMN = "image"
"""The column that holds the images where several columns hold bytes."""

_ENDINGS = (".parquet", ".pq", ".arrow")
_NEARLY_ALL = 0.95  # the share of the questions whose ids a column must hold, unless it has a usual name of an id


class PageImage(NamedTuple):
    """The image in a row of a table.

    Attributes:
        row: the number of the row, from 0.
        path: the path that the table gives for the image, "" if it gives none.
        content: the bytes of the file of the image; None if the row has no image.
    """

    row: int
    path: str
    content: bytes | None


class ImageTable:
    """A table with a column of images.

    Args:
        records: the records of the table.
        column: the column of images.
        is_numbered: whether the ids of the questions are the numbers of the rows, from 1.

    Attributes:
        name: the name of the table in messages.
    """

    def __init__(self, records: Records, column: str, is_numbered: bool = False) -> None:
        self.name = records.name
        self._records, self._column, self._is_numbered = records, column, is_numbered

    def find_rows(self, ids: Collection[str]) -> Mapping[str, int]:
        """Find the rows of questions by their ids.

        Returns:
            The id of a question -> the number of its row, from 0. Questions that the table does not have are left out.

        Raises:
            InputError: the table cannot be read.
        """
        wanted = frozenset(ids)
        if self._is_numbered:
            return {key: int(key) - 1 for key in wanted if key.isdecimal()}
        first: Mapping[str, Any] = next(iter(self._records.first_records()), {})
        fields = [name for name, value in first.items() if type(value) in (str, int)]
        rows: dict[str, dict[str, int]] = {name: {} for name in fields}
        repeated = set()
        for start, chunk in self._read(fields):
            for name, known in rows.items():
                for row, value in enumerate(map(str, _get_column(chunk, name)), start):
                    if value in wanted and known.setdefault(value, row) != row:
                        repeated.add(name)
        best = max((name for name in ID_FIELDS if rows.get(name)), key=lambda name: len(rows[name]), default=None)
        others = (name for name in fields if name not in repeated and len(rows[name]) >= _NEARLY_ALL * len(wanted))
        chosen = best or next(others, None)
        return rows[chosen] if chosen else {}

    def read_images(self) -> Iterator[PageImage]:
        """Read the images, a few at a time.

        Raises:
            InputError: the table cannot be read.
        """
        opens_files = isinstance(self._records, Table)
        for start, chunk in self._read([self._column]):
            for row, cell in enumerate(_get_column(chunk, self._column), start):
                yield PageImage(row, *read_cell(cell, opens_files))

    def _read(self, columns: Sequence[str]) -> Iterator[tuple[int, Chunk]]:
        """Read columns, each chunk with the number of its first row."""
        records = self._records.reopen()
        if records is None:
            return
        records.columns = columns
        start = 0
        for chunk in records.chunks():
            yield start, chunk
            start += len(chunk.records)


def find_image_table(table: str | Records, is_numbered: bool = False) -> ImageTable | None:
    """Find the column of images of a table.

    Args:
        table: the path of a file or a folder, or the records of a table in memory.
        is_numbered: see `ImageTable`.

    Returns:
        The table; None if it has no column of images, or several and none called "image".

    Raises:
        InputError: the table cannot be read. OSError: it cannot be opened.
    """
    records = Records(table) if isinstance(table, str) else table
    if not isinstance(records, Table) and not _has_columns(records.path):
        return None
    again = records.reopen()
    column = _find_column(again) if again else None
    return ImageTable(again, column, is_numbered) if again and column else None


def _find_column(records: Records) -> str | None:
    """Find the column of images: of bytes, or of the paths of files where the table is in memory."""
    first = records.first_records()
    names = [name for name in records.fields if first and name not in first[0]]
    if isinstance(records, Table):
        names += dict.fromkeys(name for record in first for name, cell in record.items() if holds_image(cell))
        names = names or [name for name in IMAGE_FIELDS if any(names_file(record.get(name)) for record in first)][:1]
    return IMAGE_COLUMN if IMAGE_COLUMN in names else names[0] if len(names) == 1 else None


def _get_column(chunk: Chunk, name: str) -> Sequence[Any]:
    """A column of a chunk; None for a record that does not have it."""
    records = chunk.records
    return records.get_column(name) if isinstance(records, ColumnRecords) else [each.get(name) for each in records]


def _has_columns(path: str) -> bool:
    """Whether a path leads to files whose columns can be read separately."""
    try:
        files = find_shards(path) or [path]
    except InputError:  # a folder with other files
        return False
    return path != "-" and os.path.splitext(files[0])[1].lower() in _ENDINGS
