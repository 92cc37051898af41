"""Parses lists that are written as strings. Many programs run such strings with Python's `eval`, but rules read only
literals.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

_LONGEST = 100_000  # characters; Python's parser takes hundreds of times the memory of the string


class NoLiteralError(ValueError):
    """The error that is raised if a string is not a Python literal."""


class TooLargeError(NoLiteralError):
    """The error that is raised if a string is longer or more deeply nested than any answer can be."""


def parse_literal(text: str, default: Any = None) -> Any:
    """Parse a Python literal, or return the default for any other string.

    Example:
        >>> parse_literal("['a', 2]"), parse_literal("a, 2", [])
        (['a', 2], [])
    """
    try:
        return read_literal(text)
    except NoLiteralError:
        return default


def read_literal(text: str) -> Any:
    """Read a Python literal, which may be a string, number, list, tuple, dict, set, True, False or None.

    Raises:
        NoLiteralError: the string is not a literal.
        TooLargeError: the string is longer or more deeply nested than any answer can be.
    """
    if len(text) > _LONGEST:
        raise TooLargeError(f"has {len(text):,} characters, which is too many for a list")
    try:
        with warnings.catch_warnings():  # about some backslashes, as in "\d", and a number before letters
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        raise NoLiteralError("is not a Python literal") from None
    except (MemoryError, RecursionError):
        raise TooLargeError("is nested too deeply") from None


def parse_list(text: str) -> list[Any] | None:
    """Parse a list that is written as a string, or return None for any other string.

    Example:
        >>> parse_list("['a', 2]"), parse_list("a, 2")
        (['a', 2], None)
    """
    value = parse_literal(text) if "[" in text else None
    return value if isinstance(value, list) else None
