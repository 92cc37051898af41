"""How tables are read, as determined by the user's options and the form of the answers."""

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
    """The options for reading tables, with a cache of the layouts and the roles that were found in each table.

    Attributes:
        settings: the user's options.
        scorer: the scorer that will score the answers.
    """

    settings: Settings
    scorer: Scorer = field(default_factory=get_scorer)
    _roles: dict[tuple[int, Side], Roles] = field(default_factory=dict, init=False, repr=False, compare=False)
    _laid_out: dict[int, Table] = field(default_factory=dict, init=False, repr=False, compare=False)
    _tables: list[Table] = field(default_factory=list, init=False, repr=False, compare=False)

    def lay_out(self, table: Table) -> Table:
        """Find the records, the fields and the layout of a table, or return the table that was found before."""
        if table.fields:
            return table
        if id(table) not in self._laid_out:
            self._tables.append(table)  # keeps the table alive, so that its id() stays unique
            self._laid_out[id(table)] = apply_layout(table, self.settings, self.of_values)
        return self._laid_out[id(table)]

    def find_roles(self, table: Table, side: Side) -> Roles:
        """Find the field for each role in a table, or return the roles that were found before."""
        if (id(table), side) not in self._roles:
            self._tables.append(table)
            self._roles[id(table), side] = find_roles(table, side, self.settings, self.of_values, self.scorer)
        return self._roles[id(table), side]

    def find_copy(self, table: Table) -> Path | None:
        """Find the field of the references that a submission contains beside its predictions, by a usual name or the
        layout.
        """
        others = replace(self.settings, prediction=None, references=None, fields=(), id=NONE, gold_id=None, field=None)
        return find_roles(table, "both", others, self.of_values).references

    @property
    def form(self) -> AnswerForm:
        """The object that reads answers in the form that the scorer needs."""
        return ANSWER_FORMS[self.scorer.form]

    @property
    def of_values(self) -> bool:
        """Whether answers are lists and nested values."""
        return self.scorer.reads_json

    @property
    def extraction(self) -> Extraction | None:
        """The extraction steps that the user chose, or None without extraction steps."""
        names = self.settings.extract
        return extractor_for(self.scorer, ",".join(names)) if names else None


def make_reading(settings: Settings, scorer: Scorer) -> Reading:
    """Create a `Reading` for answers in the form that a scorer needs.

    Raises:
        InputError: a role does not exist or has an option of its own. ValueError: an extraction step does not exist.
    """
    check_field_names(settings, scorer)
    if settings.extract:
        extractor(",".join(settings.extract))  # raises an error for an unknown step
    return Reading(settings, scorer)
