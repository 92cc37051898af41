"""Messages, which consist of a sentence and its values and refer to options in the words of each front end.

A sentence is a format string in our code. Anything that comes from users, such as a field named ``{0}``, is passed as a
value, which is never parsed. In a sentence, ``{use.missing:zero}`` stands for an option with a value, which becomes
``--missing zero`` for the command, ``missing="zero"`` in Python, and the label of the setting on the page.
"""

from __future__ import annotations

import errno
import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

from anls_metric.options import OPTIONS

FrontEnd = Literal["python", "command", "page", "endpoint"]

# The tables of front ends: what to do where no option helps, and the lists that a message points to. `text` writes
# the former in the words of a front end. `reword` replaces the latter, which are written for Python or a shell where
# the error is raised.
_PASS_GOLD, _ADD = "pass a gold file with gold=", "add a submission after it"
_STEPS: Mapping[str, Mapping[FrontEnd, str]] = {
    "add_gold": {"command": "pass a gold file with --gold", "page": "add the gold file", "python": _PASS_GOLD},
    "add_submission": {"command": _ADD, "page": "add a submission", "python": _ADD},
    "open_run": {"command": "show it with anls show {where}", "python": "open it with anls_metric.open"},
    "example": {"command": "{typed} {options}", "python": "{options}"},
}
_LISTS: Mapping[str, Mapping[FrontEnd, str]] = {
    "SCORERS lists them": {
        "command": "`anls variants` lists them",
        "page": "“Variant” lists them",
        "endpoint": "list_variants lists them",
    },
    "EXTRACTORS lists them": {
        "command": "`anls --help` lists them",
        "page": "“Extract answers from raw model output” lists them",
        "endpoint": "choose from {names}",
    },
    "`anls layouts` lists them": {"endpoint": "list_layouts lists them"},
}

MAX_LENGTH = 1000
"""The maximum number of characters of a value in a message."""


@dataclass
class _Words:
    """The options in a format string, worded for a front end. Each option is an attribute, whose format specification
    is the value of the option.
    """

    _front_end: FrontEnd
    _name: str = ""

    def __getattr__(self, name: str) -> _Words:
        return _Words(self._front_end, name)

    def __format__(self, value: str) -> str:
        option = OPTIONS[self._name]
        if self._front_end == "command":
            flag = next(flag for flag in option.flags if flag.startswith("--"))
            return f"{flag} {shlex.quote(value)}" if value else flag
        if self._front_end == "page" and option.label:
            return f"“{option.label}”: {value}" if value else f"“{option.label}”"
        if self._front_end == "page":  # the page has no control for it
            return f"{option.flags[0]} {value}".strip() + " of the anls command"
        if not value and option.default is False:  # a switch
            return f"{self._name}=True"
        return f"{self._name}={json.dumps(value, ensure_ascii=False)}" if value else f"{self._name}="


class Message(NamedTuple):
    """A sentence, the values to fill in, and the place to which the sentence refers.

    Attributes:
        where: the file, or the location in a file, to which the sentence refers, or "" if the sentence is not about a
            file.
        sentence: a format string.
        values: the values of the fields in the format string.
        options: the options with values that ``{do.example}`` in the sentence shows.

    Example:
        >>> sentence = "no answer to {count:,} questions: {use.missing:zero} scores them 0"
        >>> message = Message("a.json", sentence, {"count": 7})
        >>> message.text("command")
        'a.json: no answer to 7 questions: --missing zero scores them 0'
        >>> message.text("python"), message.action
        ('a.json: no answer to 7 questions: missing="zero" scores them 0', ('missing', 'zero'))
    """

    where: str
    sentence: str
    values: Mapping[str, Any] = {}
    options: Mapping[str, str] = {}

    def text(self, front_end: FrontEnd = "python", typed: str = "anls ...") -> str:
        """Return the text of the message in the words of a front end, using the command that the user typed for
        examples.
        """
        values = {
            name: shorten(value, MAX_LENGTH) if isinstance(value, str) else value for name, value in self.values.items()
        }
        words = _Words(front_end)
        options = (" " if front_end == "command" else ", ").join(
            format(getattr(words, name), value) for name, value in self.options.items()
        )
        steps = {
            name: step.get(front_end, step["python"]).format(typed=typed, options=options, where=self.where)
            for name, step in _STEPS.items()
        }
        text = self.sentence.format(use=words, do=SimpleNamespace(**steps), **values)
        return f"{shorten(self.where, MAX_LENGTH)}: {text}" if self.where else text

    @property
    def action(self) -> tuple[str, str] | None:
        """The first option in the sentence that has a value, together with the value, or None if no option has one."""
        return next(iter(self.find_options().items()), None)

    def find_options(self) -> dict[str, str]:
        """Return the options in the message that have values, each mapped to its value."""
        fields = ((name or "", value or "") for _, name, value, _ in Formatter().parse(self.sentence))
        found = {
            name.removeprefix("use."): value.format(**self.values)
            for name, value in reversed([*fields])
            if name.startswith("use.") and value
        }
        return {**dict(reversed(found.items())), **self.options}


class InputError(ValueError):
    """Raised if input cannot be scored. The string form of the error is worded for Python.

    Args:
        message: the message that says what is wrong, where, and what to do.

    Example:
        >>> error = make_error("answers.json", "no field {field!r}: pass it with {use.prediction}", field="x")
        >>> print(error)
        answers.json: no field 'x': pass it with prediction=
    """

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message.text()


class MissingFileError(InputError, FileNotFoundError):
    """Raised if a file does not exist. This error is both a `ValueError` and an `OSError`."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.errno, self.filename = errno.ENOENT, message.values["path"]


def make_error(where: str, sentence: str, /, **values: Any) -> InputError:
    """Create an error from the parts of its message."""
    return InputError(Message(where, sentence, values))


def reword(text: str, front_end: FrontEnd) -> str:
    """Adapt references to lists, such as "`anls layouts` lists them", to a front end."""
    for words, others in _LISTS.items():
        if words in text:
            from anls_metric.core.extraction.extract import EXTRACTORS  # not needed for other messages

            text = text.replace(words, others.get(front_end, words).format(names=", ".join(EXTRACTORS)))
    return text


def shorten(text: str, length: int = 160) -> str:
    """Replace the middle of a string that is longer than `length` with an ellipsis."""
    return text if len(text) <= length else text[: length // 2] + " … " + text[-length // 2 :]


def list_some(names: Iterable[Any], most: int = 5) -> str:
    """List the first few names, separated by commas.

    Example:
        >>> list_some("abcdefgh", 3)
        'a, b, c, ...'
    """
    texts = list(map(str, names))
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")
