"""Draws the kinds of figures in `KINDS` for a paper with matplotlib, from a document that contains all results."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from anls_metric.core.names import drop_shared_prefix
from anls_metric.core.printing import make_printable
from anls_metric.messages import FrontEnd, make_error, shorten
from anls_metric.options import KEYS
from anls_metric.report import schema
from anls_metric.report.axis import find_limits
from anls_metric.report.numbers import PERCENT
from anls_metric.report.schema import Document, Run
from anls_metric.report.wording import find_words, get_label
from anls_metric.writing import check_output, open_aside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 3.3  # inches: one column of a two-column article
_MAX_NAME, _MAX_GROUPS = 24, 30
# Okabe and Ito's colors that are dark enough on white. In grayscale, marks and dashes distinguish the models.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS, _DASHES = "os^Dv", ("-", "--", "-.", ":")
_VERDICT_COLORS, _GRAY = {"better": COLORS[0], "worse": COLORS[1]}, "#595959"
FONT_SIZE = 8
STYLE = {
    "font.size": FONT_SIZE,
    **dict.fromkeys(("axes.linewidth", "xtick.major.width", "ytick.major.width"), 0.6),
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "pdf.fonttype": 42,  # publishers reject Type 3
    "svg.hashsalt": "anls",
}
# The file extension -> the metadata without a date, so that the same results lead to the same bytes.
_METADATA: Mapping[str, Mapping[str, None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}


def complete(document: Document, run: Run, kind: str, front_end: FrontEnd = "python") -> Document:
    """Add to the worded document of a run the data that a kind of figure needs.

    Raises:
        InputError: the run lacks the data for this kind.
    """
    figures = run["figures"]
    if kind in figures["unfit"]:
        raise make_error("", "{problem}", problem=find_words(figures["unfit"][kind], run["words"], front_end))
    if kind != "threshold":
        return document
    pairs = zip(document["submissions"], figures["thresholds"], strict=True)
    submissions = [{**each, "thresholds": own} for each, own in pairs]
    return {**document, "threshold": figures["threshold"], "submissions": submissions}


def draw(document: Document, kind: str, axes: Axes | None = None) -> Axes:
    """Draw a plot on the given axes, or on those of a new pyplot figure that notebooks show, and return the axes.

    Args:
        document: a document from `complete`.
        kind: a key of `KINDS`.
        axes: the axes on which to draw; None for a new figure.

    Raises:
        InputError: matplotlib is missing.
    """
    matplotlib = _import_matplotlib()
    if axes is not None:
        KINDS[kind](document, axes)
        return axes
    from matplotlib import pyplot

    with matplotlib.rc_context(STYLE):
        return _draw_alone(document, kind, pyplot.figure)


def write_figure(path: str, document: Document, kind: str, inputs: Sequence[str]) -> None:
    """Write a figure to a PDF, SVG or PNG file, depending on the file extension. The same results always produce the
    same bytes.

    Raises:
        InputError: the format is not supported, matplotlib is missing, or the file is an input.
        OSError: the file cannot be written.
    """
    ending, content, matplotlib = check_path(path), io.BytesIO(), _import_matplotlib()
    check_output(path, inputs)
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure: Any = _draw_alone(document, kind, Figure).figure
        figure.savefig(content, format=ending[1:], dpi=300, metadata=_METADATA[ending])
    with open_aside(path) as file:
        file.buffer.write(content.getvalue())  # type: ignore[attr-defined]


def check_path(path: str) -> str:
    """Return the file extension of a figure's path. Raises InputError if the format is not supported."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in _METADATA:
        raise make_error(path, "the file name of a figure must end in .pdf, .svg or .png, such as figure.pdf")
    return ending


def _import_matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise make_error("", "figures need matplotlib: pip install 'anls-metric[plot]'") from None
    return matplotlib


def _draw_alone(document: Document, kind: str, make_figure: Callable[..., Any]) -> Axes:
    """Draw a figure that is one column wide and as tall as its content, and return its axes."""
    figure = make_figure(dpi=200, layout="constrained")
    axes: Axes = figure.add_subplot()
    axes.tick_params(labelsize=FONT_SIZE)  # later ticks would have the user's style
    figure.set_size_inches(WIDTH, KINDS[kind](document, axes))
    return axes


# The function for each kind draws on the axes, and returns the height in inches that it needs.


def draw_forest(document: Document, axes: Axes) -> float:
    """Draw a row for each model, with the difference from the baseline, its confidence interval, and the score."""
    names, submissions = _name_models(document), document["submissions"]
    pairs = {pair["second"]: pair for pair in document["comparisons"] if pair["first"] == document["baseline"]}
    low, high = find_limits(list(pairs.values())) if pairs else (0.0, 1.0)
    if document.get("chose_best"):  # otherwise, keep the user's order
        submissions = sorted(submissions, key=lambda each: -each["anls"])
    for y, each in enumerate(submissions):
        if pair := pairs.get(each["name"]):
            _draw_difference(axes, y, pair, low, high)
        elif pairs:
            _draw_dot(axes, y, 0.0, None, "black", marker="D")
        else:
            _draw_dot(axes, y, each["anls"], each["interval"], "black", marker="o")
        text, interval = PERCENT.format(each["anls"]), PERCENT.format(each["interval"]).replace(" to ", "–")
        _write_beside(axes, y, f"{text} ({interval})" if each["interval"] else text)
    _label_rows(axes, [names[each["name"]] for each in submissions])
    axes.set_xlabel(_describe_scale(document))
    if pairs:
        axes.set_xlim(100 * low, 100 * high)
        axes.axvline(0, color="black", linewidth=0.6, zorder=0)
        _write_beside(axes, -0.7, get_label(document))
        notes = " (95% CI; filled: significant)" if submissions[0]["interval"] else ""
        axes.set_xlabel(f"difference from {names[document['baseline']]}\nin points{notes}")
    return 0.75 + 0.18 * len(submissions)


