"""Checks columns and rows before they are scored; its errors name the row."""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, cycle, islice, repeat
from operator import length_hint
from typing import Any, TypeGuard

__all__ = ["as_column", "as_references", "as_text", "describe"]


def describe(value: object) -> str:
    """Describe a value for an error message: on one line, not too long, with its type.

    Args:
        value: any object, also an object whose ``repr`` fails.

    Returns:
        At most 60 characters of its ``repr`` on one line, and the name of its type.

    Raises:
        Nothing.

    Example:
        >>> describe(3.5), describe("a" * 100), describe(None)
        ('3.5 (float)', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa... (str)", 'None')
    """
    try:
        # The beginning of a long value is enough, and the repr of a very long value takes too long.
        some = value[:1000] if isinstance(value, (str, bytes, list, tuple)) else value
        text = " ".join(repr(some).split())
    except Exception:  # the value is nested too deep, has too many digits, or its __repr__ fails
        text = "..."
    if len(text) > 60:
        text = text[:57] + "..."
    return text if value is None else f"{text} ({type(value).__name__})"


# The keys under which a dict holds its text. Other programs pass such dicts instead of texts, for example SQuAD.
_TEXT_KEYS = ("text", "prediction_text", "generated_text", "prediction", "answers", "answer", "references")


def _find_text_key(value: object) -> str:
    """Name the item of a dict that holds its text or texts; "" if `value` is not a dict or has no such key."""
    if not isinstance(value, Mapping):
        return ""
    key = next((key for key in _TEXT_KEYS if key in value), "")
    if isinstance(inner := value.get(key), Mapping) and "text" in inner:
        return f'the "text" of its "{key}"'
    return key and f'its "{key}"'


_NO_ANSWER = ' ("" where the model gave no answer), or leave the row out'
_NO_REFERENCE = ", or leave it out"
_NO_LIST = "pass one string, and no list; perhaps the predictions and the accepted answers are swapped"
_ONE_LIST = "pass one list of strings, without a list inside"


