"""ANLS*: checks, scores and explains a value."""

from __future__ import annotations

from typing import Any

from anls_metric.core.variants import Scorer
from anls_metric.nested.row_scores import RowScore
from anls_metric.nested.star_explanation import StarExplanation, build_branch, score_keys
from anls_metric.nested.tree_builder import build_trees, unwrap
from anls_metric.nested.trees import Pair, Rule


def check_value(prediction: Any, reference: Any, row: str = "") -> tuple[Any, Any]:
    """Return a value and its reference. ValueError: they cannot be scored; the message says why."""
    build_trees(prediction, reference, row)
    return prediction, reference


def score_value(prediction: Any, reference: Any, rule: Rule, row: str = "") -> RowScore:
    """The score of a value. ValueError: as `check_value`."""
    pair = _compare(prediction, reference, rule, row)
    return RowScore(pair.scores, pair.length)


def explain_value(prediction: Any, reference: Any, rule: Rule, variant: Scorer) -> StarExplanation:
    """Explain the score of a value. ValueError: as `check_value`."""
    pair = _compare(prediction, reference, rule)
    tree = build_branch(pair, rule)
    return StarExplanation(
        prediction, unwrap(reference), pair.average, pair.length, pair.closest, score_keys(pair), tree, variant
    )


def _compare(prediction: Any, reference: Any, rule: Rule, row: str = "") -> Pair:
    predicted, accepted = build_trees(prediction, reference, row)
    return accepted.compare(predicted, rule)
