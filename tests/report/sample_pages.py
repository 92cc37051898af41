"""Makes sample images of pages, and files and tables that have them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")

Rows = list[dict[str, Any]]


def make_image(number: int, size: tuple[int, int] = (30, 40)) -> bytes:
    """Make an image whose height encodes its number."""
    stream = io.BytesIO()
    pillow.new("RGB", (size[0], size[1] + number), (200, 10 * number, 0)).save(stream, "PNG")
    return stream.getvalue()


def open_image(content: bytes) -> Any:
    return pillow.open(io.BytesIO(content))


PAGES = [make_image(1), make_image(2), make_image(1), make_image(3)]


def make_rows(images: Sequence[Any] = PAGES) -> Rows:
    """Make questions with their images. All answers but the last are correct."""
    images = [{"bytes": image, "path": f"page_{place}.png"} for place, image in enumerate(images)]
    return put_images(
        [{"questionId": 700 + n, "answers": ["tea"], "prediction": "tea"} for n in range(len(images))], images
    )


def put_images(rows: Rows, images: Sequence[Any]) -> Rows:
    rows[-1]["prediction"] = "coffee"
    return [{**row, "image": image} for row, image in zip(rows, images)]


def without(name: str, rows: Rows) -> Rows:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def write_json(path: Path, rows: Rows) -> str:
    path.write_text(json.dumps(rows))
    return str(path)


def write_parquet(path: Path, rows: Rows) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=2)
    return str(path)


def write_zip(path: Path, files: Mapping[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)
