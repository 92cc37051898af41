"""Files of every format, container and encoding keep their content, or are refused with a next step."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import json
import lzma
import re
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anls_metric
from anls_metric import score
from anls_metric.reading import formats
from tests.reading.conftest import Shell, read
from tests.system.conftest import encode

Table = list[dict[str, Any]]
ROWS: Table = [
    {"id": "a1", "prediction": "12;50", "references": ["12,50", "12.50"]},
    {"id": "a2", "prediction": 'She said "no"', "references": ["no"]},
    {"id": "a3", "prediction": "Königstraße 5\nZürich", "references": ["東京"]},
]


def check(path: str, rows: Table = ROWS, **options: Any) -> None:
    """Check that a file holds these rows."""
    answers = score(path, **options).answers()
    found = [(each["id"], each["prediction"], list(each["references"])) for each in answers]
    assert found == [(row["id"], row["prediction"], row["references"]) for row in rows]


def write_csv(delimiter: str = ",", end: str = "\n", quoting: Any = csv.QUOTE_MINIMAL, empty_columns: int = 0) -> str:
    stream, empty = io.StringIO(), [""] * empty_columns
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow([*ROWS[0], *empty])
    writer.writerows([row["id"], row["prediction"], json.dumps(row["references"]), *empty] for row in ROWS)
    return stream.getvalue()


LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
INDEXED = {name: {str(n): value for n, value in enumerate(column)} for name, column in COLUMNS.items()}

TEXTS = {
    "table.csv": write_csv(),
    "semicolons.csv": write_csv(";"),
    "tabs.csv.txt": write_csv("\t"),
    "table.tsv": write_csv("\t", "\r\n"),
    "quoted.tsv": write_csv("\t", quoting=csv.QUOTE_ALL),
    "pipes.txt": write_csv("|"),
    "blank rows at the end.csv": write_csv() + ",,\n,,\n",
    "empty columns.csv": write_csv(empty_columns=2),
    "list.json": json.dumps(ROWS),
    "indented.json": json.dumps(ROWS, indent=4),
    "data.json": json.dumps({"name": "x", "data": ROWS}),
    "any name.json": json.dumps({"model": "x", "rows": ROWS, "errors": []}),
    "lines.jsonl": LINES,
    "lines.json": LINES,
    "lines.csv": LINES,
    "list.tsv": json.dumps(ROWS, indent=4),
    "no extension": LINES,
    "blank lines.jsonl": "\n \n" + LINES.replace("\n", "\n\n"),
    "windows.jsonl": LINES.replace("\n", "\r\n"),
    "one after the other.json": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "one line.json": "".join(json.dumps(row) for row in ROWS),
    "columns.json": json.dumps(COLUMNS),
    "pandas.json": json.dumps(INDEXED),
    "pandas index.json": json.dumps({str(n): row for n, row in enumerate(ROWS)}),
    "by id.json": json.dumps({row["id"]: {**row, "id": row["id"]} for row in ROWS}),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_of_any_shape_and_encoding_is_read(shell: Shell, name: str, encoding: str) -> None:
    shell.write({name: TEXTS[name].encode(encoding)})
    check(name)


@pytest.mark.parametrize("packed", [gzip, bz2, lzma])
def test_compressed_file_is_unpacked_up_to_a_limit(
    shell: Shell, packed: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("table.csv", "lines.jsonl"):
        content = packed.compress(TEXTS[name].encode())
        shell.write({f"{name}.x": content, "cut.x": content[:-10]})
        check(f"{name}.x")
        assert re.match(r"cut\.x: not (gzip|bzip2|xz), or the file is damaged \(", shell.error("cut.x"))
    monkeypatch.setattr(formats, "MAX_UNPACKED", 2_000_000)
    fits = LINES.encode() + b" " * 1_000_000
    shell.write({"large.x": packed.compress(b" " * 2_000_001), "fits.x": packed.compress(fits)})
    assert shell.error("large.x") == "large.x: it is larger than 2 MB once unpacked: split it"
    check("fits.x")


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.parquet.gz", "t.bin"])
def test_columns_are_read_without_images(shell: Shell, name: str) -> None:
    rows = [{**row, "image": {"bytes": b"x" * 1000, "path": "p"}, "more": {"a": [{"b": 1}]}} for row in ROWS]
    shell.write({name: encode("t.parquet", rows) if name == "t.bin" else encode(name, rows)})
    check(name)


def test_parquet_is_read_in_batches(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MAX_BATCH", 100)
    rows = [{"id": f"{n}", "prediction": f"{n}" * 9, "references": ["a"]} for n in range(100)]
    shell.write({"t.parquet": encode("t.parquet", rows)})
    check("t.parquet", rows)


def test_columns_that_pandas_wrote_are_read(shell: Shell) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(ROWS)
    frame["prediction"] = frame["prediction"].astype("category")
    frame.set_index("id").to_parquet("a.parquet")
    check("a.parquet")


def test_dataset_of_datasets_is_read(shell: Shell) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    rows = [{"id": f"{n}", "prediction": "a", "references": ["a"]} for n in range(25)]
    datasets.Dataset.from_list(rows).save_to_disk("saved", num_shards=3)
    check("saved", rows)
    datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}).save_to_disk("splits")
    assert shell.error("splits") == "splits: it contains several splits: pass the folder of one of them (test)"
    check("splits/test")


def test_workbook_is_read_with_its_numbers(shell: Shell) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    shell.write({"t.xlsx": encode("t.xlsx", ROWS)})
    check("t.xlsx")
    book = openpyxl.Workbook()
    rows = [[*ROWS[0]], [7, 56, "56"], [None] * 3, [8, 2.5, "2.5"], ["x", None, "b"], [9, True, "TRUE"]]
    for row in rows:
        book.active.append(row)
    book.create_sheet("other")
    book.save("n.xlsx")
    numbers = [("7", "56"), ("8", "2.5"), ("x", ""), ("9", "TRUE")]
    assert [(each["id"], each["prediction"]) for each in score("n.xlsx").answers()] == numbers
    assert read(shell, "n.xlsx").endswith(" of n.xlsx: 4 rows (sheet Sheet of 2)")
    assert "decimal numbers among the predictions (1) have lost their formatting" in shell.type("n.xlsx").err
    book.active["B3"] = datetime.date(1989, 12, 15)
    book.save("d.xlsx")
    message = "d.xlsx, row 3, prediction: the cell contains 1989-12-15 (date), not the string that was typed: format"
    assert shell.error("d.xlsx").startswith(message)
    book.active.delete_rows(1, 9)
    book.save("empty.xlsx")
    message = "its first sheet (Sheet) contains no answers: move the sheet with the answers to the front"
    assert message in shell.error("empty.xlsx")


def test_folder_and_pattern_of_parts_are_one_file(shell: Shell) -> None:
    rows = [{"id": f"{n}", "prediction": "a", "references": ["a"]} for n in range(24)]
    shell.write({f"x/part-{n}.jsonl": rows[2 * n : 2 * n + 2] for n in range(12)})  # part 10 comes after part 9
    check("x", rows)
    check("x/part-*.jsonl", rows)
    shell.write({"x/part-3.jsonl": [{"id": "x", "prediction": ["a", "b"], "references": ["a"]}]})
    message = "x/part-*.jsonl, part-3.jsonl, line 1: 'prediction' must be a string, got ['a', 'b']: "
    assert shell.error("'x/part-*.jsonl'").startswith(message)
    shell.write({"x/other.csv": "a\n", "y/a.json": ROWS, "y/config.json": {"lr": 1}, "z/a.rst": "a\n"})
    for folder in "xy":
        assert "are not parts of one table: pass one file, or a pattern that all parts match, such as '" in shell.error(
            folder
        )
    assert shell.error("z").startswith("z: a.rst are no files of answers: pass a file such as JSON, CSV or text, or a")
    assert shell.error("'w/*.csv'") == "w/*.csv: no file matches this pattern"


def test_standard_input_is_read(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXTS["list.json"].encode())))
    assert read(shell, "-").endswith(" of standard input: 3 rows")


# The name of a file, its content, and its error.
REFUSED: list[tuple[str, str | bytes, str]] = [
    ("numbers.json", "[1, 2]", "(found the values 1)"),
    ("twice.json", '{"a": {"prediction": "x", "answers": ["x"]}, "a": {"prediction": "y", "answers": ["x"]}}',
        "twice.json: an object has the key 'a' twice: keep only one of them"),
    ("twice.json", '{"data": [{"id": 1, "prediction": "x", "answers": ["x"], "prediction": "y"}]}',
        "twice.json: an object has the key 'prediction' twice: keep only one of them"),
    ("twice.json", '[{"id": 1, "prediction": {"ä": 1}, "ä": 1, "\\u00e4": 2, "answers": ["x"]}]',
        "twice.json: an object has the key 'ä' twice: keep only one of them"),
    ("twice.jsonl", '{"id": 1, "prediction": "a", "answers": []}\n{"id" :2, "prediction": "", "answers": [], "id": 3}',
        "twice.jsonl: an object has the key 'id' twice: keep only one of them"),
    ("a.json", b"\x80\x05\x95", "it is a pickle, and reading a pickle can run any program: save its answers as CSV"),
    ("a.pickle", "(lp0\n", "it is a pickle, and reading a pickle can run any program: save"),
    ("a.zst", b"\x28\xb5\x2f\xfd rest", "files of this kind are not read: save its answers as CSV"),
    ("a.pdf", "%PDF-1.7", "files of this kind are not read: save its answers as CSV, JSON lines or Parquet"),
    ("a.csv", "<!DOCTYPE html><html>", "it is a web page, perhaps in place of a download: download the file again"),
    ("a.png", b"\x89PNG\r\n", "files of this kind are not read: save its answers as CSV"),
    ("a.db", b"SQLite format 3\x00", "files of this kind are not read: save its answers as CSV"),
    ("a.jsonl", "version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer in place of the file: run"),
    ("a.npy", b"\x93NUMPY\x01\x00", "files of this kind are not read: save its answers as CSV"),
    ("a.yaml", "- questionId: 1\n", "files of this kind are not read: save its answers as CSV"),
    ("a.parquet", "no parquet", "not Parquet, or the file is damaged ("),
    ("a.arrow", "no arrow", "not Arrow, or the file is damaged ("),
    ("b.arrow", b"\xff\xff\xff\xff\xff\xff\xff\x7f", "not Arrow, or the file is damaged ("),
    ("a.eval", "no log", "not a zip archive, or the file is damaged ("),
    ("a.xlsx", "no workbook", "not an Excel workbook, or the file is damaged ("),
    ("empty.json", "", "the file is empty: check the program that wrote it"),
    ("blank.csv", " \n\n", "the file is empty"),
    ("latin.csv", "prediction,references\ncaf\xe9,b\n".encode("latin-1"), "line 2: the byte 0xe9 is not UTF-8"),
    ("half.json", b"\xff\xfe\x00", "not UTF-16, or the file is damaged ("),
    ("none.json", "[]", "it has no records: add a record for each question"),
    ("none.csv", "prediction,references\n", "it has no records"),
    ("mixed.json", '["a", {"answer": "b"}]', "record 1: expected an object, got a str: write each record like {"),
    ("object.json", '{"anls": 0.5, "all": [1]}', "expected a list of records, got an object with the keys 'anls'"),
    ("text.json", '"a"', "expected a list of records, got 'a'"),
    ("cut.json", '[{"prediction": "a", "refer', "line 1, column 22: the JSON is cut off: copy or write the file again"),
    ("printed.json", "[{'prediction': 'a'}]", "line 1, column 3: printed Python, not JSON: write it with"),
    ("none.jsonl", '{"a": 1}\n{"a": None}\n', "line 2, column 7: printed Python, not JSON"),
    ("comma.jsonl", '{"a": 1},\n{"a": 2}\n', "line 1, column 9: this is not a record: remove it, or write the file"),
    ("wrong.jsonl", '{"a": 1}\n\nnot\n', "line 3, column 1: this is not a record: remove it, or write the file"),
    ("wrong.json", '[\n{"a": 1 "b": 2}]', "line 2, column 9: not JSON (Expecting ',' delimiter): correct it, or"),
    ("log.json", "INFO: 24 answers", "line 1, column 1: not JSON (Expecting value): correct it, or write the"),
    ("deep.json", "[" * 100_000, "the JSON is nested too deeply, or a number in it is too long: write plain records"),
    ("more.csv", "id;answer\n1;a;b\n", "line 2: 3 values, expected 2: put quotation marks around a value with a"),
    ("fewer.csv", 'id,answer\n1,"a\nb"\n2\n', "line 4: 1 value, expected 2: add the missing values (they may be empty"),
    ("same.csv", "id,answer,answer\n1,a,b\n", "two columns are named 'answer': rename one"),
    ("quote.csv", 'id,answer\n1,"a" b\n', "line 2: not CSV (',' expected after '\"'): put quotation marks around"),
    ("open.csv", 'id,answer\n1,"a\n2,b\n', "not CSV (unexpected end of data): put quotation marks around the"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_file_that_cannot_be_read_is_refused(shell: Shell, name: str, content: str | bytes, message: str) -> None:
    if name.endswith((".parquet", ".arrow")):
        pytest.importorskip("pyarrow")
    if name.endswith(".xlsx"):
        pytest.importorskip("python_calamine", reason="the extra `files` is not installed")
    shell.write({name: content})
    error = shell.error(name)
    assert error.startswith(name)
    assert message in error


def test_zip_archive_is_refused_with_its_contents(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("answers.json", "[]")
    assert shell.error("a.zip") == "a.zip: it is a zip archive of answers.json: unpack it, and pass the answers file"
    with zipfile.ZipFile("a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps({"id": 1, "input": "a" * 1_000_001}))
    content = Path("a.eval").read_bytes()
    shell.write({"b.eval": content.replace(b"samples/1", b"samples/2", 1)})
    assert "b.eval: not a zip archive, or the file is damaged (" in shell.error("b.eval")
    monkeypatch.setattr(formats, "MAX_UNPACKED", 1_000_000)
    assert shell.error("a.eval") == "a.eval: it is larger than 1 MB once unpacked: split it"


def test_cell_of_csv_may_be_large_while_the_limit_of_the_process_stays(shell: Shell) -> None:
    before = csv.field_size_limit()
    shell.write({"a.csv": "prediction,references\n" + f"{'x' * (2 * before)},a\n"})
    assert shell.scores("a.csv --quiet") == [0]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("name", "place"), [("a.csv", "line 4"), ("a.jsonl", "line 6"), ("a.json", "record 2"), ("a.parquet", "row 2")]
)
def test_error_names_the_place_of_a_record(shell: Shell, name: str, place: str) -> None:
    rows = [{"prediction": "a\nb", "references": "a"}, {"prediction": "c", "references": " "}]
    shell.write({name: b"\n\n" + encode(name, rows).replace(b"\n{", b"\n\n\n{") if name == "a.jsonl" else rows})
    message = "the reference is empty: add a reference, or leave the question out"
    assert shell.error(name) == f"{name}, {place}: {message}"


def test_columns_of_one_name_are_refused(shell: Shell, tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = [["1"], ["right"], ["wrong"], [["right"]]]
    table = arrow.table(list(map(arrow.array, columns)), names=["id", "prediction", "prediction", "references"])
    parquet.write_table(table, "a.parquet")
    with arrow.OSFile("a.arrow", "wb") as file, arrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    message = "two columns are named 'prediction': rename one"
    for name in ("a.parquet", "a.arrow"):
        assert shell.error(name) == f"{name}: {message}"
    with pytest.raises(ValueError, match=message):
        anls_metric.score(table)


def test_last_of_repeated_keys_counts_inside_answers(shell: Shell) -> None:
    record = '{"id": %d, "prediction": {"total": 1, "total": 2}, "references": {"total": 2}}'
    answers = [record % number for number in range(9)]
    shell.write({"nested.jsonl": "\n".join(answers), "nested.json": f"[{','.join(answers)}]"})
    for name in ("nested.jsonl", "nested.json"):
        assert shell.scores(f"{name} --variant anls_star") == [1.0]


@pytest.mark.parametrize("command", ["- sub.json", "- both.json", "--layout answers_by_id --gold - sub.json"])
def test_standard_input_is_read_once_whatever_is_asked_about_it(
    shell: Shell, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"id": n, "answers": ["a"]} | ({"prediction": "a"} if "both" in command else {}) for n in (1, 2)]
    shell.write({"sub.json": {"1": "a", "2": "b"}, "both.json": rows})
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(rows).encode())))
    assert shell.document(command)["submissions"][-1]["anls"] == (1.0 if "both" in command else 0.5)


@pytest.mark.parametrize("content", ['{"number": "R-1', "no JSON", "null", "[]", "", '"text"'])
def test_broken_record_in_a_folder_is_named_with_what_to_do(shell: Shell, content: str) -> None:
    values = {f"INV-{n:03}": {"total": str(n), "date": "2020"} for n in range(12)}
    shell.write({f"run/{name}.json": value for name, value in values.items()})
    shell.write({"gold.jsonl": [{"id": name, "references": value} for name, value in values.items()]})
    command = "gold.jsonl run --variant anls_star"
    assert shell.scores(command) == [1.0]
    broken = Path("run/INV-003.json")
    broken.write_text(content)
    words = "it is not a JSON object, unlike 11 other files: repair it, or remove it and add --missing zero"
    assert shell.error(command) == f"run/INV-003.json: {words}"
    broken.unlink()
    assert shell.scores(f"{command} --missing zero") == [11 / 12]