def _draw_difference(axes: Axes, y: float, pair: schema.Comparison, low: float, high: float) -> None:
    """Draw a difference, with a hollow mark if it is not significant and an arrow if it is outside the axis."""
    color, value = _VERDICT_COLORS.get(pair["verdict"], _GRAY), min(max(pair["difference"], low), high)
    mark = "o" if value == pair["difference"] else "<" if value == low else ">"
    face = "white" if color == _GRAY else color
    _draw_dot(axes, y, value, pair["interval"], color, marker=mark, markerfacecolor=face, clip_on=False)


def _write_beside(axes: Axes, y: float, text: str) -> None:
    """Write text to the right of a row."""
    axes.annotate(text, (1.03, y), xycoords=("axes fraction", "data"), va="center", fontsize="small")


def draw_thresholds(document: Document, axes: Axes) -> float:
    """Draw the score of each model against the threshold."""
    names = _name_models(document)
    for each, color, dash in zip(document["submissions"], cycle(COLORS), cycle(_DASHES)):
        points = [(point["threshold"], 100 * point["anls"]) for point in each["thresholds"]]
        axes.plot(*zip(*points), color=color, linestyle=dash, label=names[each["name"]])
    axes.axvline(document["threshold"], color=_GRAY, linewidth=0.6, zorder=0)
    axes.set_xlim(0, 1)
    axes.set_xlabel("threshold")
    axes.set_ylabel(f"{get_label(document)} in percent")
    axes.spines[["top", "right"]].set_visible(False)
    return 2.2 + _add_legend(axes, len(names))


def draw_groups(document: Document, axes: Axes, field: str = "") -> float:
    """Draw a row for each group of a field, by default the first field, with a dot and an interval for every model."""
    submissions, names = document["submissions"], _name_models(document)
    field = field or next(name for name in submissions[0]["groups"] if name != KEYS)
    groups = [(each["name"], each["groups"][field]) for each in submissions]
    sizes: dict[str, int] = {}
    for _, own in groups:
        sizes |= {group: max(figures["questions"], sizes.get(group, 0)) for group, figures in own.items()}
    largest = {*sorted(sizes, key=sizes.__getitem__, reverse=True)[:_MAX_GROUPS]}
    shown = [group for group in sizes if group in largest]
    for place, ((name, own), color, mark) in enumerate(zip(groups, cycle(COLORS), cycle(_MARKS))):
        axes.plot([], [], color=color, marker=mark, label=names[name])
        offset = (place - (len(names) - 1) / 2) * min(1 / (len(names) + 1), 0.3)
        for y, figures in enumerate(map(own.get, shown)):
            if figures and figures["anls"] is not None:
                _draw_dot(axes, y + offset, figures["anls"], figures["interval"], color, marker=mark)
    for y in range(1, len(shown), 2):
        axes.axhspan(y - 0.5, y + 0.5, color="0.95", linewidth=0, zorder=0)
    _label_rows(axes, [f"{_write(group)} ({sizes[group]:,})" for group in shown])
    what = "key (number of documents)" if field == KEYS else f"{_write(field)} (number of questions)"
    largest_of = f", the {len(shown)} largest of {len(sizes)}" * (len(shown) < len(sizes))
    axes.set_xlabel(f"{_describe_scale(document)}\nby {what}{largest_of}")
    return 0.65 + len(shown) * max(0.19, 0.1 * len(names) + 0.06) + _add_legend(axes, len(names))


def draw_keys(document: Document, axes: Axes) -> float:
    """Draw a row for each key of nested values, in the same way as `draw_groups`."""
    return draw_groups(document, axes, KEYS)


def _name_models(document: Document) -> dict[str, str]:
    names = [submission["name"] for submission in document["submissions"]]
    return dict(zip(names, map(_write, drop_shared_prefix(names))))


def _write(text: str) -> str:
    """Shorten a string to a label that matplotlib does not interpret as a formula or as a hidden label."""
    text = make_printable(text)
    text = shorten(text, _MAX_NAME - 3 if len(text) > _MAX_NAME else _MAX_NAME).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _describe_scale(document: Document) -> str:
    return f"{get_label(document)} in percent" + " (95% CI)" * bool(document["submissions"][0]["interval"])


def _draw_dot(axes: Axes, y: float, value: float, interval: Sequence[float] | None, color: str, **mark: Any) -> None:
    """Draw a value with its interval as percentages."""
    if interval:
        axes.plot([100 * end for end in interval], [y, y], color=color)
    axes.plot([100 * value], [y], color=color, **mark)


def _label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows from top to bottom, and remove the frame."""
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _add_legend(axes: Axes, count: int) -> float:
    """Add a legend above the axes if there are several models, and return the height of the legend in inches."""
    if count == 1:
        return 0.0
    spaces: dict[str, Any] = {"borderaxespad": 0.3, "handlelength": 2.2, "columnspacing": 1}
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small", **spaces)
    return 0.16 * ((count + 1) // 2)


KINDS: Mapping[str, Callable[[Document, Axes], float]] = {
    "forest": draw_forest,
    "threshold": draw_thresholds,
    "groups": draw_groups,
    "keys": draw_keys,
}
"""The functions that draw figures, keyed by the kind of figure."""
