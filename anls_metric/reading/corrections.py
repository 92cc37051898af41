"""Corrections of a gold file, read from a file that accepts additional answers or excludes questions.

The file is a JSON list or a CSV file with the fields ``questionId``, ``accept`` (one answer or a list of answers, which
is a JSON list in CSV), ``exclude`` (true) and ``note``. A record that a reviewer saved from the report also has the
field ``mark``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anls_metric.core.checks import describe
from anls_metric.core.json_strings import parse_references, parse_value_or_text
from anls_metric.messages import list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.answers import Answers, Record, choose_questions
from anls_metric.reading.files import read_file
from anls_metric.reading.laid_out import apply_layout
from anls_metric.reading.table import name_place
from anls_metric.reading.values import parse_all, read_id, read_verdict

FIELDS = ("questionId", "accept", "exclude", "note", "mark")


class Corrections(NamedTuple):
    """The corrections in a file.

    Attributes:
        name: the name of the file.
        by_id: the additional references, keyed by question id, with None for a question to exclude.
    """

    name: str
    by_id: Mapping[str, Sequence[str] | None]

    @property
    def signature(self) -> str:
        """The part of a signature that identifies the corrections, as a hash that does not depend on their order."""
        from hashlib import blake2b  # slow to import

        pairs = self.by_id.items()
        rows = [[key, True] if texts is None else [key, False, *sorted(set(texts))] for key, texts in pairs]
        return f"corrections:{blake2b(json.dumps(sorted(rows)).encode(), digest_size=4).hexdigest()}"


def correct(answers: Answers, corrections: Corrections) -> tuple[Answers, dict[str, list[str]]]:
    """Apply corrections to the questions of a submission by excluding some questions and adding references to others.

    Args:
        answers: the answers of the submission.
        corrections: the corrections.

    Returns:
        The answers to the remaining questions, and the added references, keyed by question id, with [] for an excluded
        question.

    Raises:
        InputError: a correction has an id that no question has, or all questions are excluded.
    """
    questions = answers.questions
    place_of = {key: place for place, key in enumerate(questions.ids)}
    unknown = [key for key in corrections.by_id if key not in place_of]
    if unknown:
        sentence = (
            "it corrects questions that do not exist ({some}): use ids from the gold file, or remove these corrections"
        )
        if not questions.has_ids and questions.ids[0] == "1":
            sentence = "the gold file has no known id field, so its questions are numbered from 1 and have none of the "
            sentence += "ids {some}: pass the id field with {use.id}"
        raise make_error(corrections.name, sentence, some=list_some(unknown))
    kept = [place for key, place in place_of.items() if corrections.by_id.get(key, ()) is not None]
    if not kept:
        raise make_error(corrections.name, "every question is excluded: exclude fewer")
    added: dict[str, list[str]] = {}
    references = list(questions.references)
    for key, texts in corrections.by_id.items():
        accepted = references[place_of[key]]
        read = str if all(isinstance(each, str) for each in accepted) else parse_value_or_text  # JSON
        more = {text: value for text in texts or () if (value := read(text)) not in accepted}
        if more or texts is None:
            added[key] = list(more)
        joined = (*accepted, *more.values())
        references[place_of[key]] = joined if isinstance(accepted, tuple) else list(joined)
    corrected = answers._replace(questions=questions._replace(references=references))
    return choose_questions(corrected, kept), added


def read_corrections(path: str) -> Corrections:
    """Read a file of corrections.

    Args:
        path: the path of a JSON list, JSON lines, a CSV file, or a file in any other supported format.

    Raises:
        InputError: a correction has no id, an unknown field, the same id as another correction, both an answer to
            accept and an exclusion, or neither. The message identifies the record. OSError: the file cannot be opened.
    """
    table = apply_layout(read_file(path), Settings(layout="table"))
    parsed: dict[str, Sequence[str] | None] = {}
    for number, (key, texts) in enumerate(parse_all(_parse_correction, table.records, table)):
        if key in parsed:
            sentence = "there is more than one correction for question {key}: write only one per question"
            raise make_error(name_place(table, number), sentence, key=key)
        parsed[key] = texts
    return Corrections(path, {key: texts for key, texts in parsed.items() if texts != ()})


def _parse_correction(record: Record) -> tuple[str, Sequence[str] | None]:
    """Read the question id and the additional references from a record, with None to exclude the question, or () if the
    record only has a mark.

    Raises:
        ValueError: the record is not a correction.
    """
    unknown = [name for name in record if name not in FIELDS]
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; choose from {', '.join(FIELDS)}")
    key, value = read_id(record.get("questionId")), record.get("accept")
    if not key:
        raise ValueError(f"questionId must be the id of a question, got {describe(record.get('questionId'))}")
    value = json.dumps(value) if isinstance(value, dict) else value
    texts = () if value in (None, "", []) else parse_references(value, f"accept of question {key}")
    is_excluded = read_verdict(record.get("exclude"), "exclude") is True
    if (texts and is_excluded) or not (texts or is_excluded or "mark" in record):
        raise ValueError(f"a correction must have either accept or exclude: fix the one for question {key}")
    return key, None if is_excluded else texts
