"""Computes the limits of the axis for differences from the baseline."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.report import schema

MOST_WIDTHS = 5
"""The distance from zero up to which differences are always shown, as a multiple of the median interval width."""


def find_reach(pair: schema.Comparison) -> tuple[float, float]:
    """Return the two ends of a comparison's interval, or the difference twice if there is no interval."""
    low, high = pair["interval"] or (pair["difference"], pair["difference"])
    return low, high


def find_limits(pairs: Sequence[schema.Comparison]) -> tuple[float, float]:
    """Find the ends of the axis, which always includes zero but leaves out differences that would squeeze all others.

    Example:
        >>> differences = (-0.02, 0.01, 0.03, -0.8)
        >>> pairs = [{"difference": each, "interval": (each - 0.02, each + 0.02)} for each in differences]
        >>> [round(end, 3) for end in find_limits(pairs)]
        [-0.045, 0.055]
    """
    reaches = list(map(find_reach, pairs))
    widths = sorted(high - low for low, high in reaches)
    far = [max(abs(low), abs(high)) for low, high in reaches]
    limit = max(MOST_WIDTHS * widths[len(widths) // 2], min(far))
    shown = [0.0, *(end for reach, distance in zip(reaches, far) if distance <= limit for end in reach)]
    margin = 0.06 * (max(shown) - min(shown)) or 0.01
    return min(shown) - margin, max(shown) + margin
