"""Reads zip archives: Excel workbooks and inspect_ai logs. Old workbooks are not archives, but have the same reader."""

from __future__ import annotations

import functools
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import IO, Any
from xml.parsers import expat

from anls_metric.reading.containers import describe_stop
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import (
    AGAIN,
    FIRST_SHEET,
    Chunk,
    File,
    Growth,
    list_some,
    natural_key,
    split_into_chunks,
)
from anls_metric.reading.json_text import parse_json

_DOCUMENTS = {"word/": "a Word document", "ppt/": "a PowerPoint file", "content.xml": "an OpenDocument file"}
"""Documents that are zip archives, by the start of the name of a file in them."""


def read_zip(file: File, stream: IO[bytes]) -> Iterator[Chunk]:
    """Read the records of a zip archive that is a workbook or a log of inspect_ai."""
    held = file.hold(stream)
    try:
        archive = zipfile.ZipFile(held)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise file.error(f"the zip archive is damaged ({error})", remedy=AGAIN) from None
    names = archive.namelist()
    if any(name.startswith("xl/") for name in names):
        errors = _check_workbook(file, archive)
        held.seek(0)
        yield from read_excel(file, held, errors)
    elif any(name.startswith("samples/") for name in names):
        yield from _read_samples(file, archive)
    elif document := next((what for start, what in _DOCUMENTS.items() if any(n.startswith(start) for n in names)), ""):
        raise file.error(f"it is {document}", remedy="save its answers as CSV, JSON or xlsx")
    else:
        raise file.error(
            f"it is a zip archive of {list_some(names) or 'nothing'}", remedy="unpack it, and name the file of answers"
        )


def _read_samples(file: File, archive: zipfile.ZipFile) -> Iterator[Chunk]:
    """Read the samples of an inspect_ai log: each is a file of the archive."""
    members = [member for member in archive.infolist() if member.filename.startswith("samples/")]
    members.sort(key=lambda member: natural_key(member.filename))
    growth = Growth(file, _measure_size(archive), remedy="convert it to JSON with inspect log convert")
    header = _read_header(file, archive, growth)
    file.notes = list(filter(None, [describe_stop(header, len(members))]))

    def read_samples() -> Iterator[tuple[int, Any]]:
        for number, member in enumerate(members, 1):
            content = unpack_member(file, archive, member, growth)
            try:
                yield number, parse_json(content.decode())
            except (ValueError, RecursionError) as error:
                raise _error_of_member(file, member, error) from None

    for chunk in split_into_chunks(read_samples(), "sample"):
        yield chunk
        growth.start_chunk()


def _read_header(file: File, archive: zipfile.ZipFile, growth: Growth) -> Any:
    """Read the header of an inspect_ai log, which an evaluation writes at its end, or else its plan; None if broken."""
    names = set(archive.namelist())
    for name, rest in (("header.json", {}), ("_journal/start.json", {"status": "started"})):
        if name in names:
            with suppress(InputError, ValueError, TypeError, RecursionError):
                return {**dict(json.loads(unpack_member(file, archive, archive.getinfo(name), growth))), **rest}
    return None


_ZSTANDARD = 93  # the number of the method in zip archives
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_PIECE = 1 << 18


def _measure_size(archive: zipfile.ZipFile) -> int:
    assert archive.fp is not None
    return archive.fp.seek(0, 2)


def unpack_member(file: File, archive: zipfile.ZipFile, member: zipfile.ZipInfo, growth: Growth) -> bytes:
    """Unpack a file of an archive piece by piece, since the size that the archive states may be false.

    Raises:
        InputError: it is broken, locked or too large, or packed in an uncommon way.
    """
    if member.compress_type not in _METHODS:
        problem = f"{member.filename} in it is packed by method {member.compress_type}, which few programs know"
        raise file.error(problem, remedy="unpack it, and pack it again as an ordinary zip archive")
    pieces = []
    try:
        with _open_member(file, archive, member) as stream:
            while piece := stream.read(_PIECE):
                growth.add(len(piece))
                pieces.append(piece)
    except InputError:
        raise
    except Exception as error:  # each compression method raises its own errors
        raise _error_of_member(file, member, error) from None
    return b"".join(pieces)


