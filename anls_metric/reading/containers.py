"""How the records lie in one JSON value: a list, or one of the objects that programs write around it.

The key of an object whose values are records, which is their id there, stands in each record as `KEY`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

KEY = "(key)"
VALUE = "(value)"


def records_of(value: Any) -> list[Any] | None:
    """The records of a value, by the first row of `CONTAINERS` that it fits; None where it holds none.

    Example:
        >>> records_of({"7": "Coca Cola", "8": "Pepsi"})
        [{'(key)': '7', '(value)': 'Coca Cola'}, {'(key)': '8', '(value)': 'Pepsi'}]
        >>> records_of({"prediction": ["a", "b"], "references": [["a"], ["c"]]})
        [{'prediction': 'a', 'references': ['a']}, {'prediction': 'b', 'references': ['c']}]
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    return next((found for row in CONTAINERS if (found := row.records(value)) is not None), None)


class Container(NamedTuple):
    """An object around records.

    Attributes:
        name: what it is.
        records: the records of such an object; None where the object is none.
    """

    name: str
    records: Callable[[Mapping[str, Any]], list[Any] | None]


# Fields that tell a record, or a table of columns, from an object whose keys are ids.
_NAMES = frozenset(
    (
        *("question", "questionId", "question_id", "id", "prediction", "predictions", "predicted", "pred", "answer"),
        *("answers", "references", "reference", "gt", "det", "model_answer", "reference_answer", "pred_answer"),
        *("response", "output", "target", "label", "labels", "doc", "instance", "gold"),
    )
)


def _under(name: str) -> Callable[[Mapping[str, Any]], list[Any] | None]:
    def records(value: Mapping[str, Any]) -> list[Any] | None:
        inner = value.get(name)
        if isinstance(inner, list) and set(map(type, inner)) <= {dict}:
            return inner
        return None

    return records


def _by_key_under(name: str) -> Callable[[Mapping[str, Any]], list[Any] | None]:
    return lambda value: _keyed(value.get(name))


def _keyed(value: Any) -> list[Any] | None:
    """An object of records, by their ids."""
    if not isinstance(value, dict) or not value or not all(isinstance(record, dict) for record in value.values()):
        return None
    return [{KEY: key, **record} for key, record in value.items()]


def _lists_by_key(value: Mapping[str, Any]) -> list[Any] | None:
    """unitxt: an object of lists of records, a list for each of its subsets."""
    inner = value.get("samples")
    if isinstance(inner, dict) and inner and all(isinstance(records, list) for records in inner.values()):
        return [record for records in inner.values() for record in records]
    return None


def _split(value: Mapping[str, Any]) -> list[Any] | None:
    """pandas: to_json(orient="split")."""
    columns, data = value.get("columns"), value.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    if not all(isinstance(row, list) and len(row) == len(columns) for row in data):
        return None
    return [dict(zip(columns, row)) for row in data]


def _record(value: Mapping[str, Any]) -> list[Any] | None:
    """One record alone."""
    columns = all(isinstance(column, (list, dict)) for column in value.values())
    return [value] if _NAMES & value.keys() and not columns else None


def _columns(value: Mapping[str, Any]) -> list[Any] | None:
    """Columns as lists of one length."""
    lists: Sequence[Any] = list(value.values())
    named = bool(_NAMES & value.keys()) and all(isinstance(column, list) for column in lists)
    if not named or len({len(column) for column in lists}) > 1:
        return None
    return [dict(zip(value, row)) for row in zip(*lists)]


def _columns_by_key(value: Mapping[str, Any]) -> list[Any] | None:
    """pandas: to_json() without orient: an object of columns, each an object of values by row."""
    columns = list(value.values())
    if not _NAMES & value.keys() or not all(isinstance(column, dict) for column in columns):
        return None
    keys = list(columns[0])
    if not keys or any(column.keys() != columns[0].keys() for column in columns):
        return None
    return [{name: column[key] for name, column in value.items()} for key in keys]


def _answers_by_key(value: Mapping[str, Any]) -> list[Any] | None:
    """An object of answers, or of accepted answers, by the ids of their questions."""
    kinds = set(map(type, value.values()))
    if not value or not (kinds <= {str, type(None)} or kinds == {list}):
        return None
    return [{KEY: key, VALUE: answer} for key, answer in value.items()]


CONTAINERS = (
    Container('pandas, orient="split"', _split),
    Container("a list under data", _under("data")),
    Container("results.json", _by_key_under("per_sample_result")),
    Container("samples", _under("samples")),
    Container("samples of subsets", _lists_by_key),
    Container("HELM scenario_state", _under("request_states")),
    Container("MP-DocVQA-Framework", _by_key_under("Scores by samples")),
    Container("one record", _record),
    Container("columns", _columns),
    Container("pandas, to_json()", _columns_by_key),
    Container("records by id", _keyed),
    Container("answers by id", _answers_by_key),
)
