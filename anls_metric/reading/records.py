"""A record, and the paths that lead to values in it.

A path leads to a field. It consists of names and indices separated by dots (``output.choices.0.message.content``);
``*`` stands for each item of a list, and a single dot for the whole record. A path can continue inside a JSON string. A
field whose name itself contains dots takes precedence.
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
"""The field for a value that stands in place of a record, such as the text of an error."""

PART = "(part)"
"""The field that shows which of several lists a record is from: what `*` stands for in the path of the records."""

DOCUMENT = "(document)"
"""The key of a document that is the only record in its file."""

Record = Mapping[str, Any]
"""A record: values by field name."""

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
    """Whether a value is an object with an error, which an API returns in place of an answer."""
    return isinstance(value, dict) and bool(value.get("error")) and value.keys() <= _OF_FAILURES


_OF_FAILURES = {"error", "code", "detail", "details", "message", "status", "status_code", "success", "type"}


Path = str | Callable[[Record], Any]
"""The path of a value in a record, or a function that finds the value."""


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Any = _Absent()
"""Stands for an absent value, because None can be a value."""


class Fields(NamedTuple):
    """The path of an object that consists of several fields of a record, such as the columns of a table.

    Attributes:
        keys: the keys of the object.
        names: the field of each key.

    Example:
        >>> Fields(("date", "items", "tip"), ("Date", "items", "tip"))({"Date": "1.5.", "items": '["tea"]', "tip": ""})
        {'date': '1.5.', 'items': ['tea'], 'tip': None}
    """

    keys: tuple[str, ...]
    names: tuple[str, ...]

    def __call__(self, record: Record) -> dict[str, Any]:
        """Create the object. A string that contains a JSON list or object is parsed, and an empty cell becomes None."""
        found = {key: take(record, name) for key, name in zip(self.keys, self.names)}
        return {
            key: None if value == "" or value != value else parse_value_or_text(value)
            for key, value in found.items()
            if value is not ABSENT
        }


def take(record: Record, path: Path) -> Any:
    """Take a value from a record, given its path or a function.

    Args:
        record: objects and lists, as JSON has them.
        path: names and indices (from 0, with -1 for the last) separated by dots, with ``*`` for each item of a list; or
            a dot for the record itself; or a function. A field whose name contains dots takes precedence.

    Returns:
        The value; `ABSENT` if there is none or if the record has another structure.

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
    """Follow a path into a value. Any error means that the path leads nowhere."""
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
    """List the paths for a role, which may be written as "PATH or PATH". A function is also treated as a path.

    Example:
        >>> list_paths("doc.id or doc_id")
        ['doc.id', 'doc_id']
    """
    if isinstance(paths, str):
        return [*paths.split(" or ")]
    return [paths] if paths else []


def take_column(records: Sequence[Record], path: Path) -> list[Any]:
    """Take a value from each record, given its path or a function. Where there is no value, the result is `ABSENT`."""
    try:
        return list(map(itemgetter(path), records))
    except KeyError:  # a path, a function, or a field of some records
        return [take(record, path) for record in records]


def drop_fields(record: Record, *names: str) -> dict[str, Any]:
    """Copy a record without some of its fields."""
    return {name: value for name, value in record.items() if name not in names}
