"""Finds suspected label errors: questions on which most submissions agree on an answer that is not accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.scored import Scored

MIN_SUBMISSIONS = 3
"""The minimum number of submissions, and also of submissions that must agree on an answer."""


class Suspect(NamedTuple):
    """A suspected label error. The fields are the keys of the JSON document.

    Attributes:
        id: the id of the question.
        answer: the normalized answer that most submissions give.
        submissions: the number of submissions that give this answer.
        accepted: the accepted answers.
    """

    id: str
    answer: str
    submissions: int
    accepted: list[Any]


def find_suspects(submissions: Sequence[Scored]) -> list[Suspect]:
    """Find the questions on which at least three submissions, and more than half of all, give the same answer, which
    scores less than 1.

    Returns:
        The suspects, sorted by the number of submissions that agree, with the largest first, and then by the order of
        the questions.

    Example:
        >>> from anls_metric import score
        >>> submissions = [score([answer], [["Pepsi"]])["data"] for answer in ("Cola", "COLA", "cola ", "Pepsi")]
        >>> find_suspects(submissions)
        [Suspect(id='1', answer='cola', submissions=3, accepted=['Pepsi'])]
    """
    as_text, suspects = submissions[0].scorer.as_text, []
    for question in join_questions(submissions):
        texts = []
        for scored, place, score in zip(submissions, question.places, question.scores):
            prediction = None if place is None else scored.answers.predictions[scored.representatives[place]]
            if prediction is not None and score != 1.0:
                texts.append(as_text(prediction))
        for answer, count in Counter(filter(None, texts)).most_common(1):
            if count >= MIN_SUBMISSIONS and 2 * count > len(submissions):
                suspects.append(Suspect(question.id, answer, count, list(question.references)))
    return sorted(suspects, key=lambda suspect: -suspect.submissions)
