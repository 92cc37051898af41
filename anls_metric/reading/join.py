"""Joins the answers in a submission with the questions in a gold file by id or, without ids, by position.

The questions are read only once. For each submission, the join first finds an order, that is, the position of the
record for each answer, and then puts every column of the submission into this order.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.core.checks import count_noun
from anls_metric.core.extraction.extract import extract_all
from anls_metric.core.json_strings import parse_value_or_text
from anls_metric.core.names import get_base
from anls_metric.messages import Message, list_some, make_error
from anls_metric.options import NONE, PAGES, Settings
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.doubts import check_copies, check_pairing, propose_key, refuse_copies
from anls_metric.reading.join_keys import Key, find_key
from anls_metric.reading.reading import Reading
from anls_metric.reading.records import ABSENT, FILE, KEY, OTHER, Path, Record, take_column
from anls_metric.reading.roles import Answer, error_of_missing_field, find_pages, require
from anls_metric.reading.runs import are_different, choose_runs, error_of_repeated, order_by_id
from anls_metric.reading.systems import find_ids_of_runs, refuse_systems
from anls_metric.reading.table import Roles, Table, choose_records, read_column, show_path
from anls_metric.reading.values import (
    read_assessments,
    read_columns,
    read_columns_together,
    read_ids,
    read_questions,
    refuse_gaps,
    show_ids,
)


def read_gold(table: Table, reading: Reading) -> Questions:
    """Read the questions of a gold file.

    Raises:
        InputError: the file has no references, an id is repeated, or a value cannot be read.
    """
    roles = reading.find_roles(table, "gold")
    if reading.form.needs_references:
        require(table, "gold", roles, "references")
    ids = _read_all_ids(table, roles)
    if len(set(ids)) < len(ids):
        raise error_of_repeated(table, ids, roles, reading.settings)
    return _make_questions(table, roles, ids, reading)


def _make_questions(table: Table, roles: Roles, ids: Sequence[str], reading: Reading) -> Questions:
    """Create one question for each record of a table."""
    column = read_columns_together(table, roles.references)
    references = reading.form.read_references(column, table, roles.references, reading.settings)
    warnings = reading.form.warn_of_references(column, table)
    table = table._replace(hints=[*table.hints, *warnings]) if warnings else table
    numbers = [str(number) for number in range(1, len(references) + 1)]
    texts = read_questions(table, roles.question)
    return Questions(table, ids or numbers, references, texts, bool(ids), roles)


def _read_all_ids(table: Table, roles: Roles) -> list[str]:
    """Read the ids of a table, or return [] if the table has no id field. Raises InputError if a record has no id."""
    ids = read_ids(table, roles.id)
    _refuse_gaps(ids, table, roles)
    return ids  # type: ignore[return-value]


def _refuse_gaps(ids: Sequence[str | None], table: Table, roles: Roles) -> None:
    sentence = "{field} is not an id (a string or a whole number): pass the id field with {use.id}"
    refuse_gaps(ids, table, roles.id, sentence)


# A submission and a gold file


_FEW = 0.1  # the share of equal values from which a key is proposed


class _Order(NamedTuple):
    """The positions of the question and of the record for each answer, with None as the record's position if there is
    no answer.
    """

    questions: Sequence[int]
    records: Sequence[int | None]

    def take(self, column: Sequence[Any]) -> list[Any]:
        """Return the values of a column in the order of the answers, with None where there is no answer."""
        return [None if place is None else column[place] for place in self.records]


def join(gold: Questions, table: Table, reading: Reading) -> Answers:
    """Join the answers of a table with the questions of a gold file.

    Raises:
        InputError: the table has no predictions, ids are repeated, missing or not in the gold file, the table does not
            answer exactly the questions of the gold file, the files contradict each other, or a value cannot be read.
    """
    settings = reading.settings
    roles = reading.find_roles(table, "submission")
    for role, named in {"id": settings.id, "question": (settings.field or {}).get("question")}.items():
        if named not in (None, NONE, getattr(roles, role), getattr(gold.roles, role)):
            raise error_of_missing_field(table, named, role)
    _refuse_submissions(gold, table)
    require(table, "submission", roles, "prediction")
    refuse_systems(gold, table, roles, settings)
    key = find_key(gold, table, roles, settings)
    hints: list[Message] = []
    extra = 0
    if key is None:
        order, how = _order_by_position(gold, table, roles, hints), "position"
    else:
        roles, how = roles._replace(id=key.path), key.how
        if key.is_id:
            _refuse_gaps(key.own, table, roles)
        records, runs = choose_runs(table, key.own, roles, settings)
        chosen = [key.own[place] for place in records]
        order = _Order(*order_by_id(key.theirs, chosen, records, runs))
        extra = _check_ids(gold, table, key, chosen, order, settings)
    pairs = [(place, record) for place, record in zip(*order) if record is not None]
    hints += check_pairing(gold, table, roles, pairs, key is None, settings)
    refuse_copies(gold, table, roles, pairs, settings)
    unused, more = check_copies(gold, table, roles, pairs, key is None, reading)
    hints += more
    answered, total = len(order.records) - order.records.count(None), len(gold.ids)
    count = f"{answered:,} of {total:,}"
    if len(order.records) > total:
        count = f"{count_noun(answered, 'answer')} to {count_noun(total, 'question')}"
    read = _describe_source(table, roles, gold.roles, count)._replace(gold=get_base(gold.table.name), joined_by=how)
    if extra:
        read = read.add(f"{count_noun(extra, 'answer')} to other questions not used")
    if unused is not None:
        read = read.add(f"{_name(unused)} of {get_base(table.name)} not used")
    answers = _make_answers(gold, table, roles, order, read, reading, hints)
    return answers._replace(gold_key=key and key.gold_path)


def _describe_source(table: Table, roles: Roles, theirs: Roles, count: str) -> Source:
    """Describe what is read from a table, given the roles of the fields that contain the references."""
    return Source(_name(roles.prediction), get_base(table.name), _name(theirs.references), "", "", count)


def _name(path: Path | None) -> str:
    """Format a field without quotation marks for the line that says what was read."""
    return show_path(path).strip("'\"")


def _refuse_submissions(gold: Questions, table: Table) -> None:
    """Raise an error for a folder whose files were read as single records although each is a submission with answers
    keyed by id.
    """
    if FILE in table.fields and 2 * len(table.fields.keys() & {*gold.ids}) > len(gold.ids):
        sentence = (
            "its files are separate submissions (their keys are ids of {gold}): pass them one by one, as in {pattern}"
        )
        raise make_error(table.name, sentence, gold=gold.table.name, pattern=os.path.join(table.name, "*"))


def _order_by_position(gold: Questions, table: Table, roles: Roles, hints: list[Message]) -> _Order:
    count, total = len(table.records), len(gold.ids)
    if count != total:
        remedy, values = propose_key(gold, table, roles, _FEW)
        remedy = remedy or "write one answer per question (an empty string for none), or put an id in each record"
        values |= {"answers": count_noun(count, "answer"), "questions": count_noun(total, "question")}
        sentence = f"{{answers}} for {{questions}}, but no ids to join them by: {remedy}"
        raise make_error(table.name, sentence, **values)
    if roles.id is not None and not gold.has_ids:
        verb = "are" if roles.id in (KEY, FILE) else "is"
        sentence = f"{{gold}} has no ids, so {{field}} {verb} not used, and answers are joined by position"
        hints.append(Message(table.name, sentence, {"gold": gold.table.name, "field": show_path(roles.id)}))
    return _Order(range(count), range(count))


NO_ANSWER = "it has no answer to"
"""The beginning of the error for questions without an answer."""


def _check_ids(
    gold: Questions, table: Table, key: Key, answered: Sequence[str | None], order: _Order, settings: Settings
) -> int:
    """Return the number of ids that belong to no question. Raises InputError if an answer belongs to no question or is
    missing, unless the user allows this.
    """
    known = set(key.theirs)
    extra = list(dict.fromkeys(own for own in answered if own not in known))
    missing = [key.theirs[place] for place, record in zip(*order) if record is None]
    of_extra = (
        "it has {count} with an id that is not in {gold} ({some}): is it the file for these questions? "
        "{use.extra:ignore} skips such answers"
    )
    of_missing = (
        f"{NO_ANSWER} {{count}} in {{gold}} ({{some}}): to score unanswered questions 0, add {{use.missing:zero}}; to "
        "leave them out, {use.missing:skip}"
    )
    checks = ((settings.extra, extra, "answer", of_extra), (settings.missing, missing, "question", of_missing))
    for option, keys, noun, sentence in checks:
        if keys and option == "error":
            count = count_noun(len(keys), noun)
            some = list_some(show_ids(keys, key.path))
            raise make_error(table.name, sentence, count=count, gold=gold.table.name, some=some)
    return len(extra)


# A table with predictions and references


def read_both(table: Table, reading: Reading) -> Answers:
    """Read the answers from a table that has both predictions and references. Questions without ids are numbered from
    1.

    Raises:
        InputError: a field is missing, an id is repeated, the records are from several models, or a value cannot be
            read.
    """
    if reading.settings.fields:
        raise make_error(table.name, "{use.fields} compares the columns of two files: {do.add_gold}")
    roles = reading.find_roles(table, "both")
    needed: tuple[Answer, ...] = ("references", "prediction") if reading.form.needs_references else ("prediction",)
    require(table, "both", roles, *needed)
    if roles.id is None:
        roles = roles._replace(id=find_ids_of_runs(table, roles, reading.settings))
    ids, note = _read_all_ids(table, roles), ""
    is_chosen = reading.settings.id is not None or reading.settings.runs is not None
    if len(set(ids)) < len(ids) and not is_chosen and are_different(table, ids, roles):
        note = f"no id: different questions share {show_path(roles.id)}"
        roles, ids = roles._replace(id=None), []
    records, runs = choose_runs(table, ids, roles, reading.settings)
    keys = ids or list(map(str, range(len(table.records))))
    first_of: dict[str, int] = {}
    for place in records:
        first_of.setdefault(keys[place], place)
    if len(first_of) < len(records):
        _refuse_groups_of_runs(table, [(keys[place], table.records[place]) for place in records], reading.settings)
    some = choose_records(table, list(first_of.values()))._replace(about="", hints=())
    gold = _make_questions(some, roles, list(first_of) if ids else [], reading)
    count = count_noun(len(records), "row")
    if len(first_of) < len(records):
        count += f", {count_noun(len(first_of), 'question')}"
    read = _describe_source(table, roles, roles, count)
    read = read.add(note) if note else read
    order = _Order(*order_by_id(list(first_of), [keys[place] for place in records], records, runs))
    return _make_answers(gold, table, roles, order, read, reading)


def _refuse_groups_of_runs(table: Table, runs: Sequence[tuple[str, Record]], settings: Settings) -> None:
    """Raise an error if a grouping field has different values in the runs of a question.

    Raises:
        InputError: a grouping field has different values in the runs of a question.
    """
    keys, records = zip(*runs)
    for field in settings.by:
        values = list(map(str, take_column(records, field)))
        if len({*zip(keys, values)}) > len({*keys}):
            sentence = "the runs of a question differ in {field!r} ({values}): score each by itself with "
            sentence += "{use.submission:{field}}"
            raise make_error(table.name, sentence, field=field, values=list_some(dict.fromkeys(values), 3))


# Answers


def _make_answers(
    gold: Questions,
    table: Table,
    roles: Roles,
    order: _Order,
    read: Source,
    reading: Reading,
    hints: Sequence[Message] = (),
) -> Answers:
    """Create the answers by putting all columns of a table into the order of the answers.

    A column that a benchmark's rule needs is read from the gold file or, if the gold file lacks the column, from the
    table.
    """
    path: Any = roles.prediction  # both callers require it
    column = [record.get(OTHER, own) for record, own in zip(table.records, read_column(table, path))]
    predictions = reading.form.read_predictions(column, table, path, reading.settings, gold.references)
    warnings = reading.form.warn_of_predictions(column, table, gold.references, reading.settings)
    columns = None
    if reading.scorer.columns:
        own = order.take(read_columns(table, roles))
        of_gold = [{}] * len(gold.ids) if gold.roles is roles else read_columns(gold.table, gold.roles)
        ids = gold.ids
        rows = [
            ({**(row or {}), **of_gold[place]}, f"question {ids[place]}") for row, place in zip(own, order.questions)
        ]
        try:
            columns = [reading.scorer.fit_row(*row) for row in rows]
        except ValueError as error:
            raise make_error(gold.table.name, "{problem}", problem=str(error)) from None
    named = frozenset(reading.settings.field or ())
    assessed = [read_assessments(table, roles, role, role in named) for role in ("confidence", "judge")]
    confidences, verdicts = (None if each is None else order.take(each) for each in assessed)
    pages = None
    if PAGES in reading.settings.metrics:
        pages = _read_pages(gold, table, order, reading)
    about = "; ".join(filter(None, dict.fromkeys((gold.table.about, table.about))))
    return Answers(
        name=table.name,
        questions=gold,
        predictions=order.take(predictions),
        read=read._replace(rows=f"{read.rows} ({about})" if about else read.rows),
        layout=table.layout.name if table.layout else "table",
        places=order.questions if len(order.questions) > len(gold.ids) else None,
        columns=columns,
        confidences=confidences,
        verdicts=verdicts,
        pages=pages,
        named=named,
        hints=[*gold.table.hints, *hints, *table.hints, *warnings],
    )


def _read_pages(gold: Questions, table: Table, order: _Order, reading: Reading) -> list[tuple[Any, Any]]:
    """Read the pages that each answer cites and the pages of the question, as a pair for each answer.

    A submission that contains copies of the references may also contain copies of the questions' pages, so the field
    with the same name as in the gold file is not used.
    """
    theirs = find_pages(gold.table, "gold", reading.settings)
    copied = theirs if reading.find_copy(table) is not None else None
    own = find_pages(table, "submission", reading.settings, copied)
    accepted = read_column(gold.table, theirs)
    columns = (order.take(read_column(table, own)), [accepted[place] for place in order.questions])
    return [tuple(None if page is ABSENT else page for page in pair) for pair in zip(*columns)]  # type: ignore[misc]


def extract_answers(answers: Answers, reading: Reading) -> Answers:
    """Extract the answers from raw model output, and parse strings that contain JSON if the variant compares structured
    answers.
    """
    predictions, columns, extraction = answers.predictions, answers.columns, reading.extraction
    raw = counts = texts = None
    if extraction:
        raw = [each if isinstance(each, str) else None for each in predictions]
        predictions, counts = extract_all(extraction, predictions)
        columns = columns and [
            row if text == before else {**row, "prediction": text or ""}
            for row, before, text in zip(columns, answers.predictions, predictions)
        ]
    if reading.of_values:
        values = list(map(parse_value_or_text, predictions))
        texts = [text if text is not value else None for text, value in zip(predictions, values)]
        predictions, texts = values, texts if any(texts) else None
    return answers._replace(predictions=predictions, raw=raw, texts=texts, extraction=counts, columns=columns)
