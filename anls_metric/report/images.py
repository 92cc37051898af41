"""Embeds the images of the questions' pages in the report, scaled down."""

from __future__ import annotations

import base64
import glob
import hashlib
import io
import math
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from typing import IO, Any

from anls_metric.analysis.clusters import CLUSTER_FIELDS
from anls_metric.analysis.questions import Question
from anls_metric.core.choices import check_number
from anls_metric.reading.errors import InputError
from anls_metric.reading.image_cells import IMAGE_ENDINGS, IMAGE_FIELDS
from anls_metric.reading.image_files import ARCHIVE, ImageFiles, Read, forms_of, open_folder, open_zip
from anls_metric.reading.image_tables import ImageTable, PageImage, find_image_table
from anls_metric.reading.input_file import File, count_noun, list_some
from anls_metric.reading.records import Records

MOST_IMAGE_BYTES = 24_000_000
"""The limit for all images of a report together, in bytes."""

MOST_MEGABYTES = 10_000
"""The largest limit that a user may choose for these images, in MB."""

_LONGEST_SIDE, _QUALITY = 1100, 45  # 10-point type stays readable, and a page takes about 60 kB
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")  # no format that starts another program, as EPS does
_MOST_PIXELS = 80_000_000  # a sheet of A3 at 600 dots per inch has 70 million
_NO_PILLOW, _PILLOW = "images need Pillow", "pip install 'anls-metric[images]'"
_NAME_IT = "name the folder or the zip archive with the images, or a Parquet file with a column of images"


class Images:
    """The images that fit into a report.

    Args:
        place: a folder of images, including its subfolders, or a zip archive of images; or a table with a column of
            images: a Parquet or Arrow file, or a folder of such files. None for the scored tables.
        tables: the paths or the records of the scored tables, the questions first. Only a column of images is read.
        most_bytes: the limit for the embedded images together.
        show_progress: a function that is called with some words after each image, and with "" at the end.
        files: images by their names, instead of `place`.
        until: the time of `time.monotonic` after which no more images are read.

    Attributes:
        show_progress: see above.
        has_ids: whether the questions have ids; otherwise the first table has the questions in their order.
        data: the embedded images: the name of an image, or the hash of its bytes -> its ``data:`` URL.
        left_out: the name or the hash of an image that is not embedded -> the reason.

    Raises:
        InputError: the place does not exist, holds no images, or needs a library that is not installed.
    """

    def __init__(
        self,
        place: str | None = None,
        tables: Iterable[str | Records] = (),
        most_bytes: int = MOST_IMAGE_BYTES,
        show_progress: Callable[[str], None] | None = None,
        files: ImageFiles | None = None,
        until: float = math.inf,
    ) -> None:
        is_named = place is not None or files is not None
        if is_named and not _has_pillow():
            raise InputError(_NO_PILLOW, remedy=_PILLOW)
        self._files = files or _open_files(place)
        self._tables = [_open_table(place)] if place is not None and not self._files else []
        self._scored = list(tables) if not is_named and most_bytes > 0 else []
        self._room = self._most = most_bytes
        self._until = until
        self.show_progress = show_progress or (lambda words: None)
        self._problems: list[str] = []
        self.has_ids = True
        self.data: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    def embed(self, questions: Sequence[Question]) -> list[str]:
        """Embed the images of questions while there is room. Questions that need a look come first.

        Returns:
            For each question the key of its image in `data` or `left_out`; "" for a question without an image.
        """
        names = [find_image_name(question.row.record) for question in questions]
        tables = self._tables or self._find_tables()
        keys: dict[int, str] = {}
        if self._files:
            self.add(name for name, question in zip(names, questions) if question.needs_a_look)
            self.add(names)
        for table in tables:
            try:
                self._embed_table(table, questions, names, keys)
            except (InputError, OSError, MemoryError) as error:
                why = getattr(error, "strerror", None) or error  # a path is nothing for a report that is sent
                self._problems.append(f"images that cannot be read: {why}")
        self.show_progress("")
        if tables:
            self.left_out |= {names[number]: "not found" for number in range(len(questions)) if number not in keys}
        return [keys.get(number, name) for number, name in enumerate(names)]

    def _find_tables(self) -> list[ImageTable]:
        """Find the scored tables that have images."""
        tables: list[ImageTable] = []
        for scored in self._scored if self.has_ids else self._scored[:1]:
            with suppress(InputError, OSError):  # scoring is done, so a table that cannot be read again is only skipped
                tables += filter(None, [find_image_table(scored, not self.has_ids)])
        if tables and not _has_pillow():
            self._problems.append(f"{_NO_PILLOW}: {_PILLOW}")
            return []
        return tables

    def add(self, names: Iterable[str]) -> None:
        """Embed the images with these names while there is room. Pass the most important names first."""
        for name in filter(None, names):
            if name in self.data or name in self.left_out:
                continue
            read = self._files.find(name) if self._files else None
            if read is None:
                self.left_out[name] = "not found"
            else:
                self._embed(name, read)

    def _embed_table(
        self, table: ImageTable, questions: Sequence[Question], names: Sequence[str], keys: dict[int, str]
    ) -> None:
        """Embed images of a table: first those of questions that need a look, then in a second pass all others."""
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

    def _embed(self, key: str, image: bytes | Read) -> None:
        if key in self.data or key in self.left_out:
            return
        if self._room <= 0 or time.monotonic() > self._until:
            self.left_out[key] = "no room" if self._room <= 0 else "no time"
            return
        try:
            content = image if isinstance(image, bytes) else image()
            address = _scale_down(io.BytesIO(content) if isinstance(content, bytes) else content)
        except Exception:  # Pillow raises many kinds of errors for broken images
            self.left_out[key] = "cannot be read"
            return
        self._room -= len(address)
        self.data[key] = address
        used = (self._most - self._room) / 1e6
        self.show_progress(f"{count_noun(len(self.data), 'page')}, {used:.1f} of at most {self._most / 1e6:g} MB")

    @property
    def note(self) -> str:
        """A sentence about the images that were left out and why; "" for none."""
        missing = list_some((name for name, why in self.left_out.items() if why == "not found"), 1)
        words = {
            "no room": f"over the limit of {self._most / 1e6:g} MB",
            "no time": "for lack of time",
            "not found": f"not in the {self._files.kind} ({missing})" if self._files else "not in the table",
            "cannot be read": "that cannot be read",
        }
        counts = Counter(self.left_out.values())
        note = ", ".join(f"{counts[why]:,} {each}" for why, each in words.items() if counts[why])
        return "; ".join([*([f"images left out: {note}"] if note else []), *self._problems])


