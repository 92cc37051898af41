"""Chooses the fields that two tables have under one name, and that are the answer together: `--fields`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from anls_metric.messages import make_error
from anls_metric.options import Settings
from anls_metric.reading.reading import Reading
from anls_metric.reading.roles import CONFIDENCES, FILES, IDS, QUESTIONS, RUNS, SCORES, SUBMISSIONS, usual_field
from anls_metric.reading.table import Table

ALL = "*"
"""The name that stands for all fields that both tables have."""


def choose_fields(gold: Table, list_submissions: Callable[[], Sequence[Table]], reading: Reading) -> Reading:
    """Choose the fields that are the answer together, if the user asks for them or no other field is an answer.

    Args:
        gold: the table of the gold file.
        list_submissions: reads the tables of the submissions.
        reading: how to read them.

    Returns:
        The same with the names of the fields, if there are any.

    Raises:
        InputError: fields are the answer, and the variant is for strings, or no other field says which rows belong
            together; or the tables share no field.
    """
    settings, are_named = reading.settings, bool(reading.settings.fields)
    if not are_named and not _may_have_columns(gold, reading):
        return reading
    are_certain = are_named
    if ALL in settings.fields or not are_named:
        tables = [gold, *list_submissions()]
        columns = [_list_columns(table, settings) for table in tables]
        shared = [name for name in columns[0] if all(name in own for own in columns)]
        are_same = all(set(own) == set(shared) for own in columns)
        may_be = len(shared) > 1 and shared == columns[0] and not any(table.layout for table in tables)
        if not are_named and not (may_be and (are_same or reading.of_values)):
            return reading
        if not shared:
            raise make_error(gold.name, "it has no field that every submission has: name the fields with {use.fields}")
        are_certain = are_named or (are_same and all(len(shared) < len(table.fields) for table in tables))
        settings = replace(settings, fields=tuple(shared))
    if are_named and not reading.of_values:
        raise make_error("", "{use.fields} makes objects of columns: to score objects, add {use.variant:anls_star}")
    if not (reading.of_values and are_certain):
        sentence = "its answers are in several columns ({fields}): to compare them by name, add {use.fields:{fields}}"
        sentence += "" if reading.of_values else " and {use.variant:anls_star}"
        raise make_error(gold.name, sentence, fields=",".join(settings.fields))
    return replace(reading, settings=settings)


def name_fields(settings: Settings) -> Settings:
    """Name the same list of fields for predictions and references as fields: each is compared with its namesake."""
    names, references = settings.prediction or (), (settings.references or "").split(",")
    if len(names) < 2 or sorted(names) != sorted(name.strip() for name in references):
        return settings
    return replace(settings, fields=names, prediction=None, references=None)


def _may_have_columns(gold: Table, reading: Reading) -> bool:
    """Whether nothing that the user names, no layout and no name of a field says what the references are."""
    settings = reading.settings
    if gold.layout or reading.rule or settings.prediction or settings.references:
        return False
    return reading.find_roles(gold, "gold").references is None


def _list_columns(table: Table, settings: Settings) -> list[str]:
    """List the fields at the top of records that may be a part of an answer: no ids, questions, documents or models."""
    names = [*IDS, *QUESTIONS, *FILES, *CONFIDENCES, *SUBMISSIONS, *RUNS, *SCORES]
    aside = {usual_field(table, [name]) for name in names}
    for path in (settings.id, settings.gold_id, settings.submission, settings.cluster_by):
        aside.update((path or "").split(","))
    return [name for name in dict.fromkeys(name for record in table.records for name in record) if name not in aside]
