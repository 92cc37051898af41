"""Reads columns as values (ids, predictions, references, confidences and verdicts), and JSON in strings."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from anls_metric.core.checks import describe
from anls_metric.core.json_strings import parse_references, parse_value_or_text, read_reference, unwrap_references
from anls_metric.core.json_values import from_json
from anls_metric.messages import InputError, Message, make_error
from anls_metric.options import Settings
from anls_metric.reading.containers import Records
from anls_metric.reading.layouts import ABSENT, Path, describe_failures, remove_prompt, take
from anls_metric.reading.responses import text_of_parts
from anls_metric.reading.table import Table, name_place, read_column, show_path, split_key

if TYPE_CHECKING:
    from anls_metric.reading.roles import Roles


Kind = Literal["text", "values", "any"]
"""What answers are: strings; lists and nested values; or any values, of which only a benchmark's rule knows more."""


def refuse_gaps(
    column: Sequence[Any], table: Table, path: Path | None, sentence: str, gaps: Sequence[Any] = (None, ABSENT)
) -> None:
    """Refuse records without a value. The sentence for the error may name the field."""
    places = [column.index(gap) for gap in gaps if gap in column]
    if places:
        raise make_error(name_place(table, min(places)), sentence, field=show_path(path))


# Ids, and texts of questions


def read_ids(table: Table, path: Path | None) -> list[str | None]:
    """Read ids as strings, so that 7 in one file equals "7" in another. A record without an id has None.

    pandas writes whole numbers as floats if the column once had a gap, so 7.0 is "7". Several fields, with
    commas between them, are an id together.
    """
    if path is None:
        return []
    parts = split_key(table, path)
    if len(parts) > 1:
        rows = zip(*(read_ids(table, part) for part in parts))
        return [None if None in row else ", ".join(row) for row in rows]
    column = read_column(table, path)
    return list(map(str if set(map(type, column)) <= {str, int} else read_id, column))


def show_ids(ids: Iterable[str | None], path: Path | None) -> list[str]:
    """Show ids in a message: those of several fields in parentheses.

    Example:
        >>> show_ids(["a.pdf, total"], "file,field"), show_ids(["a.pdf"], "file")
        (['(a.pdf, total)'], ['a.pdf'])
    """
    return [f"({each})" if isinstance(path, str) and "," in path else str(each) for each in ids]


def read_id(value: Any) -> str | None:
    """Read an id as a string, or return None if the value is not an id."""
    if type(value) in (str, int):
        return str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else None


def read_questions(table: Table, path: Path | None) -> list[str | None]:
    """Read the text of each question, without the prompt that a program wrote around it, or None where there is no
    text.
    """
    if path is None:
        return [None] * len(table.records)
    texts = read_column(table, path)
    if set(map(type, texts)) != {str}:
        texts = [text if isinstance(text, str) else None for text in map(text_of_parts, texts)]
    return [text and remove_prompt(text) for text in texts] if table.layout else texts


# Predictions


def read_predictions(column: list[Any], table: Table, path: Path, settings: Settings, kind: Kind = "text") -> list[Any]:
    """Read predictions.

    Args:
        column: what the records have at the path.
        table: the table.
        path: the path of the prediction.
        settings: whether a missing prediction is an error.
        kind: what predictions are.

    Returns:
        A string or a value for each record; None for no prediction.

    Raises:
        InputError: a prediction is missing, or is not a string.
    """
    failures = describe_failures(table.layout, table.records, column) if table.layout else ""
    if failures and settings.missing == "error":
        raise make_error(
            table.name, "{failures}: to score unanswered questions 0, add {use.missing:zero}", failures=failures
        )
    if set(map(type, column)) == {str}:
        return column
    if kind == "text" or table.layout:
        column = list(map(text_of_parts, column))
    if kind == "text":
        column = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in column]
    has_nan = any(isinstance(value, float) and value != value for value in column)
    column = parse_all(partial(_read_prediction, kind, path), column, table)
    if settings.missing == "error":
        sentence = (
            '{field} is null or missing: write "" if the model gave no answer, or add {use.missing:zero} to score it 0'
        )
        if has_nan:
            sentence += f"; {_READ_AGAIN}"
        refuse_gaps(column, table, path, sentence)
    return column


