"""Files of every format, container and encoding keep their content, or are refused."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import zipfile
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from anls_metric.reading.batch import Row
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import CHUNK
from anls_metric.reading.records import Records
from anls_metric.reading.sources import Reading
from anls_metric.reading.submissions import find_submissions

Table = list[dict[str, Any]]
ROWS: Table = [
    {"id": "a1", "prediction": "12;50", "references": ["12,50", "12.50"]},
    {"id": "a2", "prediction": 'She said "no"', "references": ["no"]},
    {"id": "a3", "prediction": "Königstraße 5\nZürich", "references": ["東京"]},
]


def rows_of(*files: str, **reading: Any) -> list[Row]:
    (submission,) = find_submissions(files, reading=Reading(**reading))
    return list(chain.from_iterable(submission.batches()))


def check_rows(path: Path | str, rows: Table = ROWS, **reading: Any) -> None:
    rows_read = [(row.id, row.prediction, list(row.references)) for row in rows_of(str(path), **reading)]
    assert rows_read == [(row["id"], row["prediction"], row["references"]) for row in rows]


def write_csv(
    rows: Table, delimiter: str = ",", end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL, empty_columns: int = 0
) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    empty = [""] * empty_columns
    writer.writerow([*rows[0], *empty])
    writer.writerows([row["id"], row["prediction"], json.dumps(row["references"]), *empty] for row in rows)
    return stream.getvalue()


LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}

TEXTS = {
    "table.csv": write_csv(ROWS),
    "semicolons.csv": write_csv(ROWS, ";"),
    "tabs.csv.txt": write_csv(ROWS, "\t"),
    "table.tsv": write_csv(ROWS, "\t", "\r\n"),
    "pipes.txt": write_csv(ROWS, "|"),
    "blank rows at the end.csv": write_csv(ROWS) + ",,\n,,\n",
    "empty columns.csv": write_csv(ROWS, empty_columns=2),
    "delimiter of Excel.csv": "sep=;\n" + write_csv(ROWS, ";"),
    "blanks before quotation marks.csv": write_csv(ROWS, quoting=csv.QUOTE_ALL).replace('","', '", "'),
    "list.json": json.dumps(ROWS),
    "indented.json": json.dumps(ROWS, indent=4),
    "data.json": json.dumps({"name": "x", "data": ROWS}),
    "lines.jsonl": LINES,
    "lines.json": LINES,
    "lines.csv": LINES,
    "list.tsv": json.dumps(ROWS, indent=4),
    "no ending": LINES,
    "blank lines.jsonl": "\n \n" + LINES.replace("\n", "\n\n"),
    "windows.jsonl": LINES.replace("\n", "\r\n"),
    "one after the other.json": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "one line.json": "".join(json.dumps(row) for row in ROWS),
    "columns.json": json.dumps(COLUMNS),
    "pandas.json": json.dumps(
        {name: {str(n): value for n, value in enumerate(column)} for name, column in COLUMNS.items()}
    ),
    "pandas split.json": json.dumps(
        {"columns": list(ROWS[0]), "index": [0, 1, 2], "data": [list(row.values()) for row in ROWS]}
    ),
    "pandas index.json": json.dumps({str(n): row for n, row in enumerate(ROWS)}),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_of_any_shape_and_encoding_is_read(tmp_path: Path, name: str, encoding: str) -> None:
    (tmp_path / name).write_bytes(TEXTS[name].encode(encoding))
    check_rows(tmp_path / name)


@pytest.mark.parametrize("name", ["table.csv", "lines.jsonl", "list.json"])
@pytest.mark.parametrize("packed", [gzip, bz2, lzma], ids=lambda packed: packed.__name__)
def test_compressed_file_is_unpacked_up_to_the_limit(tmp_path: Path, name: str, packed: Any) -> None:
    ending = {"gzip": ".gz", "bz2": ".bz2", "lzma": ".xz"}[packed.__name__]
    (tmp_path / (name + ending)).write_bytes(packed.compress(TEXTS[name].encode()))
    check_rows(tmp_path / (name + ending))
    (tmp_path / "cut").write_bytes(packed.compress(TEXTS[name].encode())[:-10])
    with pytest.raises(InputError, match=r"cannot be unpacked"):
        rows_of(str(tmp_path / "cut"))
    (tmp_path / "bomb").write_bytes(packed.compress(b" " * 10_000_000))
    with pytest.raises(InputError, match=r"more than 1 MB once unpacked"):
        list(Records(str(tmp_path / "bomb"), most_bytes=2**20).chunks())


def test_pandas_columns_without_a_name_have_their_number(tmp_path: Path) -> None:
    split = {"columns": [*ROWS[0], 3], "data": [[*row.values(), True] for row in ROWS]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    check_rows(tmp_path / "split.json")
    (tmp_path / "split.json").write_text(json.dumps({**split, "columns": ["id", "prediction", "references", "id"]}))
    with pytest.raises(InputError, match=r"no predictions"):
        rows_of(str(tmp_path / "split.json"))


def test_single_record_is_read(tmp_path: Path) -> None:
    for name, text in {"a.json": json.dumps(ROWS[0], indent=1), "b.json": json.dumps(ROWS[0])}.items():
        (tmp_path / name).write_text(text)
        check_rows(tmp_path / name, ROWS[:1])


def test_objects_of_answers_by_id_are_joined(tmp_path: Path) -> None:
    gold, answers = tmp_path / "gold.json", tmp_path / "answers.json"
    answers.write_text(json.dumps({row["id"]: row["prediction"] for row in ROWS}))
    for accepted in ({row["id"]: row["references"] for row in ROWS}, {row["id"]: row["references"][0] for row in ROWS}):
        gold.write_text(json.dumps(accepted))
        (submission,) = find_submissions([str(answers)], gold=str(gold))
        rows = list(chain.from_iterable(submission.batches()))
        assert [row.prediction for row in rows] == [row["prediction"] for row in ROWS]
        assert [row.references[0] for row in rows] == [row["references"][0] for row in ROWS]


def test_folder_and_pattern_of_parts_are_read_as_one_file(tmp_path: Path) -> None:
    rows = [{"id": f"{n}", "prediction": "a", "references": ["a"]} for n in range(25)]
    for part in range(12):  # part 10 comes after part 9
        lines = "".join(f"{json.dumps(row)}\n" for row in rows[2 * part : 2 * part + (3 if part == 11 else 2)])
        (tmp_path / f"part-{part}.jsonl").write_text(lines)
    check_rows(tmp_path, rows)
    check_rows(tmp_path / "part-*.jsonl", rows)
    (tmp_path / "part-3.jsonl").write_text('{"id": 1, "prediction": {"a": 7}, "references": ["a"]}\n')
    with pytest.raises(InputError, match=r"part-3.jsonl, line 1: 'prediction' is "):
        rows_of(str(tmp_path))
    (tmp_path / "other.csv").write_text("a\n")
    with pytest.raises(InputError, match=r"it holds other.csv, part-0.jsonl, .* are not parts of one file"):
        rows_of(str(tmp_path))


REFUSED = {
    "a.pkl": (b"\x80\x04\x95", "a pickle"),
    "a.json": (b"\x80\x05\x95", "a pickle"),
    "a.pickle": (b"(lp0\n", "a pickle"),
    "a.zst": (b"\x28\xb5\x2f\xfd rest", "it is packed by Zstandard: unpack it first"),
    "a.pdf": (b"%PDF-1.7", "a PDF document"),
    "a.csv": (b"<!DOCTYPE html><html>", "a web page"),
    "a.png": (b"\x89PNG\r\n", "an image"),
    "a.db": (b"SQLite format 3\x00", "an SQLite database"),
    "a.jsonl": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "run git lfs pull"),
    "a.npy": (b"\x93NUMPY\x01\x00", "it is a NumPy array: save its answers as CSV"),
    "a.yaml": (b"- questionId: 1\n", "files of this kind are not read: save its answers as CSV"),
    "empty.json": (b"", "the file is empty"),
    "blank.csv": (b" \n\n", "the file is empty"),
    "latin.csv": ("prediction,references\ncafé,b\n".encode("latin-1"), "byte 0xe9 is not UTF-8"),
    "table.md": (b"| id | prediction |\n|---|---|\n| a1 | b |\n", "it is a Markdown table: save it as CSV"),
    "title and blank.csv": (
        b"Results,,\n\nid,answer\na,b\n",
        "line 3: .* 2 values, .*: begin with a line that names each",
    ),
    "title alone.csv": (b"Results\na\n", "the first row must name the columns: delete the rows above it"),
    "title.csv": (b"Round 2\nid,prediction,references\n", "line 2: .* 3 values, .*: begin with a line that names each"),
    "a.parquet": (b"no parquet", "it is not Parquet, or damaged"),
    "a.eval": (b"no log", "not an inspect_ai log"),
    "a.xlsx": (b"no workbook", "not an Excel workbook"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_file_of_another_format_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    content, message = REFUSED[name]
    (tmp_path / name).write_bytes(content)
    if name == "a.parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=message):
        rows_of(str(tmp_path / name))


def test_zip_archive_is_refused_with_its_contents(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "answers.zip", "w") as archive:
        archive.writestr("answers.json", "[]")
    with pytest.raises(InputError, match=r"it is a zip archive of answers.json: unpack it"):
        rows_of(str(tmp_path / "answers.zip"))


@pytest.mark.parametrize(
    ("member", "what"),
    [("word/document.xml", "Word document"), ("ppt/a.xml", "PowerPoint file"), ("content.xml", "OpenDocument file")],
)
def test_office_document_is_refused_by_its_name(tmp_path: Path, member: str, what: str) -> None:
    with zipfile.ZipFile(tmp_path / "answers.docx", "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr(member, "")
    with pytest.raises(InputError, match=f"it is an? {what}: save its answers as CSV, JSON or xlsx"):
        rows_of(str(tmp_path / "answers.docx"))


# Parquet and Arrow


def test_parquet_columns_of_images_are_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist([{**row, "image": {"bytes": b"x" * 1000, "path": "p"}} for row in ROWS])
    parquet.write_table(table, tmp_path / "table.parquet")
    read: list[Any] = []
    iterate = parquet.ParquetFile.iter_batches

    def noting(file: Any, *args: Any, columns: Any = None, **options: Any) -> Any:
        read.append(columns)
        return iterate(file, *args, columns=columns, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", noting)
    check_rows(tmp_path / "table.parquet")
    assert read
    assert all("image" not in columns for columns in read)
    content = (tmp_path / "table.parquet").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    check_rows("-")


def test_data_set_saved_by_datasets_is_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"id": f"{n}", "prediction": "a", "references": ["a"]} for n in range(CHUNK + 7)]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved", num_shards=3)
    check_rows(tmp_path / "saved", rows)
    datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}).save_to_disk(tmp_path / "splits")
    with pytest.raises(InputError, match=r"it holds several splits: name the folder of one split: test"):
        rows_of(str(tmp_path / "splits"))
    check_rows(tmp_path / "splits" / "test")
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(ROWS)
    with pyarrow.ipc.new_file(str(tmp_path / "file.arrow"), table.schema) as writer:
        writer.write_table(table)
    check_rows(tmp_path / "file.arrow")


# Excel workbooks, made by hand because few libraries write them


def workbook(path: Path, rows: list[list[str]]) -> str:
    """Write a workbook, given the XML of its cells."""
    cells = ""
    for number, row in enumerate(rows, 1):
        of_row = "".join(f"<c r='{chr(65 + place)}{number}' {cell}</c>" for place, cell in enumerate(row))
        cells += f"<row r='{number}'>{of_row}</row>"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {
            "[Content_Types].xml": f"<Types xmlns='{package}/content-types'><Default Extension='rels' ContentType="
            "'application/vnd.openxmlformats-package.relationships+xml'/><Default Extension='xml' ContentType="
            f"'{kinds}.sheet.main+xml'/>"
            f"<Override PartName='/xl/worksheets/sheet1.xml' ContentType='{kinds}.worksheet+xml'/>"
            f"<Override PartName='/xl/styles.xml' ContentType='{kinds}.styles+xml'/></Types>",
            "_rels/.rels": f"<Relationships xmlns='{package}/relationships'><Relationship Id='r1' Type="
            f"'{relations}/officeDocument' Target='xl/workbook.xml'/></Relationships>",
            "xl/workbook.xml": f"<workbook xmlns='{main}' xmlns:r='{relations}'><sheets><sheet name='S' sheetId='1' "
            "r:id='r1'/></sheets></workbook>",
            "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{package}/relationships'><Relationship Id='r1' Type="
            f"'{relations}/worksheet' Target='worksheets/sheet1.xml'/><Relationship Id='r2' Type='{relations}/styles' "
            "Target='styles.xml'/></Relationships>",
            "xl/styles.xml": f"<styleSheet xmlns='{main}'><cellXfs count='2'><xf numFmtId='0'/><xf numFmtId='14' "
            "applyNumberFormat='1'/></cellXfs></styleSheet>",
            "xl/worksheets/sheet1.xml": f"<worksheet xmlns='{main}'><sheetData>{cells}</sheetData></worksheet>",
        }.items():
            archive.writestr(name, text)
    return str(path)


def text(value: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#10;")
    return f"t='inlineStr'><is><t xml:space='preserve'>{escaped}</t></is>"


def number(value: str) -> str:
    return f"><v>{value}</v>"


HEADER = [text(name) for name in ("id", "prediction", "references")]


def test_workbook_is_read(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    rows = [[text(row["id"]), text(row["prediction"]), text(json.dumps(row["references"]))] for row in ROWS]
    check_rows(workbook(tmp_path / "table.xlsx", [HEADER, *rows]))
    kinds = [
        [number("7"), number("56"), text("56")],
        [number("8"), number("2.5"), text("2.5")],
        [text("x"), text(""), text("b")],
    ]
    rows_read = rows_of(workbook(tmp_path / "numbers.xlsx", [HEADER, *kinds]))
    assert [(row.id, row.prediction) for row in rows_read] == [("7", "56"), ("8", "2.5"), ("x", "")]


def test_workbook_with_a_date_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    date = workbook(tmp_path / "date.xlsx", [HEADER, [text("1"), "s='1'><v>32857</v>", text("12/15/89")]])
    with pytest.raises(InputError, match=r"row 2, prediction: the cell is 1989-12-15 .date., and the text"):
        rows_of(date)


def test_failed_formulas_of_a_workbook_are_read_as_csv_holds_them(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    failed = "t='e'><f>Old!#REF!</f><v>#REF!</v>"
    rows = [[number("7"), failed, text("56")], [number("8"), "t='e'><v>#N/A</v>", text("2.5")]]
    read = rows_of(workbook(tmp_path / "table.xlsx", [HEADER, *rows, [failed, failed, failed]]))
    assert [(row.id, row.prediction) for row in read] == [("7", "#REF!"), ("8", "#N/A")]


def test_empty_cell_of_accepted_answers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("prediction,references\na,\n")
    with pytest.raises(InputError, match=r"table.csv, line 2: 'references' is empty: add at least one accepted answer"):
        rows_of(str(tmp_path / "table.csv"))


# Random files


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Make rows of any texts that are valid in UTF-8."""
    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    answers = st.lists(texts, min_size=1, max_size=3)
    count = draw(st.integers(1, 6))
    return [{"id": f"q{n}", "prediction": draw(texts), "references": draw(answers)} for n in range(count)]


