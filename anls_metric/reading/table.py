"""Tables, which contain the records of a file or of in-memory data, and functions that read their columns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.messages import Message, list_some, make_error
from anls_metric.reading.records import (
    ABSENT,
    FILE,
    KEY,
    VALUE,
    Fields,
    Path,
    Record,
    is_failure,
    list_paths,
    take,
    take_column,
)

if TYPE_CHECKING:
    from anls_metric.reading.layouts import Layout

MAX_SAMPLE = 100
"""The maximum number of records that are examined to find the fields of a table."""

_MAX_FIELDS = 12  # the number of fields that a message lists
_DEEPEST = 8  # the levels of nested objects whose fields are listed


def name_places(unit: str, numbers: Sequence[int] = range(1, sys.maxsize)) -> Callable[[int], str]:
    """Create a function that returns the location of a record in its file, such as "line 7", given the position of the
    record.
    """
    return lambda number: f"{unit} {numbers[number]}"


class Table(NamedTuple):
    """The records of a file or of in-memory data, whose fields and layout `apply_layout` finds.

    Attributes:
        records: the records.
        name: the name of the file or of the data.
        locate: the function that returns the location of a record in the file, such as "line 7", given the number of
            the record.
        about: a remark to add to the line that says what was read.
        hints: messages about problems with a file that could still be read.
        numbers: the number of each record in the file, from 0.
        fields: the paths of the fields in the first records, each mapped to whether the field contains objects.
        layout: the layout of the file, or None for a user's own table.
        root: the JSON value in which the records were found, in case other lists inside this value are needed, or None
            if the value is the list of records.
        paths: those of the user's record paths that lead to records in this table.
    """

    records: Sequence[Any]
    name: str = ""
    locate: Callable[[int], str] = name_places("record")
    about: str = ""
    hints: Sequence[Message] = ()
    numbers: Sequence[int] = range(sys.maxsize)
    fields: Mapping[str, bool] = {}
    layout: Layout | None = None
    root: Any = None
    paths: tuple[str, ...] = ()


class Roles(NamedTuple):
    """The path of the field for each role, with None for a role without a field.

    Attributes:
        id, question, prediction, references: the paths of these roles.
        others: the paths of the confidence, of a judge's verdict, and of the columns of a benchmark's rule.
    """

    id: Path | None = None
    question: Path | None = None
    prediction: Path | None = None
    references: Path | None = None
    others: Mapping[str, Path] = {}


def name_place(table: Table, number: int) -> str:
    """Return the file name and the location of a record, such as "answers.csv, line 7", given its position in the
    table.
    """
    return f"{table.name}, {table.locate(table.numbers[number])}"


def choose_records(table: Table, places: Sequence[int]) -> Table:
    """Return a table with only the records at the given positions."""
    numbers = [table.numbers[place] for place in places]
    return table._replace(records=[table.records[place] for place in places], numbers=numbers)


def find_places(table: Table, what: str, names: Sequence[str], chosen: str) -> list[int]:
    """Find the positions of the records whose name the user chose with ``--filter``. Raises InputError if no record has
    this name.
    """
    places = [place for place, name in enumerate(names) if name == chosen]
    if not places:
        sentence = "there is no {what} {chosen!r}: pass an existing one with {use.filter} (found {names})"
        found = list_some(dict.fromkeys(names)) or f"no field of {what}s"
        raise make_error(table.name, sentence, what=what, chosen=chosen, names=found)
    return places


def has(table: Table, path: Path) -> bool:
    """Whether a path leads to a value in any record."""
    return path in table.fields or any(take(record, path) is not ABSENT for record in table.records)


def split_key(table: Table, path: Path) -> list[Path]:
    """Split a key into its fields, which are separated by commas, unless the key is itself the path of a field."""
    if not isinstance(path, str) or "," not in path or has(table, path):
        return [path]
    return [part.strip() for part in path.split(",")]


def read_column(table: Table, path: Path | None) -> list[Any]:
    """Read the value at a path from each record, with `ABSENT` for a record without such a value."""
    return [ABSENT] * len(table.records) if path is None else take_column(table.records, path)


def is_unique(values: Sequence[str | None]) -> bool:
    """Whether there are values, none of them is None, and no two of them are the same."""
    return bool(values) and None not in values and len(set(values)) == len(values)


def does_count(values: Sequence[str | None]) -> bool:
    """Whether all values are whole numbers less than twice the number of values, so that they may be positions."""
    return {*values} <= set(map(str, range(2 * len(values))))


def are_numbers(values: Iterable[object]) -> bool:
    """Whether all values are numbers or strings that contain a number."""
    return all(re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", str(value)) for value in values)


def first_path(table: Table, *paths: Path | None) -> Path | None:
    """Find the first path that leads to a value, or return None if no path does. Each argument may contain several
    paths, as in "PATH or PATH".
    """
    return next((path for each in paths for path in list_paths(each) if has(table, path)), None)


def list_fields(records: Sequence[Record]) -> dict[str, bool]:
    """List the paths of the fields in the first records, each mapped to whether the field contains objects."""
    fields: dict[str, bool] = {}
    for record in records[:MAX_SAMPLE]:
        for path, value in _walk(record):
            fields[path] = _is_object(value) or fields.get(path, False)
    return fields


def _walk(record: Record, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field in a record and in the objects inside the record."""
    for name, value in record.items():
        yield before + name, value
        if _is_object(value) and depth < _DEEPEST:
            yield from _walk(value, f"{before}{name}.", depth + 1)


