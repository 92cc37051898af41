"""Relates scores to the confidences of a model in its answers, and to the verdicts of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.confidence import CORRECT_AT, ConfidenceMeasures, measure_confidence
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.verdicts import Agreement, compare_verdicts
from anls_metric.messages import make_error
from anls_metric.reading.answers import Answers, list_ids


class Difference(NamedTuple):
    """An answer on which score and judge disagree. The fields are the keys of the JSON document."""

    id: str
    score: float
    verdict: bool


class Assessments(NamedTuple):
    """What confidences and verdicts say about the answers of a submission.

    Attributes:
        confidence: the measures of the confidences; None without any.
        judge: the agreement of scores and verdicts; None without any.
        differences: the answers on which score and judge disagree, the largest disagreement first.
    """

    confidence: ConfidenceMeasures | None
    judge: Agreement | None
    differences: list[Difference]


def assess(scored: Scored) -> Assessments:
    """Relate scores to confidences and verdicts, if every answer has one. Questions without an answer do not count.

    Raises:
        InputError: an answer has no value in a field that the user names.
    """
    answers = scored.answers
    places = [place for place, prediction in enumerate(answers.predictions) if prediction is not None]
    scores = [scored.answer_scores[place] for place in places]
    confidences = _take(answers, "confidence", answers.confidences, places)
    verdicts = _take(answers, "judge", answers.verdicts, places)
    ids = map(list_ids(answers).__getitem__, places)
    differences = [Difference(*row) for row in zip(ids, scores, verdicts) if (row[1] >= CORRECT_AT) != row[2]]
    return Assessments(
        measure_confidence(confidences, scores) if confidences else None,
        compare_verdicts(scores, verdicts) if verdicts else None,
        sorted(differences, key=lambda each: -abs(each.score - each.verdict)),
    )


def _take(answers: Answers, role: str, column: Sequence[Any] | None, places: Sequence[int]) -> list[Any]:
    """Take the values of a role for some answers; [] if some have none."""
    values = [column[place] for place in places] if column else []
    if None not in values:
        return values
    if role in answers.named:
        sentence = "{count:,} of {total:,} answers have no {what}: fill them in, or leave out {use.field}"
        what = "verdict" if role == "judge" else role
        raise make_error(answers.name, sentence, count=values.count(None), total=len(values), what=what)
    return []
