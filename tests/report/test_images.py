"""The page images in a report, from Parquet, Arrow and data sets in memory."""

from __future__ import annotations

import base64
import io
import json
import random
import struct
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anls_metric import command_line, compare, score
from anls_metric.reading.errors import InputError
from anls_metric.reading.image_files import open_zip
from anls_metric.reading.input_file import File
from tests.conftest import ROOT
from tests.report.sample_reports import read_data

pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow: pip install 'anls-metric[files]'")
parquet = pytest.importorskip("pyarrow.parquet")
pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")

Run = Callable[..., subprocess.CompletedProcess[str]]


def make_image(number: int, size: tuple[int, int] = (30, 40)) -> bytes:
    """Make an image whose height encodes its number."""
    stream = io.BytesIO()
    pillow.new("RGB", (size[0], size[1] + number), (200, 10 * number, 0)).save(stream, "PNG")
    return stream.getvalue()


def make_rows(pages: Sequence[bytes | None]) -> list[dict[str, Any]]:
    """Make questions with their pages. All answers but the last are right."""
    return [
        {
            "questionId": 700 + place,
            "question": f"What is number {place}?",
            "image": {"bytes": page, "path": f"page_{place}.png"},
            "answers": ["tea"],
            "prediction": "tea" if place < len(pages) - 1 else "coffee",
        }
        for place, page in enumerate(pages)
    ]


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path, row_group_size=2)
    return str(path)


