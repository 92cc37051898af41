"""Describes answers as dicts, whose keys are the same in answer files, in results.json, under ``--worst`` and in the
report, and lists the leaves of nested values for answer files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypedDict

from anls_metric.analysis.groups import name_groups
from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.scored import Scored
from anls_metric.core.json_values import to_json
from anls_metric.options import KEYS
from anls_metric.reading.records import take_column


class _Run(TypedDict):
    prediction: Any
    score: float
    outcome: str


class Run(_Run, total=False):
    """One of several answers to a question, or the only one.

    Keys:
        prediction: the answer, a string or a value; None if the answer is missing.
        score: from 0 to 1.
        outcome: the cause that costs the answer the most points, or "right" if the answer loses none; see
            `lost_points`.
        raw: the model output from which the prediction was extracted; absent if nothing was extracted.
    """

    raw: str | None


class AnswerRow(Run, total=False):
    """The answer to a question or, if there are several runs, the answer whose score is closest to the mean over the
    runs.

    Keys:
        id: the id of the question.
        question: the text of the question; None if the record has no text.
        references: the accepted answers.
        score: the score, from 0 to 1, averaged over the runs if there are several.
        groups: the question's document and its values in the fields of the option ``by``, keyed by field name.
        runs: the answer of each run, if there are several runs.
    """

    id: str
    question: str | None
    references: list[Any]
    groups: dict[str, Any]
    runs: list[Run]


def describe_question(scored: Scored, place: int) -> AnswerRow:
    """Describe the answer to the question at a position in a submission.

    Example:
        >>> from anls_metric import score
        >>> row = describe_question(score(["Coca-Cola"], [["Coca Cola"]])["data"], 0)
        >>> row["id"], row["prediction"], row["references"], row["score"], row["outcome"]
        ('1', 'Coca-Cola', ['Coca Cola'], 0.8888888888888888, 'punctuation')
    """
    questions, run = scored.questions, _describe_run(scored, scored.representatives[place])
    content: Any = {
        "id": questions.ids[place],
        "question": questions.texts[place],
        "prediction": run["prediction"],
        "references": list(map(to_json, questions.references[place])),
        **run,
        "score": scored.scores[place],
    }
    if scored.answers.places is not None:
        content["runs"] = [_describe_run(scored, answer) for answer in scored.runs[place]]
    row: AnswerRow = content
    return row


def _describe_run(scored: Scored, answer: int) -> Run:
    run: Run = {
        "prediction": to_json(scored.answers.predictions[answer]),
        "score": scored.answer_scores[answer],
        "outcome": account_for(scored).main_causes[answer],
    }
    return run if scored.answers.raw is None else {**run, "raw": scored.answers.raw[answer]}


def list_rows(scored: Scored) -> Iterator[AnswerRow]:
    """List the answers to all questions, each with the groups of its question."""
    fields = {field: take_column(scored.questions.table.records, field) for field in scored.groups if field != KEYS}
    clusters = scored.clusters  # so that the interval is the same after answers are written to a file and read again
    for place in range(len(scored.scores)):
        groups: dict[str, Any] = {}
        if clusters:
            groups["document" if clusters.rule else clusters.field.rpartition(".")[2]] = clusters.names[place]
        for field, column in fields.items():
            names = name_groups(field, column[place])
            groups[field] = names[0] if len(names) == 1 else names
        yield {**describe_question(scored, place), "groups": groups}


# Answers as flat dicts


class _Flat(TypedDict):
    submission: str
    id: str
    question: str | None
    prediction: Any
    references: list[Any]
    score: float
    outcome: str


class Answer(_Flat, total=False):
    """An answer with its score, plus a key for the question's document and one for each field in the option ``by``.

    Keys:
        submission: the name of the submission.
        id: the id of the question.
        question: the text of the question; None if the record has no text.
        prediction: the answer, a string or a value; None if the answer is missing.
        references: the accepted answers.
        score: from 0 to 1.
        outcome: the cause that costs the answer the most points, or "right" if the answer loses none; see
            `lost_points`.
        run: the number of the run, counted from 1, if there are several runs.
        raw: the model output from which the prediction was extracted; absent if nothing was extracted.
    """

    run: int
    raw: str | None


def list_answers(rows: Mapping[str, Iterable[AnswerRow]]) -> Iterator[Answer]:
    """List the answers of all submissions and runs, given the rows of each submission by name."""
    for name, own in rows.items():
        for row in own:
            question = {key: row[key] for key in ("id", "question", "prediction", "references")}
            for number, run in enumerate(row.get("runs", [row]), 1):
                answer: Any = {**row["groups"], "submission": name, **question}
                answer |= {key: value for key, value in run.items() if key in Run.__annotations__}
                if "runs" in row:
                    answer["run"] = number
                yield answer


# Leaves


class LeafRow(TypedDict, total=False):
    """A leaf of a nested value, and its outcome.

    Keys:
        submission: the name of the submission.
        id: the id of the document.
        run: the number of the run, counted from 1, if there are several runs.
        key: the names that lead to the leaf, without positions in lists: items.price.
        path: the path of the leaf in the prediction, such as items[2].price, or in the reference if the prediction
            lacks the leaf.
        outcome: right, close, wrong, missed, invented or blank.
        prediction: the predicted value; None if there is none.
        reference: the accepted value, or the closest of several accepted values; None if there is none.
        score: from 0 to 1.
    """

    submission: str
    id: str
    run: int
    key: str
    path: str
    outcome: str
    prediction: Any
    reference: Any
    score: float


def list_leaves(submissions: Iterable[Scored]) -> Iterator[LeafRow]:
    """List the leaves of all answers in submissions whose leaves were recorded during scoring."""
    for scored in submissions:
        for place, run in enumerate(scored.runs):
            for number, answer in enumerate(run, 1):
                start: dict[str, Any] = {"submission": scored.name, "id": scored.questions.ids[place]}
                start |= {} if scored.answers.places is None else {"run": number}
                for leaf in scored.values[answer].leaves:
                    row: Any = {
                        **start,
                        "key": ".".join(map(str, leaf.keys)),
                        "path": leaf.path,
                        "outcome": leaf.outcome,
                        "prediction": to_json(leaf.prediction),
                        "reference": to_json(leaf.reference),
                        "score": leaf.score,
                    }
                    yield row
