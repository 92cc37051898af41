"""Lists that are written as texts. The programs read many of them with Python's `eval`; a rule reads literals only."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

# The parser may warn of a backslash, as in "\d", and of a number that letters follow. To ignore a warning takes time.
_WARNED = re.compile(r"\\|\d[A-Za-z_]")

_LONGEST = 100_000  # characters: the parser of Python takes hundreds of times the memory of its text


class NoLiteralError(ValueError):
    """A text that is no Python literal."""


def parse_literal(text: str) -> Any:
    """Parse a Python literal: a text, number, list, tuple, dict, set, True, False or None.

    Raises:
        NoLiteralError: the text is no literal, or is longer or deeper than any answer.

    Example:
        >>> parse_literal("['a', 2]")
        ['a', 2]
    """
    if len(text) > _LONGEST:
        raise NoLiteralError(f"has {len(text):,} characters, which is too long for a list")
    try:
        if not _WARNED.search(text):
            return ast.literal_eval(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        raise NoLiteralError("is not a Python literal") from None
    except (MemoryError, RecursionError):
        raise NoLiteralError("is nested too deep") from None


def parse_list(text: str) -> list[Any] | None:
    """Parse a list that is written as a text; None for any other text.

    Example:
        >>> parse_list("['a', 2]"), parse_list("a, 2")
        (['a', 2], None)
    """
    if "[" not in text:
        return None
    try:
        value = parse_literal(text)
    except NoLiteralError:
        return None
    return value if isinstance(value, list) else None
