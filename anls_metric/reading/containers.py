"""Finds the records in a JSON value, which is a list or one of the objects that programs write around a list.

In an object of records by id, the id is the key. Each record gets it as the field `KEY`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KEY = "(key)"
FILE = "(file name)"
VALUE = "(value)"

Record = Mapping[str, Any]
"""A record: the values of fields by their names."""

Records = list[dict[str, Any]]


def records_of(value: Any) -> list[Any] | None:
    """Find the records in a JSON value.

    Args:
        value: what ``json.loads`` returns.

    Returns:
        The list itself, or the records by the first of `CONTAINERS` that finds some; None where none does.

    Example:
        >>> records_of({"7": "Coca Cola", "8": "Pepsi"})
        [{'(key)': '7', '(value)': 'Coca Cola'}, {'(key)': '8', '(value)': 'Pepsi'}]
        >>> records_of({"prediction": ["a", "b"], "references": [["a"], ["c"]]})
        [{'prediction': 'a', 'references': ['a']}, {'prediction': 'b', 'references': ['c']}]
    """
    if isinstance(value, list):
        return value
    for read in CONTAINERS if isinstance(value, dict) else ():
        records = read(value)
        if records is not None:
            return records
    return None


def is_record(value: Any) -> bool:
    """Whether a JSON value is one record rather than a table of several.

    Example:
        >>> is_record({"vendor": "Cola", "items": [{"price": "1"}]}), is_record({"data": [{"answer": "a"}]})
        (True, False)
    """
    tables = (_read_split, _read_named, _read_only_list, _read_columns, _read_columns_by_key)
    return isinstance(value, dict) and all(read(value) is None for read in tables)


# Names of fields. An object with such keys is a table of columns, so its keys are not ids.
NAMES = frozenset(
    (
        *("question", "questionId", "question_id", "id", "prediction", "predictions", "predicted", "pred", "preds"),
        *("answer", "answers", "references", "reference", "gt", "det", "model_answer", "reference_answer"),
        *("pred_answer", "response", "output", "target", "label", "labels", "doc", "instance", "gold"),
        *("actual_output", "expected_output"),
    )
)


# The names under which programs write their records.
_OF_RECORDS = ("data", "per_sample_result", "samples", "request_states", "Scores by samples")


def _read_named(value: Record) -> list[Any] | None:
    """Records under a usual name: a list of them, records by id, or a list for each subset."""
    for name in _OF_RECORDS:
        inner: Any = value.get(name)
        kinds = set(map(type, inner.values())) if isinstance(inner, dict) else set()
        if kinds == {dict}:
            return _read_records_by_id(inner)
        if kinds == {list}:
            inner = [record for records in inner.values() for record in records]
        if isinstance(inner, list) and set(map(type, inner)) <= {dict}:
            return inner
    return None


def _read_only_list(value: Record) -> list[Any] | None:
    """Records under any name, beside facts about them. An object with an id or a question of its own is a record."""
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    if len(lists) != 1 or _OF_QUESTIONS & value.keys():
        return None
    return lists[0] if _OF_QUESTIONS & lists[0][0].keys() else None


_OF_QUESTIONS = frozenset(("question", "questionId", "question_id", "id"))


def _read_records_by_id(value: Record) -> list[Any] | None:
    """An object of records by their ids."""
    if set(map(type, value.values())) != {dict}:
        return None
    return [{KEY: key, **record} for key, record in value.items()]


def _read_columns(value: Record) -> list[Any] | None:
    """Columns, which are lists of equal length. Other values, such as scores, may stand beside them."""
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    others = value.keys() - lists.keys()
    if others & NAMES or not NAMES & lists.keys() or len(set(map(len, lists.values()))) > 1:
        return None
    return [dict(zip(lists, row)) for row in zip(*lists.values())]


def _read_split(value: Record) -> list[Any] | None:
    """Pandas' orient="split", MLflow and W&B: the names of the columns, and a list for each row."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or set(map(type, rows)) != {list}:
        return None
    return [dict(zip(map(str, names), row)) for row in rows]


def _read_columns_by_key(value: Record) -> list[Any] | None:
    """pandas: to_json() without orient: columns of values by row. Row labels are ids unless they are 0, 1, 2 .."""
    columns = list(value.values())
    if set(map(type, columns)) != {dict} or len(set(map(tuple, columns))) > 1:
        return None
    keys = list(columns[0])
    lists = {name: list(column.values()) for name, column in value.items()}
    has_ids = bool(_OF_QUESTIONS & value.keys())
    are_numbered = keys == list(map(str, range(len(keys))))
    return _read_columns(lists if has_ids or are_numbered else {KEY: keys, **lists})


def _read_answers_by_id(value: Record) -> list[Any] | None:
    """An object of answers, or of references, by the ids of their questions."""
    kinds = set(map(type, value.values()))
    if not value or not (kinds <= {str, int, float, type(None)} or kinds == {list}):
        return None
    return [{KEY: key, VALUE: answer} for key, answer in value.items()]


CONTAINERS = (
    _read_split,
    _read_named,
    _read_only_list,
    _read_columns,
    _read_columns_by_key,
    _read_records_by_id,
    _read_answers_by_id,
)
"""Functions that find the records in an object, or return None. The first that finds some counts."""
