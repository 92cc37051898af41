"""Answers that are lists and nested values: what a text holds of them, as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from anls_metric.core.rows import describe
from anls_metric.reading.rows import parse_references

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


def accepted_value(text: str, what: str) -> Any:
    """The object or list that a text of accepted answers is, as JSON or as Python prints a list of texts.

    Args:
        text: a field of a file.
        what: what to call it in an error.

    Raises:
        ValueError: a text that looks so and is not: it would be compared as a text.

    Example:
        >>> accepted_value('{"total": "12.50"}', "answer"), accepted_value("['tea', 'milk']", "answer")
        ({'total': '12.50'}, ['tea', 'milk'])
        >>> accepted_value("{'total': 12.5}", "answer")
        Traceback (most recent call last):
        ValueError: answer is "{'total': 12.5}" (str), which looks like a list or object: write it as JSON
    """
    value = value_or_text(text)
    if value is not text or not text.strip():
        return value
    texts = parse_references(text, what)
    if list(texts) != [text]:
        return list(texts)
    if text.strip()[0] + text.strip()[-1] in ("{}", "[]") and any(sign in text for sign in "'\""):
        raise ValueError(f"{what} is {describe(text)}, which looks like a list or object: write it as JSON")
    return text


def typed_values(prediction: str, references: Sequence[str]) -> tuple[Any, Any]:
    """The prediction and the reference that somebody typed, each a text or a value as JSON.

    Args:
        prediction: the answer.
        references: its accepted answers, one of which counts.

    Raises:
        ValueError: an accepted answer that looks like JSON and is not.

    Example:
        >>> typed_values('{"total": "12.5"}', ['{"total": {"__tuple__": ["12.50", "12.5"]}}'])
        ({'total': '12.5'}, {'total': ('12.50', '12.5')})
        >>> typed_values("tea", ["tea", "milk"])
        ('tea', ('tea', 'milk'))
    """
    from anls_metric.nested import from_json

    accepted = [from_json(accepted_value(text, "the accepted answer")) for text in references]
    return value_or_text(prediction), accepted[0] if len(accepted) == 1 else tuple(accepted)


def as_json(value: Any) -> Any:
    """A value as JSON writes it, where a tuple is ``{"__tuple__": [...]}``; a text as it is."""
    if value is None or isinstance(value, str):
        return value
    from anls_metric.nested import to_json

    return to_json(value)


def written(value: Any) -> str:
    """A prediction or an accepted answer as a text: a text is itself, a value is JSON.

    Example:
        >>> written("12.50"), written({"total": ("12.50", "12.5")})
        ('12.50', '{"total": {"__tuple__": ["12.50", "12.5"]}}')
    """
    return value if isinstance(value, str) else json.dumps(as_json(value), ensure_ascii=False)
