"""Finds questions with suspect accepted answers: most submissions agree on an answer that is not accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.questions import Question

FEWEST = 3
"""The smallest number of submissions, and of submissions that must agree."""


class Suspect(NamedTuple):
    """A question whose accepted answers are suspect. The fields are the keys of the JSON document.

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


def find_suspects(questions: Sequence[Question], normalize: Callable[[Any], str]) -> list[Suspect]:
    """Find the questions on which at least three submissions, and more than half, give the same answer under 1.

    Args:
        questions: the questions with the answer of each submission: see `questions.join_questions`.
        normalize: normalizes an answer, as `outcomes.Judge.normalize` does.

    Returns:
        The suspects, sorted by the number of submissions, the largest first, and then by the order of the questions.

    Example:
        >>> from anls_metric.analysis.questions import join_questions
        >>> from anls_metric.analysis.scored import ScoredSet
        >>> from anls_metric.reading.batch import Row
        >>> sets = [ScoredSet(keep=True) for _ in range(4)]
        >>> for scored_set, answer in zip(sets, ["Cola", "COLA", "cola ", "Pepsi"]):
        ...     _ = scored_set.add([Row("7", answer, ["Pepsi"], {})])
        >>> find_suspects(join_questions(sets), str.lower)
        []
        >>> find_suspects(join_questions(sets), lambda text: text.lower().strip())
        [Suspect(id='7', answer='cola', submissions=3, accepted=['Pepsi'])]
    """
    suspects = list(filter(None, (_suspect(question, normalize) for question in questions)))
    return sorted(suspects, key=lambda suspect: -suspect.submissions)


def _suspect(question: Question, normalize: Callable[[Any], str]) -> Suspect | None:
    wrong = [each.row.prediction for each in question.answers if each and each.score < 1.0]
    texts = [normalize(prediction) for prediction in wrong if prediction is not None]
    [(answer, count)] = Counter(filter(None, texts)).most_common(1) or [("", 0)]
    if count < FEWEST or 2 * count <= len(question.answers):
        return None
    return Suspect(question.id, answer, count, list(question.row.references))
