"""Defines the columns that tables of submissions can have, keyed as in the JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.analysis.part import REPORT, TABLE, TERMINAL, Column
from anls_metric.analysis.parts import PARTS
from anls_metric.core.checks import describe_unknown
from anls_metric.messages import make_error

Names = str | Iterable[str]
"""The columns that a user requests, as a list or a comma-separated string of keys of `COLUMNS`; empty for the usual
columns.
"""


_INTERVAL = ("95% CI", "confidence interval")
_P_VALUE = "paired randomization test"
_USUAL = (TABLE, TERMINAL)
_COMPARED = (
    Column("difference", "against {baseline}", "difference from {baseline}", "+", _USUAL),
    Column("difference_interval", "95% CI{unadjusted}", "confidence interval of the difference", "+", (TABLE,)),
    Column("p_value", "raw p", f"{_P_VALUE}, not adjusted", ".2g", ()),
    Column("p_value_adjusted", "p", _P_VALUE + "{adjusted}", ".2g", _USUAL),
    Column("verdict", "verdict", "at 0.05, by the " + _P_VALUE + "{adjusted}", shown=_USUAL),
    Column("wins", "wins", "questions with a higher score", shown=_USUAL),
    Column("losses", "losses", "questions with a lower score", shown=_USUAL),
    Column("equal", "equal", "questions with the same score", shown=()),
    Column("mde", "MDE", "minimum detectable effect at 80% power", shown=(TABLE,)),
)
COMPARED = tuple(column.key for column in _COMPARED)
"""The columns that compare a submission with the baseline. The other columns describe the submission itself."""

_COLUMNS = (
    Column("name", "", shown=()),
    Column("layout", "layout", shown=()),
    Column("questions", "questions", shown=()),
    Column("anls", "{label}", shown=_USUAL),
    Column("interval", *_INTERVAL, shown=_USUAL),
    *_COMPARED,
    Column("exact_match", "exact match", "equals a reference", shown=_USUAL),
    Column("contains", "contains", "contains a reference", shown=_USUAL),
    *(column for part in PARTS for column in part.columns),
    Column("runs", "runs"),
    Column("run_sd", "SD", "standard deviation of the runs"),
    Column("anls_extracted", "extracted", "score after the extraction that a hint proposes", shown=(TERMINAL,)),
    Column("empty", "empty", "empty predictions", shown=(TERMINAL,)),
)
COLUMNS: Mapping[str, Column] = {column.key: column for column in _COLUMNS}
"""The columns, keyed as in the JSON document."""

USUAL_COLUMNS, TERMINAL_COLUMNS, ASKED_COLUMNS = (
    tuple(key for key, column in COLUMNS.items() if place in column.shown) for place in (TABLE, TERMINAL, REPORT)
)
"""The usual columns of a table, the usual columns of a table in a terminal, and the columns that the report shows
beside the score on request. Columns without values are left out.
"""

IMPORTANT_COLUMNS = (
    *("anls", "interval", "difference", "p_value_adjusted", "verdict", "wins", "losses"),
    *("anls_extracted", "empty", "exact_match", "contains"),
)
"""The usual columns in a terminal, from the most to the least important. As many columns as fit are shown beside those
requested.
"""

KEY_COLUMNS = (
    *("right", "close", "wrong", "missed", "invented", "precision", "recall", "f1", "f1_interval", "exact_match"),
    *("anls", "interval", "difference", "difference_interval", "verdict"),
)
"""The columns in the table of keys."""

SHORT_KEY_COLUMNS = ("right", "close", "wrong", "missed", "invented", "anls", "difference", "verdict")
"""The columns in the table of keys in a terminal if there are several submissions."""

COPIED_COLUMNS = (
    *("anls", "interval", *ASKED_COLUMNS, "anls_extracted", "empty"),
    *("difference", "difference_interval", "p_value_adjusted"),
)
"""The columns in the tables that can be copied from the report."""

# The usual columns in LaTeX
LATEX_COLUMNS = ("anls", "interval", "difference", "difference_interval", "p_value_adjusted")


def choose_columns(records: Sequence[Mapping[str, Any]], names: Names, usual: Iterable[str]) -> list[Column]:
    """Choose the columns of a table, starting with the name of the submission.

    Args:
        records: the rows of the table.
        names: the columns that the user requests.
        usual: the usual columns, of which those without values are left out.

    Raises:
        ValueError: there is no such column, or no row has a value for it. A heading such as "p" is also accepted as a
            name.

    Example:
        >>> [column.key for column in choose_columns([{"name": "a", "anls": 0.5}], "anls", ())]
        ['name', 'anls']
    """
    held = [key for key in COLUMNS if any(key in record for record in records)]
    keys = [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name]
    by_heading = {"ANLS": "anls", **{COLUMNS[key].heading: key for key in reversed([*held, *COLUMNS])}}
    keys = [key if key in held else by_heading.get(key, key) for key in keys]
    for key in keys:
        if key not in COLUMNS:
            raise make_error("", "{problem}", problem=describe_unknown("column", key, held))
        if key not in held:
            sentence = "column {key!r} would be empty; choose from {names}"
            raise make_error("", sentence, key=key, names=", ".join(held))
    labels = {key: label for record in records for key in held if (label := record.get(f"{key}_label"))}
    return [
        COLUMNS[key]._replace(heading=labels.get(key, COLUMNS[key].heading))
        for key in dict.fromkeys(["name", *(keys or usual)])
        if key in held
    ]
