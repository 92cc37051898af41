"""Small files that were made to need much memory are refused with one line, before the memory is taken."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from anls_metric import command_line
from anls_metric.reading import parquet_sizes
from anls_metric.reading.errors import InputError
from tests.reading.memory import limit_memory
from tests.reading.test_formats import HEADER, ROWS, check_rows, text, workbook

MB = 1 << 20


def refuse(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    """Score a file with the command, which must refuse it with one line, and return this line."""
    with limit_memory():
        status = command_line.main([str(path)])
    out, error = capsys.readouterr()
    lines = [line for line in error.splitlines() if line.startswith("anls: error: ")]
    assert (status, out, len(lines)) == (2, "", 1)
    assert len(error) < 5_000
    return lines[0]


def write_sheet(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """Write a workbook with a changed sheet."""
    workbook(path, [HEADER, [text("1"), text("a"), text("a")]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return path


FAR = {
    "far.xlsx": lambda sheet: sheet.replace(b"</row>", b"<c r='ZZ1048576'><v>1</v></c></row>"),
    "last.xlsx": lambda sheet: sheet.replace(b"</row>", b"<c r='XFD1048576'><v>1</v></c></row>"),
    "twice.xlsx": lambda sheet: sheet.replace(b"r='C2'", b"r='C2' r='XFD1048576'"),
    "twice apart.xlsx": lambda sheet: sheet.replace(b"r='C2'", b"r='C2' s='0'\n\tr = 'XFD1048576'"),
}


@pytest.mark.parametrize("name", FAR)
def test_workbook_with_a_far_cell_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The reader would abort the process, or take gigabytes."""
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    line = refuse(capsys, write_sheet(tmp_path / name, FAR[name]))
    assert "delete the cells that are far" in line or "duplicate attribute" in line


def test_log_that_lies_about_its_size_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = b'{"id": 1, "input": "' + b"a" * (70 * MB) + b'"}'
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", sample)
    (tmp_path / "honest.eval").write_bytes(stream.getvalue())
    assert "more than 64 MB once unpacked" in refuse(capsys, tmp_path / "honest.eval")
    lying = stream.getvalue().replace(struct.pack("<I", len(sample)), struct.pack("<I", 100))
    (tmp_path / "lying.eval").write_bytes(lying)
    assert "samples/1_epoch_1.json in it cannot be read" in refuse(capsys, tmp_path / "lying.eval")


