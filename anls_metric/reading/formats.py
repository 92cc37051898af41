"""Reads the content of a file as records, with one function for each format in `FORMATS`.

The format is recognized by the first bytes of the file or by the file extension. A file is read as a whole, and only
once.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from anls_metric.core.checks import count_noun
from anls_metric.core.names import find_repeated, natural_key
from anls_metric.messages import InputError, Message, list_some, make_error, shorten
from anls_metric.reading.containers import find_path, is_record, records_of
from anls_metric.reading.records import FILE, NAMES, VALUE
from anls_metric.reading.table import Table, name_places

MAX_UNPACKED = 2_000_000_000
"""The maximum unpacked size of a compressed file in bytes."""

MAX_BATCH = 64_000_000  # bytes of the rows in a Parquet file that are decoded together

_MAX_NAMES = 100  # field names, for a quick proof that no record has a field twice
_TWICE = "(key that stands twice)"

_JSON_LINES = (".jsonl", ".ndjson")
_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}


def read_bytes(data: bytes, name: str) -> Table:
    """Read the content of a file as a table.

    Args:
        data: the content of the file.
        name: the name of the file, which is used for its extension and in errors.

    Raises:
        InputError: the content is not valid in its format, or the format is not supported.

    Example:
        >>> read_bytes(b'{"7": "Coca Cola"}', "answers.json").records
        [{'(key)': '7', '(value)': 'Coca Cola'}]
    """
    form = find_format(data, name)
    if isinstance(form.read, str):
        raise make_error(name, form.read)
    try:
        return form.read(data, name)._replace(name=name)
    except (InputError, KeyboardInterrupt):
        raise
    except MemoryError:  # a damaged file can ask for any amount
        sentence = "it does not fit in memory, or it is damaged: split it, or copy it again"
        raise make_error(name, sentence) from None
    except BaseException as error:  # libraries raise many kinds; a panic of Excel's is not an Exception
        sentence = "not {what}, or the file is damaged ({error}): copy or download it again"
        raise make_error(name, sentence, what=form.name, error=str(error)) from None


def read_record(data: bytes, name: str) -> dict[str, Any] | None:
    """Read a JSON file as one record, or return None if the file contains a table or is not JSON."""
    with suppress(ValueError, RecursionError):
        value = json.loads(_decode(data, name))
        return value if is_record(value) else None
    return None


def read_text(data: bytes, name: str) -> str:
    """Read a text file as one string, without trailing line breaks."""
    return _decode(data, name).rstrip("\r\n")


def get_extension(name: str) -> str:
    """Return the extension of a file name in lower case, ignoring a final ".gz"."""
    return os.path.splitext(name.removesuffix(".gz"))[1].lower()


# Text: JSON, CSV, or an answer on each line


def _read_text(data: bytes, name: str) -> Table:
    text = _decode(data, name)
    if not text.strip():
        raise make_error(name, "the file is empty: check the program that wrote it")
    extension = get_extension(name)
    if extension in (".json", *_JSON_LINES) or re.match(r'\s*[\[{]\s*[\[{"]', text):
        return _read_json(text, name, extension in _JSON_LINES)
    if extension == ".txt" and not _names_columns(text.partition("\n")[0]):
        lines = text.removesuffix("\n").split("\n")
        words = list(map(_WORD.fullmatch, lines))
        if all(words):
            records = [{FILE: word[1], VALUE: _unquote(word[2])} for word in words if word]
            return Table(records, locate=name_places("line"))
        if len(lines) > 1 and all(line.count("\t") == 1 for line in lines):
            sentence = "each line has a tab: save the file as .tsv, with the names of its two columns in the first line"
            raise make_error(name, sentence + ", such as id and answer")
        return Table([{VALUE: line.removesuffix("\r")} for line in lines], locate=name_places("line"))
    return _read_csv(text, name)


# A line of a word list, such as those of ICDAR: word_1.png, "Harbour"
_WORD = re.compile(r"(?i)\s*([^\s,\"]+\.(?:png|jpe?g|tiff?|gif|bmp|webp))(?:\s*,\s*|\s+)(.*?)\s*")


def _unquote(text: str) -> str:
    """Remove the quotation marks around a quoted string and the backslashes of its escaped characters."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if re.fullmatch(r'".*"', text) else text


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        sentence = "the byte {byte:#04x} is not UTF-8: save the file as UTF-8"
        raise make_error(f"{name}, line {line}", sentence, byte=data[error.start]) from None


