"""Builds trees from values. If a part of a value cannot be scored, the error names the position of that part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from numbers import Number
from typing import Any

from anls_metric.core.checks import describe
from anls_metric.core.strings.rows import are_strings
from anls_metric.core.values.lists import List
from anls_metric.core.values.trees import NOTHING, Dict, Node, OneOf, Scalar

# Deeper than any document. Each level of lists takes six of the 1000 nested calls that Python allows.
_DEEPEST = 100

# The kinds of values that cannot be scored -> what to do about them. The first kind that fits is used.
_REMEDIES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda value: isinstance(value, (bytes, bytearray)), "decode the bytes first"),
    (lambda value: isinstance(value, (set, frozenset)), "pass a list"),
    (lambda value: hasattr(value, "isoformat"), "pass the date as a string, for example value.isoformat()"),
    (lambda value: hasattr(value, "tolist"), "pass value.tolist()"),
    (lambda value: hasattr(value, "model_dump"), 'pass value.model_dump(mode="json")'),
    (lambda value: hasattr(value, "__dataclass_fields__"), "pass dataclasses.asdict(value)"),
    (lambda value: hasattr(value, "__attrs_attrs__"), "pass attrs.asdict(value)"),
    (lambda value: isinstance(value, Number), "pass the string that it is to be compared as, for example str(value)"),
    (lambda value: True, "a value is a string, number, bool, None, list or dict"),
)


def build_trees(prediction: Any, reference: Any, row: str = "") -> tuple[Node, Node]:
    """Build the trees of the prediction and the reference. Raises a ValueError that describes and locates a part that
    cannot be scored.
    """
    predicted = _build_tree(prediction, "prediction", row)
    reference = unwrap(reference)
    is_list = isinstance(reference, (list, tuple)) and reference
    if isinstance(prediction, str) and is_list and are_strings(reference):  # as in classical question answering
        return predicted, OneOf(reference, [*map(Scalar, reference)])
    return predicted, _build_tree(reference, "reference", row)


def _build_tree(value: Any, side: str, row: str, path: tuple[Any, ...] = ()) -> Node:
    """Build the tree of the value at a path that consists of list indices and of keys, each key in a tuple."""
    if type(value) is str:
        return Scalar(value)
    if len(path) > _DEEPEST:
        problem = f"is nested more than {_DEEPEST} levels deep, or contains itself: pass a flatter value"
    elif isinstance(value, dict):
        return Dict(value, {key: _build_tree(item, side, row, (*path, (key,))) for key, item in value.items()})
    elif isinstance(value, tuple) and side == "prediction":
        problem = "is a tuple, which in a reference means one of several values: pass a list"
    elif isinstance(value, tuple) and not value:
        problem = "is an empty tuple, which offers no values: pass at least one"
    elif isinstance(value, (list, tuple)):
        items = [_build_tree(item, side, row, (*path, place)) for place, item in enumerate(value)]
        return List(value, items) if isinstance(value, list) else OneOf(value, items)
    elif value is None:
        return NOTHING
    elif isinstance(value, float):
        return Scalar(float(value))  # a numpy float compares as arrays do
    elif isinstance(value, (str, int)):
        return Scalar(value)
    else:
        remedy = next(remedy for fits, remedy in _REMEDIES if fits(value))
        problem = f"is {describe(value)}: {remedy}"
    raise ValueError(f"{_name_part(name_side(side, row), path)} {problem}")


def drop_keys(value: Any, paths: Collection[str], before: str = "", depth: int = 0) -> Any:
    """Copy a value without the keys at the given paths. Lists add nothing to a path.

    Example:
        >>> drop_keys({"total": 5, "tokens": 7, "items": [{"name": "tea", "score": 0.5}]}, ("tokens", "items.score"))
        {'total': 5, 'items': [{'name': 'tea'}]}
    """
    if depth > _DEEPEST:  # which is rejected when its tree is built
        return value
    if isinstance(value, dict):
        named = [(f"{before}{key}", key, item) for key, item in value.items()]
        return {key: drop_keys(item, paths, f"{path}.", depth + 1) for path, key, item in named if path not in paths}
    if type(value) in (list, tuple):
        return type(value)([drop_keys(item, paths, before, depth + 1) for item in value])
    return value


def unwrap(reference: Any) -> Any:
    """Replace a tuple of one value with the value itself, because both mean the same thing."""
    while isinstance(reference, tuple) and len(reference) == 1:
        reference = reference[0]
    return reference


def name_side(side: str, row: str) -> str:
    """Return the name of one side of a row for an error message."""
    return f"the {side} of {row}" if row else f"the {side}"


def name_key(key: Any) -> str:
    """Format a key as one step of a path."""
    if isinstance(key, str) and key.isidentifier() and len(key) <= 60:
        return f".{key}"
    text = repr(key)
    return f"[{text if len(text) <= 60 else text[:57] + '...'}]"


def _name_part(whole: str, path: Sequence[Any]) -> str:
    """Return the name of a part of a value for an error message, with the keys and indices that lead to the part."""
    if not path:
        return whole
    steps = [f"[{step}]" if isinstance(step, int) else name_key(step[0]) for step in path]
    is_counted = any(isinstance(step, int) for step in path) and "counted from 0" not in whole
    counted = " (counted from 0)" if is_counted else ""
    return f"{whole}, {''.join(steps).removeprefix('.')}{counted},"
