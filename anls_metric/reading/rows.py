"""A row: one question with all that its score needs. Where there is none, an `InputError` says why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls import as_references

# What can be done about an error, in the words of somebody who calls from Python. A door words what it calls
# otherwise: the command has flags, the page has switches.
REMEDIES: Mapping[str, str] = {
    "prediction field": "name the right one with prediction_field",
    "references field": "name the right one with references_field",
    "missing": 'add them, or count them as 0 with missing="zero"',
}


class Row(NamedTuple):
    """One question with the answer to score.

    Attributes:
        id: what the question is called.
        prediction: the answer, None where there is none.
        references: the accepted answers, one or more.
        record: the record of the gold file or table that the row was read from.
    """

    id: str
    prediction: str | None
    references: Sequence[str]
    record: Mapping[str, Any]


class InputError(ValueError):
    """Input that cannot be scored. As a string it says what was found, where, and what to do in Python.

    Args:
        found: what is wrong.
        where: the file, and the line, record or question in it; "" where there is no such place.
        remedy: what to do: a key of `REMEDIES`, or the words where every door says the same; "" where what was found
            says it.

    Example:
        >>> error = InputError("no answer to 1 of the questions (7)", "answers.json", "missing")
        >>> print(error)
        answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with missing="zero"
        >>> error.worded({"missing": "add them, or count them as 0 with --missing zero"})
        'answers.json: no answer to 1 of the questions (7): add them, or count them as 0 with --missing zero'
    """

    def __init__(self, found: str, where: str = "", remedy: str = "") -> None:
        super().__init__(found, where, remedy)
        self.found, self.where, self.remedy = found, where, remedy

    def worded(self, remedies: Mapping[str, str]) -> str:
        """The message, with the remedy in the words of a door: those of `remedies`, else those of Python."""
        remedy = remedies.get(self.remedy) or REMEDIES.get(self.remedy, self.remedy)
        return ": ".join(filter(None, [self.where, self.found, remedy]))

    def __str__(self) -> str:
        return self.worded({})


def parse_references(value: Any, what: str) -> Sequence[str]:
    """The accepted answers that a field of a file holds: a list, a text, or a list written as a text.

    Args:
        value: the field. ``'["a", "b"]'`` and ``"['a', 'b']"`` are lists of two, as CSV files hold them; any
            other text is one accepted answer, as it is.
        what: what to call it in an error.

    Returns:
        One string or more.

    Raises:
        ValueError: no answers, an answer that is not a string, or the printed form of a list that holds something
            else, or of a numpy array, whose items cannot be told apart.

    Example:
        >>> parse_references('["Coca Cola", "Coca Cola Company"]', "answers")
        ('Coca Cola', 'Coca Cola Company')
        >>> parse_references("[1, 2]", "answers")
        ('[1, 2]',)
    """
    text = value.strip() if isinstance(value, str) else ""
    if text.startswith(("[", "(", "array(")):
        written = _written_list(text, what)
        value = value if written is None else written
    return as_references(value, what)


def _written_list(text: str, what: str) -> list[str] | None:
    """The list of strings that a text is the written form of, if it is one."""
    import ast
    import io
    import tokenize

    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        try:
            items = ast.literal_eval(text)
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            items = None
        else:
            if isinstance(items, (list, tuple)) and sum(token.type == tokenize.STRING for token in tokens) > len(items):
                items = None  # without commas, as numpy prints them, Python takes neighbouring texts for one
    if items == [] or (isinstance(items, (list, tuple)) and items and all(isinstance(item, str) for item in items)):
        return list(items)
    some = isinstance(items, (list, tuple)) and any(isinstance(item, str) for item in items)
    if some or text.startswith("array([") or (items is None and text[:2] in ("['", '["') and text.endswith("]")):
        raise ValueError(
            f"{what} is {text!r}, the printed form of something that is no list of strings: write it as JSON, "
            'like ["first answer", "second answer"]'
        )
    return None