def _names_columns(line: str) -> bool:
    """Whether a line is the header of a table rather than an answer."""
    cells = [cell.strip(" \"'") for cell in re.split(r"[,;\t|]", line.strip())]
    return len(cells) > 1 and not NAMES.isdisjoint(cells)


def _read_utf_16(data: bytes, name: str) -> Table:
    return _read_text(data.decode("utf-16").encode(), name)


# JSON


def _read_json(text: str, name: str, is_lines: bool) -> Table:
    """Read JSON text, which is a single value or a sequence of records, such as JSON lines."""
    values, lines = _decode_json(text, name)
    if len(values) > 1 or (is_lines and isinstance(values[0], dict)):
        table = Table(values, locate=name_places("line", lines))
    else:
        table = find_records(values[0], name)
    around = [] if table.records is values else values
    if not _has_each_key_once(text, [*around, *table.records]):
        _refuse_repeated_keys(text, name)
    return table


def _decode_json(text: str, name: str, hook: Any = None) -> tuple[list[Any], list[int]]:
    """Decode a sequence of JSON values, and return the values and the line on which each value begins."""
    values, lines, line, place, end = [], [], 1, 0, 0
    skip, decode = re.compile(r"\s*").match, json.JSONDecoder(object_pairs_hook=hook).raw_decode
    while (start := skip(text, end).end()) < len(text):  # type: ignore[union-attr]
        line += text.count("\n", place, start)
        place = start
        try:
            value, end = decode(text, place)
        except json.JSONDecodeError as error:
            raise _error_of_json(error, name, start) from None
        except (ValueError, RecursionError):
            sentence = "the JSON is nested too deeply, or a number in it is too long: write plain records"
            raise make_error(name, sentence) from None
        values.append(value)
        lines.append(line)
    return values, lines


def _error_of_json(error: json.JSONDecodeError, name: str, start: int) -> InputError:
    """Create the error for an invalid value that begins at the given position, with the problem and a remedy."""
    rest = error.doc[error.pos :]
    if error.msg.startswith("Unterminated string") or not rest.strip():
        sentence = "the JSON is cut off: copy or write the file again"
    elif re.match(r"['(]|(?:None|True|False)\b", rest):
        sentence = "printed Python, not JSON: write it with json.dumps, not with print or str"
    elif error.pos == start > 0:
        sentence = "this is not a record: remove it, or write the file with json.dump"
    else:
        sentence = "not JSON ({problem}): correct it, or write the file with json.dump"
    return make_error(f"{name}, line {error.lineno}, column {error.colno}", sentence, problem=error.msg)


def _has_each_key_once(text: str, values: Sequence[Any]) -> bool:
    """Whether counting keys proves, without decoding the text again, that no object repeats a key.

    The proof succeeds if the text contains as many keys as the objects have, or contains each key as often as the
    objects do.
    """
    objects = [value for value in values if isinstance(value, dict)]
    if text.count('":') == sum(map(len, objects)) and not re.search(r'"\s+:', text):
        return True
    counts = Counter(chain.from_iterable(objects))
    forms = ({json.dumps(key), json.dumps(key, ensure_ascii=False)} for key in counts)
    return len(counts) <= _MAX_NAMES and list(counts.values()) == [sum(map(text.count, form)) for form in forms]


