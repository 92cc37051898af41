"""A record, and paths that lead to values in it.

A path names a field: names and places with dots between them (``output.choices.0.message.content``); ``*`` stands for
each item of a list, and a path of one dot for the whole record. A path goes on inside a string that is JSON. If the
name of a field holds a dot itself, that field wins.
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
"""The field of what stands in place of a record, such as the text of an error."""

PART = "(part)"
"""The field that says which of several lists a record is from: what `*` stands for in the path of the records."""

DOCUMENT = "(document)"
"""The key of a document that is the only record of its file."""

Record = Mapping[str, Any]
"""A record: the values of fields by their names."""

Records = list[dict[str, Any]]


# Names of fields. An object with such keys is a table of columns, so its keys are not ids.
NAMES = frozenset(
    (
        *("question", "questionId", "question_id", "id", "prediction", "predictions", "predicted", "pred", "preds"),
        *("answer", "answers", "references", "reference", "gt", "det", "model_answer", "reference_answer"),
        *("pred_answer", "response", "output", "target", "label", "labels", "doc", "instance", "gold"),
        *("actual_output", "expected_output"),
    )
)


def is_failure(value: Any) -> bool:
    """Whether a value is what an API returns in place of an answer: an object with an error."""
    return isinstance(value, dict) and bool(value.get("error")) and value.keys() <= _OF_FAILURES


_OF_FAILURES = {"error", "code", "detail", "details", "message", "status", "status_code", "success", "type"}


Path = str | Callable[[Record], Any]
"""The path of a value in a record, or a function that finds the value."""


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Any = _Absent()
"""Stands for a value that is not there, since None is a value."""


class Fields(NamedTuple):
    """The path of an object that consists of several fields of a record, as the columns of a table.

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
        """Make the object. A string that is a JSON list or object is parsed, and an empty cell is None."""
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
        path: names and places (from 0, and -1 for the last) with dots between them, ``*`` for each item of a list; or
            a dot for the record itself. A field whose name holds a dot wins. Or a function.

    Returns:
        The value; `ABSENT` where there is none, or if the record has another shape.

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
    """Follow a path in a value. Any error means that it leads nowhere."""
    first, _, rest = path.partition(".")
    if isinstance(value, str):  # a number in it raises a TypeError
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
    """List the paths of a role, which may be written as "PATH or PATH". A function also counts as a path.

    Example:
        >>> list_paths("doc.id or doc_id")
        ['doc.id', 'doc_id']
    """
    if isinstance(paths, str):
        return [*paths.split(" or ")]
    return [paths] if paths else []


def take_column(records: Sequence[Record], path: Path) -> list[Any]:
    """Take a value from each record, given its path or a function. The value is `ABSENT` where there is none."""
    try:
        return list(map(itemgetter(path), records))
    except KeyError:  # a path, a function, or a field of some records
        return [take(record, path) for record in records]


def drop_fields(record: Record, *names: str) -> dict[str, Any]:
    """Copy a record, leaving out some fields."""
    return {name: value for name, value in record.items() if name not in names}
