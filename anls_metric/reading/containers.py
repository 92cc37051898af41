"""Finds the records in a JSON value, either in its only list of records, at any depth, or in a structure that
evaluation programs write.

In an object of records keyed by id, each record gets its key as the field `KEY`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from anls_metric.core.json_strings import parse_value_or_text
from anls_metric.reading.records import (
    DOCUMENT,
    KEY,
    NAMES,
    OTHER,
    PART,
    VALUE,
    Record,
    Records,
    drop_fields,
    is_failure,
)


def records_of(value: Any) -> list[Any] | None:
    """Find the records in a JSON value.

    Args:
        value: a value as ``json.loads`` returns it.

    Returns:
        The value itself if it is a list, the records found by the first function of `CONTAINERS` that finds any, or
        None if no function finds records.

    Example:
        >>> records_of({"7": "Coca Cola", "8": "Pepsi"})
        [{'(key)': '7', '(value)': 'Coca Cola'}, {'(key)': '8', '(value)': 'Pepsi'}]
        >>> records_of({"prediction": ["a", "b"], "references": [["a"], ["c"]]})
        [{'prediction': 'a', 'references': ['a']}, {'prediction': 'b', 'references': ['c']}]
    """
    if isinstance(value, list):
        return value
    for read in CONTAINERS if isinstance(value, dict) else ():
        records = read(value)
        if records is not None:
            return records
    return None


def is_record(value: Any) -> bool:
    """Whether a JSON value is a single record rather than a table of records.

    Example:
        >>> is_record({"vendor": "Cola", "items": [{"price": "1"}]}), is_record({"data": [{"answer": "a"}]})
        (True, False)
    """
    tables = (_read_split, _read_joined, _read_named, _read_questions, _read_columns, _read_columns_by_key)
    return isinstance(value, dict) and all(read(value) is None for read in tables)


# The names under which programs write their records.
_OF_RECORDS = ("data", "per_sample_result", "samples", "request_states", "Scores by samples")


def _read_named(value: Record) -> list[Any] | None:
    """Read the records under a usual name, as a list, an object keyed by id, or an object whose only subset is a list,
    and return [] for several subsets.
    """
    for name in _OF_RECORDS:
        inner: Any = value.get(name)
        kinds = set(map(type, inner.values())) if isinstance(inner, dict) else set()
        if kinds == {dict}:
            return _read_records_by_id(inner)
        if kinds == {list}:
            inner = next(iter(inner.values())) if len(inner) == 1 else []
        if isinstance(inner, list) and set(map(type, inner)) <= {dict}:
            return inner
    return None


def _read_questions(value: Record) -> list[Any] | None:
    """Read the only list of questions with answers, at any depth, or return [] if the user must choose one of several
    such lists.

    An object with several lists of equal length is not searched, because the lists are columns, which may contain
    objects.
    """
    if len(_find_columns(value)) > 1:
        return None
    found = [each for each in find_lists(value) if each.has_answers]
    return (take_records(value, found[0].path) if len(found) == 1 else []) if found else None


def _read_joined(value: Record) -> list[Any] | None:
    """Read lists of objects with ids, one of references and one or more of predictions, as one record for each id, and
    return [] if an id is repeated or no id is in all lists.
    """
    lists = {name: own for name, own in value.items() if _are_objects(own)}
    names = [[str(each) for each in (name, *own[0])] for name, own in lists.items()]
    others = [own for own in names if not any(map(_REFERENCES.fullmatch, own))]
    if len(others) != len(names) - 1 or not any(map(is_answer, chain.from_iterable(others))):
        return None
    shared = set.intersection(*(set(own[0]) for own in lists.values()))
    key = next(filter(_OWN_ID.fullmatch, sorted(map(str, shared))), "")
    if not key or _OF_QUESTIONS & value.keys():
        return None
    by_id = {name: {str(item.get(key)): item for item in own} for name, own in lists.items()}
    rows = [
        {name: own[row_id] for name, own in by_id.items() if row_id in own}
        for row_id in dict.fromkeys(chain.from_iterable(by_id.values()))
    ]
    are_unique = all(len(own) == len(by_id[name]) for name, own in lists.items())
    return _join_objects(rows, key) if are_unique and any(len(row) == len(lists) for row in rows) else []


def _join_objects(rows: Sequence[dict[str, Record]], key: str) -> list[Any]:
    """Join the objects of each row, which are keyed by the names of their lists and have the same id.

    The only field that differs between lists gets the names of the lists, and so does the only field that a list does
    not share, if the list is named like an answer. If several fields differ, all but the id stay inside objects with
    the names of the lists.
    """
    lists = dict.fromkeys(chain.from_iterable(rows))
    pairs = (pair for row in rows for pair in combinations(row.values(), 2))
    differing = {name for first, second in pairs for name in first.keys() & second if first[name] != second[name]} - {
        key
    }
    fields = {name: set().union(*(row[name] for row in rows if name in row)) - {key} for name in lists}
    shared = {field for pair in combinations(fields.values(), 2) for field in set.intersection(*pair)} - differing
    renamed = {
        name: own - shared if is_answer(name) and len(own - shared) == 1 else own & differing
        for name, own in fields.items()
    }
    records = []
    for row in rows:
        record = {key: next(iter(row.values())).get(key)}
        for name, own in row.items():
            if len(differing) > 1:
                record[name] = drop_fields(own, key)
            else:
                record |= {name if field in renamed[name] else field: value for field, value in own.items()}
        records.append(record)
    return records


def _are_objects(value: Any) -> bool:
    """Whether a value is a nonempty list of objects."""
    return isinstance(value, list) and set(map(type, value)) == {dict}


def _read_only_list(value: Record) -> list[Any] | None:
    """Read the only list of objects in an object that has no id or question of its own.

    Other values may stand beside the list only if the objects in the list have an id or a question.
    """
    lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
    if len(lists) != 1 or _OF_QUESTIONS & value.keys():
        return None
    return lists[0] if _OF_QUESTIONS & lists[0][0].keys() or len(value) == 1 else None


_OF_QUESTIONS = frozenset(("question", "questionId", "question_id", "id"))


def _read_records_by_id(value: Record) -> list[Any] | None:
    """Read an object of records keyed by id, most of whose values are objects with shared keys, and put any other value
    into the field `OTHER`.
    """
    objects = [own for own in value.values() if isinstance(own, dict)]
    names = Counter(chain.from_iterable(objects))
    are_most = 2 * (len(objects) if _are_ids(value) else max(names.values(), default=0)) > len(value)
    if not objects or not (are_most or len(objects) == len(value)):
        return None
    return [{KEY: key, **(own if isinstance(own, dict) else {OTHER: own})} for key, own in value.items()]


MANY = 10
"""The smallest number of objects that are taken for documents rather than parts of one document."""


def _find_only_object(value: Record) -> str:
    """Return the only key of an object if its value contains many similar records keyed by id, such as the records of a
    split, or "" otherwise.
    """
    key, inner = next(iter(value.items())) if len(value) == 1 else ("", None)
    objects = [*inner.values()] if isinstance(inner, dict) else []
    are_objects = len(objects) >= MANY and set(map(type, objects)) == {dict}
    names = Counter(chain.from_iterable(objects)) if are_objects else Counter()
    return key if 2 * max(names.values(), default=0) > len(objects) else ""


def _read_only_object(value: Record) -> list[Any] | None:
    """Read the records from an object whose only value is an object of many records keyed by id."""
    key = _find_only_object(value)
    return _read_records_by_id(value[key]) if key else None


def _read_columns(value: Record) -> list[Any] | None:
    """Read columns, which are lists of equal length, and ignore other values, such as scores."""
    lists = _find_columns(value)
    return [dict(zip(lists, row)) for row in zip(*lists.values())] if lists else None


def _find_columns(value: Record) -> dict[str, list[Any]]:
    """Find the columns of an object: all of its lists if they have usual names, or otherwise those of the same length
    if these are many values and one is named like an answer.
    """
    lists = {name: column for name, column in value.items() if isinstance(column, list)}
    if not lists or (value.keys() - lists.keys()) & NAMES:
        return {}
    [(size, count)] = Counter(map(len, lists.values())).most_common(1)
    if NAMES & lists.keys():
        return lists if count == len(lists) else {}
    if size < MANY:
        return {}
    columns = {
        name: column for name, column in lists.items() if len(column) == size and not isinstance(column[0], dict)
    }
    return columns if len(columns) > 1 and any(map(is_answer, columns)) else {}


def _read_split(value: Record) -> list[Any] | None:
    """Read a list of column names and a list for each row, as MLflow, W&B, and pandas' orient="split" write them."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or set(map(type, rows)) != {list}:
        return None
    return [dict(zip(map(str, names), row)) for row in rows]


