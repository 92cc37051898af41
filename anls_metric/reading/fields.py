"""Chooses the fields that two tables share and that together form the answer, as `--fields` asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from anls_metric.messages import make_error
from anls_metric.options import Settings
from anls_metric.reading.reading import Reading
from anls_metric.reading.roles import CONFIDENCES, FILES, IDS, QUESTIONS, RUNS, SCORES, SUBMISSIONS, usual_field
from anls_metric.reading.table import Table, is_unique, read_column

KEYS = (*IDS, *QUESTIONS, *FILES)
ALL = "*"
"""The name that stands for all fields that the tables share."""


def choose_fields(gold: Table, list_submissions: Callable[[], Sequence[Table]], reading: Reading) -> Reading:
    """Choose the fields that together form the answer, if the user asks for this or no single field contains the
    references.

    Args:
        gold: the table of the gold file.
        list_submissions: a function that reads the tables of the submissions.
        reading: how to read the tables.

    Returns:
        How to read the tables, including the names of the chosen fields if there are any.

    Raises:
        InputError: the tables share no fields, the variant is for strings although several fields form the answer, or
            the user must confirm that several fields form the answer.
    """
    settings, are_named = reading.settings, bool(reading.settings.fields)
    if not are_named and not _may_have_columns(gold, reading):
        return reading
    are_certain, check = are_named, ""
    if ALL in settings.fields or not are_named:
        tables = [gold, *list_submissions()]
        columns = [_list_columns(table, settings) for table in tables]
        shared = [name for name in columns[0] if all(usual_field(table, [name]) for table in tables)]
        may_be = len(shared) == len(columns[0]) > 1 and not any(table.layout for table in tables)
        are_same = all(len(own) == len(shared) for own in columns)
        if not are_named and not (may_be and (are_same or reading.of_values)):
            return reading
        if not shared:
            raise make_error(gold.name, "it shares no field with all submissions: pass the fields with {use.fields}")
        joins = settings.id or settings.gold_id or any(all(usual_field(each, [key]) for each in tables) for key in KEYS)
        are_certain = are_named or (are_same and bool(joins))
        key = "" if joins or are_named else _find_key(shared, tables)
        check = "" if joins else f"; join the rows with {{use.id:{key}}}" if key else "; join the rows with {use.id}"
        settings = replace(settings, fields=tuple(name for name in shared if name != key))
    if are_named and not reading.of_values:
        raise make_error(
            "", "{use.fields} turns each row into an object: to score objects, add {use.variant:anls_star}"
        )
    if not (reading.of_values and are_certain):
        sentence = "its answers span several columns ({fields}): to compare column by column, add {use.fields:{fields}}"
        sentence += check if reading.of_values else " and {use.variant:anls_star}"
        raise make_error(gold.name, sentence, fields=",".join(settings.fields))
    return replace(reading, settings=settings)


def _find_key(shared: Sequence[str], tables: Sequence[Table]) -> str:
    """Find the only field that is named like an id, such as "invoice_id", and has a unique value in each row, or return
    "".
    """
    names = [name for name in shared if re.search(r"[_ .-](?:id|ID|Id)$|[a-z]I[dD]$", name)]
    keys = [name for name in names if all(is_unique(list(map(str, read_column(table, name)))) for table in tables)]
    return keys[0] if len(keys) == 1 else ""


def name_fields(settings: Settings) -> Settings:
    """If the user gives the same list of fields for predictions and references, move this list to `fields`, so that
    each field is compared with the field of the same name.
    """
    names, references = settings.prediction or (), (settings.references or "").split(",")
    if len(names) < 2 or sorted(names) != sorted(name.strip() for name in references):
        return settings
    return replace(settings, fields=names, prediction=None, references=None)


def _may_have_columns(gold: Table, reading: Reading) -> bool:
    """Whether the references may be spread over several columns, because no option, layout or field name identifies a
    field of references.
    """
    settings = reading.settings
    if gold.layout or not reading.form.needs_references or settings.prediction or settings.references:
        return False
    return reading.find_roles(gold, "gold").references is None


def _list_columns(table: Table, settings: Settings) -> list[str]:
    """List the fields that may be part of an answer, leaving out ids, questions, files, scores and models."""
    paths = (settings.id, settings.gold_id, settings.submission, settings.cluster_by)
    named = [name.strip() for path in paths if path for name in path.split(",")]
    others = {usual_field(table, [name]) for name in (*KEYS, *CONFIDENCES, *SUBMISSIONS, *RUNS, *SCORES, *named)}
    return [name for name in table.fields if "." not in name and name not in others]
