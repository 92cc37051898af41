"""Handles repeated ids, which are runs of one model or several models in one table."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.messages import InputError, list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.answers import COLUMNS, Answers, choose_answers, list_ids
from anls_metric.reading.formats import find_repeated
from anls_metric.reading.layouts import ABSENT
from anls_metric.reading.reading import Reading
from anls_metric.reading.roles import (
    RUNS,
    SUBMISSIONS,
    Roles,
    error_of_missing_field,
    list_plain_fields,
    usual_field,
)
from anls_metric.reading.table import Table, choose_records, find_places, has, read_column
from anls_metric.reading.values import read_columns_together, read_ids, read_questions, refuse_gaps, show_ids


def join_runs(runs: Sequence[Answers]) -> Answers:
    """Join the answers of files that are runs of one model.

    Raises:
        InputError: the runs do not have the same questions.
    """
    first, *others = runs
    if not others:
        return first
    place_of = {key: place for place, key in enumerate(first.questions.ids)}
    for number, run in enumerate(others, 2):
        differing = place_of.keys() ^ run.questions.ids
        if differing:
            sentence = (
                "run {number} and run 1 have different questions (the first is {first}): score the same "
                "questions in each run, or give each file its own name"
            )
            raise make_error(first.name, sentence, number=number, first=min(differing))
    joined: dict[str, Any] = {}
    for name in COLUMNS:
        parts = [getattr(run, name) for run in runs]
        joined[name] = None if None in parts else [value for part in parts for value in part]
    joined["read"] = first.read.add(f"and {count_noun(len(others), 'other run')}")
    joined["hints"] = [hint for run in runs for hint in run.hints]
    places = [place_of[key] for run in runs for key in list_ids(run)]
    rows = sorted(range(len(places)), key=places.__getitem__)
    return choose_answers(first._replace(**joined), first.questions, rows, [places[row] for row in rows])


# Repeated ids


def choose_runs(
    table: Table, ids: Sequence[str | None], roles: Roles, settings: Settings
) -> tuple[Sequence[int], Sequence[str] | None]:
    """Choose the records of one run if the user names it, and otherwise all records. Repeated ids must come from runs.

    Returns:
        The places of the records; and the run of each, if a field tells runs of repeated ids apart.
    """
    every, repeat = range(len(table.records)), len(set(ids)) < len(ids)
    is_of_program = table.layout is not None and table.layout.repeated_by  # whose filters are no runs
    chosen = None if is_of_program else settings.filter
    if not repeat and chosen is None:
        return every, None
    field = _find_run_field(table, ids)
    runs = None if field is None else list(map(str, read_column(table, field)))
    if repeat and runs is None and settings.runs != "question":
        raise error_of_repeated(table, ids, roles, settings)
    if chosen is not None:
        return find_places(table, "run", runs or [], chosen), None
    if runs is not None and settings.runs == "error":
        sentence = (
            "it has several runs ({names}): choose one with {use.filter}, or score each with {use.submission:{field}}"
        )
        raise make_error(table.name, sentence, names=list_some(dict.fromkeys(runs)), field=field)
    return every, runs


def order_by_id(
    keys: Sequence[str | None],
    answered: Sequence[str | None],
    records: Sequence[int],
    runs: Sequence[str] | None = None,
) -> tuple[Sequence[int], Sequence[int | None]]:
    """Find the records that answer each question, given the id of each record. If there are several runs, their records
    follow one another.

    Returns:
        For each answer, the place of its question and the place of its record; None for a missing one, also in a run.
    """
    place_of = dict(zip(answered, records))
    if len(place_of) == len(records):  # as usual: a list for each question would take three times as long
        return range(len(keys)), list(map(place_of.get, keys))
    by_id: dict[str | None, dict[Any, int]] = {}
    for key, place, run in zip(answered, records, runs or records):
        by_id.setdefault(key, {})[run] = place
    names = dict.fromkeys(runs or ())
    answers = [[own.get(name) for name in names or own] or [None] for own in (by_id.get(key, {}) for key in keys)]
    return (
        [number for number, places in enumerate(answers) for _ in places],
        [place for places in answers for place in places],
    )


def _find_run_field(table: Table, ids: Sequence[str | None]) -> str | None:
    """Find the field that tells the runs of a model apart: records with the same id have other values in it."""
    fields = filter(None, (usual_field(table, [name]) for name in RUNS))
    return next((field for field in fields if not ids or _tells_apart(ids, read_column(table, field))), None)


def _tells_apart(ids: Sequence[str | None], column: Sequence[Any]) -> bool:
    return len(set(zip(ids, map(str, column)))) == len(ids)


def error_of_repeated(table: Table, ids: Sequence[str | None], roles: Roles, settings: Settings) -> InputError:
    """Make the error for repeated ids. It names the field that distinguishes records with the same id, if there is one.

    The records of an id may be different questions: the field is then part of the key.
    """
    is_key = roles.prediction is None or _are_questions(table, ids, roles)
    field = (None if is_key else find_systems(table, roles, ids)) or next(_list_distinguishing(table, roles, ids), None)
    if field:
        values = list_some(dict.fromkeys(map(str, read_column(table, field))), 3)
        sentence = "each id occurs once per {field!r} ({values}): "
        if is_key:
            sentence += "to join by both, add {use.id:{key}}"
        else:
            sentence += "for separate models, add {use.submission:{field}}"
            sentence += "; for runs of one model, {use.runs:question}" if settings.runs is None else ""
        return make_error(table.name, sentence, field=field, values=values, key=f"{roles.id},{field}")
    if os.path.isdir(table.name):
        sentence = (
            "ids repeat across its files: if each file is a submission, pass the files one by one, as in {pattern}"
        )
        return make_error(table.name, sentence, pattern=os.path.join(table.name, "*"))
    repeated = show_ids(find_repeated(map(str, ids)), roles.id)
    sentence = "{count} repeated (the first is {first}): keep only one record for each id"
    if roles.prediction is not None and settings.runs is None:
        sentence += ", or add {use.runs:question} to score the mean over runs of one model"
    return make_error(table.name, sentence, count=count_noun(len(repeated), "id"), first=repeated[0])


def find_systems(
    table: Table, roles: Roles, keys: Sequence[str | None], known: Sequence[str | None] | None = None
) -> str | None:
    """Find the field that splits repeated questions evenly among systems, whatever its name.

    Args:
        table: the table.
        roles: its roles.
        keys: the ids of the questions, or their texts.
        known: the keys that a gold file has, nearly all of which each system must have answered.

    Returns:
        The field; None if keys are missing, or if nothing splits them: each of its values must have each key at most
        once, and nearly all keys.
    """
    count = len({*keys} if known is None else {*keys} & {*known})
    if None in keys or count == len(keys):
        return None
    fields = _list_distinguishing(table, roles, keys)
    for field in sorted(fields, key=lambda field: _are_numbers(read_column(table, field))):  # such as a latency
        if min(Counter(map(str, read_column(table, field))).values()) >= _NEARLY_ALL * count > 1:
            return field
    return None


_NEARLY_ALL, _HALF = 0.8, 0.5


def _are_numbers(column: Sequence[Any]) -> bool:
    return all(re.fullmatch(r"-?[\d.]+(?:e-?\d+)?", str(value)) for value in column)


def _list_distinguishing(table: Table, roles: Roles, keys: Sequence[str | None]) -> Iterator[str]:
    """List the fields in which records with the same key differ, and which have few values."""
    for field in list_plain_fields(table, roles):
        column = read_column(table, field)
        values = {*([] if ABSENT in column else map(str, column))}
        if 1 < len(values) <= len(column) / 2 and _tells_apart(keys, column):
            yield field


def _are_questions(table: Table, ids: Sequence[str | None], roles: Roles) -> bool:
    """Whether records with the same id are different questions, and not answers of different models.

    The texts of the questions decide; without them, most references.
    """
    columns = (read_questions(table, roles.question), read_columns_together(table, roles.references))
    known = (column for column in columns if None not in column and ABSENT not in column)
    return next((_count_differing(ids, column) > _HALF for column in known), False)


def _count_differing(keys: Sequence[str | None], column: Sequence[Any]) -> float:
    """Count the share of the repeated keys whose records have different values."""
    values: dict[str | None, list[str]] = {}
    for key, value in zip(keys, column):
        values.setdefault(key, []).append(str(value))
    repeated = [own for own in values.values() if len(own) > 1]
    return sum(len({*own}) > 1 for own in repeated) / max(1, len(repeated))


def refuse_systems(table: Table, roles: Roles, settings: Settings) -> None:
    """Refuse a table without ids in which several systems answer the same questions with the same references."""
    texts = read_questions(table, roles.question)
    if settings.submission is not None or roles.question is None or None in texts:
        return
    field = find_systems(table, roles, texts)
    differing = _count_differing(texts, read_columns_together(table, roles.references))
    if field and field not in DOCUMENTS and differing <= _HALF:
        sentence = (
            "each question occurs once per {field!r} ({values}): for separate models, add {use.submission:{field}}; "
            "to score all rows as one, {use.submission:none}"
        )
        values = list_some(dict.fromkeys(map(str, read_column(table, field))), 3)
        raise make_error(table.name, sentence, field=field, values=values)


# Several models


def split_submissions(table: Table, reading: Reading, has_gold: bool) -> dict[str, tuple[Table, Reading]]:
    """Split a table that holds several submissions.

    A table has several if the user names several fields of predictions, or the field of the models, or if a field with
    a usual name, such as "model", tells records with the same id apart.

    Returns:
        The table and how to read it, by the name of the submission; the name is "" for a single one.

    Raises:
        InputError: the table does not have a field that the user names.
    """
    settings = reading.settings
    if settings.prediction and len(settings.prediction) > 1:
        one_each = {name: replace(settings, prediction=(name,)) for name in settings.prediction}
        return {name: (table, replace(reading, settings=own)) for name, own in one_each.items()}
    field = settings.submission or _find_field_of_models(table, reading)
    if field in (None, NONE):
        return {"": (table, reading)}
    if not has(table, field):
        raise error_of_missing_field(table, field, "submission")
    column = read_column(table, field)
    refuse_gaps(column, table, field, "it has no field {field}: write the name of its model into each record", [ABSENT])
    places: dict[str, list[int]] = {}
    for place, name in enumerate(map(str, column)):
        places.setdefault(name, []).append(place)
    parts = {name: choose_records(table, own) for name, own in places.items()}
    how = reading if has_gold else _join_by_question(table, list(parts.values()), reading)
    return {name: (part, how) for name, part in parts.items()}


def _join_by_question(table: Table, parts: Sequence[Table], reading: Reading) -> Reading:
    """Let the texts of the questions be the ids of several models, if there are no others and their orders differ."""
    roles = reading.find_roles(table, "both")
    if roles.id is not None or not isinstance(roles.question, str):
        return reading
    texts = [read_questions(part, roles.question) for part in parts]
    is_key = all(None not in own and len({*own}) == len(own) for own in texts)
    if not is_key or all(own == texts[0] for own in texts):
        return reading
    return replace(reading, settings=replace(reading.settings, id=roles.question))


def _find_field_of_models(table: Table, reading: Reading) -> str | None:
    """Find a field with a usual name, such as "model", that tells records with the same id apart.

    Without ids, only the texts of the questions say whether records of several models answer the same questions.
    """
    field = usual_field(table, SUBMISSIONS, with_objects=False)
    if field is None:
        return None
    roles = reading.find_roles(table, "submission")
    ids, models = read_ids(table, roles.id), list(map(str, read_column(table, field)))
    if roles.id is None and len(set(models)) > 1:
        texts = read_questions(table, roles.question)
        if None not in texts and len(set(texts)) < len(texts) == len(set(zip(texts, models))):
            return field
        sentence = (
            "{field!r} names several models ({names}): score each with {use.submission:{field}}, or "
            "all rows as one with {use.submission:none}"
        )
        raise make_error(table.name, sentence, field=field, names=list_some(dict.fromkeys(models), 3))
    return field if len(set(zip(ids, models))) > len(set(ids)) else None
