"""ANLS (Average Normalized Levenshtein Similarity) for answers to questions about documents, in one file.

BUILT from the package anls_metric, not to be edited: change the module and run ``python tools/one_file.py``.

For each question, ``1 - edit distance / length`` against the closest accepted answer, 0 where that stays under a
threshold (0.5); then the mean over the questions. ``evaluate.load`` takes this file, it can be imported (``import
anls``), and it can be copied into a project: it needs rapidfuzz, and the metric needs evaluate and datasets.

Sources: Biten et al., "Scene Text Visual Question Answering", ICCV 2019, https://arxiv.org/abs/1905.13648; Mathew et
al., "DocVQA", WACV 2021, https://arxiv.org/abs/2007.00398.
"""

from __future__ import annotations

import json
import math
import operator
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import chain, compress, count, cycle, islice, repeat, starmap
from operator import itemgetter, length_hint
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, Protocol, TypeGuard, TypeVar

from rapidfuzz.distance import Levenshtein

__all__ = [
    "OF_VALUES",
    "VARIANTS",
    "ComputeMetrics",
    "Edit",
    "Explanation",
    "Match",
    "Variant",
    "anls_batch",
    "anls_score",
    "anls_scores",
    "as_column",
    "as_references",
    "as_text",
    "build_compute_metrics",
    "describe",
    "explain",
    "get_variant",
    "iter_anls_scores",
    "load",
    "mean",
    "normalized_levenshtein_similarity",
    "normalizer",
    "reason",
    "scores_and_similarities",
    "signature",
]


# --------------------------------------------------------------------------------------------------
# anls_metric.core.version
#
# The version of the package, which every signature names.
# --------------------------------------------------------------------------------------------------

__version__ = "2.0.0"


# --------------------------------------------------------------------------------------------------
# anls_metric.core.choices
#
# Values that users choose: describes an unknown name, suggests a similar one, and checks numbers.
# --------------------------------------------------------------------------------------------------


def find_similar_name(name: str, choices: Iterable[str]) -> str:
    """Find the choice that a user perhaps meant.

    Args:
        name: what the user typed.
        choices: the names that exist.

    Returns:
        The most similar choice, or the first choice that contains the name; "" where no choice is similar.

    Example:
        >>> find_similar_name("Standrad", ["standard", "rrc"]), find_similar_name("squad", ["standard", "rrc"])
        ('standard', '')
    """
    from difflib import get_close_matches

    folded = {choice.lower().replace("-", "_"): choice for choice in choices}
    typed = name[:100].lower().replace("-", "_")
    similar = get_close_matches(typed, folded, 1, 0.7)
    similar += [choice for choice in folded if len(typed) > 2 and typed in choice]
    return folded[similar[0]] if similar else ""


