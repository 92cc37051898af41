"""Computes the scores at a grid of thresholds, which only a figure shows, and rejects a kind of figure whose data are
missing.
"""

from __future__ import annotations

from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.question_groups import list_grouping_fields
from anls_metric.analysis.scored import Scored, score_under
from anls_metric.core.scorer import get_scorer
from anls_metric.messages import make_error
from anls_metric.options import KEYS

THRESHOLDS = tuple(number / 20 for number in range(21))
"""The thresholds at which a figure shows scores."""

_ANOTHER = ": draw a different figure, such as {use.kind:forest}"


def score_at_thresholds(scored: Scored) -> dict[float, float]:
    """Return the score of a submission at each of the `THRESHOLDS`.

    Example:
        >>> from anls_metric import score
        >>> scored = score(["Cola", "Cool"], [["Cola"], ["Cola"]])["data"]
        >>> list(score_at_thresholds(scored).items())[9:12]
        [(0.45, 0.75), (0.5, 0.75), (0.55, 0.5)]
    """
    return {each: score_under(scored.answers, get_scorer(scored.scorer, threshold=each)) for each in THRESHOLDS}


def check_figure(result: Result, kind: str) -> None:
    """Check that a result has the data that a kind of figure needs.

    Raises:
        InputError: the result lacks the data; the message names the option that adds the data, or a kind of figure that
            can be drawn instead.
    """
    scored = result.submissions[0]
    scorer = scored.scorer
    if kind == "threshold" and "threshold" not in scorer.options:
        raise make_error("", "the threshold of {scorer} cannot be changed" + _ANOTHER, scorer=scorer.name)
    if kind == "groups" and not scored.groups.keys() - {KEYS}:
        fields = list_grouping_fields(scored)
        if fields:
            raise make_error("", "to draw a figure by group, score with {use.by:{field}}", field=fields[0])
        raise make_error("", "no field can group the questions" + _ANOTHER)
    if kind == "keys" and not scored.groups.get(KEYS):
        if scorer.has_leaves and KEYS not in scored.groups:
            raise make_error("", "a figure by key needs counts by key: score with {use.by_key}")
        raise make_error("", "the answers have no keys" + _ANOTHER)
