"""Finds the key that joins a submission and a gold file, which the user names or the values prove.

The values prove a key if they are unique in each file and nearly all of them occur in both files. If too few values
occur in both, the values of one file are converted with each function of `FORMS` in turn.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from anls_metric.core.checks import count_noun
from anls_metric.messages import InputError, list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.records import FILE, KEY, Path
from anls_metric.reading.roles import list_plain_fields, list_shared_fields
from anls_metric.reading.table import Roles, Table, describe_fields, does_count, is_unique, show_path
from anls_metric.reading.values import read_ids, read_questions, show_ids

if TYPE_CHECKING:
    from anls_metric.reading.answers import Questions

Values = Sequence[str | None]
"""The values of a field, with None for a record without a value."""

_NEARLY_ALL = 0.95  # the share of the smaller side's values that must also occur on the other side
_FEWEST = 10  # the values that must be the same, unless the field's name shows that they are ids
_NAME_OF_IDS = r"(?i)(?:id|key|index|name)\)?$"  # "uid" ends in "id"
_LIKE_AN_ID = r"(?i:(?:^|[_.\- ])(?:id|uid|qid|key)$)|[a-z](?:Id|ID)$"
_NAME_OF_KEYS = r"(?i)(?:id|key|name)\)?$"


class Key(NamedTuple):
    """The key of a join.

    Attributes:
        path: the field in the submission.
        gold_path: the field in the gold file, or None for numbers from 1.
        own: the value of the key in each record of the submission.
        theirs: the value of the key for each question.
        how: a description of the fields and of any conversion, for the line that says what was read.
        is_id: whether the field has the role of the id, in which case repeated values are runs.
    """

    path: Path
    gold_path: Path | None
    own: Values
    theirs: Values
    how: str
    is_id: bool = False


class _Candidate(NamedTuple):
    """Two fields that may form a key, with the path and the values of each field."""

    path: Path
    gold_path: Path | None
    own: Values
    theirs: Values


def find_key(gold: Questions, table: Table, roles: Roles, settings: Settings) -> Key | None:
    """Find the key that joins a submission and a gold file, or return None to join them by position.

    Raises:
        InputError: too few ids occur in both files, or several fields fit but pair different rows.
    """
    if settings.id == NONE:
        return None
    is_named, has_ids = (settings.id or settings.gold_id) is not None, gold.has_ids
    ids = None
    if has_ids and roles.id is not None:
        ids = _Candidate(roles.id, gold.roles.id, read_ids(table, roles.id), gold.ids)
        if 2 * _count_common(ids.own, ids.theirs) >= (1 if is_named else _count_fewest(ids)):
            return _make_key(ids, is_id=True)
        key = _find_form(ids, is_id=True)
        if key or is_named:
            if key is None:
                raise _error_of_ids(gold, table, ids)
            return key
    for fitting in (_list_fields_of_ids, *([] if is_named else [_list_fields_of_one_name, _list_fields_of_names])):
        keys = [key for each in fitting(gold, table, roles) if (key := _prove(each))]
        if keys:
            _refuse_different_pairs(keys, gold, table)
            return keys[0]
    if is_named:
        raise _error_of_one_side(gold, table, roles)
    asked = _Candidate(
        roles.question or "",
        gold.roles.question,
        *map(_fold_all, (read_questions(table, roles.question), gold.texts)),
    )
    key = _prove(asked)
    if key is None and ids is None and has_ids:
        ids = _find_likely_ids(gold, table, roles)
    if key is None and ids is not None:
        raise _error_of_ids(gold, table, ids)
    return key


def _find_likely_ids(gold: Questions, table: Table, roles: Roles) -> _Candidate | None:
    """Find the first field that is named like an id, as a candidate for the ids of the gold file."""
    field = next((field for field in list_plain_fields(table, roles) if re.search(_LIKE_AN_ID, field)), None)
    return _Candidate(field, gold.roles.id, read_ids(table, field), gold.ids) if field else None


def _list_fields_of_ids(gold: Questions, table: Table, roles: Roles) -> Iterator[_Candidate]:
    """Yield the fields whose values may be ids of the gold file. If these ids are just small whole numbers, a field
    must also be named like an id, because many fields contain small whole numbers by chance.
    """
    known = gold.ids if gold.has_ids else []
    counts = does_count(known)
    for field in list_plain_fields(table, roles) if known else ():
        if not counts or re.search(_NAME_OF_IDS, field):
            yield _Candidate(field, gold.roles.id, read_ids(table, field), known)


def _list_fields_of_one_name(gold: Questions, table: Table, roles: Roles) -> Iterator[_Candidate]:
    """Yield the fields that both files have under the same name. A field of small whole numbers, which may be
    positions, must also be named like a key.
    """
    for own, theirs in list_shared_fields(table, roles, gold.table, gold.roles):
        candidate = _Candidate(own, theirs, read_ids(table, own), read_ids(gold.table, theirs))
        if re.search(_NAME_OF_KEYS, own) or not (does_count(candidate.own) or does_count(candidate.theirs)):
            yield candidate


def _list_fields_of_names(gold: Questions, table: Table, roles: Roles) -> Iterator[_Candidate]:
    """Yield the fields of a gold file without ids that may contain the file names or object keys of the submission."""
    if roles.id in (KEY, FILE) and not gold.has_ids:
        for field in list_plain_fields(gold.table, gold.roles):
            yield _Candidate(roles.id, field, read_ids(table, roles.id), read_ids(gold.table, field))


def _prove(candidate: _Candidate) -> Key | None:
    """Return a key if the values of two fields are unique in each file and nearly all of them occur in both files, as
    they are or in another form.
    """
    path, _, own, theirs = candidate
    if not (is_unique(own) and is_unique(theirs)):
        return None
    common = _count_common(own, theirs)
    few = isinstance(path, str) and re.search(_NAME_OF_IDS, path)
    if common >= max(_NEARLY_ALL * _count_fewest(candidate), 1 if few else _FEWEST):
        return _make_key(candidate)
    return _find_form(candidate)


def _refuse_different_pairs(keys: Sequence[Key], gold: Questions, table: Table) -> None:
    """Raise an error if keys pair the rows of the two files differently."""

    def list_pairs(key: Key) -> list[int | None]:
        place_of = {value: place for place, value in enumerate(key.theirs)}
        return [place_of.get(value) for value in key.own]

    pairs = list_pairs(keys[0])
    others = [key.path for key in keys[1:] if list_pairs(key) != pairs]
    if others:
        sentence = "{first} and {others} pair the rows of {gold} differently: choose one, as with {use.id:{first}}"
        values = {"first": keys[0].path, "others": " and ".join(map(show_path, others)), "gold": gold.table.name}
        raise make_error(table.name, sentence, **values)


def _error_of_one_side(gold: Questions, table: Table, roles: Roles) -> InputError:
    """Create the error for a key that the user names but only one file has, which suggests a matching field of the
    other file.
    """
    if roles.id is None:
        sentence = "no ids to match those of {gold}: pass their field with {use.id} (found {fields})"
        return make_error(table.name, sentence, gold=gold.table.name, fields=describe_fields(table))
    own, fields = read_ids(table, roles.id), list_plain_fields(gold.table, gold.roles)
    fitting = (field for field in fields if _prove(_Candidate(roles.id, field, own, read_ids(gold.table, field))))
    values = {"field": show_path(roles.id), "theirs": next(fitting, None), "fields": describe_fields(gold.table)}
    sentence = "no ids to match {field} of {table}: "
    sentence += (
        "add {use.gold_id:{theirs}}" if values["theirs"] else "pass their field with {use.gold_id} (found {fields})"
    )
    return make_error(gold.table.name, sentence, table=table.name, **values)


def _error_of_ids(gold: Questions, table: Table, ids: _Candidate) -> InputError:
    """Create the error for a submission whose ids rarely or never occur in the gold file."""
    common = _count_common(ids.own, ids.theirs)
    sides = ((ids.own, ids.path), (ids.theirs, ids.gold_path))
    own, theirs = (list_some(show_ids(dict.fromkeys(values), path), 2) for values, path in sides)
    if common:
        count = f"{common:,} of {count_noun(len({*ids.own}), 'id')}"
        sentence = "only {count} are in {gold} ({own} / {theirs}): "
        sentence += (
            "to join by them, add {use.id:{field}}" if isinstance(ids.path, str) else "check that both belong together"
        )
        return make_error(
            table.name, sentence, count=count, gold=gold.table.name, own=own, theirs=theirs, field=ids.path
        )
    numbers = [value and re.sub(r"^\D+", "", value) for value in ids.own]
    sentence = "no ids in common with {gold} ({own} / {theirs}): "
    if does_count(numbers) and len(numbers) == len(ids.theirs):
        sentence += "if the answers are in the order of {gold}, add {use.id:none}; otherwise write its ids into them"
    else:
        sentence += "pass the right field of {gold} with {use.gold_id}, or yours with {use.id} (found {fields})"
    fields = describe_fields(table)
    return make_error(table.name, sentence, gold=gold.table.name, own=own, theirs=theirs, fields=fields)


def _count_common(own: Values, theirs: Values) -> int:
    return len(({*own} & {*theirs}) - {None})


def _count_fewest(candidate: _Candidate) -> int:
    """Count the distinct values in the file that has fewer distinct values, with a minimum of 1."""
    return max(1, min(len({*candidate.own} - {None}), len({*candidate.theirs} - {None})))


def _make_key(candidate: _Candidate, form: Sequence[str] = ("", ""), is_id: bool = False) -> Key:
    names = [show_path(path).strip("'\"") for path in candidate[:2]]
    how = " and ".join(dict.fromkeys(" ".join(filter(None, pair)) for pair in zip(names, form)))
    return Key(*candidate, how, is_id)


# Forms


def _drop_point(value: str) -> str:
    whole, point, rest = value.partition(".")
    return whole if point and rest == "0" and whole.isdecimal() and int(whole) < 2**53 else value


def _drop_folders(value: str) -> str:
    return re.split(r"[/\\]", value.rstrip("/\\"))[-1]


_EXTENSIONS = ("png", "jpg", "jpeg", "tif", "tiff", "webp", "gif", "bmp", "pdf", "json", "txt")


def _drop_extension(value: str) -> str:
    return re.sub(rf"(?i)\.(?:{'|'.join(_EXTENSIONS)})$", "", value)


def _each(words: str, change: Callable[[str], str]) -> Callable[[list[str]], Iterator[tuple[str, list[str]]]]:
    return lambda values: iter([(words, list(map(change, values)))])


def _cut_beginnings(values: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Remove from all values the beginning that they share up to a separator, trying the shortest beginning first."""
    for beginning in _list_beginnings(values):
        yield f'without "{beginning}"', [value.removeprefix(beginning) for value in values]