def _csv(rows: Table, delimiter: str) -> str:
    try:
        return write_csv(rows, delimiter, quoting=csv.QUOTE_ALL)  # otherwise a carriage return would end a line
    except csv.Error:  # Python 3.10 writes no NUL
        reject()


WRITERS: dict[str, Any] = {
    "list.json": json.dumps,
    "indented.json": lambda rows: json.dumps(rows, indent=2, ensure_ascii=False),
    "lines.jsonl": lambda rows: "".join(f"{json.dumps(row)}\n" for row in rows),
    "columns.json": lambda rows: json.dumps({name: [row[name] for row in rows] for name in rows[0]}),
    "objects.json": lambda rows: "\n".join(json.dumps(row, indent=1) for row in rows),
    "comma.csv": lambda rows: _csv(rows, ","),
    "semicolon.csv": lambda rows: _csv(rows, ";"),
    "tab.tsv": lambda rows: _csv(rows, "\t"),
}


@settings(max_examples=300)
@given(tables(), st.sampled_from(sorted(WRITERS)), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), st.booleans())
def test_text_of_any_format_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: Table, name: str, encoding: str, packed: bool
) -> None:
    content = WRITERS[name](rows).encode(encoding)
    path = tmp_path_factory.getbasetemp() / f"fuzz-{name}{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(content) if packed else content)
    rows_read = [(row.id, row.prediction, list(row.references)) for row in rows_of(str(path))]
    every = [row["prediction"] for row in rows]
    unwrapped = len(every) > 1 and all(text.startswith("[") for text in every)
    assert unwrapped or rows_read == [(row["id"], row["prediction"], row["references"]) for row in rows]


@settings(max_examples=300)
@given(
    st.binary(max_size=60), st.sampled_from(["a.json", "a.csv", "a.jsonl", "a", "a.tsv", "a.gz", "a.eval", "a.xlsx"])
)
def test_any_bytes_are_read_or_refused_with_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes-{name}"
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        assert all(isinstance(row, Row) for row in rows_of(str(path)))
