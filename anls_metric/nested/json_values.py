"""Values as JSON, which knows no tuples: ``{"__tuple__": [...]}`` is one of several."""

from __future__ import annotations

from typing import Any

from anls_metric.core.rows import describe


def from_json(value: Any) -> Any:
    """A value as JSON has it, which knows no tuples: ``{"__tuple__": [...]}`` is one of several.

    Args:
        value: what ``json.load`` returned.

    Returns:
        The same, with tuples.

    Raises:
        ValueError: a dict with "__tuple__" and other keys, or without a list behind it.

    Example:
        >>> from_json({"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "pages": [1]})
        {'date': ('31.12.2023', '31 Dec 2023'), 'pages': [1]}
    """
    try:
        return _with_tuples(value)
    except RecursionError:
        raise ValueError("the value is nested too deep, or holds itself: pass a flatter one") from None


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_tuples(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__tuple__" not in value:
        return {key: _with_tuples(item) for key, item in value.items()}
    if len(value) > 1 or not isinstance(value["__tuple__"], list):
        raise ValueError(f'{describe(value)}: write one of several values as {{"__tuple__": [...]}}, and nothing else')
    return tuple(_with_tuples(item) for item in value["__tuple__"])


def to_json(value: Any) -> Any:
    """A value as JSON can write it: what `from_json` reads.

    Args:
        value: a value that can be scored.

    Returns:
        The same, where a tuple is ``{"__tuple__": [...]}``.

    Raises:
        ValueError: a dict with a key that JSON does not have: one that is no text, or "__tuple__" itself.

    Example:
        >>> to_json({"date": ("31.12.2023", "31 Dec 2023"), "pages": [1]})
        {'date': {'__tuple__': ['31.12.2023', '31 Dec 2023']}, 'pages': [1]}
    """
    if isinstance(value, (list, tuple)):
        items = [to_json(item) for item in value]
        return items if isinstance(value, list) else {"__tuple__": items}
    if isinstance(value, float):
        return float(value)
    if value is None or type(value) in (str, int, bool):
        return value
    if not isinstance(value, dict):  # an enumeration and the like: it is compared as that text
        return str(value)
    for key in value:
        if not isinstance(key, str) or key == "__tuple__":
            raise ValueError(f"the key {describe(key)} cannot be written as JSON: name it by another text")
    return {key: to_json(item) for key, item in value.items()}
