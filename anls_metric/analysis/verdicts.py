"""Measures how well scores agree with the verdicts of a judge, a person or a model, on the same answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from anls_metric.analysis.confidence import CORRECT_AT


class Agreement(NamedTuple):
    """The agreement of scores and verdicts. The fields are the keys of the JSON document.

    Attributes:
        agreement: the share of the answers on which both agree.
        kappa: Cohen's kappa: 1 if they always agree, 0 if they agree as often as by chance; None if both give all
            answers the same verdict.
        table: the number of answers by the verdict of the score ("correct" or "wrong"), then by that of the judge.
    """

    agreement: float
    kappa: float | None
    table: dict[str, dict[str, int]]


def compare_verdicts(scores: Sequence[float], verdicts: Sequence[bool]) -> Agreement:
    """Compare scores with the verdicts of a judge.

    Args:
        scores: the score of each answer, one or more.
        verdicts: whether the judge calls each answer correct.

    Example:
        >>> agreement = compare_verdicts([1.0, 0.8, 0.0, 0.0], [True, False, False, True])
        >>> agreement.agreement, agreement.kappa
        (0.5, 0.0)
        >>> agreement.table
        {'correct': {'correct': 1, 'wrong': 1}, 'wrong': {'correct': 1, 'wrong': 1}}

    Source: Cohen, "A Coefficient of Agreement for Nominal Scales", 1960.
    """
    rights = [score >= CORRECT_AT for score in scores]
    counts = Counter(zip(rights, verdicts))
    total = len(scores)
    agreed = counts[True, True] + counts[False, False]
    by_score, by_judge = sum(rights), sum(verdicts)
    chance = by_score * by_judge + (total - by_score) * (total - by_judge)  # times total ** 2
    kappa = (agreed * total - chance) / (total**2 - chance) if chance < total**2 else None
    names = {True: "correct", False: "wrong"}
    table = {names[is_right]: {names[verdict]: counts[is_right, verdict] for verdict in names} for is_right in names}
    return Agreement(agreed / total, kappa, table)
