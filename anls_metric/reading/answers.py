"""Questions and answers: what the reader returns, as lists of equal length."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.core.scorer import mean
from anls_metric.messages import Message
from anls_metric.reading.records import Record as Record
from anls_metric.reading.table import Roles, Table, choose_records

if TYPE_CHECKING:
    from anls_metric.core.extraction.extract import Counts


class Source(NamedTuple):
    """What was read, in the words of the user's files. The fields are the keys of the JSON document.

    Attributes:
        prediction: the field of the predictions.
        file: the name of the file with the predictions.
        references: the field of the references.
        gold: the name of the file with the references; "" if it is the same file.
        joined_by: the field that joins the two files; "" for a single file.
        rows: how many questions have an answer, or how many rows the file has.
        notes: what else was done, such as a layout's choice, or how runs and samples were handled.
    """

    prediction: str
    file: str
    references: str
    gold: str
    joined_by: str
    rows: str
    notes: Sequence[str] = ()

    def add(self, note: str) -> Source:
        """Add a note."""
        return self._replace(notes=[*self.notes, note])

    def text(self) -> str:
        """Describe what was read in one line.

        Example:
            >>> print(Source("answer", "a.json", "answers", "gold.json", "id", "6 of 6", ["one filter"]).text())
            answer (prediction) of a.json, answers (references) of gold.json, joined by id: 6 of 6; one filter
        """
        if self.gold:
            fields = f"{self.prediction} (prediction) of {self.file}, {self.references} (references) of {self.gold}"
            fields += f", joined by {self.joined_by}"
        else:
            fields = f"{self.prediction} (prediction), {self.references} (references) of {self.file}"
        return "; ".join([f"{fields}: {self.rows}", *self.notes])


class Questions(NamedTuple):
    """The questions of a gold file, or of a table that contains its own questions. All submissions for a gold file
    share them.

    Attributes:
        table: the table, with a record for each question.
        ids: the ids, or numbers from 1 if the questions have no ids.
        references: the references of each question.
        texts: the text of each question; None for a question without a text.
        has_ids: whether the questions have ids of their own.
        roles: which field of the table is which.
    """

    table: Table
    ids: Sequence[str]
    references: Sequence[Sequence[Any]]
    texts: Sequence[str | None]
    has_ids: bool
    roles: Roles = Roles()


class Answers(NamedTuple):
    """The answers of a submission, in the order of the questions.

    With several runs, the answers to the same question follow one another.

    Attributes:
        name: the name of the submission.
        questions: the questions.
        predictions: a string or a value for each answer; None for no answer.
        read: what was read.
        layout: the name of the layout.
        places: for each answer, the place of its question; None if each question has one answer.
        raw: the model output of each answer, if the predictions were extracted from it.
        texts: the original string of each prediction that was parsed as JSON, None for other predictions; None if no
            prediction was parsed.
        extraction: what each extraction step did; None without extraction steps.
        columns: for each answer, the columns of a benchmark's rule; None without a rule.
        confidences: the confidence of each answer, None for an answer without one; None if no answer has one. The
            confidence of a nested value can be an object of confidences.
        verdicts: a judge's verdict on each answer, with None as in `confidences`.
        pages: the pages that each answer names, together with those of its question; None unless pages are measured.
        named: which of the roles behind `confidences` and `verdicts` have a field that the user named.
        samples: how one of several answers to each question was chosen, such as "vote_of_3"; "" if none was chosen.
        hints: problems with the files.
    """

    name: str
    questions: Questions
    predictions: Sequence[Any]
    read: Source
    layout: str = "table"
    places: Sequence[int] | None = None
    raw: Sequence[str | None] | None = None
    texts: Sequence[str | None] | None = None
    extraction: Counts | None = None
    columns: Sequence[Record] | None = None
    confidences: Sequence[Any] | None = None
    verdicts: Sequence[bool | None] | None = None
    pages: Sequence[tuple[Any, Any]] | None = None
    named: frozenset[str] = frozenset()
    samples: str = ""
    hints: Sequence[Message] = ()


LOST_FORMATTING = (
    "decimal numbers among the {what} ({count:,}) have lost their formatting (12.5 may have been $12.50 or 12.50): "
    "write them as strings"
)
"""The hint that numbers in a file no longer have their original formatting."""

COLUMNS = ("predictions", "raw", "texts", "columns", "confidences", "verdicts", "pages")
"""The fields of `Answers` that are either a list with a value for each answer or None."""


def choose_answers(answers: Answers, questions: Questions, rows: Sequence[int], places: Sequence[int]) -> Answers:
    """Choose some of the answers.

    Args:
        answers: the answers.
        questions: the questions that they answer.
        rows: the places of the chosen answers.
        places: for each chosen answer, the place of its question.
    """
    columns = {name: getattr(answers, name) for name in COLUMNS}
    chosen: dict[str, Any] = {name: column and [column[row] for row in rows] for name, column in columns.items()}
    return answers._replace(questions=questions, places=places if len(places) > len(questions.ids) else None, **chosen)


def choose_questions(answers: Answers, chosen: Sequence[int]) -> Answers:
    """Choose some of the questions by their places, together with all answers to them."""
    own = answers.questions
    new = {place: number for number, place in enumerate(chosen)}
    columns = ("ids", "references", "texts")
    picked: dict[str, Any] = {name: [getattr(own, name)[place] for place in chosen] for name in columns}
    questions = own._replace(table=choose_records(own.table, chosen), **picked)
    rows = [(row, new[place]) for row, place in enumerate(list_places(answers)) if place in new]
    return choose_answers(answers, questions, *map(list, zip(*rows)))


def keep_questions(answers: Answers, ids: Container[str]) -> Answers:
    """Keep the questions with the given ids, together with all answers to them."""
    chosen = [place for place, key in enumerate(answers.questions.ids) if key in ids]
    return answers if len(chosen) == len(answers.questions.ids) else choose_questions(answers, chosen)


def list_places(answers: Answers) -> Sequence[int]:
    """List, for each answer, the place of its question."""
    return range(len(answers.questions.ids)) if answers.places is None else answers.places


def average_runs(places: Sequence[int], values: Sequence[float]) -> Sequence[float]:
    """Average the values that have the same place. Equal places must be adjacent."""
    if len(set(places)) == len(places):
        return values
    return [mean([value for _, value in run]) for _, run in groupby(zip(places, values), key=itemgetter(0))]


def list_references(answers: Answers) -> Sequence[Sequence[Any]]:
    """List, for each answer, its references."""
    references = answers.questions.references
    return references if answers.places is None else [references[place] for place in answers.places]


def list_compared(answers: Answers) -> tuple[Sequence[Any], Sequence[Any]]:
    """List what a scorer takes: the prediction of each answer, None for no answer, and its references. For answers with
    columns, list the prediction from the columns, with a list joined into one string, and all columns in place of the
    references.
    """
    if answers.columns is None:
        return answers.predictions, list_references(answers)
    pairs = zip(answers.predictions, answers.columns)
    return [None if each is None else row["prediction"] for each, row in pairs], answers.columns


def list_ids(answers: Answers) -> Sequence[str]:
    """List, for each answer, the id of its question."""
    return [answers.questions.ids[place] for place in list_places(answers)]
