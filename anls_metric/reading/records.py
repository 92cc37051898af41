"""Records, and the paths that lead to values in a record.

A path consists of names and indices separated by dots (``output.choices.0.message.content``). In a path, ``*`` stands
for each item of a list, and a single dot stands for the whole record. A path can continue inside a JSON string. A field
whose name itself contains dots takes precedence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from anls_metric.core.json_strings import parse_value_or_text

KEY = "(key)"
FILE = "(file name)"
VALUE = "(value)"
OTHER = "(other value)"
"""The field for a value that a file contains instead of a record, such as an error message."""

PART = "(part)"
"""The field that identifies the list of a record if there are several lists, by the path of the list or by the names
that `*` stands for.
"""

DOCUMENT = "(document)"
"""The key that is assigned to a document if it is the only record in its file."""

Record = Mapping[str, Any]
"""A record, which maps field names to values."""

Records = list[dict[str, Any]]


# Field names. An object with such keys is a table of columns, so its keys are not ids.
NAMES = frozenset(
    (
        *("question", "questionId", "question_id", "id", "prediction", "predictions", "predicted", "pred", "preds"),
        *("answer", "answers", "references", "reference", "gt", "det", "model_answer", "reference_answer"),
        *("pred_answer", "response", "output", "target", "label", "labels", "doc", "instance", "gold"),
        *("actual_output", "expected_output"),
    )
)


def is_failure(value: Any) -> bool:
    """Whether a value is an error object that an API returned instead of an answer."""
    return isinstance(value, dict) and bool(value.get("error")) and value.keys() <= _OF_FAILURES


_OF_FAILURES = {"error", "code", "detail", "details", "message", "status", "status_code", "success", "type"}


Path = str | Callable[[Record], Any]
"""The path of a value in a record, or a function that takes the value from a record."""


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Any = _Absent()
"""The sentinel for an absent value, since None can be a value."""


class Fields(NamedTuple):
    """A path that combines several fields of a record, such as the columns of a table, into one object.

    Attributes:
        keys: the keys of the object.
        names: the field in the record for each key.

    Example:
        >>> Fields(("date", "items", "tip"), ("Date", "items", "tip"))({"Date": "1.5.", "items": '["tea"]', "tip": ""})
        {'date': '1.5.', 'items': ['tea'], 'tip': None}
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]

    def __call__(self, record: Record) -> dict[str, Any]:
        """Create the object from a record, parsing strings that contain a JSON list or object and replacing empty cells
        with None.
        """
        found = {key: take(record, name) for key, name in zip(self.keys, self.names)}
        return {
            key: None if value == "" or value != value else parse_value_or_text(value)
            for key, value in found.items()
            if value is not ABSENT
        }


def take(record: Record, path: Path) -> Any:
    """Take the value at a path from a record.

    Args:
        record: a record of JSON values.
        path: names and indices (from 0, with -1 for the last item) separated by dots, with ``*`` for each item of a
            list, a single dot for the record itself, or a function. A field whose name contains dots takes precedence.

    Returns:
        The value, or `ABSENT` if the path does not lead to a value.

    Example:
        >>> take({"doc": {"answers": ["Coca Cola"]}}, "doc.answers.0")
        'Coca Cola'
        >>> take({"doc.answers": 7, "doc": {"answers": 8}}, "doc.answers")
        7
        >>> take({"doc": '{"parses": [{"answer": "a"}, {"answer": "b"}]}'}, "doc.parses.*.answer")
        ['a', 'b']
    """
    try:
        return path(record) if callable(path) else _follow(record, path)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return ABSENT


def _follow(value: Any, path: str) -> Any:
    """Follow a path into a value. Raises any kind of error if the path does not lead to a value."""
    first, _, rest = path.partition(".")
    if isinstance(value, str):  # a number along the path raises a TypeError
        return _follow(json.loads(value), path)
    if path == ".":
        return value
    if first == "*":
        return [_follow(item, rest) if rest else item for item in value]
    if isinstance(value, list):
        inner = value[int(first)]
    elif path in value:
        return value[path]
    else:
        inner = value[first]
    return _follow(inner, rest) if rest else inner


def list_paths(paths: Path | None) -> list[Path]:
    """List the paths in a string such as "PATH or PATH", or return a function as the only path.

    Example:
        >>> list_paths("doc.id or doc_id")
        ['doc.id', 'doc_id']
    """
    if isinstance(paths, str):
        return [*paths.split(" or ")]
    return [paths] if paths else []


def take_column(records: Sequence[Record], path: Path) -> list[Any]:
    """Take the value at a path from each record, with `ABSENT` for a record without such a value."""
    try:
        return list(map(itemgetter(path), records))
    except KeyError:  # a path, a function, or a field of some records
        return [take(record, path) for record in records]


def drop_fields(record: Record, *names: str) -> dict[str, Any]:
    """Copy a record without some of its fields."""
    return {name: value for name, value in record.items() if name not in names}