def _read_prediction(kind: Kind, path: Path, value: Any) -> Any:
    if value is None or value is ABSENT or value != value:  # NaN: a gap in a column of numbers
        return None
    if kind == "any":
        return _show(value)
    if kind == "values":  # a string stays a string: extraction comes first
        return value if isinstance(value, str) else from_json(value)
    text = _write_number(value)
    if isinstance(text, str):
        return text
    sentence = (
        "{field} must be a string, got {value}: pass a field of strings with {use.prediction}, or score "
        "lists and objects with {use.variant:anls_star}"
    )
    if isinstance(value, bytes):
        sentence = "{field} must be a string, got {value}: decode it, as with value.decode()"
    raise make_error("", sentence, field=show_path(path), value=describe(value))


LOST_FORMATTING = (
    "decimal numbers among the {what} ({count:,}) have lost their formatting (12.5 may have been $12.50 or 12.50): "
    "write them as strings"
)


def warn_of_decimals(column: Sequence[Any], name: str, what: str) -> list[Message]:
    """Warn of decimal numbers in a column of a table, given its name, because their original formatting is lost."""
    if set(map(type, column)) <= {str} or _are_lists_of_strings(column):
        return []
    items = chain.from_iterable(value if isinstance(value, list) else [value] for value in column)
    count = sum(isinstance(value, float) and value == value for value in items)
    return [Message(name, LOST_FORMATTING, {"count": count, "what": what})] if count else []


# Accepted answers


def read_references(
    column: list[Any], table: Table, path: Path | None, settings: Settings, kind: Kind = "text"
) -> list[Any]:
    """Read the references of each record, which are at the path, as a list of strings or of values.

    Raises:
        InputError: a record has none, or one is not a string.
    """
    if kind == "any":
        return list(map(_show_accepted, column))
    if kind == "text" and all(value in (None, ABSENT, "") or is_unanswerable(value) for value in column):
        sentence = "{field} is empty everywhere, as in a test split: write a leaderboard file with anls export rrc"
        raise make_error(table.name, sentence, field=show_path(path))
    sentence = "{field} is null or missing: add a reference, or leave the question out"
    refuse_gaps(column, table, path, sentence, [ABSENT] if kind == "values" else [None, ABSENT])  # null can be a value
    if kind == "values":
        return parse_all(_parse_accepted, column, table)
    if not _are_lists_of_strings(column):
        column = [[""] if is_unanswerable(value) else value for value in column]
        column = parse_all(_read_accepted, column, table)
    if settings.references_separator:
        column = [_split_accepted(accepted, settings.references_separator) for accepted in column]
    return column


def read_columns_together(table: Table, path: Path | None) -> list[Any]:
    """Read a column, or a list of the values of several columns, some of which may be empty."""
    parts = [] if path is None else split_key(table, path)
    if len(parts) < 2:
        return read_column(table, path)
    rows = zip(*(read_column(table, part) for part in parts))
    return [_join_cells(row) or ABSENT for row in rows]


def _join_cells(row: Iterable[Any]) -> list[Any]:
    """Join the values of several columns, which may be lists or empty."""
    lists = (value if isinstance(value, list) else [value] for value in map(parse_value_or_text, row))
    return [value for value in chain.from_iterable(lists) if value not in (None, ABSENT, "") and value == value]


def _are_lists_of_strings(column: Sequence[Any]) -> bool:
    """Whether nothing needs to be done, as is usual: found without a loop over the strings."""
    return set(map(type, column)) == {list} and all(column) and set(map(type, chain.from_iterable(column))) == {str}