def write_submission(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text(json.dumps([{"questionId": row["questionId"], "answer": row["prediction"]} for row in rows]))
    return str(path)


def without(name: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def read_heights(report: Path | str) -> list[int | str]:
    """Read, for each question of a report, the height of its page divided by 40, or the reason for no page."""
    data = read_data(report.read_text(encoding="utf-8") if isinstance(report, Path) else report)
    heights = []
    for address in data["pictures"]:
        head, _, content = address.partition(",")
        assert head == "data:image/webp;base64"
        with pillow.open(io.BytesIO(base64.b64decode(content))) as image:
            heights.append(image.height - 40)
    return [heights[place] if place >= 0 else data["missing"][-1 - place] for place in data["images"]]


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


def run(*words: str) -> None:
    assert command_line.main([*words, "--format", "json"]) == 0


PAGES = [make_image(1), make_image(2), make_image(1), make_image(3)]


def test_pages_of_a_parquet_table_are_embedded_once_each(tmp_path: Path, report: Path) -> None:
    run(write_parquet(tmp_path / "log.parquet", make_rows(PAGES)), "--report", str(report))
    assert read_heights(report) == [1, 2, 1, 3]
    assert len(read_data(report.read_text(encoding="utf-8"))["pictures"]) == 3


def test_pages_of_a_gold_file_are_embedded(tmp_path: Path, report: Path) -> None:
    rows = make_rows(PAGES)
    gold = write_parquet(tmp_path / "gold.parquet", without("prediction", rows))
    run(gold, write_submission(tmp_path / "answers.json", rows[::-1]), "--report", str(report))
    assert read_heights(report) == [1, 2, 1, 3]
    run(gold, str(tmp_path / "answers.json"), "--report", str(report), "--images-limit", "0")
    assert read_heights(report) == []


@pytest.mark.parametrize("kind", ["shards", "datasets", "arrow"])
def test_pages_of_folders_and_arrow_files_are_embedded(
    kind: str, tmp_path: Path, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, gold = make_rows(PAGES), tmp_path / "gold"
    if kind == "shards":
        write_parquet(gold / "part-0.parquet", rows[:3])
        write_parquet(gold / "part-1.parquet", rows[3:])
    elif kind == "datasets":
        datasets = pytest.importorskip("datasets")
        features = datasets.Features(
            {
                **{name: datasets.Value("string") for name in ("question", "prediction")},
                "questionId": datasets.Value("int64"),
                "image": datasets.Image(),
                "answers": datasets.Sequence(datasets.Value("string")),
            }
        )
        datasets.Dataset.from_list(rows, features=features).save_to_disk(gold, num_shards=2)
    else:
        gold = tmp_path / "gold.arrow"
        table = pyarrow.Table.from_pylist(rows)
        with pyarrow.ipc.new_file(str(gold), table.schema) as writer:
            writer.write_table(table)
    run(str(gold), "--report", str(report))
    assert read_heights(report) == [1, 2, 1, 3]


def test_images_flag_takes_a_table_beside_a_gold_file(tmp_path: Path, report: Path) -> None:
    rows = make_rows(PAGES)
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps(without("image", rows)))
    pages = write_parquet(tmp_path / "pages.parquet", without("answers", make_rows(PAGES)[1:][::-1]))
    run(str(gold), "--report", str(report), "--images", pages)
    assert read_heights(report) == ["not found", 2, 1, 3]
    assert "images left out: 1 not in the table" in report.read_text(encoding="utf-8")


def test_images_flag_finds_pages_by_their_paths(tmp_path: Path, report: Path) -> None:
    rows = [{**row, "image": f"documents/page_{place}.jpg"} for place, row in enumerate(make_rows(PAGES))]
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    pages = write_parquet(tmp_path / "pages.parquet", [{"image": row["image"]} for row in make_rows(PAGES)])
    run(str(tmp_path / "gold.json"), "--report", str(report), "--images", pages)
    assert read_heights(report) == [1, 2, 1, 3]


def test_pages_of_questions_without_ids_are_found_by_position(tmp_path: Path, report: Path) -> None:
    rows = [{**row, "page": 4 - place} for place, row in enumerate(without("questionId", make_rows(PAGES)))]
    run(write_parquet(tmp_path / "log.parquet", rows), "--report", str(report))
    assert read_heights(report) == [1, 2, 1, 3]


def test_column_with_other_numbers_is_no_id_of_pages(tmp_path: Path, report: Path) -> None:
    rows = make_rows(PAGES)
    (tmp_path / "gold.json").write_text(json.dumps(without("image", rows)))
    others = [{"page": 699 + place, "image": row["image"]} for place, row in enumerate(rows)]
    run(str(tmp_path / "gold.json"), "--report", str(report), "--images", write_parquet(tmp_path / "p.parquet", others))
    assert read_heights(report) == ["not found"] * 4


def test_images_limit_keeps_pages_of_wrong_answers(tmp_path: Path, report: Path) -> None:
    log = write_parquet(tmp_path / "log.parquet", make_rows(PAGES))
    run(log, "--report", str(report), "--images-limit", "0.000001")
    assert read_heights(report) == ["no room", "no room", "no room", 3]
    assert "images left out: 2 over the limit of 1e-06 MB" in report.read_text(encoding="utf-8")


def write_zip(path: Path, files: Mapping[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return str(path)


def lock(path: Path) -> None:
    """Say in each header of a zip archive that a password locks its file."""
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = content.find(mark)
        while start >= 0:
            content[start + place] |= 1
            start = content.find(mark, start + 4)
    path.write_bytes(content)


PLACES = ("page_0.png", "scans/page_1.jpg", "scans/more/page_2.tif", "page_3.png")  # names in an archive


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_images_flag_finds_the_same_pages_in_a_folder_and_in_a_zip(
    kind: str, tmp_path: Path, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "image": f"documents/page_{place}.png"} for place, row in enumerate(make_rows(PAGES))]
    rows[3]["image"] = "absent.png"
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    files = {**dict(zip(PLACES, PAGES)), "later/page_1.png": PAGES[3], "__MACOSX/._page_0.png": b"", "notes.txt": b"x"}
    for name, content in files.items():
        (tmp_path / "pages" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pages" / name).write_bytes(content)
    place = str(tmp_path / "pages") if kind == "folder" else write_zip(tmp_path / "pages.ZIP", files)
    run(str(tmp_path / "gold.json"), "--report", str(report), "--images", place)
    assert read_heights(report) == [1, 3, 1, "not found"]
    where = "folder" if kind == "folder" else "zip archive"
    note = f"images left out: 1 not in the {where} (absent.png)"
    assert note in report.read_text(encoding="utf-8")
    assert f"anls: {note}\n" in capsys.readouterr().err
    score(rows).report(report, images=place)
    assert read_heights(report) == [1, 3, 1, "not found"]


def test_zip_with_paths_of_windows_has_the_pages(tmp_path: Path, report: Path) -> None:
    rows = [{**row, "image": f"b/page_{place}.png"} for place, row in enumerate(make_rows(PAGES[:2]))]
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    pages = write_zip(
        tmp_path / "pages.zip", {"a\\page_0.png": PAGES[3], "b\\page_0.png": PAGES[0], "page_1.png": PAGES[1]}
    )
    run(str(tmp_path / "gold.json"), "--report", str(report), "--images", pages)
    assert read_heights(report) == [1, 2]


BAD_ZIPS: dict[str, Callable[[Path], Any]] = {
    "not a zip archive, or a damaged one: make it again": lambda path: path.write_bytes(b"PK\3\4 and no more"),
    "no image is in it": lambda path: write_zip(path, {"answers.json": b"[]"}),
    "a password locks its images: make it again without a password": lambda path: lock(
        Path(write_zip(path, {"a.png": PAGES[0]}))
    ),
}


@pytest.mark.parametrize("problem", BAD_ZIPS)
def test_images_flag_refuses_a_bad_zip(problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps(without("image", make_rows(PAGES))))
    BAD_ZIPS[problem](tmp_path / "pages.zip")
    words = [str(log), "--report", str(tmp_path / "r.html"), "--images", str(tmp_path / "pages.zip")]
    assert command_line.main(words) == 2
    assert f"pages.zip: {problem}" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_damaged_zip_is_refused_or_read_without_other_errors(tmp_path: Path) -> None:
    whole = Path(write_zip(tmp_path / "whole.zip", {f"page_{place}.png": page for place, page in enumerate(PAGES)}))
    content, chance = whole.read_bytes(), random.Random(1)
    outcomes: set[object] = set()
    for _ in range(1500):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(len(damaged))] = chance.choice((0, 255, chance.randrange(256)))
        (tmp_path / "pages.zip").write_bytes(damaged[: chance.choice((len(damaged), chance.randrange(len(damaged))))])
        try:
            files = open_zip(File(str(tmp_path / "pages.zip")))
            outcomes |= {isinstance(read(), bytes) for place in range(4) if (read := files.find(f"page_{place}"))}
        except InputError as error:
            outcomes.add(str(error).partition("pages.zip: ")[2].partition(" (")[0])
    assert {True, "not a zip archive, or a damaged one: make it again"} < outcomes


def make_bomb() -> bytes:
    """Make a PNG of a few bytes that claims to have 10,000 million pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"0" * 1000)) + chunk(b"IEND", b"")
    )


def make_hostile_pages() -> list[bytes]:
    """A bomb, half of an image, a text, and a program, none of which is a page."""
    whole = make_image(2, (300, 300))
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n"
    return [make_bomb(), whole[: len(whole) // 2], b"no image", program]


def test_hostile_images_do_not_stop_the_report(tmp_path: Path, report: Path) -> None:
    pages = [*make_hostile_pages(), b"", None, make_image(4)]
    run(write_parquet(tmp_path / "log.parquet", make_rows(pages)), "--report", str(report))
    assert read_heights(report) == ["cannot be read"] * 4 + ["not found"] * 2 + [4]


def test_hostile_files_of_a_zip_do_not_stop_the_report(tmp_path: Path, report: Path) -> None:
    pages = [*make_hostile_pages(), bytes(70 << 20), make_image(4)]  # zeros, which become 1,000 times as small
    rows = [{**row, "image": f"page_{place}.png"} for place, row in enumerate(make_rows(pages))]
    (tmp_path / "gold.json").write_text(json.dumps(rows))
    files = {f"page_{place}.png": page for place, page in enumerate(pages)}
    files |= {"../page_9.png": make_image(5), "/etc/page_8.png": make_image(5)}
    run(
        *(str(tmp_path / "gold.json"), "--report", str(report)),
        *("--images", write_zip(tmp_path / "pages.zip", files)),
    )
    assert read_heights(report) == ["cannot be read"] * 5 + [4]


def test_images_flag_refuses_what_has_no_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = make_rows(PAGES)
    log = write_parquet(tmp_path / "log.parquet", without("image", rows))
    (tmp_path / "log.json").write_text(json.dumps(without("image", rows)))
    for place, problem in ((log, "it has no images"), ("absent.parquet", "no such folder or file")):
        assert command_line.main([log, "--report", str(tmp_path / "r.html"), "--images", place]) == 2
        assert problem in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command_line.main([log, "--report", "r.html", "--images-limit", "-1"])
    assert command_line.main([log, "--images-limit", "5"]) == 2
    assert "--images-limit is for the report" in capsys.readouterr().err


def test_report_without_pillow_says_why_it_has_no_pages(tmp_path: Path, run_python: Run) -> None:
    log = write_parquet(tmp_path / "log.parquet", make_rows(PAGES))
    program = (
        "import sys\nsys.modules['PIL'] = None\nfrom anls_metric.command_line import main\n"
        f"sys.exit(main([{log!r}, '--report', 'report.html']))"
    )
    done = run_python(program, tmp_path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert "images need Pillow: pip install" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_python_embeds_pages_of_files_and_tables(tmp_path: Path, report: Path) -> None:
    rows = make_rows(PAGES)
    table = pyarrow.Table.from_pylist(rows)
    for data in (write_parquet(tmp_path / "log.parquet", rows), table):
        score(data).report(report)
        assert read_heights(report) == [1, 2, 1, 3]
    score(table).report(report, images_limit=0)
    assert read_heights(report) == []
    compare({"one": table, "two": without("image", rows)}).report(report)
    assert read_heights(report) == [1, 2, 1, 3]
    answers = {row["questionId"]: row["prediction"] for row in rows}
    score(answers, gold=table.drop_columns("prediction")).report(report)
    assert read_heights(report) == [1, 2, 1, 3]


def test_python_embeds_pages_of_a_data_set_undecoded(report: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = make_rows([*PAGES, b"no image"])
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    data = datasets.Dataset.from_dict(columns).cast_column("image", datasets.Image())
    score(data).report(report)
    assert read_heights(report) == [1, 2, 1, 3, "cannot be read"]


def open_picture(content: bytes) -> Any:
    return pillow.open(io.BytesIO(content))


CELLS: dict[str, Callable[[Path, bytes], Any]] = {
    "bytes and path": lambda path, content: {"bytes": content, "path": path.name},
    "bytes": lambda path, content: content,
    "picture": lambda path, content: open_picture(content),
    "grey picture with transparency": lambda path, content: open_picture(content).convert("LA"),
    "path": lambda path, content: str(path),
    "path of a data set": lambda path, content: {"bytes": None, "path": str(path)},
}


def make_pandas(rows: Sequence[dict[str, Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows)


def make_polars(rows: Sequence[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


def make_dict(rows: Sequence[dict[str, Any]]) -> Any:
    return {name: [row.get(name) for row in rows] for name in rows[0]}


@pytest.mark.parametrize("make_table", [make_pandas, make_polars, make_dict, list])
@pytest.mark.parametrize("cell", CELLS)
def test_python_embeds_pages_of_tables_in_memory(
    cell: str, make_table: Callable[[Sequence[dict[str, Any]]], Any], tmp_path: Path, report: Path
) -> None:
    rows = make_rows(PAGES)
    for place, (row, page) in enumerate(zip(rows, PAGES)):
        path = tmp_path / f"page_{place}.png"
        path.write_bytes(page)
        row["image"] = CELLS[cell](path, page)
    score(make_table(rows)).report(report)
    assert read_heights(report) == [1, 2, 1, 3]
    assert len(read_data(report.read_text(encoding="utf-8"))["pictures"]) == 3
    answers = {row["questionId"]: row["prediction"] for row in rows[::-1]}
    score(answers, gold=make_table(without("prediction", rows))).report(report)
    assert read_heights(report) == [1, 2, 1, 3]
    score(make_table(rows)).report(report, images_limit=0)
    assert read_heights(report) == []


@pytest.mark.parametrize("make_table", [make_pandas, make_polars, list])
def test_pages_that_a_table_in_memory_lacks_are_named(
    make_table: Callable[[Sequence[dict[str, Any]]], Any], tmp_path: Path, report: Path
) -> None:
    rows = make_rows(PAGES)
    gone = open_picture(PAGES[3])
    gone.close()
    for row, image in zip(rows, (None, open_picture(PAGES[0]), open_picture(PAGES[1]), gone)):
        row["image"] = image
    score(make_table(rows)).report(report)
    assert read_heights(report) == ["not found", 1, 2, "cannot be read"]


def test_only_images_of_paths_in_memory_are_opened(tmp_path: Path, report: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_bytes(PAGES[0])
    page = tmp_path / "page.png"
    page.write_bytes(PAGES[1])
    rows = make_rows(PAGES[:3])
    for row, path in zip(rows, (secret, page, tmp_path / "absent.png")):
        row["image"] = str(path)
    score(rows).report(report)
    assert read_heights(report) == ["not found", 2, "not found"]


def test_paths_in_a_file_open_no_image(tmp_path: Path, report: Path) -> None:
    page = tmp_path / "page.png"
    page.write_bytes(PAGES[0])
    rows = [{**row, "image": {"bytes": None, "path": str(page)}} for row in make_rows(PAGES[:2])]
    rows[0]["image"] = {"bytes": PAGES[1], "path": "own.png"}
    log = write_parquet(tmp_path / "log.parquet", rows)
    run(log, "--report", str(report))
    assert read_heights(report) == [2, "not found"]


def test_turned_picture_stands_upright(report: Path) -> None:
    rows = make_rows(PAGES[:1])
    stream, picture = io.BytesIO(), pillow.new("RGB", (45, 30))
    picture.getexif()[0x0112] = 6  # turned by a quarter
    picture.save(stream, "JPEG", exif=picture.getexif())
    rows[0]["image"] = open_picture(stream.getvalue())
    score(rows).report(report)
    assert read_heights(report) == [5]
