"""Cells that contain a page image as bytes, as a path, as a dict of both in the format of `datasets`, or as a Pillow
image.
"""

from __future__ import annotations

import io
import os
from typing import Any

IMAGE_FIELDS = ("image", "image_path", "image_local_name", "image_name", "image_id", "file_name")
"""The fields that may contain the name of a question's image, of which the first field with text is used."""

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")
"""The file extensions of images."""

_NO_IMAGE = b"\0"  # for an image that cannot be read; whoever decodes it reports that


def holds_image(cell: Any) -> bool:
    """Whether a cell contains an image rather than text.

    Example:
        >>> [holds_image(cell) for cell in (b"...", {"bytes": None, "path": "a.png"}, "a.png")]
        [True, True, False]
    """
    if isinstance(cell, dict):
        return "bytes" in cell
    return isinstance(cell, bytes) or _is_picture(cell)


def read_cell(cell: Any, opens_files: bool = False) -> tuple[str, bytes | None]:
    """Read the path and the bytes of the image in a cell, with "" for a missing path and None for missing bytes.

    Args:
        cell: the cell.
        opens_files: whether to read the file that a cell names, which is not safe for a table from an untrusted source.
    """
    if _is_picture(cell):
        return "", _pack(cell)
    path, content = (cell.get("path"), cell.get("bytes")) if isinstance(cell, dict) else (cell, cell)
    name = path if isinstance(path, str) else ""
    if isinstance(content, bytes) and content:
        return name, content
    if opens_files and name.lower().endswith(IMAGE_ENDINGS) and os.path.isfile(name):
        with open(name, "rb") as stream:
            return name, stream.read() or _NO_IMAGE
    return name, None


def _is_picture(cell: Any) -> bool:
    """Whether a value is a Pillow image, judging by its class, so that Pillow need not be imported."""
    return any((base.__module__, base.__name__) == ("PIL.Image", "Image") for base in type(cell).__mro__)


def _pack(picture: Any) -> bytes:
    """Convert a Pillow image, including its orientation, to the bytes of a PNG file."""
    stream = io.BytesIO()
    try:
        plain = picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
        plain.save(stream, "PNG", compress_level=0, exif=picture.getexif())
    except Exception:  # Pillow reads the file only at this point, and raises many kinds of errors for broken images
        return _NO_IMAGE
    return stream.getvalue()