def test_packed_json_that_becomes_large_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.json.gz").write_bytes(gzip.compress(b"[" + b'"a",' * (20 * MB) + b'"a"]', 1))
    assert "too much for its size" in refuse(capsys, tmp_path / "list.json.gz")


def test_file_that_is_packed_very_often_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = b"[]"
    for _ in range(1_500):
        content = gzip.compress(content, 1)
    (tmp_path / "deep.gz").write_bytes(content)
    assert "packed more than 3 times: unpack it first" in refuse(capsys, tmp_path / "deep.gz")


@pytest.mark.thorough
def test_table_of_a_million_columns_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = ",".join(f"c{number}" for number in range(1_000_000))
    (tmp_path / "wide.csv").write_text(f"{header}\na\n")
    assert "line 2: this line has 1 value, and the header has 1,000,000" in refuse(capsys, tmp_path / "wide.csv")
    (tmp_path / "same.csv").write_text(f"{header},c0\na\n")
    assert "two columns have the same name (c0)" in refuse(capsys, tmp_path / "same.csv")


# Parquet and Arrow


def test_parquet_file_that_stores_a_value_once_for_many_rows_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    count = 100_000
    places = pyarrow.array(memoryview(bytes(4 * count)).cast("i"))
    columns = {
        name: pyarrow.DictionaryArray.from_arrays(places, pyarrow.array([value]))
        for name, value in (("prediction", "a" * 120_000), ("references", "b"))
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", compression="zstd", row_group_size=count)
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    assert "too much for its size: save it as JSON lines" in refuse(capsys, tmp_path / "a.parquet")


def test_packed_arrow_file_that_becomes_large_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    batch = pyarrow.record_batch({"prediction": ["a" * MB] * 70, "references": ["b"] * 70})
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(str(tmp_path / "a.arrow"), batch.schema, options=options) as writer:
        writer.write_batch(batch)
    assert "more than 64 MB once unpacked" in refuse(capsys, tmp_path / "a.arrow")


@pytest.mark.parametrize(
    ("place", "number"), [(4, 1 << 30), (4, -2), ("body", 1 << 40), ("body", -8)], ids=lambda value: str(value)
)
def test_arrow_file_that_is_cut_off_is_refused(
    place: int | str, number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library allocates the size that a message states before it looks for the end of the message."""
    pyarrow = pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    batch = pyarrow.record_batch({"prediction": ["a" * 7_000], "references": ["b"]})
    with pyarrow.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    content = stream.getvalue()
    if isinstance(place, int):
        content = content[:place] + struct.pack("<i", number) + content[place + 4 :]
    else:
        size = struct.pack("<q", 7_024)  # of the body
        assert content.count(size) == 1
        content = content.replace(size, struct.pack("<q", number))
    (tmp_path / "a.arrow").write_bytes(content)
    assert "it is not Arrow, or" in refuse(capsys, tmp_path / "a.arrow")


def break_footer(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change the footer of a Parquet file. Its length and four bytes follow it."""
    length = int.from_bytes(content[-8:-4], "little")
    footer = change(content[-8 - length : -8])
    return content[: -8 - length] + footer + struct.pack("<I", len(footer)) + content[-4:]


BROKEN = {
    "empty": lambda footer: b"",
    "cut off": lambda footer: footer[: len(footer) // 2],
    "zeros": lambda footer: bytes(len(footer)),
    "lists in lists": lambda footer: b"\x19" + b"\x19" * 5_000 + footer,
    "structs in structs": lambda footer: b"\x1c" * 5_000 + footer,
    "long list": lambda footer: b"\x19\xf5\xff\xff\xff\xff\x0f" + footer,
    "long text": lambda footer: b"\x18\xff\xff\xff\xff\x0f" + footer,
}


@pytest.mark.parametrize("damage", BROKEN)
def test_parquet_file_with_a_broken_footer_is_refused(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "a.parquet")
    content = break_footer((tmp_path / "a.parquet").read_bytes(), BROKEN[damage])
    (tmp_path / "a.parquet").write_bytes(content)
    assert "a.parquet: " in refuse(capsys, tmp_path / "a.parquet")
    if damage != "zeros":
        with pytest.raises((ValueError, IndexError)):
            list(parquet_sizes._read_columns(io.BytesIO(content)))


def test_parquet_footer_with_any_byte_changed_never_ends_the_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The library aborts the process on access to some wrong numbers of a footer."""
    pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    with limit_memory():
        for place in range(len(content) - 8 - length, len(content) - 8, 3):
            changed = bytearray(content)
            changed[place] ^= 0x2A
            (tmp_path / "a.parquet").write_bytes(changed)
            assert command_line.main([str(tmp_path / "a.parquet")]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def write_parquet(path: Path, **options: object) -> None:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), path, **options)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("pages", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_file_of_any_kind_is_read(codec: str, pages: str, dictionary: bool, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    options = {"compression": codec, "data_page_version": pages, "use_dictionary": dictionary, "row_group_size": 2}
    write_parquet(tmp_path / "a.parquet", **options)
    check_rows(tmp_path / "a.parquet")


def test_parquet_file_with_rows_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library silently skips the rows of a column without pages."""
    parquet = pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "a.parquet", row_group_size=1)
    iterate = parquet.ParquetFile.iter_batches
    monkeypatch.setattr(
        parquet.ParquetFile, "iter_batches", lambda *args, **options: islice(iterate(*args, **options), 0)
    )
    with pytest.raises(InputError, match=r"only 0 of its 3 rows can be read: copy or download the file again"):
        check_rows(tmp_path / "a.parquet")


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_parquet_column_of_any_encoding_is_read(encoding: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    write_parquet(tmp_path / "a.parquet", use_dictionary=False, column_encoding={"prediction": encoding})
    check_rows(tmp_path / "a.parquet")


def test_parquet_file_with_nested_columns_and_a_large_footer_is_read(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{**row, "more": {"a": [{"b": [row["id"]]}], "c": {"d": 1}}} for row in ROWS]
    table = pyarrow.Table.from_pylist(rows).replace_schema_metadata({"notes": "n" * MB})
    parquet.write_table(table, tmp_path / "a.parquet")
    check_rows(tmp_path / "a.parquet")


def test_table_of_pandas_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(ROWS)
    frame["prediction"] = frame["prediction"].astype("category")
    frame.to_parquet(tmp_path / "a.parquet")
    check_rows(tmp_path / "a.parquet")
