"""Chooses the records of a table that contains several lists of records or records inside other records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.messages import InputError, Message, list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.containers import (
    MANY,
    Found,
    are_answers_by_id,
    find_lists,
    find_mappings,
    is_answer,
    join_paths,
    records_of,
    take_records,
)
from anls_metric.reading.records import DOCUMENT, FILE, KEY, NAMES, PART, VALUE, Records
from anls_metric.reading.table import Table, has, name_places, read_column

_MOST = 5  # the number of lists that an error mentions
SEVERAL = "each record holds several questions in {path!r}: score each of them with {use.records:{path}}"


def choose_lists(table: Table, settings: Settings, of_values: bool) -> Table:
    """Choose the records at those of the user's paths that lead to records or, if no path does, the records that were
    found automatically.

    Raises:
        InputError: there are no records, or the user must choose one of several lists of records.
    """
    values = [table.records] if table.root is None else [table.root, table.records]  # from the top, or from each record
    for value in values:
        chosen = {path: records for path in settings.records if (records := take_records(value, path))}
        if chosen:
            return _keep_paths(_take(table, chosen), chosen, _list_named(settings))._replace(paths=tuple(chosen))
    mappings = [] if of_values or not isinstance(table.root, dict) else _find_answers_by_id(table.root)
    if len(mappings) == 1:
        return _take(table, {mappings[0]: take_records(table.root, mappings[0]) or []})
    if mappings:
        raise _error_of_lists(table, [Found(path, True) for path in mappings], settings)
    if table.records:
        return table
    found = [each for each in find_lists(table.root) if each.path]
    if isinstance(table.root, dict) and of_values and not any(each.has_answers for each in found):
        return _read_document(table, found)
    raise _error_of_lists(table, found, settings)


def _find_answers_by_id(root: Mapping[str, Any]) -> list[str]:
    """Find the paths of objects of answers keyed by id inside an object, unless these objects share the same few keys,
    as records do, or are columns with a usual name.
    """
    paths = find_mappings(root, are_answers_by_id)
    if len(paths) > 1 and not NAMES.isdisjoint(paths):
        return []
    keys = [{record[KEY].rpartition(".")[2] for record in take_records(root, path) or ()} for path in paths]
    are_disjoint = sum(map(len, keys)) == len(set().union(*keys))
    return paths if are_disjoint or min(map(len, keys)) > len(keys) else []


def error_of_mappings(table: Table, ids: Sequence[str]) -> InputError | None:
    """Create the error for a table whose records contain answers keyed by the ids of a gold file, or return None if no
    record does.
    """
    known = {*ids}
    root = {record[KEY]: record for record in table.records if KEY in record}
    root = root.get(DOCUMENT, root)
    paths = find_mappings(root, lambda value: isinstance(value, dict) and 2 * len(known & value.keys()) > len(known))
    sentence = "its answers are by id in {lists}: " + (_CHOOSE if len(paths) > 1 else "add {use.records:{first}}")
    values = {"first": (paths or [""])[0], "every": ",".join(paths), "lists": list_some(paths, _MOST)}
    return make_error(table.name, sentence, **values) if paths else None


_CHOOSE = "choose one with {use.records:{first}}, or take all with {use.records:{every}}"
_TAKE_ALL = "take all with {use.records:{every}}, or choose one with {use.records:{first}}"
_ALIKE = 3
"""So many lists that differ in one step of their paths are probably those of documents."""


def _read_document(table: Table, found: Sequence[Found]) -> Table:
    """Read an object as a single record, which as a whole is an answer, and add a hint if the object may instead
    contain a list of documents.
    """
    sizes = {each.path: len(take_records(table.root, each.path) or ()) for each in found}
    path = max(sizes, key=sizes.__getitem__, default="")
    sentence = "it is read as one answer: if its records are the {count} of {path!r}, add {use.records:{path}}"
    hint = Message(table.name, sentence, {"path": path, "count": count_noun(sizes.get(path, 0), "object")})
    hints = [*table.hints, *([hint] if sizes.get(path, 0) >= MANY else [])]
    return table._replace(records=take_records(table.root, ".") or [], hints=hints)


def split_documents(table: Table, settings: Settings, of_values: bool) -> Table:
    """Split documents into the questions that they contain, unless a field of the documents themselves may be an
    answer.

    Raises:
        InputError: the documents contain several lists of questions, or the user's paths lead to the items of such a
            list.
    """
    named = _list_named(settings)
    _refuse_items(table, named)
    are_answers = of_values and not {KEY, FILE}.isdisjoint(table.fields)
    if are_answers or any(map(is_answer, table.records[0])) or any(has(table, path) for path in named):
        return table
    found = [each for each in find_lists(table.records) if each.path and each.has_answers]
    if len(found) > 1:
        raise _error_of_lists(table, found, settings)
    records = take_records(table.records, found[0].path) if found else None
    return _take(table, {found[0].path.removeprefix("*."): records}) if records else table


def _list_named(settings: Settings) -> list[str]:
    """List the paths of predictions and references that the user gives."""
    return [*(settings.prediction or ()), *filter(None, [settings.references])]


def _keep_paths(table: Table, chosen: Iterable[str], named: Sequence[str]) -> Table:
    """Make the user's answer paths that begin with the path of the records, such as ``texts.*.answer``, valid within
    each record.
    """
    begun = [path for path in chosen if any(each.startswith(f"{path}.") for each in named)]
    if not begun:
        return table
    return table._replace(records=[{**record, **{path: [record] for path in begun}} for record in table.records])


def _take(table: Table, lists: Mapping[str, Records]) -> Table:
    """Use the given lists of records, keyed by path, as the records of a table."""
    parts = [{PART: path} if len(lists) > 1 else {} for path in lists]
    records = [{**part, **record} for part, own in zip(parts, lists.values()) for record in own]
    paths = [path for path in lists if path != "."]
    about = f"records of {', '.join(paths)}" if paths else ""
    return table._replace(records=records, about=about, locate=name_places("record"))


def _refuse_items(table: Table, named: Sequence[str]) -> None:
    """Raise an error if the paths of both predictions and references lead to the items of the same list, whose items
    are then questions.
    """
    items = [re.match(r"(.+?)\.\*\.", path) for path in named if has(table, path)]
    lists = {match[1] for match in items if match}
    if len({*named}) < 2 or len(items) < len(named) or None in items or len(lists) > 1:
        return
    path = lists.pop()
    if any(isinstance(own, list) and len(own) > 1 for own in read_column(table, path)):
        raise make_error(table.name, SEVERAL, path=path)


def _error_of_lists(table: Table, found: Sequence[Found], settings: Settings) -> InputError:
    """Create the error for a file with no records, or with several lists of records."""
    root, values = table.root, {"named": ", ".join(settings.records)}
    value = table.records if root is None else root
    paths = [each.path.removeprefix("*.") for each in found if each.has_answers] or [each.path for each in found]
    values["first"], values["every"] = (paths or [""])[0], join_paths(paths)
    values["lists"] = list_some((f"{path}: {len(take_records(value, path) or ()):,}" for path in paths), _MOST)
    if not found and (root is None or records_of(root) == []):
        sentence = "it has no records: add a record for each question"
    elif settings.records and paths:
        sentence = "there are no records at {named}: pass the path of a list with {use.records} (found {lists})"
    elif len(paths) > 1:
        values["count"] = count_noun(len(paths), "list")
        are_documents = len(paths) >= _ALIKE and values["every"].count("*") == 1
        sentence = f"it has {{count}} of records ({{lists}}): {_TAKE_ALL if are_documents else _CHOOSE}"
        keys = [record[KEY] for path in paths for record in take_records(value, path) or () if VALUE in record]
        values["every"] = ",".join(paths) if len({*keys}) < len(keys) else values["every"]
    else:
        values["found"] = repr(root)
        if isinstance(root, dict):
            values["found"] = f"an object with the keys {list_some(map(repr, root), 12)}"
        sentence = (
            'expected a list of records, got {found}: write a list, such as [{{"questionId": 1, "answer": "a"}}]'
            ' (pandas: to_json(orient="records")); if each record is in its own file, pass the folder of these files'
        )
        sentence += "; if its records are those of {first}, add {use.records:{first}}" if paths else ""
    return make_error(table.name, sentence, **values)
