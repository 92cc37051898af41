"""Builds trees from values, and refuses what cannot be scored, with its place in the value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from typing import Any

from anls_metric.core.rows import as_column, describe
from anls_metric.nested.lists import List
from anls_metric.nested.trees import NOTHING, Dict, Node, OneOf, Scalar, Text

# Deeper than any document, and within Python's recursion limit of 1000 calls.
_DEEPEST = 300

# The kinds of values that cannot be scored -> what to do about them. The first kind that fits counts.
_REMEDIES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda value: isinstance(value, (bytes, bytearray)), "decode the bytes first"),
    (lambda value: isinstance(value, (set, frozenset)), "pass a list"),
    (lambda value: hasattr(value, "isoformat"), "pass the text of the date, for example value.isoformat()"),
    (lambda value: hasattr(value, "tolist"), "pass value.tolist()"),
    (lambda value: isinstance(value, Number), "pass the text that it is to be compared as, for example str(value)"),
    (lambda value: True, "a value is a text, number, bool, None, list or dict"),
)


class _RefusedError(Exception):
    """A value that cannot be scored. `steps` is the path to it in reverse order: keys, and indices of lists."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.steps: list[str | int] = []


class _Leaves(dict[str, Text]):
    """One leaf for each text that occurs in a prediction or its reference."""

    def __missing__(self, text: str) -> Text:
        leaf = self[text] = Text(text, text)
        return leaf


def build_trees(prediction: Any, reference: Any, row: str = "") -> tuple[Node, Node]:
    """Build the trees of both sides. ValueError: a part cannot be scored; the message says which, and where it is."""
    reference = unwrap(reference)
    if isinstance(prediction, str) and _is_list_of_texts(reference):
        reference = tuple(reference)  # as in classical question answering, these are alternatives
    leaves = _Leaves()
    side = "prediction"
    try:
        predicted = _build_tree(prediction, False, leaves)
        side = "reference"
        return predicted, _build_tree(reference, True, leaves)
    except _RefusedError as refused:
        raise ValueError(f"{_name_part(name_side(side, row), refused.steps[::-1])} {refused}") from None


def _build_tree(value: Any, is_reference: bool, leaves: _Leaves, depth: int = 0) -> Node:
    """Build the tree of a value. Lists and dicts add their step to the error of an item that is refused."""
    if type(value) is str:
        return leaves[value]
    if depth > _DEEPEST:
        raise _RefusedError(f"is nested more than {_DEEPEST} levels deep, or holds itself: pass a flatter value")
    if isinstance(value, dict):
        return _build_dict(value, is_reference, leaves, depth)
    if isinstance(value, (list, tuple)):
        return _build_list(value, is_reference, leaves, depth)
    if value is None:
        return NOTHING
    if isinstance(value, (str, float, int)):
        try:
            plain = float(value) if isinstance(value, float) else value  # a numpy float compares as an array does
            return Scalar(plain, str(plain))
        except ValueError:  # Python refuses to print a whole number of more than 4300 digits
            raise _RefusedError("is a whole number of thousands of digits: pass it as a text") from None
    remedy = next(remedy for fits, remedy in _REMEDIES if fits(value))
    raise _RefusedError(f"is {describe(value)}: {remedy}")


def _build_dict(value: dict[Any, Any], is_reference: bool, leaves: _Leaves, depth: int) -> Node:
    items: dict[Any, Node] = {}
    key = None
    try:
        for key, item in value.items():
            items[key] = leaves[item] if type(item) is str else _build_tree(item, is_reference, leaves, depth + 1)
    except _RefusedError as refused:
        refused.steps.append(name_key(key))
        raise
    return Dict(value, items)


def _build_list(value: list[Any] | tuple[Any, ...], is_reference: bool, leaves: _Leaves, depth: int) -> Node:
    if isinstance(value, tuple) and not is_reference:
        raise _RefusedError("is a tuple, which means one of several values in a reference: pass a list")
    items: list[Node] = []
    try:
        for item in value:
            items.append(leaves[item] if type(item) is str else _build_tree(item, is_reference, leaves, depth + 1))
    except _RefusedError as refused:
        refused.steps.append(len(items))
        raise
    if isinstance(value, list):
        return List(value, items)
    if not items:
        raise _RefusedError("is an empty tuple, one of no values: pass at least one")
    return OneOf(value, items)


def unwrap(reference: Any) -> Any:
    """Replace a tuple of one value by this value, since it stands for the value."""
    while isinstance(reference, tuple) and len(reference) == 1:
        reference = reference[0]
    return reference


def _is_list_of_texts(reference: Any) -> bool:
    return isinstance(reference, list) and bool(reference) and all(isinstance(item, str) for item in reference)


def as_columns(predictions: Iterable[Any], references: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Convert both columns to lists of the same length. ValueError: that is impossible."""
    predictions = as_column(predictions, "predictions", "pass a list with one value for each row")
    references = as_column(references, "references", "pass a list with one value for each row")
    if len(predictions) != len(references):
        raise ValueError(
            f"there are {len(predictions):,} predictions but {len(references):,} references: pass one for each"
        )
    return predictions, references


def name_side(side: str, row: str) -> str:
    """Name one side of a row for an error."""
    return f"the {side} of {row}" if row else f"the {side}"


def name_key(key: Any) -> str:
    """Format a key as a step of a path."""
    if isinstance(key, str) and key.isidentifier() and len(key) <= 60:
        return f".{key}"
    text = repr(key)
    return f"[{text if len(text) <= 60 else text[:57] + '...'}]"


def _name_part(whole: str, steps: Sequence[str | int]) -> str:
    """Name a part of a value for an error, by the keys and indices that lead to it."""
    if not steps:
        return whole
    path = "".join(step if isinstance(step, str) else f"[{step}]" for step in steps).removeprefix(".")
    has_place = any(isinstance(step, int) for step in steps)
    return f"{whole}, {path}{' (counted from 0)' if has_place and 'counted from 0' not in whole else ''},"
