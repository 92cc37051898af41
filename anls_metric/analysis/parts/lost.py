"""A breakdown of the points that a score lost."""

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
    """what the score loses to the cause, or what a step gives back; the rows add up to `total`"""
    answers: int
    """the number of answers, or of values in structured answers"""
    meaning: str
    remedy: str
    """what the answers have in common, and what to do"""
    options: dict[str, str] | None
    """for a step, its options by their names in Python, with those of the steps before it"""
    anls: float | None
    """the score with these options"""
    lowered: float
    """what a step takes away from other answers, already subtracted in `points`"""


class Lost(TypedDict):
    """A breakdown of the points that a score lost."""

    total: float
    """1 minus the score"""
    rows: list[LostRow]
    """the steps, in the order in which they are applied, then the causes of the rest"""
    credit_for_wrong: dict[str, float]
    """how much of the score is credit given to wrong answers, by cause"""
    groups: dict[str, dict[str, dict[str, float]]]
    """what each group of `--by` loses to each cause, and what each key loses after the steps"""


def describe_lost(scored: Scored) -> Any:
    """Describe the account of a submission as `Lost`, with messages as meanings and remedies."""
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
