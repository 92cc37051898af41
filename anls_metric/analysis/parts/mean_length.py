"""How long the answers are."""

from __future__ import annotations

from collections.abc import Iterable

from anls_metric.analysis.part import Column, Line, Part, Write
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import mean


def measure_length(scored: Scored) -> float | None:
    """Return the mean number of characters of the answers; None without any."""
    lengths = [float(len(str(prediction))) for prediction in scored.answers.predictions if prediction is not None]
    return mean(lengths) if lengths else None


def _write_lines(value: float, write: Write) -> Iterable[Line]:
    return [Line("mean length", write(value, ".1f"))]


PART = Part(
    key="mean_length",
    sentence="with `--metrics mean_length`, the mean number of characters of the answers",
    find=measure_length,
    type=float,
    order=65,
    columns=[Column("mean_length", "mean length", "mean number of characters of the answers", ".1f")],
    cells=lambda value: {"mean_length": value},
    lines=_write_lines,
)