def _cut_ends(values: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Remove from all values the ending that they share from a separator on, trying the shortest ending first."""
    for mirrored in _list_beginnings([value[::-1] for value in values]):
        end = mirrored[::-1]
        yield f'without "{end}"', [value.removesuffix(end) for value in values]


def _list_beginnings(values: list[str]) -> list[str]:
    """List the beginnings that all values share and that end with a separator, from the shortest to the longest."""
    shared = os.path.commonprefix(values)  # noqa: RUF071, by character
    return [shared[: separator.end()] for separator in re.finditer(r"[\W_]", shared)]


FORMS: Sequence[Callable[[list[str]], Iterator[tuple[str, list[str]]]]] = (
    _each("as whole numbers", _drop_point),
    _each("in Unicode NFC", lambda value: unicodedata.normalize("NFC", value)),
    _each("without folders", _drop_folders),
    _each("without extension", _drop_extension),
    _each("without folders and extension", lambda value: _drop_extension(_drop_folders(value))),
    _cut_beginnings,
    _cut_ends,
)
"""The functions that convert the values of one file to other forms. Each function yields pairs of a description and the
converted values.
"""


def _find_form(candidate: _Candidate, is_id: bool = False) -> Key | None:
    """Find a conversion for the values of one file after which nearly all values occur in both files and distinct
    values remain distinct.
    """
    for form in FORMS:
        for number, values in enumerate((candidate.own, candidate.theirs)):
            texts = sorted(value for value in {*values} if value is not None)
            for words, changed in form(texts):
                if changed == texts or len(set(changed)) < len(texts):
                    continue
                new = dict(zip(texts, changed))
                values_of = [candidate.own, candidate.theirs]
                values_of[number] = [value and new[value] for value in values]
                other = _Candidate(*candidate[:2], *values_of)
                if _count_common(other.own, other.theirs) >= max(2, _NEARLY_ALL * _count_fewest(other)):
                    return _make_key(other, ("", words) if number else (words, ""), is_id)
    return None


def _fold_all(texts: Sequence[str | None]) -> list[str | None]:
    """Remove differences in case and whitespace from strings."""
    return [text and " ".join(text.casefold().split()) for text in texts]