class _Places:
    """Finds the questions about a row of a table, by their ids, else by the names of their images."""

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
                for form in forms_of(names[number]):
                    self._by_name.setdefault(form, set()).add(number)

    def find(self, image: PageImage) -> Set[int]:
        """Find the numbers of the questions that an image belongs to."""
        named = (self._by_name.get(form, set()) for form in forms_of(image.path) if image.path and self._by_name)
        return self._by_row.get(image.row, set()).union(*named)


def count_bytes(megabytes: float | None) -> int:
    """Convert the limit for the images of a report to bytes; None takes the default. ValueError: it is no limit."""
    return (
        MOST_IMAGE_BYTES if megabytes is None else round(check_number("images_limit", megabytes, MOST_MEGABYTES) * 1e6)
    )


def _has_pillow() -> bool:
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return False
    return True


def _open_files(place: str | None) -> ImageFiles | None:
    """Open the folder or the archive of images that the user names; None where it is neither."""
    if place is not None and place.lower().endswith(ARCHIVE) and os.path.isfile(place):
        return open_zip(File(place))
    return open_folder(place) if place is not None and os.path.isdir(place) else None


def _open_table(place: str) -> ImageTable:
    """Open the table of images that the user names."""
    if not os.path.exists(place) and glob.escape(place) == place:
        raise InputError("there is no such folder or file", place, _NAME_IT)
    table = find_image_table(place)
    if table is None:
        raise InputError(f"it has no images ({', '.join(IMAGE_ENDINGS)})", place, _NAME_IT)
    return table


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def find_image_name(record: Mapping[str, Any]) -> str:
    """Find the name of the image of a question in its record; "" for none.

    Example:
        >>> find_image_name({"question": "Who?", "image": "documents/pybv0228_81.png"})
        'documents/pybv0228_81.png'
    """
    names = (record.get(field) for field in IMAGE_FIELDS)
    return next((name for name in names if isinstance(name, str) and name), "")


def find_page_name(record: Mapping[str, Any]) -> str:
    """Find the name of the image or the document of a question in its record; "" for none.

    Example:
        >>> find_page_name({"question": "Who?", "docId": 4720})
        '4720'
    """
    names = (record.get(field) for field in CLUSTER_FIELDS)
    documents = (str(name) for name in names if isinstance(name, (str, int)) and not isinstance(name, bool))
    return find_image_name(record) or next(filter(None, documents), "")


def _scale_down(file: str | IO[bytes]) -> str:
    """Make a small copy of an image, as a ``data:`` URL.

    Raises:
        Exception: the image is broken, too large, or of an unsupported format.
    """
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns before it refuses an image, and of broken metadata
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
