"""Reads a file, a folder or a pattern of files as a table, and finds its layout."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from anls_metric.core.checks import find_similar_name
from anls_metric.messages import InputError, Message, MissingFileError, list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.containers import FILE, KEY, VALUE, Record, Records
from anls_metric.reading.formats import Content, get_extension, natural_key, read_bytes, read_record
from anls_metric.reading.layouts import (
    ABSENT,
    NAMES_OF_FUNCTIONS,
    Layout,
    Path,
    find_layout,
    list_paths,
    recognize_layout,
    take,
    take_column,
)

MAX_SAMPLE = 100
"""The number of records that show which fields a table has."""

_MAX_FIELDS = 12  # that a message lists
_DEEPEST = 8  # levels of objects in which fields are listed


class Table(NamedTuple):
    """The records of a file or of data in memory.

    Attributes:
        name: the name of the file.
        records: the records.
        numbers: the number of each record in the file, from 0.
        fields: the paths of the fields of the first records that hold no objects, and the names of those that do.
        layout: the layout; None for a table of a user.
        locate: names the place of a record, given its number in the file.
        about: what to add to the line that says what was read.
        hints: what is wrong with the file.
    """

    name: str
    records: Records
    numbers: Sequence[int]
    fields: dict[str, bool]
    layout: Layout | None = None
    locate: Callable[[int], str] = str
    about: str = ""
    hints: Sequence[Message] = ()


def name_place(table: Table, number: int) -> str:
    """Name a record, given its place in the table."""
    return f"{table.name}, {table.locate(table.numbers[number])}"


def choose_records(table: Table, places: Sequence[int]) -> Table:
    """Choose some records of a table."""
    numbers = [table.numbers[place] for place in places]
    return table._replace(records=[table.records[place] for place in places], numbers=numbers)


def has(table: Table, path: Path) -> bool:
    """Whether a path leads to a value in a record."""
    return path in table.fields or any(take(record, path) is not ABSENT for record in table.records)


def split_key(table: Table, path: Path) -> list[Path]:
    """Split the fields of a key, which have commas between them."""
    if not isinstance(path, str) or "," not in path or has(table, path):
        return [path]
    return [part.strip() for part in path.split(",")]


def read_column(table: Table, path: Path | None) -> list[Any]:
    """Read the value of a path from each record; `ABSENT` where there is none."""
    return [ABSENT] * len(table.records) if path is None else take_column(table.records, path)


def first_path(table: Table, *paths: Path | None) -> Path | None:
    """Find the first path that leads to a value; None for none. Each may be several, "PATH or PATH"."""
    return next((path for each in paths for path in list_paths(each) if has(table, path)), None)


def list_fields(records: Sequence[Record]) -> dict[str, bool]:
    """List the paths of the fields of records, each with whether it holds objects."""
    fields: dict[str, bool] = {}
    for record in records[:MAX_SAMPLE]:
        for path, value in _walk(record):
            fields[path] = isinstance(value, dict) or fields.get(path, False)
    return fields


def _walk(record: Record, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field of a record, and of the objects in it."""
    for name, value in record.items():
        yield before + name, value
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _walk(value, f"{before}{name}.", depth + 1)


def describe_fields(table: Table) -> str:
    """List the fields of a table in words, each with a value of the first record that has it."""
    parts = []
    for path in [path for path, is_object in table.fields.items() if not is_object][:_MAX_FIELDS]:
        column = take_column(table.records[:MAX_SAMPLE], path)
        shown = repr(next(value for value in [*column, None] if value is not ABSENT))
        parts.append(f"{show_path(path)} {shown if len(shown) <= 40 else shown[:37] + '...'}")
    return "; ".join(parts) + ("; ..." if len(table.fields) > _MAX_FIELDS else "") or "no fields"


def show_path(path: Path | None) -> str:
    """Name a field in a message."""
    if callable(path):
        return NAMES_OF_FUNCTIONS.get(path, "the whole record")
    return _NAMES.get(path, repr(path))


_NAMES = {
    None: "nothing",
    KEY: "the keys of an object",
    VALUE: "the values",
    FILE: "the file names",
    ".": "the whole record",
}


