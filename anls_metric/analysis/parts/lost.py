"""Describes the account of lost points for the JSON document."""

from __future__ import annotations

from typing import Any, TypedDict

from anls_metric.analysis.hint import wants_account
from anls_metric.analysis.part import Part
from anls_metric.analysis.scored import Scored


class LostRow(TypedDict):
    """A row of the account of lost points."""

    cause: str
    """the [cause](error_analysis.md#causes)"""
    points: float
    """the points that the score loses to the cause or that a step wins back, which add up to `total` over all rows"""
    answers: int
    """the number of answers, or of values in structured answers"""
    meaning: str
    remedy: str
    """what the answers have in common, and what to do"""
    options: dict[str, str] | None
    """for a step, its options and those of the steps before it, by their names in Python"""
    anls: float | None
    """the score after a step; null for other causes"""
    lowered: float
    """the points that a step takes away from other answers, already subtracted from `points`"""


class Lost(TypedDict):
    """A breakdown of the points that a score lost."""

    total: float
    """1 minus the score"""
    rows: list[LostRow]
    """the steps, in the order in which they are applied, followed by the causes of all other losses"""
    credit_for_wrong: dict[str, float]
    """how much of the score is credit given to wrong answers, by cause"""
    groups: dict[str, dict[str, dict[str, float]]]
    """the points that each group of `--by` loses to each cause, and the points that each key loses after the steps"""


def describe_lost(scored: Scored) -> Any:
    """Describe the account of a submission in the form of `Lost`, but with messages instead of strings as meanings and
    remedies.
    """
    from anls_metric.analysis.lost_points import account_for  # a quiet run does not need it

    account = account_for(scored)
    groups = {
        field: {name: account.of_group(field, name, group) for name, group in own.items() if group.places}
        for field, own in scored.groups.items()
    }
    return {
        "total": 1.0 - scored.anls,
        "rows": [row._asdict() for row in account.rows],
        "credit_for_wrong": account.credit_for_wrong,
        "groups": groups,
    }


PART = Part(
    key="lost",
    sentence="the [account of lost points](error_analysis.md); not with `--quiet`",
    find=lambda scored: describe_lost(scored) if wants_account(scored.settings) else None,
    type=Lost,
    order=15,
    by_name=False,
)
