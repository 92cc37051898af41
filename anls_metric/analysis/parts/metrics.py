"""Describes the values of other string metrics, such as F1, which are the rows of `core.strings.metrics.METRICS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from anls_metric.analysis.part import TABLE, Column, Line, Part, Write
from anls_metric.analysis.scored import Scored
from anls_metric.core.strings.metrics import METRICS, Metric


class Mean(TypedDict):
    """The mean of another metric."""

    mean: float
    interval: list[float] | None
    """the mean, or the rate over all texts together, and its 95% CI"""
    label: str
    """the name of the metric in tables, such as `f1 by character` for texts without spaces"""


def describe_metrics(scored: Scored) -> dict[str, Any]:
    """Describe the mean of each string metric that the user names."""
    if METRICS.keys().isdisjoint(scored.settings.metrics):
        return {}
    from anls_metric.analysis.metric_values import measure_all

    return {
        name: {"mean": each.mean, "interval": each.interval, "label": each.label}
        for name, each in measure_all(scored).items()
    }


def make_cells(metrics: Mapping[str, Mean]) -> dict[str, Any]:
    """Create the values for the columns of metrics."""
    means: dict[str, Any] = {f"metric_{name}": each["mean"] for name, each in metrics.items()}
    means |= {f"metric_{name}_label": each["label"] for name, each in metrics.items()}
    return means | {f"metric_{name}_interval": each["interval"] for name, each in metrics.items()}


def write_lines(metrics: Mapping[str, Mean], write: Write) -> Iterable[Line]:
    """Write a line for each metric."""
    return [
        Line(metric["label"], f"{write(metric['mean'])}, 95% CI {write(metric['interval'])}")
        for metric in metrics.values()
    ]


def list_columns(metrics: Mapping[str, Metric]) -> list[Column]:
    """List the columns of metrics, which are a mean and its interval for each metric."""
    return [
        column
        for name, metric in metrics.items()
        for column in (
            Column(f"metric_{name}", name.replace("_", " "), metric.meaning),
            Column(f"metric_{name}_interval", "95% CI", "confidence interval", shown=(TABLE,)),
        )
    ]


PART = Part(
    key="metrics",
    sentence="with `--metrics`, each [metric](metrics.md)",
    find=describe_metrics,
    type=Mapping[str, Mean],
    order=30,
    by_name=False,
    columns=list_columns(METRICS),
    cells=make_cells,
    lines=write_lines,
)
