"""Describes how often answers name the right pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anls_metric.analysis.part import Part
from anls_metric.analysis.parts.metrics import Mean, list_columns, make_cells, write_lines
from anls_metric.analysis.scored import Scored
from anls_metric.core.pages import PAGE_METRICS


def describe_pages(scored: Scored) -> dict[str, Any]:
    """Describe the mean of each page metric."""
    from anls_metric.analysis.pages import measure_pages

    return {
        name: {"mean": each.mean, "interval": each.interval, "label": each.label}
        for name, each in measure_pages(scored).items()
    }


PART = Part(
    key="pages",
    sentence="with `--metrics pages`, the [metrics of pages](metrics.md#pages), with the same keys",
    find=describe_pages,
    type=Mapping[str, Mean],
    order=35,
    columns=list_columns(PAGE_METRICS),
    cells=make_cells,
    lines=write_lines,
)
