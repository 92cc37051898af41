"""Finds the similarity from which an answer scores."""

from __future__ import annotations

from anls_metric.core.strings.kernel import LIMITS
from anls_metric.core.strings.variants import Variant


def get_minimum_similarity(variant: Variant) -> float:
    """Return the similarity above which an answer scores. The variant decides whether equality is enough."""
    low, high = LIMITS[variant.kept](variant.threshold)
    return max(low, 1 - high)