def _read_columns_by_key(value: Record) -> list[Any] | None:
    """Read columns that are objects keyed by row label, as pandas' to_json() writes them by default.

    The row labels are taken for ids unless the labels are 0, 1, 2 and so on, or a column contains ids or questions.
    """
    columns = list(value.values())
    if set(map(type, columns)) != {dict} or len(set(map(tuple, columns))) > 1:
        return None
    keys = list(columns[0])
    lists = {name: list(column.values()) for name, column in value.items()}
    has_ids = bool(_OF_QUESTIONS & value.keys())
    are_numbered = keys == list(map(str, range(len(keys))))
    return _read_columns(lists if has_ids or are_numbered else {KEY: keys, **lists})


def _read_question(value: Record) -> list[Any] | None:
    """Read an object that is a single question with its answer as the only record."""
    return [value] if _OF_QUESTIONS & value.keys() and (NAMES - _OF_QUESTIONS) & value.keys() else None


def _read_answers_by_id(value: Record) -> list[Any] | None:
    """Read an object of answers or references keyed by question id, a few of which may have another type."""
    kinds = Counter(type(answer) for answer in value.values() if not is_failure(answer))
    lists, others = kinds.pop(list, 0), sum(kinds[kind] for kind in kinds.keys() - {type(None)})
    are_ids = kinds.keys() <= {str, int, float, dict, type(None)} and 2 * kinds[dict] < len(value) and _are_ids(value)
    are_scalars = kinds.keys() <= {str, int, float, type(None)} and (not lists or lists > 4 * others)
    return [{KEY: key, VALUE: answer} for key, answer in value.items()] if value and (are_ids or are_scalars) else None


