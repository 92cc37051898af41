"""Reads the answers from all files, folders and tables that a user passes, starting with the gold file, which is read
only once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from anls_metric.core.checks import count_noun
from anls_metric.messages import InputError, Message, make_error
from anls_metric.options import Settings
from anls_metric.reading.answers import Answers, Questions, keep_questions, list_ids, list_references
from anls_metric.reading.containers import find_lists
from anls_metric.reading.fields import choose_fields, name_fields
from anls_metric.reading.golds import count_equal, find_contents, find_golds, is_named_gold
from anls_metric.reading.inputs import Input, name_inputs
from anls_metric.reading.join import NO_ANSWER, extract_answers, join, read_both, read_gold
from anls_metric.reading.reading import Reading
from anls_metric.reading.record_lists import error_of_mappings
from anls_metric.reading.records import DOCUMENT, FILE, KEY, VALUE
from anls_metric.reading.roles import MissingError, require
from anls_metric.reading.runs import join_runs
from anls_metric.reading.systems import split_submissions
from anls_metric.reading.table import Table, has, is_unique, read_column
from anls_metric.reading.values import read_ids


def read_answers(inputs: Sequence[Input], gold: Input | None, reading: Reading) -> Iterator[Answers]:
    """Read the answers of each submission.

    Args:
        inputs: the files and tables that the user passes. Inputs with the same name are runs of one submission. If no
            gold file is given, `find_golds` chooses one of several inputs, unless every input has both predictions and
            references.
        gold: the gold file, or None if the user does not specify one.
        reading: how to read the inputs.

    Yields:
        The answers of each submission, in the order of the inputs.

    Raises:
        InputError: an input cannot be read. OSError: a file cannot be opened.
    """
    if not inputs:
        sentence = "there are no files to score: pass a gold file and then submissions, or a table that contains both"
        raise make_error("", "there are no predictions: pass them with {use.submissions}" if gold else sentence)
    loaded: dict[int, Table] = {}
    try:
        runs_of = _read_all(inputs, gold, reading, loaded)
    except MissingError as error:
        raise _complete(error, inputs, gold, reading, loaded) from None
    extract = extract_answers
    if reading.settings.samples:
        from anls_metric.reading.samples import extract_samples as extract
    for runs in _compare_numbers(runs_of, reading.settings).values():
        yield extract(join_runs(runs), reading)


def _complete(
    error: MissingError, inputs: Sequence[Input], gold: Input | None, reading: Reading, loaded: dict[int, Table]
) -> InputError:
    """Complete the error for a table that lacks a role, and also report what the first submission lacks if that table
    is the gold file.
    """
    from anls_metric.reading.missing import complete_error  # only for errors

    errors, others = [error], []
    for each in (*([gold] if gold else []), *inputs) if error.side != "both" else ():
        with suppress(InputError):  # this error will be raised later
            table = reading.lay_out(_load(each, reading, loaded))
            if table.name != error.table.name:
                others.append(table)
    if error.side == "gold" and others:
        try:
            require(others[0], "submission", reading.find_roles(others[0], "submission"), "prediction")
        except MissingError as other:
            errors.append(other)

    def read(settings: Settings) -> object:
        return _read_all(inputs, gold, replace(reading, settings=settings), loaded)

    return complete_error(errors, others[:1], reading.settings, read)


def _read_all(
    inputs: Sequence[Input], gold: Input | None, reading: Reading, loaded: dict[int, Table]
) -> dict[str, list[Answers]]:
    """Read the answers from all inputs, and return the runs of each submission, keyed by its name."""
    first, was_named = inputs[0], gold is not None
    reading = replace(reading, settings=name_fields(reading.settings))
    if gold is None and len(inputs) > 1:
        gold = _find_gold(inputs, reading, loaded)
        inputs = [each for each in inputs if each is not gold]
        if gold and gold.path and all(each.path == gold.path for each in inputs):
            raise make_error(
                gold.path,
                "it is passed both as the gold file and as a submission: pass a model's answers as the submission",
            )
    questions = None
    if gold is not None:
        table = _lay_out_gold(_load(gold, reading, loaded), reading)
        reading = choose_fields(table, partial(_lay_out_all, inputs, reading, loaded), reading)
        questions = read_gold(table, reading)
    if questions and len(inputs) > 1:  # a pattern for all files in a folder also matches the gold file
        inputs = [each for each in inputs if each.path != questions.table.name]
    groups: dict[str, list[Input]] = {}
    for each, name in zip(inputs, name_inputs(inputs)):
        groups.setdefault(name, []).append(each)
    runs_of: dict[str, list[Answers]] = {}
    laid_out = [
        (name, reading.lay_out(_load(each, reading, loaded))) for name, group in groups.items() for each in group
    ]
    wholes = [whole for _, whole in laid_out]
    for name, whole in laid_out:
        if questions:
            _refuse_record(whole, questions, len(inputs) > 1)
        for part, (table, how) in split_submissions(whole, _fit_to(whole, wholes, reading), questions).items():
            hints = []
            if questions and not was_named:
                hints = _check_found_gold(questions, table, how, gold is first)
            try:
                answers = read_both(table, how) if questions is None else join(questions, table, how)
            except InputError as error:
                raise _complete_parts(error, wholes, reading) from None
            full = part if part and len(groups) == 1 else "/".join(filter(None, (name, part)))
            runs_of.setdefault(full, []).append(answers._replace(name=full, hints=[*hints, *answers.hints]))
    _refuse_paths([questions.table, *wholes] if questions else wholes, reading.settings)
    return _identify_by_key(questions, runs_of) if questions and not questions.has_ids else runs_of


def _identify_by_key(questions: Questions, runs_of: dict[str, list[Answers]]) -> dict[str, list[Answers]]:
    """Identify questions without ids by the values of the gold file's field by which all submissions are joined."""
    path, *others = {answers.gold_key for runs in runs_of.values() for answers in runs}
    ids = read_ids(questions.table, path)
    if others or path == questions.roles.question or not is_unique(ids):
        return runs_of
    questions = questions._replace(ids=ids)  # type: ignore[arg-type] # none of them is None
    return {name: [answers._replace(questions=questions) for answers in runs] for name, runs in runs_of.items()}


