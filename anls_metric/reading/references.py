"""Reads the accepted answers of a question from a field of a file: a list, a string, or a list written as a string."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from anls_metric.core.rows import as_references, describe
from anls_metric.reading.containers import Record


def text_of_parts(value: Any) -> Any:
    """Read the text of a chat message, whose content may be a list of parts.

    Args:
        value: the content of a message.

    Returns:
        The parts of type "text" as one string; any other value unchanged.

    Example:
        >>> text_of_parts([{"type": "reasoning", "reasoning": "It says 56."}, {"type": "text", "text": "56"}])
        '56'
    """
    if isinstance(value, list) and value and all(isinstance(part, Mapping) and "type" in part for part in value):
        return join_texts(part for part in value if part["type"] in ("text", "output_text"))
    return value


def join_texts(parts: Iterable[Record]) -> str:
    """Join the texts of the parts of a message. A model that refuses to answer writes a refusal instead."""
    return "".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def parse_references(value: Any, what: str) -> Sequence[str]:
    """Read the accepted answers from a field of a file: a list, a string, or a list written as a string.

    Args:
        value: the field. CSV files hold lists as strings: ``'["a", "b"]'``, ``"['a', 'b']"``, ``"{'a', 'b'}"``,
            ``"[np.str_('a')]"``, and ``"{'text': ['a'], ...}"`` in the layout of SQuAD. Any other string is one
            accepted answer.
        what: the name of the field in an error.

    Returns:
        One string or more.

    Raises:
        ValueError: there is no answer, or an answer is not a string. Also for the printed form of an array, or of a
            list that holds other values than strings: its items cannot be separated with certainty.

    Example:
        >>> parse_references('["Coca Cola", "Coca Cola Company"]', "answers")
        ('Coca Cola', 'Coca Cola Company')
        >>> parse_references("[1, 2]", "answers")
        ('[1, 2]',)
    """
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f"{what} is empty: add an accepted answer, or leave the question out")
        value = parse_written_list(value, what)
    return as_references(unwrap_references(value), what)


def unwrap_references(value: Any) -> Any:
    """Take accepted answers out of an object of SQuAD or a list of them, or out of a list around their list.

    Example:
        >>> unwrap_references([{"text": "56", "answer_start": 7}, {"text": "$56", "answer_start": 6}])
        ['56', '$56']
        >>> unwrap_references([["56", "$56"]]), unwrap_references([["56"], ["$56"]])
        (['56', '$56'], [['56'], ['$56']])
    """
    if isinstance(value, Mapping):
        return value.get("text", value)
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(item, Mapping) and "text" in item for item in value):
        return [item["text"] for item in value]
    return value[0] if len(value) == 1 and isinstance(value[0], list) else value


def is_unanswerable(value: Any) -> bool:
    """Whether a record says that its question has no answer, by an empty list or in the form of SQuAD 2.0.

    Example:
        >>> is_unanswerable({"text": [], "answer_start": []}), is_unanswerable([]), is_unanswerable(["", "a"])
        (True, True, False)
    """
    if isinstance(value, Mapping):
        return "answer_start" in value and value.get("text") == []
    return isinstance(value, (list, str)) and value in ([], "[]")


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
    """Parse a string that is a printed list of strings, or an object of SQuAD; any other string stays unchanged."""
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
            f"{what} is {describe(text)}, a stringified value, but not a list of strings: write it as JSON, "
            'like ["first answer", "second answer"]'
        )
    return written


def double_backslashes(source: str) -> str:
    r"""Double each backslash of a Python literal that does not begin an escape, since Python would warn of it.

    Example:
        >>> print(double_backslashes(r"'C:\data\new'"))
        'C:\\data\new'
    """
    return re.sub(r"\\([\\'\"abfnrtvxNuU\n]?)", lambda escape: escape[0] if escape[1] else r"\\", source)
