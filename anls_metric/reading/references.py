"""The accepted answers of a question, as the fields of files hold them: lists, texts, and lists written as texts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from anls_metric.core.rows import as_references, describe


def text_of_parts(value: Any) -> Any:
    """The text of a chat message, whose content may be a list of parts.

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
            raise ValueError(f"{what} is empty: write at least one accepted answer, or leave the row out")
        if text.startswith(_OPENING):
            items = _parse_written_list(text, what)
            value = value if items is None else items
    elif isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    return as_references(value, what)


# Regular expressions recognize a written list by its shape, in linear time and memory. Python's own parser would take
# hundreds of times the memory of a large cell.
_LITERAL = r"""b?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_ITEM = rf"(?:{_LITERAL}|np\.str_\({_LITERAL}\))"
_ITEMS = rf"\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*"
_LIST = rf"\[{_ITEMS},?\s*\]|\{{{_ITEMS}\}}|\({_ITEMS},\s*\)|\({_ITEMS},{_ITEMS}\)"
# What stands between the strings in the printed form of another object: other values, or nothing, as numpy prints it.
_OTHER_VALUES = r"(?:[\s,\[\](){}]|\b(?:nan|NaN|NaT|None|null|True|False|inf|np\.\w+)\b|[-+\d.]+(?:e[-+]?\d+)?|<NA>)*"
_SQUAD = r"""\{\s*['"](?:text|answer_start)['"]\s*:"""
_OPENING = ("[", "(", "{", "array([", "Index([")
_MOST_SQUAD = 100_000  # characters, since Python's parser takes so much memory


def _parse_written_list(text: str, what: str) -> Any:
    """The list of strings that a text is the written form of, or None where it is not one."""
    if text == "[]":
        return []
    if re.fullmatch(_LIST, text):
        return _parse_literals(text, what)
    if text.startswith("{"):
        return _parse_squad(text, what)
    between, count = re.subn(_LITERAL, " ", text, flags=re.DOTALL)
    several = text.startswith("[") or "," in between  # ('a') is a text in brackets
    enclosed = text.endswith(("]", ")")) and bool(count) and several and re.fullmatch(_OTHER_VALUES, between)
    if enclosed or text.startswith(_OPENING[3:]) or (text[:2] in ("['", '["') and text.endswith("]")):
        _refuse_printed(text, what)
    return None


def _parse_literals(text: str, what: str) -> list[str]:
    import ast

    try:
        if text.startswith("["):
            items: list[str] = json.loads(text)
            return items
    except ValueError:  # quotes or escapes that Python writes and JSON does not have
        pass
    try:
        literals = map(ast.literal_eval, re.findall(_LITERAL, text))
        return [item.decode() if isinstance(item, bytes) else item for item in literals]
    except (ValueError, SyntaxError):
        _refuse_printed(text, what)


def _parse_squad(text: str, what: str) -> Any:
    import ast

    for read in (json.loads, ast.literal_eval) if len(text) <= _MOST_SQUAD else ():
        try:
            value = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value.get("text") if isinstance(value, dict) else None
    if re.match(_SQUAD, text):
        _refuse_printed(text, what)
    return None


def _refuse_printed(text: str, what: str) -> NoReturn:
    raise ValueError(
        f"{what} is {describe(text)}, the printed form of something that is no list of strings: write it as JSON, "
        'like ["first answer", "second answer"]'
    ) from None