def _are_ids(keys: Iterable[str]) -> bool:
    """Whether all keys contain a digit, as ids do and field names usually do not."""
    return all(any(map(str.isdigit, str(key))) for key in keys)


CONTAINERS = (
    _read_split,
    _read_joined,
    _read_named,
    _read_questions,
    _read_only_list,
    _read_columns,
    _read_columns_by_key,
    _read_only_object,
    _read_records_by_id,
    _read_question,
    _read_answers_by_id,
)
"""The functions that return the records in an object, or None, in the order in which the functions are tried."""


# Lists at any depth

_MOST = 100  # objects that are examined to see what all of them contain
_DEEPEST = 8  # the levels to search for lists
_ID = re.compile(r"(?i:(?:.*[_ -])?[qu]?id|key)|.*[a-z](?:Id|ID)|\(.*\)")
_OWN_ID = re.compile(r"(?i)(?:question[_ -]?|[qu])?id|key|\(.*\)")
_QUESTION = re.compile(r"(?i).*question.*|query|prompt")
_ANSWER = re.compile(r"(?i).*(?:answer|pred|references|truth|expected).*|gt|gold|(?:gt|gold)[_ -].*|det")
_REFERENCES = re.compile(r"(?i).*(?:reference|truth|gold|expected|target|label|annotation|answers).*|gt|gt[_ -].*")
_WEAK_ANSWER = re.compile(r"(?i).*(?:response|output|label|target|reference).*")  # or a field of a document


class Found(NamedTuple):
    """A list of objects inside a JSON value.

    Attributes:
        path: the path of the list, in which `*` stands for each item of an outer list.
        has_answers: whether the objects are questions with answers, judging by the names of the fields.
    """

    path: str
    has_answers: bool


def find_path(value: Any) -> str:
    """Find the path at which `records_of` finds the records of an object, or return "" if the records are at the top
    level.
    """
    if not isinstance(value, dict) or any(read(value) is not None for read in (_read_split, _read_joined, _read_named)):
        return ""
    paths = [each.path for each in find_lists(value) if each.has_answers]
    if not paths and (key := _find_only_object(value)):
        return key
    return paths[0] if len(paths) == 1 and "." in paths[0] and not _find_columns(value) else ""


