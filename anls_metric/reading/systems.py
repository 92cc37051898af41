"""Finds the systems in a table, which are models, or settings of one model, that answer the same questions in separate
rows.

A field distinguishes the systems if each of its values occurs with nearly all questions and at most once with each
question. If no field is named like an id, the questions are recognized by the values of another field, or by equal
questions and references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from anls_metric.core.statistics.clusters import DOCUMENTS
from anls_metric.messages import list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.answers import Questions
from anls_metric.reading.reading import Reading
from anls_metric.reading.records import ABSENT
from anls_metric.reading.roles import FILES, RUNS, SUBMISSIONS, error_of_missing_field, list_plain_fields, usual_field
from anls_metric.reading.table import Roles, Table, are_numbers, choose_records, has, is_unique, read_column
from anls_metric.reading.values import read_columns_together, read_ids, read_questions, refuse_gaps

_NEARLY_ALL = 0.8  # the share of the questions that each system must have answered
HALF = 0.5
_BY_CHANCE = 0.01


class Systems(NamedTuple):
    """The fields that split the rows of a table without ids into systems.

    Attributes:
        field: the field whose values distinguish the systems.
        key: the field, or two fields separated by a comma, whose values distinguish the questions of each system, or
            None if no field does.
    """

    field: str
    key: str | None


Columns = Mapping[str, Sequence[str]]


def list_even(table: Table, roles: Roles) -> Columns:
    """List the fields that have few distinct values, each of them about equally often, with numeric fields, such as a
    latency, last.
    """
    found = {}
    for field in list_plain_fields(table, roles):
        column = read_column(table, field)
        names = [] if ABSENT in column else list(map(str, column))
        sizes = Counter(names).values()
        if 1 < len(sizes) <= len(names) / 2 and min(sizes) >= _NEARLY_ALL * max(sizes):
            found[field] = names
    return dict(sorted(found.items(), key=lambda item: are_numbers({*item[1]})))


def find_systems(columns: Columns, keys: Sequence[Hashable], known: Sequence[Hashable] | None = None) -> str | None:
    """Find the field that splits repeated questions evenly among systems, whatever its name.

    Args:
        columns: the candidate fields with their values, as listed by `list_even`.
        keys: a value for each row that identifies the question, such as an id.
        known: the keys in a gold file, nearly all of which each system must have answered, or None without a gold file.

    Returns:
        The field, or None if a key is missing, no key is repeated, or no field splits the repeated keys.
    """
    different = {*keys}
    least = _NEARLY_ALL * len(different if known is None else different & {*known})
    if None in different or len(different) == len(keys):
        return None
    for field, names in columns.items():
        sizes = Counter(names).values()
        may_be = min(sizes) >= least > _NEARLY_ALL and max(sizes) <= len(different)
        if may_be and tells_apart(keys, names):
            return field
    return None


def _number_copies(keys: Sequence[Hashable], names: Sequence[str]) -> list[Hashable]:
    """Make the keys within each system unique by numbering equal keys."""
    seen: Counter[Hashable] = Counter()
    numbered: list[Hashable] = []
    for pair in zip(keys, names):
        seen[pair] += 1
        numbered.append((pair[0], seen[pair]))
    return numbered


def find_unnamed_systems(table: Table, roles: Roles, field: str | None = None) -> Systems | None:
    """Find the field that splits a table without ids into systems that answer the same questions.

    The systems are proven by a key field that is unique within each system and whose equal values come with equal
    references more often than by chance, or by question texts and references that are equal across systems.

    Args:
        table: the table.
        roles: the roles of the table's fields, none of which is an id.
        field: a field whose name shows that its values are systems, for which a key field is sufficient proof, or None
            to consider all fields.
    """
    even = list_even(table, roles)
    columns = {name: even[name] for name in even if name not in DOCUMENTS and name == (field or name)}
    if not columns:
        return None
    accepted = list(map(str, read_columns_together(table, roles.references)))
    for key in _list_keys(table, roles):
        keys = read_ids(table, key)
        own = find_systems(columns, keys)
        if own and (field or _are_copies(keys, accepted)):
            return Systems(own, key)
    rows = list(zip(read_questions(table, roles.question), accepted))
    is_proof = 4 * len({*rows}) > len(rows)  # at least two systems
    pairs = columns.items() if is_proof else ()
    systems = (find_systems({name: names}, _number_copies(rows, names)) for name, names in pairs)
    return next((Systems(own, None) for own in systems if own), None)


def _list_keys(table: Table, roles: Roles) -> Iterator[str]:
    """Yield the fields that may identify the questions of a system, which are the question text, any other field, or a
    document field together with the question text.
    """
    fields = list_plain_fields(table, roles)
    if isinstance(roles.question, str):
        documents = (name for name in fields if usual_field(table._replace(fields={name: False}), FILES))
        yield from (roles.question, *fields, *(f"{name},{roles.question}" for name in documents))
    else:
        yield from fields


def _are_copies(keys: Sequence[str | None], accepted: Sequence[str]) -> bool:
    """Whether rows with the same key have the same references significantly more often than expected by chance."""
    share = sum(count * count for count in Counter(accepted).values()) / len(accepted) ** 2
    repeats = len(keys) - len({*keys})
    by_chance = 1.0 - share ** (repeats / len({*keys}))
    return share**repeats < _BY_CHANCE and count_differing(keys, accepted) <= HALF * by_chance


def list_distinguishing(table: Table, roles: Roles, keys: Sequence[str | None]) -> Iterator[str]:
    """Yield the fields that have few distinct values and always differ between records with the same key."""
    for field in list_plain_fields(table, roles):
        column = read_column(table, field)
        values = {*([] if ABSENT in column else map(str, column))}
        if 1 < len(values) <= len(column) / 2 and tells_apart(keys, column):
            yield field


def tells_apart(ids: Sequence[Hashable], column: Iterable[object]) -> bool:
    """Whether records with the same id always have different values in a column."""
    return len(set(zip(ids, map(str, column)))) == len(ids)


def count_differing(keys: Sequence[str | None], column: Sequence[object]) -> float:
    """Return the fraction of repeated keys whose records have different values in a column."""
    values: dict[str | None, list[str]] = {}
    for key, value in zip(keys, column):
        values.setdefault(key, []).append(str(value))
    repeated = [own for own in values.values() if len(own) > 1]
    return sum(len({*own}) > 1 for own in repeated) / max(1, len(repeated))


def find_ids_of_runs(table: Table, roles: Roles, settings: Settings) -> str | None:
    """Find the field that identifies the questions in a table of runs without an id field, or return None.

    Raises:
        InputError: the rows are from several systems that are not runs in a field with a usual name, or no key field
            identifies the questions.
    """
    if settings.submission is not None or settings.id is not None:
        return None
    systems = find_unnamed_systems(table, roles)
    if systems is None:
        return None
    if systems.key and systems.field == usual_field(table, RUNS):
        return systems.key
    sentence = (
        "each question occurs once per {field!r} ({values}): for separate models, add {use.submission:{field}}; "
        "to score all rows as one, {use.submission:none}"
    )
    values = _show_systems(table, systems.field)
    raise make_error(table.name, sentence, field=systems.field, values=values)


def refuse_systems(gold: Questions, table: Table, roles: Roles, settings: Settings) -> None:
    """Raise an error for a submission without ids in which several systems answer the questions of a gold file.

    Raises:
        InputError: several systems answer the questions.
    """
    if roles.id is not None or settings.id is not None or len(table.records) <= len(gold.ids):
        return
    columns = list_even(table, roles)
    shared = [key for key in _list_keys(table, roles) if all(has(gold.table, part) for part in key.split(","))]
    pairs: list[tuple[str, Sequence[str | None]]] = [("", gold.texts)]
    pairs += [(key, gold.ids) for key in list_plain_fields(table, roles)]
    pairs += [(key, read_ids(gold.table, key)) for key in shared]
    for key, theirs in pairs:
        own = read_ids(table, key) if key else read_questions(table, roles.question)
        field = find_systems(columns, own, theirs)
        if field:
            values = _show_systems(table, field)
            sentence = "each question in {gold} occurs once per {field!r} ({values}): for separate models, add "
            sentence += "{use.id:{key}} {use.submission:{field}}" if key else "{use.submission:{field}}"
            raise make_error(table.name, sentence, gold=gold.table.name, field=field, values=values, key=key)


def _show_systems(table: Table, field: str) -> str:
    """Format the first few values of the field that distinguishes the systems."""
    return list_some(dict.fromkeys(map(str, read_column(table, field))), 3)


# Submissions


def split_submissions(table: Table, reading: Reading, gold: Questions | None) -> dict[str, tuple[Table, Reading]]:
    """Split a table that contains several submissions, given the questions of a gold file if there is one.

    A table contains several submissions if the user names several prediction fields or a field of models, or if a field
    with a usual name, such as "model", distinguishes records with the same id.

    Returns:
        The table of each submission and how to read the table, keyed by the name of the submission. The name is "" if
        there is only one submission.

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
    how = _name_key(table, list(parts.values()), field, reading, gold)
    return {name: (part, how) for name, part in parts.items()}


