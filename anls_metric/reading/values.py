"""Answers that are lists and nested values: what a text holds of them, as JSON."""

from __future__ import annotations

import json
from typing import Any

_OPENING = ("{", "[")


def value_of(text: str) -> Any:
    """The value that a text is, as JSON.

    Args:
        text: all of it is JSON.

    Returns:
        The value; a number as it is written, since 0.10 is an answer of four characters.

    Raises:
        ValueError: it is not JSON, or nested too deep.

    Example:
        >>> value_of('{"total": "12.50"}'), value_of('"tea"'), value_of("0.10"), value_of("null")
        ({'total': '12.50'}, 'tea', '0.10', None)
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return text.strip() if isinstance(value, (int, float)) else value


def value_or_text(text: str) -> Any:
    """The object or list that a text is, as JSON; any other text as it is.

    Example:
        >>> value_or_text('["tea", "milk"]'), value_or_text("[1] tea"), value_or_text("0.10")
        (['tea', 'milk'], '[1] tea', '0.10')
    """
    if text.lstrip().startswith(_OPENING):
        try:
            return value_of(text)
        except ValueError:
            pass
    return text
