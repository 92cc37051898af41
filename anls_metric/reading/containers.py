"""Finds the records in a JSON value: a list, or one of the objects that programs write around it.

In an object of records by id, the id is the key. Each record gets it as the field `KEY`. In a folder whose files hold a
record each, a record gets the name of its file, without the ending, as the field `FILE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

KEY = "(key)"
VALUE = "(value)"
FILE = "file_name"


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; [] if the value is not a list.

    Example:
        >>> objects_of([{"text": "56"}, "57"])
        [{'text': '56'}]
    """
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def records_of(value: Any) -> list[Any] | None:
    """Find the records in a JSON value.

    Args:
        value: what ``json.loads`` returns.

    Returns:
        The list itself, or the records by the first row of `CONTAINERS` that fits; None where none does.

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
    return next((records for row in CONTAINERS if (records := row.read(value)) is not None), None)


class Container(NamedTuple):
    """An object that holds records: a row of `CONTAINERS`.

    Attributes:
        name: what writes it.
        read: finds the records in such an object; returns None for any other object.
    """

    name: str
    read: Callable[[Mapping[str, Any]], list[Any] | None]


# Names of fields. An object with such keys is a record or a table of columns, so its keys are not ids.
NAMES = frozenset(
    (
        *("question", "questionId", "question_id", "id", "prediction", "predictions", "predicted", "pred", "preds"),
        *("answer", "answers", "references", "reference", "gt", "det", "model_answer", "reference_answer"),
        *("pred_answer", "response", "output", "target", "label", "labels", "doc", "instance", "gold"),
        *("actual_output", "expected_output"),
    )
)


def _reader_of_list(name: str) -> Callable[[Mapping[str, Any]], list[Any] | None]:
    def read(value: Mapping[str, Any]) -> list[Any] | None:
        inner = value.get(name)
        return inner if isinstance(inner, list) and set(map(type, inner)) <= {dict} else None

    return read


def _reader_of_records(name: str) -> Callable[[Mapping[str, Any]], list[Any] | None]:
    return lambda value: _read_records_by_id(value.get(name))


def _read_only_list(value: Mapping[str, Any]) -> list[Any] | None:
    """Records under any name, beside facts about them. An object with an id or a question of its own is a record."""
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner]
    found = len(lists) == 1 and not _OF_QUESTIONS & value.keys() and holds_questions(lists[0])
    return lists[0] if found else None


def holds_questions(value: Any) -> bool:
    """Whether a value is a list of records that have an id or a question."""
    return any(_OF_QUESTIONS & record.keys() for record in objects_of(value)[:1])


_OF_QUESTIONS = frozenset(("question", "questionId", "question_id", "id"))


def _read_records_by_id(value: Any) -> list[Any] | None:
    """An object of records by their ids."""
    if not isinstance(value, dict) or not value or not all(isinstance(record, dict) for record in value.values()):
        return None
    return [{KEY: key, **record} for key, record in value.items()]


def _read_subsets(value: Mapping[str, Any]) -> list[Any] | None:
    """unitxt: an object with a list of records for each subset."""
    inner = value.get("samples")
    if isinstance(inner, dict) and inner and all(isinstance(records, list) for records in inner.values()):
        return [record for records in inner.values() for record in records]
    return None


def _read_split(value: Mapping[str, Any]) -> list[Any] | None:
    """pandas: to_json(orient="split")."""
    columns, data = value.get("columns"), value.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    names = list(map(str, columns))  # pandas numbers columns without a name
    if len(set(names)) < len(names) or not all(isinstance(row, list) and len(row) == len(names) for row in data):
        return None
    return _add_index([dict(zip(names, row)) for row in data], value.get("index"))


# Usual names of ids. A table with such a column needs no other id.
_IDS = frozenset(("questionId", "question_id", "id", "qid"))


def _add_index(records: list[dict[str, Any]], index: Any) -> list[dict[str, Any]]:
    """Add the index of a DataFrame as the id of its records, unless it numbers the rows or the records have an id."""
    if not records or not isinstance(index, list) or len(index) != len(records) or _IDS & records[0].keys():
        return records
    texts = [str(key) for key in index if type(key) in (str, int)]
    if len(set(texts)) < len(records) or texts == list(map(str, range(len(records)))):
        return records
    return [{KEY: key, **record} for key, record in zip(texts, records)]


def _read_response(value: Mapping[str, Any]) -> list[Any] | None:
    """A response of Textract, Azure Document Intelligence or Document AI."""
    inner = next((value[name] for name in ("analyzeResult", "document") if isinstance(value.get(name), dict)), value)
    lists = any(isinstance(inner.get(name), list) for name in ("Blocks", "documents", "entities"))
    return [value] if lists and (inner is not value or _OF_RESPONSES & value.keys()) else None


_OF_RESPONSES = frozenset(("Blocks", "modelId", "apiVersion", "text"))


def _read_one_record(value: Mapping[str, Any]) -> list[Any] | None:
    """A single record."""
    columns = all(isinstance(column, (list, dict)) for column in value.values())
    return [value] if NAMES & value.keys() and not columns else None


def _read_predictions(value: Mapping[str, Any]) -> list[Any] | None:
    """Predictions, and perhaps references as another column, beside other values such as scores."""
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    names = lists.keys() & {"predictions", "preds"}
    is_one_record = len(lists) == 1 and NAMES & (value.keys() - names)
    if not names or is_one_record or any(dict in map(type, column) for column in lists.values()):
        return None
    return _read_columns(lists)


def _read_columns(value: Mapping[str, Any]) -> list[Any] | None:
    """An object of columns, which are lists of one length."""
    lists: Sequence[Any] = list(value.values())
    is_table = bool(NAMES & value.keys()) and all(isinstance(column, list) for column in lists)
    if not is_table or len({len(column) for column in lists}) > 1:
        return None
    return [dict(zip(value, row)) for row in zip(*lists)]


def _read_columns_by_key(value: Mapping[str, Any]) -> list[Any] | None:
    """pandas: to_json() without orient: an object of columns, each an object of values by row."""
    columns = list(value.values())
    if not NAMES & value.keys() or not all(isinstance(column, dict) for column in columns):
        return None
    keys = list(columns[0])
    if not keys or any(column.keys() != columns[0].keys() for column in columns):
        return None
    return _add_index([{name: column[key] for name, column in value.items()} for key in keys], keys)


def _read_answers_by_id(value: Mapping[str, Any]) -> list[Any] | None:
    """An object of answers, or of accepted answers, by the ids of their questions."""
    kinds = set(map(type, value.values()))
    if not value or not (kinds <= {str, int, float, type(None)} or kinds == {list}):
        return None
    return [{KEY: key, VALUE: answer} for key, answer in value.items()]


CONTAINERS = (
    Container('pandas, orient="split"', _read_split),
    Container("a list under data", _reader_of_list("data")),
    Container("results.json", _reader_of_records("per_sample_result")),
    Container("samples", _reader_of_list("samples")),
    Container("samples of subsets", _read_subsets),
    Container("HELM scenario_state", _reader_of_list("request_states")),
    Container("MP-DocVQA-Framework", _reader_of_records("Scores by samples")),
    Container("one response of a document interface", _read_response),
    Container("predictions beside other values", _read_predictions),
    Container("the only list", _read_only_list),
    Container("one record", _read_one_record),
    Container("columns", _read_columns),
    Container("pandas, to_json()", _read_columns_by_key),
    Container("records by id", _read_records_by_id),
    Container("answers by id", _read_answers_by_id),
)


def describe_stop(log: Any, count: int) -> str:
    """Say that inspect_ai stopped before its log had all samples.

    Args:
        log: the log, or its header.
        count: the number of samples in the log.

    Returns:
        A sentence; "" for a complete log, and for any other value.

    Example:
        >>> describe_stop({"status": "error", "eval": {"dataset": {"samples": 60}}, "samples": []}, 30)
        'the evaluation stopped (error) after 30 of 60 samples: inspect eval-retry runs the others'
    """
    status, plan = (log.get("status"), log.get("eval")) if isinstance(log, Mapping) else (None, None)
    if status not in ("started", "cancelled", "error") or not isinstance(plan, Mapping):
        return ""
    data, config = (part if isinstance(part := plan.get(name), Mapping) else {} for name in ("dataset", "config"))
    ids, epochs = data.get("sample_ids"), config.get("epochs")
    planned = len(ids) if isinstance(ids, list) else None if config.get("limit") else data.get("samples")
    if not isinstance(planned, int):
        return f"the evaluation stopped ({status}) after {count:,} samples"
    planned *= epochs if isinstance(epochs, int) else 1
    stopped = f"the evaluation stopped ({status}) after {count:,} of {planned:,} samples"
    return f"{stopped}: inspect eval-retry runs the others" if count < planned else ""
