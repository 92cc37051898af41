"""The pages that questions are about, scaled down and written into the report."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable, Mapping
from typing import Any

from anls_metric.reading.errors import InputError

IMAGE_FIELDS = ("image", "image_path", "image_local_name", "image_name", "image_id", "file_name")
"""The fields of a record that may name the image of a question, the likeliest first."""

MOST_IMAGE_BYTES = 24_000_000
"""Of all images of a report together."""

_LONGEST_SIDE, _QUALITY = 1100, 45  # so that a page of 10-point type can be read, in about 60 kB
_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")


class Images:
    """The images of a folder, as far as they fit into a report.

    Args:
        folder: where they are, in whatever folders in it.
        most_bytes: how much they may take together.

    Attributes:
        data: what was embedded: a ``data:`` address for each name.

    Raises:
        InputError: there is no such folder, it holds no images, or Pillow is missing.
    """

    def __init__(self, folder: str, most_bytes: int = MOST_IMAGE_BYTES) -> None:
        try:
            import PIL.Image  # noqa: F401
        except ImportError:
            raise InputError("images need Pillow", remedy="pip install 'anls-metric[images]'") from None
        if not os.path.isdir(folder):
            raise InputError("there is no such folder", folder, "name the folder with the images")
        self._paths = _by_name(folder)
        if not self._paths:
            raise InputError(f"no image is in it ({', '.join(_ENDINGS)})", folder, "name the folder with the images")
        self._room = self._most = most_bytes
        self.data: dict[str, str] = {}
        self._left_out: dict[str, str] = {}  # why, by name

    def add(self, names: Iterable[str]) -> None:
        """Embed these, as long as there is room; call it with those that matter most first."""
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
        """Only what was found in the folder is ever opened, whatever a record says."""
        name = name.replace("\\", "/").lstrip("./")
        known = (name, name.rpartition("/")[2], os.path.splitext(name.rpartition("/")[2])[0])
        return next((self._paths[one] for one in known if one in self._paths), None)

    def _embed(self, name: str, path: str) -> None:
        try:
            found = _scaled_down(path)
        except Exception:  # Pillow raises errors of many kinds for files that are no image
            self._left_out[name] = "cannot be read"
            return
        self._room -= len(found)
        self.data[name] = found

    @property
    def note(self) -> str:
        """What was left out, "" for nothing."""
        told = {
            "no room": f"{{count:,}} beyond {self._most / 1e6:g} MB together",
            "not found": "{count:,} not in the folder",
            "cannot be read": "{count:,} that cannot be read",
        }
        reasons = list(self._left_out.values())
        said = ", ".join(said.format(count=reasons.count(why)) for why, said in told.items() if why in reasons)
        return f"images left out: {said}" if said else ""


def image_name(record: Mapping[str, Any]) -> str:
    """What a record calls the image of its question, "" where it calls it nothing.

    Example:
        >>> image_name({"question": "Who?", "image": "documents/pybv0228_81.png"})
        'documents/pybv0228_81.png'
    """
    names = (record.get(field) for field in IMAGE_FIELDS)
    return next((name for name in names if isinstance(name, str) and name), "")


def _by_name(folder: str) -> dict[str, str]:
    """The images of a folder: by their path in it, by their name, and by that without its ending."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            stem, ending = os.path.splitext(name)
            if ending.lower() in _ENDINGS:
                path = os.path.join(place, name)
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = path
                found.setdefault(name, path)
                found.setdefault(stem, path)
    return found


def _scaled_down(path: str) -> str:
    """An image as a ``data:`` address."""
    from PIL import Image, ImageOps

    with Image.open(path) as image:
        image.draft("RGB", (_LONGEST_SIDE, _LONGEST_SIDE))
        upright = ImageOps.exif_transpose(image)
        plain = upright if upright.mode in ("L", "RGB") else upright.convert("RGB")
        plain.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
        written = io.BytesIO()
        plain.save(written, "WEBP", quality=_QUALITY)
    return "data:image/webp;base64," + base64.b64encode(written.getvalue()).decode("ascii")