def _name_key(table: Table, parts: Sequence[Table], field: str, reading: Reading, gold: Questions | None) -> Reading:
    """If there is no id field, use the key field that distinguishes the questions of each model as the id.

    At least half of the gold file's ids must occur in this field. Without a gold file, the field is needed only if the
    models answer in different orders.
    """
    roles = reading.find_roles(table, "submission" if gold else "both")
    if roles.id is not None:
        return reading
    systems = find_unnamed_systems(table, roles, field)
    key = systems.key if systems else None
    if gold is None:
        key = key or (roles.question if isinstance(roles.question, str) else None)
        values = [read_ids(part, key) for part in parts]
        is_key = all(map(is_unique, values)) and any(own != values[0] for own in values)
    else:
        is_key = key != roles.question and 2 * len({*read_ids(table, key)} & {*gold.ids}) >= len(gold.ids)
    return replace(reading, settings=replace(reading.settings, id=key)) if key and is_key else reading


def _find_field_of_models(table: Table, reading: Reading) -> str | None:
    """Find a field with a usual name, such as "model", that distinguishes records with the same id, or return None.

    Without ids, other values must show that several models answer the same questions.

    Raises:
        InputError: there are no ids, and no other values show that several models answer the same questions.
    """
    field = usual_field(table, SUBMISSIONS, with_objects=False)
    if field is None:
        return None
    roles = reading.find_roles(table, "submission")
    models = list(map(str, read_column(table, field)))
    if roles.id is not None or len({*models}) < 2:
        ids = read_ids(table, roles.id)
        return field if len(set(zip(ids, models))) > len(set(ids)) else None
    texts = read_questions(table, roles.question)
    are_asked_again = None not in texts and len({*texts}) < len(texts) and tells_apart(texts, models)
    references = reading.find_copy(table)
    if are_asked_again or find_unnamed_systems(table, roles._replace(references=references), field):
        return field
    sentence = (
        "{field!r} names several models ({names}): score each with {use.submission:{field}}, or "
        "all rows as one with {use.submission:none}"
    )
    raise make_error(table.name, sentence, field=field, names=_show_systems(table, field))
