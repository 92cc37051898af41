"""Joins submissions by question: every question with its place in each submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.scored import Scored


class JoinedQuestion(NamedTuple):
    """A question of several submissions.

    Attributes:
        id: the id.
        places: its place in each submission; None for a submission without it.
    """

    id: str
    places: tuple[int | None, ...]

    @property
    def owner(self) -> int:
        """The number of the first submission that has it."""
        return next(number for number, place in enumerate(self.places) if place is not None)


def join_questions(submissions: Sequence[Scored]) -> list[JoinedQuestion]:
    """Join the questions of submissions by id.

    Returns:
        Every question: those of the first submission in its order, then those that only the others have.
    """
    by_id = [dict(zip(each.questions.ids, range(len(each.scores)))) for each in submissions]
    ids = dict.fromkeys(key for own in by_id for key in own)
    return [JoinedQuestion(key, tuple(own.get(key) for own in by_id)) for key in ids]


def get_record(submissions: Sequence[Scored], question: JoinedQuestion) -> Any:
    """Get the record of a question, from the first submission that has it."""
    return submissions[question.owner].questions.records[question.places[question.owner] or 0]


def get_scores(submissions: Sequence[Scored], question: JoinedQuestion) -> list[float | None]:
    """Get the score of each submission on a question; None for a submission without it."""
    return [None if place is None else each.scores[place] for each, place in zip(submissions, question.places)]


def needs_a_look(scores: Sequence[float | None]) -> bool:
    """Whether a submission scores 0 on a question, two submissions have different scores, or one lacks it."""
    return None in scores or 0.0 in scores or len(set(scores)) > 1
