"""Parses values that are written as JSON or as printed Python lists, and writes values as JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from anls_metric.core.checks import describe
from anls_metric.core.json_values import from_json, to_json
from anls_metric.core.strings.rows import as_references

_OPENING = ("{", "[")
_ACCEPTED = "the reference"


def parse_value(text: str) -> Any:
    """Parse a string that contains JSON, but keep a bare number as a string.

    Args:
        text: JSON and nothing else.

    Returns:
        The value. A bare number stays a string, since 0.10 is an answer of four characters.

    Raises:
        ValueError: the string is not JSON or is nested too deeply.

    Example:
        >>> parse_value('{"total": "12.50"}'), parse_value('"tea"'), parse_value("0.10"), parse_value("null")
        ({'total': '12.50'}, 'tea', '0.10', None)
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return text.strip() if isinstance(value, (int, float)) else value


def parse_value_or_text(text: Any) -> Any:
    """Parse a string that contains a JSON object or list, and return anything else unchanged.

    Example:
        >>> parse_value_or_text('["tea", "milk"]'), parse_value_or_text("[1] tea"), parse_value_or_text("0.10")
        (['tea', 'milk'], '[1] tea', '0.10')
    """
    if isinstance(text, str) and text.lstrip().startswith(_OPENING):
        try:
            return parse_value(text)
        except ValueError:
            pass
    return text


def parse_accepted_value(text: str) -> Any:
    """Parse a reference that is a JSON object, a JSON list or a printed Python list of strings.

    Args:
        text: the content of a field in a file.

    Returns:
        The object or list, or the string unchanged if it contains neither.

    Raises:
        ValueError: the string looks like a list or object but is neither JSON nor a printed list of strings. Scoring
            such a string as plain text would produce a wrong number.

    Example:
        >>> parse_accepted_value('{"total": "12.50"}'), parse_accepted_value("['tea', 'milk']")
        ({'total': '12.50'}, ['tea', 'milk'])
        >>> parse_accepted_value("{'total': 12.5}")
        Traceback (most recent call last):
        ValueError: the reference is "{'total': 12.5}" (str), which looks like a list or object: write it as JSON
    """
    value = parse_value_or_text(text)
    if value is not text or not text.strip():
        return value
    texts = list(parse_references(text, _ACCEPTED))
    if texts != [text]:
        return texts
    if text.strip()[0] + text.strip()[-1] in ("{}", "[]") and any(sign in text for sign in "'\""):
        raise ValueError(f"{_ACCEPTED} is {describe(text)}, which looks like a list or object: write it as JSON")
    return text


def read_reference(value: Any) -> Any:
    """Read the reference of a row, which is a value or a string that may contain JSON. Raises ValueError if the
    reference is malformed.

    Example:
        >>> read_reference('{"total": {"__tuple__": ["12.50", "12.5"]}}'), read_reference({"total": 5})
        ({'total': ('12.50', '12.5')}, {'total': 5})
    """
    return from_json(parse_accepted_value(value) if isinstance(value, str) else value)


def parse_typed_values(prediction: str, references: Sequence[str]) -> tuple[Any, Any]:
    """Parse a prediction and its references, each of which a user typed as plain text or JSON.

    Args:
        prediction: the answer.
        references: the accepted answers.

    Returns:
        The prediction, and the reference for `anls_metric.core.values`, which is a tuple if there are several answers.

    Raises:
        ValueError: a reference looks like JSON but is not.

    Example:
        >>> parse_typed_values('{"total": "12.5"}', ['{"total": {"__tuple__": ["12.50", "12.5"]}}'])
        ({'total': '12.5'}, {'total': ('12.50', '12.5')})
        >>> parse_typed_values("tea", ["tea", "milk"])
        ('tea', ('tea', 'milk'))
    """
    accepted = list(map(read_reference, references))
    return parse_value_or_text(prediction), accepted[0] if len(accepted) == 1 else tuple(accepted)


def format_value(value: Any) -> str:
    """Format a prediction or a reference as a string. A string stays unchanged; any other value becomes JSON.

    Example:
        >>> format_value("12.50"), format_value({"total": ("12.50", "12.5")})
        ('12.50', '{"total": {"__tuple__": ["12.50", "12.5"]}}')
    """
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


