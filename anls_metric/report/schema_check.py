"""Checks whether values have the types in the schema, because a file from a stranger may contain other types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict


def list_mismatches(value: Any, kind: Any, place: str = "document", knows_all: bool = False) -> Iterator[str]:
    """List the positions at which a value does not have the type that the schema requires.

    Args:
        value: a JSON value.
        kind: a type, which is a `TypedDict`, a list, a mapping, a union with None, or a plain type.
        place: the position of the value, for the message.
        knows_all: whether a key that is not in the schema is also a mismatch.

    Example:
        >>> list(list_mismatches({"a": [1, None]}, dict[str, list[int]]))
        ['document.a.1: not int']
    """
    outer, inner = get_origin(kind), get_args(kind)
    children: Any = ()
    if kind is Any:
        return
    if is_typeddict(kind):
        if not isinstance(value, dict):
            yield f"{place}: not {kind.__name__}"
            return
        hints = _find_hints(kind)
        unknown = value.keys() - hints.keys() if knows_all else ()
        yield from (f"{place}.{key}" for key in (*unknown, *(kind.__required_keys__ - value.keys())))
        children = ((each, hints[key], key) for key, each in value.items() if key in hints)
    elif outer in (dict, Mapping):
        if isinstance(value, dict):
            children = ((each, inner[1], key) for key, each in value.items())
        else:
            yield f"{place}: not a dict"
    elif outer is list:
        if isinstance(value, list):
            children = ((each, inner[0], number) for number, each in enumerate(value))
        else:
            yield f"{place}: not a list"
    elif inner:  # a union with None
        children = () if value is None else ((value, inner[0], ""),)
    elif not isinstance(value, (int, float) if kind is float else kind) or (
        isinstance(value, bool) and kind is not bool
    ):
        yield f"{place}: not {kind.__name__}"
    for child, of_child, key in children:
        inside = place if key == "" else f"{place}.{str(key)[:40]}"
        yield from list_mismatches(child, of_child, inside, knows_all)


@cache
def _find_hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
