"""Joins the answers of a submission with the questions of a gold file: by id, or by position without ids.

The questions are read once. For each submission, joining finds an order: the place of the record of each answer. Every
column of the submission is then brought into this order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from anls_metric.messages import InputError, Message, count_noun, list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.answers import COLUMNS, Answers, Questions, choose_answers, list_ids
from anls_metric.reading.extract import Extraction, extract_all, extractor
from anls_metric.reading.formats import find_repeated
from anls_metric.reading.layouts import ABSENT, Path
from anls_metric.reading.roles import (
    RUNS,
    SUBMISSIONS,
    Roles,
    Side,
    error_of_missing_field,
    find_roles,
    require,
    usual_field,
)
from anls_metric.reading.table import Table, choose_records, find_places, has, read_column, show_path
from anls_metric.reading.values import (
    Kind,
    parse_value_or_text,
    read_assessments,
    read_columns,
    read_ids,
    read_predictions,
    read_questions,
    read_references,
    refuse_gaps,
)

_LIKE_AN_ID = r"(?i:(?:^|[_.\- ])(?:id|uid|qid|key)$)|[a-z](?:Id|ID)$"
_NAME_OF_COUNTS = r"(?i)(?:id|key|index|name)$"  # "uid" ends in "id"
_NEARLY_ALL = 0.95  # the share of a field's values that must be ids of the gold file


@dataclass(frozen=True)
class Reading:
    """How to read tables.

    Attributes:
        settings: the options of the user.
        of_values: whether answers are lists and nested values, and not strings.
        rule: the rule of a benchmark that scores the answers; None for none.
    """

    settings: Settings
    of_values: bool = False
    rule: Any = None

    def find_roles(self, table: Table, side: Side) -> Roles:
        """Find the field of each role in a table."""
        return find_roles(table, side, self.settings, self.of_values, self.rule)

    @property
    def kind(self) -> Kind:
        """What answers are."""
        if self.rule:
            return "any"
        return "values" if self.of_values else "text"

    @property
    def extraction(self) -> Extraction | None:
        """The extraction rules; None for none."""
        names = self.settings.extract
        return extractor(",".join(names), values=self.of_values) if names else None


class Gold(NamedTuple):
    """A gold file: its table, its roles and its questions."""

    table: Table
    roles: Roles
    questions: Questions
    hints: Sequence[Message] = ()


def read_gold(table: Table, reading: Reading) -> Gold:
    """Read the questions of a gold file.

    Raises:
        InputError: it has no accepted answers, an id is repeated, or a value cannot be read.
    """
    roles = reading.find_roles(table, "gold")
    if not reading.rule:  # which may need none
        require(table, roles.references, "references")
    ids = _read_all_ids(table, roles)
    if len(set(ids)) < len(ids):
        raise _error_of_repeated(table, ids, roles, "pass a different id field with {use.gold_id}")
    return _make_gold(table, roles, ids, reading)


def _make_gold(table: Table, roles: Roles, ids: Sequence[str], reading: Reading) -> Gold:
    """Make the questions of a table, one of each record."""
    references, hints = read_references(table, roles.references, reading.settings, reading.kind)
    numbers = [str(number) for number in range(1, len(references) + 1)]
    texts = read_questions(table, roles.question)
    questions = Questions(
        table.name, ids or numbers, references, table.records, texts, bool(ids), table.numbers, table.tag
    )
    return Gold(table, roles, questions, hints)


def _read_all_ids(table: Table, roles: Roles) -> list[str]:
    """Read the ids of a table, [] if it has none. A record without an id is an error."""
    ids = read_ids(table, roles.id)
    sentence = "{field} is not an id (a string or a whole number): pass the id field with {use.id}"
    refuse_gaps(ids, table, roles.id, sentence)
    return ids  # type: ignore[return-value]


# A submission and a gold file


class _Order(NamedTuple):
    """For each answer, the place of its question and the place of its record, which is None for no answer."""

    questions: Sequence[int]
    records: Sequence[int | None]

    def take(self, column: Sequence[Any]) -> list[Any]:
        """Bring a column of the records into the order of the answers."""
        return [None if place is None else column[place] for place in self.records]


def join(gold: Gold, table: Table, reading: Reading) -> Answers:
    """Join the answers of a table with the questions of a gold file.

    Raises:
        InputError: the table has no predictions; its ids are not those of the gold file, repeated, or missing; it
            answers other questions; or a value cannot be read.
    """
    settings, questions = reading.settings, gold.questions
    roles = reading.find_roles(table, "submission")
    for role, named in {"id": settings.id, "question": (settings.field or {}).get("question")}.items():
        if named not in (None, NONE, getattr(roles, role), getattr(gold.roles, role)):
            raise error_of_missing_field(table, named, role)
    require(table, roles.prediction, "prediction")
    path = _find_ids(gold, table, roles, settings)
    if path is None:
        order, how = _order_by_position(questions, table), "position"
    else:
        roles = roles._replace(id=path)
        ids = _read_all_ids(table, roles)
        records = _choose_run(table, ids, roles, settings)
        chosen = [ids[place] for place in records]
        order = _order_by_id(questions.ids, chosen, records)
        _check_ids(questions, table, chosen, order, settings)
        how = " and ".join(dict.fromkeys([_name(path), _name(gold.roles.id)]))
    _check_questions(gold, table, roles, order)
    answered, total = len(order.records) - order.records.count(None), len(questions.ids)
    count = f"{answered:,} of {total:,}"
    if len(order.records) > total:
        count = f"{count_noun(answered, 'answer')} to {count_noun(total, 'question')}"
    sentence = "{prediction} (prediction) of {table}, {references} (accepted answers) of {gold}, joined by {how}: "
    values = {"references": _name(gold.roles.references), "gold": _base(gold.table.name), "how": how, "count": count}
    return _make_answers(gold, table, roles, order, Message("", sentence + "{count}", values), reading)


def _name(path: Path | None) -> str:
    """Name a field in the line that says what was read."""
    return show_path(path).strip("'\"")


def _base(name: str) -> str:
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1]


def _find_ids(gold: Gold, table: Table, roles: Roles, settings: Settings) -> Path | None:
    """Find the field of the ids of the answers; None to match them by position.

    The usual field counts if at least half of its values are ids of the gold file; else the one other field whose
    values are all different and nearly all ids of the gold file.
    """
    if settings.id == NONE:
        return None
    known = set(gold.questions.ids) if gold.questions.has_ids else set()
    ids = read_ids(table, roles.id)
    if ids and known and (roles.id == settings.id or 2 * sum(map(known.__contains__, ids)) >= len(ids)):
        return roles.id
    free = [
        field
        for field, is_object in table.fields.items()
        if not is_object and field not in (roles.id, roles.prediction, roles.question)
    ]
    found = _find_fields_of_ids(table, free, known)
    if len(found) > 1:
        sentence = "{fields} contain ids of {gold}: pass the right one with {use.id}"
        raise make_error(table.name, sentence, fields=" and ".join(map(repr, found)), gold=gold.table.name)
    if found:
        return found[0]
    likely = roles.id or next((field for field in free if re.search(_LIKE_AN_ID, field)), None)
    if likely is not None:
        own, theirs = list_some(read_ids(table, likely), 2), list_some(gold.questions.ids, 2)
        problem = "no ids in common with {gold} ({own} / {theirs})" if known else "{gold} has no ids ({own} here)"
        sentence = problem + ": set {use.id} and {use.gold_id}, or {use.id:none} to match by position"
        raise make_error(table.name, sentence, gold=gold.table.name, own=own, theirs=theirs)
    return None


def _find_fields_of_ids(table: Table, fields: Sequence[str], known: set[str]) -> list[str]:
    """Find the fields whose values are all different, and nearly all ids of the gold file: one of those with the same.

    Ids that merely count are in many fields by chance, so such a field must be called an id.
    """
    counts = known <= set(map(str, range(2 * len(known))))
    found: dict[tuple[str | None, ...], str] = {}
    for field in fields:
        ids = [] if counts and not re.search(_NAME_OF_COUNTS, field) else read_ids(table, field)
        own = {*ids} - {None}
        if own and len(own) == len(ids) and len(own & known) >= _NEARLY_ALL * len(ids):
            found.setdefault(tuple(ids), field)
    return list(found.values())


def _order_by_position(questions: Questions, table: Table) -> _Order:
    count, total = len(table.records), len(questions.ids)
    if count != total:
        sentence = (
            "{answers}, {questions}: matching by position needs one answer per question (an empty string for no "
            "answer); to match by id, pass {use.id}"
        )
        values = {"answers": count_noun(count, "answer"), "questions": count_noun(total, "question")}
        raise make_error(table.name, sentence, **values)
    return _Order(range(count), range(count))


def _order_by_id(keys: Sequence[str], answered: Sequence[str], records: Sequence[int]) -> _Order:
    """Find the records of the answers to each question, given the id of each: with runs, one after the other."""
    place_of = dict(zip(answered, records))
    if len(place_of) == len(records):  # as usual: a list for each question would take three times as long
        return _Order(range(len(keys)), list(map(place_of.get, keys)))
    by_id: dict[str, list[int | None]] = {}
    for key, place in zip(answered, records):
        by_id.setdefault(key, []).append(place)
    answers = [by_id.get(key, [None]) for key in keys]
    return _Order(
        [number for number, places in enumerate(answers) for _ in places],
        [place for places in answers for place in places],
    )


def _check_ids(questions: Questions, table: Table, answered: Sequence[str], order: _Order, settings: Settings) -> None:
    """Refuse answers to other questions, and missing answers."""
    known = set(questions.ids)
    extra = list(dict.fromkeys(key for key in answered if key not in known))
    missing = [questions.ids[place] for place, record in zip(*order) if record is None]
    of_extra = "{count} to questions that {gold} does not have ({some}): {use.extra:ignore} ignores them"
    of_missing = "no answer to {count} of {gold} ({some}): {use.missing:zero} scores them 0"
    checks = ((settings.extra, extra, "answer", of_extra), (settings.missing, missing, "question", of_missing))
    for option, keys, noun, sentence in checks:
        if keys and option == "error":
            count = count_noun(len(keys), noun)
            raise make_error(table.name, sentence, count=count, gold=questions.name, some=list_some(keys))


def _check_questions(gold: Gold, table: Table, roles: Roles, order: _Order) -> None:
    """Refuse answers of which most have a different question text than the gold file has for them."""
    texts = [gold.questions.texts[place] for place in order.questions]
    asked = order.take(read_questions(table, roles.question))
    pairs = [(place, text, other) for place, text, other in zip(order.questions, texts, asked) if text and other]
    others = [(place, text, other) for place, text, other in pairs if text != other and _differ(text, other)]
    if 2 * len(others) > len(pairs):
        place, text, other = others[0]
        sentence = (
            "{count} have a different question text than in {gold}: question {id} is {text!r} there and "
            "{other!r} here. Check that both files are of the same split; {use.field:question=none} skips "
        )
        values = {"id": gold.questions.ids[place], "text": text[:80], "other": other[:80]}
        count = count_noun(len(others), "answer")
        raise make_error(table.name, sentence + "this check", count=count, gold=gold.table.name, **values)


def _differ(first: str, second: str) -> bool:
    """Whether neither of two questions contains the other. A prompt may stand around a question."""
    one, other = ("".join(text.casefold().split()) for text in (first, second))
    return one not in other and other not in one


# A table with predictions and accepted answers


def read_both(table: Table, reading: Reading) -> Answers:
    """Read a table that has predictions and accepted answers. Without ids, its records are numbered from 1.

    Raises:
        InputError: a field is missing, an id is repeated, the records are of several models, or a value cannot be read.
    """
    roles = reading.find_roles(table, "both")
    if not reading.rule:  # which may need none
        require(table, roles.references, "references")
    require(table, roles.prediction, "prediction")
    ids = _read_all_ids(table, roles)
    records = _choose_run(table, ids, roles, reading.settings)
    keys = ids or list(map(str, range(len(table.records))))
    first_of: dict[str, int] = {}
    for place in records:
        first_of.setdefault(keys[place], place)
    some = choose_records(table, list(first_of.values()))._replace(about="", hints=())
    gold = _make_gold(some, roles, list(first_of) if ids else [], reading)
    count = count_noun(len(records), "row")
    if len(first_of) < len(records):
        count += f", {count_noun(len(first_of), 'question')}"
    sentence = "{prediction} (prediction), {references} (accepted answers) of {table}: {count}"
    read = Message("", sentence, {"references": _name(roles.references), "count": count})
    order = _order_by_id(list(first_of), [keys[place] for place in records], records)
    return _make_answers(gold._replace(roles=Roles()), table, roles, order, read, reading)


# Answers


def _make_answers(gold: Gold, table: Table, roles: Roles, order: _Order, read: Message, reading: Reading) -> Answers:
    """Bring all columns of a table into the order of the answers.

    The columns that a rule needs are read from the gold file, else from the table.
    """
    path = require(table, roles.prediction, "prediction")
    values = read_predictions(table, path, reading.settings, reading.kind)
    columns = None
    if reading.rule:
        own, of_gold = order.take(read_columns(table, roles)), read_columns(gold.table, gold.roles)
        columns = [{**(row or {}), **of_gold[place]} for row, place in zip(own, order.questions)]
    named = frozenset(reading.settings.field or ())
    assessed = [read_assessments(table, roles, role, role in named) for role in ("confidence", "judge")]
    confidences, verdicts = (None if each is None else order.take(each) for each in assessed)
    about = "; ".join(filter(None, (gold.table.about, table.about)))
    shown = {"prediction": _name(path), "table": _base(table.name), "about": f" ({about})" if about else ""}
    return Answers(
        name=table.name,
        questions=gold.questions,
        predictions=order.take(values.values),
        read=Message("", read.sentence + "{about}", {**read.values, **shown}),
        layout=table.layout.name if table.layout else "table",
        places=order.questions if len(order.questions) > len(gold.questions.ids) else None,
        columns=columns,
        confidences=confidences,
        verdicts=verdicts,
        named=named,
        hints=[*gold.table.hints, *gold.hints, *table.hints, *values.hints],
    )


def extract_answers(answers: Answers, reading: Reading) -> Answers:
    """Extract the answers from raw model output, and parse strings that are lists or objects."""
    predictions, columns, extraction = answers.predictions, answers.columns, reading.extraction
    raw = counts = None
    if extraction:
        raw = [each if isinstance(each, str) else None for each in predictions]
        predictions, counts = extract_all(extraction, predictions)
        columns = columns and [{**row, "prediction": text or ""} for row, text in zip(columns, predictions)]
    if reading.of_values:
        predictions = list(map(parse_value_or_text, predictions))
    return answers._replace(predictions=predictions, raw=raw, extraction=counts, columns=columns)


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
                "run {number} and run 1 do not have the same questions (the first: {first}): score the same "
                "questions in each run, or give each file its own name"
            )
            raise make_error(first.name, sentence, number=number, first=min(differing))
    joined: dict[str, Any] = {}
    for name in COLUMNS:
        parts = [getattr(run, name) for run in runs]
        joined[name] = None if None in parts else [value for part in parts for value in part]
    values = {**first.read.values, "others": count_noun(len(others), "other run")}
    joined["read"] = Message("", first.read.sentence + "; and {others}", values)
    joined["hints"] = [hint for run in runs for hint in run.hints]
    places = [place_of[key] for run in runs for key in list_ids(run)]
    rows = sorted(range(len(places)), key=places.__getitem__)
    return choose_answers(first._replace(**joined), first.questions, rows, [places[row] for row in rows])


# Repeated ids: runs and models


def _choose_run(table: Table, ids: Sequence[str], roles: Roles, settings: Settings) -> Sequence[int]:
    """Choose the records of one run if the user names it, and otherwise all. Repeated ids must be runs.

    Returns:
        The places of the records.
    """
    repeat = len(set(ids)) < len(ids)
    if not repeat and settings.filter is None:
        return range(len(table.records))
    field = _find_run_field(table, ids)
    if repeat and (settings.runs == "error" or (settings.runs is None and field is None)):
        raise _error_of_repeated(table, ids, roles, "{use.runs:question} scores the mean over runs of one model")
    if settings.filter is None or (table.layout is not None and table.layout.repeated_by):
        return range(len(table.records))
    runs = [] if field is None else list(map(str, read_column(table, field)))
    return find_places(table, "run", runs, settings.filter)


def _find_run_field(table: Table, ids: Sequence[str]) -> str | None:
    """Find the field that tells the runs of a model apart: records with the same id have other values in it."""
    fields = filter(None, (usual_field(table, [name]) for name in RUNS))
    return next((field for field in fields if not ids or _tells_apart(ids, read_column(table, field))), None)


def _tells_apart(ids: Sequence[str], column: Sequence[Any]) -> bool:
    return len(set(zip(ids, map(str, column)))) == len(ids)


def _error_of_repeated(table: Table, ids: Sequence[str], roles: Roles, remedy: str) -> InputError:
    """Make the error for repeated ids. It names the field that tells the records of an id apart, if there is one."""
    for field, is_object in table.fields.items():
        column = [] if is_object or field in roles else read_column(table, field)
        values = dict.fromkeys([] if ABSENT in column else map(str, column))
        if 1 < len(values) <= len(column) / 2 and _tells_apart(ids, column):
            sentence = (
                "ids repeat; {field!r} ({values}) differs: {use.submission:{field}} scores separate models, "
                "{use.runs:question} runs of one model"
            )
            return make_error(table.name, sentence, field=field, values=list_some(values, 3))
    repeated = find_repeated(ids)
    sentence = "{count} repeated (the first: {first}): keep one record for each id, or " + remedy
    sentence += "; {use.id:none} matches by position"
    return make_error(table.name, sentence, count=count_noun(len(repeated), "id"), first=repeated[0])


def split_submissions(table: Table, reading: Reading) -> dict[str, tuple[Table, Reading]]:
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
    parts: dict[str, list[int]] = {}
    for place, name in enumerate(map(str, column)):
        parts.setdefault(name, []).append(place)
    return {name: (choose_records(table, places), reading) for name, places in parts.items()}


def _find_field_of_models(table: Table, reading: Reading) -> str | None:
    """Find a field with a usual name, such as "model", that tells records with the same id apart.

    Without ids, nothing says whether records of several models answer the same questions.
    """
    field = usual_field(table, SUBMISSIONS, with_objects=False)
    if field is None:
        return None
    path = reading.find_roles(table, "submission").id
    ids, models = read_ids(table, path), list(map(str, read_column(table, field)))
    if path is None and len(set(models)) > 1:
        sentence = (
            "{field!r} names several models ({names}): {use.submission:{field}} scores each, "
            "{use.submission:none} all rows as one"
        )
        raise make_error(table.name, sentence, field=field, names=list_some(dict.fromkeys(models), 3))
    return field if len(set(zip(ids, models))) > len(set(ids)) else None
