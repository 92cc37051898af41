"""The error for input that cannot be scored: what is wrong, where, and what to do about it."""

from __future__ import annotations

import errno

from anls_metric.reading.remedies import Door, Remedy

_LONGEST = 1000


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"


class InputError(ValueError):
    """Input that cannot be scored. As a string it says what is wrong, where, and what to do in Python.

    Args:
        problem: what is wrong.
        where: the file, and the line, record or question in it; "" where there is no such place.
        remedy: what to do: a row of `remedies`, or a sentence that fits every door; "" where the problem
            says it.
        value: the value that the remedy names, such as a field; "" if it names none.

    Example:
        >>> from anls_metric.reading import remedies
        >>> error = InputError("no answer to 1 of the questions (7)", "answers.json", remedies.MISSING)
        >>> print(error)
        answers.json: no answer to 1 of the questions (7): add the answers, or score them 0 with missing="zero"
        >>> error.format_for("command")
        'answers.json: no answer to 1 of the questions (7): add the answers, or score them 0 with --missing zero'
    """

    def __init__(self, problem: str, where: str = "", remedy: Remedy | str = "", value: str = "") -> None:
        super().__init__(problem, where, remedy, value)
        self.problem, self.where, self.remedy, self.value = problem, where, remedy, value

    def format_for(self, door: Door) -> str:
        """Format the message with the remedy in the words of a door. Long texts of the input are cut."""
        remedy = self.remedy if isinstance(self.remedy, str) else self.remedy.format_for(door, self.value)
        return ": ".join(filter(None, [_cut(self.where), _cut(self.problem), remedy]))

    def __str__(self) -> str:
        return self.format_for("python")


class MissingFileError(InputError, FileNotFoundError):
    """A file that a user names, and that does not exist. It is a `ValueError` and an `OSError`."""

    def __init__(self, problem: str, where: str, remedy: str = "", value: str = "") -> None:
        super().__init__(problem, where, remedy, value)
        self.errno, self.strerror, self.filename = errno.ENOENT, problem, where