def as_text(value: object, what: str, nothing: str = _NO_ANSWER, no_list: str = _NO_LIST) -> str:
    """Return the value as a plain string, or raise an error if it is not a string.

    Args:
        value: a string, or an instance of a subclass such as ``numpy.str_`` or a string enumeration.
        what: what to call the value in an error.
        nothing: what the error adds where the value is None or NaN.
        no_list: what the error says where the value is a list.

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
        advice += nothing
    elif isinstance(value, bytes):
        advice += " (decode the bytes first)"
    elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1e20):
        advice += f' ("{value}")'
    elif key := _find_text_key(value):
        advice = f"pass {key}"
    elif isinstance(value, (list, tuple)):
        is_tokens = bool(value) and not isinstance(value[0], (str, bytes, list, tuple))
        advice = "decode the tokens to a string first" if is_tokens else no_list
    raise ValueError(f"{what} is {describe(value)}, not a string: {advice}")


def as_references(value: Any, what: str) -> Sequence[str]:
    """Return the accepted answers of one row, or raise an error if they are not strings.

    Args:
        value: one string, or one or more strings in a list, tuple, set, numpy array, ... The strings of a set come
            out sorted, because a set has no order.
        what: what to call the value in an error.

    Returns:
        A tuple of one or more strings.

    Raises:
        ValueError: there are no answers, or an item is not a string; the error shows the item and says what to do.

    Example:
        >>> as_references("Coca Cola", "references"), as_references({"b", "a"}, "references")
        (('Coca Cola',), ('a', 'b'))
    """
    if isinstance(value, str):
        return (as_text(value, what),)
    if isinstance(value, (set, frozenset)):
        texts = sorted(as_text(text, f"{what}, an item of it,", _NO_REFERENCE) for text in sorted(value, key=describe))
    else:
        items = as_column(value, what, "pass a list of strings, the accepted answers")
        texts = [as_text(text, f"{what}, item {item},", _NO_REFERENCE, _ONE_LIST) for item, text in enumerate(items)]
    if not texts:
        raise ValueError(
            f"{what} is an empty {type(value).__name__}: add at least one accepted answer, or leave this question out"
        )
    return tuple(texts)


# A method of the lazy tables of a library -> how to fetch their data. The first method that a table has counts. Methods
# tell the library without importing it.
_LAZY: Mapping[str, str] = {
    "toPandas": "fetch it with .toPandas() first, or score it where it is: mapInArrow with anls_batch",  # Spark
    "fetchdf": "fetch it with .df() first",  # DuckDB
    "collect": "run it with .collect() first",  # polars
    "compute": "run it with .compute() first",  # Dask
}


def refuse_lazy(value: object, what: str) -> None:
    for ability, remedy in _LAZY.items():
        if hasattr(type(value), ability):
            raise ValueError(f"{what} is a {type(value).__name__}, a query that was not run yet: {remedy}")


# The methods by which the column of a library becomes a list, the first one first.
COLUMN_METHODS = ("to_pylist", "tolist", "to_list")


def as_column(column: Any, what: str, advice: str = "pass a list", most: int | None = None) -> list[Any]:
    """Convert a column of any kind to a list.

    Args:
        column: a list, a tuple, an iterator, or a column of numpy, pandas, polars, datasets or pyarrow.
        what: what to call the column in an error.
        advice: what the error tells the caller to do if this is not a column.
        most: how many items are expected. At most one item more is read from an iterator.

    Returns:
        A list of the items; a list is returned unchanged.

    Raises:
        ValueError: this is not a column, is a query that was not run yet, or never ends; the error says what to do.

    Example:
        >>> as_column(iter("ab"), "predictions")
        ['a', 'b']
    """
    if isinstance(column, list):
        return column
    _refuse_known(column, what, advice)
    for to_list in COLUMN_METHODS:
        if hasattr(column, to_list):
            column = getattr(column, to_list)()
            break
    if isinstance(column, list):
        return column
    if isinstance(column, (str, bytes, Mapping, set, frozenset)) or not _can_be_iterated(column):
        raise ValueError(f"{what} is {describe(column)}: {advice}")
    return list(column if most is None or not isinstance(column, Iterator) else islice(column, most + 1))


def _refuse_known(column: Any, what: str, advice: str) -> None:
    """Refuse common mistakes for which we know the right column. ValueError: it says what to pass instead."""
    refuse_lazy(column, what)
    if hasattr(type(column), "columns"):
        raise ValueError(f'{what} is a {type(column).__name__}: pass one of its columns, like frame["prediction"]')
    if key := _find_text_key(column):
        keys = ", ".join(map(str, islice(column, 5)))
        raise ValueError(f"{what} is a dict with the keys {keys}: pass {key}")
    if isinstance(column, (count, cycle)) or (isinstance(column, repeat) and length_hint(column, -1) < 0):
        raise ValueError(f"{what} never ends ({type(column).__name__}): {advice}")


def _can_be_iterated(column: Any) -> bool:
    try:
        iter(column)
    except TypeError:  # columns of Spark have an __iter__ that fails
        return False
    return True


def name_row(row: object) -> str:
    """Name a row in an error."""
    return f"row {row} (counted from 0)"


def name_rows_from(start: int, row_name: Callable[[int], str]) -> Callable[[int], str]:
    """Make a function that names the rows of a chunk in an error; row `start` of the column is row 0 of the chunk."""
    return lambda row: row_name(start + row)


def pair_columns(predictions: Any, references: Any) -> tuple[list[Any], list[Any]]:
    """Convert both columns to lists of the same length. ValueError: that is impossible."""
    most = len(references) if isinstance(references, (list, tuple)) else None
    predictions = as_column(predictions, "predictions", "pass a list of strings, one for each question", most)
    advice = "pass a list with the accepted answers of each question"
    references = as_column(references, "references", advice, len(predictions))
    if len(predictions) != len(references):
        raise ValueError(
            f"the lengths differ (predictions has {len(predictions):,}, references has {len(references):,}): "
            "pass one list of accepted answers for each prediction"
        )
    return predictions, references


def check_rows(
    predictions: list[Any], references: list[Any], row_name: Callable[[int], str]
) -> tuple[list[str], list[Sequence[str]]]:
    """Check N predictions and their references, and return them as strings. ValueError: a bad row, which it names."""
    if set(map(type, predictions)) - {str}:
        predictions = [as_text(text, f"the prediction of {row_name(row)}") for row, text in enumerate(predictions)]
    kinds = set(map(type, references))
    if kinds == {str}:
        _warn_of_printed_list(references[0], row_name)
        references = list(zip(references))
    elif not (kinds <= {list, tuple} and all(references) and _are_strings(references)):
        references = [
            as_references(accepted, f"the references of {row_name(row)}") for row, accepted in enumerate(references)
        ]
    return predictions, references


def _warn_of_printed_list(text: str, row_name: Callable[[int], str]) -> None:
    """Warn if the accepted answers of the first row are a list that was printed, as in a table that pandas wrote."""
    if text.startswith(("['", '["')) and text.endswith(("']", '"]')):
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        problem = f"the references of {row_name(0)} are one text that looks like a list ({shown})"
        warnings.warn(f"{problem}: if it is one, parse it, for example with ast.literal_eval", stacklevel=4)


def check_columns(
    predictions: Any, references: Any, row_name: Callable[[int], str] = name_row
) -> tuple[list[str], list[Sequence[str]]]:
    return check_rows(*pair_columns(predictions, references), row_name)


def is_list_of_texts(references: Any) -> TypeGuard[Sequence[str]]:
    """Whether the references of a row are a list or tuple of strings, so that they need no conversion."""
    kind = type(references)
    if (kind is list or kind is tuple) and references:
        try:
            "".join(references)  # the fastest check that every item is a string
        except TypeError:
            return False
        return True
    return False


def _are_strings(references: list[Sequence[str]]) -> bool:
    try:
        deque(map("".join, references), maxlen=0)
    except TypeError:
        return False
    return True


PASS_PAIRS = "pass pairs of a prediction and its references, like zip(predictions, references)"


def check_pairs(rows: Iterable[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the pairs of a stream, each checked when it is read. ValueError: a bad row, which it names."""
    join = "".join
    for row, pair in enumerate(rows):
        if type(pair) is tuple and len(pair) == 2:
            prediction, references = pair
            kind = type(references)
            # This is `is_list_of_texts`, inlined because a call would cost a fifth of the time.
            if type(prediction) is str and (kind is list or kind is tuple) and references:
                try:
                    join(references)
                except TypeError:
                    pass  # _check_pair names the bad item
                else:
                    yield pair
                    continue
        yield _check_pair(pair, name_row(row))