def find_lists(value: Any) -> list[Found]:
    """Find the lists of objects in a JSON value, except lists inside objects that have an answer.

    Example:
        >>> find_lists({"split": {"items": [{"id": 1, "answer": "x", "boxes": [{}]}]}})
        [Found(path='split.items', has_answers=True)]
    """
    return list(_walk(value, ()))


def _walk(value: Any, path: tuple[str, ...]) -> Iterator[Found]:
    if isinstance(value, list):
        items = value[:_MOST]
        if set(map(type, items)) == {dict}:
            has_answers = _has_answer(set().union(*items)) or all(map(_is_pair, items))
            inner = {} if has_answers else {own.path: own for item in items for own in _walk(item, (*path, "*"))}
            answered = [own for own in inner.values() if own.has_answers]
            yield from answered or [Found(".".join(path), has_answers)]
    elif isinstance(value, dict) and len(path) < _DEEPEST:
        first = {str(name): own for name, own in islice(value.items(), _MOST)}
        answers = [own for name, own in first.items() if _ANSWER.fullmatch(name)]
        if not answers and _are_pairs(list(first.values())):
            yield Found(".".join(path), True)
        elif not _has_answer(first) and not any(_is_plain(own) for own in answers):
            for name, own in first.items():
                yield from _walk(own, (*path, name))


def _is_plain(value: Any) -> bool:
    """Whether a value is an answer rather than a list or object of records."""
    return not isinstance(value, dict) and not (isinstance(value, list) and value and isinstance(value[0], dict))


def _has_answer(fields: Iterable[Any]) -> bool:
    """Whether an object with the given fields is a question with an answer, judging by the names of the fields."""
    names = list(map(str, fields))
    has = {kind: any(map(kind.fullmatch, names)) for kind in (_ID, _QUESTION, _ANSWER, _WEAK_ANSWER)}
    return (has[_QUESTION] and has[_WEAK_ANSWER]) or ((has[_QUESTION] or has[_ID]) and has[_ANSWER])


def is_answer(name: str) -> bool:
    """Whether a field may contain an answer or a reference, judging by its name."""
    return bool(_ANSWER.fullmatch(name) or _WEAK_ANSWER.fullmatch(name))


def _is_pair(record: Record) -> bool:
    """Whether a record has a prediction and a reference, judging by the names of its fields."""
    return sum(bool(_ANSWER.fullmatch(str(name))) and _is_plain(value) for name, value in record.items()) > 1


def _are_pairs(values: Sequence[Any]) -> bool:
    """Whether all values are objects that contain both a prediction and a reference, as some programs write for each
    field of a document.
    """
    return set(map(type, values)) == {dict} and all(
        sum(bool(_ANSWER.fullmatch(str(name))) for name in own) > 1 for own in values
    )


def join_paths(paths: Sequence[str]) -> str:
    """Combine paths by writing `*` for differing names, or join them with commas if `*` would also stand for other
    paths.

    Example:
        >>> join_paths(["splits.human.items", "splits.auto.items"]), join_paths(["first", "second.items"])
        ('splits.*.items', 'first,second.items')
    """
    names = list(map(dict.fromkeys, zip(*(path.split(".") for path in paths))))
    are_all = len({path.count(".") for path in paths}) == 1 and prod(map(len, names)) == len(paths)
    return ".".join(next(iter(own)) if len(own) == 1 else "*" for own in names) if are_all else ",".join(paths)


