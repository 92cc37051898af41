"""Counts how often a model abstains, rightly or falsely, and how often it fails to abstain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from anls_metric.analysis.part import REPORT, TABLE, Column, Line, Part, Write
from anls_metric.analysis.scored import Scored
from anls_metric.core.checks import count_noun
from anls_metric.core.scorer import mean
from anls_metric.core.strings.abstention import abstains, lacks_answer
from anls_metric.reading.answers import list_places, list_references


class Abstention(TypedDict):
    """How often a submission abstains and how often it should abstain, counting each run of a question."""

    unanswerable: int
    """the number of answers to questions without an answer"""
    right_abstentions: int
    missed_abstentions: int
    """how many of these answers abstain, and how many do not"""
    answerable: int
    """the number of answers to questions with an answer"""
    false_abstentions: int
    """how many of these answers abstain"""
    answered: int
    accuracy_of_answered: float | None
    """the number of answers that do not abstain, and their mean score; null if there are none"""
    missing_answers: int
    """the number of missing answers, which are not counted anywhere else"""


def measure_abstention(scored: Scored) -> Abstention:
    """Count the abstentions in a submission. If a question has an answer, a prediction that scores above 0 is not an
    abstention.

    Example:
        >>> from anls_metric import score
        >>> predictions = ["It is not mentioned.", "Udo", "", "Coca Cola"]
        >>> references = [["Not answerable"], ["Not answerable"], ["1988"], ["Coca Cola"]]
        >>> found = measure_abstention(score(predictions, references)["data"])
        >>> found["right_abstentions"], found["missed_abstentions"], found["false_abstentions"]
        (1, 1, 1)
        >>> found["accuracy_of_answered"]
        0.5
    """
    answers, records = scored.answers, scored.questions.table.records
    counts = {(has_answer, has_abstained): 0 for has_answer in (True, False) for has_abstained in (True, False)}
    scores, missing = [], 0
    rows = zip(scored.compared[0], list_references(answers), list_places(answers), scored.answer_scores)
    for prediction, references, place, points in rows:
        if prediction is None:
            missing += 1
            continue
        has_answer = not lacks_answer(references, records[place])
        has_abstained = not (has_answer and points > 0) and _abstains(prediction, references if has_answer else ())
        counts[has_answer, has_abstained] += 1
        if not has_abstained:
            scores.append(float(points) if has_answer else 0.0)
    return Abstention(
        unanswerable=counts[False, True] + counts[False, False],
        right_abstentions=counts[False, True],
        missed_abstentions=counts[False, False],
        answerable=counts[True, True] + counts[True, False],
        false_abstentions=counts[True, True],
        answered=len(scores),
        accuracy_of_answered=mean(scores) if scores else None,
        missing_answers=missing,
    )


def _abstains(prediction: Any, accepted: Iterable[Any]) -> bool:
    """Whether an answer abstains. A list abstains if all of its items do, and an object if it is empty."""
    if isinstance(prediction, (list, tuple)):
        return all(_abstains(item, accepted) for item in prediction)
    if isinstance(prediction, str):
        return abstains(prediction, [text for text in accepted if isinstance(text, str)])
    return prediction is None or prediction == {}


def _write_lines(values: Abstention, write: Write) -> Iterable[Line]:
    unanswerable, answered = f"{values['unanswerable']:,}", count_noun(values["answered"], "answer")
    return [
        Line(
            "abstention",
            f"right {values['right_abstentions']:,} of {unanswerable}, "
            f"missed {values['missed_abstentions']:,} of {unanswerable}, "
            f"false {values['false_abstentions']:,} of {values['answerable']:,}; {values['missing_answers']:,} missing",
        ),
        Line("", f"accuracy of the answered {write(values['accuracy_of_answered'])}, {answered}"),
    ]


_COUNTS, _RATES = (TABLE,), (TABLE, REPORT)

PART = Part(
    key="abstention",
    sentence="with `--metrics abstention`",
    find=measure_abstention,
    type=Abstention,
    order=60,
    columns=[
        Column("unanswerable", "without an answer", "answers to questions that have no answer", shown=_COUNTS),
        Column("right_abstentions", "right abstentions", "answers that abstain where there is no answer", shown=_RATES),
        Column("missed_abstentions", "missed abstentions", "answers where there is none", shown=_RATES),
        Column("answerable", "with an answer", "answers to questions that have one", shown=_COUNTS),
        Column("false_abstentions", "false abstentions", "answers that abstain where there is an answer", shown=_RATES),
        Column("answered", "answered", "answers that do not abstain", shown=_COUNTS),
        Column("accuracy_of_answered", "of answered", "mean score of the answers that do not abstain", shown=_COUNTS),
    ],
    lines=_write_lines,
)
