"""Figures for papers: they show the numbers of the document, fit a column, and are the same bytes each time."""

from __future__ import annotations

import importlib
import itertools
import random
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

import pytest
from matplotlib import pyplot, rcParams
from matplotlib.text import Text

import anls_metric
from anls_metric import compare, score
from anls_metric.options import OPTIONS
from anls_metric.report.figures import KINDS, WIDTH
from anls_metric.report.schema import FigureKind
from tests.conftest import ROOT, RunPython
from tests.system.conftest import Shell

pytestmark = pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")

GOLD = [
    {"questionId": n, "answers": [f"answer number {n}"], "kind": f"kind {n % 3}", "image": f"page {n // 2}"}
    for n in range(120)
]
VALUES = [
    {"id": n, "prediction": {"total": f"{n}.50", "items": [{"name": "tea"}]}, "answers": {"total": f"{n}.5",
        "items": [{"name": "tea" if n % 3 else "ale"}]}} for n in range(40)
]  # fmt: skip
PRESENT = "examples/compare/gold.json examples/compare/base.json examples/compare/tuned.json"


def answer(share: float, seed: int) -> dict[int, str]:
    """Answer questions, a share of them correctly and a few almost."""
    chance = random.Random(seed)
    right = [chance.random() < share for _ in GOLD]
    return {
        n: f"answer number {n}" if is_right else f"anser nr {n}" if n % 4 else "no" for n, is_right in enumerate(right)
    }


def make_scores(count: int, **options: Any) -> anls_metric.Scores:
    if count == 1:
        return score(answer(0.9, 0), GOLD, **options)
    names = [f"Qwen2.5-VL-72B-Instruct-checkpoint-{n}" if count > 9 else f"model {n}" for n in range(count)]
    return compare({name: answer(0.95 - 0.03 * n, n) for n, name in enumerate(names)}, GOLD, **options)


def make_values() -> anls_metric.Scores:
    others = [{**row, "prediction": row["answers"]} for row in VALUES]
    return compare({"small": VALUES, "large": others}, variant="anls_star", by_key=True)


SCORES = {
    **{f"{count} models": cache(partial(make_scores, count, by="kind")) for count in (1, 2, 9, 20)},
    "nested values": cache(make_values),
}


@pytest.fixture(autouse=True)
def _close() -> Any:
    yield
    pyplot.close("all")


def list_dots(axes: Any) -> list[float]:
    """List the values of all marks, from top to bottom."""
    marks = [line for line in axes.lines if line.get_marker() not in ("None", None) and len(line.get_xdata())]
    return [line.get_xdata()[0] for line in sorted(marks, key=lambda line: line.get_ydata()[0])]


