"""The row that declares a figure: its name, what computes it, and how documents, tables and terminals show it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from anls_metric.analysis.scored import Scored

TABLE, TERMINAL, REPORT = "table", "terminal", "report"
"""Where a column stands unless the user chooses columns: in files, in the terminal, and beside the score in the
report."""


class Column(NamedTuple):
    """A column of tables of submissions.

    Attributes:
        key: the key of the values, which is also the name of the column for users.
        heading: the heading, with the placeholders "{label}", the name of the score, "{baseline}", its name, and
            "{unadjusted}", if p is adjusted and the interval is not.
        meaning: the explanation of the heading in the caption of a LaTeX table, with the placeholders "{baseline}" and
            "{adjusted}".
        form: the form of the values: see `NumberFormat.format`.
        shown: where it stands without being asked for, if there are values.
    """

    key: str
    heading: str
    meaning: str = ""
    form: str = ""
    shown: Collection[str] = (TABLE, TERMINAL, REPORT)


Write = Callable[..., str]
"""What formats a score, an interval or None for people: `NumberFormat.format`."""


class Line(NamedTuple):
    """A line about a submission in a terminal. Without a name, it continues the line before."""

    name: str
    text: str


class Part(NamedTuple):
    """A part of what the JSON document says about a submission.

    Attributes:
        key: its key in the document, and its name in ``--metrics``.
        sentence: what docs/json.md says about the key.
        find: computes its values, which JSON can hold; None or {} for no part.
        type: the type of the values. A `TypedDict` has a docstring under each key, which docs/json.md prints.
        order: its place among the parts in documents, tables and terminals; those of today have 10, 20 and so on.
        by_name: whether it is only there if ``--metrics`` names it. Otherwise, `find` decides.
        only_strings: whether ``--metrics`` has it only for strings.
        columns: its columns in tables.
        cells: makes the values of the columns, by their keys, from the values of the part.
        lines: makes the lines in a terminal. They also stand beside tables, unless a terminal's table has columns of
            the part.
    """

    key: str
    sentence: str
    find: Callable[[Scored], Any]
    type: Any
    order: int
    by_name: bool = True
    only_strings: bool = False
    columns: Sequence[Column] = ()
    cells: Callable[[Any], Mapping[str, Any]] = dict
    lines: Callable[[Any, Write], Iterable[Line]] = lambda values, write: ()
