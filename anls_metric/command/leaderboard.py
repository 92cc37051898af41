"""Creates and checks submission files for the leaderboards of the Robust Reading Competition (RRC)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anls_metric.core.checks import count_noun, describe
from anls_metric.gold import QUESTION_ID, find_gold, load_gold
from anls_metric.messages import list_some, make_error
from anls_metric.options import NONE, Settings
from anls_metric.reading.files import load_bytes, read_table
from anls_metric.reading.inputs import Input
from anls_metric.reading.reader import read_answers
from anls_metric.reading.reading import Reading
from anls_metric.reading.records import ABSENT
from anls_metric.reading.roles import Side, usual_field
from anls_metric.reading.table import Table, name_place, read_column
from anls_metric.reading.values import read_id, read_ids

PAGES = ("answer_page", "pred_answer_page")
"""The usual names of the field for the page of an answer, which task 4 (MP-DocVQA) requires."""

_FIELDS = (
    (QUESTION_ID, int, "a whole number"),
    ("answer", str, "a string"),
    (PAGES[0], int, "the position of the page, from 0"),
)
"""The name and type of each field in a submission, with a description of its valid values."""

MOST_LINES = 5
"""The maximum number of lines that `check_submission` returns about one kind of defect, which often occurs in every
answer.
"""


def export(path: str, questions: str | None, settings: Settings) -> list[dict[str, Any]]:
    """Read one model's answers from any file that can be scored and return them in the RRC format.

    Args:
        path: the path of the file with the answers, which may also contain references.
        questions: the path or name of the gold data with the ids of all questions, as for `read_gold_ids`, or None to
            use the ids of the answers.
        settings: the options for reading the answers.

    Returns:
        One ``{"questionId": int, "answer": str}`` for each question, in the order of the questions. If the file
        contains the page of an answer, the key ``answer_page``, which the multi-page task requires, is added.

    Raises:
        InputError: a question has no answer, an answer has no question, an id is repeated, an id or a page is not a
            whole number, or the file contains the answers of several models.
    """
    table = read_table(path, settings)
    ids = read_gold_ids(questions, settings) if questions else dict.fromkeys(_list_ids(table, settings, "submission"))
    records = [{QUESTION_ID: key, "references": [""]} for key in ids]
    reading = Reading(replace(settings, gold_id=None, layout="table", runs="error", missing="zero"))
    answers, *others = read_answers([Input(table, path)], Input(records, questions or path), reading)
    if others:
        sentence = "it has the answers of several models ({names}): write each model's answers to a separate file"
        raise make_error(path, sentence, names=list_some(each.name for each in (answers, *others)))
    missing = [key for key, text in zip(ids, answers.predictions) if text is None]
    if missing and settings.missing != "zero":  # the leaderboard requires answers to all questions
        sentence = "no answer to {count} ({some}): to submit empty answers, add {use.missing:zero}"
        raise make_error(path, sentence, count=count_noun(len(missing), "question"), some=list_some(missing))
    pages = _find_pages(table, settings)
    return [
        {
            QUESTION_ID: _parse_id(key, path),
            "answer": text or "",
            **({"answer_page": pages[key]} if key in pages else {}),
        }
        for key, text in zip(ids, answers.predictions)
    ]


def _find_pages(table: Table, settings: Settings) -> dict[str, Any]:
    """Find the page of each answer, keyed by question id, or return {} if the file contains no pages."""
    path, ids = usual_field(table, PAGES), Reading(settings).find_roles(table, "submission").id
    if path is None or ids is None:
        return {}
    return {
        key: _parse_page(page, path, name_place(table, number))
        for number, (key, page) in enumerate(zip(read_ids(table, ids), read_column(table, path)))
        if key is not None and page not in (None, ABSENT, "") and page == page  # NaN: a gap in a column of numbers
    }


def _parse_page(page: Any, field: str, place: str) -> int:
    text = read_id(page) or ""  # pandas writes whole numbers as floats if their column has a gap
    if not (text.isascii() and text.isdecimal()):
        sentence = "{field} must be a whole number, got {page}: write the position of the page, from 0"
        raise make_error(place, sentence, field=field, page=describe(page))
    return int(text)


def _list_ids(table: Table, settings: Settings, side: Side) -> list[str]:
    """List the question ids in a submission or a gold file. Raises InputError if the table has no id field."""
    path = Reading(settings).find_roles(table, side).id
    if path is None:
        sentence = "it has no question ids: pass their field with {use.id}, or pass the questions file before it"
        raise make_error(table.name, sentence)
    return [key for key in read_ids(table, path) if key is not None]


def _parse_id(text: str, path: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        sentence = (
            "question ids must be whole numbers for the leaderboard, got {id!r}: pass the right field with {use.id}"
        )
        raise make_error(path, sentence, id=text)
    return int(text)


def read_gold_ids(path: str, settings: Settings) -> list[str]:
    """Read the ids of all questions from a file, in file order.

    Args:
        path: a gold file, with or without references, or the name of public data, such as ``docvqa:val``.
        settings: the options for reading a gold file.

    Raises:
        InputError: the file has no ids or cannot be read, or the gold data cannot be fetched. OSError: the file cannot
            be opened.
    """
    row = find_gold(path)
    if settings.id == NONE:  # an option for the answers
        settings = replace(settings, id=None)
    return _list_ids(load_gold(row) if row else read_table(path, settings), settings, "gold")


def check_submission(path: str, ids: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """Find the defects that would make the RRC server reject a submission.

    Args:
        path: the path of the submission.
        ids: the ids of all questions, or None to skip the check for missing and extra answers.

    Returns:
        The answers, and a list of sentences that describe the defects. If there are many defects of the same kind, only
        the first ones are described and the others are counted.

    Raises:
        InputError: the file is a device or a pipe with too much data. OSError: the file cannot be read.
    """
    data = load_bytes(path)
    try:
        records = json.loads(data.decode())
    except ValueError as error:
        lines = data.strip().splitlines()
        if len(lines) > 1 and all(line.lstrip().startswith(b"{") for line in lines):
            return [], ["it is JSON lines, and the server expects one JSON list"]
        return [], [f"it is not JSON in UTF-8: {error}"]
    if not isinstance(records, list) or not records:
        return [], [f"it is {describe(records)}: write a list of objects with questionId and answer"]
    counts, defects = Counter[str](), defaultdict[str, list[str]](list)
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict) or QUESTION_ID not in record:
            sentence = f"answer {number} is {describe(record)}: write an object with questionId and answer"
            defects["record"].append(sentence)
            continue
        key = record[QUESTION_ID]
        counts[str(key)] += 1
        for field, kind, words in _FIELDS:
            value = record.get(field)
            if type(value) is not kind and (field in record or field != PAGES[0]):
                defects[field].append(f"question {key}: {field} is {describe(value)}: write {words}")
    defects["repeated"] = [f"question {key}: there are {count:,} answers" for key, count in counts.items() if count > 1]
    if ids is not None:
        known = set(ids)
        defects["missing"] = [f"question {key}: there is no answer" for key in ids if key not in counts]
        defects["extra"] = [f"question {key}: there is no such question" for key in counts if key not in known]
    return records, [line for lines in defects.values() for line in _shorten(lines)]


def _shorten(lines: list[str]) -> list[str]:
    """Keep the first `MOST_LINES` lines about the same kind of defect, and replace the others with their count."""
    rest = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"and {rest:,} more like the last"] if rest > 0 else lines
