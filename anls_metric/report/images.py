"""The images of the pages that questions are about, scaled down and embedded in the report."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Mapping
from typing import Any

from anls_metric.reading.errors import InputError

IMAGE_FIELDS = ("image", "image_path", "image_local_name", "image_name", "image_id", "file_name")
"""The fields of a record that may name the image of a question. The first with a text counts."""

MOST_IMAGE_BYTES = 24_000_000
"""The limit for all images of a report together."""

_LONGEST_SIDE, _QUALITY = 1100, 45  # type of 10 points stays readable, and a page takes about 60 kB
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")


class Images:
    """The images of a folder that fit into a report.

    Args:
        folder: the folder; its subfolders are searched, too.
        most_bytes: how many bytes the embedded images may take together.

    Attributes:
        data: the embedded images: the name of an image -> its ``data:`` address.

    Raises:
        InputError: there is no such folder, it holds no images, or Pillow is not installed.
    """

    def __init__(self, folder: str, most_bytes: int = MOST_IMAGE_BYTES) -> None:
        try:
            import PIL.Image  # noqa: F401
        except ImportError:
            raise InputError("images need Pillow", remedy="pip install 'anls-metric[images]'") from None
        if not os.path.isdir(folder):
            raise InputError("there is no such folder", folder, "name the folder with the images")
        self._paths = _index_images(folder)
        if not self._paths:
            raise InputError(f"no image is in it ({', '.join(_ENDINGS)})", folder, "name the folder with the images")
        self._room = self._most = most_bytes
        self.data: dict[str, str] = {}
        self._left_out: dict[str, str] = {}  # the name of an image -> why it was left out

    def add(self, names: Iterable[str]) -> None:
        """Embed the images with these names while there is room. Add the most important images first."""
        for name in names:
            if name in self.data or name in self._left_out:
                continue
            path = self._find(name)
            if path is None:
                self._left_out[name] = "not found"
            elif self._room <= 0:
                self._left_out[name] = "no room"
            else:
                self._embed(name, path)

    def _find(self, name: str) -> str | None:
        """The path of an image in the folder, None if there is none. No other file is ever opened."""
        name = name.replace("\\", "/").lstrip("./")
        keys = (name, name.rpartition("/")[2], os.path.splitext(name.rpartition("/")[2])[0])
        return next((self._paths[key] for key in keys if key in self._paths), None)

    def _embed(self, name: str, path: str) -> None:
        try:
            address = _scale_down(path)
        except Exception:  # Pillow raises many kinds of errors for broken images
            self._left_out[name] = "cannot be read"
            return
        self._room -= len(address)
        self.data[name] = address

    @property
    def note(self) -> str:
        """The number of images that were left out and why, "" if none was."""
        reports = {
            "no room": f"{{count:,}} beyond {self._most / 1e6:g} MB together",
            "not found": "{count:,} not in the folder",
            "cannot be read": "{count:,} that cannot be read",
        }
        reasons = list(self._left_out.values())
        note = ", ".join(form.format(count=reasons.count(why)) for why, form in reports.items() if why in reasons)
        return f"images left out: {note}" if note else ""


def find_image_name(record: Mapping[str, Any]) -> str:
    """The name of the image of a question in its record, "" if the record has none.

    Example:
        >>> find_image_name({"question": "Who?", "image": "documents/pybv0228_81.png"})
        'documents/pybv0228_81.png'
    """
    names = (record.get(field) for field in IMAGE_FIELDS)
    return next((name for name in names if isinstance(name, str) and name), "")


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


def _scale_down(path: str) -> str:
    """A small copy of an image, as a ``data:`` address."""
    from PIL import Image, ImageOps

    with Image.open(path) as image:
        image.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
        upright = ImageOps.exif_transpose(image)
        plain = upright if upright.mode in ("L", "RGB") else upright.convert("RGB")
        plain.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
        stream = io.BytesIO()
        plain.save(stream, "WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode("ascii")
