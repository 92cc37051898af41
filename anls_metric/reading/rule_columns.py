"""Finds the columns that the rule of a benchmark needs in files, and formats their values.

The values for a question are added to its record under the name `COLUMNS`; the values for an answer are in `Row.beside`
under the same name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.core.rows import describe
from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.layouts import ABSENT, Layout, Path, take

if TYPE_CHECKING:
    from anls_metric.reading.batch import Row
    from anls_metric.reading.resolver import Sample, Side
    from anls_metric.rules import Rule

COLUMNS = "(columns)"
PREDICTION = "prediction"


class RuleColumns(NamedTuple):
    """The columns of a rule in files.

    Attributes:
        rule: the rule.
        user_paths: the paths that the user names, by column.
    """

    rule: Rule
    user_paths: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """The required and the optional columns of a row."""
        return [*self.rule.columns, *self.rule.optional]

    def check(self) -> RuleColumns:
        """Check the paths that the user names. ValueError: the rule has no such column."""
        for column, path in self.user_paths.items():
            if column not in self.names:
                raise ValueError(f"{self.rule.name} has no column {column!r}: it has {', '.join(self.names)}")
            if not isinstance(path, str) or not path:
                raise ValueError(f"the path of the column {column} is {describe(path)}: pass a string")
        return self

    def find_paths(self, column: str, layout: Layout) -> list[Path]:
        """Find the possible paths of a column. The first that leads to a value counts."""
        if column in self.user_paths:
            return [self.user_paths[column]]
        own = [layout.columns[column]] if column in layout.columns else []
        role = {PREDICTION: layout.prediction, self.rule.references: layout.references}.get(column, ())
        return [*own, *role, column] if layout.source else [*own, column, *role]

    def list_paths(self, layout: Layout) -> list[Path]:
        """List the possible paths of all columns."""
        return [path for column in self.names for path in self.find_paths(column, layout)]

    def find_roles(self, side: Side, sample: Sample) -> dict[str, str]:
        """Find the paths of prediction and accepted answers in a table of a user."""
        columns = {"prediction": PREDICTION, "references": self.rule.references}
        columns.pop({"gold": "prediction", "submission": "references"}.get(side, ""), None)
        paths = {role: self.user_paths.get(column, column) for role, column in columns.items()}
        if side == "submission" and not sample.has(paths["prediction"]):
            paths["prediction"] = self.rule.prediction_field
        return paths

    def find_refusal(self, gold: str, submission: str) -> str:
        """Find why the program of the benchmark refuses two files, in its own words.

        Args:
            gold: the path of the gold file.
            submission: the path of the submission.

        Returns:
            The message of the program; "" if it takes the files, checks none, or cannot read one of them.
        """
        if self.rule.find_refusal is None:
            return ""
        try:
            contents = [json.loads(FilePath(path).read_bytes()) for path in (gold, submission)]
        except (OSError, ValueError, RecursionError):
            return ""
        return self.rule.find_refusal(*contents)

    def take(self, record: Mapping[str, Any], layout: Layout, columns: Iterable[str]) -> dict[str, Any]:
        """Take the values of the columns that a record has."""
        values = {column: first_value(record, self.find_paths(column, layout)) for column in columns}
        return {column: value for column, value in values.items() if value is not ABSENT}

    def add_columns(self, records: Sequence[Mapping[str, Any]], layout: Layout) -> list[Mapping[str, Any]]:
        """Add the values of all columns but the prediction to records, under the name `COLUMNS`."""
        columns = [column for column in self.names if column != PREDICTION]
        return [{**record, COLUMNS: self.take(record, layout, columns)} for record in records]

    def show_references(self, record: Mapping[str, Any], layout: Layout) -> list[str]:
        """Format the accepted answers of a record as texts; "" for none."""
        value = first_value(record, self.find_paths(self.rule.references, layout))
        items = value if isinstance(value, (list, tuple)) else [] if value is ABSENT else [value]
        return list(map(show, items)) or [""]

    def show_prediction(self, record: Mapping[str, Any], layout: Layout) -> str | None:
        """Format the prediction of a record as a text; None for none."""
        value = first_value(record, self.find_paths(PREDICTION, layout))
        return None if value is ABSENT or value is None else show(value)


def first_value(record: Mapping[str, Any], paths: Iterable[Path]) -> Any:
    """Return the value of the first path that leads to one, else `ABSENT`."""
    return next((value for path in paths if (value := take(record, path)) is not ABSENT), ABSENT)


def show(value: Any) -> str:
    """Format a value as a text: a list or an object becomes JSON."""
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def make_rule_row(row: Row, rule: Rule) -> dict[str, Any]:
    """Make the row that a rule scores.

    Raises:
        InputError: the files lack columns; the message lists them.
    """
    columns: dict[str, Any] = {**row.beside.get(COLUMNS, {}), **row.record.get(COLUMNS, {})}
    if row.written is not None or row.prediction is None:
        columns[PREDICTION] = row.prediction or ""
    missing = [column for column in rule.columns if column not in columns]
    if missing:
        names = ", ".join(repr(name) for name in row.record if name != COLUMNS)
        problem = f"the rule {rule.name} needs {' and '.join(missing)}, which no file has (found {names})"
        if missing[0] in row.record:  # the user names another path
            problem = f"no file has the field that you name for {missing[0]} (found {names})"
        raise InputError(problem, remedy=remedies.RULE_COLUMN, value=missing[0])
    return columns