def _complete_parts(error: InputError, tables: Sequence[Table], reading: Reading) -> InputError:
    """Complete the error for unanswered questions if several files may be parts of one submission."""
    if not error.message.sentence.startswith(NO_ANSWER) or len(tables) < 2:
        return error
    from anls_metric.reading.missing import complete_parts  # only for errors

    roles = [_fit_to(table, tables, reading).find_roles(table, "submission") for table in tables]
    return complete_parts(error, tables, [each.id for each in roles])


def _fit_to(table: Table, tables: Sequence[Table], reading: Reading) -> Reading:
    """Return how to read one of several tables: without the named field of predictions if only other tables have it."""
    named = reading.settings.prediction
    if not named or len(named) > 1 or has(table, named[0]) or not any(has(other, named[0]) for other in tables):
        return reading
    return replace(reading, settings=replace(reading.settings, prediction=None))


def _lay_out_all(inputs: Sequence[Input], reading: Reading, loaded: dict[int, Table]) -> list[Table]:
    """Read the tables of all submissions and keep them in memory for the join."""
    for each in inputs:
        loaded[id(each.data)] = reading.lay_out(_load(each, reading, loaded))
    return [loaded[id(each.data)] for each in inputs]


def _refuse_paths(tables: Sequence[Table], settings: Settings) -> None:
    """Raise an error if one of the user's record paths does not lead to records in any file."""
    unused = [path for path in settings.records if all(path not in table.paths for table in tables)]
    if unused:
        sentence = "no file has records at {path!r}: correct the path after {use.records}, or leave it out"
        raise make_error("", sentence, path=unused[0])


def _refuse_record(table: Table, gold: Questions, is_one_of_several: bool) -> None:
    """Raise an error for a file that contains a single document or, inside its records, answers keyed by id. If several
    files are passed, also raise an error for a file whose keys were taken for ids but are not ids of the gold file.
    """
    keys = {record[KEY] for record in table.records if KEY in record}
    error = error_of_mappings(table, gold.ids) if keys and keys.isdisjoint(gold.ids) else None
    if error:
        raise error
    are_answers = table.layout and table.layout.name == "answers_by_id" and is_one_of_several
    if (are_answers or keys == {DOCUMENT}) and os.path.isfile(table.name) and keys.isdisjoint(gold.ids):
        folder = os.path.dirname(table.name) or "."
        sentence = "it contains only one record: to score its folder as one table, quote the pattern, or pass {folder}"
        lists = find_lists(table.records[0]) if keys == {DOCUMENT} else []
        sentence += "; to score the records in it, add {use.records:{path}}" if lists else ""
        raise make_error(table.name, sentence, folder=folder, path=lists[0].path if lists else "")


_TENTH = 0.1


def _compare_numbers(runs_of: dict[str, list[Answers]], settings: Settings) -> dict[str, list[Answers]]:
    """Warn of submissions with fewer answers than others. If unanswered questions are skipped, keep only the questions
    that all submissions answer.

    Keeping only the common questions keeps the comparison paired, but a submission with few answers then also removes
    answers of the other submissions.
    """
    if settings.missing == "error":  # then no question is unanswered
        return runs_of
    answered = {name: set.intersection(*map(_list_answered, runs)) for name, runs in runs_of.items()}
    hints: Mapping[str, Message] = {}
    if settings.missing == "zero":
        hints = _warn_of_zeros(answered)
    if settings.missing == "skip":
        common = set.intersection(*answered.values())
        if not common:
            raise make_error("", "no question is answered in every file: remove the file with the fewest answers")
        hints = _warn_of_skipped(answered, common)
        runs_of = {name: [keep_questions(run, common) for run in runs] for name, runs in runs_of.items()}
    return {
        name: [runs[0]._replace(hints=[*runs[0].hints, hints[name]]), *runs[1:]] if name in hints else runs
        for name, runs in runs_of.items()
    }