# Tables of records


def make_table(name: str, content: Content, settings: Settings, of_values: bool = False) -> Table:
    """Make a table of records: find its layout, and split records that hold several questions.

    Args:
        name: the name of the table in messages.
        content: the records.
        settings: which layout and which filter to read.
        of_values: whether answers are lists and nested values.

    Raises:
        InputError: a record is not an object, or there is no such filter. ValueError: there is no such layout.
    """
    records = _check_records(name, content)
    numbers: Sequence[int] = range(len(records))
    fields = list_fields(records)
    if settings.layout in (None, "auto"):
        layout = recognize_layout(records[0], fields)
    else:
        layout = None if settings.layout == "table" else find_layout(settings.layout)
    if layout and of_values:
        layout = layout._replace(**layout.of_values)
    if layout and layout.expand:
        parts = take_column(records, layout.expand)
        parts = [[record] if own is ABSENT else own for record, own in zip(records, parts)]  # of another shape
        records = [part for own in parts for part in own]
        numbers = [number for number, own in enumerate(parts) for _ in own]
        fields = list_fields(records)
    table = Table(name, records, numbers, fields, layout, content.locate, content.about, content.hints)
    return _choose_filter(table, layout, settings) if layout and layout.repeated_by else table


def _check_records(name: str, content: Content) -> Records:
    """Check that records are objects. Answers without fields around them get the field `VALUE`."""
    records, kinds = content.records, set(map(type, content.records))
    if not kinds:
        raise make_error(name, "it has no records: add a record for each question")
    if kinds == {dict}:
        return records
    if kinds <= {str, int, float, type(None)}:
        return [{VALUE: record} for record in records]
    number = next(number for number, record in enumerate(records) if not isinstance(record, dict))
    sentence = 'expected an object, got {kind}: write each record like {{"questionId": 1, "answer": "Coca Cola"}}'
    raise make_error(f"{name}, {content.locate(number)}", sentence, kind=f"a {type(records[number]).__name__}")


def _choose_filter(table: Table, layout: Layout, settings: Settings) -> Table:
    """Keep one of the answers that lm-evaluation-harness writes for each of its filters."""
    column = list(map(str, read_column(table, layout.repeated_by)))
    names = list(dict.fromkeys(column))
    table = choose_records(table, find_places(table, layout.repeated_by, column, settings.filter or names[0]))
    if len(names) == 1 or settings.filter is not None:
        return table
    about = f"{len(names)} {layout.repeated_by}s ({list_some(names)}), none of them applied"
    return table._replace(layout=layout._replace(prediction=layout.unrepeated), about=about)


def find_places(table: Table, what: str, names: Sequence[str], chosen: str) -> list[int]:
    """Find the records with the name that the user chose by ``--filter``. InputError: there are none."""
    places = [place for place, name in enumerate(names) if name == chosen]
    if not places:
        sentence = "there is no {what} {chosen!r}: {use.filter} takes one of these (found {names})"
        found = list_some(dict.fromkeys(names)) or f"no field of {what}s"
        raise make_error(table.name, sentence, what=what, chosen=chosen, names=found)
    return places


# Files


def read_table(path: str, settings: Settings, of_values: bool = False) -> Table:
    """Read a file, a folder, a pattern like ``shards/*.jsonl``, or standard input (``-``) as a table.

    Raises:
        InputError: the content cannot be read. OSError: a file cannot be opened.
    """
    files = list_files(path)
    content = read_file(path) if files is None else _read_parts(path, files)
    return make_table("standard input" if path == "-" else path, content, settings, of_values)


def read_file(path: str) -> Content:
    """Read one file, or standard input (``-``)."""
    if path == "-":
        if sys.stdin is None:
            raise make_error("standard input", "it is closed: pipe the file into the command, or pass its path")
        return read_bytes(sys.stdin.buffer.read(), "standard input")
    if not os.path.exists(path):
        raise describe_missing_file(path)
    with open(path, "rb") as file:
        data = file.read()
    return read_bytes(data, path)