def _read_accepted(value: Any) -> Sequence[str]:
    value = unwrap_references(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    if any(isinstance(item, float) and item != item for item in items):
        raise ValueError(
            f"{_ACCEPTED} is NaN, a missing value: add a reference, or leave the question out; {_READ_AGAIN}"
        )
    if any(isinstance(item, dict) for item in items):
        sentence = "the reference must be a string, got {value}: score lists and objects with {use.variant:anls_star}"
        raise make_error("", sentence, value=describe(value))
    if isinstance(value, list):
        value = list(map(_write_number, value))
    return parse_references(_write_number(value), _ACCEPTED)


def _write_number(value: Any) -> Any:
    return str(value) if type(value) in (int, float) else value


_ACCEPTED = "the reference"
_READ_AGAIN = "if it was a text such as NA or None, let pandas read the file with keep_default_na=False"


def _parse_accepted(value: Any) -> tuple[Any, ...]:
    """Parse an accepted value: one value, or several as ``{"__tuple__": [...]}``."""
    parsed = read_reference(value)
    return parsed if isinstance(parsed, tuple) else (parsed,)


def _split_accepted(accepted: Sequence[str], separator: str) -> Sequence[str]:
    r"""Split references at a separator. A newline and a tab may be written as ``\n`` and ``\t``."""
    sign = {r"\n": "\n", r"\t": "\t"}.get(separator, separator)
    parts = [part.strip() for text in accepted for part in text.replace(separator, sign).split(sign)]
    return [part for part in parts if part] or accepted


def parse_all(parse: Callable[[Any], Any], values: Iterable[Any], table: Table) -> list[Any]:
    """Parse the values of a column. If a value cannot be parsed, the error names its place."""
    parsed = []
    for number, value in enumerate(values):
        try:
            parsed.append(parse(value))
        except InputError as error:
            raise InputError(error.message._replace(where=name_place(table, number))) from None
        except ValueError as error:
            raise make_error(name_place(table, number), "{problem}", problem=str(error)) from None
    return parsed


# Confidences and verdicts

_NOTHING = (None, ABSENT, "")
_VERDICTS = {"true": True, "1": True, "correct": True, "yes": True}
_VERDICTS |= {"false": False, "0": False, "incorrect": False, "no": False}


def read_confidence(value: Any, is_log: bool) -> float | None:
    """Read a confidence, which is a probability from 0 to 1 or its natural logarithm, or return None if there is none.

    Raises:
        ValueError: the value is not a probability.

    Example:
        >>> read_confidence("0.75", is_log=False), read_confidence(0, is_log=True)
        (0.75, 1.0)
    """
    if value in _NOTHING:
        return None
    try:
        number = float(str(value))  # True is no number
        number = math.exp(number) if is_log else number
    except (ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        allowed = "the logarithm of a probability, at most 0" if is_log else "a probability from 0 to 1"
        raise ValueError(f"the confidence must be {allowed}, got {describe(value)}")
    return number


def read_confidences(value: Any, is_log: bool) -> Any:
    """Read either one confidence or an object with the confidences for the values of a nested answer.

    Raises:
        ValueError: as `read_confidence`.

    Example:
        >>> read_confidences({"total": 0.75, "items": [{"name": "0.5"}]}, is_log=False)
        {'total': 0.75, 'items': [{'name': 0.5}]}
    """

    def read(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: read(item) for key, item in part.items()}
        return list(map(read, part)) if isinstance(part, list) else read_confidence(part, is_log)

    parsed = parse_value_or_text(value)
    return read(parsed) if isinstance(parsed, dict) else read_confidence(value, is_log)


def read_verdict(value: Any, what: str = "the verdict") -> bool | None:
    """Read a judge's verdict: true or false, 1 or 0, correct or incorrect, yes or no. Returns None if there is no
    verdict.

    Args:
        value: the value.
        what: its name in an error.

    Raises:
        ValueError: the value is no verdict.
    """
    if value in _NOTHING:
        return None
    text = str(read_id(value) or value).strip().lower()
    if text not in _VERDICTS:
        raise ValueError(
            f"{what} must be true or false, 1 or 0, correct or incorrect, yes or no, got {describe(value)}"
        )
    return _VERDICTS[text]


def read_assessments(table: Table, roles: Roles, role: str, is_named: bool) -> list[Any] | None:
    """Read the column of confidences or of verdicts, or return None if the table has none.

    A value that cannot be read is an error in a field that the user names. Any other field then holds something else.
    """
    path = roles.others.get(role)
    if path is None:
        return None
    is_log = str(path).rpartition(".")[2] == "logprob"
    read = read_verdict if role == "judge" else partial(read_confidences, is_log=is_log)
    try:
        return parse_all(read, read_column(table, path), table)
    except InputError:
        if is_named:
            raise
        return None


# Columns of the rule of a benchmark


def read_columns(table: Table, roles: Roles) -> Records:
    """Read those columns of a rule that a table has, as one dict for each record."""
    paths = roles.others.items()
    return [
        {name: value for name, path in paths if (value := take(record, path)) is not ABSENT} for record in table.records
    ]


def _show_accepted(value: Any) -> list[str]:
    """Show the references of a record, which only a rule understands, as strings; "" if there are none."""
    if value is ABSENT:
        return [""]
    return list(map(_show, value if isinstance(value, (list, tuple)) else [value])) or [""]


def _show(value: Any) -> str:
    is_json = isinstance(value, (list, tuple, dict))
    return json.dumps(value, ensure_ascii=False, default=str) if is_json else str(value)


def is_unanswerable(value: Any) -> bool:
    """Whether a record says that its question has no answer, either by an empty list or in the SQuAD 2.0 form.

    Example:
        >>> is_unanswerable({"text": [], "answer_start": []}), is_unanswerable([]), is_unanswerable(["", "a"])
        (True, True, False)
    """
    if isinstance(value, Mapping):
        return "answer_start" in value and value.get("text") == []
    return isinstance(value, (list, str)) and value in ([], "[]")
