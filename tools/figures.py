"""Draw the figures of README and docs: ``python tools/figures.py`` (needs matplotlib).

Each is an SVG file in docs/ whose description holds the numbers that it shows. A test compares them with those of now:
if it fails, draw the figures again, and look at what changed before you commit it.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from anls_metric import compare
from anls_metric.report.figures import COLORS, STYLE, WIDTH
from anls_metric.report.schema import FigureKind
from docs import ROOT, SIX_IMPLEMENTATIONS, load

DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples" / "compare"
OURS = "this package"
_LENGTH = re.compile(r"[\d.]+(?=pt\")")


def draw_models(kind: FigureKind, *names: str, **options: Any) -> Axes:
    """Draw a kind of figure of the models in examples/compare."""
    files = {name: EXAMPLES / f"{name}.json" for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # hints
        return compare(files, EXAMPLES / "gold.json", **options).plot(kind)


def make_axes(height: float, width: float = WIDTH) -> Axes:
    """Make the axes of a figure of its own."""
    axes: Axes = Figure((width, height), layout="constrained").add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def draw_six_scores() -> Axes:
    """Draw a slope from model to model for each of six variants: dashed where the order is reversed."""
    axes, scores = make_axes(3.4), load("nine_models.json")["scores"]
    for name in SIX_IMPLEMENTATIONS:
        pair = [scores["llama maverick"][name], scores["nemotron"][name]]
        style: dict[str, Any] = {"color": COLORS[0]} if pair[0] < pair[1] else {"color": COLORS[1], "linestyle": "--"}
        axes.plot([0, 1], pair, marker="o", **style)
        label = f"{name} {pair[0]:.2f} → {pair[1]:.2f}"
        axes.annotate(label, (1.07, pair[1]), fontsize="small", va="center")
    axes.set_xlim(-0.4, 2.4)
    axes.set_xticks([0, 1], ["Llama 4\nMaverick", "Nemotron\nNano 12B"], fontsize="small")
    axes.set_ylabel("ANLS in percent")
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    return axes


def draw_training() -> Axes:
    """Draw the scores of each evaluation in the tutorial on fine-tuning."""
    axes, evaluations = make_axes(2.2), load("fine_tuning.json")["evaluations"]
    for name, color, mark in zip(("teacher_forcing", "generated"), COLORS, "so"):
        steps, scores = zip(*((each["step"], 100 * each[name]) for each in evaluations))
        axes.plot(steps, scores, color=color, marker=mark, label=name.replace("_", " "))
    axes.set_xlabel("training step")
    axes.set_ylabel("ANLS in percent")
    axes.legend(frameon=False, loc="lower right")
    return axes


def draw_speed() -> Axes:
    """Draw a bar for each library: its time for one answer like those of DocVQA, and how many times ours it is."""
    wanted = {"ours": "anls_scores", "workload": "W2", "rows": 5_000}
    rows = [row for row in load("results.json")["rows"] if wanted.items() <= row.items()]
    costs = {OURS: min(row["our_time"] for row in rows), **{row["other"]: row["their_time"] for row in rows}}
    axes = make_axes(0.24 * len(costs) + 0.5, 2 * WIDTH)
    for name, cost in sorted(costs.items(), key=lambda item: item[1]):
        ratio = cost / costs[OURS]
        label = f"{cost:,.3g} µs" + ("" if name == OURS else f", {ratio:,.{int(ratio < 10)}f} times as long")
        axes.barh(name, cost, color=COLORS[0] if name == OURS else "0.7", height=0.62)
        axes.annotate(label, (cost, name), (6, 0), textcoords="offset points", va="center", fontsize="small")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.5 * max(costs.values()))
    axes.set_xlabel("microseconds per answer")
    axes.tick_params(axis="y", length=0)
    return axes


FIGURES: Mapping[str, Callable[[], Axes]] = {
    "forest.svg": lambda: draw_models("forest", "base", "tuned"),
    "forest_of_three.svg": lambda: draw_models("forest", "base", "tuned", "chatty"),
    "groups.svg": lambda: draw_models("groups", "base", "tuned", by="kind"),
    "six_scores.svg": draw_six_scores,
    "speed.svg": draw_speed,
    "threshold.svg": lambda: draw_models("threshold", "base", "tuned", "chatty"),
    "training.svg": draw_training,
}
"""The name of a file in docs/ -> what draws it."""


def draw(name: str) -> Axes:
    """Draw a figure of the pages."""
    with matplotlib.rc_context(STYLE):
        return FIGURES[name]()


def describe(axes: Any) -> dict[str, Any]:
    """Describe what axes show: the points of lines, the lengths of bars, and the texts."""
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    ticks = [label.get_text() for label in labels if not re.fullmatch(r"[−\d.]*", label.get_text())]
    return {
        "lines": [[[round(float(value), 4) for value in side] for side in line.get_data()] for line in axes.lines],
        "bars": [round(bar.get_width(), 4) for container in axes.containers for bar in container],
        "texts": [*ticks, *(text.get_text() for text in axes.texts), axes.get_xlabel(), axes.get_ylabel()],
    }


def read(path: Path) -> Any:
    """Read the description of a figure that was drawn before."""
    found = ElementTree.parse(path).find(".//{http://purl.org/dc/elements/1.1/}description")
    return json.loads(str(found is not None and found.text))


def write(name: str) -> None:
    """Draw a figure, and write it half as large again: on a screen, a column of an article is narrow."""
    axes, content = draw(name), io.StringIO()
    figure: Any = axes.figure
    with matplotlib.rc_context(STYLE):
        metadata = {"Date": None, "Description": json.dumps(describe(axes), ensure_ascii=False)}
        figure.savefig(content, format="svg", metadata=metadata)
    text = re.sub(r"(?<=<svg )[^>]*", lambda tag: _LENGTH.sub(_enlarge, tag[0]), content.getvalue(), count=1)
    (DOCS / name).write_text(text, encoding="utf-8")


def _enlarge(length: re.Match[str]) -> str:
    return f"{float(length[0]) * 1.5:g}"


if __name__ == "__main__":
    for name in FIGURES:
        write(name)
