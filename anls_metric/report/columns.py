"""The possible columns of tables of submissions: a table by the keys of the JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from anls_metric.analysis.metrics import METRICS
from anls_metric.core.choices import describe_unknown
from anls_metric.report.numbers import Numbers

Names = str | Iterable[str]
"""The columns that a user asks for: keys of `COLUMNS`, as a list or as a text with commas; empty for the usual ones."""

# The kind of a column -> the form of its values: for scores and differences their sign, else what `format` takes.
_FORMS: Mapping[str, str] = {"score": "", "difference": "+", "p": ".2g", "count": ",", "text": ""}


class Column(NamedTuple):
    """A column of a table: a row of `COLUMNS`.

    Attributes:
        key: the key of the values in the document, which is also the name of the column for users.
        kind: the kind of its values: a key of `_FORMS`.
        heading: the heading, with the placeholders "{label}", the name of the score, and "{baseline}", its name.
        meaning: the explanation of the heading in the caption of a LaTeX table, with the placeholders "{baseline}" and
            "{adjusted}".
        latex: the heading in LaTeX, if it is different.
    """

    key: str
    kind: str
    heading: str
    meaning: str = ""
    latex: str = ""

    @property
    def is_score(self) -> bool:
        """Whether its values are scores, differences or their intervals, which can be printed in percent."""
        return self.kind in ("score", "difference")

    def make_cell(self, record: Mapping[str, Any], numbers: Numbers) -> str:
        """Make the cell of a record: "" if it lacks the key, "-" if the value is None."""
        if self.key not in record:
            return ""
        value, form = record[self.key], _FORMS[self.kind]
        return numbers.format(value, form) if self.is_score or value is None else format(value, form)


_INTERVAL = ("95% CI", "confidence interval")
_P_VALUE = "paired randomization test"
_COLUMNS = (
    Column("name", "text", ""),
    Column("layout", "text", "layout"),
    Column("questions", "count", "questions"),
    Column("anls", "score", "{label}"),
    Column("interval", "score", *_INTERVAL),
    Column("exact_match", "score", "exact match", "equals an accepted answer"),
    Column("contains", "score", "contains", "contains an accepted answer"),
    *(
        column
        for name, metric in METRICS.items()
        for column in (
            Column(f"metric_{name}", "score", name.replace("_", " "), metric.meaning),
            Column(f"metric_{name}_interval", "score", *_INTERVAL),
        )
    ),
    Column("format_loss", "score", "format loss", "lost by correct values in a different format"),
    Column(
        "wrong_number_credit",
        "score",
        "wrong-number credit",
        "given to wrong numbers that look like the right ones",
    ),
    Column("runs", "count", "runs"),
    Column("run_sd", "score", "SD", "standard deviation of the runs"),
    Column("difference", "difference", "against {baseline}", "difference from {baseline}", r"$\Delta$"),
    Column("difference_interval", "difference", *_INTERVAL),
    Column("p_value", "p", "raw p", f"{_P_VALUE}, not adjusted", "raw $p$"),
    Column("p_value_adjusted", "p", "p", _P_VALUE + "{adjusted}", "$p$"),
    Column("wins", "count", "wins", "questions with a better score"),
    Column("losses", "count", "losses", "questions with a worse score"),
    Column("equal", "count", "equal", "questions with the same score"),
    Column("verdict", "text", "verdict"),
    Column("mde", "score", "MDE", "minimum detectable effect at 80% power"),
)
COLUMNS: Mapping[str, Column] = MappingProxyType({column.key: column for column in _COLUMNS})
"""The columns by their keys."""

COMPARED = tuple(COLUMNS)[list(COLUMNS).index("difference") :]
"""The columns that compare a submission with the baseline. The other columns describe the submission itself."""

# The usual columns. Columns without values are left out.
USUAL_COLUMNS = tuple(key for key in COLUMNS if key not in ("name", "layout", "questions", "p_value", "equal"))

# The usual columns in LaTeX. A table of four submissions fits one column of a two-column article.
LATEX_COLUMNS = ("anls", "interval", "difference", "p_value_adjusted")


def choose_columns(records: Sequence[Mapping[str, Any]], names: Names, usual: Iterable[str]) -> list[Column]:
    """Choose the columns of a table. The name of the submission is always the first.

    Args:
        records: the rows.
        names: the columns that the user asks for.
        usual: the usual columns. Those without values are left out.

    Raises:
        ValueError: there is no such column, or no row has a value for it.

    Example:
        >>> [column.key for column in choose_columns([{"name": "a", "anls": 0.5}], "anls", ())]
        ['name', 'anls']
    """
    held = [key for key in COLUMNS if any(key in record for record in records)]
    keys = [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name]
    for key in keys:
        if key not in COLUMNS:
            raise ValueError(describe_unknown("column", key, COLUMNS))
        if key not in held:
            raise ValueError(f"column {key!r} would be empty; choose from {', '.join(held)}")
    return [COLUMNS[key] for key in dict.fromkeys(["name", *(keys or usual)]) if key in held]
