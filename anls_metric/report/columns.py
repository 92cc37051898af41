"""The columns that tables of submissions can have: a table whose keys are those of the JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.checks import describe_unknown
from anls_metric.core.strings.metrics import METRICS

Names = str | Iterable[str]
"""The columns that a user asks for: keys of `COLUMNS`, as a list or as a text with commas; empty for the usual ones."""


class Column(NamedTuple):
    """A column of a table: a row of `COLUMNS`.

    Attributes:
        key: the key of the values in the document, which is also the name of the column for users.
        heading: the heading, with the placeholders "{label}", the name of the score, "{baseline}", its name, and
            "{unadjusted}", if p is adjusted and the interval is not.
        meaning: the explanation of the heading in the caption of a LaTeX table, with the placeholders "{baseline}" and
            "{adjusted}".
        form: the form of the values: see `NumberFormat.format`.
    """

    key: str
    heading: str
    meaning: str = ""
    form: str = ""


_INTERVAL = ("95% CI", "confidence interval")
_P_VALUE = "paired randomization test"
_COLUMNS = (
    Column("name", ""),
    Column("layout", "layout"),
    Column("questions", "questions"),
    Column("anls", "{label}"),
    Column("interval", *_INTERVAL),
    Column("anls_extracted", "extracted", "score after the extraction that a hint proposes"),
    Column("empty", "empty", "empty predictions"),
    Column("exact_match", "exact match", "equals a reference"),
    Column("contains", "contains", "contains a reference"),
    Column("leaves", "leaves"),
    Column("right", "right", "leaves that score 1"),
    Column("close", "close", "leaves that score between 0 and 1"),
    Column("wrong", "wrong", "leaves with a different value"),
    Column("missed", "missed", "leaves without a value where one is accepted"),
    Column("invented", "invented", "leaves with a value where none is accepted"),
    Column("blank", "blank", "leaves without a value where none is accepted"),
    Column("same_value", "same value", "close or wrong leaves with the same number or date, written differently"),
    Column("precision", "precision", "share of right leaves among those with a value"),
    Column("precision_interval", *_INTERVAL),
    Column("recall", "recall", "share of right leaves among those where a value is accepted"),
    Column("recall_interval", *_INTERVAL),
    Column("f1", "F1", "harmonic mean of precision and recall"),
    Column("f1_interval", *_INTERVAL),
    Column("mean_score", "mean score", "mean of the scores of the leaves"),
    Column("cost", "cost", "part of the score that is lost here"),
    *(
        column
        for name, metric in METRICS.items()
        for column in (
            Column(f"metric_{name}", name.replace("_", " "), metric.meaning),
            Column(f"metric_{name}_interval", *_INTERVAL),
        )
    ),
    Column("format_loss", "format loss", "score lost by correct answers in a different format"),
    Column(
        "wrong_number_credit",
        "wrong-number credit",
        "score gained by wrong numbers",
    ),
    Column("unanswerable", "without an answer", "answers to questions that have no answer"),
    Column("right_abstentions", "right abstentions", "answers that abstain where there is no answer"),
    Column("missed_abstentions", "missed abstentions", "answers where there is none"),
    Column("answerable", "with an answer", "answers to questions that have one"),
    Column("false_abstentions", "false abstentions", "answers that abstain where there is an answer"),
    Column("answered", "answered", "answers that do not abstain"),
    Column("accuracy_of_answered", "of answered", "mean score of the answers that do not abstain"),
    Column("runs", "runs"),
    Column("run_sd", "SD", "standard deviation of the runs"),
    Column("difference", "against {baseline}", "difference from {baseline}", "+"),
    Column("difference_interval", "95% CI{unadjusted}", "confidence interval{unadjusted}", "+"),
    Column("p_value", "raw p", f"{_P_VALUE}, not adjusted", ".2g"),
    Column("p_value_adjusted", "p", _P_VALUE + "{adjusted}", ".2g"),
    Column("wins", "wins", "questions with a higher score"),
    Column("losses", "losses", "questions with a lower score"),
    Column("equal", "equal", "questions with the same score"),
    Column("verdict", "verdict", "at 0.05, by the " + _P_VALUE + "{adjusted}"),
    Column("mde", "MDE", "minimum detectable effect at 80% power"),
)
COLUMNS: Mapping[str, Column] = {column.key: column for column in _COLUMNS}
"""The columns by their keys."""

COMPARED = tuple(COLUMNS)[list(COLUMNS).index("difference") :]
"""The columns that compare a submission with the baseline. The other columns describe the submission itself."""

# The usual columns. Columns without values are left out.
_COUNTS = ("right", "close", "wrong", "missed", "invented", "precision", "recall", "f1")
_INTERVALS = ("precision_interval", "recall_interval", "f1_interval")
_OF_LEAVES = ("leaves", *_COUNTS, *_INTERVALS, "blank", "same_value", "mean_score", "cost")
_UNUSUAL = ("name", "layout", "questions", "anls_extracted", "empty", "p_value", "equal", *_OF_LEAVES)
USUAL_COLUMNS = tuple(key for key in COLUMNS if key not in _UNUSUAL)

IMPORTANT_COLUMNS = (
    *("anls", "difference", "verdict", "p_value_adjusted", "anls_extracted", "empty", "interval"),
    *("wins", "losses", "exact_match", "contains"),
)
"""The usual columns of a terminal, the most important first. As many as fit stand beside those that are asked for."""
_OF_ABSTENTION = (
    *("unanswerable", "right_abstentions", "missed_abstentions", "answerable", "false_abstentions", "answered"),
    "accuracy_of_answered",
)  # a terminal has a line of them for each submission
TERMINAL_COLUMNS = tuple(
    key
    for key in COLUMNS
    if key in IMPORTANT_COLUMNS
    or (key in USUAL_COLUMNS and key not in (*COMPARED, *_OF_ABSTENTION) and not key.endswith("_interval"))
)
"""The columns of a terminal in their order, with those of other metrics and of runs."""

KEY_COLUMNS = (
    *_COUNTS,
    "f1_interval",
    "exact_match",
    "anls",
    "interval",
    "difference",
    "difference_interval",
    "verdict",
)
"""The columns of the table of keys."""

ASKED_COLUMNS = (
    *(f"metric_{name}" for name in METRICS),
    *("format_loss", "wrong_number_credit", "right_abstentions", "missed_abstentions", "false_abstentions"),
    *("precision", "recall", "f1", "runs", "run_sd"),
)
"""The columns that the report shows beside the score, because somebody asked for them."""

COPIED_COLUMNS = (
    *("anls", "interval", *ASKED_COLUMNS, "anls_extracted", "empty"),
    *("difference", "difference_interval", "p_value_adjusted"),
)
"""The columns of the tables that the report copies."""

# The usual columns in LaTeX
LATEX_COLUMNS = ("anls", "interval", "difference", "difference_interval", "p_value_adjusted")


def choose_columns(records: Sequence[Mapping[str, Any]], names: Names, usual: Iterable[str]) -> list[Column]:
    """Choose the columns of a table. The first one is always the submission name.

    Args:
        records: the rows.
        names: the columns that the user asks for.
        usual: the usual columns. Those without values are left out.

    Raises:
        ValueError: there is no such column, or no row has a value for it. A heading such as "p" is a name, too.

    Example:
        >>> [column.key for column in choose_columns([{"name": "a", "anls": 0.5}], "anls", ())]
        ['name', 'anls']
    """
    held = [key for key in COLUMNS if any(key in record for record in records)]
    keys = [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name]
    by_heading = {COLUMNS[key].heading: key for key in reversed(held)}
    keys = [key if key in held else by_heading.get(key, key) for key in keys]
    for key in keys:
        if key not in COLUMNS:
            raise ValueError(describe_unknown("column", key, COLUMNS))
        if key not in held:
            raise ValueError(f"column {key!r} would be empty; choose from {', '.join(held)}")
    labels = {key: label for record in records for key in held if (label := record.get(f"{key}_label"))}
    return [
        COLUMNS[key]._replace(heading=labels.get(key, COLUMNS[key].heading))
        for key in dict.fromkeys(["name", *(keys or usual)])
        if key in held
    ]
