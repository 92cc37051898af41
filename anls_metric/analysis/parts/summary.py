"""The figures that a benchmark's script computes for a set of questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anls_metric.analysis.part import Line, Part, Write


def _write_lines(figures: Mapping[str, Any], write: Write) -> Iterable[Line]:
    """Write the figures, except those for groups."""
    texts = [
        f"{name} {value if isinstance(value, int) else write(value)}"
        for name, value in figures.items()
        if not isinstance(value, dict)
    ]
    return [Line("" if place else "summary", text) for place, text in enumerate(texts)]


PART = Part(
    key="summary",
    sentence="of a [benchmark metric](benchmark_metrics.md), the results of the benchmark's script",
    find=lambda scored: scored.summary,
    type=Mapping[str, Any],
    order=10,
    by_name=False,
    lines=_write_lines,
)
