"""How tables are read: the options of the user, and what the answers are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from anls_metric.core.extraction.extract import Extraction, extractor, extractor_for
from anls_metric.core.scorer import Scorer, get_scorer
from anls_metric.options import NONE, Settings
from anls_metric.reading.answer_forms import ANSWER_FORMS, AnswerForm
from anls_metric.reading.laid_out import apply_layout
from anls_metric.reading.records import Path
from anls_metric.reading.roles import Side, check_field_names, find_roles
from anls_metric.reading.table import Roles, Table


@dataclass(frozen=True)
class Reading:
    """The options for reading tables, and what was found with them: the layout and the roles of each table, once.

    Attributes:
        settings: the options of the user.
        scorer: what scores the answers.
    """

    settings: Settings
    scorer: Scorer = field(default_factory=get_scorer)
    _roles: dict[tuple[int, Side], Roles] = field(default_factory=dict, init=False, repr=False, compare=False)
    _laid_out: dict[int, Table] = field(default_factory=dict, init=False, repr=False, compare=False)
    _tables: list[Table] = field(default_factory=list, init=False, repr=False, compare=False)

    def lay_out(self, table: Table) -> Table:
        """Find the records, the fields and the layout of a table, unless that was done before."""
        if table.fields:
            return table
        if id(table) not in self._laid_out:
            self._tables.append(table)  # as long as it is here, its identity is its own
            self._laid_out[id(table)] = apply_layout(table, self.settings, self.of_values)
        return self._laid_out[id(table)]

    def find_roles(self, table: Table, side: Side) -> Roles:
        """Find the field of each role in a table, unless that was done before."""
        if (id(table), side) not in self._roles:
            self._tables.append(table)
            self._roles[id(table), side] = find_roles(table, side, self.settings, self.of_values, self.scorer)
        return self._roles[id(table), side]

    def find_copy(self, table: Table) -> Path | None:
        """Find the references that a submission has beside its predictions, by their usual name or its layout."""
        others = replace(self.settings, prediction=None, references=None, fields=(), id=NONE, gold_id=None, field=None)
        return find_roles(table, "both", others, self.of_values).references

    @property
    def form(self) -> AnswerForm:
        """How answers of the form that the scorer needs are read."""
        return ANSWER_FORMS[self.scorer.form]

    @property
    def of_values(self) -> bool:
        """Whether answers are lists and nested values."""
        return self.scorer.reads_json

    @property
    def extraction(self) -> Extraction | None:
        """The extraction steps, or None if there are none."""
        names = self.settings.extract
        return extractor_for(self.scorer, ",".join(names)) if names else None


def make_reading(settings: Settings, scorer: Scorer) -> Reading:
    """Make the options for reading answers in the form that a scorer needs.

    Raises:
        InputError: an option does not fit the scorer. ValueError: a name does not exist.
    """
    check_field_names(settings, scorer)
    if settings.extract:
        extractor(",".join(settings.extract))  # refuses an unknown rule
    return Reading(settings, scorer)
