"""Handles repeated ids, which occur in tables of several runs or several models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.core.names import find_repeated
from anls_metric.messages import InputError, list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.answers import COLUMNS, Answers, choose_answers, list_ids
from anls_metric.reading.records import ABSENT
from anls_metric.reading.roles import RUNS, usual_field
from anls_metric.reading.systems import count_differing, find_systems, list_distinguishing, list_even, tells_apart
from anls_metric.reading.table import Roles, Table, find_places, read_column
from anls_metric.reading.values import read_columns_together, read_questions, show_ids


def join_runs(runs: Sequence[Answers]) -> Answers:
    """Join the answers from several files, each of which is a run of the same model.

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
    """Choose the records of the run that the user names, or all records, whose ids may be repeated only across runs.

    Returns:
        The positions of the chosen records and, if all records are chosen and a field distinguishes the runs, the name
        of the run of each record, or None.
    """
    every, repeat = range(len(table.records)), len(set(ids)) < len(ids)
    is_of_program = table.layout is not None and table.layout.repeated_by  # the program's filters are not runs
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
    """Find the records that answer each question, given the id of each record. With several runs, the records for the
    same question are adjacent.

    Returns:
        The positions of the questions and the positions of the records, with one item for each answer. The position of
        a record is None if the answer is missing, even in only one of several runs.
    """
    place_of = dict(zip(answered, records))
    if len(place_of) == len(records):  # the usual case: a list for each question would take three times as long
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
    """Find a field with a usual name for runs that has different values in all records with the same id, or return
    None.
    """
    fields = filter(None, (usual_field(table, [name]) for name in RUNS))
    return next((field for field in fields if not ids or tells_apart(ids, read_column(table, field))), None)


def error_of_repeated(table: Table, ids: Sequence[str | None], roles: Roles, settings: Settings) -> InputError:
    """Create the error for repeated ids, with the field that distinguishes records with the same id if there is one.

    If records with the same id are different questions, the error suggests adding this field to the key.
    """
    is_key = roles.prediction is None or are_different(table, ids, roles)
    system = None if is_key else find_systems(list_even(table, roles), ids)
    fields = [*list_distinguishing(table, roles, ids), *_list_texts(table, ids, roles)]
    field = system or next(iter(fields), None)
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
    if not is_key and settings.runs is None:
        sentence += ", or add {use.runs:question} to score the mean over runs of one model"
    return make_error(table.name, sentence, count=count_noun(len(repeated), "id"), first=repeated[0])


_MOST_DIFFERING = 0.1
"""The share of repeated ids whose questions or references may differ although the records answer the same questions."""


def _list_texts(table: Table, ids: Sequence[str | None], roles: Roles) -> list[str]:
    """List the field of the questions if it distinguishes all records with the same id."""
    path = roles.question
    return [path] if isinstance(path, str) and tells_apart(ids, read_questions(table, path)) else []


def are_different(table: Table, ids: Sequence[str | None], roles: Roles) -> bool:
    """Whether records with the same id are different questions rather than several answers to one question.

    The questions are different if the texts differ for more than a few repeated ids or, without complete texts, the
    references do. The same reference of two questions, such as "USD", is no evidence.
    """
    columns = (read_questions(table, roles.question), read_columns_together(table, roles.references))
    known = (column for column in columns if any(column) and None not in column and ABSENT not in column)
    return next((count_differing(ids, column) > _MOST_DIFFERING for column in known), False)
