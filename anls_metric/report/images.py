"""The images of the pages that questions are about, scaled down and embedded in the report."""

from __future__ import annotations

import base64
import glob
import hashlib
import io
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import IO, Any

from anls_metric.analysis.clusters import CLUSTER_FIELDS
from anls_metric.analysis.questions import Question
from anls_metric.reading.errors import InputError
from anls_metric.reading.image_tables import ImageTable, PageImage, find_image_table
from anls_metric.reading.records import Records

IMAGE_FIELDS = ("image", "image_path", "image_local_name", "image_name", "image_id", "file_name")
"""The fields of a record that may name the image of a question. The first with a text counts."""

MOST_IMAGE_BYTES = 24_000_000
"""The limit for all images of a report together."""

_LONGEST_SIDE, _QUALITY = 1100, 45  # type of 10 points stays readable, and a page takes about 60 kB
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")  # none that starts another program, as EPS does
_MOST_PIXELS = 80_000_000  # a sheet of A3 at 600 dots per inch has 70 million
_NO_PILLOW, _PILLOW = "images need Pillow", "pip install 'anls-metric[images]'"
_NAME_IT = "name the folder with the images, or a Parquet file with a column of images"


class Images:
    """The images that fit into a report.

    Args:
        place: a folder of images, whose subfolders are searched, too; or a table with a column of images: a Parquet or
            Arrow file, or a folder of them. None for the tables that were scored.
        tables: the paths or the records of what was scored, the questions first. Only a column of images is read.
        most_bytes: how many bytes the embedded images may take together.
        show_progress: gets some words after each image, and "" at the end.

    Attributes:
        has_ids: whether the questions have ids of their own; otherwise the first table has them in their order.
        data: the embedded images: the name of an image, or the hash of its bytes -> its ``data:`` address.
        left_out: the name or the hash of an image that is not embedded -> why.

    Raises:
        InputError: there is no such place, it holds no images, or it needs a library that is not installed.
    """

    def __init__(
        self,
        place: str | None = None,
        tables: Iterable[str | Records] = (),
        most_bytes: int = MOST_IMAGE_BYTES,
        show_progress: Callable[[str], None] | None = None,
    ) -> None:
        if place is not None and not _has_pillow():
            raise InputError(_NO_PILLOW, remedy=_PILLOW)
        self._paths = _index_images(place) if place is not None and os.path.isdir(place) else {}
        self._tables = [_open_table(place)] if place is not None and not self._paths else []
        self._scored = list(tables) if place is None and most_bytes > 0 else []
        self._room = self._most = most_bytes
        self._show_progress = show_progress or (lambda words: None)
        self._problems: list[str] = []
        self.has_ids = True
        self.data: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    def embed(self, questions: Sequence[Question]) -> list[str]:
        """Embed the images of questions while there is room, those of questions that need a look before any other.

        Returns:
            For each question the key of its image in `data` or `left_out`; "" for a question without image.
        """
        names = [find_image_name(question.row.record) for question in questions]
        tables = self._tables or self._find_tables()
        keys: dict[int, str] = {}
        if self._paths:
            self.add(name for name, question in zip(names, questions) if question.needs_a_look)
            self.add(names)
        for table in tables:
            try:
                self._embed_table(table, questions, names, keys)
            except (InputError, OSError, MemoryError) as error:
                self._problems.append(f"images that cannot be read: {error}")
        self._show_progress("")
        if tables:
            self.left_out |= {names[number]: "not found" for number in range(len(questions)) if number not in keys}
        return [keys.get(number, name) for number, name in enumerate(names)]

    def _find_tables(self) -> list[ImageTable]:
        """Find the tables with images among what was scored."""
        tables: list[ImageTable] = []
        for scored in self._scored if self.has_ids else self._scored[:1]:
            with suppress(InputError, OSError):  # the scores are there: what cannot be read again has no images
                tables += filter(None, [find_image_table(scored, not self.has_ids)])
        if tables and not _has_pillow():
            self._problems.append(f"{_NO_PILLOW}: {_PILLOW}")
            return []
        return tables

    def add(self, names: Iterable[str]) -> None:
        """Embed the images of the folder with these names while there is room. Add the most important images first."""
        for name in filter(None, names):
            if name in self.data or name in self.left_out:
                continue
            path = _find(self._paths, name)
            if path is None:
                self.left_out[name] = "not found"
            else:
                self._embed(name, path)

    def _embed_table(
        self, table: ImageTable, questions: Sequence[Question], names: Sequence[str], keys: dict[int, str]
    ) -> None:
        """Embed images of a table. The first pass reads those of questions that need a look, the second all others."""
        places = _Places(table, questions, names, keys)
        later = set()
        for image in table.read_images():
            numbers = places.find(image) if image.content else ()
            if not numbers or image.content is None:
                continue
            key = _hash(image.content)
            for number in numbers:
                keys.setdefault(number, key)
            if any(questions[number].needs_a_look for number in numbers):
                self._embed(key, image.content)
            else:
                later.add(key)
        later -= self.data.keys() | self.left_out.keys()
        for image in table.read_images() if later and self._room > 0 else ():
            if image.content and places.find(image):
                self._embed(_hash(image.content), image.content)
        for key in later - self.data.keys():
            self.left_out.setdefault(key, "no room")

    def _embed(self, key: str, file: str | bytes) -> None:
        if key in self.data or key in self.left_out:
            return
        if self._room <= 0:
            self.left_out[key] = "no room"
            return
        try:
            address = _scale_down(io.BytesIO(file) if isinstance(file, bytes) else file)
        except Exception:  # Pillow raises many kinds of errors for broken images
            self.left_out[key] = "cannot be read"
            return
        self._room -= len(address)
        self.data[key] = address
        used = (self._most - self._room) / 1e6
        self._show_progress(f"{len(self.data):,} pages, {used:.1f} of at most {self._most / 1e6:g} MB")

    @property
    def note(self) -> str:
        """The number of images that were left out and why, "" if none was."""
        reports = {
            "no room": f"{{count:,}} beyond {self._most / 1e6:g} MB together (--images-limit)",
            "not found": f"{{count:,}} not in the {'folder' if self._paths else 'table'}",
            "cannot be read": "{count:,} that cannot be read",
        }
        reasons = list(self.left_out.values())
        note = ", ".join(form.format(count=reasons.count(why)) for why, form in reports.items() if why in reasons)
        return "; ".join([*([f"images left out: {note}"] if note else []), *self._problems])


