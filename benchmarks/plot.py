"""Draws docs/speed.png, the time for one answer with each library: ``python benchmarks/plot.py`` (needs matplotlib).

The figures come from results.json: workload W2, like DocVQA, measured side by side in one run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "results.json"
OURS = "this package"


def costs(figures: Mapping[str, Any]) -> dict[str, float]:
    """Return the microseconds per answer by library, the fastest first."""
    wanted = {"ours": "anls_scores", "workload": "W2", "rows": 5_000}
    rows = [row for row in figures["rows"] if wanted.items() <= row.items()]
    by_library = {OURS: min(row["our_time"] for row in rows), **{row["other"]: row["their_time"] for row in rows}}
    return dict(sorted(by_library.items(), key=lambda item: item[1]))


def draw(cost_of: Mapping[str, float]) -> Figure:
    """Draw a bar for each library, with its time, and how many times as long it takes."""
    figure = Figure(figsize=(8, 0.42 * len(cost_of) + 0.9), dpi=110, layout="constrained")
    axes = figure.subplots()
    for name, cost in cost_of.items():
        color = "#2563eb" if name == OURS else "#a8a29e"
        axes.barh(name, cost, color=color, height=0.62)
        ratio = cost / cost_of[OURS]
        label = f"{cost:,.3g} µs" + ("" if name == OURS else f", {ratio:,.{int(ratio < 10)}f} times as long")
        axes.annotate(label, (cost, name), (6, 0), textcoords="offset points", va="center", color="#1c1917")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.6 * max(cost_of.values()))
    axes.set_xlabel("microseconds per answer")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    draw(costs(json.loads(FIGURES.read_text()))).savefig(HERE.parent / "docs" / "speed.png")
