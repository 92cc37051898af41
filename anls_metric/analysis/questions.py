"""Joins submissions by question, so that each question comes with its position and score in every submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.scored import Scored
from anls_metric.reading.answers import Record


class JoinedQuestion(NamedTuple):
    """A question that several submissions may have. Its contents come from the first submission that has it.

    Attributes:
        id: the id.
        text: the text; None if there is none.
        references: the accepted answers.
        record: the record.
        places: the position of the question in each submission; None for a submission that lacks the question.
        scores: the score of each submission on the question; None for a submission that lacks the question.
    """

    id: str
    text: str | None
    references: Sequence[Any]
    record: Record
    places: list[int | None]
    scores: list[float | None]

    @property
    def needs_a_look(self) -> bool:
        """Whether any submission scores 0 on the question or lacks it, or any two submissions have different scores."""
        return 0.0 in self.scores or len(set(self.scores)) > 1


def join_questions(submissions: Sequence[Scored]) -> list[JoinedQuestion]:
    """Join the questions of submissions by id.

    Returns:
        All questions: first those of the first submission in its order, then those that only other submissions have.
    """
    joined: dict[str, JoinedQuestion] = {}
    for number, scored in enumerate(submissions):
        own = scored.questions
        for place, said in enumerate(zip(own.ids, own.texts, own.references, own.table.records)):
            nothing = [None] * len(submissions)
            question = joined.setdefault(own.ids[place], JoinedQuestion(*said, [*nothing], [*nothing]))
            question.places[number], question.scores[number] = place, scored.scores[place]
    return list(joined.values())
