"""Numbers as SVG: intervals, bars, curves, distributions. Positions are percentages, so a chart fits any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from anls_metric.core.explanation import format_number
from anls_metric.report.html_parts import escape

COLOURS = 8
"""The number of colours for submissions. More submissions repeat them."""


class Part(NamedTuple):
    """A part of a stacked bar.

    Attributes:
        name: what the part shows, for its tooltip.
        size: a count.
        style: the CSS class with the colour.
    """

    name: str
    size: int
    style: str


class Line(NamedTuple):
    """A curve.

    Attributes:
        name: what the curve shows, for its tooltip.
        colour: the number of the colour.
        points: (x, y) from left to right, all from 0 to 1.
    """

    name: str
    colour: int
    points: Sequence[tuple[float, float]]


class Scale(NamedTuple):
    """The ends of an axis, in whole tenths."""

    low: float
    high: float

    def locate(self, value: float) -> str:
        """The horizontal position of a value, as a percentage that leaves room for a dot at both ends."""
        return f"{3 + 94 * (min(max(value, self.low), self.high) - self.low) / (self.high - self.low):.2f}%"


def choose_scale(values: Sequence[float]) -> Scale:
    """The axis for one or more values: from a tenth to another, at least 0.2 long.

    Example:
        >>> choose_scale([0.8942, 0.9229])
        Scale(low=0.8, high=1.0)
    """
    low, high = math.floor(min(values) * 10), math.ceil(max(values) * 10)
    low = max(0, min(low, high - 2))
    return Scale(low / 10, max(high, low + 2) / 10)


def draw_interval(value: float, interval: Sequence[float] | None, scale: Scale, colour: int) -> str:
    """A dot on an axis, and a line for the interval from low to high, if there is one."""
    label = f"{value:.4f}" + (f", 95 % interval {interval[0]:.4f} to {interval[1]:.4f}" if interval else "")
    line = ""
    if interval:
        ends = [scale.locate(end) for end in interval]
        line = f'<line class="reach" x1="{ends[0]}" x2="{ends[1]}" y1="12" y2="12"/>'
    return (
        f'<svg class="whiskers s{colour % COLOURS}" height="24" width="100%" role="img" aria-label="{label}">'
        f'<line class="axis" x1="3%" x2="97%" y1="12" y2="12"/>{line}'
        f'<circle cx="{scale.locate(value)}" cy="12" r="5"/></svg>'
    )


def draw_stack(parts: Sequence[Part], height: int = 14) -> str:
    """A bar that is divided into parts; each part is as wide as its share."""
    total = sum(part.size for part in parts) or 1
    label = ", ".join(f"{part.name} {part.size:,}" for part in parts if part.size)
    shapes, before = "", 0
    for part in parts:
        if part.size:
            shapes += (
                f'<rect class="{part.style}" x="{100 * before / total:.3f}%" width="{100 * part.size / total:.3f}%" '
                f'height="{height}"><title>{escape(part.name)}: {part.size:,} of {total:,} '
                f"({100 * part.size / total:.1f} %)</title></rect>"
            )
        before += part.size
    return f'<svg class="stacked" height="{height}" width="100%" role="img" aria-label="{escape(label)}">{shapes}</svg>'


def draw_bar(value: float, colour: int) -> str:
    """A number from 0 to 1 as a thin bar. Screen readers skip it, because the number stands beside it."""
    width = 100 * min(max(value, 0.0), 1.0)
    return (
        f'<svg class="bar s{colour % COLOURS}" height="4" width="100%" aria-hidden="true">'
        f'<rect class="track" width="100%" height="4"/><rect width="{width:.2f}%" height="4"/></svg>'
    )


_TICKS = (0, 0.25, 0.5, 0.75, 1)
_LEFT, _TOP, _WIDE, _HIGH = 7, 4, 91, 84  # the area of the curves, in percent of the drawing


def draw_curves(lines: Sequence[Line], mark: float, label: str) -> str:
    """Curves over an axis from 0 to 1, with a vertical line at `mark`. `label` describes them to screen readers."""
    scale = choose_scale([height for line in lines for _, height in line.points])
    grid = "".join(
        f'<line class="grid" x1="{_LEFT}%" x2="{_LEFT + _WIDE}%" y1="{_locate_y(tick)}" y2="{_locate_y(tick)}"/>'
        f'<text x="{_LEFT - 1}%" y="{_locate_y(tick)}" dy=".35em" text-anchor="end">'
        f"{format_number(scale.low + tick * (scale.high - scale.low), 3)}</text>"
        f'<text x="{_locate_x(tick)}" y="{_TOP + _HIGH + 7}%" text-anchor="middle">{format_number(tick)}</text>'
        for tick in _TICKS
    )
    paths = "".join(
        f'<path class="s{line.colour % COLOURS}" d="{_draw_path(line.points, scale)}">'
        f"<title>{escape(line.name)}</title></path>"
        for line in reversed(lines)
    )
    return (
        f'<svg class="curves" height="280" width="100%" role="img" aria-label="{escape(label, 2000)}">{grid}'
        f'<line class="mark" x1="{_locate_x(mark)}" x2="{_locate_x(mark)}" y1="{_TOP}%" y2="{_TOP + _HIGH}%"/>'
        f'<svg x="{_LEFT}%" y="{_TOP}%" width="{_WIDE}%" height="{_HIGH}%" viewBox="0 0 100 100" '
        f'preserveAspectRatio="none" overflow="visible">{paths}</svg></svg>'
    )


def _locate_x(value: float) -> str:
    return f"{_LEFT + _WIDE * value:.2f}%"


def _locate_y(value: float) -> str:
    return f"{_TOP + _HIGH * (1 - value):.2f}%"


def _draw_path(points: Sequence[tuple[float, float]], scale: Scale) -> str:
    return "M" + "L".join(f"{100 * x:g} {100 * (scale.high - y) / (scale.high - scale.low):.2f}" for x, y in points)


def draw_distribution(counts: Sequence[int], least: float, colour: int, label: str) -> str:
    """A histogram from 0 to 1 with bins of equal width; bins below `least` are drawn as outlines."""
    most, width = max([*counts, 1]), 100 / len(counts)
    bars = "".join(
        f'<rect class="{"under" if (place + 0.5) / len(counts) < least else "over"}" '
        f'x="{place * width + 0.4:.2f}%" width="{width - 0.8:.2f}%" y="{92 - 90 * count / most:.2f}%" '
        f'height="{90 * count / most:.2f}%"><title>{place / len(counts):.2f} to {(place + 1) / len(counts):.2f}: '
        f"{count:,}</title></rect>"
        for place, count in enumerate(counts)
        if count
    )
    return (
        f'<svg class="distribution s{colour % COLOURS}" height="90" width="100%" role="img" '
        f'aria-label="{escape(label)}">{bars}<line class="grid" x1="0" x2="100%" y1="92%" y2="92%"/>'
        f'<line class="mark" x1="{100 * least:.2f}%" x2="{100 * least:.2f}%" y1="0" y2="100%"/></svg>'
    )
