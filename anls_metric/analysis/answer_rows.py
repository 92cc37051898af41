"""Describes the answer to a question as a row, whose keys appear in files of answers, in results.json, under
``--worst`` and in the report. Files can also contain the leaves of nested values.
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
        prediction: the answer, a string or a value; None for none.
        score: from 0 to 1.
        outcome: the cause that costs the answer the most, "right" for none; see `lost_points`.
        raw: the model output, if the predictions were extracted from it.
    """

    raw: str | None


class AnswerRow(Run, total=False):
    """The answer to a question. If there are several runs, it is the answer whose score is closest to their mean.

    Keys:
        id: the id of the question.
        question: the text of the question; None if the record has none.
        references: the accepted answers.
        score: from 0 to 1; of several runs, their mean.
        groups: the question's document and its values for the fields in the option ``by``, by field name.
        runs: the answers, if there are several runs.
    """

    id: str
    question: str | None
    references: list[Any]
    groups: dict[str, Any]
    runs: list[Run]


def describe_question(scored: Scored, place: int) -> AnswerRow:
    """Describe the answer to a question, given its place in the submission.

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
    """List the answers to all questions, together with the groups of the questions."""
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
    """An answer with its score. It also has a key for each field in the option ``by``, and for the cluster field.

    Keys:
        submission: the name of the submission.
        id: the id of the question.
        question: the text of the question; None if the record has none.
        prediction: the answer, a string or a value; None for none.
        references: the accepted answers.
        score: from 0 to 1.
        outcome: the cause that costs the answer the most, "right" for none; see `lost_points`.
        run: the number of the run, from 1, if there are several.
        raw: the model output, if the prediction was extracted from it.
    """

    run: int
    raw: str | None


def list_answers(rows: Mapping[str, Iterable[AnswerRow]]) -> Iterator[Answer]:
    """List the answers in submissions, including those of all runs, given the rows by submission name."""
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
        run: the number of the run, from 1, if there are several.
        key: the names that lead to the leaf, without positions in lists: items.price.
        path: its path in the prediction, such as items[2].price, or in the reference if the prediction lacks it.
        outcome: right, close, wrong, missed, invented or blank.
        prediction: the predicted value; None for none.
        reference: the accepted value, or the closest of several; None for none.
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
    """List the leaves of all answers in submissions whose leaves were listed when they were scored."""
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
