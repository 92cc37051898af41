"""Questions and answers, which the reader returns as lists of equal length."""

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
    from anls_metric.reading.records import Path


class Source(NamedTuple):
    """The fields and files that were read, by their names in the user's input. The attributes are keys in the JSON
    output.

    Attributes:
        prediction: the field of the predictions.
        file: the name of the file with the predictions.
        references: the field of the references.
        gold: the name of the file with the references, or "" if the predictions are in the same file.
        joined_by: the field that joins the two files, or "" for a single file.
        rows: the number of questions that have an answer, or the number of rows in a single file.
        notes: further facts about the reading, such as how runs and samples were handled.
    """

    prediction: str
    file: str
    references: str
    gold: str
    joined_by: str
    rows: str
    notes: Sequence[str] = ()

    def add(self, note: str) -> Source:
        """Return a copy with a note added."""
        return self._replace(notes=[*self.notes, note])

    def text(self) -> str:
        """Describe in one line what was read.

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
    """The questions of a gold file, which all submissions share, or of a table that contains both questions and
    answers.

    Attributes:
        table: the table with a record for each question.
        ids: the ids of the questions. Questions without ids are identified by the values of the field that joins all
            submissions or, without such a field, by numbers from 1.
        references: the references of each question.
        texts: the text of each question, or None for a question without a text.
        has_ids: whether the questions have ids of their own.
        roles: the field of the table for each role.
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
        questions: the questions to which the answers belong.
        predictions: for each answer, a string or a value, or None for a missing answer.
        read: the fields and files that were read.
        layout: the name of the submission's layout.
        places: the position of the question for each answer, or None if each question has one answer.
        raw: the model output from which each prediction was extracted, or None without extraction steps.
        texts: the original string of each prediction that was parsed as JSON, with None for other predictions, or None
            if no prediction was parsed.
        extraction: counts of what each extraction step did, or None without extraction steps.
        columns: the columns of a benchmark's rule for each answer, or None without such a rule.
        confidences: the confidence of each answer, with None for an answer without a confidence, or None if the
            submission has no confidences. The confidence of a nested value can be an object of confidences.
        verdicts: a judge's verdict on each answer, with None for an answer without a verdict, or None if the submission
            has no verdicts.
        pages: a pair for each answer with the pages that the answer cites and the pages of the question, or None unless
            pages are measured.
        named: the roles, such as "confidence" and "judge", for which the user named a field.
        samples: how one of several answers to each question was chosen, such as "vote_of_3", or "" if no choice was
            made.
        gold_key: the field of the gold file by which the answers were joined, or None if they were joined by position
            or come from a table with both predictions and references.
        hints: messages about problems with the files.
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
    gold_key: Path | None = None
    hints: Sequence[Message] = ()


LOST_FORMATTING = (
    "decimal numbers among the {what} ({count:,}) have lost their formatting (12.5 may have been $12.50 or 12.50): "
    "write them as strings"
)
"""The text of the hint that numbers in a file have lost their original formatting."""

COLUMNS = ("predictions", "raw", "texts", "columns", "confidences", "verdicts", "pages")
"""The attributes of `Answers` that are either None or a list with a value for each answer."""


def choose_answers(answers: Answers, questions: Questions, rows: Sequence[int], places: Sequence[int]) -> Answers:
    """Return only the chosen answers, in the given order.

    Args:
        answers: the answers.
        questions: the questions to which the chosen answers belong.
        rows: the positions of the chosen answers.
        places: the position of the question for each chosen answer.
    """
    columns = {name: getattr(answers, name) for name in COLUMNS}
    chosen: dict[str, Any] = {name: column and [column[row] for row in rows] for name, column in columns.items()}
    return answers._replace(questions=questions, places=places if len(places) > len(questions.ids) else None, **chosen)


def choose_questions(answers: Answers, chosen: Sequence[int]) -> Answers:
    """Return only the questions at the given positions, together with all answers to these questions."""
    own = answers.questions
    new = {place: number for number, place in enumerate(chosen)}
    columns = ("ids", "references", "texts")
    picked: dict[str, Any] = {name: [getattr(own, name)[place] for place in chosen] for name in columns}
    questions = own._replace(table=choose_records(own.table, chosen), **picked)
    rows = [(row, new[place]) for row, place in enumerate(list_places(answers)) if place in new]
    return choose_answers(answers, questions, *map(list, zip(*rows)))


def keep_questions(answers: Answers, ids: Container[str]) -> Answers:
    """Return only the questions with the given ids, together with all answers to these questions."""
    chosen = [place for place, key in enumerate(answers.questions.ids) if key in ids]
    return answers if len(chosen) == len(answers.questions.ids) else choose_questions(answers, chosen)


def list_places(answers: Answers) -> Sequence[int]:
    """List the position of the question for each answer."""
    return range(len(answers.questions.ids)) if answers.places is None else answers.places


def average_runs(places: Sequence[int], values: Sequence[float]) -> Sequence[float]:
    """Average the values that have the same position, given that equal positions are adjacent."""
    if len(set(places)) == len(places):
        return values
    return [mean([value for _, value in run]) for _, run in groupby(zip(places, values), key=itemgetter(0))]


def list_references(answers: Answers) -> Sequence[Sequence[Any]]:
    """List the references for each answer."""
    references = answers.questions.references
    return references if answers.places is None else [references[place] for place in answers.places]


def list_compared(answers: Answers) -> tuple[Sequence[Any], Sequence[Any]]:
    """List the predictions and the references that a scorer compares, with None as the prediction of a missing answer.

    For answers with the columns of a benchmark's rule, each prediction is taken from these columns, and the columns are
    returned instead of the references.
    """
    if answers.columns is None:
        return answers.predictions, list_references(answers)
    pairs = zip(answers.predictions, answers.columns)
    return [None if each is None else row["prediction"] for each, row in pairs], answers.columns


def list_ids(answers: Answers) -> Sequence[str]:
    """List the id of the question for each answer."""
    return [answers.questions.ids[place] for place in list_places(answers)]
