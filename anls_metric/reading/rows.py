"""A row: one question with all that its score needs. Where there is none, an `InputError` says why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.rows import as_references, describe
from anls_metric.reading.patterns import pattern
from anls_metric.reading.remedies import Door, Remedy


class Row(NamedTuple):
    """One question with the answer to score.

    Attributes:
        id: what the question is called.
        prediction: the answer, None where there is none; a text, or a value where `sources.Reading.values` says so.
        references: the accepted answers, one or more.
        record: the record of the gold file or table that the row was read from.
        written: what the model wrote, where the prediction was taken out of it by rules; else None.
    """

    id: str
    prediction: Any
    references: Sequence[Any]
    record: Mapping[str, Any]
    written: str | None = None


class InputError(ValueError):
    """Input that cannot be scored. As a string it says what is wrong, where, and what to do in Python.

    Args:
        problem: what is wrong.
        where: the file, and the line, record or question in it; "" where there is no such place.
        remedy: what to do: a row of `remedies`, or a sentence where every door says the same; "" where the problem
            says it.

    Example:
        >>> error = InputError("no answer to 1 of the questions (7)", "answers.json", remedies.MISSING)
        >>> print(error)
        answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with missing="zero"
        >>> error.worded("command")
        'answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with --missing zero'
    """

    def __init__(self, problem: str, where: str = "", remedy: Remedy | str = "") -> None:
        super().__init__(problem, where, remedy)
        self.problem, self.where, self.remedy = problem, where, remedy

    def worded(self, door: Door) -> str:
        """The message, with the remedy in the words of a door."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy.worded(door)
        return ": ".join(filter(None, [self.where, self.problem, remedy]))

    def __str__(self) -> str:
        return self.worded("python")


def text_of_parts(value: Any) -> Any:
    """The text of a message whose content is a list of parts: those of type "text"; any other value as it is.

    Example:
        >>> text_of_parts([{"type": "reasoning", "reasoning": "It says 56."}, {"type": "text", "text": "56"}])
        '56'
    """
    if isinstance(value, list) and value and all(isinstance(part, Mapping) and "type" in part for part in value):
        return "".join(str(part.get("text", "")) for part in value if part["type"] in ("text", "output_text"))
    return value


def parse_references(value: Any, what: str) -> Sequence[str]:
    """The accepted answers that a field of a file holds: a list, a text, or a list written as a text.

    Args:
        value: the field. ``'["a", "b"]'``, ``"['a', 'b']"``, ``"{'a', 'b'}"`` and ``"[np.str_('a')]"`` are lists, as
            CSV files hold them, and ``"{'text': ['a'], ...}"`` is one in the layout of SQuAD; any other text is one
            accepted answer, as it is.
        what: what to call it in an error.

    Returns:
        One string or more.

    Raises:
        ValueError: no answers, an answer that is not a string, or the printed form of a list that holds something
            else, or of an array, whose items cannot be told apart for certain.

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
            written = _written_list(text, what)
            value = value if written is None else written
    elif isinstance(value, Mapping) and "text" in value:
        value = value["text"]
    return as_references(value, what)


# A written list is told by its shape, in time and memory that grow with its length alone: Python's own parser takes
# hundreds of times the memory of a large cell.
_LITERAL = r"""b?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_ITEM = rf"(?:{_LITERAL}|np\.str_\({_LITERAL}\))"
_ITEMS = rf"\s*{_ITEM}\s*(?:,\s*{_ITEM}\s*)*"
_LIST = pattern(rf"\[{_ITEMS},?\s*\]|\{{{_ITEMS}\}}|\({_ITEMS},\s*\)|\({_ITEMS},{_ITEMS}\)")
# What stands between the texts of the printed form of something else: other values, or nothing, as numpy prints it.
_OTHER_VALUES = pattern(
    r"(?:[\s,\[\](){}]|\b(?:nan|NaN|NaT|None|null|True|False|inf|np\.\w+)\b|[-+\d.]+(?:e[-+]?\d+)?|<NA>)*"
)
_SQUAD = pattern(r"""\{\s*['"](?:text|answer_start)['"]\s*:""")
_OPENING = ("[", "(", "{", "array([", "Index([")
_MOST_SQUAD = 100_000  # characters that Python's parser may have


def _written_list(text: str, what: str) -> Any:
    """What a text is the written form of: a list of strings, or None where it is none."""
    if text == "[]":
        return []
    if _LIST.fullmatch(text):
        return _read_literals(text, what)
    if text.startswith("{"):
        return _written_squad(text, what)
    between, count = re.subn(_LITERAL, " ", text, flags=re.DOTALL)
    several = text.startswith("[") or "," in between  # ('a') is a text in brackets
    enclosed = text.endswith(("]", ")")) and bool(count) and several and _OTHER_VALUES.fullmatch(between)
    if enclosed or text.startswith(_OPENING[3:]) or (text[:2] in ("['", '["') and text.endswith("]")):
        raise _printed(text, what)
    return None


def _read_literals(text: str, what: str) -> list[str]:
    import ast

    try:
        if text.startswith("["):
            items: list[str] = json.loads(text)
            return items
    except ValueError:  # quotes or escapes that Python writes and JSON does not have
        pass
    try:
        found = [ast.literal_eval(literal) for literal in re.findall(_LITERAL, text)]
        return [item.decode() if isinstance(item, bytes) else item for item in found]
    except (ValueError, SyntaxError):
        raise _printed(text, what) from None


def _written_squad(text: str, what: str) -> Any:
    import ast

    for read in (json.loads, ast.literal_eval) if len(text) <= _MOST_SQUAD else ():
        try:
            value = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value.get("text") if isinstance(value, dict) else None
    if _SQUAD.match(text):
        raise _printed(text, what)
    return None


def _printed(text: str, what: str) -> ValueError:
    return ValueError(
        f"{what} is {describe(text)}, the printed form of something that is no list of strings: write it as JSON, "
        'like ["first answer", "second answer"]'
    )
