"""Records with their places in a file, and errors that name file and place."""

from __future__ import annotations

import csv
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import CHUNK, Chunk
from anls_metric.reading.records import Records

RECORDS = [{"id": number, "text": f"é {number}"} for number in range(2 * CHUNK + 5)]


def write(path: Path, records: list[dict[str, Any]]) -> str:
    """Write records in the format of the ending of the file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(f"{json.dumps(record)}\n" for record in records)
        elif path.suffix == ".csv":
            writer = csv.DictWriter(file, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
        else:
            json.dump(records, file, indent=2 if path.stem == "indented" else None)
    return str(path)


@pytest.mark.parametrize("name", ["a.json", "indented.json", "a.jsonl", "a.csv", "a.parquet"])
def test_chunks_hold_the_records_with_their_places(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pyarrow = pytest.importorskip("pyarrow")
        path = str(tmp_path / name)
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.Table.from_pylist(RECORDS), path)
    else:
        path = write(tmp_path / name, RECORDS)
    chunks = list(Records(path).chunks())
    assert max(len(chunk.records) for chunk in chunks) == CHUNK
    records = [record for chunk in chunks for record in chunk.records]
    assert [str(record["id"]) for record in records] == [str(record["id"]) for record in RECORDS]
    first = {"a.csv": "line 2", "a.jsonl": "line 1", "a.parquet": "row 1"}.get(name, "record 1")
    assert chunks[0].place_of(0) == first
    unit, number = first.split()
    assert chunks[-1].place_of(len(chunks[-1].records) - 1) == f"{unit} {int(number) + len(RECORDS) - 1}"


def test_place_of_counts_blank_lines_and_cells_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"a": 1}\n\n\n{"a": 2}\n')
    places = [
        chunk.place_of(n) for chunk in Records(str(tmp_path / "a.jsonl")).chunks() for n in range(len(chunk.records))
    ]
    assert places == ["line 2", "line 5"]
    (tmp_path / "a.csv").write_text('a,b\n"1\n2",3\n4,5\n')
    (chunk,) = Records(str(tmp_path / "a.csv")).chunks()
    assert [chunk.place_of(0), chunk.place_of(1)] == ["line 3", "line 4"]


FIELDS = st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text()) | st.none())


@given(st.lists(FIELDS, min_size=1), st.sampled_from([None, 1]), st.booleans())
def test_json_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], indent: int | None, ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("written") / "a.json"
    try:
        path.write_text(json.dumps(records, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair is no UTF-8
        return
    assert [record for chunk in Records(str(path)).chunks() for record in chunk.records] == records


def test_csv_cell_may_be_large_while_the_limit_of_the_process_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (tmp_path / "a.csv").write_text("prediction\n" + "x" * (2 * before) + "\n")
    for chunk in Records(str(tmp_path / "a.csv")).chunks():
        assert len(chunk.records[0]["prediction"]) == 2 * before
        assert csv.field_size_limit() == before
    assert csv.field_size_limit() == before


def test_csv_with_large_cells_is_read_by_several_threads_at_once(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    (tmp_path / "a.csv").write_text("prediction\n" + f"{'x' * (2 * before)}\n" * 20)
    counts: list[int] = []

    def read() -> None:
        counts.append(sum(len(chunk.records) for chunk in Records(str(tmp_path / "a.csv")).chunks()))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [20] * 8
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, RECORDS)
    chunks = Records(path).chunks()
    next(chunks)
    with open(path, "a") as file:
        file.write('{"id": 1, "text": ""}\n' if name.endswith("jsonl") else "1,x\n")
    with pytest.raises(InputError, match="the file changed while it was read: score it again"):
        list(chunks)
    chunks = Records(path).chunks()
    next(chunks)
    stat = os.stat(path)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))  # rewritten in the same size
    with pytest.raises(InputError, match="the file changed"):
        list(chunks)


def test_item_that_is_no_record_is_refused_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [*RECORDS[:3], "text", None])  # type: ignore[list-item]
    with pytest.raises(InputError) as refused:
        list(Records(path).chunks())
    assert (refused.value.problem, refused.value.where) == (
        "it is a text, not an object",
        f"{path}, record 4",
    )


def parquet(path: Path, columns: dict[str, Any], names: list[str] | None = None) -> str:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(list(columns.values()), names=names or list(columns))
    pytest.importorskip("pyarrow.parquet").write_table(table, path)
    return str(path)


def read(path: str) -> list[Chunk]:
    return list(Records(path).chunks())


def test_parquet_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", {"a": ["x"], "b": ["y"]}, names=["answer", "answer"])
    with pytest.raises(InputError, match=r"a\.parquet: two columns have the same name .answer.: rename"):
        read(path)


def test_parquet_value_that_cannot_be_read_is_refused_with_its_row(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    bad = pyarrow.array([b"good", b"\xff"]).view(pyarrow.string())
    path = parquet(tmp_path / "a.parquet", {"prediction": bad})
    with pytest.raises(InputError, match=r"a\.parquet, row 2: a value that cannot be read: 'utf-8' codec"):
        read(path)
    dates = pyarrow.array([0, 2**62], pyarrow.timestamp("us"))
    with pytest.raises(InputError, match=r"dates\.parquet, row 2: a value that cannot be read"):
        read(parquet(tmp_path / "dates.parquet", {"when": dates}))


def test_empty_parquet_file_has_no_records(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert read(parquet(tmp_path / "a.parquet", {"prediction": pyarrow.array([], pyarrow.string())})) == []


def test_standard_input_is_read_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer of the pipe waits until the first chunk is read."""
    reading, writing = os.pipe()
    go_on = threading.Event()

    def feed() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(b'{"a": 1}\n' * (CHUNK + 1))
            pipe.flush()
            go_on.wait(60)
            pipe.write(b'{"a": 2}\n')

    thread = threading.Thread(target=feed)
    thread.start()
    with open(reading, encoding="utf-8") as pipe:
        monkeypatch.setattr("sys.stdin", pipe)
        chunks: Iterator[Chunk] = Records("-").chunks()
        assert len(next(chunks).records) == CHUNK
        go_on.set()
        assert [record["a"] for chunk in chunks for record in chunk.records] == [1, 2]
    thread.join()
