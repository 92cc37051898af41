"""Finds the images of pages by their names: in a folder, or in a zip archive. No other file is ever opened."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping

from anls_metric.reading.archives import unpack_member
from anls_metric.reading.image_cells import IMAGE_ENDINGS
from anls_metric.reading.input_file import File, Growth

Read = Callable[[], "str | bytes"]
"""Gives the path of an image, or its content."""

ARCHIVE = ".zip"
"""The ending of the name of an archive of images."""


class ImageFiles:
    """Images by their names.

    Args:
        images: the images by their paths inside the folder or archive. Files of other kinds are left out.
        kind: what they are in.

    Example:
        >>> files = ImageFiles({"documents/a.png": lambda: b"...", "notes.txt": lambda: b""})
        >>> len(files), files.find("b.png"), files.find("scans/a.png")()
        (1, None, b'...')
    """

    def __init__(self, images: Mapping[str, Read], kind: str = "folder") -> None:
        self.kind = kind
        self._images: dict[str, Read] = {}
        self._count = 0
        for path in sorted(images, key=_place_files_first):
            if path.lower().endswith(IMAGE_ENDINGS):
                whole, name, stem = forms_of(path)
                self._images[whole] = images[path]
                self._images.setdefault(name, images[path])
                self._images.setdefault(stem, images[path])
                self._count += 1

    def __len__(self) -> int:
        return self._count

    def find(self, name: str) -> Read | None:
        """Find an image by its path, its file name, or its file name without the ending; None if there is none."""
        return next((self._images[form] for form in forms_of(name) if form in self._images), None)


def forms_of(name: str) -> tuple[str, str, str]:
    """The forms of the name of an image: its relative path, its file name, and its file name without the ending."""
    path = name.replace("\\", "/").lstrip("./")
    last = path.rpartition("/")[2]
    return path, last, os.path.splitext(last)[0]


def _place_files_first(path: str) -> list[tuple[bool, str]]:
    """A key for sorting: the files of a folder come before its subfolders."""
    *folders, name = path.split("/")
    return [*((True, folder) for folder in folders), (False, name)]


def open_folder(folder: str) -> ImageFiles:
    """Find the images of a folder and of its subfolders."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return ImageFiles({os.path.relpath(path, folder).replace(os.sep, "/"): _make_reader(path) for path in paths})


def _make_reader(path: str) -> Read:
    return lambda: path


def open_zip(file: File) -> ImageFiles:
    """Find the images of a zip archive.

    Raises:
        InputError: it is no such archive, it has no images, or a password locks them. OSError: it cannot be opened.
    """
    size = os.path.getsize(file.path)
    try:
        archive = zipfile.ZipFile(file.path)
    except PermissionError:
        raise
    except Exception:  # the library raises many kinds of errors for damaged archives
        raise file.error("not a zip archive, or a damaged one", remedy="make it again") from None
    growth = Growth(file, size)
    members = {member.filename.replace("\\", "/"): member for member in archive.infolist()}
    reads = {name: _make_unpacker(file, archive, member, growth) for name, member in members.items()}
    files = ImageFiles(reads, "zip archive")
    if not files:
        problem = f"no image is in it ({', '.join(IMAGE_ENDINGS)})"
        raise file.error(problem, remedy="put the images of the pages into it")
    if all(member.flag_bits & _IS_LOCKED for name, member in members.items() if name.lower().endswith(IMAGE_ENDINGS)):
        raise file.error("a password locks its images", remedy="make it again without a password")
    return files


_IS_LOCKED = 1


def _make_unpacker(file: File, archive: zipfile.ZipFile, member: zipfile.ZipInfo, growth: Growth) -> Read:
    def read() -> bytes:
        growth.start_chunk()
        return unpack_member(file, archive, member, growth)

    return read