def _check_pair(pair: Any, name: str) -> tuple[str, Sequence[str]]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name} is {describe(pair)}: {PASS_PAIRS}")
    return as_text(pair[0], f"the prediction of {name}"), as_references(pair[1], f"the references of {name}")


def refuse_no_rows(rows: Sequence[object] | int) -> None:
    if not rows:
        raise ValueError("there are no rows to score: pass at least one prediction and its references")


def check_numbers(numbers: Sequence[float], what: str = "score") -> None:
    """Refuse values that are not finite numbers. ValueError: it names the first one."""
    if not isinstance(numbers, Iterable) or isinstance(numbers, str):
        raise ValueError(f"{what}s is {describe(numbers)}: pass numbers in a list")
    try:
        if math.isfinite(math.fsum(numbers)):
            return
    except (TypeError, ValueError, OverflowError):
        pass
    for row, number in enumerate(numbers):
        if not _is_finite(number):
            raise ValueError(f"the {what} of {name_row(row)} is {describe(number)}: pass a finite number")


def check_shares(numbers: Sequence[float], what: str = "score") -> None:
    """Refuse values that are not numbers from 0 to 1. ValueError: it names the first one."""
    check_numbers(numbers, what)
    for row, number in enumerate(numbers):
        if not 0 <= number <= 1:
            raise ValueError(f"the {what} of {name_row(row)} is {describe(number)}: pass a number from 0 to 1")


def _is_finite(number: object) -> bool:
    try:
        return math.isfinite(number)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
