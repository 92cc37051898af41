"""Relates scores to a model's confidence in its answers, and to the verdicts of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.confidence import BINS, CORRECT_AT, ConfidenceMeasures, measure_confidence
from anls_metric.analysis.leaf_confidence import LeafConfidence, measure_leaves
from anls_metric.analysis.scored import Scored
from anls_metric.messages import make_error
from anls_metric.reading.answers import Answers, list_ids


class Agreement(NamedTuple):
    """How far scores and verdicts agree. The fields are the keys of the JSON document.

    Attributes:
        agreement: the share of the answers on which both agree.
        kappa: Cohen's kappa: 1 if they always agree, 0 if they agree as often as by chance; None if both give all
            answers the same verdict.
        table: the number of answers by the verdict of the score ("correct" or "wrong"), then by that of the judge.
    """

    agreement: float
    kappa: float | None
    table: dict[str, dict[str, int]]


def compare_verdicts(scores: Sequence[float], verdicts: Sequence[bool], correct_at: float = CORRECT_AT) -> Agreement:
    """Compare scores with the verdicts of a judge.

    Args:
        scores: the score of each answer, one or more.
        verdicts: whether the judge calls each answer correct.
        correct_at: the lowest score of a correct answer.

    Example:
        >>> agreement = compare_verdicts([1.0, 0.8, 0.0, 0.0], [True, False, False, True])
        >>> agreement.agreement, agreement.kappa
        (0.5, 0.0)
        >>> agreement.table
        {'correct': {'correct': 1, 'wrong': 1}, 'wrong': {'correct': 1, 'wrong': 1}}

    Source: Cohen, "A Coefficient of Agreement for Nominal Scales", 1960.
    """
    rights = [score >= correct_at for score in scores]
    counts = Counter(zip(rights, verdicts))
    total = len(scores)
    agreed = counts[True, True] + counts[False, False]
    by_score, by_judge = sum(rights), sum(verdicts)
    chance = by_score * by_judge + (total - by_score) * (total - by_judge)  # times total ** 2
    kappa = (agreed * total - chance) / (total**2 - chance) if chance < total**2 else None
    names = {True: "correct", False: "wrong"}
    table = {names[is_right]: {names[verdict]: counts[is_right, verdict] for verdict in names} for is_right in names}
    return Agreement(agreed / total, kappa, table)


class Disagreement(NamedTuple):
    """An answer on which the score and the judge disagree. The fields are the keys of the JSON document."""

    id: str
    score: float
    verdict: bool


class Assessments(NamedTuple):
    """What confidences and verdicts say about the answers of a submission.

    Attributes:
        confidence: the measures of the confidences; None without any.
        by_key: the measures of the confidences of the leaves of nested values, by key, None for all; {} without any.
        judge: the agreement of scores and verdicts; None without any.
        differences: the answers on which score and judge disagree, the largest disagreement first.
    """

    confidence: ConfidenceMeasures | None
    judge: Agreement | None
    differences: list[Disagreement]
    by_key: Mapping[str | None, LeafConfidence] = {}


def assess(scored: Scored) -> Assessments:
    """Relate scores to confidences and verdicts, if every answer has one. Questions without an answer are left out.

    Raises:
        InputError: an answer has no value in a field that the user names.
    """
    answers = scored.answers
    places = [place for place, prediction in enumerate(answers.predictions) if prediction is not None]
    scores = [scored.answer_scores[place] for place in places]
    confidences = _take(answers, "confidence", answers.confidences, places)
    verdicts = _take(answers, "judge", answers.verdicts, places)
    by_key: Mapping[str | None, LeafConfidence] = {}
    if any(isinstance(each, (dict, list)) for each in confidences):
        by_key, confidences = _assess_keys(scored, places, confidences), []
    correct_at = 1.0 if scored.scorer.reads_json else CORRECT_AT
    ids = map(list_ids(answers).__getitem__, places)
    differences = [Disagreement(*row) for row in zip(ids, scores, verdicts) if (row[1] >= correct_at) != row[2]]
    bins = getattr(scored.scorer, "confidence_bins", None) or BINS
    return Assessments(
        measure_confidence(confidences, scores, correct_at=correct_at, most_bins=bins) if confidences else None,
        compare_verdicts(scores, verdicts, correct_at) if verdicts else None,
        sorted(differences, key=lambda each: -abs(each.score - each.verdict)),
        by_key,
    )


def _assess_keys(scored: Scored, places: Sequence[int], confidences: Sequence[Any]) -> dict[str | None, LeafConfidence]:
    """Relate the leaves of nested values to their confidences, by key. InputError: the leaves are not listed."""
    if scored.all_keys:
        return measure_leaves([scored.values[place] for place in places], confidences)
    if "confidence" in scored.answers.named:
        sentence = "confidences for individual values need counts by key: use {use.variant:anls_star} and {use.by_key}"
        raise make_error(scored.name, sentence)
    return {}


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