def list_labels(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def in_percent(values: Sequence[float]) -> Any:
    return pytest.approx([100 * value for value in values])


# What a figure shows


@pytest.mark.parametrize("name", SCORES)
def test_forest_shows_the_differences_and_scores_of_the_document(name: str) -> None:
    scores = SCORES[name]()
    axes, document = scores.plot(), scores.to_dict()
    own: Any = document["submissions"]
    texts = [text.get_text() for text in axes.texts]
    if len(own) == 1:
        assert list_dots(axes) == in_percent([own[0]["anls"]])
        assert axes.get_xlabel() == "ANLS in percent (95% CI)"
    else:
        of = {pair["second"]: pair["difference"] for pair in document["comparisons"]}
        shown = sorted(own, key=lambda each: -each["anls"]) if document["chose_best"] else own
        assert list_dots(axes) == in_percent([of.get(each["name"], 0.0) for each in shown])
        assert axes.get_xlabel().startswith("difference from ")
    for each in own:
        low, high = each["interval"]
        assert f"{100 * each['anls']:.1f} ({100 * low:.1f}–{100 * high:.1f})" in texts


def test_forest_keeps_the_order_of_the_user_who_names_a_baseline() -> None:
    answers = {name: answer(share, 5) for name, share in (("a", 0.5), ("b", 0.9), ("c", 0.7))}
    assert list_labels(compare(answers, GOLD).plot()) == ["b", "c", "a"]
    assert list_labels(compare(answers, GOLD, baseline="c").plot()) == ["a", "b", "c"]
    assert list_labels(compare(answers, GOLD, all_pairs=True).plot()) == ["a", "b", "c"]


def test_forest_fills_significant_differences_and_has_arrows_outside_of_the_axis() -> None:
    answers = {
        "base": answer(0.9, 1),
        "same": answer(0.9, 1) | {0: "no"},
        "worse": answer(0.6, 1),
        "none": dict.fromkeys(answer(1, 1), "?"),
    }
    scores = compare(answers, GOLD, baseline="base")
    verdicts = [pair["verdict"] for pair in scores.to_dict()["comparisons"]]
    assert verdicts == ["no significant difference", "worse", "worse"]
    marks = [line for line in scores.plot().lines if line.get_marker() not in ("None", None)]
    assert [mark.get_marker() for mark in marks] == ["D", "o", "o", "<"]
    hollow = [mark.get_markerfacecolor() == "white" for mark in marks]
    assert hollow == [False, True, False, False]


@pytest.mark.parametrize("name", SCORES)
def test_scores_by_threshold_are_those_of_the_option(name: str) -> None:
    scores = SCORES[name]()
    assert "thresholds" not in make_scores(1).to_dict()["submissions"][0]
    axes, document = scores.plot(kind="threshold"), scores.to_dict()
    assert document["threshold"] == 0.5
    lines: Any = axes.lines
    for line, submission in zip(lines, document["submissions"]):
        points = [(each["threshold"], each["anls"]) for each in submission["thresholds"]]
        assert len(points) == 21
        assert dict(points)[0.5] == submission["anls"]
        assert list(line.get_xdata()) == [threshold for threshold, _ in points]
        assert list(line.get_ydata()) == in_percent([anls for _, anls in points])
    if name == "1 models":
        assert all(score(answer(0.9, 0), GOLD, threshold=each).anls == anls for each, anls in points)


@pytest.mark.parametrize("name", [name for name in SCORES if "models" in name])
def test_groups_have_a_dot_for_each_model(name: str) -> None:
    scores = SCORES[name]()
    axes, submissions = scores.plot(kind="groups"), scores.to_dict()["submissions"]
    expected = [each["groups"]["kind"][f"kind {n}"]["anls"] for n in range(3) for each in submissions]
    assert list_dots(axes) == in_percent(expected)
    assert list_labels(axes) == [f"kind {n} (40)" for n in range(3)]
    assert axes.get_xlabel() == "ANLS in percent (95% CI)\nby kind (number of questions)"


def test_of_many_groups_the_largest_are_shown_in_their_order() -> None:
    gold = [{**row, "size": 99 if n > 60 else n} for n, row in enumerate(GOLD)]
    labels = list_labels(score(answer(0.9, 0), gold, by="size").plot(kind="groups"))
    assert len(labels) == 30
    assert (labels[0], labels[-1]) == ("0 (1)", "99 (59)")


def test_keys_have_a_dot_for_each_model() -> None:
    axes, submissions = SCORES["nested values"]().plot(kind="keys"), SCORES["nested values"]().to_dict()["submissions"]
    keys = ["items", "items.name", "total"]
    of_keys = [each["groups"]["key of the value"] for each in submissions]
    assert list_dots(axes) == in_percent([own[key]["anls"] for key in keys for own in of_keys])
    assert list_labels(axes) == [f"{key} (40)" for key in keys]
    assert axes.get_xlabel().startswith("ANLS* in percent")


def test_scores_without_intervals_and_keys_without_leaves_are_drawn() -> None:
    alone = compare({"a": ["x"], "b": ["y"]}, [["x"]])
    assert list_dots(alone.plot()) == [0.0, -100.0]
    assert alone.plot().get_xlabel() == "difference from a\nin points"
    rows: Any = VALUES
    tips = [{**row, "prediction": {**row["prediction"], "tip": "1"}} for row in rows]
    scores = compare({"a": VALUES, "b": tips}, variant="anls_star", by_key=True)
    assert scores.to_dict()["submissions"][0]["groups"]["key of the value"]["tip"]["anls"] is None
    axes = scores.plot(kind="keys")
    assert (list_labels(axes)[2], len(list_dots(axes))) == ("tip (40)", 7)


def test_benchmark_metric_has_its_own_label(shell: Shell) -> None:
    scores = score(f"{ROOT}/examples/mmlongbench_doc.jsonl", variant="mmlongbench_doc")
    assert scores.plot().get_xlabel() == f"{scores.to_dict()['label']} in percent (95% CI)"


# Where it is drawn


def test_figure_is_drawn_on_given_axes_in_their_style() -> None:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 4))
    before, size = dict(rcParams), tuple(figure.get_size_inches())
    scores = SCORES["2 models"]()
    assert scores.plot(ax=left) is left
    assert scores.plot(kind="threshold", ax=right) is right
    assert (tuple(figure.get_size_inches()), pyplot.get_fignums()) == (size, [figure.number])
    assert left.xaxis.label.get_fontsize() == rcParams["font.size"]
    axes: Any = scores.plot()
    assert (axes.figure.get_size_inches()[0], axes.xaxis.label.get_fontsize()) == (WIDTH, 8)
    assert pyplot.get_fignums() == [figure.number, axes.figure.number]
    assert dict(rcParams) == before