class _Places:
    """Says which questions a row of a table is about: by their ids, else by the names of their images."""

    def __init__(
        self, table: ImageTable, questions: Sequence[Question], names: Sequence[str], keys: Mapping[int, str]
    ) -> None:
        rows = table.find_rows({question.id for question in questions})
        self._by_row: dict[int, set[int]] = {}
        self._by_name: dict[str, set[int]] = {}
        for number, question in enumerate(questions):
            if number in keys:
                continue
            if question.id in rows:
                self._by_row.setdefault(rows[question.id], set()).add(number)
            elif names[number]:
                for form in _forms_of(names[number]):
                    self._by_name.setdefault(form, set()).add(number)

    def find(self, image: PageImage) -> Set[int]:
        """The numbers of the questions that an image belongs to."""
        named = (self._by_name.get(form, set()) for form in _forms_of(image.path) if image.path and self._by_name)
        return self._by_row.get(image.row, set()).union(*named)


def count_bytes(megabytes: float | None) -> int:
    """The limit for the images of a report in bytes; None for the usual limit."""
    return MOST_IMAGE_BYTES if megabytes is None else round(megabytes * 1e6)


def _has_pillow() -> bool:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return False
    return True


def _open_table(place: str) -> ImageTable:
    """Open a table that the user names for its images."""
    if not os.path.exists(place) and glob.escape(place) == place:
        raise InputError("there is no such folder or file", place, _NAME_IT)
    table = find_image_table(place)
    if table is None:
        raise InputError(f"it has no images ({', '.join(_ENDINGS)})", place, _NAME_IT)
    return table


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _forms_of(name: str) -> tuple[str, str, str]:
    """The forms of the name of an image: its relative path, its file name, and its file name without the ending."""
    path = name.replace("\\", "/").lstrip("./")
    last = path.rpartition("/")[2]
    return path, last, os.path.splitext(last)[0]


def _find(paths: Mapping[str, str], name: str) -> str | None:
    """The path of an image in the folder, None if there is none. No other file is ever opened."""
    return next((paths[form] for form in _forms_of(name) if form in paths), None)


def find_image_name(record: Mapping[str, Any]) -> str:
    """The name of the image of a question in its record, "" if the record has none.

    Example:
        >>> find_image_name({"question": "Who?", "image": "documents/pybv0228_81.png"})
        'documents/pybv0228_81.png'
    """
    names = (record.get(field) for field in IMAGE_FIELDS)
    return next((name for name in names if isinstance(name, str) and name), "")


def find_page_name(record: Mapping[str, Any]) -> str:
    """The name of the image or the document of a question in its record, "" if the record has none.

    Example:
        >>> find_page_name({"question": "Who?", "docId": 4720})
        '4720'
    """
    names = (record.get(field) for field in CLUSTER_FIELDS)
    documents = (str(name) for name in names if isinstance(name, (str, int)) and not isinstance(name, bool))
    return find_image_name(record) or next(filter(None, documents), "")


def _index_images(folder: str) -> dict[str, str]:
    """The paths of the images of a folder, by relative path, by file name, and by file name without the ending."""
    paths: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            stem, ending = os.path.splitext(name)
            if ending.lower() in _ENDINGS:
                path = os.path.join(place, name)
                paths[os.path.relpath(path, folder).replace(os.sep, "/")] = path
                paths.setdefault(name, path)
                paths.setdefault(stem, path)
    return paths


def _scale_down(file: str | IO[bytes]) -> str:
    """A small copy of an image, as a ``data:`` address.

    Raises:
        Exception: the image is broken, too large, or of a format that is not read.
    """
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns of what it then refuses, and of broken metadata
        with Image.open(file, formats=_FORMATS) as image:
            image.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
            if image.width * image.height > _MOST_PIXELS:
                raise ValueError("too many pixels")
            upright = ImageOps.exif_transpose(image)
            plain = upright if upright.mode in ("L", "RGB") else upright.convert("RGB")
            plain.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
            stream = io.BytesIO()
            plain.save(stream, "WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
