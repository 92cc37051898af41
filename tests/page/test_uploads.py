"""Files that visitors uploaded: which are taken, when they go, and how much of them is read."""

from __future__ import annotations

import hashlib
import json
import os
from itertools import chain
from pathlib import Path

import pytest

from anls_metric.page import limits
from anls_metric.page.uploads import Budget, Upload, find, list_columns, make_room, open_all, take
from anls_metric.reading.errors import InputError
from anls_metric.reading.join import Row
from anls_metric.reading.sources import Reading
from tests.page.files import write_table

MISUSES = ["", "..", ".", "{hash}", "{hash}/", "{hash}/..", "{hash}/../{hash}", "x/name.csv", "{hash}/a/name.csv"]


def upload(folder: Path, content: bytes, name: str = "table.csv") -> Path:
    """A file where a server puts it."""
    path = folder / hashlib.sha256(content).hexdigest() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def read(*files: Upload, gold: Upload | None = None, missing: str = "error") -> list[Row]:
    """The rows of all submissions that these files are, within the limits."""
    budget = Budget()
    submissions = find(files, gold, Reading(missing=missing), open_all(files, gold))
    return list(chain.from_iterable(chain.from_iterable(map(budget.read_batches, submissions))))


def test_an_upload_is_taken_as_often_as_one_likes(tmp_path: Path) -> None:
    path = upload(tmp_path, b"prediction,references\na,a\n")
    for _ in range(3):
        taken = take(str(path), str(tmp_path), "table")
        assert taken == Upload(str(path))
        assert [row.prediction for row in read(taken)] == ["a"]
    assert path.exists()


@pytest.mark.parametrize("misuse", MISUSES)
def test_only_an_upload_is_taken(tmp_path: Path, misuse: str) -> None:
    mine = upload(tmp_path, b"prediction,references\na,a\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "name.csv").write_text("no upload")
    (mine.parent / "a").mkdir()
    (mine.parent / "a" / "name.csv").write_text("no upload")
    for path in (f"{tmp_path}/{misuse.format(hash=mine.parent.name)}", misuse.format(hash=mine.parent.name)):
        with pytest.raises(ValueError, match=r"table is (no file that was uploaded|missing)"):
            take(path, str(tmp_path), "table")
    assert mine.exists()


def test_no_other_file_is_taken(tmp_path: Path) -> None:
    mine = upload(tmp_path, b"x")
    (mine.parent / "link.csv").symlink_to("/etc/hostname")
    for path in (
        "/etc/hostname",
        str(mine.parent / "link.csv"),
        "/",
        "\0",
        "file:///etc/hostname",
        "http://x.org/a.csv",
    ):
        with pytest.raises(ValueError, match="table is no file that was uploaded: upload it"):
            take(path, str(tmp_path), "table")
    with pytest.raises(FileNotFoundError):
        take(str(mine.parent / "gone.csv"), str(tmp_path), "table")
    with pytest.raises(ValueError, match="table is missing: upload a file"):
        take(None, str(tmp_path), "table")


def test_a_file_of_100_mb_is_not_taken(tmp_path: Path) -> None:
    path = upload(tmp_path, b"x", "large.csv")
    os.truncate(path, 100 << 20)
    with pytest.raises(ValueError, match=r"large\.csv is larger than 50 MB: score it with anls"):
        take(str(path), str(tmp_path), "table")


def test_uploads_go_the_oldest_first(tmp_path: Path) -> None:
    paths = [upload(tmp_path, bytes([number]) * 100) for number in range(5)]
    for age, path in enumerate(paths):
        os.utime(path, times=(path.stat().st_mtime - 1000 + 10 * age,) * 2)
    interrupted = tmp_path / "tmp123"
    interrupted.write_bytes(b"x" * 100)
    os.utime(interrupted, times=(0, 0))
    make_room(str(tmp_path), most=250)
    assert [path.exists() for path in [*paths, interrupted]] == [False, False, False, True, True, False]
    make_room(str(tmp_path), most=250, seconds=965)
    assert [path.exists() for path in paths[3:]] == [False, True]
    make_room(str(tmp_path / "none"))


def test_the_gold_file_is_found_wherever_it_stands(tmp_path: Path) -> None:
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
        with pytest.raises(InputError, match=f"there are no {lacks} (in it|besides)"):
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
def test_a_file_of_many_values_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    monkeypatch.setattr(limits, "MOST_VALUES_IN_FILE", 120)
    (tmp_path / "table.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.json has more than 120 values: score it with anls"):
        Upload(str(tmp_path / "table.json")).records()


def test_no_questions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("prediction,references\n")
    with pytest.raises(ValueError, match=r"table\.csv: there are no "):
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


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(limits, "MOST_UNPACKED", 50 * 1000 * 1000)
    columns = {"prediction": ["a"] * 600, "references": ["a"] * 600}
    for size, count, said in ((100_000, 600, "takes more than 50 MB once it is read"), (60_000_000, 1, "unpacked")):
        text = pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), ["x" * size])
        table = pa.table({**{name: some[:count] for name, some in columns.items()}, "question": text})
        parquet.write_table(table, tmp_path / "small.parquet", compression="zstd")
        assert (tmp_path / "small.parquet").stat().st_size < 100_000
        with pytest.raises(ValueError, match=said):
            read(Upload(str(tmp_path / "small.parquet")))


def test_dates_that_python_does_not_have_are_told(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"prediction": ["a"], "references": ["a"], "date": pa.array([10_000_000], pa.date32())}
    parquet.write_table(pa.table(table), tmp_path / "dates.parquet")
    with pytest.raises(ValueError, match=r"dates\.parquet.*: a value that cannot be read"):
        read(Upload(str(tmp_path / "dates.parquet")))


def test_columns_to_pick_from_are_those_that_a_page_can_show(tmp_path: Path) -> None:
    def columns(name: str, content: str) -> list[str]:
        (tmp_path / name).write_text(content)
        return list_columns(open_all([Upload(str(tmp_path / name))], None).values())

    assert columns("a.json", r"""[{"prediction": "a", "k\ud800": 1}]""") == ["prediction"]
    assert columns("b.json", json.dumps([{"prediction": "a", "k" * 10_000: 1}])) == ["prediction"]
    wide = ",".join(f"c{n}" for n in range(3_000)) + "\n" + "," * 2_999 + "\n"
    assert len(columns("wide.csv", wide)) == limits.MOST_COLUMNS
    assert columns("none.csv", "a,b\n") == []
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"prediction": ["a"], "picture": [b"x"]}), tmp_path / "pictures.parquet")
    found = list_columns(open_all([Upload(str(tmp_path / "pictures.parquet"))], None).values())
    assert found == ["prediction", "picture"]
