"""Parses and formats answers that are lists and nested values, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from anls_metric.core.rows import describe
from anls_metric.reading.references import parse_references

_OPENING = ("{", "[")


def parse_value(text: str) -> Any:
    """Parse a text that is JSON.

    Args:
        text: JSON and nothing else.

    Returns:
        The value. A text that is only a number stays a text, since 0.10 is an answer of four characters.

    Raises:
        ValueError: it is not JSON, or it is nested too deep.

    Example:
        >>> parse_value('{"total": "12.50"}'), parse_value('"tea"'), parse_value("0.10"), parse_value("null")
        ({'total': '12.50'}, 'tea', '0.10', None)
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return text.strip() if isinstance(value, (int, float)) else value


def parse_value_or_text(text: str) -> Any:
    """Parse a text that is a JSON object or list; any other text stays a text.

    Example:
        >>> parse_value_or_text('["tea", "milk"]'), parse_value_or_text("[1] tea"), parse_value_or_text("0.10")
        (['tea', 'milk'], '[1] tea', '0.10')
    """
    if text.lstrip().startswith(_OPENING):
        try:
            return parse_value(text)
        except ValueError:
            pass
    return text


def parse_accepted_value(text: str, what: str) -> Any:
    """Parse an accepted answer that is a JSON object or list, or a list of texts as Python prints it.

    Args:
        text: a field of a file.
        what: the name of the field in an error.

    Returns:
        The object or list; any other text unchanged.

    Raises:
        ValueError: the text looks like a list or object, but is neither JSON nor a list of texts. Scored as a text, it
            would give a wrong number.

    Example:
        >>> parse_accepted_value('{"total": "12.50"}', "answer"), parse_accepted_value("['tea', 'milk']", "answer")
        ({'total': '12.50'}, ['tea', 'milk'])
        >>> parse_accepted_value("{'total': 12.5}", "answer")
        Traceback (most recent call last):
        ValueError: answer is "{'total': 12.5}" (str), which looks like a list or object: write it as JSON
    """
    value = parse_value_or_text(text)
    if value is not text or not text.strip():
        return value
    texts = parse_references(text, what)
    if list(texts) != [text]:
        return list(texts)
    if text.strip()[0] + text.strip()[-1] in ("{}", "[]") and any(sign in text for sign in "'\""):
        raise ValueError(f"{what} is {describe(text)}, which looks like a list or object: write it as JSON")
    return text


def parse_typed_values(prediction: str, references: Sequence[str]) -> tuple[Any, Any]:
    """Parse answers that a user typed, each a text or JSON.

    Args:
        prediction: the answer.
        references: the accepted answers.

    Returns:
        The prediction, and the reference for `anls_metric.nested`: several accepted answers become a tuple.

    Raises:
        ValueError: an accepted answer looks like JSON and is not.

    Example:
        >>> parse_typed_values('{"total": "12.5"}', ['{"total": {"__tuple__": ["12.50", "12.5"]}}'])
        ({'total': '12.5'}, {'total': ('12.50', '12.5')})
        >>> parse_typed_values("tea", ["tea", "milk"])
        ('tea', ('tea', 'milk'))
    """
    from anls_metric.nested import from_json

    accepted = [from_json(parse_accepted_value(text, "the accepted answer")) for text in references]
    return parse_value_or_text(prediction), accepted[0] if len(accepted) == 1 else tuple(accepted)


def as_json(value: Any) -> Any:
    """Convert a value to what ``json.dumps`` takes: a tuple becomes ``{"__tuple__": [...]}``, a text stays a text."""
    if value is None or isinstance(value, str):
        return value
    from anls_metric.nested import to_json

    return to_json(value)


def format_value(value: Any) -> str:
    """Format a prediction or an accepted answer as a text: a value becomes JSON, a text stays unchanged.

    Example:
        >>> format_value("12.50"), format_value({"total": ("12.50", "12.5")})
        ('12.50', '{"total": {"__tuple__": ["12.50", "12.5"]}}')
    """
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)
