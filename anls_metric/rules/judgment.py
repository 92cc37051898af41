"""Defines the result of a rule for one answer, which is a score and the branch of the rule that decided it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from anls_metric.core.checks import describe
from anls_metric.core.strings.explanation import format_percent

Row = Mapping[str, Any]
"""A question with its answer, as a dict with a rule's columns."""


class Judgment(NamedTuple):
    """The score of an answer and the reason for it. Its string form is a plain phrase.

    The phrase is formatted only when it is read, because most callers only need the score.

    Attributes:
        score: from 0 to 1.
        words: the phrase, with a pair of braces for each value.
        values: the values for the braces.
    """

    score: float
    words: str
    values: tuple[Any, ...] = ()

    @property
    def sentence(self) -> str:
        """A sentence that explains the score of the answer as a percentage, for a page."""
        text = self._put_into_words(format_percent)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def closest(self) -> None:
        """Always None. In other explanations, this is the closest reference."""

    @property
    def edits(self) -> tuple[()]:
        """Always (). In other explanations, these are the edits."""
        return ()

    def __str__(self) -> str:
        return self._put_into_words("{:.4g}".format)

    def _put_into_words(self, form: Callable[[float], str]) -> str:
        values = [form(value) if isinstance(value, Similarity) else _show(value) for value in self.values]
        return f"{self.words.format(*values)}, so {form(self.score)}"


class Similarity(float):
    """A similarity among the values of a judgment, which is shown in the same unit as the score."""


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, int) and abs(value) < 1e20 else describe(value).removesuffix(" (str)")


class ColumnError(ValueError):
    """The error that is raised if a rule cannot score a value.

    Args:
        column: the column that contains the value.
        problem: what is wrong, as the end of a sentence.

    Attributes:
        place: the position of the row, for functions that read several rows.
    """

    def __init__(self, column: str, problem: str) -> None:
        super().__init__(f"{column} {problem}")
        self.column, self.problem = column, problem
        self.place = 0


def refuse(column: str, value: object, allowed: str) -> ColumnError:
    """Create the error for a value of the wrong kind.

    Example:
        >>> raise refuse("gold", 5, "a list of strings")
        Traceback (most recent call last):
        anls_metric.rules.judgment.ColumnError: gold must be a list of strings, got 5 (int)
    """
    return ColumnError(column, f"must be {allowed}, got {describe(value)}")
