"""Uploads of visitors: which are accepted, when they are deleted, and how much of them is read."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from anls_metric.page import limits
from anls_metric.page.inventory import find_submissions_of, take_inventory
from anls_metric.page.uploads import Budget, Upload, Uploads, clean_name, list_columns, open_all, take
from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.sources import Reading
from tests.page.files import write_table

MISUSES = ["", "..", ".", "{hash}", "{hash}/", "{hash}/..", "{hash}/../{hash}", "x/name.csv", "{hash}/a/name.csv"]


def upload(folder: Path, content: bytes, name: str = "table.csv") -> Path:
    """Store a file as the server does."""
    path = folder / hashlib.sha256(content).hexdigest() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def read(*files: Upload, gold: Upload | None = None, missing: str = "error") -> list[Row]:
    """Read the rows of all submissions in these files, within the limits."""
    budget = Budget()
    reading = Reading(missing=missing)
    opened, broken = open_all(files, gold)
    for error in broken.values():
        raise error
    inventory = take_inventory(opened, gold.path if gold else None, reading, opened)
    submissions = find_submissions_of(inventory, reading, opened, ("question",))
    return list(chain.from_iterable(chain.from_iterable(map(budget.read_batches, submissions))))


def test_upload_can_be_used_repeatedly(tmp_path: Path) -> None:
    path = upload(tmp_path, b"prediction,references\na,a\n")
    for _ in range(3):
        taken = take(str(path), str(tmp_path), "table")
        assert taken == Upload(str(path))
        assert [row.prediction for row in read(taken)] == ["a"]
    assert path.exists()


@pytest.mark.parametrize("misuse", MISUSES)
def test_take_accepts_only_uploads(tmp_path: Path, misuse: str) -> None:
    mine = upload(tmp_path, b"prediction,references\na,a\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "name.csv").write_text("no upload")
    (mine.parent / "a").mkdir()
    (mine.parent / "a" / "name.csv").write_text("no upload")
    for path in (f"{tmp_path}/{misuse.format(hash=mine.parent.name)}", misuse.format(hash=mine.parent.name)):
        with pytest.raises(ValueError, match=r"table is (no file that was uploaded|missing)"):
            take(path, str(tmp_path), "table")
    assert mine.exists()


def test_paths_outside_the_uploads_are_refused(tmp_path: Path) -> None:
    mine = upload(tmp_path, b"x")
    (mine.parent / "link.csv").symlink_to("/etc/hostname")
    for path in (
        "/etc/hostname",
        str(mine.parent / "link.csv"),
        "/",
        "\0",
        "file:///etc/hostname",
        "http://x.org/a.csv",
        f"{tmp_path}/{'a/' * 100_000}x",
    ):
        with pytest.raises(ValueError, match="table is no file that was uploaded: upload it"):
            take(path, str(tmp_path), "table")
    with pytest.raises(FileNotFoundError):
        take(str(mine.parent / "gone.csv"), str(tmp_path), "table")
    with pytest.raises(ValueError, match="table is missing: upload a file"):
        take(None, str(tmp_path), "table")


def test_file_of_100_mb_is_not_taken(tmp_path: Path) -> None:
    path = upload(tmp_path, b"x", "large.csv")
    os.truncate(path, 100 << 20)
    with pytest.raises(ValueError, match=r"large\.csv is larger than 50 MB: score it with anls"):
        take(str(path), str(tmp_path), "table")


def keep(uploads: Uploads, content: bytes, name: str = "table.csv") -> Path:
    return Path(uploads.keep(io.BytesIO(content), name))


def test_upload_is_kept_under_its_name_in_a_folder_of_its_content(tmp_path: Path) -> None:
    uploads = Uploads(str(tmp_path))
    path = keep(uploads, b"a" * 3_000_000, "my run.json")
    assert path == tmp_path / hashlib.sha256(b"a" * 3_000_000).hexdigest() / "my run.json"
    assert path.read_bytes() == b"a" * 3_000_000
    assert take(str(path), str(tmp_path), "table").path == str(path)
    assert keep(uploads, b"a" * 3_000_000, "my run.json") == path
    assert os.listdir(tmp_path) == [path.parent.name]
    with pytest.raises(ValueError, match=r"big\.csv is larger than 50 MB: score it with anls"):
        uploads.keep(open_large(tmp_path / "large"), "big.csv")


def open_large(path: Path) -> Any:
    path.touch()
    os.truncate(path, 51 << 20)
    return path.open("rb")


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("gold.json", "gold.json"),
        ("../../etc/passwd", "passwd"),
        ("..", "file"),
        ("", "file"),
        (".json", "json"),
        ("a\x00b\x1b[2J\n.csv", "ab[2J.csv"),
        ("\ud800漢字.csv", "漢字.csv"),
        ("答" * 1_000 + ".jsonl", "答" * 66 + ".jsonl"),
        ("answers of No. 7 of all the models that we have", "answers of No. 7 of all the models that we have"),
    ],
)
def test_name_of_an_upload_is_cleaned(name: str, clean: str) -> None:
    assert clean_name(name) == clean


def test_uploads_go_the_oldest_first_and_their_folders_go_with_them(tmp_path: Path) -> None:
    uploads = Uploads(str(tmp_path), most=250)
    paths = [keep(uploads, bytes([number]) * 100) for number in range(5)]
    assert [path.exists() for path in paths] == [False, False, False, True, True]
    assert sorted(os.listdir(tmp_path)) == sorted(path.parent.name for path in paths[3:])
    assert keep(uploads, bytes([3]) * 100) == paths[3]  # which makes it the newest
    keep(uploads, bytes([5]) * 100)
    assert [path.exists() for path in paths[3:]] == [True, False]


def test_uploads_are_counted(tmp_path: Path) -> None:
    uploads = Uploads(str(tmp_path), most_files=3)
    paths = [keep(uploads, b"", f"{number}.csv") for number in range(5)]
    assert [path.exists() for path in paths] == [False, False, True, True, True]
    assert len(set(paths[0].parent.parent.iterdir())) == 1  # all of them are in one folder


def test_old_uploads_go(tmp_path: Path) -> None:
    uploads = Uploads(str(tmp_path), seconds=0)
    path = keep(uploads, b"x")
    uploads.make_room()
    assert not path.exists()
    assert os.listdir(tmp_path) == []


def test_uploads_that_are_coming_take_room(tmp_path: Path) -> None:
    uploads = Uploads(str(tmp_path), most=250)
    path = keep(uploads, b"x" * 100)
    uploads.hold(150)
    assert path.exists()
    uploads.hold(50)
    assert not path.exists()
    with pytest.raises(ValueError, match="try again in a minute"):
        uploads.hold(100)
    uploads.hold(-300)
    assert keep(uploads, b"x" * 100).exists()


def test_upload_does_not_look_at_all_others(tmp_path: Path) -> None:
    """The number of system calls is the same with 10 uploads and with 1,000."""

    def count_steps(number: int) -> int:
        steps = 0

        def step(*_: object) -> None:
            nonlocal steps
            steps += 1

        sys.setprofile(step)
        keep(uploads, b"%d" % number)
        uploads.hold(10)
        uploads.make_room()
        uploads.hold(-10)
        sys.setprofile(None)
        return steps

    uploads = Uploads(str(tmp_path), most_files=500)
    counts = [count_steps(number) for number in range(1_000)]
    # A look at the other uploads would take 400 steps more. Finalizers of other objects take a few.
    assert max(counts[10:490]) <= counts[5] + 100
    assert max(counts[510:]) <= counts[5] + 200  # each deletes another one
    assert len(os.listdir(tmp_path)) == 500


def test_gold_file_is_found_wherever_it_stands(tmp_path: Path) -> None:
    gold = [{"questionId": n, "answers": ["a", "b"]} for n in range(3)]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "few.json").write_text('[{"questionId": 0, "answer": "a"}]')
    gold_file, few = Upload(str(tmp_path / "gold.json")), Upload(str(tmp_path / "few.json"))
    for files in ((gold_file, few), (few, gold_file), (few, gold_file, few)):
        assert [row.prediction for row in read(*files, missing="zero")] == ["a", None, None]
    assert [row.prediction for row in read(few, gold=gold_file, missing="zero")] == ["a", None, None]
    with pytest.raises(InputError, match=r"^few\.json: no answer to 2 of the questions of gold\.json"):
        read(few, gold_file)
    for alone, lacks in ((gold_file, "predictions"), (few, "accepted answers")):
        with pytest.raises(InputError, match=f"it has no {lacks}"):
            read(alone)


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    tables = [write_table(tmp_path / f"{number}.jsonl", 1) for number in range(limits.MOST_SUBMISSIONS + 1)]
    with pytest.raises(ValueError, match="more than 20 files: score it with anls"):
        read(*tables)


def test_too_many_questions_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "MOST_QUESTIONS", 100)
    table = write_table(tmp_path / "table.jsonl", 101)
    with pytest.raises(ValueError, match=r"table\.jsonl has more than 100 questions: score it with anls"):
        read(table)


@pytest.mark.parametrize("content", [b"[" + b"{}," * 60 + b"{}]", b"[" + b"1," * 120 + b"1]", b"," * 121])
def test_file_of_many_values_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    monkeypatch.setattr(limits, "MOST_VALUES_IN_FILE", 120)
    (tmp_path / "table.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.json has more than 120 values: score it with anls"):
        Upload(str(tmp_path / "table.json")).records()


def test_no_questions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("prediction,references\n")
    with pytest.raises(ValueError, match=r"table\.csv: it has no "):
        read(Upload(str(tmp_path / "table.csv")))


def test_too_much_to_compare_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"prediction": "a" * 9_000, "references": ["b" * 9_000]}] * 3
    (tmp_path / "table.json").write_text(json.dumps(rows))
    table = Upload(str(tmp_path / "table.json"))
    assert len(read(table)) == 3
    monkeypatch.setattr(limits, "MOST_COMPARED_IN_FILE", 2 * 9_100**2)
    with pytest.raises(ValueError, match=r"table\.json has more to compare than others would wait for: score it with"):
        read(table)
    (tmp_path / "table.json").write_text(json.dumps([{"prediction": "a" * 20_000, "references": ["b"] * 10_000}]))
    with pytest.raises(ValueError, match=r"table\.json, question 1: 20,000 characters and 10,000 accepted answers"):
        read(table)


def test_small_file_that_unpacks_to_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(limits, "MOST_UNPACKED", 50 * 1000 * 1000)
    columns = {"prediction": ["a"] * 600, "references": ["a"] * 600}
    for size, count, message in ((100_000, 600, "takes more than 50 MB once it is read"), (60_000_000, 1, "unpacked")):
        text = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), ["x" * size])
        table = pa.table({**{name: some[:count] for name, some in columns.items()}, "question": text})
        parquet.write_table(table, tmp_path / "small.parquet", compression="zstd")
        assert (tmp_path / "small.parquet").stat().st_size < 100_000
        with pytest.raises(ValueError, match=message):
            read(Upload(str(tmp_path / "small.parquet")))


def test_dates_outside_of_python_are_reported(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"prediction": ["a"], "references": ["a"], "date": pa.array([10_000_000], pa.date32())}
    parquet.write_table(pa.table(table), tmp_path / "dates.parquet")
    with pytest.raises(ValueError, match=r"dates\.parquet.*: a value that cannot be read"):
        read(Upload(str(tmp_path / "dates.parquet")))


def test_columns_to_pick_from_are_those_that_a_page_can_show(tmp_path: Path) -> None:
    def columns(name: str, content: str) -> list[str]:
        (tmp_path / name).write_text(content)
        return list_columns(open_all([Upload(str(tmp_path / name))], None)[0].values())

    assert columns("a.json", r"""[{"prediction": "a", "k\ud800": 1}]""") == ["prediction"]
    assert columns("b.json", json.dumps([{"prediction": "a", "k" * 10_000: 1}])) == ["prediction"]
    wide = ",".join(f"c{n}" for n in range(3_000)) + "\na" + "," * 2_999 + "\n"
    assert len(columns("wide.csv", wide)) == limits.MOST_COLUMNS
    assert columns("none.csv", "a,b\n") == []
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"prediction": ["a"], "picture": [b"x"]}), tmp_path / "pictures.parquet")
    found = list_columns(open_all([Upload(str(tmp_path / "pictures.parquet"))], None)[0].values())
    assert found == ["prediction", "picture"]