def _warn_of_zeros(answered: Mapping[str, set[str]]) -> dict[str, Message]:
    """Warn of each submission that answers fewer questions than another, given the ids of the questions that each
    submission answers.
    """
    most = max(map(len, answered.values()), default=0)
    sentence = "it answers only {count}, so its other questions score 0; to leave them out, add {use.missing:skip}"
    return {
        name: Message(name, sentence, {"count": count_noun(len(own), "question")})
        for name, own in answered.items()
        if len(own) < most
    }


def _warn_of_skipped(answered: Mapping[str, set[str]], common: set[str]) -> dict[str, Message]:
    """Warn of each submission whose missing answers remove more than a tenth of the questions that all other
    submissions answer.
    """
    hints = {}
    sentence = "it answers only {count}, so every submission is scored on {common}"
    for name, own in answered.items():
        others = [ids for other, ids in answered.items() if other != name]
        without = set.intersection(*others) if others else common
        if len(without) - len(common) > _TENTH * len(without):
            values = {"count": count_noun(len(own), "question"), "common": count_noun(len(common), "question")}
            hints[name] = Message(name, sentence, values)
    return hints


def _list_answered(answers: Answers) -> set[str]:
    """List the ids of the questions that have an answer in every run."""
    missing = {key for key, prediction in zip(list_ids(answers), answers.predictions) if prediction is None}
    return {*answers.questions.ids} - missing


def _find_gold(inputs: Sequence[Input], reading: Reading, loaded: dict[int, Table]) -> Input | None:
    """Find the gold file among several inputs, or return None if each input has its own references or all inputs are
    named as submissions.
    """

    def read(each: Input) -> Table:
        table = loaded[id(each.data)] = _load(each, reading, loaded)
        return _lay_out_gold(table, reading)

    places = [place for place, each in enumerate(inputs) if not each.is_submission]
    if places[:1] == [0] and find_contents(read(inputs[0]), reading) == "references":
        return inputs[0]  # the usual case: the others are read later, one by one
    golds = find_golds(list(map(read, inputs)), reading, places)
    return inputs[golds[0]] if golds else None


def _check_found_gold(gold: Questions, table: Table, reading: Reading, is_first: bool) -> list[Message]:
    """Check whether a gold file that was chosen automatically and a submission may have been swapped."""
    own, contents = find_contents(gold.table, reading), find_contents(table, reading)
    if contents not in ("either", "references or both"):
        return []
    if not is_first or own == "both":
        _refuse_references(gold, table, reading)
    elif own == contents == "either" and _may_be_submission(gold, table):
        sentence = (
            "{gold} has the fields of a submission, but is read as the gold file: pass the gold file with {use.gold}"
        )
        return [Message("", sentence, {"gold": gold.table.name})]
    return []


def _refuse_references(gold: Questions, table: Table, reading: Reading) -> None:
    """Raise an error if nearly all answers of a submission equal the references of the gold file, because the two files
    may have been swapped.
    """
    settings = replace(reading.settings, missing="zero", extra="ignore")
    try:
        answers = join(gold, table, replace(reading, settings=settings))
    except InputError:  # the actual join raises it again
        return
    count = count_equal(answers.predictions, list_references(answers))
    if count:
        sentence = "its answers are the references of {gold} ({count} of {total}): if it is the gold file, "
        sentence += "add {use.gold:{name}}"
        total = len(answers.predictions) - list(answers.predictions).count(None)
        values = {"count": f"{count:,}", "total": f"{total:,}", "gold": gold.table.name, "name": table.name}
        raise make_error(table.name, sentence, **values)


def _may_be_submission(gold: Questions, table: Table) -> bool:
    """Whether a gold file has the fields of a submission, one string for each question, and a name that is not typical
    of gold files.
    """
    fields = gold.table.fields.keys()
    if gold.table.layout or fields != table.fields.keys() or fields <= {FILE, VALUE} or is_named_gold(gold.table.name):
        return False
    return all(isinstance(value, str) for value in read_column(gold.table, gold.roles.references))


def _load(each: Input, reading: Reading, loaded: dict[int, Table]) -> Table:
    """Read an input without finding a layout, or return its table if the input was already read, since standard input
    can be read only once.
    """
    table = loaded.pop(id(each.data), None)
    if table is not None:
        return table
    if isinstance(each.data, Table):
        return each.data
    if each.path:
        from anls_metric.reading.files import load_table  # data in memory do not need it

        table = load_table(each.path)
        if each.path == "-":
            loaded[id(each.data)] = table
        return table
    from anls_metric.reading.memory import read_memory

    settings = reading.settings
    fields = [*(settings.prediction or ()), settings.references, settings.id, settings.gold_id, settings.submission]
    return read_memory(each.data, each.name or "data", fields)


def _lay_out_gold(table: Table, reading: Reading) -> Table:
    """Apply the layout to a table that may be the gold file. A layout that the user names but that yields no references
    is meant for the submissions, so the layout of the gold file is then detected.
    """
    laid_out = reading.lay_out(table)
    if reading.settings.layout is None or find_contents(laid_out, reading) not in ("predictions", "neither"):
        return laid_out
    other = replace(reading, settings=replace(reading.settings, layout=None)).lay_out(table)
    return laid_out if find_contents(other, reading) in ("predictions", "neither") else other
