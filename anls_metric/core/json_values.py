"""Converts values to JSON and back. JSON has no tuples, so a tuple is written as ``{"__tuple__": [...]}``."""

from __future__ import annotations

from typing import Any

from anls_metric.core.checks import describe


def from_json(value: Any) -> Any:
    """Convert a value from ``json.load``, replacing each ``{"__tuple__": [...]}`` with a tuple of alternative values.

    Args:
        value: what ``json.load`` returned.

    Returns:
        The same value, with tuples.

    Raises:
        ValueError: a dict has the key "__tuple__" and other keys, the value of this key is not a list, or the nesting
            is too deep.

    Example:
        >>> from_json({"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "pages": [1]})
        {'date': ('31.12.2023', '31 Dec 2023'), 'pages': [1]}
    """
    try:
        return _with_tuples(value)
    except RecursionError:
        raise ValueError("the value is nested too deeply, or contains itself: pass a flatter one") from None


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_tuples(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__tuple__" not in value:
        return {key: _with_tuples(item) for key, item in value.items()}
    if len(value) > 1 or not isinstance(value["__tuple__"], list):
        raise ValueError(f'{describe(value)}: write alternative values as {{"__tuple__": [...]}}, with no other key')
    return tuple(_with_tuples(item) for item in value["__tuple__"])


def to_json(value: Any) -> Any:
    """Convert a value to one that ``json.dump`` can write and `from_json` can read.

    Args:
        value: a value that can be scored.

    Returns:
        The same value, with ``{"__tuple__": [...]}`` for each tuple.

    Raises:
        ValueError: a dict has a key that is not a string, or the key "__tuple__".

    Example:
        >>> to_json({"date": ("31.12.2023", "31 Dec 2023"), "pages": [1]})
        {'date': {'__tuple__': ['31.12.2023', '31 Dec 2023']}, 'pages': [1]}
    """
    if isinstance(value, (list, tuple)):
        items = [to_json(item) for item in value]
        return items if isinstance(value, list) else {"__tuple__": items}
    if value is None or isinstance(value, float) or type(value) in (str, int, bool):
        return value
    if not isinstance(value, dict):  # an enumeration, for example; it is compared as this string
        return str(value)
    for key in value:
        if not isinstance(key, str) or key == "__tuple__":
            raise ValueError(f"the key {describe(key)} cannot be written as JSON: use a different string")
    return {key: to_json(item) for key, item in value.items()}
