"""How tables are read: the options of the user, and what the answers are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from anls_metric.core.extraction.extract import Extraction, extractor
from anls_metric.options import NONE, Settings
from anls_metric.reading.layouts import Path
from anls_metric.reading.roles import Roles, Side, find_roles
from anls_metric.reading.table import Table
from anls_metric.reading.values import Kind


@dataclass(frozen=True)
class Reading:
    """The options for reading tables.

    Attributes:
        settings: the options of the user.
        of_values: whether answers are lists and nested values, and not strings.
        rule: the rule of a benchmark that scores the answers; None for none.
        scorer: what scores the answers, to choose among several; None where nothing is chosen.
    """

    settings: Settings
    of_values: bool = False
    rule: Any = None
    scorer: Any = None

    def find_roles(self, table: Table, side: Side) -> Roles:
        """Find the field of each role in a table."""
        return find_roles(table, side, self.settings, self.of_values, self.rule)

    def find_copy(self, table: Table) -> Path | None:
        """Find the references that a submission has beside its predictions, by their usual name or its layout."""
        others = replace(self.settings, prediction=None, references=None, fields=(), id=NONE, gold_id=None, field=None)
        return find_roles(table, "both", others, self.of_values).references

    @property
    def kind(self) -> Kind:
        """The kind of values that the answers are."""
        if self.rule:
            return "any"
        return "values" if self.of_values else "text"

    @property
    def extraction(self) -> Extraction | None:
        """The extraction steps, or None if there are none."""
        names = self.settings.extract
        return extractor(",".join(names), values=self.of_values) if names else None
