"""The pages beside the questions of a report: from Parquet, Arrow and data sets in memory."""

from __future__ import annotations

import base64
import io
import json
import struct
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from anls_metric import command_line, compare, score
from tests.conftest import ROOT
from tests.report.sample_reports import read_data

pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow: pip install 'anls-metric[files]'")
parquet = pytest.importorskip("pyarrow.parquet")
pillow = pytest.importorskip("PIL.Image", reason="images need Pillow: pip install 'anls-metric[images]'")

Run = Callable[..., subprocess.CompletedProcess[str]]


def make_image(number: int, size: tuple[int, int] = (30, 40)) -> bytes:
    """The bytes of an image whose height tells its number."""
    stream = io.BytesIO()
    pillow.new("RGB", (size[0], size[1] + number), (200, 10 * number, 0)).save(stream, "PNG")
    return stream.getvalue()


def make_rows(pages: Sequence[bytes | None]) -> list[dict[str, Any]]:
    """Questions that are answered right but for the last, each with its page. The data is made up."""
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


def read_heights(report: Path) -> list[int | str]:
    """For each question of a report the height of its page over 40, or why it has none."""
    data = read_data(report.read_text(encoding="utf-8"))
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
def test_pages_of_folders_and_arrow_files_are_embedded(kind: str, tmp_path: Path, report: Path) -> None:
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
    assert "images left out: 2 beyond 1e-06 MB together (--images-limit)" in report.read_text(encoding="utf-8")


def make_bomb() -> bytes:
    """A PNG of a few bytes that says it has 10,000 million pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"0" * 1000)) + chunk(b"IEND", b"")
    )


def test_hostile_images_do_not_stop_the_report(tmp_path: Path, report: Path) -> None:
    whole = make_image(2, (300, 300))
    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n"
    pages = [make_bomb(), whole[: len(whole) // 2], b"no image", program, b"", None, make_image(4)]
    run(write_parquet(tmp_path / "log.parquet", make_rows(pages)), "--report", str(report))
    assert read_heights(report) == ["cannot be read"] * 4 + ["not found"] * 2 + [4]


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
