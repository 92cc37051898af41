"""Reads the accepted answers of a question from a field of a file: a list, a text, or a list written as a text."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from anls_metric.core.rows import as_references, describe


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
        return "".join(str(part.get("text", "")) for part in value if part["type"] in ("text", "output_text"))
    return value


def parse_references(value: Any, what: str) -> Sequence[str]:
    """Read the accepted answers from a field of a file: a list, a text, or a list written as a text.

    Args:
        value: the field. CSV files hold lists as texts: ``'["a", "b"]'``, ``"['a', 'b']"``, ``"{'a', 'b'}"``,
            ``"[np.str_('a')]"``, and ``"{'text': ['a'], ...}"`` in the layout of SQuAD. Any other text is one
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
        text = value.strip()
        if not text:
            raise ValueError(f"{what} is empty: add at least one accepted answer, or leave this question out")
        if text.startswith(_OPENING):
            items = _parse_written_list(text, what)
            value = value if items is None else items
    elif isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    return as_references(unwrap_references(value), what)


def unwrap_references(value: Any) -> Any:
    """Take accepted answers out of the objects of SQuAD, or out of a list around their list.

    Example:
        >>> unwrap_references([{"text": "56", "answer_start": 7}, {"text": "$56", "answer_start": 6}])
        ['56', '$56']
        >>> unwrap_references([["56", "$56"]]), unwrap_references([["56"], ["$56"]])
        (['56', '$56'], [['56'], ['$56']])
    """
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(item, Mapping) and isinstance(item.get("text"), str) for item in value):
        return [item["text"] for item in value]
    inner = value[0] if len(value) == 1 else None
    return inner if isinstance(inner, list) and inner and all(isinstance(item, str) for item in inner) else value


def is_unanswerable(value: Any, record: Mapping[str, Any]) -> bool:
    """Whether a record in the form of SQuAD 2.0 says that its question has no answer.

    Example:
        >>> is_unanswerable({"text": [], "answer_start": []}, {}), is_unanswerable([], {"is_impossible": True})
        (True, True)
    """
    if isinstance(value, Mapping):
        return isinstance(value.get("answer_start"), list) and _is_empty(value.get("text"))
    return _is_empty(value) and record.get("is_impossible") is True


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and not value


# A printed value is split into tokens in one pass, which ends at the first place where no token begins. Python's parser
# would take hundreds of times the memory of a large cell.
_TOKEN = re.compile(
    r"""(?P<sign>[\[\](){},:])|(?P<blank>\s+)|(?P<string>b?['"])|(?P<wrapper>\bnp\.str_(?=\())"""
    r"|(?P<other>\b(?:nan|NaN|NaT|None|null|True|False|inf|np\.\w+)\b|[-+\d.]+(?:e[-+]?\d+)?|<NA>)"
)
_END_OF_STRING = {quote: re.compile(rf"\\.|{quote}|\n") for quote in "'\""}
# The shape of a printed value has a letter for each token: s for a string, n for np.str_, and x for any other value.
# Brackets, commas and colons stand for themselves.
_LIST = re.compile(r"\[s(?:,s)*,?\]|\{s(?:,s)*\}|\(s(?:,s)*,\)|\(s(?:,s)+\)")
_SQUAD = re.compile(r"""\{\s*['"](?:text|answer_start)['"]\s*:""")
_OPENING = ("[", "(", "{", "array([", "Index([")
_MOST_SQUAD = 100_000  # characters: objects take many times the memory of their text
_IN_JSON = {"(": "[", ")": "]", "None": "null", "True": "true", "False": "false", "nan": "NaN", "inf": "Infinity"}


def _parse_written_list(text: str, what: str) -> Any:
    """Parse a text that is a printed list of strings; None for any other text."""
    if text == "[]":
        return []
    if text.startswith("["):
        with suppress(ValueError, RecursionError):  # a list that Python printed is usually not JSON
            items = unwrap_references(json.loads(text))
            if items and all(type(item) is str for item in items):
                return items
    shape = _find_shape(text)
    if _LIST.fullmatch(shape):
        return _read_strings(text, what)
    if text.startswith("{"):
        return _parse_squad(text, bool(shape), what)
    several = text.startswith("[") or "," in shape  # ('a') is a string in parentheses
    enclosed = several and text.endswith(("]", ")")) and "s" in shape and ":" not in shape
    if enclosed or text.startswith(_OPENING[3:]) or (text[:2] in ("['", '["') and text.endswith("]")):
        _refuse_printed(text, what)
    return None


def _split_into_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Split a printed value into tokens, each with its letter, start and end, up to the first place without one."""
    place = 0
    while token := _TOKEN.match(text, place):
        kind, start, place = token.lastgroup, place, token.end()
        if kind == "sign":
            yield token[0], start, place
        elif kind == "string":
            parts = _END_OF_STRING[text[place - 1]].finditer(text, place)
            end = next((part for part in parts if len(part[0]) == 1), None)
            if end is None or end[0] == "\n":  # the string has no end on its line
                return
            place = end.end()
            yield "s", start, place
        elif kind != "blank":
            yield "n" if kind == "wrapper" else "x", start, place


def _find_shape(text: str) -> str:
    """Join the letters of the tokens of a printed value; "" for any other text."""
    letters, length = io.StringIO(), 0
    for letter, _, end in _split_into_tokens(text):
        letters.write(letter)
        length = end
    return letters.getvalue().replace("n(s)", "s") if length == len(text) else ""


def _read_strings(text: str, what: str) -> list[str]:
    try:
        return [_read_string(text[start:end]) for letter, start, end in _split_into_tokens(text) if letter == "s"]
    except (ValueError, SyntaxError):
        _refuse_printed(text, what)


def _read_string(literal: str) -> str:
    if "\\" not in literal and not literal.startswith("b"):
        return literal[1:-1]
    import ast

    value = ast.literal_eval(double_backslashes(literal))
    return value.decode() if isinstance(value, bytes) else value


def double_backslashes(source: str) -> str:
    r"""Double each backslash of a Python literal that does not begin an escape, since Python would warn of it.

    Example:
        >>> print(double_backslashes(r"'C:\data\new'"))
        'C:\\data\new'
    """
    return re.sub(r"(?s)\\(.)", _double_backslash, source)


def _double_backslash(escape: re.Match[str]) -> str:
    return escape[0] if escape[1] in "\\'\"abfnrtvxNuU\n" else rf"\\{escape[1]}"


def _parse_squad(text: str, is_printed: bool, what: str) -> Any:
    readers: list[Callable[[str], Any]] = [json.loads, *([_parse_printed_object] if is_printed else [])]
    for read in readers if len(text) <= _MOST_SQUAD else ():
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError):
            continue
        return value.get("text") if isinstance(value, dict) else None
    if _SQUAD.match(text):
        _refuse_printed(text, what)
    return None


def _parse_printed_object(text: str) -> Any:
    """Parse an object as Python prints it, by way of JSON."""
    parts = [""]
    for letter, start, end in _split_into_tokens(text):
        token = text[start:end]
        if token in (")", "]", "}") and parts[-1] == ",":
            parts.pop()
        parts.append(json.dumps(_read_string(token)) if letter == "s" else _IN_JSON.get(token, token))
    return json.loads("".join(parts))


def _refuse_printed(text: str, what: str) -> NoReturn:
    raise ValueError(
        f"{what} is {describe(text)}, a printed value that is not a list of strings: write it as JSON, "
        'like ["first answer", "second answer"]'
    ) from None
