"""Groups questions with string answers by the kind of their first reference: a number, or text of a certain length."""

from __future__ import annotations

from collections.abc import Sequence

KIND = "kind of answer"
"""The name of the field under which the report shows questions grouped by kind of answer."""


def find_kind(references: Sequence[str]) -> str:
    """Return the kind of a question's first reference, which is a number or text of a certain length in words.

    Example:
        >>> [find_kind([text]) for text in ("$1,234.50", "tea", "Coca Cola Company", "p. 3 of the long report")]
        ['number', 'one word', '2 to 4 words', '5 words and more']
    """
    text = references[0]
    if any(map(str.isdigit, text)) and not any(map(str.isalpha, text)):
        return "number"
    words = len(text.split())
    return "one word" if words < 2 else "2 to 4 words" if words < 5 else "5 words and more"
