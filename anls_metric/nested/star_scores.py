"""ANLS*: checks, scores and explains rows of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anls_metric.core.variants import RowName
from anls_metric.nested.row_scores import RowScore
from anls_metric.nested.star_explanation import StarExplanation, build_branch, score_keys
from anls_metric.nested.tree_builder import build_trees, unwrap
from anls_metric.nested.trees import Pair, Rule

if TYPE_CHECKING:
    from anls_metric.nested.value_variants import ValueVariant


def check_values(predictions: list[Any], references: list[Any], row_name: RowName) -> tuple[list[Any], list[Any]]:
    """Check both columns, and return them unchanged. ValueError: a row cannot be scored; the message says why."""
    for row, (prediction, reference) in enumerate(zip(predictions, references)):
        build_trees(prediction, reference, row_name(row))
    return predictions, references


def compare_values(prediction: Any, reference: Any, rule: Rule, row: str = "") -> Pair:
    """Compare a value with its reference. ValueError: as `check_values`."""
    predicted, accepted = build_trees(prediction, reference, row)
    return accepted.compare(predicted, rule)


def score_values(
    predictions: list[Any], references: list[Any], variant: ValueVariant, row_name: RowName
) -> list[RowScore]:
    """The score of each row. ValueError: as `check_values`."""
    rule, rows = variant.rule, []
    for row, (prediction, reference) in enumerate(zip(predictions, references)):
        pair = compare_values(prediction, reference, rule, row_name(row))
        rows.append(RowScore(pair.scores, pair.length))
    return rows


def explain_value(prediction: Any, reference: Any, variant: ValueVariant) -> StarExplanation:
    """Explain the score of a value. ValueError: as `check_values`."""
    pair = compare_values(prediction, reference, variant.rule)
    tree = build_branch(pair, variant.rule)
    return StarExplanation(
        prediction, unwrap(reference), pair.average, pair.length, pair.closest, score_keys(pair), tree, variant
    )
