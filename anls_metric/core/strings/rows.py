"""Checks columns and rows before they are scored. Errors name the row."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from anls_metric.core.checks import RowName, describe, name_row


def as_text(value: object, what: str) -> str:
    """Return the value as a plain string, or raise an error if it is not a string.

    Args:
        value: a string, or an instance of a subclass such as ``numpy.str_`` or a string enumeration.
        what: what to call the value in an error message.

    Returns:
        A plain string.

    Raises:
        ValueError: the value is not a string; the error shows the value and says what to do.

    Example:
        >>> as_text(5, "the prediction of row 7")
        Traceback (most recent call last):
        ...
        ValueError: the prediction of row 7 is 5 (int), not a string: pass a string ("5")
    """
    if isinstance(value, str):
        return str.__str__(value)  # converts numpy.str_ and enumerations to plain strings
    advice = "pass a string"
    if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value)):
        advice += ' ("" for no answer), or leave it out'
    elif isinstance(value, bytes):
        advice += " (decode the bytes first)"
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e20):
        advice += f' ("{value}")'
    elif isinstance(value, (list, tuple)):
        advice += ", not a list (decode token ids first)"
    elif isinstance(value, Mapping):
        advice += f" from this dict, which has the keys {_list_keys(value)}"
    raise ValueError(f"{what} is {describe(value)}, not a string: {advice}")


def _list_keys(value: Mapping[Any, Any]) -> str:
    return ", ".join(map(repr, islice(value, 5))) or "(none)"


def as_references(value: Any, what: str) -> Sequence[str]:
    """Return the references of one row, or raise an error if they are not strings.

    Args:
        value: one string, or one or more strings in a list, tuple, set, numpy array, etc. The strings of a set are
            sorted, because a set has no order.
        what: what to call the value in an error message.

    Returns:
        A tuple of one or more strings.

    Raises:
        ValueError: there are no references, or an item is not a string; the error shows the item and says what to do.

    Example:
        >>> as_references("Coca Cola", "references"), as_references({"b", "a"}, "references")
        (('Coca Cola',), ('a', 'b'))
    """
    if isinstance(value, str):
        return (as_text(value, what),)
    if isinstance(value, (list, tuple)) and value and are_strings(value):
        return tuple(value)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=describe)
    items = as_column(value, what, "pass a list of strings, the references")
    if not items:
        raise ValueError(f"{what} is an empty list: add a reference, or leave the question out")
    return tuple(as_text(text, f"{what}, item {item},") for item, text in enumerate(items))


# The methods that convert a library's column to a list, in order of preference.
COLUMN_METHODS = ("to_pylist", "tolist", "to_list")

# The methods that fetch the rows of a lazy table or column, in order of preference.
LAZY_METHODS = ("compute", "collect")


def has_stream(data: Any) -> bool:
    """Whether data is an Arrow stream. The class is checked because an instance may claim to have every attribute."""
    return hasattr(type(data), "__arrow_c_stream__")


def find_lazy_call(data: Any) -> str | None:
    """Return the call that fetches the rows of a lazy table or column, such as ".collect()", or None for other data."""
    method = next((method for method in LAZY_METHODS if hasattr(type(data), method)), None)
    return f".{method}()" if method and not has_stream(data) else None


def read_stream(data: Any, what: str) -> Any:
    """Read an Arrow stream as a pyarrow table. Raises ValueError if pyarrow is not installed."""
    try:
        import pyarrow
    except ImportError as error:
        raise ValueError(f"{what} is a {type(data).__name__}, which needs pyarrow: pip install pyarrow") from error
    return pyarrow.table(data)


def get_columns(table: Any, first: str, second: str) -> tuple[Any, Any]:
    """Return two columns of a table. Raises KeyError if a column is missing and ValueError if the table is lazy."""
    call = find_lazy_call(table)
    if call:
        raise ValueError(f"the batch is a lazy {type(table).__name__}: call {call} first")
    libraries = {base.__module__.partition(".")[0] for base in type(table).__mro__}
    if has_stream(table) and libraries.isdisjoint(("pandas", "polars")):
        table = read_stream(table, "the batch")  # once: two columns of a query may have their rows in different orders
    return table[first], table[second]


def as_column(column: Any, what: str, advice: str = "pass a list") -> list[Any]:
    """Convert a column of any supported type to a list.

    Args:
        column: a list, a tuple, an iterator, a numpy, pandas, polars, datasets or pyarrow column, or a table with one
            column.
        what: what to call the column in an error message.
        advice: what the error tells the caller to do if the value is not a column.

    Returns:
        A list of the items; a list is returned unchanged.

    Raises:
        ValueError: the value is not a column; the error says what to do.

    Example:
        >>> as_column(iter("ab"), "predictions")
        ['a', 'b']
    """
    if isinstance(column, list):
        return column
    kind = type(column).__name__
    call = find_lazy_call(column)
    if call:
        raise ValueError(f"{what} is a lazy {kind}: call {call} first")
    is_table = hasattr(type(column), "columns")
    if has_stream(column) and (is_table or not any(hasattr(type(column), method) for method in COLUMN_METHODS)):
        columns = read_stream(column, what).columns
        if len(columns) == 1:
            return columns[0].to_pylist()  # type: ignore[no-any-return]
        is_table = True
    if is_table:
        raise ValueError(f'{what} is a {kind}: pass one of its columns, like frame["prediction"], as a list')
    if isinstance(column, Mapping):
        raise ValueError(f"{what} is a dict with the keys {_list_keys(column)}, not a list: {advice}")
    method = next((method for method in COLUMN_METHODS if hasattr(type(column), method)), None)
    items = getattr(column, method)() if method else column
    if isinstance(items, Iterable) and not isinstance(items, (str, bytes, set, frozenset)):
        return list(items)
    raise ValueError(f"{what} is {describe(column)}: {advice}")


def check_columns(
    predictions: Any, references: Any, row_name: RowName = name_row
) -> tuple[list[str], list[Sequence[str]]]:
    """Return N predictions as strings and their references as N lists of strings. Raises a ValueError that names the
    column or row if a column or row is invalid.
    """
    return check_rows(*pair_columns(predictions, references), row_name)


def pair_columns(predictions: Any, references: Any) -> tuple[list[Any], list[Any]]:
    """Convert two columns of any supported type to lists of equal length. Raises ValueError if a column is invalid or
    the lengths differ.
    """
    predictions = as_column(predictions, "predictions", "pass a list of strings, one for each question")
    references = as_column(references, "references", "pass a list with the references of each question")
    if len(predictions) != len(references):
        raise ValueError(
            f"the lengths differ (predictions has {len(predictions):,}, references has {len(references):,}): "
            "pass one list of references for each prediction"
        )
    return predictions, references


def check_rows(
    predictions: list[Any], references: list[Any], row_name: RowName = name_row, first: int = 0
) -> tuple[list[str], list[Sequence[str]]]:
    """Check rows and return the predictions as strings and the references as lists of strings. Raises a ValueError that
    names the row, counted from ``first``, if a row is invalid.
    """
    # Whole columns are checked first, because that is several times as fast as checking row by row.
    if set(map(type, predictions)) - {str}:
        predictions = [
            as_text(text, f"the prediction of {row_name(row)}") for row, text in enumerate(predictions, first)
        ]
    kinds = set(map(type, references))
    if kinds == {str}:
        text = references[0]
        if first == 0 and _looks_like_list(text):  # as in a table that pandas wrote, or a column of Dask
            sentence = (
                f"the references of {row_name(0)} are one string that looks like a list, {describe(text)}: "
                "{}parse it, for example with ast.literal_eval"
            )
            if len(references) > 1 and all(map(_looks_like_list, references)):
                raise ValueError(sentence.format(""))
            warnings.warn(sentence.format("if it is one, "), stacklevel=3)
        references = list(zip(references))
    elif not (kinds <= {list, tuple} and all(references) and are_strings(map("".join, references))):
        references = [
            as_references(texts, f"the references of {row_name(row)}") for row, texts in enumerate(references, first)
        ]
    return predictions, references


def _looks_like_list(text: str) -> bool:
    return text[:2] in ("['", '["') and text[-1] == "]"


def are_strings(values: Iterable[Any]) -> bool:
    """Whether all values are strings. Joining the values is the fastest way to find out."""
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def check_pairs(rows: Iterable[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the pairs of a stream, checking each pair when it is read. Raises a ValueError that names the row if a pair
    is invalid.
    """
    for row, pair in enumerate(rows):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            advice = "pass pairs, each with a prediction and its references, like zip(predictions, references)"
            raise ValueError(f"{name_row(row)} is {describe(pair)}: {advice}")
        yield (
            as_text(pair[0], f"the prediction of {name_row(row)}"),
            as_references(pair[1], f"the references of {name_row(row)}"),
        )
