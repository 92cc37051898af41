"""Finds suspected label errors: questions on which most submissions agree on an answer that is not accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.outcomes import find_normalizer
from anls_metric.analysis.questions import JoinedQuestion, join_questions
from anls_metric.analysis.scored import Scored

MIN_SUBMISSIONS = 3
"""The smallest number of submissions, and of submissions that must agree."""


class Suspect(NamedTuple):
    """A suspected label error. The fields are the keys of the JSON document.

    Attributes:
        id: the id of the question.
        answer: the answer that most submissions give, normalized.
        submissions: the number of submissions that give it.
        accepted: the accepted answers.
    """

    id: str
    answer: str
    submissions: int
    accepted: list[Any]


def find_suspects(submissions: Sequence[Scored]) -> list[Suspect]:
    """Find the questions on which at least three submissions, and more than half, give the same answer under 1.

    Returns:
        The suspects, sorted by the number of submissions, the largest first, and then by the order of the questions.

    Example:
        >>> from anls_metric import score
        >>> submissions = [score([answer], [["Pepsi"]])["data"] for answer in ("Cola", "COLA", "cola ", "Pepsi")]
        >>> find_suspects(submissions)
        [Suspect(id='1', answer='cola', submissions=3, accepted=['Pepsi'])]
    """
    found = [_find_suspect(submissions, question) for question in join_questions(submissions)]
    return sorted(filter(None, found), key=lambda suspect: -suspect.submissions)


def _find_suspect(submissions: Sequence[Scored], question: JoinedQuestion) -> Suspect | None:
    normalize = find_normalizer(submissions[0].scorer)
    texts = []
    for scored, place in zip(submissions, question.places):
        if place is not None and scored.scores[place] < 1.0:
            prediction = scored.answers.predictions[scored.representatives[place]]
            texts += [] if prediction is None else [normalize(prediction)]
    [(answer, count)] = Counter(filter(None, texts)).most_common(1) or [("", 0)]
    if count < MIN_SUBMISSIONS or 2 * count <= len(submissions):
        return None
    accepted = submissions[question.owner].questions.references[question.places[question.owner] or 0]
    return Suspect(question.id, answer, count, list(accepted))
