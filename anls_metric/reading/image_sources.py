"""Finds page images in a folder, in a zip archive, or in a table column in the format of `datasets`."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from anls_metric.messages import make_error
from anls_metric.reading.files import list_files
from anls_metric.reading.formats import find_format, import_library
from anls_metric.reading.image_cells import IMAGE_ENDINGS, read_cell
from anls_metric.reading.roles import IDS
from anls_metric.reading.table import MAX_SAMPLE

IMAGE_COLUMN = "image"
"""The column from which images are read if several columns contain images."""

MAX_FILE = 200_000_000
"""The maximum unpacked size of an image in an archive in bytes."""

_BATCH = 16  # rows of images that are decoded together

Columns = Mapping[str, Callable[[], Iterator[Any]]]
"""The columns of a table, each as a function that reads the cells, keyed by column name."""


class PageImage(NamedTuple):
    """The image of a page.

    Attributes:
        path: the path of the image within the folder or the archive, or the path in the table cell; "" without a path.
        read: the function that returns the content of the image file, or b"" if there is no image.
    """

    path: str
    read: Callable[[], bytes]


class ImageSource(NamedTuple):
    """A source of page images in a fixed order.

    Attributes:
        read: the function that reads the images, which can be called several times.
        places: the position of each question's image, keyed by question id, or empty if the source has no ids.
    """

    read: Callable[[], Iterable[PageImage]]
    places: Mapping[str, int]


# Files: only images are ever opened.


def open_folder(folder: str) -> ImageSource | None:
    """Find the images in a folder and its subfolders, or return None if there are no images."""
    files = Path(folder).rglob("*")
    return _make_source(PageImage(file.relative_to(folder).as_posix(), file.read_bytes) for file in files)


def open_zip(path: str) -> ImageSource | None:
    """Find the images in a zip archive, or return None if there are no images.

    Raises:
        InputError: the file is not a zip archive, or the archive is damaged. OSError: the file cannot be opened.
    """
    try:
        archive = zipfile.ZipFile(path)
    except OSError:
        raise
    except Exception:  # the library raises many kinds of errors for damaged archives
        raise make_error(path, "not a zip archive, or the archive is damaged: create it again") from None
    members = (member for member in archive.infolist() if member.file_size <= MAX_FILE)
    return _make_source(PageImage(member.filename, partial(archive.read, member)) for member in members)


def _make_source(files: Iterable[PageImage]) -> ImageSource | None:
    """Create a source from the images among files, with the images in a folder before those in its subfolders."""
    images = [file for file in files if file.path.lower().endswith(IMAGE_ENDINGS)]
    images.sort(key=lambda image: (image.path.count("/"), image.path))
    return ImageSource(lambda: images, {}) if images else None


# Tables


def open_table(data: Any) -> ImageSource | None:
    """Find the image column of a table.

    Args:
        data: the path of a Parquet or Arrow file, the path of a folder that contains Parquet or Arrow files, or an
            in-memory table.

    Returns:
        A source with an image for each record, or None for other files, for a table without image columns, and for a
        table with several image columns, none of which is named "image".

    Raises:
        InputError: the path is a folder that cannot be read as one table. OSError: a file cannot be opened.
    """
    is_path = isinstance(data, str)
    parts = list(map(_open_file, list_files(data) or [data])) if is_path else [_open_memory(data)]

    def read_cells(name: str) -> Iterator[Any]:
        for cell in chain.from_iterable(part[name]() for part in parts):
            yield cell.as_py() if hasattr(cell, "as_py") else cell

    def read_images(name: str) -> Iterator[PageImage]:
        for cell in read_cells(name):  # a file named in a cell is opened only for a table in memory
            path, content = read_cell(cell, opens_files=not is_path)
            yield PageImage(path, partial(bytes, content or b""))

    with_images = [name for name in parts[0] if any(image.read() for image in islice(read_images(name), MAX_SAMPLE))]
    chosen = [IMAGE_COLUMN] if IMAGE_COLUMN in with_images else with_images
    if len(chosen) != 1:
        return None
    ids = next((map(str, read_cells(name)) for name in IDS if name in parts[0]), ())
    places = {key: place for place, key in enumerate(ids)}
    return ImageSource(partial(read_images, chosen[0]), places)


def _open_file(path: str) -> Columns:
    """Open the columns of a Parquet or Arrow file, or return no columns for any other file."""
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
    return chain.from_iterable(batch[name] for batch in parquet.iter_batches(_BATCH, columns=[name]))


def _open_memory(data: Any) -> Columns:
    """Open the columns of an in-memory table, which is a pandas, polars, pyarrow or datasets object, a dict of lists,
    or a list of records.
    """
    if isinstance(data, (list, tuple)):
        records = [record for record in data if isinstance(record, Mapping)]
        data = {name: [record.get(name) for record in records] for name in dict.fromkeys(chain(*records))}
    if hasattr(data, "with_format"):  # from datasets, which would otherwise decode images
        data = data.with_format("arrow")
    names = getattr(data, "column_names", None) or getattr(data, "columns", data)
    return {name: partial(iter, data[name]) for name in names if hasattr(data[name], "__iter__")}
