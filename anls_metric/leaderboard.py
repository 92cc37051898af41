"""Makes and checks submission files for the leaderboard of the Robust Reading Competition (RRC)."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.rows import describe
from anls_metric.reading import remedies, resolver
from anls_metric.reading.containers import VALUE
from anls_metric.reading.errors import InputError, MissingFileError
from anls_metric.reading.extract import find_certain_rules
from anls_metric.reading.input_file import AS_UTF_8, count_noun, describe_missing_file, list_some
from anls_metric.reading.join import RepeatedIdsError, refuse_swapped
from anls_metric.reading.json_text import explain_json_error
from anls_metric.reading.records import Records
from anls_metric.reading.resolver import Gold, Sample
from anls_metric.reading.runs import choose_run, split_runs
from anls_metric.reading.sources import Reading, Source, name_of

__all__ = ["Export", "advise_export", "describe_raw_output", "export", "find_defects", "read_ids", "read_text"]

QUESTION_ID = "questionId"


class Export(NamedTuple):
    """Answers in the form of the RRC.

    Attributes:
        answers: a ``{"questionId": int, "answer": str}`` for each question.
        notes: sentences about how the files were read, where it matters.
    """

    answers: list[dict[str, Any]]
    notes: list[str]


def export(answers: str, questions: str | None = None, reading: Reading | None = None) -> Export:
    """Read the answers of one model, from any file that can be scored, in the form of the RRC.

    Args:
        answers: the file of answers, with accepted answers or without.
        questions: a file with the ids of all questions, in any form that `read_ids` takes; None takes the questions
            of the answers.
        reading: how to read the files.

    Returns:
        An answer to each question, in the order of the questions.

    Raises:
        InputError: a question has no answer, an answer has no question, an id is repeated or is not a whole number, or
            the file holds the answers of several models.
    """
    reading = reading or Reading()
    source = _open_answers(answers, questions, reading)
    parts = source.split()
    if len(parts) > 1:
        problem = f"it has the answers of several models ({list_some(parts)})"
        named = bool(source.prediction_fields)
        remedy = (
            "name only one field with --prediction-field"
            if named
            else "write the answers of each model to its own file"
        )
        raise InputError(problem, source.name, remedy)
    ids = None if questions is None else read_ids(questions, reading)
    if questions and _read_names(questions) and not source.try_side("submission").prediction:
        refuse_swapped(Source(questions, reading), source)
    source.take_side("both" if source.has_both_sides() else "submission")
    notes = [] if ids is None else _match_ids(source, questions or "", ids)
    if questions and _read_names(questions) == set(source.sample.list_paths()):
        notes.append(f"{questions}: only its questions are used, although it has the fields of a submission")
    if not source.layout.id:
        if ids is None or reading.id_field != "none":
            advice = _IN_ORDER if ids is None else _BY_POSITION
            if set(source.sample.list_paths()) != {VALUE}:
                advice = f"{remedies.ID_FIELD.command}, or {advice}"
            raise source.error_of_missing("ids of questions in it", advice)
        pairs = list(zip(ids, _list_answers(source)))
        _refuse_other_count(source, len(ids))
    else:
        pairs = _read_pairs(source)
    texts = dict(pairs)
    wanted = list(texts) if ids is None else ids
    _refuse_other_questions(source, texts, wanted)
    return Export(
        [{QUESTION_ID: _parse_id(key, source), "answer": texts.get(key) or ""} for key in wanted],
        [*notes, *_note_positions(source, wanted, ids), *source.all_notes()],
    )


_BY_POSITION = "if the answers are in the order of the questions, match them by position with --id-field none"
_IN_ORDER = f"name the file of the questions before it; {_BY_POSITION}"


def _open_answers(answers: str, questions: str | None, reading: Reading) -> Source:
    """Open the answers. If they come after another file and do not exist, the user perhaps means the output."""
    try:
        return Source(answers, reading)
    except FileNotFoundError:
        if questions is None:
            raise
        problem, advice = describe_missing_file(answers)
        remedy = f"to write this file, add -o before it; {advice}".rstrip("; ")
        raise MissingFileError(problem, answers, remedy) from None


def _match_ids(source: Source, name: str, ids: Sequence[str]) -> list[str]:
    """Choose the field of a submission that holds the ids of the questions. Returns notes."""
    records = [{QUESTION_ID: question_id} for question_id in ids]
    sample = Sample(name, records)
    gold = Gold(sample, resolver.resolve("gold", sample), records, lambda: records)
    named = source.reading.id_field
    match = resolver.match(
        gold, source.sample, source.layout, named if named == "none" or _has(source, named) else None
    )
    source.layout = source.layout._replace(id=() if match.submission_id is None else (match.submission_id,))
    return [f"{source.name}: {match.note}"] if match.note else []


def _has(source: Source, field: str | None) -> bool:
    return field is not None and source.sample.has(field)


def _read_pairs(source: Source) -> list[tuple[str, str | None]]:
    """Read ids and answers; if there are several runs, of one run."""
    pairs = [pair for chunk in source.chunks() for pair in zip(source.ids(chunk), _read_predictions(source, chunk))]
    counts = Counter(key for key, _ in pairs)
    repeated = [key for key, count in counts.items() if count > 1]
    if not repeated:
        return pairs
    error = RepeatedIdsError(
        f"there are several answers to {count_noun(len(repeated), 'question')} (the first: {repeated[0]})",
        source.name,
        "keep one answer to each question",
    )
    again = source.reopen()
    if again is None:
        raise error
    runs = split_runs(again, error)
    if source.reading.run is None:
        raise InputError(f"it has several runs ({list_some(runs)})", source.name, "name one run with --run")
    return _read_pairs(choose_run(runs, source.reading.run, source.name).take_side("submission"))


def _list_answers(source: Source) -> list[str | None]:
    return [answer for chunk in source.chunks() for answer in _read_predictions(source, chunk)]


def _read_predictions(source: Source, chunk: Any) -> list[str | None]:
    try:
        return source.predictions(chunk, lambda number: f"{source.name}, {chunk.place_of(number)}")
    except InputError as error:
        if error.remedy not in (remedies.VALUES, remedies.PART_OR_VALUES):
            raise
        remedy = remedies.PART_OF_FIELD if error.value else "write each answer as one text"
        raise InputError(error.problem, error.where, remedy, error.value) from None


def _refuse_other_count(source: Source, count: int) -> None:
    answers = len(_list_answers(source.reopen() or source))
    if answers != count:
        raise InputError(
            f"it has {count_noun(answers, 'answer')}, and there are {count:,} questions", source.name, remedies.ORDER
        )


def _refuse_other_questions(source: Source, texts: dict[str, str | None], wanted: Sequence[str]) -> None:
    """Refuse missing answers, and answers to other questions, as scoring does."""
    known = set(wanted)
    extra = [key for key in texts if key not in known]
    if extra and source.reading.extra != "ignore":
        problem = f"{count_noun(len(extra), 'answer')} to other questions ({list_some(extra)})"
        raise InputError(problem, source.name, remedies.EXTRA)
    missing = [key for key in wanted if key not in texts]
    if missing and source.reading.missing != "zero":
        raise InputError(
            f"no answer to {count_noun(len(missing), 'question')} ({list_some(missing)})", source.name, remedies.MISSING
        )


def _parse_id(text: str, source: Source) -> int:
    if not (text.isascii() and text.isdecimal()):
        problem = f"the id of a question is {text!r}, and the ids of the leaderboard are whole numbers"
        raise InputError(problem, source.name, remedies.ID_FIELD)
    return int(text)


def _note_positions(source: Source, wanted: Sequence[str], ids: Sequence[str] | None) -> list[str]:
    """Warn of ids that look like positions in the file."""
    if ids is not None:
        return []
    field = name_of(source.layout.id, "the id")
    if field != QUESTION_ID and wanted in (_count_from(0, wanted), _count_from(1, wanted)):
        return [
            f"{source.name}: the ids, from {field!r}, are positions and perhaps no ids of the leaderboard: "
            "name their field with --id-field"
        ]
    return []


def _count_from(start: int, ids: Sequence[str]) -> list[str]:
    return [str(number) for number in range(start, start + len(ids))]


def _read_names(path: str) -> set[str]:
    """Read the names of the fields of a file; none for a list of ids."""
    return set() if _read_plain_ids(path) else set(Source(path).sample.list_paths())


def read_ids(path: str, reading: Reading | None = None) -> list[str]:
    """Read the ids of all questions, in the order of the file.

    Args:
        path: a gold file, with accepted answers or without; a JSON list of ids; or a text file with an id on each line.
        reading: how to read a gold file.

    Raises:
        InputError: an id is repeated, or there are no ids. OSError: the file cannot be opened.
    """
    ids = _read_plain_ids(path)
    if ids is None:
        source = Source(path, reading)
        layout = source.try_side("gold")
        named = (reading.gold_id_field or reading.id_field) if reading else None
        source.layout = layout._replace(id=(named,)) if named and _has(source, named) else layout
        if not source.layout.id:
            raise source.error_of_missing("ids of questions in it", remedies.GOLD_ID_FIELD if reading else _LIST_OF_IDS)
        ids = [key for chunk in source.chunks() for key in source.ids(chunk)]
    repeated = [key for key, count in Counter(ids).items() if count > 1]
    if repeated:
        problem = f"ids are repeated (the first: {repeated[0]})"
        raise InputError(problem, path, remedies.REPEATED_QUESTIONS if reading else _LIST_OF_IDS)
    if not ids:
        raise InputError("the file has no question ids", path)
    return ids


_LIST_OF_IDS = "write a JSON list of the ids, or a text file with an id on each line"


def _read_plain_ids(path: str) -> list[str] | None:
    """Read the ids of a text file, or of a JSON list of ids; None for other files."""
    if not path.endswith((".txt", ".json")):
        return None
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        text = file.read()
    if path.endswith(".txt"):
        return text.split()
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(values, list) and all(type(value) in (int, str) for value in values)
    return list(map(str, values)) if is_list and values else None


def read_text(path: str) -> tuple[str, str]:
    """Read a file as text: the text and "", or "" and why it is no text. OSError: the file cannot be opened."""
    file = Records(path)
    with file.open() as stream:
        form = file.recognize_format(stream)
        if form.name == "text":
            try:
                return stream.read().decode(), ""
            except UnicodeDecodeError as error:
                return "", f"it is not JSON: byte {error.start} is not UTF-8: {AS_UTF_8}"
        try:
            next(form.read(file, stream), None)
        except InputError as error:
            return "", f"{error.problem}: {error.remedy}"
    return "", f"its format is {form.name}, not JSON in UTF-8: write a JSON list of objects with questionId and answer"


def find_defects(text: str, ids: Sequence[str] | None = None) -> list[str]:
    """Find the defects for which the server of the RRC would refuse a submission.

    Args:
        text: the content of the file.
        ids: the ids of all questions; None skips the search for missing and extra answers.

    Returns:
        A sentence for each defect, with the id of its question; [] for none.

    Example:
        >>> find_defects('[{"questionId": 1, "answer": "a"}, {"questionId": "2", "answer": null}]', ["1", "3"])
        ["question 2: questionId is '2' (str): write a whole number", 'question 2: answer is None: write a text', \
'question 3: there is no answer', 'question 2: there is no such question']
    """
    if text.startswith("\ufeff"):
        return ["it begins with a byte order mark: save it as UTF-8 without this mark", *find_defects(text[1:], ids)]
    try:
        records = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        problem, remedy = explain_json_error(error)
        if (error.msg == "Extra data" or problem.startswith("not JSON")) and not text.lstrip().startswith("["):
            return ["it is not a JSON list: write a list of objects with questionId and answer"]
        return [f"line {error.lineno}, column {error.colno}: {problem}: {remedy}"]
    except (ValueError, RecursionError) as error:
        return [f"it is not JSON: {error}"]
    if not isinstance(records, list):
        return [f"it is {describe(records)}: write a list of objects with questionId and answer"]
    if not records:
        return ["it has no answers"]
    return [*_find_wrong_records(records), *_find_wrong_ids(records, ids)]


def describe_raw_output(answers: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Describe answers that are raw model output, and name the rules that extract the answers; "" for none.

    Example:
        >>> describe_raw_output([{"questionId": 1, "answer": "<think>A logo.</think>Coca Cola"}])
        ('1 of 1 answers look like raw model output', 'think')
    """
    rules, count = find_certain_rules([answer["answer"] for answer in answers])
    return (f"{count:,} of {len(answers):,} answers look like raw model output" if count else ""), rules


