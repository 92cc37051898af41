"""The axis for differences from the baseline, and the drawing of differences in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.report import schema

MOST_WIDTHS = 5
"""An axis is at most so many times as wide as the median interval, on each side of zero."""


def find_reach(pair: schema.Comparison) -> tuple[float, float]:
    """Return the two ends of a comparison's interval or, if it has none, the difference twice."""
    low, high = pair["interval"] or (pair["difference"], pair["difference"])
    return low, high


def find_limits(pairs: Sequence[schema.Comparison]) -> tuple[float, float]:
    """Find the ends of the axis, which always includes zero. Differences that would squeeze all others are left
    outside.

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


def draw_difference(pair: schema.Comparison | None, limits: tuple[float, float], length: int) -> str:
    """Draw a comparison in characters: "o" with its interval, "|" for zero, and "<" or ">" for what is outside the
    axis.

    Example:
        >>> pair = {"difference": -0.02, "interval": (-0.03, -0.01)}
        >>> draw_difference(pair, (-0.04, 0.02), 13), draw_difference(None, (-0.04, 0.02), 13)
        ('  --o-- |', '        |')
        >>> draw_difference({"difference": 0.5, "interval": None}, (-0.04, 0.02), 13)
        '        |   >'
    """
    low, high = limits
    unit, cells = (high - low) / (length - 1) or 1.0, [" "] * length

    def locate(value: float) -> int:
        return round((min(max(value, low), high) - low) / unit)

    if pair is not None:
        start, end = map(locate, find_reach(pair))
        cells[start : end + 1] = "-" * (end + 1 - start)
    cells[locate(0.0)] = "|"
    if pair is not None:
        value = pair["difference"]
        cells[locate(value)] = "<" if value < low else ">" if value > high else "o"
    return "".join(cells).rstrip()
