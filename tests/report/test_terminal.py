"""The column of a terminal that draws the differences from the baseline."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from math import inf
from typing import Any

import pytest

from anls_metric import Scores, compare, score
from anls_metric.report.terminal import LEGEND, as_text, format_hints
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples" / "compare"


@pytest.fixture(scope="module")
def scores() -> Scores:
    answers = {name: json.loads((EXAMPLES / f"{name}.json").read_text("utf-8")) for name in ("base", "tuned")}
    answers["none"] = [{**row, "answer": "?"} for row in answers["base"]]
    with pytest.warns(UserWarning, match="same wrong answer"):
        return compare(answers, EXAMPLES / "gold.json", baseline="base")


@pytest.mark.parametrize(("width", "length"), [(80, 0), (100, 0), (120, 35), (140, 40), (200, 40), (inf, 0)])
def test_differences_are_drawn_where_the_terminal_has_room(scores: Scores, width: float, length: int) -> None:
    head, base, tuned, none = as_text(scores.to_dict(), width=width).splitlines()[:4]
    assert ("against base" in head) == bool(length)
    assert max(map(len, (head, base, tuned, none))) <= width
    if length:
        start = head.index("against base")
        drawn = [line[start:].ljust(length) for line in (base, tuned, none)]
        zero = drawn[0].index("|")
        assert drawn[0].strip() == "|"
        assert re.fullmatch(r"\|( +-+o-+)", drawn[1].strip())
        assert (drawn[1][zero], drawn[2].strip()) == ("|", "<" + " " * (zero - 1) + "|")
        assert 0 < zero < drawn[1].index("-") < length


def test_other_formats_and_chosen_columns_have_no_drawing(scores: Scores) -> None:
    texts = [scores.to_csv(), scores.to_markdown(), scores.to_latex(), str(scores)]
    texts += [as_text(scores.to_dict(), columns="anls,difference", width=200)]
    assert not any("drawn" in text or "-o-" in text for text in texts)
    pairs = compare(
        {name: EXAMPLES / f"{name}.json" for name in ("base", "tuned")}, EXAMPLES / "gold.json", all_pairs=True
    )
    assert "against base" not in as_text(pairs.to_dict(), width=200)


def test_command_draws_in_a_terminal() -> None:
    outer, inner = pty.openpty()
    line = "-m anls_metric examples/compare/gold.json examples/compare/base.json examples/compare/tuned.json"
    environment = {**os.environ, "COLUMNS": "160", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, *line.split()], cwd=ROOT, env=environment, stdout=inner, check=True)
    assert "against base" in os.read(outer, 10_000).decode()
    os.close(outer)
    os.close(inner)


@pytest.mark.parametrize("size", [1, 30, 40, 95])
@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_score_difference_and_verdict_are_never_left_out(size: int) -> None:
    predictions = {name * size: [text] * 40 for name, text in (("a", "tea"), ("b", "te"))}
    scores = compare(predictions, [["tea"]] * 40, metrics="f1,cer,relaxed,exact_match,contains")
    head = str(scores).splitlines()[0]
    assert all(word in head for word in ("ANLS", "difference", "verdict", "f1", "contains"))


def test_further_hints_are_in_python_words_for_python() -> None:
    document: Any = {"hints": [{"text": f"{n}"} for n in range(5)]}
    assert format_hints(document, "scores.hints has all").endswith("hint: 2 more hints: scores.hints has all")
    assert format_hints(document).endswith("2 more hints: --format json has all, and so has --report FILE.html")


@pytest.mark.parametrize(
    ("rows", "options", "shown"),
    [
        ([{"prediction": {"total": "99"}, "references": {"total": "12"}}], {"variant": "anls_star"}, '{"total": "99"}'),
        (
            [{"prediction": "324", "gold": "330", "answer_format": "Int"}],
            {"variant": "mmlongbench_doc"},
            "324",
        ),
        ([{"prediction": "Pepsi", "references": ["Cola"]}], {}, "Pepsi"),
    ],
    ids=["values", "benchmark metric", "strings"],
)
@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_worst_answers_show_the_prediction(rows: Any, options: Any, shown: str) -> None:
    text = str(score(rows, worst=1, **options))
    assert re.search(rf"^  prediction +{re.escape(shown)}$", text, re.MULTILINE), text
    assert (LEGEND in text) == (not options)
