"""Defines the row that declares a figure: its name, the function that computes it, and its form in documents, tables
and terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from anls_metric.core.scorer import Form

if TYPE_CHECKING:
    from anls_metric.analysis.scored import Scored

TABLE, TERMINAL, REPORT = "table", "terminal", "report"
"""Where a column appears by default: in files, in the terminal, or beside the score in the report."""


class Column(NamedTuple):
    """A column in tables of submissions.

    Attributes:
        key: the key of the values, which is also the name of the column for users.
        heading: the heading, with the placeholders "{label}" for the name of the score, "{baseline}" for the name of
            the baseline, and "{unadjusted}" for a remark if p is adjusted but the interval is not.
        meaning: the explanation of the heading in the caption of a LaTeX table, with the placeholders "{baseline}" and
            "{adjusted}".
        form: the format of the values: see `NumberFormat.format`.
        shown: where the column appears by default, if it has values.
    """

    key: str
    heading: str
    meaning: str = ""
    form: str = ""
    shown: Collection[str] = (TABLE, TERMINAL, REPORT)


Write = Callable[..., str]
"""A function that formats a score, an interval or None for people, such as `NumberFormat.format`."""


class Line(NamedTuple):
    """A line about a submission in a terminal. A line without a name continues the previous line."""

    name: str
    text: str


class Part(NamedTuple):
    """A part of a submission's entry in the JSON document.

    Attributes:
        key: the key of the part in the document, and its name in ``--metrics``.
        sentence: the text about the key in docs/json.md.
        find: a function that computes the values, which can be stored as JSON, or returns None or {} if the part is
            absent.
        type: the type of the values. A `TypedDict` has a docstring under each key, which docs/json.md prints.
        order: the number by which parts are sorted in documents, tables and terminals; existing parts use multiples of
            5.
        by_name: whether the part is included only if ``--metrics`` names it. Otherwise, `find` decides.
        forms: the forms of answers for which ``--metrics`` accepts it.
        columns: the columns of the part in tables.
        cells: a function that converts the values of the part to the values of the columns, keyed by column key.
        lines: a function that writes the lines for a terminal. The lines also appear beside tables, unless the
            terminal's table has columns of the part.
    """

    key: str
    sentence: str
    find: Callable[[Scored], Any]
    type: Any
    order: int
    by_name: bool = True
    forms: tuple[Form, ...] = get_args(Form)
    columns: Sequence[Column] = ()
    cells: Callable[[Any], Mapping[str, Any]] = dict
    lines: Callable[[Any, Write], Iterable[Line]] = lambda values, write: ()
