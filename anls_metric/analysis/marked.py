"""Computes the data with which a report updates scores when a reader marks an answer as accepted or leaves out a
question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import mean

Accepted = dict[int, dict[int, dict[int, float]]]
"""The new score of each submission whose score changes if an answer is also accepted, keyed by the number of the
question, the number of the first submission that gave the answer, and the number of the rescored submission.
"""


def score_accepted(submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]) -> Accepted:
    """Score the answers to each question as if one submission's answer were an additional reference.

    If a reader accepts several answers, the highest of their scores counts, as with references. For answers that are
    not strings, the result is {}.
    """
    scorer = submissions[0].scorer
    if scorer.form != "text":
        return {}
    asked: list[tuple[int, int, int, int]] = []
    predictions: list[Any] = []
    references: list[list[Any]] = []
    for number, question in enumerate(questions):
        for text, place in _list_candidates(submissions, question).items():
            for other, scored in enumerate(submissions):
                own = question.places[other]
                if own is None or scored.scores[own] == 1.0:
                    continue
                for answer in scored.runs[own]:
                    if scored.answers.predictions[answer] is not None and scored.answer_scores[answer] < 1.0:
                        asked.append((number, place, other, answer))
                        predictions.append(scored.answers.predictions[answer])
                        references.append([*scored.questions.references[own], text])
    values = scorer.score_checked(predictions, references, str)
    return _average(submissions, questions, {key: float(value) for key, value in zip(asked, values)})


def _list_candidates(submissions: Sequence[Scored], question: JoinedQuestion) -> dict[str, int]:
    """List the answers that can be accepted, each with the number of the first submission that gave it."""
    found: dict[str, int] = {}
    for number, (scored, place) in enumerate(zip(submissions, question.places)):
        if place is not None and scored.scores[place] < 1.0:
            text = scored.answers.predictions[scored.representatives[place]]
            if text is not None and text.strip():
                found.setdefault(text, number)
    return found


def _average(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], values: dict[tuple[int, int, int, int], float]
) -> Accepted:
    """Average the runs of each question, and keep only the scores that change."""
    found: Accepted = {}
    for number, place, other in dict.fromkeys(key[:3] for key in values):
        scored, own = submissions[other], questions[number].places[other]
        if own is None:
            continue
        run = scored.runs[own]
        scores = [values.get((number, place, other, answer), scored.answer_scores[answer]) for answer in run]
        score = mean(scores) if len(run) > 1 else scores[0]
        if score != scored.scores[own]:
            found.setdefault(number, {}).setdefault(place, {})[other] = score
    return found


def sum_unseen(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]
) -> list[tuple[int, float, float] | None]:
    """For each submission, sum up the scores of the questions that a report leaves out.

    Returns:
        For each submission, the number of questions left out, and two floats that add up to the exact sum of their
        scores. None for a submission whose score is not the mean over all questions.
    """
    found: list[tuple[int, float, float] | None] = []
    for number, scored in enumerate(submissions):
        seen = {question.places[number] for question in questions}
        rest = [score for place, score in enumerate(scored.scores) if place not in seen]
        total = math.fsum(rest)
        is_mean = mean(scored.scores) == scored.anls
        found.append((len(rest), total, math.fsum([*rest, -total])) if is_mean else None)
    return found