def _refuse_repeated_keys(text: str, name: str) -> None:
    """Raise an error if a record, or an object that contains records, repeats a key. Inside answers, Python's parser
    keeps the last value of a repeated key.
    """

    def mark(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        return value if len(value) == len(pairs) else {**value, _TWICE: find_repeated(key for key, _ in pairs)[0]}

    values, _ = _decode_json(text, name, mark)
    records = values if len(values) > 1 else records_of(values[0]) or []
    for record in (*values, *records):
        if isinstance(record, dict) and _TWICE in record:
            raise make_error(name, "an object has the key {key!r} twice: keep only one of them", key=record[_TWICE])


def find_records(value: Any, name: str) -> Table:
    """Find the records in a JSON value. If the value has no records, or the user must choose one of several lists, the
    table is empty and `apply_layout` raises an error.
    """
    if isinstance(value, Mapping) and _is_summary(value.get("results")):
        sentence = "it contains the scores of a run but no answers: pass the samples file that --log_samples writes"
        raise make_error(name, sentence)
    records = records_of(value) or []
    root, path = None if isinstance(value, list) else value, find_path(value) if records else ""
    about = f"records of {path}" if path else ""
    return Table(records, name, about=about, hints=_find_stop(value, len(records), name), root=root)


def _is_summary(results: Any) -> bool:
    """Whether an object contains only scores per task ("N/A" for a missing score), which harnesses write separately
    from the samples.
    """
    tasks = list(results.values()) if isinstance(results, Mapping) else [None]
    return all(
        isinstance(task, Mapping)
        and all(isinstance(score, (int, float)) or score == "N/A" or name == "alias" for name, score in task.items())
        for task in tasks
    )


def _find_stop(log: Any, count: int, name: str) -> list[Message]:
    """Return a hint if an inspect_ai evaluation stopped before its log contained all samples. Raises InputError if the
    log has no samples.
    """
    if not isinstance(log, Mapping) or not {"eval", "status"} <= log.keys():
        return []
    status = log["status"]
    if not count:
        sentence = "this inspect_ai log has no samples (status {status}): run the evaluation again, and log its samples"
        raise make_error(name, sentence, status=status)
    sentence = "the evaluation stopped ({status}) after {samples}: run the remaining ones with inspect eval-retry"
    hint = Message(name, sentence, {"status": status, "samples": count_noun(count, "sample")})
    return [hint] if status in _STOPPED else []


_STOPPED = ("started", "cancelled", "error")


# CSV


def _read_csv(text: str, name: str) -> Table:
    """Read a table whose cells have any size and are separated by commas, semicolons, tabs or vertical bars."""
    import csv

    header = re.sub(r'"[^"]*"', "", text.lstrip().partition("\n")[0])
    delimiter = max(("\t" if get_extension(name) == ".tsv" else "") + "".join(_DELIMITERS), key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    before = csv.field_size_limit(2**31 - 1)
    try:
        table = _read_rows(reader, name, delimiter)
    except csv.Error as error:
        sentence = 'not CSV ({error}): put quotation marks around the value, and write each one inside it as ""'
        raise make_error(f"{name}, line {reader.line_num}", sentence, error=str(error)) from None
    finally:
        csv.field_size_limit(before)
    if _GUARDED.search(text):
        for record in table.records:
            record.update({field: cell[1:] for field, cell in record.items() if _GUARDED.match(cell)})
    return table


# Text that an apostrophe keeps spreadsheets from treating as a formula, as in the CSV files that this package writes.
_GUARDED = re.compile(r"(?<!')'+ *[=+\-@\t\r\n＝＋－＠]")


def _read_rows(reader: Any, name: str, delimiter: str) -> Table:
    header = check_header(next((row for row in reader if "".join(row).strip()), []), name)
    records, numbers = [], []
    for values in reader:
        while len(values) > len(header) and not values[-1]:
            values.pop()
        if not any(values) and len(header) > 1:  # spreadsheets write such lines
            continue
        if len(values) != len(header):
            remedy = "add the missing values (they may be empty)"
            if len(values) > len(header):
                remedy = f"put quotation marks around a value with {_DELIMITERS[delimiter]} in it"
            if len(header) == 1:
                remedy = f"begin the file with the names of the columns; it begins with {shorten(header[0], 60)!r}"
            count = count_noun(len(values), "value")
            sentence = "{count}, expected {expected:,}: {remedy}"
            place = f"{name}, line {reader.line_num}"
            raise make_error(place, sentence, count=count, expected=len(header), remedy=remedy)
        records.append(dict(zip(header, values)))
        numbers.append(reader.line_num)
    return Table(records, locate=name_places("line", numbers))


def check_header(header: list[str], name: str) -> list[str]:
    """Drop empty names at the end of a header. Raises InputError if a name is repeated."""
    while header and not header[-1]:
        header.pop()
    repeated = find_repeated(header)
    if repeated:
        raise make_error(name, "two columns are named {names}: rename one", names=list_some(map(repr, repeated)))
    return header


# Formats of libraries


def import_library(module: str, what: str, name: str) -> Any:
    """Import a module that only some formats need. Raises InputError if its package is not installed."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("_", "-")
        sentence = "reading {what} needs {package}: pip install 'anls-metric[files]'"
        raise make_error(name, sentence, what=what, package=package) from None


def _read_parquet(data: bytes, name: str) -> Table:
    file = import_library("pyarrow.parquet", "Parquet", name).ParquetFile(io.BytesIO(data))
    size = sum(file.metadata.row_group(place).total_byte_size for place in range(file.num_row_groups))
    count = max(1, MAX_BATCH * file.metadata.num_rows // max(1, size))
    batches = file.iter_batches(count, columns=list_columns(file.schema_arrow, name))
    return Table([record for batch in batches for record in batch.to_pylist()], locate=name_places("row"))


def _read_arrow(data: bytes, name: str) -> Table:
    arrow = import_library("pyarrow", "Arrow", name)
    opened = arrow.ipc.open_file if data.startswith(b"ARROW1") else arrow.ipc.open_stream
    own = opened(io.BytesIO(data)).read_all()
    own.validate(full=True)  # reading a damaged table could crash Python
    return Table(own.select(list_columns(own.schema, name)).to_pylist(), locate=name_places("row"))


def list_columns(schema: Any, name: str) -> list[str]:
    """List the columns of a pyarrow schema, except columns of bytes, such as images. Raises InputError if two columns
    have the same name.
    """
    return check_header([field.name for field in schema if "binary" not in str(field.type)], name)


def _read_excel(data: bytes, name: str) -> Table:
    """Read the first sheet of a workbook, whose first row contains the column names."""
    calamine = import_library("python_calamine", "Excel", name)
    book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    sheets = book.sheet_names
    if len(rows) < 2:
        sentence = "its first sheet ({sheet}) contains no answers: move the sheet with the answers to the front"
        raise make_error(name, sentence, sheet=sheets[0])
    header = check_header([str(_read_cell(value, f"{name}, row 1")) for value in rows[0]], name)
    records, numbers = [], []
    for number, row in enumerate(rows[1:], 2):
        if any(value != "" for value in row):
            records.append({key: _read_cell(value, f"{name}, row {number}, {key}") for key, value in zip(header, row)})
            numbers.append(number)
    about = f"sheet {sheets[0]} of {len(sheets)}" if len(sheets) > 1 else ""
    return Table(records, name, name_places("row", numbers), about)


def _read_cell(value: Any, place: str) -> str | int | float:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():  # Excel has only one number type
        return int(value)
    if isinstance(value, (str, int, float)):
        return value
    sentence = "the cell contains {value} ({kind}), not the string that was typed: format the column as text"
    raise make_error(place, sentence, value=str(value), kind=type(value).__name__)


# Archives


def _read_zip(data: bytes, name: str) -> Table:
    """Read a zip archive that is a workbook or an inspect_ai log."""
    import zipfile

    archive = zipfile.ZipFile(io.BytesIO(data))
    names = archive.namelist()
    if any(member.startswith("xl/") for member in names):
        return _read_excel(data, name)
    samples = sorted((member for member in names if member.startswith("samples/")), key=natural_key)
    if not samples and "header.json" not in names and "_journal/start.json" not in names:
        sentence = "it is a zip archive of {names}: unpack it, and pass the answers file"
        raise make_error(name, sentence, names=list_some(names) or "nothing")
    if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
        raise _error_of_size(name)
    records = [_read_member(archive, member, name) for member in samples]
    header = {"eval": {}, "status": "started"}
    if "header.json" in names:  # inspect_ai writes it at the end
        header = _read_member(archive, "header.json", name)
    return Table(records, name, name_places("sample"), hints=_find_stop(header, len(records), name))


def _read_member(archive: Any, member: str, name: str) -> Any:
    """Read a JSON file from an archive, limited to the size that the archive declares."""
    info = archive.getinfo(member)
    try:
        stream = archive.open(info)
    except NotImplementedError:  # Zstandard before Python 3.14: read the packed bytes; the checksum is not theirs
        library = import_library("zstandard", "this inspect_ai log, which is packed by Zstandard,", name)
        packed = copy(info)
        packed.compress_type, packed.file_size, packed.CRC = 0, info.compress_size, None
        stream = library.ZstdDecompressor().stream_reader(archive.open(packed))
    with stream:
        return json.loads(stream.read(info.file_size))


def _unpack(module: str, data: bytes, name: str) -> Table:
    """Read a compressed file, unpacking it with the given module of the standard library."""
    with import_module(module).open(io.BytesIO(data)) as stream:
        unpacked = stream.read(MAX_UNPACKED + 1)
    if len(unpacked) > MAX_UNPACKED:
        raise _error_of_size(name)
    return read_bytes(unpacked, os.path.splitext(name)[0])


def _error_of_size(name: str) -> InputError:
    return make_error(name, "it is larger than {most:,} MB once unpacked: split it", most=MAX_UNPACKED // 10**6)


class Format(NamedTuple):
    """A file format, which is a row of `FORMATS`.

    Attributes:
        name: the name of the format.
        read: the function that reads the content, or a sentence that explains why the format cannot be read.
        begins: the byte strings with which a file may begin.
        extensions: the file extensions, which identify the format even if the first bytes do not.
    """

    name: str
    read: Callable[[bytes, str], Table] | str
    begins: tuple[bytes, ...] = ()
    extensions: tuple[str, ...] = ()


_AS_TEXT = "save its answers as CSV, JSON lines or Parquet"
FORMATS = (
    Format("gzip", partial(_unpack, "gzip"), (b"\x1f\x8b",)),
    Format("bzip2", partial(_unpack, "bz2"), (b"BZh",)),
    Format("xz", partial(_unpack, "lzma"), (b"\xfd7zXZ\x00",)),
    Format("UTF-16", _read_utf_16, (b"\xff\xfe", b"\xfe\xff")),
    Format(
        "pickle",
        f"it is a pickle, and reading a pickle can run any program: {_AS_TEXT}",
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        (".pkl", ".pickle"),
    ),
    Format(
        "HTML",
        "it is a web page, perhaps in place of a download: download the file again",
        (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML"),
    ),
    Format(
        "Git LFS",
        "it is a Git LFS pointer in place of the file: run git lfs pull in its repository",
        (b"version https://git-lfs",),
    ),
    Format(  # documents, images, arrays, databases, Zstandard
        "another format",
        f"files of this kind are not read: {_AS_TEXT}",
        (b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x93NUMPY", b"SQLite format 3", b"\x28\xb5\x2f\xfd"),
        (".yaml", ".yml", ".toml", ".xml", ".safetensors"),
    ),
    Format("a zip archive", _read_zip, (b"PK\x03\x04", b"PK\x05\x06"), (".eval",)),
    Format("Parquet", _read_parquet, (b"PAR1",), (".parquet", ".pq")),
    Format("Arrow", _read_arrow, (b"ARROW1", b"\xff\xff\xff\xff"), (".arrow",)),
    Format("an Excel workbook", _read_excel, (b"\xd0\xcf\x11\xe0",), (".xlsx", ".xls", ".xlsm")),
    Format("text", _read_text, begins=(b"",)),
)


def find_format(data: bytes, name: str) -> Format:
    """Find the first of `FORMATS` that fits the content or the extension of a file."""
    extension = get_extension(name)
    return next(form for form in FORMATS if data.startswith(form.begins) or extension in form.extensions)
