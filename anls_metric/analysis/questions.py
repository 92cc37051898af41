"""Joins submissions by question: every question with the answer of each submission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anls_metric.analysis.scored import ScoredRow, ScoredSet
from anls_metric.reading.batch import Row


class Question(NamedTuple):
    """A question with the answer of each submission.

    Attributes:
        id: the id of the question.
        row: the row of the first submission that has the question.
        answers: the answer of each submission, None for a submission without the question.
    """

    id: str
    row: Row
    answers: Sequence[ScoredRow | None]

    @property
    def needs_a_look(self) -> bool:
        """Whether a submission scores 0 on this question, or two submissions have different scores."""
        scores = [answer.score for answer in self.answers if answer]
        return 0.0 in scores or len(set(scores)) > 1 or None in self.answers


def join_questions(scored_sets: Sequence[ScoredSet]) -> list[Question]:
    """Join the questions of several sets by id.

    Args:
        scored_sets: sets that keep their rows.

    Returns:
        Every question: those of the first set in its order, then those that only the others have.

    Example:
        >>> sets = [ScoredSet(keep=True), ScoredSet(keep=True)]
        >>> scored = [sets[0].add([Row("7", "a", ["a"], {})]), sets[1].add([Row("7", "b", ["a"], {})])]
        >>> [(question.id, question.needs_a_look) for question in join_questions(sets)]
        [('7', True)]
    """
    by_id = [{scored.row.id: scored for scored in scored_set.rows} for scored_set in scored_sets]
    ids = dict.fromkeys(key for answers in by_id for key in answers)
    rows = {key: scored.row for answers in reversed(by_id) for key, scored in answers.items()}
    return [Question(key, rows[key], [answers.get(key) for answers in by_id]) for key in ids]
