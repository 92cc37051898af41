"""Draws docs/speed.png, the time for one answer with each library: ``python benchmarks/plot.py`` (needs matplotlib).

The figures come from python3.11.json: workload W2, like DocVQA, measured side by side in one run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "python3.11.json"
WHAT, WORKLOAD, OURS = "anls_scores", "W2", "anls.py"


def costs(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return the microseconds per answer by library, the fastest first."""
    rows = [row for row in figures["rows"] if (row["what"], row["workload"]) == (WHAT, WORKLOAD)]
    by_library = {OURS: min(row["ours_us"] for row in rows), **{row["peer"]: row["peer_us"] for row in rows}}
    return dict(sorted(by_library.items(), key=lambda item: item[1]))


def draw(cost_of: Mapping[str, float]) -> Figure:
    """Draw a dot for each library on a logarithmic scale, on which bars have no zero."""
    figure = Figure(figsize=(8, 0.42 * len(cost_of) + 0.9), dpi=110, layout="constrained")
    axes = figure.subplots()
    for name, cost in cost_of.items():
        colour = "#2563eb" if name == OURS else "#57534e"
        axes.plot(cost, name, "o", color=colour, markersize=9)
        axes.annotate(f"{cost:,.3g} µs", (cost, name), (9, 0), textcoords="offset points", va="center", color=colour)
    axes.grid(axis="both", color="#e7e5e4")
    axes.set_axisbelow(True)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(min(cost_of.values()) / 2, 4 * max(cost_of.values()))
    axes.set_xlabel("microseconds per answer (logarithmic)")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="both", length=0)
    return figure


if __name__ == "__main__":
    draw(costs(json.loads(FIGURES.read_text()))).savefig(HERE.parent / "docs" / "speed.png")