def describe_missing_file(path: str) -> MissingFileError:
    """Make the error for the path of a file that does not exist, with a similar name if there is one."""
    folder, name = os.path.split(path)
    similar = ""
    with suppress(OSError, ValueError):  # a path can hold a null character
        similar = find_similar_name(name, sorted(os.listdir(folder or ".")))
    remedy = f": did you mean {os.path.join(folder, similar)}?" if similar else ""
    if "://" in path:
        remedy = ": download the file, and pass its path"
    return MissingFileError(
        Message(path, "{problem}{remedy}", {"problem": os.strerror(errno.ENOENT), "remedy": remedy})
    )


_PARTS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pq", ".arrow", ".json")


def list_files(path: str) -> list[str] | None:
    """List the files of a folder or a pattern, "part 2" before "part 10"; None for a path of one file.

    Raises:
        InputError: there are no such files, or files of several formats.
    """
    is_folder = os.path.isdir(path)
    if not is_folder and (os.path.exists(path) or not any(sign in path for sign in "*?[")):
        return None
    import glob  # only for patterns

    files = sorted(glob.glob(os.path.join(glob.escape(path), "*") if is_folder else path), key=natural_key)
    if not files:
        raise make_error(path, "it is an empty folder" if is_folder else "no file matches this pattern")
    names = list(map(os.path.basename, files))
    if "dataset_dict.json" in names:
        splits = list_some(name for name, file in zip(names, files) if os.path.isdir(file))
        raise make_error(path, "it holds several splits: pass the folder of one ({splits})", splits=splits)
    extensions = (".arrow",) if "state.json" in names else _PARTS  # of datasets.save_to_disk
    parts = [file for file in files if get_extension(file) in extensions]
    if len(set(map(get_extension, parts))) != 1:
        raise _error_of_parts(path, files)
    return parts


def _error_of_parts(path: str, files: Sequence[str]) -> InputError:
    """Make the error for a folder or a pattern with several kinds of files. It names one kind: lines before JSON."""
    sentence = "{names} are not parts of one table: pass one file, or a pattern of its parts, such as '{pattern}'"
    kinds = map(get_extension, files)
    kind = min((each for each in kinds if each in _PARTS), key=_PARTS.index, default=".jsonl")
    own = [file for file in files if get_extension(file) == kind] or [os.path.join(path, "part-")]
    start = re.sub(r"\d+$", "", os.path.commonprefix([os.path.splitext(file)[0] for file in own]))  # noqa: RUF071
    pattern = own[0] if len(own) == 1 and os.path.exists(own[0]) else f"{start}*{kind}"
    return make_error(path, sentence, names=list_some(map(os.path.basename, files)), pattern=pattern)


def _read_parts(path: str, files: Sequence[str]) -> Content:
    """Read the files of a folder or a pattern as one. Each must have a field of the first one."""
    records = _read_records(files)
    if records:
        return Content(records, lambda number: os.path.basename(files[number]))
    parts = list(map(read_file, files))
    fields = [set(part.records[0]) for part in parts if part.records and isinstance(part.records[0], dict)]
    if any(each.isdisjoint(fields[0]) for each in fields):
        raise _error_of_parts(path, files)

    def locate(number: int) -> str:
        for file, part in zip(files, parts):
            if number < len(part.records):
                return f"{os.path.basename(file)}, {part.locate(number)}"
            number -= len(part.records)
        raise IndexError(number)

    records = [record for part in parts for record in part.records]
    return Content(records, locate, hints=[hint for part in parts for hint in part.hints])


def _read_records(files: Sequence[str]) -> list[dict[str, Any]]:
    """Read files that each hold one JSON object as one record each, with the name of its file; [] for other files."""
    records = []
    for file in files:
        with open(file, "rb") as stream:
            record = read_record(stream.read(), file) if get_extension(file) == ".json" else None
        if record is None:
            return []
        records.append({FILE: get_stem(file), **record})
    return records


def get_stem(path: str) -> str:
    """Return the name of a file without its extension."""
    name = os.path.basename(path).removesuffix(".gz")
    return os.path.splitext(name)[0] or name