def test_command_leaves_no_figure_open_and_changes_no_setting(shell: Shell) -> None:
    before = dict(rcParams)
    shell.print("gold.json a.json --plot figure.png")
    assert (pyplot.get_fignums(), dict(rcParams)) == ([], before)


def list_boxes(axes: Any) -> list[Any]:
    """List the boxes of all texts that are seen."""
    axes.figure.canvas.draw()
    sides = [(axes.get_xlim(), axes.get_xticklabels(), 0), (axes.get_ylim(), axes.get_yticklabels(), 1)]
    ticks = [
        text for ends, texts, side in sides for text in texts if min(ends) <= text.get_position()[side] <= max(ends)
    ]
    legend = axes.get_legend()
    texts: list[Text] = [*ticks, *axes.texts, axes.xaxis.label, axes.yaxis.label]
    texts += legend.get_texts() if legend else []
    return [text.get_window_extent() for text in texts if text.get_text()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SCORES)
def test_texts_neither_overlap_nor_leave_the_figure(name: str, kind: FigureKind) -> None:
    if (kind == "groups") == (name == "nested values") and kind in ("groups", "keys"):
        kind = "forest"
    elif kind == "keys" and name != "nested values":
        kind = "threshold"
    axes = SCORES[name]().plot(kind=kind)
    boxes, page = list_boxes(axes), axes.figure.bbox
    assert all(page.x0 <= box.x0 and box.x1 <= page.x1 for box in boxes)
    assert all(page.y0 <= box.y0 and box.y1 <= page.y1 for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        assert not (one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 - 1 and other.y0 < one.y1 - 1)


def test_names_are_shown_as_they_are_written() -> None:
    names = ["$\\alpha$", "_x", "a\nb", "Qwen2.5-VL-72B-Instruct-AWQ-of-March"]
    axes = compare({name: answer(0.5, 0) for name in names}, GOLD, baseline=names[0]).plot()
    axes.figure.canvas.draw()
    assert list_labels(axes) == ["\\$\\alpha\\$", " _x", "a·b", "Qwen2.5-VL … WQ-of-March"]
    threshold: Any = compare({name: answer(0.5, 0) for name in names}, GOLD).plot(kind="threshold")
    assert [text.get_text() for text in threshold.get_legend().get_texts()] == list_labels(axes)


# Files


@pytest.mark.parametrize(("path", "start"), [("a.pdf", b"%PDF"), ("b.svg", b"<?xml"), ("c.PNG", b"\x89PNG")])
def test_the_same_results_are_the_same_bytes(run_python: RunPython, tmp_path: Path, path: str, start: bytes) -> None:
    found = []
    for seed in "12":
        line = ["-m", "anls_metric", *PRESENT.split(), "--by", "kind", "--plot", str(tmp_path / path)]
        done = run_python([*line, "--plot-kind", "groups"], ROOT, PYTHONHASHSEED=seed, PYTHONPATH=str(ROOT))
        assert done.stderr.endswith(f"figure: {tmp_path / path}\n")
        found.append((tmp_path / path).read_bytes())
    assert found[0].startswith(start)
    assert found[0] == found[1]


def test_figure_is_written_beside_other_outputs(shell: Shell) -> None:
    done = shell.type("gold.json a.json b.json --plot f.svg --report r.html --format csv --quiet")
    assert (done.status, done.err.splitlines()[:2]) == (0, ["report: r.html", "figure: f.svg"])
    document = shell.document("gold.json a.json --plot f.svg --plot-kind threshold")
    assert len(document["submissions"][0]["thresholds"]) == 21
    assert "thresholds" not in shell.document("gold.json a.json --plot f.svg")["submissions"][0]


def test_kinds_are_the_choices_of_the_option() -> None:
    assert list(KINDS) == OPTIONS["kind"].choices == list(get_args(FigureKind))


# Errors

TABLE = [{"id": n, "prediction": {"total": "1"}, "answers": {"total": "2"}, "shop": "ab"[n % 2]} for n in range(6)]
_FORMATS = "the file name of a figure must end in .pdf, .svg or .png, such as figure.pdf"
_ANOTHER = ": draw a different figure, such as --plot-kind forest"
_STAR, _RULE = (
    "t.json --quiet --variant anls_star --plot f.pdf",
    f"{ROOT}/examples/mmlongbench_doc.jsonl --variant mmlongbench_doc",
)
# A command, what its error says, and a command that follows the advice.
WRONG = [
    ("gold.json a.json --plot f.jpg", f"f.jpg: {_FORMATS}", "gold.json a.json --plot figure.pdf"),
    ("gold.json a.json --plot f", f"f: {_FORMATS}", "gold.json a.json --plot figure.pdf"),
    ("gold.json a.json --plot x/f.pdf", "x/f.pdf: there is no folder x: create it, or write to a different folder", ""),
    ("gold.json a.json --plot folder.png", "folder.png: Is a directory", ""),
    ("a.csv --plot link.svg", "link.svg: the file is an input: write to a different file", ""),
    (
        "gold.json a.json --plot f.pdf --plot-kind bars",
        "--plot-kind must be forest, threshold, groups or keys, got 'bars'",
        "",
    ),
    (
        "gold.json a.json --plot-kind forest",
        "--plot-kind works only with --plot: add --plot figure.pdf",
        "gold.json a.json --plot-kind forest --plot figure.pdf",
    ),
    (
        f"{_STAR} --plot-kind keys",
        "a figure by key needs counts by key: score with --by-key",
        f"{_STAR} --plot-kind keys --by-key",
    ),
    (
        f"{_STAR} --plot-kind groups",
        "to draw a figure by group, score with --by shop",
        f"{_STAR} --plot-kind groups --by shop",
    ),
    (
        "gold.json a.json --plot f.pdf --plot-kind keys",
        f"the answers have no keys{_ANOTHER}",
        "a.csv --plot f.pdf --plot-kind forest",
    ),
    (
        "a.csv --plot f.pdf --plot-kind groups",
        f"no field can group the questions{_ANOTHER}",
        "a.csv --plot f.pdf --plot-kind forest",
    ),
    (
        f"{_RULE} --plot f.pdf --plot-kind threshold",
        f"the threshold of mmlongbench_doc cannot be changed{_ANOTHER}",
        f"{_RULE} --plot f.pdf --plot-kind forest",
    ),
]


@pytest.mark.parametrize(("line", "message", "advice"), WRONG)
def test_error_of_the_command_says_what_works(shell: Shell, line: str, message: str, advice: str) -> None:
    shell.write({"t.json": TABLE, "a.csv": [{"prediction": "a", "answers": "b"}] * 3})
    Path("folder.png").mkdir()
    Path("link.svg").symlink_to("a.csv")
    assert shell.error(line).endswith(message)
    if advice:
        shell.print(advice)
        assert Path(advice.partition("--plot ")[2].split()[0]).exists()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("bars", {}, "kind must be forest, threshold, groups or keys, got 'bars'"),
        ("groups", {}, 'to draw a figure by group, score with by="kind"'),
        ("keys", {}, 'the answers have no keys: draw a different figure, such as kind="forest"'),
    ],
)
def test_error_in_python_has_the_names_of_the_arguments(kind: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make_scores(1, **options).plot(kind=kind)
    with pytest.raises(ValueError, match=r"^a figure by key needs counts by key: score with by_key=True$"):
        score(VALUES, variant="anls_star").plot(kind="keys")


def test_missing_library_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = "figures need matplotlib: pip install 'anls-metric[plot]'"
    assert shell.error("gold.json a.json --plot f.pdf") == message
    with pytest.raises(ValueError, match=re.escape(message)):
        make_scores(1).plot()


# The figures of the pages

sys.path.append(str(ROOT / "tools"))
pages = importlib.import_module("figures")
FIGURES: Mapping[str, Any] = pages.FIGURES


@pytest.mark.parametrize("name", FIGURES)
def test_figure_of_a_page_shows_the_numbers_of_today(name: str) -> None:
    assert pages.describe(pages.draw(name)) == pages.read(ROOT / "docs" / name), "run python tools/figures.py"
    texts = [path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    assert sum(f"{name})" in text for text in texts) == 1


def test_figures_of_the_pages_are_those_of_the_tables() -> None:
    """README prints the six scores, and the tutorial those of each epoch."""
    readme = (ROOT / "README.md").read_text("utf-8")
    six = re.findall(r"^\| [^|]+ \| `(\w+)` \| \**([\d.]+)\** \| \**([\d.]+)\** \|$", readme, re.MULTILINE)
    drawn = pages.read(ROOT / "docs" / "six_scores.svg")
    assert [f"{name} {first} → {second}" for name, first, second in six] == drawn["texts"][2:-2]
    assert [line[1] for line in drawn["lines"]] == [[float(first), float(second)] for _, first, second in six]
    training = pages.read(ROOT / "docs" / "training.svg")
    assert [line[1][-1] for line in training["lines"]] == [91.16, 86.92]