def _is_object(value: Any) -> bool:
    """Whether a value is an object with fields, rather than the error of a failed request."""
    return isinstance(value, dict) and not is_failure(value)


def list_values(table: Table) -> dict[str, list[Any]]:
    """List the fields that do not contain objects and the fields inside lists of objects, each mapped to its values in
    the first records.

    The items of a list are numbered if the list is short and has the same length in all records. Otherwise, -1 stands
    for the last message of a conversation, and ``*`` for each item of any other list.
    """
    records = table.records[:MAX_SAMPLE]
    columns: dict[str, list[Any]] = {}
    for path, is_object in table.fields.items():
        column = take_column(records, path)
        lengths = {len(value) if _holds_objects(value) else 0 for value in column}
        if lengths == {0}:
            columns |= {} if is_object else {path: column}
            continue
        items = [item for value in column if _holds_objects(value) for item in value]
        if len(lengths) == 1 and max(lengths) <= _MAX_ITEMS:
            places = list(map(str, range(max(lengths))))
        else:
            places = ["-1" if {"from", "role"} & items[0].keys() else "*"]
        names = [name for name, is_object in list_fields(items[:MAX_SAMPLE]).items() if not is_object]
        inner = [f"{path}.{place}.{name}" for place in places for name in names]
        columns |= {path: take_column(records, path) for path in inner}
    return columns


_MAX_ITEMS = 4  # the length of a list up to which its items are numbered


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def describe_fields(table: Table, most: int = _MAX_FIELDS, length: int = 40) -> str:
    """Describe the fields of a table, each with its value in the first record that has the field.

    Args:
        table: the table.
        most: the maximum number of fields.
        length: the maximum number of characters of a value.
    """
    columns = list_values(table)
    parts = []
    for path in list(columns)[:most]:
        shown = repr(next(value for value in [*columns[path], None] if value is not ABSENT))
        parts.append(f"{show_path(path)} {shown if len(shown) <= length else shown[: length - 3] + '...'}")
    return "; ".join(parts) + ("; ..." if len(columns) > most else "") or "no fields"


WHOLE_RECORD, ALL_VALUES = "the whole record", "the values"


def show_path(path: Path | None) -> str:
    """Format a field for a message."""
    if isinstance(path, Fields):
        return ", ".join(path.names)
    if callable(path):
        from anls_metric.reading.layouts import NAMES_OF_FUNCTIONS  # only layouts have functions as paths

        return NAMES_OF_FUNCTIONS.get(path, WHOLE_RECORD)
    return _NAMES.get(path, repr(path))


_NAMES = {
    None: "nothing",
    KEY: "the keys of an object",
    VALUE: ALL_VALUES,
    FILE: "the file names",
    ".": WHOLE_RECORD,
}
