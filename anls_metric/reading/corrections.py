"""Corrections of accepted answers: a file that accepts more answers to some questions, or excludes questions.

The file is a JSON list, or CSV, with the fields ``questionId``, ``accept`` (one answer or a list, in CSV a JSON list),
``exclude`` (true) and ``note``. A record that a reviewer saved from the report also has a ``mark``. It may correct
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from anls_metric.core.rows import describe
from anls_metric.reading.batch import Row
from anls_metric.reading.containers import FILE, KEY, VALUE
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some
from anls_metric.reading.records import Records
from anls_metric.reading.references import parse_references

FIELDS = ("questionId", "accept", "exclude", "note", "mark")
_EXAMPLE = '{"questionId": 1, "accept": ["tea"]}'

_EXCLUDES: Mapping[str, bool] = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


class Correction(NamedTuple):
    """A correction of a question.

    Attributes:
        accept: more accepted answers.
        exclude: whether to leave the question out.
        note: the reason; it has no effect.
    """

    accept: Sequence[str] = ()
    exclude: bool = False
    note: str = ""


class Corrections:
    """Corrects rows, and counts the corrections. It can correct several submissions, one after the other.

    Args:
        corrections: the corrections by the ids of their questions.
        name: the name of the file in errors.

    Attributes:
        added: the answers that were added to a question, by its id; [] for a question that was left out.

    Example:
        >>> corrections = Corrections({"7": Correction(["tea"]), "8": Correction(exclude=True)})
        >>> rows = corrections.apply([Row("7", "tea", ["Tea!"], {}), Row("8", "x", ["y"], {})])
        >>> [(row.id, row.references) for row in rows]
        [('7', ['Tea!', 'tea'])]
        >>> corrections.accepted, corrections.excluded, corrections.signature
        (1, 1, 'corrections:a12751e6')
    """

    def __init__(self, corrections: Mapping[str, Correction], name: str = "corrections") -> None:
        self._corrections, self.name = corrections, name
        self.added: dict[str, list[str]] = {}
        self._known: set[str] = set()

    @property
    def accepted(self) -> int:
        """The number of questions with more accepted answers."""
        return len(self.added) - self.excluded

    @property
    def excluded(self) -> int:
        """The number of questions that are left out."""
        return sum(self._corrections[key].exclude for key in self.added)

    @property
    def signature(self) -> str:
        """The part of a signature that identifies the corrections: a hash of them in any order, without their notes."""
        rows = sorted([key, each.exclude, *sorted(set(each.accept))] for key, each in self._corrections.items())
        return f"corrections:{blake2b(json.dumps(rows).encode(), digest_size=4).hexdigest()}"

    def apply(self, rows: Sequence[Row]) -> list[Row]:
        """Correct rows: drop excluded questions, and add accepted answers."""
        corrected = []
        for row in rows:
            runs = tuple(self.apply(row.runs)) if row.runs else ()
            correction = self._corrections.get(row.id)
            if correction is None:
                corrected.append(row)
                continue
            self._known.add(row.id)
            more = [text for text in dict.fromkeys(correction.accept) if text not in row.references]
            if correction.exclude or more:
                self.added[row.id] = [] if correction.exclude else more
            if not correction.exclude:
                corrected.append(row._replace(references=[*row.references, *more], runs=runs) if more else row)
        return corrected

    def conclude(self) -> list[str]:
        """Check that every correction was used, after all rows were corrected.

        Returns:
            A sentence about corrections that change nothing, if there are any.

        Raises:
            InputError: a correction has an id that no question has.
        """
        unknown = [key for key in self._corrections if key not in self._known]
        if unknown:
            problem = f"it corrects questions that do not exist ({list_some(unknown)})"
            raise InputError(problem, self.name, "write the ids of the gold file, or remove these corrections")
        idle = [key for key in self._corrections if key not in self.added]
        if not idle:
            return []
        what = f"{len(idle):,} corrections change" if len(idle) > 1 else "1 correction changes"
        return [f"{self.name}: {what} nothing: the answers are accepted already ({list_some(idle)})"]


def read_corrections(path: str, records: Callable[[str], Records] = Records) -> Corrections:
    """Read a file of corrections.

    Args:
        path: the file: a JSON list, JSON lines, CSV or any other format of records.
        records: makes the records of a path; the page limits them.

    Raises:
        InputError: a correction has no id, an unknown field, the same id as another one, or
            nothing to accept or exclude; the message names the record. OSError: the file cannot be opened.
    """
    file = records(path)
    corrections: dict[str, Correction] = {}
    marked: set[str] = set()  # questions that a reviewer marked and did not correct
    for chunk in file.chunks():
        for number, record in enumerate(chunk.records):
            if KEY in record:
                raise file.error(
                    "it is an object, not a list", remedy=f"write a list of corrections, such as [{_EXAMPLE}]"
                )
            try:
                key, correction = _parse_correction(record)
                if key in corrections or key in marked:
                    raise ValueError(
                        f"a second correction of question {key}: write one for each question, with its accepted "
                        "answers as a list"
                    )
            except ValueError as error:
                raise file.error(str(error), chunk.place_of(number)) from None
            if correction.accept or correction.exclude:
                corrections[key] = correction
            else:
                marked.add(key)
    return Corrections(corrections, file.name)


def _parse_correction(record: Mapping[str, Any]) -> tuple[str, Correction]:
    """Read the id and the correction of a record. ValueError: the record is not a correction."""
    if VALUE in record:
        raise ValueError(f"it is {describe(record[VALUE])}: write an object, such as {_EXAMPLE}")
    unknown = [name for name in record if name not in (*FIELDS, FILE)]
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}; a correction has the fields {', '.join(FIELDS)}")
    key = record.get("questionId")
    if isinstance(key, bool) or not isinstance(key, (str, int)) or key == "":
        raise ValueError(f"questionId is {describe(key)}: write the id of a question")
    value, note = record.get("accept"), record.get("note")
    accept = () if value in (None, "", []) else parse_references(value, f"accept of question {key}")
    exclude = _parse_exclude(record.get("exclude"))
    if exclude == bool(accept) and (exclude or "mark" not in record):
        which = "accepts answers and excludes the question" if exclude else "neither accepts an answer nor excludes it"
        raise ValueError(f"the correction of question {key} {which}: write accept or exclude")
    return str(key), Correction(accept, exclude, "" if note is None else str(note))


def _parse_exclude(value: Any) -> bool:
    if value is None or value == "":
        return False
    text = str(value).strip().lower()
    if text not in _EXCLUDES:
        raise ValueError(f"exclude is {describe(value)}: write true, or leave it out")
    return _EXCLUDES[text]
