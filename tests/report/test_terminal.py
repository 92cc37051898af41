"""What a terminal shows: the columns that are never left out, hints, and the worst answers."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anls_metric import compare, score
from anls_metric.report.terminal import LEGEND, format_hints


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
