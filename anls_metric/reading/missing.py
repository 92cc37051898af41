"""Proposes fields for roles that no field name identifies, and reports everything that is missing in one error."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from glob import glob
from typing import Any

from anls_metric.messages import MAX_LENGTH, InputError, Message, make_error
from anls_metric.options import Settings
from anls_metric.reading.containers import is_answer, take_records
from anls_metric.reading.golds import fold
from anls_metric.reading.layouts import describe_failures
from anls_metric.reading.record_lists import SEVERAL
from anls_metric.reading.records import ABSENT, Path
from anls_metric.reading.roles import (
    ANSWERS,
    IDS,
    PREDICTIONS,
    REFERENCES,
    MissingError,
    holds_whole_answers,
    list_plain_fields,
    may_be_either,
    usual_field,
)
from anls_metric.reading.table import Roles, Table, describe_fields, is_unique, list_values, read_column, show_path
from anls_metric.reading.values import read_ids


def _weigh(weight: int, words: str) -> dict[str, int]:
    return dict.fromkeys(words.split(), weight)


# Words in a field name, with how strongly they suggest a role.
_WORDS: Mapping[str, Mapping[str, int]] = {
    "references": _weigh(
        4,
        "expected gold golden gt truth true reference references ref target correct right accepted annotation "
        "annotated human solution label labels ground",
    ),
    "prediction": _weigh(
        3,
        "prediction predictions predicted predict pred preds response reply output outputs generated generation "
        "completion hypothesis hyp candidate result guess llm vlm model said system",
    ),
}
_OF_ANY_ANSWER = {**_weigh(1, "answer answers text value content"), **_weigh(2, "assistant gpt")}
_OF_OTHERS = _weigh(-2, "raw") | _weigh(
    -4,
    "id idx index uid key time timestamp latency seconds score anls accuracy token tokens cost type category source "
    "page pages image images path file filename url split seed run epoch kind name role from prompt question "
    "instruction query input doc document dataset user human item sample row number nr context ocr reasoning rationale "
    "reason explanation evidence thought thoughts thinking note notes comment comments usage meta metadata metrics "
    "config settings timing",
)
_WORDS_OF_FIELDS = (*_WORDS.values(), _OF_ANY_ANSWER, _OF_OTHERS)
_OF_SPEAKERS = {"gpt": 4, "assistant": 4, "model": 4, "bot": 4, "human": -9, "user": -9, "system": -9}

_WHAT = {"references": "references", "prediction": "predictions"}


def describe_missing(error: MissingError) -> Message:
    """Describe which roles a table lacks, which fields the table has, and what to do."""
    table, side, missing = error.table, error.side, error.missing
    what, flags = _list_missing(missing), ", ".join(f"{{use.{role}}}" for role in missing)
    sentence = f"no {what}: pass their field{'s' * (len(missing) > 1)} with {flags}"
    failures = describe_failures(table.layout, table.records, [ABSENT] * len(table.records)) if table.layout else ""
    if failures and "prediction" in missing:
        sentence = "no predictions, {failures}: run the failed requests again"
        return Message(table.name, sentence, {"failures": failures})
    objects = usual_field(table, PREDICTIONS) if missing == ["prediction"] else None
    inner = None
    if objects:  # objects are not strings
        inner = _find_text(table, objects)
        sentence = "{objects} contains objects: to score them, add {use.variant:anls_star}; for a text in them, pass "
        sentence += "its path with {use.prediction}"
        if inner:
            sentence = "{objects} contains objects: for the text in them, add {use.prediction:{inner}}; for all, "
            sentence += "{use.variant:anls_star}"
    elif side != "both" and holds_whole_answers(table, side):
        sentence += ", or add {use.variant:anls_star} to score whole records"
    elif side == "gold" and _is_test_split(table):
        sentence = f"no {what}, as in a test split: pass their field with {flags}, or write a leaderboard file with "
        sentence += "anls export rrc"
    elif side == "both" or (side == "gold" and usual_field(table, PREDICTIONS)):
        sentence += ", or {do.add_gold}" if "references" in missing else ", or {do.add_submission}"
    values = {"fields": describe_fields(table), "objects": show_path(objects), "inner": inner}
    return Message(table.name, sentence + " (found {fields})", values)


def _find_text(table: Table, path: str) -> str | None:
    """Find the path of the text inside objects, which is a field with a usual name or the only field of strings."""
    columns = list_values(table)
    texts = [name for name in columns if name.startswith(f"{path}.") and set(map(type, columns[name])) == {str}]
    usual = [name for name in texts if name.rpartition(".")[2] in (*PREDICTIONS, *ANSWERS, "text", "content")]
    return next(iter(usual or (texts if len(texts) == 1 else ())), None)


def _list_missing(missing: Sequence[str]) -> str:
    return " and no ".join(_WHAT[role] for role in missing)


def _is_test_split(table: Table) -> bool:
    """Whether the field that benchmarks use for the split shows that all questions are from a test split."""
    path = usual_field(table, ("data_split", "split"))
    return path is not None and {*map(str, read_column(table, path))} == {"test"}


_FURTHER = ("id", "gold_id", "submission", "variant")
"""The options that the next error may ask for."""


def complete_error(
    errors: Sequence[MissingError], others: Sequence[Table], settings: Settings, read: Callable[[Settings], object]
) -> InputError:
    """Combine the roles that several tables lack into one error.

    Args:
        errors: the error of each table.
        others: the table to join with the table of the first error, if there is one.
        settings: the options that the user gave.
        read: a function that reads all files with the given options or raises the next error.

    Returns:
        An error that lists the missing roles, the fields of each file and, if possible, options with which the files
        can be read.
    """
    if exchanged := _find_exchanged(errors, others):
        sentence = "{table} looks like the gold file, and {gold} like the submission: exchange the two"
        return make_error("", sentence, table=exchanged[0].name, gold=exchanged[1].name)
    first = describe_missing(errors[0])
    if "fields" not in first.values or "variant" in first.find_options():  # naming other fields would not help
        return InputError(first)
    options: dict[str, str] = {}
    more = {role: path for error in errors for role, path in propose_fields(error).items()}
    while more:
        options |= more
        more = {}
        names: dict[str, Any] = {name: (path,) if name == "prediction" else path for name, path in options.items()}
        try:
            read(replace(settings, **names))
        except InputError as error:
            found = error.message.find_options()
            more = {name: found[name] for name in _FURTHER if name in found.keys() - options}
    if path := _find_collection(options, errors) or _find_questions(errors[0], options):
        return make_error(errors[0].table.name, SEVERAL, path=path)
    if options and others and not {"id", "gold_id"} & options.keys() and settings.id is None:
        options |= _propose_id(errors[0].table, others[0])
    return InputError(_word(first, errors, options))


def _find_collection(options: Mapping[str, str], errors: Sequence[MissingError]) -> str | None:
    """Find the list or object in which the fields proposed for predictions and references are only those of one item,
    or of two different items.
    """
    parts = [options.get(role, "").rsplit(".", 2) for role in ("prediction", "references")]
    if not all(len(part) == 3 and part[0] == parts[0][0] for part in parts):
        return None
    around, items, names = zip(*parts)
    alike = re.compile(rf"{re.escape(around[0])}\.([^.]+)\.(?:{'|'.join(map(re.escape, names))})")
    alike_items = {
        match[1] for error in errors for field in list_values(error.table) if (match := alike.fullmatch(field))
    }
    return around[0] if len(alike_items | {*items}) > 1 else None


def _find_questions(error: MissingError, options: Mapping[str, str]) -> str:
    """Find the only list of objects in the records of a table for which no fields are proposed, if a field of these
    objects is named like an answer and a record has several of them. Returns "" if there is none.
    """
    table = error.table
    if len(error.missing) < 2 or {*error.missing} <= options.keys():
        return ""
    lists_by_name = {
        name: own for record in table.records for name, own in record.items() if isinstance(own, list) and own
    }
    lists = [name for name, own in lists_by_name.items() if isinstance(own[0], dict) and any(map(is_answer, own[0]))]
    items = take_records(table.records, lists[0]) or [] if len(lists) == 1 else []
    return lists[0] if len(items) > len(table.records) else ""


def _find_exchanged(errors: Sequence[MissingError], others: Sequence[Table]) -> tuple[Table, Table] | None:
    """Find a submission that contains references but no predictions, and a gold file that may contain the predictions
    instead, or return None.
    """
    tables = [error.table for error in errors if error.side == "submission" and error.missing == ["prediction"]]
    golds = [error.table for error in errors if error.side == "gold"] or [*others]
    if not (tables and golds and usual_field(tables[0], REFERENCES)):
        return None
    may_be_predictions = usual_field(golds[0], (*PREDICTIONS, *ANSWERS)) and not usual_field(golds[0], REFERENCES)
    return (tables[0], golds[0]) if may_be_predictions else None


def _word(first: Message, errors: Sequence[MissingError], options: Mapping[str, str]) -> Message:
    """Write the message about the roles that the tables lack, given the message for the first table."""
    ordered = {name: options[name] for name in Settings.__dataclass_fields__ if name in options}
    if len(errors) > 1:
        parts: list[str] = []
        values: dict[str, str] = {}
        for number, error in enumerate(errors):
            parts.append(f"{{table{number}}} has no {_list_missing(error.missing)} (found {{fields{number}}})")
            values |= {f"table{number}": error.table.name, f"fields{number}": describe_fields(error.table, 10, 24)}
        flags = ", ".join(f"{{use.{role}}}" for error in errors for role in error.missing)
        first = Message("", f"{'; '.join(parts)}: pass their fields with {flags}", values)
    is_complete = all({*error.missing} <= {*options} for error in errors)
    is_typed = all(len(value) <= MAX_LENGTH for value in options.values())
    sentence = first.sentence + "; for example: {do.example}" * (is_complete and is_typed)
    ordered = ordered if is_complete else {}
    return first._replace(sentence=sentence, options=ordered)


def propose_fields(error: MissingError) -> dict[str, str]:
    """Propose a field for each role that a table lacks: a field whose name suggests the role, the only field with text,
    or, if there is neither, the only field with objects.
    """
    others = (*error.roles[:4], usual_field(error.table, PREDICTIONS), usual_field(error.table, REFERENCES))
    taken = {part for path in others if path for part in str(path).split(",")}
    columns = list_values(error.table)
    proposed: dict[str, str] = {}
    missing = error.missing
    if error.side == "both" and missing == ["references"] and may_be_either(error.roles.prediction):
        proposed["references"] = str(error.roles.prediction)  # dropped if no other field may contain the predictions
        missing = ["prediction"]
    for role in missing:
        points = {
            path: _count_points(path, columns, role)
            for path, column in columns.items()
            if path not in {*taken, *proposed.values()} and "*" not in path and _holds_texts(column)
        }
        order = list(points) if role == "references" else list(reversed(points))
        is_only = sum(value >= 0 for value in points.values()) == 1 or len(points) == 1
        best = max(order, key=points.__getitem__, default=None)
        if best is not None and (points[best] > 0 or (is_only and error.side != "both")):
            proposed[role] = _find_object(best, columns) or best
    objects = [path for path, is_object in error.table.fields.items() if is_object and "." not in path]
    objects = [path for path in objects if not _OF_OTHERS.keys() & _split_words(path)]
    if not proposed and error.side != "both" and len(missing) == len(objects) == 1:
        return {missing[0]: objects[0]}
    return proposed if {*missing} & {*proposed} else {}


def _find_object(path: str, columns: Mapping[str, Sequence[Any]]) -> str:
    """Find the object that contains a proposed field, if only the name of the object suggests the role, and it has
    several fields. Returns "" if there is none.
    """
    around, _, name = path.rpartition(".")
    inner = [each for each in columns if each.rpartition(".")[0] == around]
    says_nothing = not any(word in words for words in _WORDS_OF_FIELDS for word in _split_words(name))
    return around if says_nothing and len(inner) > 1 and not around.rpartition(".")[2].lstrip("-").isdecimal() else ""


_SOME = 0.2


def find_other_predictions(table: Table, roles: Roles, references: Sequence[Sequence[Any]]) -> list[str]:
    """Find fields without a role that may contain predictions because some, but not all, of their values contain a
    reference.

    Args:
        table: the table.
        roles: the roles of the table's fields.
        references: the references of each record, or an empty list for a record without references.
    """
    columns = {field: read_column(table, field) for field in list_plain_fields(table, roles)}
    found = []
    for field, column in columns.items():
        if _holds_texts(column) and _count_points(field, columns, "prediction") >= 0:
            pairs = [(fold(value), accepted) for value, accepted in zip(column, references) if accepted]
            hits = sum(any(fold(own) in text for own in accepted if own) for text, accepted in pairs)
            least = 1 if _count_points(field, columns, "prediction") else _SOME * len(pairs)
            if least <= hits < len(pairs):  # an explanation of the correct answers would contain all references
                found.append(field)
    return found


def _propose_id(first: Table, second: Table) -> dict[str, str]:
    """Propose a field of both tables as the id if its values are unique and at least half of them match, unless a field
    has a usual name for an id.
    """
    if any(usual_field(table, IDS, with_objects=False) for table in (first, second)):
        return {}
    for field in first.fields:
        if field in second.fields:
            own, theirs = read_ids(first, field), read_ids(second, field)
            if is_unique(own) and is_unique(theirs) and 2 * len({*own} & {*theirs}) >= min(len(own), len(theirs)):
                return {"id": field}
    return {}


def _holds_texts(column: Sequence[Any]) -> bool:
    """Whether most values are strings, numbers or lists of strings, so that they may be answers, but not all of them
    are file names, URLs or questions.
    """
    values = [value[0] if isinstance(value, list) and value else value for value in column if value is not ABSENT]
    texts = [value for value in values if isinstance(value, (str, int, float)) and not isinstance(value, bool)]
    return len(texts) > len(column) / 2 and not all(re.search(_NO_ANSWER, str(text)) for text in texts)


_NO_ANSWER = r"(?i)^https?://|\.(?:png|jpe?g|tiff?|webp|pdf|bmp|gif)$|\?\s*$"


def _count_points(path: str, columns: Mapping[str, Sequence[Any]], role: str) -> int:
    """Rate how well a field fits a role, based on the words in its name, the speaker in a conversation, and the type
    and variety of its values.
    """
    words, last = _split_words(path), _split_words(path.rpartition(".")[2])
    points = sum(_WORDS[role].get(word, 0) for word in {*words})
    points -= sum(_WORDS[other].get(word, 0) for other in _WORDS if other != role for word in {*words})
    points += sum(_OF_ANY_ANSWER.get(word, 0) + _OF_OTHERS.get(word, 0) for word in {*last})
    beside = path.rpartition(".")[0]
    for name in ("from", "role"):
        speaker = next(iter(columns.get(f"{beside}.{name}", ())), None)
        points += _OF_SPEAKERS.get(speaker, 0) if isinstance(speaker, str) else 0
    column = columns[path]
    are_numbers = not any(isinstance(value, (str, list)) for value in column)
    is_constant = len(column) > 2 and len(set(map(str, column))) == 1
    return points - 3 * are_numbers - 4 * is_constant


def _split_words(name: str) -> list[str]:
    return re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower().translate(_SPACES).split()


_SPACES = str.maketrans("_.-", "   ")


# Parts of one submission


def complete_parts(error: InputError, tables: Sequence[Table], paths: Sequence[Path | None]) -> InputError:
    """Add to the error for unanswered questions how to pass several files as one submission, if their answers are to
    different questions.

    Args:
        error: the error for one of the files.
        tables: the tables of the files.
        paths: the path of the ids in each table.
    """
    ids = [{*read_ids(table, path)} for table, path in zip(tables, paths)]
    if not all(ids) or sum(map(len, ids)) > len(set().union(*ids)):
        return error
    names = [table.name for table in tables]
    before = os.path.commonprefix(names)  # noqa: RUF071, by character
    after = os.path.commonprefix([name[len(before) :][::-1] for name in names])[::-1]  # noqa: RUF071
    message, pattern = error.message, f"{before}*{after}"
    how = "in quotes: {pattern}" if set(glob(pattern)) == {*names} else "that only they match, in quotes"
    sentence = f"{message.sentence}; if all files are parts of one submission, pass a pattern {how}"
    return InputError(Message(message.where, sentence, {**message.values, "pattern": shlex.quote(pattern)}))
