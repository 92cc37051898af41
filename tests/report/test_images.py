"""The page images in a report: from folders, archives, Parquet, Arrow, and tables in memory."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anls_metric.analysis.evaluation import evaluate
from anls_metric.analysis.images import Images
from anls_metric.messages import InputError
from anls_metric.options import Settings
from anls_metric.reading.inputs import Input
from tests.conftest import mark_needs
from tests.report.sample_reports import as_html, read_data

pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")
pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow: pip install 'anls-metric[files]'")

Rows = list[dict[str, Any]]


def make_image(number: int, size: tuple[int, int] = (30, 40)) -> bytes:
    """Make an image whose height encodes its number."""
    stream = io.BytesIO()
    pillow.new("RGB", (size[0], size[1] + number), (200, 10 * number, 0)).save(stream, "PNG")
    return stream.getvalue()


def open_image(content: bytes) -> Any:
    return pillow.open(io.BytesIO(content))


PAGES = [make_image(1), make_image(2), make_image(1), make_image(3)]


def embed(pages: Sequence[bytes | None]) -> Rows:
    return [{"bytes": page, "path": f"page_{place}.png"} for place, page in enumerate(pages)]


def make_rows(images: Sequence[Any] = embed(PAGES)) -> Rows:
    """Make questions with their images. All answers but the last are correct."""
    answers = [*["tea"] * (len(images) - 1), "coffee"]
    rows = [{"questionId": 700 + n, "answers": ["tea"], "prediction": answer} for n, answer in enumerate(answers)]
    return [{**row, "image": image} for row, image in zip(rows, images)]


def without(name: str, rows: Rows) -> Rows:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def write_json(path: Path, rows: Rows) -> str:
    path.write_text(json.dumps(rows))
    return str(path)


def write_parquet(path: Path, rows: Rows) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=2)
    return str(path)


def write_zip(path: Path, files: Mapping[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)


def report(data: Any, place: str | None = None, gold: Any = None, corrections: Any = None, **options: Any) -> str:
    """Build the report of a file or a table."""
    golds = [] if gold is None else [Input(gold, "" if isinstance(gold, str) else "gold")]
    result = evaluate([Input(data)], golds[0] if golds else None, Settings(corrections=corrections))
    return as_html(result, images=Images(place, [*golds, Input(data)], **options))


def read_heights(page: str) -> list[int | str]:
    """Read, for each question of a report, the height of its page less 40, or the reason for no page."""
    data = read_data(page)
    contents = [base64.b64decode(url.removeprefix("data:image/webp;base64,")) for url in data["pictures"]]
    heights = [open_image(content).height - 40 for content in contents]
    return [heights[found] if isinstance(found, int) else found for found in data["images"]]


# Files with their own images


def make_dataset(rows: Rows) -> Any:
    datasets = pytest.importorskip("datasets")
    columns = {name: [row.get(name) for row in rows] for name in rows[0]}
    return datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())


def write_shards(folder: Path) -> None:
    for number, rows in enumerate((make_rows()[:3], make_rows()[3:])):
        write_parquet(folder / f"part-{number}.parquet", rows)


def write_arrow(folder: Path) -> None:
    folder.mkdir()
    table = pyarrow.Table.from_pylist(make_rows())
    with pyarrow.ipc.new_file(str(folder / "part.arrow"), table.schema) as writer:
        writer.write_table(table)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "shards": write_shards,
    "arrow": write_arrow,
    "datasets": lambda folder: make_dataset(make_rows()).save_to_disk(folder, num_shards=2),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_pages_of_folders_and_arrow_files_are_embedded(kind: str, tmp_path: Path) -> None:
    WRITERS[kind](tmp_path / "gold")
    assert read_heights(report(str(tmp_path / "gold"))) == [1, 2, 1, 3]


def test_pages_are_found_by_the_number_of_the_record(tmp_path: Path) -> None:
    gold = write_parquet(tmp_path / "gold.parquet", without("prediction", make_rows()))
    answers = write_json(tmp_path / "answers.json", without("answers", without("image", make_rows()[::-1])))
    assert read_heights(report(answers, gold=gold)) == [1, 2, 1, 3]
    excluded = write_json(tmp_path / "corrections.json", [{"questionId": 700, "exclude": True}])
    assert read_heights(report(answers, gold=gold, corrections=excluded)) == [2, 1, 3]
    page = report(write_parquet(tmp_path / "log.parquet", make_rows()), max_bytes=1)  # room for the wrong answer
    assert read_heights(page) == [*["over the limit of 1e-06 MB"] * 3, 3]
    assert "questions without their image: 3 over the limit of 1e-06 MB" in page


def test_paths_in_a_file_open_no_image(tmp_path: Path) -> None:
    (tmp_path / "page.png").write_bytes(PAGES[0])
    images = [{"bytes": PAGES[0], "path": ""}, {"bytes": None, "path": str(tmp_path / "page.png")}]
    log = write_parquet(tmp_path / "log.parquet", make_rows(images))
    assert read_heights(report(log)) == [1, "not found"]


# Images that the user names

NAMES = ("page_0.png", "scans/page_1.jpg", "scans/more/page_2.tif", "page_3.png")
FILES = {**dict(zip(NAMES, PAGES)), "z/page_1.png": PAGES[3], "__MACOSX/._page_0.png": b"", "notes.txt": b"x"}
OF_WINDOWS = {"a\\page_0.jpg": PAGES[3], "documents\\page_0.jpg": PAGES[0], "page_1.png": PAGES[1]}


def unpack(folder: Path) -> str:
    with zipfile.ZipFile(write_zip(folder.with_suffix(".zip"), FILES)) as archive:
        archive.extractall(folder)
    return str(folder)


PLACES: dict[str, tuple[Callable[[Path], str], list[int | str]]] = {
    "folder": (unpack, [1, 2, 1, "not found"]),
    "zip": (lambda path: write_zip(path.with_suffix(".ZIP"), FILES), [1, 2, 1, "not found"]),
    "zip of Windows": (lambda path: write_zip(path.with_suffix(".zip"), OF_WINDOWS), [1, 2, *["not found"] * 2]),
    "ids": (lambda path: write_parquet(path, without("answers", make_rows()[1:][::-1])), ["not found", 2, 1, 3]),
    "names": (
        lambda path: write_parquet(path, [{"image": row["image"]} for row in make_rows()]),
        [1, 2, 1, "not found"],
    ),
    "other numbers": (lambda path: write_parquet(path, [{"page": 699, "image": PAGES[0]}]), ["not found"] * 4),
}


@pytest.mark.parametrize("kind", PLACES)
def test_named_images_are_found(kind: str, tmp_path: Path) -> None:
    rows = make_rows([*(f"documents/page_{place}.jpg" for place in range(3)), "absent.png"])
    write, expected = PLACES[kind]
    page = report(write_json(tmp_path / "gold.json", rows), write(tmp_path / "pages"))
    assert read_heights(page) == expected
    assert f"questions without their image: {expected.count('not found')} not found" in page


REFUSED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "absent.zip": (str, "does not exist"),
    "bad.zip": (lambda path: path.write_bytes(b"PK\3\4 and no more"), "not a zip archive, or the archive is damaged"),
    "other.zip": (lambda path: write_zip(path, {"answers.json": b"[]"}), "no images (.png"),
    "log.parquet": (lambda path: write_parquet(path, without("image", make_rows())), "no images (.png"),
    "log.json": (lambda path: write_json(path, without("image", make_rows())), "no images (.png"),
    "empty": (Path.mkdir, "no images (.png"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_place_without_images_is_refused(name: str, tmp_path: Path) -> None:
    write, problem = REFUSED[name]
    write(tmp_path / name)
    with pytest.raises(InputError) as caught:
        Images(str(tmp_path / name))
    assert problem in str(caught.value).partition(name)[2]


def make_hostile_pages() -> list[bytes]:
    """Make a PNG that claims to have 10,000 million pixels, half of an image, a text, and a program."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0))
    bomb = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"0" * 1000)) + chunk(b"IEND", b"")
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n"
    return [bomb, make_image(2, (300, 300))[:400], b"no image", program]


