"""Relates scores to the confidences of a model in its answers, and to the verdicts of a judge."""

from __future__ import annotations

from typing import Any, NamedTuple

from anls_metric.analysis.confidence import ConfidenceMeasures, Step, list_steps, measure_confidence
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.verdicts import Agreement, compare_verdicts, list_differences
from anls_metric.messages import make_error
from anls_metric.reading.answers import list_ids


class Difference(NamedTuple):
    """An answer on which score and judge disagree. The fields are the keys of the JSON document."""

    id: str
    score: float
    verdict: bool


class Assessments(NamedTuple):
    """What confidences and verdicts say about the answers of a submission.

    Attributes:
        confidence: the measures of the confidences; None without any.
        steps: the points of the risk-coverage curve.
        judge: the agreement of scores and verdicts; None without any.
        differences: the answers on which score and judge disagree, the largest disagreement first.
    """

    confidence: ConfidenceMeasures | None = None
    steps: list[Step] = []  # noqa: RUF012, a tuple is never changed
    judge: Agreement | None = None
    differences: list[Difference] = []  # noqa: RUF012


def assess(scored: Scored) -> Assessments:
    """Relate scores to confidences and verdicts, if every answer has one. Questions without an answer do not count.

    Raises:
        InputError: an answer has no value in a field that the user names.
    """
    answers, ids = scored.answers, list_ids(scored.answers)
    places = [place for place, prediction in enumerate(answers.predictions) if prediction is not None]
    scores = [scored.answer_scores[place] for place in places]
    values: dict[str, list[Any]] = {}
    for role, column in {"confidence": answers.confidences, "judge": answers.verdicts}.items():
        own = [] if column is None else [column[place] for place in places]
        if own and None not in own:
            values[role] = own
        elif own and role in answers.named:
            sentence = "{count:,} of {total:,} answers have no {what}: fill them in, or leave out {use.field}"
            what = "verdict" if role == "judge" else role
            raise make_error(answers.name, sentence, count=own.count(None), total=len(own), what=what)
    confidences, verdicts = values.get("confidence"), values.get("judge")
    return Assessments(
        measure_confidence(confidences, scores) if confidences else None,
        list_steps(confidences, scores) if confidences else [],
        compare_verdicts(scores, verdicts) if verdicts else None,
        [Difference(ids[places[n]], scores[n], verdicts[n]) for n in list_differences(scores, verdicts)]
        if verdicts
        else [],
    )
