"""Lists and nested values that texts hold as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from anls_metric.reading.values import parse_value, parse_value_or_text

JSON: list[tuple[str, Any]] = [
    ('{"a": [1, null, true, 2.5]}', {"a": [1, None, True, 2.5]}),
    (' \n["a"]\n', ["a"]),
    ("[]", []),
]
SCALARS: list[tuple[str, Any]] = [('"tea"', "tea"), (" 0.10", "0.10"), ("true", "true"), ("null", None), ("1e5", "1e5")]
NO_JSON = [
    "",
    "Coca Cola",
    "[1] tea",
    "{tea}",
    '["a"',
    "['a']",
    '{"a": 1} {"a": 2}',
    "[" * 100_000,
    "9" * 5000,
    "[0" * 90,
]


@pytest.mark.parametrize(("text", "value"), JSON)
def test_value_of_reads_objects_and_lists(text: str, value: Any) -> None:
    assert parse_value(text) == value == parse_value_or_text(text)


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_value_or_text_keeps_a_scalar_as_text(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert parse_value_or_text(text) == text


@pytest.mark.parametrize("text", NO_JSON)
def test_value_or_text_keeps_a_text_that_is_not_json(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_value(text)
    assert parse_value_or_text(text) == text