def _error_of_member(file: File, member: zipfile.ZipInfo, error: Exception) -> InputError:
    return file.error(f"{member.filename} in it cannot be read ({error})", remedy=AGAIN)


def _open_member(file: File, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> IO[bytes]:
    with suppress(NotImplementedError):  # Zstandard, before Python 3.14
        return archive.open(member)
    try:
        import zstandard
    except ImportError:
        what = "this inspect_ai log, which is packed by Zstandard,"
        raise file.error_without_library(what, "zstandard") from None
    source = archive.fp
    assert source is not None
    source.seek(member.header_offset)
    header = source.read(30)  # its last bytes are the lengths of the name and of the extra field
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    unpacked: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(source.read(member.compress_size))
    return unpacked


# Excel

# A sheet takes memory for each position up to its last row and column, even where it has no cell.
_MOST_PLACES = 30_000_000
_MOST_PLACES_FOR_A_CELL = 20
# A row or cell that may lie beyond column Z or row 999,999, or that states its position twice. A sheet without any has
# fewer positions than the limit.
_FAR_CELL = re.compile(rb"<(?:[^\s<>:/]*:)?(?:c|row)(?=[\s/>])(?! r=[\"'][A-Za-z]?\d{1,6}[\"'](?![^<>]*[^\w<>]r\s*=))")
_OTHER_WORKBOOKS = ("content.xml", "workbook.bin")  # of OpenOffice and of Excel's binary format


def _check_workbook(file: File, archive: zipfile.ZipFile) -> dict[tuple[int, int], str]:
    """Refuse a workbook that its reader, which has no limits, would make too large in memory.

    Returns:
        The formulas of the first sheet that failed: see `_find_errors`.
    """
    names = [name for name in archive.namelist() if name.lower().endswith(_OTHER_WORKBOOKS)]
    if names:
        raise file.error(f"it is not an Excel workbook: it holds {names[0]}", remedy="save it as .xlsx")
    growth = Growth(file, _measure_size(archive), remedy="save it as CSV")
    sheets = (name for name in archive.namelist() if name.startswith("xl/worksheets/") and name.endswith(".xml"))
    first, errors = min(sheets, key=natural_key, default=""), {}
    for member in archive.infolist():
        content = unpack_member(file, archive, member, growth)
        if member.filename == first:
            errors = _find_errors(content)
        if b"sheetData" in content and _FAR_CELL.search(content):
            try:
                cells, rows, columns = _measure_sheet(content)
            except (expat.ExpatError, ValueError) as error:
                raise _error_of_member(file, member, error) from None
            if rows * columns > max(_MOST_PLACES, _MOST_PLACES_FOR_A_CELL * cells):
                problem = f"{member.filename} in it has {cells:,} cells in {rows:,} rows and {columns:,} columns"
                raise file.error(problem, remedy="delete the cells that are far from the others")
    return errors


def _find_errors(content: bytes) -> dict[tuple[int, int], str]:
    """Find the formulas of a sheet that failed, such as #REF!, by row and column. Their reader takes them as empty."""
    cells = re.split(rb"<(?:\w+:)?c(?=\s)", content)[1:] if re.search(_FAILED, content) else ()
    errors = {}
    for start, _, rest in (cell.partition(b">") for cell in cells):
        place = re.search(rb"\sr=.([A-Z]{1,3})(\d{1,7})\b", start) if re.search(_FAILED, start) else None
        text = re.search(rb"<(?:\w+:)?v>(#[^<]{1,20})<", rest)
        if place and text:
            errors[int(place[2]), _number_column(place[1].decode())] = text[1].decode()
    return errors


_FAILED = rb"\st=[\"']e[\"']"


def _number_column(letters: str) -> int:
    return functools.reduce(lambda number, letter: 26 * number + int(letter, 36) - 9, letters, 0)


def _measure_sheet(content: bytes) -> tuple[int, int, int]:
    """Count the cells of a sheet that have a value, the rows and the columns."""
    cells = rows = columns = column = 0
    row, is_open = 1, False

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal cells, rows, columns, row, column, is_open
        kind, place = name.rpartition(":")[2], attributes.get("r", "")
        if len(place) > 20:
            raise ValueError(f"a cell is at {place[:20]}...")
        letters = place.rstrip("0123456789")
        if kind == "row":
            row = int(place[len(letters) :] or row)
        elif kind == "c":
            row = int(place[len(letters) :] or row)
            column = _number_column(letters) or column + 1
            is_open = True
        elif is_open:  # a value
            cells, rows, columns, is_open = cells + 1, max(rows, row), max(columns, column), False

    def end(name: str) -> None:
        nonlocal row, column, is_open
        if name.rpartition(":")[2] == "row":
            row, column = row + 1, 0
        is_open = False

    def refuse(*declaration: object) -> None:
        raise ValueError("it declares a type of document")

    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, refuse
    parser.Parse(content, True)
    return cells, rows, columns


def read_excel(
    file: File, stream: IO[bytes], errors: Mapping[tuple[int, int], str] = MappingProxyType({})
) -> Iterator[Chunk]:
    """Read the rows of the first sheet of a workbook; its first row names the columns. Empty cells are empty texts.

    Args:
        file: the file, which makes the errors.
        stream: its content.
        errors: the texts of formulas that failed, by row and column, as CSV would hold them.
    """
    try:
        import python_calamine
    except ImportError:
        raise file.error_without_library("Excel", "python-calamine") from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(file.hold(stream))
        first, *others = book.sheet_names
        rows = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
        alike = [name for name in others if rows and book.get_sheet_by_name(name).to_python(nrows=1) == rows[:1]]
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # where the library panics, it raises no Exception
        raise file.error(f"the workbook is damaged ({error})", remedy="save it again as .xlsx") from None
    if not rows or (len(rows) == 1 and others):
        raise file.error(f"its first sheet ({first}) has no answers", remedy=FIRST_SHEET)
    file.other_sheets = others
    if alike:
        file.notes = [f"only its first sheet ({first}) is read, not {list_some(alike)}"]
    header = [str(_read_cell(file, value, "row 1")) for value in rows[0]]
    for column in (column for column, name in enumerate(header) if not name):
        values = [row[column] for row in rows]
        if any(value != "" for value in values) and all(isinstance(value, (str, int, float)) for value in values):
            header[column] = f"Unnamed: {column}"  # as pandas calls such a column
    while header and not header[-1]:
        header.pop()
    file.refuse_repeated(header)

    def read_records() -> Iterator[tuple[int, Any]]:
        for number, row in enumerate(rows[1:], 2):
            if any(value != "" for value in row):
                if errors:
                    row = [errors.get((number, column), "") if v == "" else v for column, v in enumerate(row, 1)]
                yield (
                    number,
                    {name: _read_cell(file, value, f"row {number}, {name}") for name, value in zip(header, row)},
                )

    yield from split_into_chunks(read_records(), "row")


def _read_cell(file: File, value: Any, place: str) -> str | int | float:
    for kinds, read in _CELLS:
        if isinstance(value, kinds):
            return read(value)
    raise file.error(
        f"the cell is {value!s} ({type(value).__name__}), and the text that was typed is lost",
        place,
        "format the column as text, and type the answers again",
    )


# Excel stores all numbers alike, and shows whole ones without a decimal point.
_CELLS: tuple[tuple[type, Callable[[Any], str | int | float]], ...] = (
    (str, str),
    (bool, lambda value: str(value).upper()),
    (int, int),
    (float, lambda value: int(value) if value.is_integer() else value),
)
