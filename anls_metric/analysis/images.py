"""Embeds scaled-down page images for the questions in the report."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.messages import InputError, make_error
from anls_metric.reading.answers import Questions
from anls_metric.reading.image_cells import IMAGE_ENDINGS, IMAGE_FIELDS
from anls_metric.reading.image_sources import ImageSource, PageImage, open_folder, open_table, open_zip
from anls_metric.reading.inputs import Input, check_paths

MAX_IMAGE_BYTES = 24_000_000
"""The limit for the total size in bytes of all images in a report."""

NOT_FOUND = "not found"
"""The reason given for an image that its source lacks."""

_MAX_SIDE, _QUALITY = 1100, 45  # 10-point type remains readable, and a page takes about 60 kB
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "GIF", "BMP")  # no format, such as EPS, that starts another program


class Images:
    """The page images that are embedded in a report, up to a size limit.

    Args:
        place: a folder of images (with its subfolders), a zip archive of images, or a Parquet or Arrow file (or a
            folder of these) with an image column. None selects an image column of the scored data.
        inputs: the scored data, with the gold file first. Files can be left out, since their names are known from the
            questions.
        max_bytes: the limit for all embedded images together.

    Attributes:
        pictures: the embedded images, as ``data:`` URLs.
        note: a sentence about the images that were left out; "" for none.

    Raises:
        InputError: ``place`` does not exist, has no images, or needs a library that is not installed.
    """

    def __init__(
        self, place: str | None = None, inputs: Sequence[Input] = (), max_bytes: int = MAX_IMAGE_BYTES
    ) -> None:
        self._named = None if place is None else _open_place(place)
        self._data = {source.name or "data": source.data for source in reversed(inputs) if not source.path}
        self._max_bytes = max_bytes
        self._indices: dict[bytes, int] = {}
        self.pictures: list[str] = []
        self.note = ""

    def embed(self, own: Questions, questions: Sequence[JoinedQuestion], names: Sequence[str]) -> list[int | str]:
        """Embed the images of questions until the limit is reached, starting with questions that need a look.

        Args:
            own: the questions of the first submission, whose file may contain the images.
            questions: the questions.
            names: the name of each question's image or document.

        Returns:
            For each question, the index of its image in `pictures` or the reason why there is none; [] if there are no
            images at all.
        """
        try:
            source = self._named or self._open_own(own)
            if source is None:
                return []
            _check_pillow()
            by_id = source.places
            places = [by_id.get(question.id) for question in questions] if by_id else _find_by_names(source, names)
            urgent = {place for place, question in zip(places, questions) if question.needs_a_look}
            known: dict[int | None, int | str] = {}
            for wanted in (urgent, set(places) - urgent):
                known |= {place: self._embed(image) for place, image in enumerate(source.read()) if place in wanted}
        except (OSError, ValueError, MemoryError) as error:
            self.note = f"the images cannot be read: {getattr(error, 'strerror', None) or error}"  # without the path
            return []
        found = [known.get(place, NOT_FOUND) for place in places]
        counts = Counter(reason for reason in found if isinstance(reason, str))
        if counts:
            reasons = (f"{number:,} {reason}" for reason, number in counts.items())
            self.note = f"questions without their image: {', '.join(reasons)}"
        return found

    def _open_own(self, own: Questions) -> ImageSource | None:
        """Open the images in the file or table that contains the questions."""
        name = own.table.name
        source = open_table(self._data.get(name, name if os.path.exists(name) else {}))
        return source and source._replace(places=dict(zip(own.ids, own.table.numbers)))

    def _embed(self, image: PageImage) -> int | str:
        """Embed an image unless it is already embedded, and return its index or the reason why it is left out."""
        try:
            content = image.read()
            key = hashlib.blake2b(content).digest()
            if not content:
                return NOT_FOUND
            if key not in self._indices:
                if sum(map(len, self.pictures)) >= self._max_bytes:
                    return f"over the limit of {self._max_bytes / 1e6:g} MB"
                self.pictures.append(_scale_down(content))
                self._indices[key] = len(self.pictures) - 1
        except Exception:  # Pillow and zipfile raise many kinds of errors for broken files
            return "cannot be read"
        return self._indices[key]


def _check_pillow() -> None:
    if find_spec("PIL") is None:
        raise make_error("", "images need Pillow: pip install 'anls-metric[images]'")


def _open_place(place: str) -> ImageSource:
    """Open the images that the user names."""
    _check_pillow()
    check_paths([Input(place)])
    try:
        source = open_zip(place) if place.lower().endswith(".zip") else open_folder(place) or open_table(place)
    except InputError:
        if not os.path.isdir(place):
            raise
        source = None  # a folder with other files
    if source is None:
        sentence = "no images ({extensions}) in it: pass a folder or a zip archive of images, or a Parquet file with a "
        raise make_error(place, sentence + "column of images", extensions=", ".join(IMAGE_ENDINGS))
    return source


def find_page_name(record: Mapping[str, Any]) -> str:
    """Find the name of a question's image or document in its record, or return "" if there is none.

    Example:
        >>> find_page_name({"question": "Who?", "docId": 4720, "image": "documents/pybv0228_81.png"})
        'documents/pybv0228_81.png'
    """
    names = (record.get(field) for field in (*IMAGE_FIELDS, *DOCUMENTS))
    return next((str(name) for name in names if type(name) in (str, int) and name != ""), "")


def _find_by_names(source: ImageSource, names: Sequence[str]) -> list[int | None]:
    """Find the position in the source of each named image, or None for a name that no image has."""
    places: dict[str, int] = {}
    for place, image in enumerate(source.read()):
        for form in _list_forms(image.path):
            places.setdefault(form, place)
    return [next((places[form] for form in _list_forms(name) if form in places), None) for name in names]


def _list_forms(name: str) -> list[str]:
    """List the forms of an image name: its path, and its file name without the extension."""
    path = name.replace("\\", "/").lstrip("./")
    return [path, os.path.splitext(path.rpartition("/")[2])[0]] if name else []


def _scale_down(content: bytes) -> str:
    """Create a small copy of an image as a ``data:`` URL.

    Raises:
        Exception: the image is broken, too large, or of an unsupported format.
    """
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns before it rejects an image, and about broken metadata
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            image.draft("RGB", (_MAX_SIDE, _MAX_SIDE))
            plain = ImageOps.exif_transpose(image).convert("RGB")
            plain.thumbnail((_MAX_SIDE, _MAX_SIDE))
            stream = io.BytesIO()
            plain.save(stream, "WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
