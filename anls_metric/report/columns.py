"""The possible columns of tables of submissions: a table by the keys of the JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from anls_metric.analysis.metrics import METRICS
from anls_metric.core.choices import describe_unknown
from anls_metric.report.numbers import Numbers


def _format_score(value: float, numbers: Numbers) -> str:
    return numbers.format(value)


def _format_difference(value: float, numbers: Numbers) -> str:
    return numbers.format(value, "+")


def _format_interval(value: Sequence[float], numbers: Numbers) -> str:
    return numbers.format_interval(value)


def _format_difference_interval(value: Sequence[float], numbers: Numbers) -> str:
    return numbers.format_interval(value, "+")


def _format_p_value(value: float, numbers: Numbers) -> str:
    return f"{value:.2g}"


def _format_count(value: int, numbers: Numbers) -> str:
    return f"{value:,}"


def format_text(value: Any, numbers: Numbers) -> str:
    """Format a text."""
    return str(value)


class Column(NamedTuple):
    """A column of a table: a row of `COLUMNS`.

    Attributes:
        key: the key of the values in the document, which is also the name of the column for users.
        heading: the heading, with the placeholders "{label}", the name of the score, and "{baseline}", its name.
        format: formats a value as a cell.
        latex: the heading in LaTeX, if it is different.
        caption: the explanation of the heading in the caption of a LaTeX table; "{adjusted}" is replaced by the number
            of comparisons.
    """

    key: str
    heading: str
    format: Callable[[Any, Numbers], str]
    latex: str = ""
    caption: str = ""

    @property
    def is_score(self) -> bool:
        """Whether its values are scores or differences, which can be printed in percent."""
        return self.format in (_format_score, _format_difference)

    def make_cell(self, record: Mapping[str, Any], numbers: Numbers) -> str:
        """Make the cell of a record: "" if it lacks the key, "-" if the value is None."""
        if self.key not in record:
            return ""
        value = record[self.key]
        return "-" if value is None else self.format(value, numbers)


def _make_columns(metric: str) -> list[Column]:
    """Make the columns of another metric: its mean and its interval."""
    return [
        Column(f"metric_{metric}", metric, _format_score, caption=f"{metric}: {METRICS[metric].meaning}"),
        Column(f"metric_{metric}_interval", "95 %", _format_interval, r"95\,\%"),
    ]


_P_VALUE = "$p$: paired randomization test"

_COLUMNS = (
    Column("name", "", format_text),
    Column("layout", "layout", format_text),
    Column("questions", "questions", _format_count),
    Column("anls", "{label}", _format_score),
    Column("interval", "95 %", _format_interval, r"95\,\%", r"95\,\%: confidence interval"),
    Column("exact_match", "exact", _format_score, caption="exact: equal to an accepted answer"),
    Column("contains", "contains", _format_score, caption="contains: an accepted answer stands in the prediction"),
    *(column for name in METRICS for column in _make_columns(name)),
    Column("lost_to_format", "format", _format_score, caption="format: points lost to the format of right values"),
    Column("given_to_wrong_numbers", "numbers", _format_score, caption="numbers: points given to wrong numbers"),
    Column("runs", "runs", _format_count),
    Column("run_deviation", "deviation", _format_score, "SD", "SD: standard deviation of the runs"),
    Column(
        "difference", "against {baseline}", _format_difference, r"$\Delta$", r"$\Delta$: difference from {baseline}"
    ),
    Column("difference_interval", "95 %", _format_difference_interval, r"95\,\%", r"95\,\%: confidence interval"),
    Column("p_value", "raw p", _format_p_value, "raw $p$", _P_VALUE.replace("$p$", "raw $p$") + ", not adjusted"),
    Column("p_value_adjusted", "p", _format_p_value, "$p$", _P_VALUE + "{adjusted}"),
    Column("better", "better", _format_count, caption="better: questions with a better score"),
    Column("worse", "worse", _format_count, caption="worse: questions with a worse score"),
    Column("equal", "equal", _format_count, caption="equal: questions with the same score"),
    Column("verdict", "verdict", format_text),
    Column(
        "least_difference",
        "detectable",
        _format_score,
        r"min.\ $\Delta$",
        r"min.\ $\Delta$: smallest difference that these questions can detect",
    ),
)
COLUMNS: Mapping[str, Column] = MappingProxyType({column.key: column for column in _COLUMNS})

COMPARED = (
    "difference",
    "difference_interval",
    "p_value",
    "p_value_adjusted",
    "better",
    "worse",
    "equal",
    "verdict",
    "least_difference",
)
"""The columns that compare a submission with the baseline. The other columns describe the submission itself."""

# The usual columns. Columns without values are left out.
OF_SUBMISSIONS = (
    "anls",
    "interval",
    "exact_match",
    "contains",
    *(column.key for name in METRICS for column in _make_columns(name)),
    "lost_to_format",
    "given_to_wrong_numbers",
    "runs",
    "run_deviation",
    "difference",
    "difference_interval",
    "p_value_adjusted",
    "better",
    "worse",
    "verdict",
    "least_difference",
)
OF_GROUPS = ("anls", "interval", "difference", "difference_interval", "questions")

# The usual columns in LaTeX. A table of four submissions fits one column of a two-column article.
OF_SUBMISSIONS_IN_LATEX = ("anls", "interval", "difference", "p_value_adjusted")
OF_GROUPS_IN_LATEX = ("anls", "difference", "difference_interval")
OF_GROUPS_ALONE_IN_LATEX = ("anls", "interval", "questions")


def find_columns(names: str | Iterable[str]) -> list[str]:
    """Find columns by their names.

    Args:
        names: keys of `COLUMNS`: a list, or a text with commas.

    Returns:
        The keys; the name of the submission is always the first.

    Raises:
        ValueError: there is no such column.

    Example:
        >>> find_columns("anls, interval")
        ['name', 'anls', 'interval']
    """
    keys = [name.strip() for name in (names.split(",") if isinstance(names, str) else names)]
    for key in keys:
        if key not in COLUMNS:
            raise ValueError(describe_unknown("column", key, COLUMNS))
    return list(dict.fromkeys(["name", *keys]))


def choose_columns(
    records: Sequence[Mapping[str, Any]], names: str | Iterable[str], usual: Iterable[str]
) -> list[Column]:
    """Choose the columns of a table.

    Args:
        records: the rows.
        names: the columns that the user asks for: see `find_columns`; empty for the usual columns.
        usual: the usual columns. Those without values are left out.

    Raises:
        ValueError: there is no such column, or no row has a value for it.
    """
    held = {key for record in records for key in record}
    if not names:
        return [COLUMNS[key] for key in ("name", *usual) if key in held]
    keys = find_columns(names)
    for key in keys:
        if key not in held:
            there = ", ".join(name for name in COLUMNS if name in held)
            metric = key.removeprefix("metric_")
            problem = f"needs the metric {metric}" if metric != key else "would be empty"
            raise ValueError(f"column {key!r} {problem}; choose from {there}")
    return [COLUMNS[key] for key in keys]