def test_hostile_images_do_not_stop_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_parquet(tmp_path / "log.parquet", make_rows(embed([*make_hostile_pages(), b"", None, make_image(4)])))
    assert read_heights(report(log)) == [*["cannot be read"] * 4, "not found", "not found", 4]
    monkeypatch.setattr("anls_metric.reading.image_sources.MAX_FILE", 100_000)
    packed = [*make_hostile_pages(), bytes(1 << 20), make_image(4), make_image(5)]  # the zeros are too large
    files = {f"page_{place}.png": page for place, page in enumerate(packed)}
    gold = write_json(tmp_path / "gold.json", make_rows([*files]))  # the last answer is wrong, and comes first
    page = report(gold, write_zip(tmp_path / "pages.zip", files | {"../page_9.png": make_image(5)}))
    assert read_heights(page) == [*["cannot be read"] * 4, "not found", 4, 5]


def test_large_image_is_scaled_down_and_stands_upright() -> None:
    stream, picture = io.BytesIO(), pillow.effect_noise((1500, 2000), 60)
    picture.getexif()[0x0112] = 6  # turned by a quarter
    picture.save(stream, "JPEG", exif=picture.getexif())
    page = report(make_rows([pillow.open(stream)]))
    assert read_heights(page) == [1100 * 1500 // 2000 - 40]
    assert len(read_data(page)["pictures"][0]) < len(stream.getvalue()) / 2


def test_report_without_pillow_says_why_it_has_no_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anls_metric.analysis.images.find_spec", lambda name: None)
    assert "images need Pillow: pip install" in report(make_rows())
    with pytest.raises(InputError, match="images need Pillow"):
        Images("pages.zip")


# Tables in memory

CELLS: dict[str, Callable[[Path, bytes], Any]] = {
    "bytes and path": lambda path, content: {"bytes": content, "path": path.name},
    "bytes": lambda path, content: content,
    "path": lambda path, content: str(path),
    "path of a dataset": lambda path, content: {"bytes": None, "path": str(path)},
    "picture": lambda path, content: open_image(content),
}
TABLES: dict[str, Callable[[Rows], Any]] = {
    "pandas": lambda rows: pytest.importorskip("pandas").DataFrame(rows),
    "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows),
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "list": list,
    "pyarrow": pyarrow.Table.from_pylist,
    "datasets": make_dataset,
}


@pytest.mark.parametrize("kind", mark_needs(TABLES, "polars"))
def test_pages_of_tables_in_memory_are_embedded(kind: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"page_{place}.png" for place in range(4)]
    for path, content in zip(paths, PAGES):
        path.write_bytes(content)
    for cell, make in CELLS.items():
        if cell != "picture" or kind not in ("pyarrow", "datasets"):
            rows = make_rows([*map(make, paths, PAGES)])
            page = report(TABLES[kind](rows))
            assert (read_heights(page), len(read_data(page)["pictures"])) == ([1, 2, 1, 3], 3), cell
    answers = {str(row["questionId"]): row["prediction"] for row in rows[::-1]}
    assert read_heights(report(answers, gold=TABLES[kind](without("prediction", rows)))) == [1, 2, 1, 3]


@pytest.mark.parametrize("kind", mark_needs(["pandas", "polars", "list"], "polars"))
def test_pages_that_a_table_in_memory_lacks_are_named(kind: str, tmp_path: Path) -> None:
    gone = open_image(PAGES[3])
    gone.close()
    rows = make_rows([None, open_image(PAGES[0]), open_image(PAGES[1]).convert("LA"), gone])
    assert read_heights(report(TABLES[kind](rows))) == ["not found", 1, 2, "cannot be read"]
    secret, page = tmp_path / "secret.txt", tmp_path / "page.png"
    for path in (secret, page):
        path.write_bytes(PAGES[1])
    rows = make_rows([str(secret), str(page), str(tmp_path / "absent.png")])
    assert read_heights(report(TABLES[kind](rows))) == ["not found", 2, "not found"]