def parse_references(value: Any, what: str) -> Sequence[str]:
    """Read the references from a field of a file, which may be a list, a string, or a list written as a string.

    Args:
        value: the content of the field. CSV files contain lists as strings, such as ``'["a", "b"]'``,
            ``"['a', 'b']"``, ``"{'a', 'b'}"``, ``"[np.str_('a')]"`` or, in the layout of SQuAD,
            ``"{'text': ['a'], ...}"``. Any other string is one reference.
        what: the name of the field for an error message.

    Returns:
        One or more strings.

    Raises:
        ValueError: there is no answer, an answer is not a string, or the field is the printed form of an array or of a
            list with values other than strings, whose items cannot be separated reliably.

    Example:
        >>> parse_references('["Coca Cola", "Coca Cola Company"]', "answers")
        ('Coca Cola', 'Coca Cola Company')
        >>> parse_references("[1, 2]", "answers")
        ('[1, 2]',)
    """
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f"{what} is empty: add a reference, or leave the question out")
        value = parse_written_list(value, what)
    return as_references(unwrap_references(value), what)


def unwrap_references(value: Any) -> Any:
    """Extract the references from a SQuAD object, a list of SQuAD or VQA objects, or such a list inside another list.

    Example:
        >>> unwrap_references([{"text": "56", "answer_start": 7}, {"text": "$56", "answer_start": 6}])
        ['56', '$56']
        >>> unwrap_references([{"answer": "56", "answer_confidence": "yes"}])
        ['56']
        >>> unwrap_references([["56", "$56"]]), unwrap_references([["56"], ["$56"]])
        (['56', '$56'], [['56'], ['$56']])
    """
    if isinstance(value, Mapping):
        return value.get("text", value)
    if not isinstance(value, list) or not value:
        return value
    for name in ("text", "answer"):
        if all(isinstance(item, Mapping) and name in item for item in value):
            return [item[name] for item in value]
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


# A string as Python prints it.
STRING = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_STRINGS = rf"\s*{STRING}(?:\s*,\s*{STRING})*\s*(?:,\s*)?"
_LIST = re.compile(rf"\[{_STRINGS}\]|\{{{_STRINGS}\}}|\(\s*{STRING}\s*,(?:{_STRINGS})?\)")
_NUMPY = re.compile(rf"\bnp\.str_\(({STRING})\)")
_LISTS = ("[", "array([", "Index([")
_SQUAD = re.compile(r"""\{\s*['"](?:text|answer_start)['"]\s*:""")
_STRING_IN_LIST = re.compile(r"""[\[,]\s*(?:b|np\.\w+\()?['"]""")
_LONGEST = 100_000  # characters of a printed value: Python's parser takes many times the memory of its text


def parse_written_list(written: str, what: str) -> Any:
    """Parse a string that represents a list of strings or a SQuAD object, and return any other string unchanged.

    Raises ValueError if the string looks like the printed form of another list.
    """
    text = written.strip()
    if not text.startswith(("(", "{", *_LISTS)):
        return written
    with suppress(ValueError, RecursionError):  # a list that Python printed is usually not JSON
        value = unwrap_references(json.loads(text))
        if isinstance(value, (list, str)) and all(type(item) is str for item in value):
            return value
    text = _NUMPY.sub(r"\1", text)
    is_squad = _SQUAD.match(text)
    with suppress(ValueError, SyntaxError, RecursionError):
        if len(text) <= _LONGEST and (is_squad or _LIST.fullmatch(text)):
            source = text if is_squad else f"[{text[1:-1]}]"  # not a set, which has no order
            return unwrap_references(ast.literal_eval(double_backslashes(source)))
    is_list = text.startswith(_LISTS) and text.endswith(("]", ")")) and _STRING_IN_LIST.search(text)
    if is_list or is_squad:
        raise ValueError(
            f"{what} is {describe(text)}, which looks like a Python value written as text: "
            'pass a list of strings, or write it as JSON, like ["first answer", "second answer"]'
        )
    return written


def double_backslashes(source: str) -> str:
    r"""Double each backslash in a Python literal that does not begin an escape sequence, to avoid Python's warning.

    Example:
        >>> print(double_backslashes(r"'C:\data\new'"))
        'C:\\data\new'
    """
    return re.sub(r"\\([\\'\"abfnrtvxNuU\n]?)", lambda escape: escape[0] if escape[1] else r"\\", source)
