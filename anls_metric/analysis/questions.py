"""Joins submissions by question: every question with its place and its score in each submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.scored import Scored
from anls_metric.reading.answers import Record


class JoinedQuestion(NamedTuple):
    """A question of several submissions. What it says is from the first submission that has it.

    Attributes:
        id: the id.
        text: the text; None for none.
        references: the accepted answers.
        record: the record.
        places: its place in each submission; None for a submission without it.
        scores: the score of each submission on it, likewise.
    """

    id: str
    text: str | None
    references: Sequence[Any]
    record: Record
    places: Sequence[int | None]
    scores: Sequence[float | None]

    @property
    def needs_a_look(self) -> bool:
        """Whether a submission scores 0 on it, two submissions have different scores, or one lacks it."""
        return None in self.scores or 0.0 in self.scores or len(set(self.scores)) > 1


def join_questions(submissions: Sequence[Scored]) -> list[JoinedQuestion]:
    """Join the questions of submissions by id.

    Returns:
        Every question: those of the first submission in its order, then those that only the others have.
    """
    by_id = [dict(zip(each.questions.ids, range(len(each.scores)))) for each in submissions]
    joined = []
    for key in dict.fromkeys(key for own in by_id for key in own):
        places = [own.get(key) for own in by_id]
        pairs = list(zip(submissions, places))
        scores = [None if place is None else each.scores[place] for each, place in pairs]
        first, place = next((each.questions, place) for each, place in pairs if place is not None)
        said = first.texts[place], first.references[place], first.records[place]
        joined.append(JoinedQuestion(key, *said, places, scores))
    return joined