def advise_export(path: str, questions: str | None, text: str, defects: Sequence[str]) -> str:
    """Say which `export` writes a better submission; "" where there is none.

    Args:
        path: the submission.
        questions: the file with the ids of all questions, if there is one.
        text: the content of the submission.
        defects: its defects.
    """
    output = shlex.quote(f"{os.path.splitext(path)[0]}_rrc.json")
    command = f"anls export rrc {shlex.join([questions, path] if questions else [path])} -o {output}"
    if not defects:
        raw, rules = describe_raw_output(json.loads(text))
        return f"{raw}: {command} --extract {rules} extracts the answers" if raw else ""
    try:
        answers = export(path, questions).answers
    except (ValueError, OSError):
        return ""
    better = not find_defects(json.dumps(answers))
    return f"{command} writes these answers without the defects" if better else ""


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON; write a text")


def _find_wrong_records(records: Sequence[Any]) -> Iterator[str]:
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            yield f"answer {number}: it is {describe(record)}: write an object with questionId and answer"
            continue
        name = f"question {record[QUESTION_ID]}" if QUESTION_ID in record else f"answer {number}"
        if QUESTION_ID not in record:
            yield f"{name}: there is no questionId"
        elif type(record[QUESTION_ID]) is not int:
            yield f"{name}: questionId is {describe(record[QUESTION_ID])}: write a whole number"
        if "answer" not in record:
            yield f"{name}: there is no answer in it"
        elif not isinstance(record["answer"], str):
            yield f"{name}: answer is {describe(record['answer'])}: write a text"


def _find_wrong_ids(records: Sequence[Any], ids: Sequence[str] | None) -> Iterator[str]:
    counts = Counter(str(each[QUESTION_ID]) for each in records if isinstance(each, dict) and QUESTION_ID in each)
    for key, count in counts.items():
        if count > 1:
            yield f"question {key}: there are {count:,} answers"
    if ids is not None:
        known = set(ids)
        yield from (f"question {key}: there is no answer" for key in ids if key not in counts)
        yield from (f"question {key}: there is no such question" for key in counts if key not in known)
