"""Finds the images of pages in a folder or a zip archive. No other file is ever opened."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from anls_metric.messages import make_error
from anls_metric.reading.formats import MAX_UNPACKED
from anls_metric.reading.image_cells import IMAGE_ENDINGS

ARCHIVE = ".zip"
"""The extension of an archive of images."""


class PageImage(NamedTuple):
    """The image of a page.

    Attributes:
        path: the path of its file, as the folder, the archive or the table gives it; "" for none.
        key: the same for images that are certainly the same; "" for no image.
        read: reads the content of its file.
    """

    path: str
    key: str
    read: Callable[[], bytes]


class ImageSource(NamedTuple):
    """Images in a fixed order.

    Attributes:
        read: reads the images; it can be called several times.
        list_ids: lists the id of the question of each image; [] if the source has no ids.
    """

    read: Callable[[], Iterable[PageImage]]
    list_ids: Callable[[], Sequence[str]] = list


def open_folder(folder: str) -> ImageSource | None:
    """Find the images of a folder and of its subfolders; None if there are none."""
    files = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return _make_source((os.path.relpath(file, folder), Path(file).read_bytes) for file in files)


def open_zip(path: str) -> ImageSource | None:
    """Find the images of a zip archive; None if there are none.

    Raises:
        InputError: it is no zip archive, or a damaged one. OSError: it cannot be opened.
    """
    try:
        archive = zipfile.ZipFile(path)
    except OSError:
        raise
    except Exception:  # the library raises many kinds for damaged archives
        raise make_error(path, "not a zip archive, or a damaged one: make it again") from None
    room = [MAX_UNPACKED]
    return _make_source((member.filename, partial(_unpack, archive, member, room)) for member in archive.infolist())


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, room: list[int]) -> bytes:
    """Read a file of an archive. `room` holds the number of bytes that may still be unpacked."""
    with archive.open(member) as stream:
        content = stream.read(room[0] + 1)
    room[0] -= len(content)
    if room[0] < 0:
        raise ValueError("too large")
    return content


def _make_source(files: Iterable[tuple[str, Callable[[], bytes]]]) -> ImageSource | None:
    """Make a source of the images among files. The files of a folder come before its subfolders."""
    images = [
        PageImage(path, path, read)
        for path, read in ((name.replace("\\", "/"), read) for name, read in files)
        if path.lower().endswith(IMAGE_ENDINGS)
    ]
    images.sort(key=lambda image: (image.path.count("/"), image.path))
    return ImageSource(lambda: images) if images else None
