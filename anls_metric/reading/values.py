"""Reads columns of ids, question texts, confidences and verdicts. The module `answer_forms` reads answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

from anls_metric.core.checks import describe
from anls_metric.core.json_strings import parse_value_or_text
from anls_metric.messages import InputError, make_error
from anls_metric.reading.layouts import remove_prompt
from anls_metric.reading.records import ABSENT, Path, Records, take
from anls_metric.reading.responses import text_of_parts
from anls_metric.reading.table import Roles, Table, name_place, read_column, show_path, split_key


def refuse_gaps(
    column: Sequence[Any], table: Table, path: Path | None, sentence: str, gaps: Sequence[Any] = (None, ABSENT)
) -> None:
    """Raise an error with the given sentence, which may mention the field, for the first record without a value."""
    places = [column.index(gap) for gap in gaps if gap in column]
    if places:
        raise make_error(name_place(table, min(places)), sentence, field=show_path(path))


# Ids, texts of questions, and several columns


def read_ids(table: Table, path: Path | None) -> list[str | None]:
    """Read ids as strings, so that 7 in one file equals "7" in another, with None for a record without an id.

    Since pandas writes whole numbers as floats if a column has had a gap, 7.0 is read as "7". Several fields, separated
    by commas, together form an id.
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
    """Format ids for a message, with parentheses around ids that consist of several fields.

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
    """Read the text of each question without the prompt that an evaluation program wrote around the question, with None
    for a question without text.
    """
    if path is None:
        return [None] * len(table.records)
    texts = read_column(table, path)
    if set(map(type, texts)) != {str}:
        texts = [text if isinstance(text, str) else None for text in map(text_of_parts, texts)]
    return [text and remove_prompt(text) for text in texts] if table.layout else texts


def read_columns_together(table: Table, path: Path | None) -> list[Any]:
    """Read a column or, if the path names several columns, combine their values into one list for each record."""
    parts = [] if path is None else split_key(table, path)
    if len(parts) < 2:
        return read_column(table, path)
    rows = zip(*(read_column(table, part) for part in parts))
    return [_join_cells(row) or ABSENT for row in rows]


def _join_cells(row: Iterable[Any]) -> list[Any]:
    """Join the values of several columns, which may be lists, into one list without empty values."""
    lists = (value if isinstance(value, list) else [value] for value in map(parse_value_or_text, row))
    return [value for value in chain.from_iterable(lists) if value not in (None, ABSENT, "") and value == value]


def parse_all(parse: Callable[[Any], Any], values: Iterable[Any], table: Table) -> list[Any]:
    """Parse the values of a column. Raises InputError with the location of the record if a value cannot be parsed."""
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
    """Read a confidence, which is a probability from 0 to 1 or the natural logarithm of a probability, or return None
    for an empty value.

    Raises:
        ValueError: the value is not a probability.

    Example:
        >>> read_confidence("0.75", is_log=False), read_confidence(0, is_log=True)
        (0.75, 1.0)
    """
    if value in _NOTHING:
        return None
    try:
        number = float(str(value))  # True is not a number here
        number = math.exp(number) if is_log else number
    except (ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        allowed = "the logarithm of a probability, at most 0" if is_log else "a probability from 0 to 1"
        raise ValueError(f"the confidence must be {allowed}, got {describe(value)}")
    return number


def read_confidences(value: Any, is_log: bool) -> Any:
    """Read a single confidence, or an object that contains a confidence for each value of a nested answer.

    Raises:
        ValueError: a value is not a probability.

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
    """Read a judge's verdict, which is true or false, 1 or 0, correct or incorrect, or yes or no, or return None for an
    empty value.

    Args:
        value: the value of the field.
        what: the name that an error uses for the value.

    Raises:
        ValueError: the value is not a verdict.
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
    """Read the column of confidences or verdicts, or return None if the table has none.

    If a value cannot be read, a field that the user names causes an error, but any other field is ignored because it
    must contain something else.
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


# Columns for a benchmark's rule


def read_columns(table: Table, roles: Roles) -> Records:
    """Read the columns of a benchmark's rule from a table as one dict per record, without absent values."""
    paths = roles.others.items()
    return [
        {name: value for name, path in paths if (value := take(record, path)) is not ABSENT} for record in table.records
    ]