def take_records(value: Any, path: str) -> Records | None:
    """Take the records at a path in a JSON value.

    Args:
        value: an object, or a list of documents, to each of which the path applies.
        path: names and indices separated by dots, with ``*`` for each item of a list or each value of an object, or a
            single dot for the value itself as one record.

    Returns:
        The records, or None if the path does not lead to objects. A list yields a record for each item. An object of
        objects or answers yields a record for each value, with the key of the value as its id. If the path leads to
        lists in several documents, each record also has the fields of its document, but fields that may be an id, a
        question or an answer are inside the field ``document``.

    Example:
        >>> questions = [{"q": "?", "answer": "a"}, {"q": "!", "answer": "b"}]
        >>> take_records([{"id": 7, "page": 1, "qas": questions}, {"id": 8, "page": 2, "qas": questions}], "qas")[0]
        {'document': {'id': 7}, 'page': 1, 'q': '?', 'answer': 'a'}
    """
    if path == ".":
        return [{KEY: DOCUMENT, **value}] if isinstance(value, dict) else None
    items = list(_open(value, path.split(".") if path else [], _Item(None)))
    if not items or not all(isinstance(item.value, dict) for item in items):
        return None
    around = {id(item.document) for item in items}
    describe = dict if len(around) == len(items) else _put_aside
    documents: dict[int, Any] = (
        {id(item.document): describe(item.document) for item in items} if len(around) > 1 else {}
    )
    has_parts = len({item.part for item in items}) > 1
    return [
        {
            **documents.get(id(item.document), {}),
            **({PART: ".".join(item.part)} if has_parts else {}),
            **({} if item.key is None else {KEY: ".".join((*item.part, item.key))}),
            **item.value,
        }
        for item in items
    ]


class _Item(NamedTuple):
    """A record in a JSON value, with the fields of its document, the names that `*` stands for, and its key in an
    object.
    """

    value: Any
    document: Record = MappingProxyType({})
    part: tuple[str, ...] = ()
    key: str | None = None


def _open(value: Any, steps: Sequence[str], around: _Item) -> Iterator[_Item]:
    """Follow a path into a value, and yield the items at the end of the path."""
    value = parse_value_or_text(value)
    first, rest = (steps[0], steps[1:]) if steps else ("", [])
    if isinstance(value, list):
        if first == "*" or first.isdecimal():
            value, steps = value if first == "*" else value[int(first) :][:1], rest
        for own in value:
            yield from _open(own, steps, _enter(own, steps, around)) if steps else [around._replace(value=own)]
    elif isinstance(value, dict) and first == "*":
        for key, own in value.items():
            yield from _open(own, rest, _enter(own, rest, around)._replace(part=(*around.part, key)))
    elif isinstance(value, dict) and steps:
        names = (".".join(steps[:end]) for end in range(len(steps), 0, -1))  # a name with dots takes precedence
        name = next((name for name in names if name in value), None)
        if name is not None:
            yield from _open(value[name], steps[name.count(".") + 1 :], around)
    elif isinstance(value, dict):
        yield from _list_items(value, around)


def _list_items(value: Record, around: _Item) -> Iterator[_Item]:
    """Yield the records or answers of an object that are keyed by id, or the object itself if there are none."""
    records = _read_records_by_id(value)
    if records is None and (are_answers_by_id(value) if around.part else around == _Item(None)):
        records = None if NAMES & value.keys() else _read_answers_by_id(value)
    if records is None:
        yield around._replace(value=value)
    for record in records or ():
        yield around._replace(value={name: record[name] for name in record if name != KEY}, key=record[KEY])


def are_answers_by_id(value: Any) -> bool:
    """Whether an object contains answers keyed by question id, judging by whether all of its keys contain digits."""
    return isinstance(value, dict) and _are_ids(value) and _read_answers_by_id(value) is not None


def find_mappings(value: Any, is_mapping: Callable[[Any], bool], path: tuple[str, ...] = ()) -> list[str]:
    """Find the paths of the outermost values inside an object that satisfy the given predicate."""
    if path and is_mapping(value):
        return [".".join(path)]
    inner = islice(value.items(), _MOST) if isinstance(value, dict) and len(path) < _DEEPEST else ()
    return [found for name, own in inner for found in find_mappings(own, is_mapping, (*path, str(name)))]


def _enter(value: Any, steps: Sequence[str], around: _Item) -> _Item:
    """Add the fields of an outer object to an item's document, except the field that leads to the item."""
    own = value if steps and isinstance(value, dict) else {}
    return around._replace(document={**around.document, **{name: own[name] for name in own if name != steps[0]}})


def _put_aside(document: Record) -> dict[str, Any]:
    """Move those fields of a document that could be mistaken for an id, a question or an answer into the field
    ``document``.
    """
    kinds = (_OWN_ID, _QUESTION, _ANSWER, _WEAK_ANSWER)
    aside = {name: value for name, value in document.items() if any(kind.fullmatch(name) for kind in kinds)}
    rest = {name: value for name, value in document.items() if name not in aside}
    return {**({"document": aside} if aside else {}), **rest}
