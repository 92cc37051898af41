"""The columns that the rule of a benchmark needs: where files have them, and how their values are shown.

A record gets the values of the columns that belong to its question under the name `COLUMNS`; what belongs to the answer
stands under the same name in `Row.beside`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.core.rows import describe
from anls_metric.reading import remedies
from anls_metric.reading.errors import InputError
from anls_metric.reading.layouts import ABSENT, Layout, Path, take

if TYPE_CHECKING:
    from anls_metric.reading.batch import Row
    from anls_metric.reading.resolver import Side
    from anls_metric.rules import Rule

COLUMNS = "(columns)"
PREDICTION = "prediction"


class RuleColumns(NamedTuple):
    """The columns of a rule in files.

    Attributes:
        rule: the rule.
        named: the paths that the user names, by column.
    """

    rule: Rule
    named: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """The columns that a row must have, and those that it may have."""
        return [*self.rule.columns, *self.rule.optional]

    def check(self) -> RuleColumns:
        """Check the paths that the user names. ValueError: the rule has no such column."""
        for column, path in self.named.items():
            if column not in self.names:
                raise ValueError(f"{self.rule.name} has no column {column!r}: it has {', '.join(self.names)}")
            if not isinstance(path, str) or not path:
                raise ValueError(f"the path of the column {column} is {describe(path)}: pass a string")
        return self

    def find_paths(self, column: str, layout: Layout) -> list[Path]:
        """Find the paths at which a file can have a column: the first that leads to a value counts."""
        if column in self.named:
            return [self.named[column]]
        own = [layout.columns[column]] if column in layout.columns else []
        role = {PREDICTION: layout.prediction, self.rule.references: layout.references}.get(column, ())
        return [*own, *role, column] if layout.source else [*own, column, *role]

    def list_paths(self, layout: Layout) -> list[Path]:
        """List the paths at which a file can have any column."""
        return [path for column in self.names for path in self.find_paths(column, layout)]

    def find_roles(self, side: Side) -> dict[str, str]:
        """Find the paths of prediction and accepted answers in a file that no program wrote."""
        columns = {"prediction": PREDICTION, "references": self.rule.references}
        columns.pop({"gold": "prediction", "submission": "references"}.get(side, ""), None)
        return {role: self.named.get(column, column) for role, column in columns.items()}

    def take(self, record: Mapping[str, Any], layout: Layout, columns: Iterable[str]) -> dict[str, Any]:
        """Take the values of columns from a record, as far as it has them."""
        values = {column: first_value(record, self.find_paths(column, layout)) for column in columns}
        return {column: value for column, value in values.items() if value is not ABSENT}

    def add_columns(self, records: Sequence[Mapping[str, Any]], layout: Layout) -> list[Mapping[str, Any]]:
        """Add to records what they say about their questions: all columns but the prediction."""
        columns = [column for column in self.names if column != PREDICTION]
        return [{**record, COLUMNS: self.take(record, layout, columns)} for record in records]

    def show_references(self, record: Mapping[str, Any], layout: Layout) -> list[str]:
        """The accepted answers of a record as texts; "" where there are none."""
        value = first_value(record, self.find_paths(self.rule.references, layout))
        items = value if isinstance(value, (list, tuple)) else [] if value is ABSENT else [value]
        return list(map(show, items)) or [""]

    def show_prediction(self, record: Mapping[str, Any], layout: Layout) -> str | None:
        """The prediction of a record as a text; None where there is none."""
        value = first_value(record, self.find_paths(PREDICTION, layout))
        return None if value is ABSENT or value is None else show(value)


def first_value(record: Mapping[str, Any], paths: Iterable[Path]) -> Any:
    """The value of the first path that leads to one, else `ABSENT`."""
    return next((value for path in paths if (value := take(record, path)) is not ABSENT), ABSENT)


def show(value: Any) -> str:
    """A value as a text: a list or an object as JSON."""
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def make_rule_row(row: Row, rule: Rule) -> dict[str, Any]:
    """Make the row that a rule scores.

    Raises:
        InputError: the files have not all columns; it lists the missing ones.
    """
    columns: dict[str, Any] = {**row.beside.get(COLUMNS, {}), **row.record.get(COLUMNS, {})}
    if row.written is not None or row.prediction is None:
        columns[PREDICTION] = row.prediction or ""
    missing = [column for column in rule.columns if column not in columns]
    if missing:
        found = ", ".join(repr(name) for name in row.record if name != COLUMNS)
        problem = f"the rule {rule.name} needs {' and '.join(missing)}, which no file has (found {found})"
        raise InputError(problem, remedy=remedies.RULE_COLUMN, value=missing[0])
    return columns
