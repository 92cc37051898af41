"""Converts references from files to the shape that a benchmark's program expects, which is a string or a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anls_metric.rules.judgment import ColumnError, Row, refuse

Fit = Callable[[Any, Row, str], Any]
"""A function that converts a value in a column of references to a shape, given the row and the name of the column."""


def fit_list(value: Any, row: Row, column: str) -> Any:
    """Turn a single reference into a list. Raises ColumnError if a reference is missing.

    Example:
        >>> fit_list("Coca Cola", {}, "gold"), fit_list(["Coca Cola"], {}, "gold")
        (['Coca Cola'], ['Coca Cola'])
    """
    return [_check(each, column) for each in (value if isinstance(value, (list, tuple)) else [value])]


def fit_text(value: Any, row: Row, column: str) -> Any:
    """Take the reference out of a list of one item, unless the answer format is a list.

    Raises:
        ColumnError: a reference is missing, or there are several, although the program compares only one.

    Example:
        >>> fit_text(["12"], {"answer_format": "Int"}, "gold"), fit_text(["12"], {"answer_format": "List"}, "gold")
        ('12', ['12'])
    """
    if not isinstance(value, (list, tuple)):
        return _check(value, column)
    values = [_check(each, column) for each in value]
    if row.get("answer_format") == "List":
        return values
    if len(values) != 1:
        raise ColumnError(column, f"is a list of {len(values)} answers, but a format other than List takes exactly one")
    return values[0]


def _check(value: Any, column: str) -> Any:
    """Return a value, or raise ColumnError if the value is None or NaN."""
    if value is None or (isinstance(value, float) and value != value):
        raise refuse(column, value, "a reference")
    return value