def describe_unknown(
    kind: str,
    name: object,
    choices: Iterable[str],
    others: Iterable[str] = (),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Describe a name that does not exist, for an error message.

    Args:
        kind: what the name should be, such as "variant".
        name: what the user gave. It should be a string.
        choices: the names that exist, which the message lists.
        others: more names that the message may suggest but does not list, such as aliases.
        meanings: names from elsewhere, in lower case, with the names to suggest for them; "" for none.

    Returns:
        The message, with a similar name if there is one.

    Example:
        >>> describe_unknown("layout", "sqad", ["rrc", "squad"])
        "unknown layout 'sqad'; did you mean squad? Choose from rrc, squad"
        >>> describe_unknown("layout", "x", ["rrc", "squad"])
        "unknown layout 'x'; choose from rrc, squad"
        >>> describe_unknown("layout", "website", ["rrc", "squad"], meanings={"website": "rrc"})
        "unknown layout 'website'; did you mean rrc? Choose from rrc, squad"
    """
    names = list(choices)
    candidates = [each for each in (*names, *others) if each != name]
    similar = ""
    if isinstance(name, str):
        meaning = meanings.get(name.lower())
        similar = find_similar_name(name, candidates) if meaning is None else meaning
    advice = f"did you mean {similar}? Choose" if similar else "choose"
    text = repr(name)
    return f"unknown {kind} {text if len(text) <= 40 else text[:37] + '...'}; {advice} from {', '.join(names)}"


def check_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a value as a whole number. ValueError: it is none, or not from 0 to ``most``.

    Example:
        >>> check_count("worst", -1)
        Traceback (most recent call last):
        ValueError: worst is -1 (int): it must be a whole number from 0
    """
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < 0 or (most is not None and count > most):
        limit = "" if most is None else f" to {most:,}"
        raise ValueError(f"{name} is {describe(value)}: it must be a whole number from 0{limit}")
    return count


def check_number(name: str, value: Any, most: float = 1) -> float:
    """Return a value as a float. ValueError: it is not a number from 0 to ``most``.

    Example:
        >>> check_number("threshold", 0.5)
        0.5
    """
    if not is_number(value) or not 0 <= value <= most:
        raise ValueError(f"{name} is {describe(value)}: it must be a number from 0 to {most:,}")
    return float(value) + 0.0  # 0.0 for -0.0


def is_number(value: object) -> bool:
    """Whether a value is a number, of Python or of numpy. True and False are none."""
    if type(value) in (float, int):
        return True
    from numbers import Real  # includes the numbers of numpy

    return isinstance(value, Real) and not isinstance(value, bool)


# --------------------------------------------------------------------------------------------------
# anls_metric.core.rows
#
# Checks columns and rows before they are scored; its errors name the row.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# anls_metric.core.kernel
#
# The one loop that scores texts, and the mean of scores.
#
# `Kernel` holds what the loop needs from a variant; `iter_scores` is the loop. `explanation` computes the same scores
# in plain steps.
# --------------------------------------------------------------------------------------------------

Whitespace = Literal["squeeze", "strip", "keep"]
Length = Literal["normalized", "normalized upper", "stripped", "stripped upper", "raw", "raw upper"]
Kept = Literal["similarity >= threshold", "similarity > threshold", "distance / length < threshold"]

# For a prediction longer than this many characters, avoiding the edit distance is faster than computing it.
LONG = 64


def _squeeze(text: str) -> str:
    return " ".join(text.split()) if len(text) <= LONG else _squeeze_long(text)


def _squeeze_long(text: str) -> str:
    # The blank is the only printable white space. Looking for something to squeeze is faster than squeezing.
    tidy = "  " not in text and text[0] != " " != text[-1] and text.isprintable()
    return text if tidy else " ".join(text.split())


def lower_and_squeeze(text: str) -> str:
    return " ".join(text.lower().split()) if len(text) <= LONG else _squeeze_long(text.lower())


def _lower_and_strip(text: str) -> str:
    return text.lower().strip()


# (ignore_case, whitespace) -> the function that normalizes a text before the comparison.
NORMALIZERS: Mapping[tuple[bool, Whitespace], Callable[[str], str]] = {
    (True, "squeeze"): lower_and_squeeze,
    (True, "strip"): _lower_and_strip,
    (True, "keep"): str.lower,
    (False, "squeeze"): _squeeze,
    (False, "strip"): str.strip,
    (False, "keep"): str.__str__,
}


# Name of a length -> the length, computed from the raw and the normalized text. Upper-casing makes a few texts longer.
LengthOf = Callable[[str, str], int]
LENGTHS: Mapping[Length, LengthOf] = {
    "normalized": lambda text, normalized: len(normalized),
    "normalized upper": lambda text, normalized: len(normalized.upper()),
    "stripped": lambda text, normalized: len(text.strip()),
    "stripped upper": lambda text, normalized: len(text.strip().upper()),
    "raw": lambda text, normalized: len(text),
    "raw upper": lambda text, normalized: len(text.upper()),
}

# The rule that keeps a score -> a function of the threshold: the least similarity and the greatest distance / length
# that keep a score.
LIMITS: Mapping[Kept, Callable[[float], tuple[float, float]]] = {
    "similarity >= threshold": lambda threshold: (threshold, math.inf),
    "similarity > threshold": lambda threshold: (math.nextafter(threshold, math.inf), math.inf),
    "distance / length < threshold": lambda threshold: (0.0, math.nextafter(threshold, -math.inf)),
}


class Kernel(NamedTuple):
    """What the loop needs from a variant."""

    normalize: Callable[[str], str]
    prediction_length: LengthOf
    reference_length: LengthOf
    plain: bool  # whether texts are lower-cased and squeezed, and their lengths are measured afterwards
    low: float  # a score is kept at this similarity or above ...
    high: float  # ... and at this distance / length or below
    limit: float  # no distance / length above it is kept, even after rounding
    bounded: bool  # whether the beginning of a prediction can show that the prediction is too long to be kept
    equal: float  # the score of equal texts
    equal_empty: float  # the score of equal texts that are empty
    no_answers: frozenset[str]  # normalized predictions that score 0
    all_or_nothing: bool  # whether every score above 0 becomes 1
    raw_match: bool  # whether a raw prediction that is among the raw references scores `equal`


# How many rows are checked and then scored at a time. So few rows stay in the processor's cache between the two steps.
_CHUNK = 1024


def score_columns(
    predictions: Any, references: Any, kernel: Kernel, row_name: Callable[[int], str] = name_row
) -> list[float]:
    """Score each row of two columns of any kind. ValueError: a row cannot be scored; `row_name` names it."""
    predictions, references = pair_columns(predictions, references)
    scores: list[float] = []
    for start in range(0, len(predictions), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        checked = check_rows(predictions[chunk], references[chunk], name_rows_from(start, row_name))
        scores += score_rows(zip(*checked), kernel)
    return scores


def score_rows(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> list[float]:
    """Score each row."""
    return list(iter_scores(rows, kernel))


def iter_scores(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """Score each row, and yield its score before reading the next row."""
    scores = _iter_kept(rows, kernel)
    return map(raise_to_one, scores) if kernel.all_or_nothing else scores


def raise_to_one(score: float) -> float:
    return 1.0 if score else 0.0


def _iter_kept(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """Score each row, without raising scores above 0 to 1.

    This is the only loop of the project that computes ANLS; `explain` computes the same score in plain steps.
    """
    distance, far, long = Levenshtein.distance, math.inf, LONG
    plain, low, high, equal, raw_match = kernel.plain, kernel.low, kernel.high, kernel.equal, kernel.raw_match
    normalize, no_answers, bounded = kernel.normalize, kernel.no_answers, kernel.bounded
    prediction_length, reference_length = kernel.prediction_length, kernel.reference_length
    for prediction, references in rows:
        if raw_match and prediction in references:
            yield equal
            continue
        if len(prediction) > long:
            hopeless = bounded and _is_too_long(prediction, references, kernel)
            yield 0.0 if hopeless else _score_long(prediction, references, kernel)
            continue
        if plain:  # the functions of a plain kernel, inlined: two calls a text would cost a fifth of the loop
            answer = " ".join(prediction.lower().split())
            answer_length = len(answer)
        else:
            answer = normalize(prediction)
            answer_length = prediction_length(prediction, answer)
            if answer in no_answers:
                yield 0.0
                continue
        least = far
        for reference in references:
            if plain:
                accepted = " ".join(reference.lower().split())
                length = len(accepted)
            else:
                accepted = normalize(reference)
                length = reference_length(reference, accepted)
            if accepted == answer:
                yield equal if answer else kernel.equal_empty
                break
            ratio = distance(answer, accepted) / (length if length > answer_length else answer_length)
            if ratio < least:
                least = ratio
        else:
            similarity = 1 - least
            yield similarity if similarity >= low and least <= high else 0.0


def _score_long(prediction: str, references: Sequence[str], kernel: Kernel) -> float:
    """Score a long prediction. A distance that cannot change the score is not computed to the end."""
    answer = kernel.normalize(prediction)
    if answer in kernel.no_answers:
        return 0.0
    answer_length = kernel.prediction_length(prediction, answer)
    least = math.inf
    for reference in references:
        accepted = kernel.normalize(reference)
        if accepted == answer:
            return kernel.equal if answer else kernel.equal_empty
        length = max(kernel.reference_length(reference, accepted), answer_length)
        # With more edits than this, the score is 0 or another reference is closer.
        most = int(min(least, kernel.limit) * length) + 1
        edits = _distance(answer, accepted, most)
        if edits <= most:
            least = min(least, edits / length)
    similarity = 1 - least
    return similarity if similarity >= kernel.low and least <= kernel.high else 0.0


def _is_too_long(prediction: str, references: Sequence[str], kernel: Kernel) -> bool:
    """Whether the beginning of a prediction shows that the prediction scores 0 with any continuation.

    Let p be the length of the normalized prediction, and r the greatest length of a reference. At least p - r
    characters must be deleted. If p > r, the distance is divided by p, so distance / length is at least 1 - r / p. This
    exceeds the limit, above which no score is kept, as soon as p > r / (1 - limit).

    p is at least the length of the normalized beginning: case changes character by character, and what normalizing
    squeezes, strips or cuts at the end of the beginning can only become part of the text when more text follows.
    """
    longest = 0
    for reference in references:
        # Changing the case turns a character into at most three, an ASCII character into one. The other steps of
        # normalizing only remove characters.
        length = len(reference) if reference.isascii() else 3 * len(reference)
        if length > longest:
            longest = length
    enough = int(longest / (1 - kernel.limit)) + 2
    # A quarter more characters, because normalizing removes some of the white space among them.
    beginning = enough + enough // 4 + 1
    return len(prediction) > beginning and len(kernel.normalize(prediction[:beginning])) > enough


def _distance(answer: str, accepted: str, most: int) -> int:
    """Compute the edit distance of long texts; if it is above `most`, return any number above `most`."""
    if most > 400:
        # rapidfuzz searches a band as wide as score_cutoff, so a lower cutoff is faster. We guess the distance from the
        # first 128 characters, which fill two machine words of rapidfuzz and cost little: the guess is their distance
        # for each 100 characters, plus 16, so that it is rather too high. A guess that is too low costs a second
        # search. Below 800 characters a guess does not pay (figures: benchmarks/README.md).
        guess = Levenshtein.distance(answer[:128], accepted[:128]) * max(len(answer), len(accepted)) // 100 + 16
        if guess < most:
            edits = Levenshtein.distance(answer, accepted, score_cutoff=guess)
            if edits <= guess:
                return edits
    return Levenshtein.distance(answer, accepted, score_cutoff=most)


def keep_similarity(answer: str, accepted: str, ratio: float, kernel: Kernel) -> float:
    """Turn `ratio`, the distance / length of an answer from the closest accepted answer, into a score."""
    if answer in kernel.no_answers:
        return 0.0
    if not answer and not accepted:
        return kernel.equal_empty
    similarity = 1 - ratio
    score = similarity if similarity >= kernel.low and ratio <= kernel.high else 0.0
    return raise_to_one(score) if kernel.all_or_nothing else score


def mean(scores: Iterable[float]) -> float:
    """Compute the mean of scores. It is rounded once, so any order of the scores gives the same bits.

    Args:
        scores: one or more numbers, in a list or any other iterable.

    Returns:
        The mean, a float. The mean of the scores of a set is the ANLS of the set.

    Raises:
        ValueError: there are no scores, or ``scores`` is not an iterable of finite numbers.

    Example:
        >>> mean(anls_scores(["CocaCola", "12/15/89"], ["Coca Cola", "12/15/88"]))
        0.8819444444444444
    """
    if isinstance(scores, Sequence) and not isinstance(scores, str):
        refuse_no_rows(scores)
        check_numbers(scores)
        return math.fsum(scores) / len(scores)
    if not isinstance(scores, Iterable) or isinstance(scores, str):
        raise ValueError(f"scores is {describe(scores)}: pass one number or more, in a list or as they come")
    places = count()
    try:
        total = math.fsum(map(itemgetter(0), zip(scores, places)))
    except TypeError:
        raise ValueError(f"the score of {name_row(next(places) - 1)} is not a number") from None
    refuse_no_rows(number := next(places))
    return total / number


# --------------------------------------------------------------------------------------------------
# anls_metric.core.explanation
#
# Explains a score: the distance to each accepted answer, the edits, and a sentence.
# --------------------------------------------------------------------------------------------------

Reason = Literal["equal", "close enough", "under the threshold", "nothing in common", "empty"]


class Edit(NamedTuple):
    """One step from the normalized prediction to the normalized reference.

    Attributes:
        operation: "equal", "replace", "delete" (from the prediction) or "insert" (into the prediction).
        prediction: the characters of the prediction; "" for "insert".
        reference: the characters of the reference; "" for "delete".
    """

    operation: str
    prediction: str
    reference: str


@dataclass(frozen=True)
class Match:
    """How a prediction compares with one accepted answer.

    Attributes:
        reference: the accepted answer, as given.
        normalized_prediction: the text that is compared for the prediction.
        normalized_reference: the text that is compared for the accepted answer.
        distance: the Levenshtein distance between the normalized texts.
        length: the length that the distance is divided by.
    """

    reference: str
    normalized_prediction: str
    normalized_reference: str
    distance: int
    length: int

    @property
    def ratio(self) -> float:
        """The normalized Levenshtein distance: distance / length, 0 for two empty texts."""
        return self.distance / self.length if self.length else 0.0

    @property
    def similarity(self) -> float:
        """The normalized Levenshtein similarity, 1 - distance / length, before any threshold."""
        return 1 - self.ratio

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the normalized prediction to the normalized reference.

        The joined ``prediction`` of all steps is the normalized prediction; the same holds for ``reference``.
        """
        answer, accepted = self.normalized_prediction, self.normalized_reference
        return tuple(
            Edit(step.tag, answer[step.src_start : step.src_end], accepted[step.dest_start : step.dest_end])
            for step in Levenshtein.opcodes(answer, accepted)
        )


@dataclass(frozen=True)
class Explanation:
    """Why an answer has its score; as a string, one plain sentence.

    Attributes:
        prediction: the answer, as given.
        normalized_prediction: the text that is compared for the answer.
        matches: how the answer compares with each accepted answer, in the order of the accepted answers.
        winner: the index in ``matches`` of the closest accepted answer.
        score: the score, from 0 to 1.
        reason: "equal", "close enough", "under the threshold", "empty", or, where there is no threshold,
            "nothing in common".
        variant: the variant that gave the score, with the threshold and case of the call.
    """

    prediction: str
    normalized_prediction: str
    matches: tuple[Match, ...]
    winner: int
    score: float
    reason: Reason
    variant: Variant

    @property
    def best(self) -> Match:
        """The match with the closest accepted answer."""
        return self.matches[self.winner]

    @property
    def closest(self) -> str:
        """The closest accepted answer, as given."""
        return self.best.reference

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the normalized prediction to the closest accepted answer, normalized."""
        return self.best.edits

    @property
    def signature(self) -> str:
        """The signature of the score. Report it with the score."""
        return self.variant.signature()

    def __str__(self) -> str:
        return self._put_into_words().note

    @property
    def sentence(self) -> str:
        """Why the answer has its score: a sentence for a page that shows the accepted answer beside it."""
        return self._put_into_words().sentence

    def _repr_html_(self) -> str:
        """What a notebook shows: the prediction above the closest accepted answer, with the differences marked."""
        from html import escape  # slow to import

        sides = (
            ("prediction", [edit.prediction for edit in self.edits]),
            ("accepted", [edit.reference for edit in self.edits]),
        )
        rows = [
            f"<tr><th>{name}</th><td>{''.join(map(_mark_difference, self.edits, texts))}</td></tr>"
            for name, texts in sides
        ]
        return f"<table>{''.join(rows)}</table><p>{escape(self.sentence)} Score: {self.score:.4f}</p>"

    def _put_into_words(self) -> Words:
        best, variant = self.best, self.variant
        key: str = self.reason
        if key == "equal" and self.prediction != best.reference:
            key = "alike"
        elif key == "empty":
            key = "no answer" if self.normalized_prediction else "blank"
        low, high = LIMITS[variant.kept](variant.threshold)
        facts = {
            "why": self,
            "best": best,
            "s": "s" * (best.distance != 1),
            "characters": f"{best.length:,} character{'s' * (best.length != 1)}",
            "similarity": _tell_apart(best.similarity, max(low, 1 - high)),
            "ratio": _tell_apart(best.ratio, variant.threshold),
            "threshold": _format_threshold(variant.threshold),
            "so_1": ", so 1" * variant.all_or_nothing,
        }
        keeps, fails = (words.format(**facts) for words in KEPT_WORDS[variant.kept])
        return Words(*(words.format(**facts, keeps=keeps, fails=fails) for words in WORDS[key]))


def _mark_difference(edit: Edit, text: str) -> str:
    from html import escape

    return escape(text) if edit.operation == "equal" else f"<mark>{escape(text)}</mark>"


class Words(NamedTuple):
    """The words for the reason of a score.

    Attributes:
        note: a line for a terminal.
        sentence: a sentence for a page that shows the accepted answer beside it.
    """

    note: str
    sentence: str


# The reason for a score -> the words for it.
WORDS: Mapping[str, Words] = {
    "equal": Words("equal to {best.reference!r}, so 1", "Equal to an accepted answer, so 1."),
    "alike": Words("equal to {best.reference!r}, so 1", "Equal to an accepted answer once normalized, so 1."),
    "blank": Words("the prediction is empty, so 0", "The prediction is empty, so 0."),
    "no answer": Words(
        "{why.prediction!r} counts as no answer, so 0",
        "By {why.variant.name}, “{why.normalized_prediction}” is no answer, so 0.",
    ),
    "nothing in common": Words(
        "nothing in common with {best.reference!r}, so 0", "Nothing in common with any accepted answer, so 0."
    ),
    "close enough": Words(
        "{best.distance:,} edit{s} on {characters} from {best.reference!r}: similarity {similarity}{keeps}{so_1}",
        "{best.distance:,} edit{s} on {characters}: similarity {similarity}{keeps}{so_1}.",
    ),
    "under the threshold": Words(
        "{best.distance:,} edit{s} on {characters} from {best.reference!r}: similarity {similarity}{fails}, so 0",
        "{best.distance:,} edit{s} on {characters}: similarity {similarity}{fails}, so 0.",
    ),
}

# The rule that keeps a similarity -> the words for a similarity that is kept, and for a similarity that is not.
KEPT_WORDS: Mapping[Kept, tuple[str, str]] = {
    "similarity >= threshold": (", at least the threshold of {threshold}", " is below the threshold of {threshold}"),
    "similarity > threshold": (", above the threshold of {threshold}", " is not above the threshold of {threshold}"),
    "distance / length < threshold": (
        ", and distance / length {ratio} is below the threshold of {threshold}",
        ", but distance / length {ratio} is not below the threshold of {threshold}",
    ),
}


def format_number(value: float, digits: int = 4) -> str:
    """Format a number as people write it: 0, 1, 0.5 or 0.8889."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if value == value else "-"


def _format_threshold(value: float) -> str:
    """Format a threshold with all of its digits."""
    short = format_number(value)
    return short if float(short) == value else repr(value)


def _tell_apart(value: float, other: float) -> str:
    """Format a number with enough digits to distinguish it from `other`."""
    short = format_number(value)
    return short if value == other or short != format_number(other) else repr(value)


def match_texts(prediction: str, reference: str, kernel: Kernel) -> Match:
    """Compare a prediction with one accepted answer."""
    answer, accepted = kernel.normalize(prediction), kernel.normalize(reference)
    length = max(kernel.prediction_length(prediction, answer), kernel.reference_length(reference, accepted))
    return Match(reference, answer, accepted, Levenshtein.distance(answer, accepted), length)


def find_reason(answer: str, score: float, kernel: Kernel) -> Reason:
    """Find the reason for the score of a normalized answer."""
    if score == 1.0 and not kernel.all_or_nothing:
        return "equal"
    if score > 0.0:
        return "close enough"
    if not answer or answer in kernel.no_answers:
        return "empty"
    all_is_kept = kernel.low <= math.nextafter(0.0, 1.0) and kernel.high >= math.nextafter(1.0, 0.0)
    return "nothing in common" if all_is_kept else "under the threshold"


def explain_texts(prediction: str, references: Sequence[str], variant: Variant, kernel: Kernel) -> Explanation:
    """Score a prediction in plain steps, and explain the score. The texts must be checked before."""
    matches = tuple(match_texts(prediction, text, kernel) for text in references)
    winner = min(range(len(matches)), key=lambda place: matches[place].ratio)
    best, answer = matches[winner], kernel.normalize(prediction)
    score = keep_similarity(answer, best.normalized_reference, best.ratio, kernel)
    why = "equal" if score and not best.ratio else find_reason(answer, score, kernel)
    return Explanation(prediction, answer, matches, winner, score, why, variant)


# --------------------------------------------------------------------------------------------------
# anls_metric.core.variants
#
# The variants of ANLS: a table whose rows say how texts are compared. Also the signature of a score.
# --------------------------------------------------------------------------------------------------

RowName = Callable[[int], str]


class Scorer(Protocol):
    """Scores rows: a `Variant` for texts, a ``ValueVariant`` for lists and nested values, or the rule of a benchmark.

    The command, the page and the metrics only use this protocol, so none of them needs to know which scorer it has.

    Attributes:
        name: the name that users choose the scorer by.
        threshold: from 0 to 1.
        key: the name of the score in a dict of results.
        label: the name of the score in a table.
        options: the options that a call may override.
        columns: the columns that the rule of a benchmark needs; empty if predictions and references are enough.
        averages_rows: whether the score of a set is the mean of the scores of its rows.
    """

    @property
    def name(self) -> str: ...
    @property
    def threshold(self) -> float: ...
    @property
    def meaning(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def options(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Collection[str]: ...
    @property
    def averages_rows(self) -> bool: ...

    def check(self, predictions: Any, references: Any, row_name: RowName = ...) -> tuple[list[Any], list[Any]]:
        """Check both columns, and return them as lists. ValueError: a row cannot be scored; the message names it."""

    def score(self, predictions: Any, references: Any, row_name: RowName = ...) -> Sequence[float]:
        """Score each row, from 0 to 1, for `mean`; [] if there are no rows. ValueError: as `check`."""

    def score_missing(self, references: Any, row: str = "") -> float:
        """Score a question without an answer, for `mean`. ValueError: the references cannot be scored."""

    def mean(self, scores: Any) -> float:
        """Compute the score of a set."""

    def explain(self, prediction: Any, references: Any) -> Any:
        """Explain the score of an answer; as a string, the result is a sentence. ValueError: as `check`."""

    def signature(self, extract: str = "") -> str:
        """Return the text to print beside a score: it says how the score was computed."""


@dataclass(frozen=True)
class Variant:
    """One way to compute ANLS: a row of the table `VARIANTS`. `signature` names it.

    Args:
        name: the name of the variant.
        meaning: the special feature of the variant, in one line.
        source: the program or paper that computes it.
        ignore_case: whether texts are lower-cased.
        whitespace: ``"squeeze"`` strips and turns every run of white space into one blank, ``"strip"``
            only strips, ``"keep"`` changes nothing.
        ignored_ending: characters that are cut from the end of a text after its white space was changed.
        prediction_length: which length of the prediction counts: "raw" is the length of the text as given, "stripped"
            without white space around it, and "normalized" that of the text that is compared; "raw upper",
            "stripped upper" and "normalized upper" are the lengths in upper case. The distance is divided by the larger
            of ``prediction_length`` and ``reference_length``.
        reference_length: the length of the reference, as ``prediction_length``.
        kept: the condition under which a similarity counts; it becomes 0 otherwise: "similarity >= threshold",
            "similarity > threshold" or "distance / length < threshold".
        threshold: the default threshold, from 0 to 1: of the similarity or of distance / length, as
            ``kept`` says.
        no_answers: normalized predictions that score 0 against anything.
        empty_equals_empty: whether an empty prediction scores 1 against an empty reference at any threshold.
        all_or_nothing: whether every score above 0 becomes 1.
        aliases: other implementations that give the same numbers, accepted as names.

    Raises:
        ValueError: a field has a value that is not allowed.

    Example:
        >>> VARIANTS["rrc"].prediction_length
        'raw upper'
        >>> from dataclasses import replace
        >>> mine = replace(VARIANTS["standard"], name="mine", whitespace="strip")
        >>> anls_score("Coca  Cola", ["Coca Cola"], variant=mine)
        0.9
    """

    name: str
    meaning: str = ""
    source: str = ""
    ignore_case: bool = True
    whitespace: Whitespace = "squeeze"
    ignored_ending: str = ""
    prediction_length: Length = "normalized"
    reference_length: Length = "normalized"
    kept: Kept = "similarity >= threshold"
    threshold: float = 0.5
    no_answers: tuple[str, ...] = ()
    empty_equals_empty: bool = False
    all_or_nothing: bool = False
    aliases: tuple[str, ...] = ()

    label: ClassVar[str] = "ANLS"
    key: ClassVar[str] = "anls"
    options: ClassVar[tuple[str, ...]] = ("threshold", "ignore_case")
    columns: ClassVar[tuple[str, ...]] = ()
    averages_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for field, allowed in _ALLOWED.items():
            value = getattr(self, field)
            if value not in allowed or (allowed is _YES_OR_NO and not isinstance(value, bool)):
                self._refuse(field, f"one of {', '.join(map(repr, allowed))}")
        for field in ("name", "meaning", "source", "ignored_ending"):
            if not isinstance(getattr(self, field), str):
                self._refuse(field, "a string")
        for field in ("no_answers", "aliases"):
            texts = getattr(self, field)
            if not isinstance(texts, tuple) or not all(isinstance(text, str) for text in texts):
                self._refuse(field, "a tuple of strings")
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold))

    def check(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> tuple[list[str], list[Sequence[str]]]:
        """Check both columns, and return them as lists. ValueError: a row cannot be scored; the message names it."""
        return check_columns(predictions, references, row_name)

    def score(
        self, predictions: Iterable[str], references: Iterable[Iterable[str]], row_name: RowName = name_row
    ) -> list[float]:
        """Score each row; [] if there are no rows. ValueError: as `check`."""
        return score_columns(predictions, references, compile_kernel(self), row_name)

    def score_checked(self, predictions: Iterable[str], references: Iterable[Sequence[str]]) -> list[float]:
        """Score rows that were checked before: N strings, and N lists of one or more strings."""
        return score_rows(zip(predictions, references), compile_kernel(self))

    def score_missing(self, references: Iterable[str], row: str = "") -> float:
        """Return the score of a question without an answer: 0."""
        return 0.0

    def mean(self, scores: Iterable[float]) -> float:
        """Compute the score of a set: the mean of the scores of its rows."""
        return mean(scores)

    def explain(self, prediction: str, references: Iterable[str]) -> Explanation:
        """Explain the score of an answer. ValueError: as `check`."""
        return explain_texts(
            as_text(prediction, "prediction"), as_references(references, "references"), self, compile_kernel(self)
        )

    def signature(self, extract: str = "") -> str:
        """Return the signature of this variant: see the function `signature`."""
        default = VARIANTS.get(self.name, VARIANTS["standard"])
        parts = ["anls", self.name]
        for field in _SCORING_FIELDS:
            value = getattr(self, field)
            if field == "threshold" or value != getattr(default, field):
                parts.append(f"{field}:{value}")
        return "|".join([*parts, *([f"extract:{extract}"] if extract else []), f"v{__version__}"])

    def _refuse(self, field: str, allowed: str) -> NoReturn:
        raise ValueError(f"{field} of variant {self.name!r} is {describe(getattr(self, field))}: it must be {allowed}")


@lru_cache(maxsize=256)
def compile_kernel(variant: Variant) -> Kernel:
    """Make the kernel of a variant."""
    normalize = NORMALIZERS[variant.ignore_case, variant.whitespace]
    if variant.ignored_ending:
        with_ending, ending = normalize, variant.ignored_ending

        def normalize(text: str) -> str:
            return with_ending(text).rstrip(ending)

    lengths = {variant.prediction_length, variant.reference_length}
    low, high = LIMITS[variant.kept](variant.threshold)
    equal = 1.0 if low <= 1.0 and high >= 0.0 else 0.0
    equal_empty = 1.0 if variant.empty_equals_empty else equal
    limit = min(high, 1.0 - low + 1e-9)
    return Kernel(
        normalize,
        prediction_length=LENGTHS[variant.prediction_length],
        reference_length=LENGTHS[variant.reference_length],
        plain=normalize is lower_and_squeeze and lengths == {"normalized"} and not variant.no_answers,
        low=low,
        high=high,
        limit=limit,
        bounded=limit < 1 and variant.prediction_length == "normalized",
        equal=equal,
        equal_empty=equal_empty,
        no_answers=frozenset(variant.no_answers),
        all_or_nothing=variant.all_or_nothing,
        raw_match=not variant.no_answers and equal == equal_empty,
    )


_YES_OR_NO = (True, False)
_ALLOWED: Mapping[str, Sequence[object]] = {
    "ignore_case": _YES_OR_NO,
    "whitespace": tuple(whitespace for ignore_case, whitespace in NORMALIZERS if ignore_case),
    "prediction_length": tuple(LENGTHS),
    "reference_length": tuple(LENGTHS),
    "kept": tuple(LIMITS),
    "empty_equals_empty": _YES_OR_NO,
    "all_or_nothing": _YES_OR_NO,
}


def _index_by_name(*variants: Variant) -> Mapping[str, Variant]:
    return MappingProxyType({variant.name: variant for variant in variants})


VARIANTS: Mapping[str, Variant] = _index_by_name(
    Variant(
        "standard",
        meaning="case and extra white space ignored, exactly 0.5 counts",
        source="https://arxiv.org/abs/1905.13648",
        aliases=("evalscope", "minicpm_v"),
    ),
    Variant(
        "rrc",
        meaning="the official script of the Robust Reading Competition: the leaderboard's number",
        source="https://rrc.cvc.uab.es",
        prediction_length="raw upper",
        reference_length="raw upper",
        aliases=("vlmevalkit", "unitxt", "qwen_vl"),
    ),
    Variant(
        "mmpretrain",
        meaning="the official script with normalized references",
        source="https://github.com/open-mmlab/mmpretrain",
        prediction_length="raw upper",
        reference_length="normalized upper",
    ),
    Variant(
        "pypi_anls",
        meaning="PyPI anls 0.0.2: a similarity of exactly 0.5 scores 0",
        source="https://github.com/shunk031/ANLS",
        prediction_length="normalized upper",
        reference_length="normalized upper",
        kept="distance / length < threshold",
    ),
    Variant(
        "mistral_evals",
        meaning="no threshold, punctuation at the end ignored",
        source="https://github.com/mistralai/mistral-evals",
        ignored_ending="!\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~ ",  # string.punctuation without %, and the blank
        threshold=0.0,
    ),
    Variant(
        "mp_docvqa",
        meaning="blanks inside a text count; a blank prediction, or `none`, scores 0",
        source="https://github.com/rubenpt91/MP-DocVQA-Framework",
        whitespace="strip",
        no_answers=("", "none"),
    ),
    Variant(
        "stvqa",
        meaning="the M4C evaluator (in MMF, LLaVA and InternVL): blanks inside a text count",
        source="https://github.com/OpenGVLab/InternVL",
        whitespace="strip",
        aliases=("moondream", "mini_monkey"),
    ),
    Variant(
        "pix2struct",
        meaning="all white space counts, a similarity of exactly 0.5 scores 0",
        source="https://github.com/google-research/pix2struct",
        whitespace="keep",
        kept="distance / length < threshold",
        aliases=("docowl15",),
    ),
    Variant(
        "paligemma",
        meaning="like pix2struct, but two empty texts score 1 even at the threshold 0",
        source="https://github.com/google-research/big_vision",
        whitespace="keep",
        kept="distance / length < threshold",
        empty_equals_empty=True,
    ),
    Variant(
        "molmo",
        meaning="like pix2struct, but divided by the lengths of the texts as given",
        source="https://github.com/allenai/molmo",
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        kept="distance / length < threshold",
        aliases=("molmo2", "layoutlmv2"),
    ),
    Variant(
        "due",
        meaning="case and all white space count, a similarity of exactly 0.5 scores 0",
        source="https://github.com/due-benchmark/evaluator",
        ignore_case=False,
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        kept="distance / length < threshold",
    ),
    Variant(
        "mmlongbench",
        meaning="case and all white space count, a similarity must be above the threshold",
        source="https://github.com/open-compass/VLMEvalKit",
        ignore_case=False,
        whitespace="keep",
        prediction_length="raw upper",
        reference_length="raw upper",
        kept="similarity > threshold",
    ),
    Variant(
        "fast_anls",
        meaning="case and all white space count, a similarity must be above the threshold",
        source="https://notes.penpusher.app/Misc/Speeding+up+Visual+Question+Answering+10x+(Faster+ANLS)",
        ignore_case=False,
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        kept="similarity > threshold",
    ),
    Variant(
        "nls",
        meaning="plain normalized Levenshtein similarity: case and white space count, no threshold",
        source="https://docsaid.org/en/blog/impl-normalized-levenshtein-similarity",
        ignore_case=False,
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        threshold=0.0,
        aliases=("docsaid_nls", "docext"),
    ),
    Variant(
        "lmms_eval",
        meaning="lmms-eval since 0.3.0: like rrc, but predictions are stripped first",
        source="https://github.com/EvolvingLMMs-Lab/lmms-eval",
        prediction_length="stripped upper",
        reference_length="raw upper",
        aliases=("aisbench",),
    ),
    Variant(
        "lmms_eval_0_2",
        meaning="lmms-eval 0.1.0 to 0.2.4: like rrc, but every score above 0 becomes 1",
        source="https://github.com/EvolvingLMMs-Lab/lmms-eval/tree/v0.2.4",
        prediction_length="raw upper",
        reference_length="raw upper",
        all_or_nothing=True,
    ),
    Variant(
        "openbench",
        meaning="blanks inside a text count, a similarity of exactly 0.5 scores 0",
        source="https://github.com/groq/openbench",
        whitespace="strip",
        kept="distance / length < threshold",
        aliases=("latin_prompt",),
    ),
    Variant(
        "monkey",
        meaning="like stvqa, but divided by the lengths of the stripped prediction and the reference as given",
        source="https://github.com/Yuliang-Liu/Monkey",
        whitespace="strip",
        prediction_length="stripped",
        reference_length="raw",
    ),
    Variant(
        "inspect_evals",
        meaning="like molmo, but two empty texts score 1 even at the threshold 0",
        source="https://github.com/UKGovernmentBEIS/inspect_evals",
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        kept="distance / length < threshold",
        empty_equals_empty=True,
    ),
    Variant(
        "layoutlmv3_docvqa",
        meaning="like molmo, but an empty prediction scores 0",
        source="https://github.com/allanj/LayoutLMv3-DocVQA",
        whitespace="keep",
        prediction_length="raw",
        reference_length="raw",
        kept="distance / length < threshold",
        no_answers=("",),
    ),
    Variant(
        "vlmevalkit_dude",
        meaning="VLMEvalKit's DUDE and SlideVQA: all white space counts, a similarity must be above the threshold",
        source="https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/dude.py",
        whitespace="keep",
        prediction_length="normalized upper",
        reference_length="normalized upper",
        kept="similarity > threshold",
    ),
    Variant(
        "vlmevalkit_mmlongbench",
        meaning="VLMEvalKit's MMLongBench since 2026: like mmlongbench, but no threshold",
        source="https://github.com/open-compass/VLMEvalKit/blob/main/vlmeval/dataset/utils/mmlongbench_metrics.py",
        ignore_case=False,
        whitespace="keep",
        prediction_length="raw upper",
        reference_length="raw upper",
        kept="similarity > threshold",
        threshold=0.0,
    ),
)

MEANINGS = {"anls": "standard", "docvqa": "rrc", "anls*": "anls_star", "all": ""}

VARIANT_NAMES: dict[str, Variant] = dict(VARIANTS) | {
    alias: variant for variant in VARIANTS.values() for alias in variant.aliases
}

# The metrics of lists and nested values, which `anls_metric.nested` computes.
OF_VALUES = ("anls_star", "anlsl")

# The rules of benchmarks, which `anls_metric.rules` computes.
OF_RULES = (
    *("docvqa_2026", "dude", "mmlongbench_doc", "mmlongbench_doc_lmms_eval", "longdocurl", "longdocurl_vlmevalkit"),
    *("chartqapro", "chartqapro_lmms_eval", "ocrbench_v2", "madqa"),
)

# The fields that decide the score; the other fields describe the variant.
_SCORING_FIELDS = [
    field.name for field in fields(Variant) if field.name not in ("name", "meaning", "source", "aliases")
]


def get_variant(
    variant: str | Variant = "standard", threshold: float | None = None, ignore_case: bool | None = None
) -> Variant:
    """Get a variant: a row of the table, with the fields that a call overrides.

    Every function that takes ``variant``, ``threshold`` and ``ignore_case`` passes them to this function.

    The similarity is compared with the threshold in floating point, as 1 - distance / length. The published programs do
    the same, so their scores are reproduced to the bit at every threshold. An exact tie counts, if the variant says so,
    at 0.25, 0.5 and 0.75. At other thresholds rounding may decide: 4 edits on 5 characters have the similarity
    0.19999999999999996, which the threshold 0.2 does not keep. If a program has a fixed threshold, its variant compares
    other thresholds in the same way. The variants that compare distance / length never count a tie.

    Args:
        variant: a name in `VARIANTS`, an alias of a variant, or a `Variant`.
        threshold: from 0 to 1: the least similarity that is kept, or the distance / length below which a similarity is
            kept, as the variant says; None takes the threshold of the variant, which is 0.5 for most.
        ignore_case: whether texts are lower-cased; None does as the variant does.

    Returns:
        A `Variant`. Every function with the argument ``variant`` accepts it in place of a name.

    Raises:
        ValueError: an unknown variant, a threshold that is not a number from 0 to 1, an ``ignore_case`` that is neither
            True nor False.

    Example:
        >>> get_variant("unitxt", threshold=0.8).name
        'rrc'
    """
    if isinstance(variant, str):
        if variant in OF_RULES:
            raise ValueError(
                f"{variant} is the rule of a benchmark, which needs more than predictions and references: "
                f'score rows with rule("{variant}"), or files with score(..., variant="{variant}")'
            )
        if variant in OF_VALUES:
            raise ValueError(
                f"{variant} is for lists and nested values, and this scores texts: score rows with "
                f'get_value_variant("{variant}") of anls_metric.nested, or files with score(..., variant="{variant}")'
            )
        if variant not in VARIANT_NAMES:
            raise ValueError(
                describe_unknown("variant", variant, VARIANTS, (*VARIANT_NAMES, *OF_VALUES, *OF_RULES), MEANINGS)
            )
        variant = VARIANT_NAMES[variant]
    if isinstance(threshold, str) and threshold in VARIANT_NAMES:
        raise ValueError(f"threshold is {describe(threshold)}: write variant={threshold!r}")
    if not isinstance(variant, Variant) and type(variant).__name__ == "Variant":
        # evaluate.load imports a copy of this file, so its class Variant is not the class of `anls_metric`.
        try:
            variant = Variant(**{field.name: getattr(variant, field.name) for field in fields(Variant)})
        except AttributeError as error:
            raise ValueError(f"variant is {describe(variant)}: it is no Variant of this metric ({error})") from None
    elif not isinstance(variant, Variant):
        raise ValueError(f"variant is {describe(variant)}: pass a Variant or one of the names {', '.join(VARIANTS)}")
    if VARIANT_NAMES.get(variant.name, variant).name != variant.name:
        raise ValueError(f"{variant.name!r} is the name of another variant: give your own variant its own name")
    if threshold is not None:
        variant = replace(variant, threshold=threshold)
    if ignore_case is not None:
        if not isinstance(ignore_case, bool):
            raise ValueError(f"ignore_case is {describe(ignore_case)}: it must be True, False or None")
        variant = replace(variant, ignore_case=ignore_case)
    return variant


def signature(
    variant: str | Variant = "standard",
    threshold: float | None = None,
    ignore_case: bool | None = None,
    extract: str = "",
) -> str:
    """Describe how a score was computed, as a short text: print it beside the score and report it with the score.

    Args:
        variant, threshold, ignore_case: as `get_variant` takes them.
        extract: the names of the rules that extracted the answers from the output of a model, "" for none.

    Returns:
        ``anls|VARIANT|FIELD:VALUE|...|threshold:VALUE|extract:RULES|vVERSION``, with every field that differs from
        the named variant.

    Raises:
        ValueError: an unknown variant, a threshold outside [0, 1].

    Example:
        >>> signature()
        'anls|standard|threshold:0.5|v2.0.0'
        >>> signature("unitxt", ignore_case=False)
        'anls|rrc|ignore_case:False|threshold:0.5|v2.0.0'

    Source: the signatures of sacreBLEU, https://aclanthology.org/W18-6319.
    """
    return get_variant(variant, threshold, ignore_case).signature(extract)


# --------------------------------------------------------------------------------------------------
# anls_metric.core.scoring
#
# The public functions for texts: score one answer, columns, streams and batches, and explain a score.
# --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256, typed=True)
def _get_cached_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None) -> Kernel:
    return compile_kernel(get_variant(variant, threshold, ignore_case))


def _get_kernel(variant: str | Variant, threshold: float | None, ignore_case: bool | None) -> Kernel:
    """Get the kernel of a variant. ValueError: as `get_variant`."""
    try:
        return _get_cached_kernel(variant, threshold, ignore_case)
    except TypeError:  # an argument that cannot be hashed is wrong; get_variant names it
        return compile_kernel(get_variant(variant, threshold, ignore_case))


def anls_score(
    prediction: str,
    gold_labels: Iterable[str],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> float:
    """Score one answer: its similarity to the closest accepted answer, or 0 below the threshold.

    Args:
        prediction: the answer to score.
        gold_labels: the accepted answers, one or more; a bare string is one accepted answer.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        The score, from 0 to 1.

    Raises:
        ValueError: a text that is not a string, no accepted answers, an unknown variant, a threshold
            outside [0, 1].

    Example:
        >>> anls_score("CocaCola", ["Coca Cola", "Coca Cola Company"])
        0.8888888888888888
        >>> anls_score("The Coca", ["Coca Cola", "Coca Cola Company"])
        0.0
        >>> anls_score("Coca cola", ["Coca Cola", "Coca Cola Company"])
        1.0

    Source: equation 1 of https://arxiv.org/abs/1905.13648; the arguments are those of https://github.com/shunk031/ANLS.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    if type(prediction) is not str:
        prediction = as_text(prediction, "the prediction")
    if not is_list_of_texts(gold_labels):
        gold_labels = as_references(gold_labels, "gold_labels")
    return next(iter_scores(((prediction, gold_labels),), kernel))


def anls_scores(
    predictions: Iterable[str],
    references: Iterable[Iterable[str]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> list[float]:
    """Score each answer of a set as `anls_score` does. The `mean` of the scores is the ANLS.

    Args:
        predictions: N answers, as a list, tuple, iterator, numpy array, or column of pandas, datasets
            or pyarrow.
        references: the accepted answers of each question, in the same order: N lists of strings, or N strings
            if each question has one accepted answer.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        N scores from 0 to 1.

    Raises:
        ValueError: a text is not a string or a row has no references (the message names the row), the columns have
            different lengths, there are no rows, the variant is unknown, or the threshold is outside [0, 1].

    Example:
        >>> anls_scores(["CocaCola", "12/15/89"], [["Coca Cola", "Coca Cola Company"], ["12/15/88"]])
        [0.8888888888888888, 0.875]

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """
    scores = score_columns(predictions, references, _get_kernel(variant, threshold, ignore_case))
    refuse_no_rows(scores)
    return scores


def scores_and_similarities(
    predictions: Iterable[str],
    references: Iterable[Iterable[str]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> tuple[list[float], list[float]]:
    """Compute the score of each answer, and its similarity to the closest accepted answer, in one pass.

    If you only need scores, `anls_scores` is several times as fast: it does not compute the exact distance of an answer
    that scores 0.

    Args:
        predictions: N answers, as `anls_scores` takes them.
        references: the accepted answers of each question, as `anls_scores` takes them.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        N scores, the same bits as those of `anls_scores`, and N similarities, those of `explain`.

    Raises:
        ValueError: as `anls_scores`.

    Example:
        >>> scores_and_similarities(["CocaCola", "The Coca"], [["Coca Cola"], ["Coca Cola"]])
        ([0.8888888888888888, 0.0], [0.8888888888888888, 0.4444444444444444])

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    predictions, references = check_columns(predictions, references)
    refuse_no_rows(predictions)
    scores, similarities = [], []
    for prediction, accepted_answers in zip(predictions, references):
        answer = kernel.normalize(prediction)
        answer_length = kernel.prediction_length(prediction, answer)
        closest, least = "", math.inf
        for reference in accepted_answers:
            accepted = kernel.normalize(reference)
            length = max(kernel.reference_length(reference, accepted), answer_length)
            ratio = Levenshtein.distance(answer, accepted) / (length or 1)
            if ratio < least:
                closest, least = accepted, ratio
        scores.append(keep_similarity(answer, closest, least, kernel))
        similarities.append(1 - least)
    return scores, similarities


def iter_anls_scores(
    rows: Iterable[tuple[str, Iterable[str]]],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Iterator[float]:
    """Score each row of a stream as `anls_scores` does, in constant memory.

    Args:
        rows: pairs of an answer and its accepted answers, for example a generator that reads a file.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        An iterator over the scores, from 0 to 1. It yields each score before it reads the next row, and `mean` accepts
        it.

    Raises:
        ValueError: as `anls_scores`. Bad options are refused at once. A bad row is refused when it is read, after the
            scores of the rows before it; the error names it by its number in the stream.

    Example:
        >>> rows = (("CocaCola", ["Coca Cola"]) for _ in range(1000))
        >>> mean(iter_anls_scores(rows))
        0.8888888888888888
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    refuse_lazy(rows, "rows")
    if not isinstance(rows, Iterable):
        raise ValueError(f"rows is {describe(rows)}: {PASS_PAIRS}")
    return iter_scores(check_pairs(rows), kernel)


def anls_batch(
    batch: Mapping[str, Any],
    indices: Sequence[object] | None = None,
    prediction_column: str = "prediction",
    references_column: str = "references",
    score_column: str = "anls",
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> dict[str, list[float]]:
    """Compute the score column of a batch, for engines that split a data set: `datasets`, Ray Data, Spark.

    Args:
        batch: columns by name, as a dict, a pyarrow table or record batch, or a data frame.
        indices: the row numbers that error messages show; ``Dataset.map(..., with_indices=True)`` passes those of
            the whole data set.
        prediction_column: the name of the column of answers.
        references_column: the name of the column of accepted answers.
        score_column: the name of the column of scores.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        ``{score_column: scores}``: the same bits as `anls_scores` of the whole data set; [] for an empty batch.

    Raises:
        ValueError: as `anls_scores`; or the batch does not have the column.

    Example:
        >>> anls_batch({"prediction": ["CocaCola"], "references": [["Coca Cola"]]})
        {'anls': [0.8888888888888888]}

    Source: https://huggingface.co/docs/datasets/process#batch-processing.
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    refuse_lazy(batch, "the batch")
    predictions, references = (_get_column(batch, name) for name in (prediction_column, references_column))
    if isinstance(predictions, str):
        raise ValueError(f"the batch holds one row, {describe(predictions)}: pass lists (Dataset.map: batched=True)")

    def row_name(row: int) -> str:
        return name_row(row) if indices is None else f"row {indices[row]}"

    return {score_column: score_rows(zip(*check_columns(predictions, references, row_name)), kernel)}


def _get_column(batch: Any, name: str) -> Any:
    if not hasattr(type(batch), "__getitem__") or isinstance(batch, (str, bytes, list, tuple)):
        raise ValueError(f"the batch is {describe(batch)}: pass columns by name, as a dict, a table or a data frame")
    try:
        return batch[name]
    except Exception:  # KeyError, or the error of another library
        raise ValueError(
            f"the batch has no column {name!r}: name the columns with prediction_column and references_column"
        ) from None


def normalizer(variant: str | Variant = "standard") -> Callable[[str], str]:
    """Return the function that normalizes a text for a variant.

    Args:
        variant: a name in `VARIANTS`, an alias of a variant, or a `Variant`.

    Returns:
        A function that takes a string and returns the normalized string.

    Raises:
        ValueError: an unknown variant.

    Example:
        >>> normalizer()("  Coca   Cola ")
        'coca cola'
    """
    return _get_kernel(variant, None, None).normalize


def normalized_levenshtein_similarity(
    prediction: str, reference: str, variant: str | Variant = "standard", ignore_case: bool | None = None
) -> float:
    """Compute the similarity of two texts, before any threshold: ``1 - distance / length``.

    Args:
        prediction: the first text.
        reference: the second text.
        variant, ignore_case: the variant that normalizes the texts and measures their lengths, as `get_variant` takes
            them.

    Returns:
        1 for texts that are equal once normalized, 0 for texts that share nothing. The similarity can be below 0 for
        variants that divide by the length of the text as given, if lower-casing made the text longer.

    Raises:
        ValueError: a text that is not a string, an unknown variant.

    Example:
        >>> normalized_levenshtein_similarity("The Coca", "Coca Cola")
        0.4444444444444444

    Source: https://arxiv.org/abs/1905.13648, section 4.
    """
    kernel = _get_kernel(variant, None, ignore_case)
    return match_texts(as_text(prediction, "prediction"), as_text(reference, "reference"), kernel).similarity


def reason(
    prediction: str,
    score: float,
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Reason:
    """Say in a word why a prediction has its score.

    Args:
        prediction: the answer.
        score: the score that `anls_score` gave for the answer with the same options.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        "equal": the score is 1. "close enough": the score is between 0 and 1; in an ``all_or_nothing`` variant, any
        score above 0. "empty": the score is 0, and the prediction is blank or counts as no answer in the variant.
        "under the threshold": any other 0; "nothing in common" if the variant has no threshold.

    Raises:
        ValueError: a prediction that is not a string, an unknown variant, a threshold outside [0, 1].

    Example:
        >>> reason("The Coca", 0.0)
        'under the threshold'
    """
    kernel = _get_kernel(variant, threshold, ignore_case)
    return find_reason(kernel.normalize(as_text(prediction, "prediction")), score, kernel)


def explain(
    prediction: str,
    references: Iterable[str],
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> Explanation:
    """Explain a score: distance, length, similarity and edits for every accepted answer.

    The score is computed in plain steps, as the definition says; `anls_score` gives the same bits.

    Args:
        prediction: the answer.
        references: the accepted answers, one or more; a bare string is one accepted answer.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        An `Explanation`.

    Raises:
        ValueError: a text that is not a string, no accepted answers, an unknown variant, a threshold
            outside [0, 1].

    Example:
        >>> why = explain("CocaCola", ["Coca Cola Company", "Coca Cola"])
        >>> print(why)
        1 edit on 9 characters from 'Coca Cola': similarity 0.8889, at least the threshold of 0.5
        >>> why.best.edits[1]
        Edit(operation='insert', prediction='', reference=' ')

    Source: equation 1 of https://arxiv.org/abs/1905.13648.
    """
    return get_variant(variant, threshold, ignore_case).explain(prediction, references)


# --------------------------------------------------------------------------------------------------
# anls_metric.transformers
#
# ANLS as ``compute_metrics`` for the trainers of transformers and TRL.
#
# This module does not import transformers: the hook takes arrays of ids or logits, and a tokenizer to decode them.
# --------------------------------------------------------------------------------------------------

Extract = Callable[[str], str | None]

# Ids that stand for no token: at positions without a label, and where the logits are NaN.
_NOTHING, _NOT_A_NUMBER = -100, -1000


def as_extract(extract: Any, values: bool = False) -> Extract | None:
    """Return the function that extracts the answer from a text, given a function or the names of extraction rules.

    ValueError: it is neither, or there is no such rule. ImportError: rules need the package, and only anls.py is here.
    """
    if isinstance(extract, str):
        try:
            from anls_metric.reading.extract import extractor
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("anls_metric"):
                raise
            raise ImportError("extraction rules need the package anls-metric: pip install anls-metric") from error
        return extractor(extract, values=values)
    if extract is None or callable(extract):
        return extract  # type: ignore[no-any-return]
    raise ValueError(
        f"extract is {describe(extract)}: pass names of rules, or a function that takes a text and returns the answer"
    )


def extract_answer(text: str, extract: Extract | None, what: str) -> str | None:
    """Extract the answer from a text: None if ``extract`` finds none, the whole text without ``extract``."""
    if extract is None:
        return text
    answer = extract(text)
    return None if answer is None else as_text(answer, f"what extract made of {what}")


def build_compute_metrics(
    tokenizer: Any,
    references: Any = None,
    *,
    causal: bool = False,
    extract: Extract | str | None = None,
    skip_special_tokens: bool = True,
    threshold: float | None = None,
    variant: str | Variant = "standard",
    ignore_case: bool | None = None,
) -> ComputeMetrics:
    """Build ``compute_metrics`` for transformers' ``Trainer`` and ``Seq2SeqTrainer``, and for TRL's ``SFTTrainer``.

    The hook decodes the predictions of the model and scores them. Predictions are generated ids
    (``predict_with_generate=True``) or logits. Logits are teacher-forced: the model predicts each token from the
    correct tokens before it, so the score is higher than that of generated answers. For logits, also pass the hook's
    ``preprocess_logits_for_metrics`` to the trainer; otherwise the trainer keeps all logits in memory.

    The hook works with ``batch_eval_metrics=True``, with ``eval_do_concat_batches=False``, and in distributed runs.
    There ``Seq2SeqTrainer`` fills the last batch with the first rows; with ``references``, the hook recognizes these
    rows by their labels and drops them.

    Call ``reset()`` after an evaluation with ``batch_eval_metrics=True`` was interrupted between two batches. A trainer
    does not say when an evaluation begins, so the hook still holds the rows of the interrupted evaluation. With
    ``references``, the next evaluation then usually fails because it has too many rows; without them, the old rows
    count as well.

    Args:
        tokenizer: the tokenizer of the model, or its processor.
        references: the accepted answers of each row, in the order of the evaluation set: N lists of strings, or N
            strings. For several evaluation sets, a dict of these by name: the hook chooses the set by the number of
            rows, and of sets with the same length, the set whose accepted answers contain the labels. A warning says if
            most labels are not accepted answers of their rows. None takes the decoded label of a row as its only
            accepted answer, and skips rows without labels, with a warning.
        causal: whether the logits are those of a decoder-only model, which stand one position before their labels.
        extract: a function, or the names of rules, to extract the answer from a decoded prediction or label. If it
            returns None, the prediction scores as "", and the label stays as it is.
        skip_special_tokens: whether the tokenizer leaves special tokens out of the texts. Pass False if ``extract``
            needs them.
        threshold, variant, ignore_case: which ANLS, as `get_variant` takes them.

    Returns:
        A function of an ``EvalPrediction`` that returns ``{"anls": score}``, for ``metric_for_best_model="anls"``.

    Raises:
        ValueError: the tokenizer cannot decode, a reference is not a text, or the variant is unknown. In a call: no set
            of references has this number of rows, or several fit; an id is not in the tokenizer; logits are NaN; labels
            cover the question, too, or several answers in one row; there are no rows.

    Example:
        >>> class Tokenizer:
        ...     def batch_decode(self, rows, skip_special_tokens):
        ...         return [" ".join("- Coca Cola Pepsi".split()[token] for token in row if token) for row in rows]
        >>> hook = build_compute_metrics(Tokenizer(), references=[["Coca Cola", "Cola"], ["Pepsi"]])
        >>> import numpy
        >>> hook((numpy.array([[2, -100], [1, 3]]), numpy.array([[1, 2], [3, -100]])))
        {'anls': 0.75}

    Source: https://huggingface.co/docs/transformers/main_classes/trainer.
    """
    variant = get_variant(variant, threshold, ignore_case)
    return ComputeMetrics(tokenizer, references, causal, as_extract(extract), skip_special_tokens, variant)


class ComputeMetrics:
    """The hook that `build_compute_metrics` returns. It takes a whole evaluation, or one batch at a time.

    It can be pickled and copied if the tokenizer and ``extract`` can.
    """

    __name__ = "anls"

    def __init__(
        self,
        tokenizer: Any,
        references: Any,
        causal: bool,
        extract: Extract | None,
        skip_special_tokens: bool,
        variant: Variant,
    ) -> None:
        self._tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        if not hasattr(self._tokenizer, "batch_decode"):
            raise ValueError(
                f"tokenizer is {describe(tokenizer)}, which cannot decode: pass the tokenizer or processor of the model"
            )
        self._causal, self._extract, self._variant = causal, extract, variant
        self._skip_special_tokens = skip_special_tokens
        self._sets: dict[Any, list[Sequence[str]]] | None = None
        if references is not None:
            sets = references if isinstance(references, Mapping) else {None: references}
            self._sets = {name: _check_references(accepted, name) for name, accepted in sets.items()}
        self.reset()

    def reset(self) -> None:
        """Forget the rows of an evaluation that was interrupted between two of its batches."""
        self._batches = 0
        self._predictions: list[str] = []
        self._labels: list[list[int]] = []

    def preprocess_logits_for_metrics(self, logits: Any, labels: Any = None) -> Any:
        """Reduce logits to predicted ids: pass it as ``Trainer(preprocess_logits_for_metrics=...)``.

        The hook gives the same score for logits and for these ids, but ids take far less memory.

        Args:
            logits: an array or tensor of shape (rows, positions, vocabulary), or a tuple that begins with one.
                Generated ids, of shape (rows, positions), are returned unchanged.
            labels: an array or tensor of shape (rows, positions), negative at positions without a label; or None.

        Returns:
            The ids with the highest logits, of shape (rows, positions), at the positions of their labels. Ids are
            negative at positions without a label, and where logits are NaN, which the hook then refuses.

        Raises:
            ValueError: the shapes of logits and labels do not fit.

        Example:
            >>> class Tokenizer:
            ...     def batch_decode(self, rows, skip_special_tokens): ...
            >>> hook = build_compute_metrics(Tokenizer(), causal=True)
            >>> import numpy
            >>> hook.preprocess_logits_for_metrics(numpy.eye(3)[None], numpy.array([[-100, 7, 8]])).tolist()
            [[-100, 0, 1]]

        Source: https://huggingface.co/docs/transformers/main_classes/trainer.
        """
        logits = _take_first(logits)
        if getattr(logits, "ndim", None) != 3:
            return logits
        highest, ids = _find_highest(logits)
        ids[highest != highest] = _NOT_A_NUMBER  # only NaN differs from itself
        if self._causal:
            ids[..., 1:] = ids[..., :-1] + 0  # + 0 makes a copy of an array and of a tensor
            ids[..., 0] = _NOTHING
        if labels is not None:
            labels = _take_first(labels)
            if ids.shape != labels.shape:
                raise ValueError(
                    f"the logits have {_join_shape(ids)} positions and the labels have {_join_shape(labels)}: pass "
                    "the logits of the positions of the labels"
                )
            ids[labels < 0] = _NOTHING
        return ids

    def __call__(self, eval_prediction: Any, compute_result: bool = True) -> dict[str, float]:
        """Take a whole evaluation, or a batch of it. Returns the score of all rows with the last batch, else {}."""
        if not isinstance(compute_result, bool):
            raise ValueError("pass one pair of predictions and labels: hook((predictions, labels))")
        more = False
        try:
            self._add(*_unpack_evaluation(eval_prediction))
            more = not compute_result
            return {} if more else {"anls": self._score()}
        finally:
            if not more:
                self.reset()

    def _add(self, predictions: Any, labels: Any) -> None:
        batches = predictions if isinstance(predictions, list) else [predictions]
        batches_of_labels = (
            labels if isinstance(labels, list) else [labels] * (1 if labels is not None else len(batches))
        )
        if len(batches) != len(batches_of_labels):
            raise ValueError(
                f"the lengths differ (predictions has {len(batches):,} batches, labels has "
                f"{len(batches_of_labels):,}): pass the labels of each batch"
            )
        self._batches += 1
        for batch, places in zip(batches, batches_of_labels):
            ids = _list_ids(self.preprocess_logits_for_metrics(batch, places), "predictions")
            labelled = _list_ids(_take_first(places), "labels") if places is not None else [[]] * len(ids)
            if len(ids) != len(labelled):
                raise ValueError(
                    f"the lengths differ in a batch (predictions has {len(ids):,}, labels has {len(labelled):,}): "
                    "pass the labels of each prediction"
                )
            labelled = list(map(self._strip_padding, labelled, ids))
            for row, (predicted, label) in enumerate(zip(ids, labelled), len(self._predictions)):
                self._refuse_unreadable(predicted, label, name_row(row))
            self._predictions += self._decode(list(map(_drop_negative, ids)), "prediction", len(self._predictions))
            if places is not None:
                self._labels += map(_drop_negative, labelled)

    def _strip_padding(self, label: list[int], predicted: list[int]) -> list[int]:
        """Remove the padding that `Seq2SeqTrainer` appends to a label when it generates.

        The amount of padding depends on the batch, so the same row in another batch would look different.
        """
        if not predicted or predicted[0] < 0:
            return label  # these ids come from logits, not from generation
        pad = getattr(self._tokenizer, "pad_token_id", None)
        if pad is None:
            pad = getattr(self._tokenizer, "eos_token_id", None)
        end = len(label)
        while end and label[end - 1] == pad:
            end -= 1
        return label[:end]

    def _refuse_unreadable(self, predicted: list[int], label: list[int], row: str) -> None:
        """Refuse input that would silently give a wrong score."""
        if _NOT_A_NUMBER in predicted:
            raise ValueError(
                f"the logits of {row} are NaN where its labels are: the model is broken, or its numbers are too coarse "
                "(float16); look at the loss, and evaluate in float32 or bfloat16"
            )
        # Ids from the logits of a decoder-only model have no token at the first position; generated ids have one.
        if predicted and label and predicted[0] < 0 <= label[0]:
            raise ValueError(
                f"the labels of {row} begin at its first token, which no decoder-only model predicts: they are those "
                "of the whole text, with the question. Set all but the answer to -100 (SFTTrainer does for columns "
                "`prompt` and `completion`, and with assistant_only_loss=True for conversations), or leave out "
                "causal=True where the model has an encoder"
            )
        for ids, what in (predicted, "prediction"), (label if self._sets is None else [], "label"):
            if _is_in_pieces(ids):
                raise ValueError(
                    f"the {what} of {row} stands in several pieces, with ignored tokens between them, as in packed "
                    "rows and in conversations of several turns: evaluate one answer per row (in SFTTrainer, set "
                    "eval_packing=False; if it packs for training, also set per_device_eval_batch_size=1)"
                )

    def _decode(self, rows: list[list[int]], what: str, before: int = 0) -> list[str]:
        """Decode ids and extract the answers. A label without an answer stays whole; such a prediction becomes ""."""
        known = len(self._tokenizer) if hasattr(self._tokenizer, "__len__") else math.inf
        for row, ids in enumerate(rows, before):
            if max(ids, default=0) >= known:
                raise ValueError(
                    f"the {what} of {name_row(row)} holds the id {max(ids)}, but the tokenizer has {known} tokens: "
                    "pass the tokenizer of the model"
                )
        texts = self._tokenizer.batch_decode(rows, skip_special_tokens=self._skip_special_tokens) if rows else []
        answers = []
        for row, text in enumerate(texts, before):
            text = as_text(text, f"the decoded {what} of {name_row(row)}")
            answer = extract_answer(text, self._extract, f"the {what} of {name_row(row)}")
            answers.append(answer if answer is not None else "" if what == "prediction" else text)
        return answers

    def _score(self) -> float:
        refuse_no_rows(self._predictions)
        columns = self._select_labelled() if self._sets is None else self._select_referenced(self._sets)
        return self._variant.mean(self._variant.score(*columns))

    def _select_labelled(self) -> tuple[list[str], list[str]]:
        """Select the predictions of rows with labels, and these labels as the only accepted answers."""
        rows = len(self._predictions)
        if len(self._labels) != rows:
            raise ValueError(
                f"there are {rows:,} predictions and {len(self._labels):,} labels: pass references, or an evaluation "
                "set with labels"
            )
        empty = [row for row, ids in enumerate(self._labels) if not ids]
        if empty:
            problem = (
                f"{len(empty):,} of {rows:,} rows have no labels (all are negative), the first is {name_row(empty[0])}"
            )
            advice = "pass references, or see whether answers are cut off at a maximal length"
            if len(empty) == rows:
                raise ValueError(f"{problem}: {advice}")
            warnings.warn(f"{problem}, and are left out of the score: {advice}", stacklevel=2)
        labels = self._decode(self._labels, "label")
        return list(compress(self._predictions, self._labels)), list(compress(labels, self._labels))

    def _select_referenced(self, sets: Mapping[Any, list[Sequence[str]]]) -> tuple[list[str], list[Sequence[str]]]:
        """Choose the set that was evaluated. Returns the predictions without repeated rows, and its references."""
        rows = len(self._predictions)
        candidates = [
            accepted for accepted in sets.values() if len(accepted) == rows or self._repeats_after(len(accepted))
        ]
        if not candidates:
            interrupted = "; or evaluate again, if an evaluation was interrupted before this one"
            raise ValueError(
                f"there are {rows:,} predictions but references for {_name_sets(sets)}: pass the accepted answers of "
                "each row of the evaluation set; pass those of several sets as a dict by their names"
                + (interrupted if self._batches > 1 else "")
            )
        if len(candidates) > 1:
            candidates = [accepted for accepted in candidates if all(self._fits(accepted) or [False])]
            if not candidates or any(accepted != candidates[0] for accepted in candidates):
                raise ValueError(
                    f"there are references for {_name_sets(sets)}, and neither the {rows:,} predictions nor their "
                    "labels tell which set was evaluated: make the label of each row one of its accepted answers, or "
                    "give each set a hook of its own (trainer.compute_metrics = hook before trainer.evaluate)"
                )
        self._warn_of_misfits(candidates[0])
        return self._predictions[: len(candidates[0])], candidates[0]

    def _warn_of_misfits(self, references: list[Sequence[str]]) -> None:
        fits = self._fits(references)
        if 2 * sum(fits) < len(fits):
            warnings.warn(
                f"only {sum(fits):,} of {len(fits):,} labels are accepted answers of their row: pass references "
                "in the order of the evaluation set (SFTTrainer changes it with shuffle_dataset=True), and see whether "
                "the labels are those of the answer alone",
                stacklevel=2,
            )

    def _repeats_after(self, rows: int) -> bool:
        """Whether the rows after so many rows repeat the first ones, as in the last batch of a distributed run.

        Rows are compared by their labels, which must not all be the same.
        """
        labels = self._labels
        return (
            0 < rows < len(labels) == len(self._predictions)
            and any(labels[rows:])
            and any(label != labels[0] for label in labels)
            and all(label == labels[place % rows] for place, label in enumerate(labels))
        )

    def _fits(self, references: list[Sequence[str]]) -> list[bool]:
        """For each row with a label, whether the label equals an accepted answer after normalization."""
        if len(self._labels) != len(self._predictions):
            return []
        labels = self._decode(self._labels[: len(references)], "label")
        texts, accepted = list(compress(labels, self._labels)), list(compress(references, self._labels))
        if not texts:
            return []
        _, similarities = scores_and_similarities(texts, accepted, variant=self._variant)
        return [similarity == 1.0 for similarity in similarities]


def _check_references(references: Any, name: object) -> list[Sequence[str]]:
    what = "references" if name is None else f"references[{name!r}]"
    accepted = as_column(references, what, "pass a list with the accepted answers of each row of the evaluation set")
    return [as_references(answers, f"the {what} of {name_row(row)}") for row, answers in enumerate(accepted)]


def _name_sets(sets: Mapping[Any, Sequence[object]]) -> str:
    """Name sets of references by their numbers of rows, and by their names if they have any."""
    names = (f"{len(rows):,} rows" + (f" ({name!r})" if name is not None else "") for name, rows in sets.items())
    return ", ".join(names) or "no set"


def _unpack_evaluation(eval_prediction: Any) -> tuple[Any, Any]:
    if hasattr(eval_prediction, "predictions"):
        return eval_prediction.predictions, eval_prediction.label_ids
    try:
        predictions, labels = eval_prediction
    except (TypeError, ValueError):
        raise ValueError(
            f"the evaluation is {describe(eval_prediction)}: "
            "pass an EvalPrediction, or a pair of predictions and labels"
        ) from None
    return predictions, labels


def _take_first(outputs: Any) -> Any:
    return outputs[0] if isinstance(outputs, tuple) else outputs


def _join_shape(array: Any) -> str:
    return " x ".join(map(str, array.shape))


def _find_highest(logits: Any) -> tuple[Any, Any]:
    """Find the highest logit at each position, NaN if any is NaN, and its id, in an array or a tensor."""
    highest = logits.max(-1)
    return (highest.values, highest.indices) if hasattr(highest, "indices") else (highest, logits.argmax(-1))


def _list_ids(array: Any, what: str) -> list[list[int]]:
    """Convert an array of ids to lists. Negative ids stand for no token."""
    rows: list[list[int]] | None = array.tolist() if getattr(array, "ndim", None) == 2 else None
    if rows is None or not all(isinstance(item, int) for row in rows for item in row[:1]):
        kind = f"an array of {_join_shape(array)} {array.dtype}" if hasattr(array, "dtype") else describe(array)
        raise ValueError(
            f"the {what} are {kind}: pass ids (rows x positions, whole numbers)"
            + (" or logits (rows x positions x vocabulary)" if what == "predictions" else "")
        )
    return rows


def _drop_negative(row: list[int]) -> list[int]:
    return [item for item in row if item >= 0]


def _is_in_pieces(row: list[int]) -> bool:
    """Whether negative ids stand between tokens, and not just before and after them."""
    tokens = _drop_negative(row)
    start = row.index(tokens[0]) if tokens else 0
    return row[start : start + len(tokens)] != tokens


# --------------------------------------------------------------------------------------------------
# anls_metric.metric
#
# The metric for Hugging Face evaluate.
#
# The class `Anls` is created on first use, so that this module can be imported without evaluate.
# --------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    from evaluate import Metric as _Base

    from anls_metric.nested import Average, NoneKeys
else:
    _Base = object  # `_define_metric` adds evaluate.Metric as a base class


_Item = TypeVar("_Item")

_NOT_GIVEN: Any = object()  # None is a value that can be scored

_DESCRIPTION = """\
ANLS (Average Normalized Levenshtein Similarity) scores answers that are read from documents and scenes, as in
DocVQA, InfographicVQA and ST-VQA. An answer scores 1 - edit distance / length against the closest of the
accepted answers, so that a slip of the OCR costs little. If this similarity is below the threshold of 0.5, the
answer is taken to be another one, and scores 0. ANLS is the mean of the scores.
"""

_INPUTS_DESCRIPTION = """
Args:
    predictions: list of N strings, the answers to score.
    references: list of N lists of strings, the accepted answers to each question; a string counts as one answer.
    variant: which ANLS: "standard" (the default), "rrc" (the leaderboard's script), or another row of VARIANTS.
    threshold: from 0 to 1; a similarity below it scores 0. Default: the variant's own, 0.5 for most.
    ignore_case: whether case is ignored. Default: what the variant does; "standard" ignores it.
    none_keys: for "anls_star" only: whether a predicted key without a value is "counted" as wrong, or "ignored".
    average: for "anls_star" only: whether the score is the mean over "rows" or over all "leaves".
    return_all_scores: whether to return the score of each answer as well. Default: False.
Returns:
    anls: the mean of the scores, from 0 to 1.
    anls_scores: with return_all_scores, the list of the N scores.
    The configurations "anls_star" and "anlsl", for lists and nested values, return these under their own names.
Raises:
    ValueError: what is wrong, and in which row. The metric is empty after it.
Examples:
    >>> import evaluate
    >>> anls = evaluate.load("anls")
    >>> anls.compute(predictions=["CocaCola"], references=[["Coca Cola", "Coca Cola Company"]])
    {'anls': 0.8888888888888888}

    >>> predictions = ["The Coca", "Coca cola", "12/15/89"]
    >>> references = [["Coca Cola", "Coca Cola Company"], ["Coca Cola", "Coca Cola Company"], ["12/15/88"]]
    >>> anls.compute(predictions=predictions, references=references, return_all_scores=True)
    {'anls': 0.625, 'anls_scores': [0.0, 1.0, 0.875]}

    >>> anls.compute(predictions=["ab  "], references=["a"], variant="rrc")
    {'anls': 0.75}

    >>> for prediction, reference in zip(predictions, references):
    ...     anls.add(prediction=prediction, reference=reference)
    >>> anls.compute(ignore_case=False)
    {'anls': 0.5879629629629629}

    >>> anls.signature(variant="rrc")
    'anls|rrc|threshold:0.5|v2.0.0'
"""

CITATION = """\
@inproceedings{biten2019scene,
    title = {Scene Text Visual Question Answering},
    author = {Biten, Ali Furkan and Tito, Ruben and Mafla, Andres and Gomez, Lluis and Rusi{\\~n}ol, Mar{\\c{c}}al and
        Valveny, Ernest and Jawahar, C. V. and Karatzas, Dimosthenis},
    booktitle = {Proceedings of the IEEE/CVF International Conference on Computer Vision (ICCV)},
    pages = {4291--4301},
    year = {2019},
}
@inproceedings{mathew2021docvqa,
    title = {{DocVQA}: A Dataset for {VQA} on Document Images},
    author = {Mathew, Minesh and Karatzas, Dimosthenis and Jawahar, C. V.},
    booktitle = {Proceedings of the IEEE/CVF Winter Conference on Applications of Computer Vision (WACV)},
    pages = {2200--2209},
    year = {2021},
}
"""


_PAPERS = ("https://arxiv.org/abs/1905.13648", "https://arxiv.org/abs/2007.00398")
_NEEDS_EVALUATE = "the metric needs Hugging Face evaluate: pip install evaluate datasets"


def load(config_name: str | None = None, **kwargs: Any) -> Anls:
    """Load the metric as ``evaluate.load`` does, without asking the Hub.

    Args:
        config_name: the default variant of ``compute``; or "anls_star" or "anlsl" to score lists and nested values.
        **kwargs: defaults for the options of ``compute`` (``variant``, ``threshold``, ``ignore_case``; for "anls_star"
            also ``none_keys`` and ``average``), and arguments of ``evaluate.Metric`` (``num_process``, ``process_id``,
            ``experiment_id``, ``cache_dir``, ...).

    Returns:
        An ``Anls``, a subclass of ``evaluate.Metric``.

    Raises:
        ImportError: evaluate is not installed.
        ValueError: an unknown option or variant.

    Example:
        >>> load(variant="rrc").compute(predictions=["ab  "], references=["a"])
        {'anls': 0.75}

    Source: https://huggingface.co/docs/evaluate/package_reference/loading_methods.
    """
    metric: Anls = __getattr__("Anls")(config_name, **kwargs)
    return metric


def _import_nested() -> Any:
    try:
        from anls_metric import nested
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError("lists and nested values need the package anls-metric: pip install anls-metric") from error
    return nested


class _AnlsBehaviour(_Base):  # type: ignore[misc]
    """The metric for Hugging Face evaluate.

    Rows are checked when they are added, and kept in a queue. They pass through Arrow only in a distributed run
    (``num_process`` > 1), in which the base class gathers the rows of all processes in the first process.

    `Anls`, created on first use, combines this class with ``evaluate.Metric``.
    """

    def __init__(
        self,
        config_name: str | None = None,
        *,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
        **kwargs: Any,
    ) -> None:
        # The added rows, batch by batch: predictions and references. A batch is added and removed by one call in C, so
        # that neither Ctrl-C nor another thread can separate its columns.
        self._batches: deque[tuple[Sequence[Any], Sequence[Any]]] = deque()
        self._of_values = config_name in OF_VALUES
        self._options: dict[str, Any] = {"variant": "standard" if config_name in (None, "default") else config_name}
        self._known_options = self._find_scorer().options if self._of_values else ("variant", *Variant.options)
        _refuse_unknown(kwargs, (*self._known_options, *_BASE_ARGUMENTS))
        self._options = self._choose_options(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        )
        self._find_scorer()  # refuses wrong options
        super().__init__(config_name, **kwargs)

    def _choose_options(self, **options: Any) -> dict[str, Any]:
        """Combine the options of a call with the defaults of the metric."""
        options = {name: value for name, value in options.items() if value is not None}
        _refuse_unknown(options, self._known_options)
        return self._options | options

    def _find_scorer(self, **options: Any) -> Scorer:
        """Get the scorer for these options."""
        get: Callable[..., Scorer] = _import_nested().get_value_variant if self._of_values else get_variant
        return get(**(self._choose_options(**options) if options else self._options))

    def _info(self) -> Any:
        import datasets
        import evaluate

        text = datasets.Value("string", id="sequence")
        several = datasets.Sequence(datasets.Value("string"), id="references")
        columns = [{"predictions": text, "references": several}, {"predictions": text, "references": text}]
        scorer: Any = self._find_scorer()
        return evaluate.MetricInfo(
            description=f"{scorer.meaning}.\n" if self._of_values else _DESCRIPTION,
            citation=CITATION,
            inputs_description=_INPUTS_DESCRIPTION,
            features=list(map(datasets.Features, columns[1:] if self._of_values else columns)),
            license="Apache-2.0",
            homepage="https://rrc.cvc.uab.es/?ch=17&com=tasks",
            codebase_urls=["https://github.com/shunk031/ANLS", "https://rrc.cvc.uab.es"],
            reference_urls=[scorer.source] if self._of_values else list(_PAPERS),
        )

    def __len__(self) -> int:
        # A copy, as other threads may add batches. `tuple` would not do: it can start the garbage collector half-way.
        return sum(len(predictions) for predictions, _ in self._batches.copy())

    def signature(
        self,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
    ) -> str:
        """Return the signature of the score that `compute` returns with these options. Report it with the score."""
        return self._find_scorer(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        ).signature()

    def build_compute_metrics(
        self,
        tokenizer: Any,
        references: Any = None,
        *,
        causal: bool = False,
        extract: Extract | str | None = None,
        skip_special_tokens: bool = True,
        **options: Any,
    ) -> ComputeMetrics:
        """Build ``compute_metrics`` for a transformers ``Trainer``: see the function `build_compute_metrics`."""
        _refuse_unknown(options, ("references", "causal", "extract", "skip_special_tokens", *self._known_options))
        scorer = self._find_scorer(**options)
        if not isinstance(scorer, Variant):
            raise ValueError(
                f"{scorer.name} scores values, and the labels of a Trainer are texts: take evaluate.load('anls')"
            )
        return build_compute_metrics(
            tokenizer,
            references,
            causal=causal,
            extract=extract,
            skip_special_tokens=skip_special_tokens,
            variant=scorer,
        )

    def build_reward(
        self,
        references_column: str = "answers",
        extract: Extract | str | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Callable[..., list[float | None]]:
        """Build a reward function for TRL: see `build_reward` of ``anls_metric.trl``."""
        try:
            from anls_metric.trl import build_reward
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("anls_metric"):
                raise
            raise ImportError("a reward needs the package anls-metric: pip install anls-metric") from error
        return build_reward(references_column, extract, name=name, variant=self._find_scorer(**options))

    def add(self, *, prediction: Any = _NOT_GIVEN, reference: Any = _NOT_GIVEN, **columns: Any) -> None:
        """Add one prediction and its references, for the next `compute`.

        Args:
            prediction: a string; for "anls_star" and "anlsl" a value.
            reference: the accepted answers: a list of strings, or one string; for a value, the accepted value.
            **columns: the same two under the names ``predictions`` and ``references``, which ``evaluate.combine`` uses.

        Raises:
            ValueError: the row cannot be scored. It is not added.
        """
        if columns:
            _refuse_unknown(columns, ("predictions", "references"))
            if len(columns) + (prediction is not _NOT_GIVEN) + (reference is not _NOT_GIVEN) > 2:
                raise ValueError("add takes one prediction and its references, each of them once")
            prediction = columns.get("predictions", prediction)
            reference = columns.get("references", reference)
        if prediction is _NOT_GIVEN or reference is _NOT_GIVEN:
            raise ValueError("add takes a prediction and its references: pass both")
        if type(prediction) is str and not self._of_values and is_list_of_texts(reference):  # a much faster check
            self._batches.append(((prediction,), (tuple(reference),)))
        else:
            self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None, **unknown: Any) -> None:
        """Add predictions and their references, for the next `compute`.

        Args:
            predictions: N strings; for "anls_star" and "anlsl" N values.
            references: the accepted answers of each: N lists of strings, or N strings; for values, N accepted values.
            **unknown: no other arguments are allowed.

        Raises:
            ValueError: a row cannot be scored; the message names it, counted from the first row that was added. No part
                of the batch is added.
        """
        _refuse_unknown(unknown, ("predictions", "references"))
        # Rows are counted only for an error: counting them for each batch would take quadratic time.
        rows = self._find_scorer().check(predictions, references, lambda row: name_row(len(self) + row))
        # A copy, because the caller may change its lists later.
        self._batches.append(deepcopy(rows) if self._of_values else (tuple(rows[0]), tuple(map(tuple, rows[1]))))

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        variant: str | Variant | None = None,
        threshold: float | None = None,
        ignore_case: bool | None = None,
        return_all_scores: bool = False,
        none_keys: NoneKeys | None = None,
        average: Average | None = None,
        **unknown: Any,
    ) -> Any:
        """Score the rows that were added and the rows given here. Afterwards the metric is empty.

        Args:
            predictions: N strings; for "anls_star" and "anlsl" N values. None scores only the rows that were added.
            references: the accepted answers of each: N lists of strings, or N strings; for values, N accepted values.
            variant, threshold, ignore_case: which ANLS, as `get_variant` takes them; None takes the options with which
                the metric was loaded.
            return_all_scores: whether to return the score of each row as well.
            none_keys: an option of "anls_star": whether a predicted key without a value is "counted" as wrong, or
                "ignored".
            average: an option of "anls_star": the mean over "rows", or over all "leaves".
            **unknown: no other arguments are allowed.

        Returns:
            A dict with the mean score as "anls" and, with ``return_all_scores``, the N scores as "anls_scores". For
            "anls_star" and "anlsl" the keys have these names instead. In a distributed run, all processes but the first
            return None.

        Raises:
            ValueError: a row cannot be scored, and the message names it; or an option is wrong. The metric is empty
                afterwards.
        """
        batches = _drain(self._batches)
        _refuse_unknown(unknown, ("predictions", "references", *self._known_options, "return_all_scores"))
        if not isinstance(return_all_scores, bool):
            raise ValueError(f"return_all_scores is {describe(return_all_scores)}: it must be True or False")
        scorer = self._find_scorer(
            variant=variant, threshold=threshold, ignore_case=ignore_case, none_keys=none_keys, average=average
        )
        if batches:
            columns = [list(chain.from_iterable(column)) for column in zip(*batches)]
            if predictions is not None or references is not None:
                row_name = name_rows_from(len(columns[0]), name_row)
                for column, more in zip(columns, self._find_scorer().check(predictions, references, row_name)):
                    column += more
            predictions, references = columns
        elif predictions is None and references is None:
            predictions, references = [], []
        if self.num_process > 1:
            return self._gather(predictions, references, scorer, return_all_scores)
        return self._result(predictions, references, scorer, return_all_scores)

    def _result(self, predictions: Any, references: Any, scorer: Scorer, return_all_scores: bool) -> dict[str, Any]:
        scores = scorer.score(predictions, references)
        result = {scorer.key: scorer.mean(scores)}
        return result | ({f"{scorer.key}_scores": list(map(float, scores))} if return_all_scores else {})

    # The rest of the class is for distributed runs: each process writes its rows to a file, and process 0 reads all
    # files, scores the rows and removes the files.

    _read_files: Sequence[str] = ()
    file_paths: Any  # of the base class

    def _gather(self, predictions: Any, references: Any, scorer: Scorer, return_all_scores: bool) -> Any:
        import datasets

        encode = _import_nested().to_json if self._of_values else list
        # All rows of a process become one row of JSON, so that a process that fails leaves all of its rows or none.
        row = [json.dumps(encode(column)) for column in self._find_scorer().check(predictions, references)]
        text = datasets.Value("large_string")
        try:
            self.selected_feature_format = datasets.Features({"predictions": text, "references": text})
            self._init_writer()  # the processes wait for each other here, even if one has no rows
            super().add_batch(predictions=row[:1], references=row[1:])
            result = super().compute(scorer=scorer, return_all_scores=return_all_scores)
            if self.process_id:  # the file of the next round must not replace this file before it is read
                self._wait_until(self.process_id, exists=False)
            return result
        finally:
            self._leave()

    def _check_rendez_vous(self) -> None:
        # The base class tries to lock the file of process 0. If that fails, it concludes that process 0 is running. Two
        # processes that try at the same moment would take each other for process 0, so wait for the file first.
        self._wait_until(0, exists=True)
        super()._check_rendez_vous()

    def _wait_until(self, process_id: int, exists: bool) -> None:
        """Wait until the file of a process exists, or no longer exists."""
        path = os.path.join(self.data_dir, f"{self.experiment_id}-{self.num_process}-{process_id}.arrow")
        end = time.monotonic() + self.timeout
        while os.path.exists(path) != exists:
            if time.monotonic() > end:
                goal = "begin" if exists else "read its rows"
                raise ValueError(f"process {self.process_id} waited {self.timeout} s for process 0 to {goal}")
            time.sleep(0.01)

    def _compute(
        self, predictions: Iterable[str], references: Iterable[str], scorer: Scorer, return_all_scores: bool
    ) -> dict[str, Any]:
        self._read_files, self.file_paths = self.file_paths, ()  # `_leave` removes them, not the base class
        decode = _import_nested().from_json if self._of_values else list
        values, accepted = (
            list(chain.from_iterable(decode(json.loads(row)) for row in column)) for column in (predictions, references)
        )
        return self._result(values, accepted, scorer, return_all_scores)

    def _leave(self) -> None:
        """Release all locks, then remove the files. A process may begin the next round once its file is removed."""
        for lock in (self.filelock, self.rendez_vous_lock, *(self.filelocks or ())):
            if lock is not None:
                lock.release(force=True)
        paths = [self.cache_file_name, *self._read_files]
        self.__dict__.update(dict.fromkeys(_BASE_STATE), _read_files=())
        for path in filter(None, paths):
            with suppress(OSError):
                os.remove(path)


def _drain(rows: deque[_Item]) -> list[_Item]:
    """Drain a queue. Each item goes to one caller, even if several call at once."""
    items: list[_Item] = []
    with suppress(IndexError):
        # One call in C takes all items, so that an interrupt cannot lose some of them.
        items.extend(starmap(rows.popleft, repeat(())))
    return items


# The arguments of evaluate's constructor besides the configuration. It would silently accept any others.
_BASE_ARGUMENTS = (
    *("keep_in_memory", "cache_dir", "num_process", "process_id", "seed", "experiment_id", "hash"),
    *("max_concurrent_cache_files", "timeout"),
)
# The attributes that evaluate sets during a distributed run.
_BASE_STATE = (
    *("writer", "data", "selected_feature_format", "cache_file_name"),
    *("filelock", "rendez_vous_lock", "filelocks"),
)


def _refuse_unknown(arguments: Mapping[str, object], known: Sequence[str]) -> None:
    for name in arguments:
        if name not in known:
            raise ValueError(describe_unknown("argument", name, known))


def _define_metric() -> type:
    try:
        import evaluate
    except ImportError as error:
        raise ImportError(_NEEDS_EVALUATE) from error
    return type(
        "Anls",
        (_AnlsBehaviour, evaluate.Metric),
        {"__module__": __name__, "__doc__": _AnlsBehaviour.__doc__},
    )


def __getattr__(name: str) -> Any:
    if name != "Anls":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault("Anls", _define_metric())


if TYPE_CHECKING:
    Anls = _AnlsBehaviour
elif hasattr(sys.modules.get("evaluate"), "Metric"):
    # evaluate.load looks for a subclass of Metric among the names of the module, right after its import.
    Anls = _define_metric()

if __name__ == "__main__":
    sys.exit("this file is a module: pip install anls-metric has the command anls")
