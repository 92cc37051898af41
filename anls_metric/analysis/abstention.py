"""Counts right, missed and false abstentions: whether a model declines to answer questions with and without an
answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import mean
from anls_metric.core.strings.abstention import abstains, lacks_answer
from anls_metric.reading.answers import list_places, list_references


class Abstention(NamedTuple):
    """How often a submission abstains, and how often it should. The fields are keys of the JSON document. Each run of a
    question counts.

    Attributes:
        unanswerable: the answers to questions that have no answer.
        right_abstentions: those of them that abstain.
        missed_abstentions: those of them that do not.
        answerable: the answers to questions that have an answer.
        false_abstentions: those of them that abstain.
        answered: the answers that do not abstain, to any question.
        accuracy_of_answered: their mean score, where a missed abstention scores 0; None without any.
        missing_answers: the questions that are not in the submission; they count nowhere else.
    """

    unanswerable: int
    right_abstentions: int
    missed_abstentions: int
    answerable: int
    false_abstentions: int
    answered: int
    accuracy_of_answered: float | None
    missing_answers: int


def measure_abstention(scored: Scored) -> Abstention:
    """Measure the abstentions of a submission. If a question has an answer, a prediction that scores above 0 is no
    abstention.

    Example:
        >>> from anls_metric import score
        >>> predictions = ["It is not mentioned.", "Udo", "", "Coca Cola"]
        >>> references = [["Not answerable"], ["Not answerable"], ["1988"], ["Coca Cola"]]
        >>> found = measure_abstention(score(predictions, references)["data"])
        >>> found.right_abstentions, found.missed_abstentions, found.false_abstentions, found.accuracy_of_answered
        (1, 1, 1, 0.5)
    """
    answers, records = scored.answers, scored.questions.table.records
    counts = {(has_answer, has_abstained): 0 for has_answer in (True, False) for has_abstained in (True, False)}
    scores, missing = [], 0
    predictions = answers.predictions
    if answers.columns is not None:  # there, the answers of a list are one string
        pairs = zip(predictions, answers.columns)
        predictions = [None if each is None else row["prediction"] for each, row in pairs]
    rows = zip(predictions, list_references(answers), list_places(answers), scored.answer_scores)
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
    """Whether an answer abstains. A list does if all its items do, and any other value if it is empty."""
    if isinstance(prediction, (list, tuple)):
        return all(_abstains(item, accepted) for item in prediction)
    if isinstance(prediction, str):
        return abstains(prediction, [text for text in accepted if isinstance(text, str)])
    return prediction is None or prediction == {}
