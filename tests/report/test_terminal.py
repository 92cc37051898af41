"""Scores as text for a terminal: hints, and the alignment of two strings."""

from __future__ import annotations

from typing import Any

import pytest

import anls_metric
from anls_metric.report.terminal import MAX_HINTS, align_texts, format_hints


def align(prediction: str, reference: str, variant: str = "standard", width: int = 100) -> list[str]:
    return align_texts(anls_metric.explain(prediction, reference, variant=variant).best.edits, width)


@pytest.mark.parametrize(
    ("prediction", "reference", "variant", "lines"),
    [
        ("CocaCola!", "Coca Cola", "standard", ["coca*cola!", "coca cola*", "    I    D"]),
        ("1989", "1988", "standard", ["1989", "1988", "   R"]),
        ("東京x", "東a京", "standard", ["東*京x", "東a京*", "  I  D"]),
        ("漢", "ab", "standard", ["*漢", "ab ", "IRR"]),
        ("a\x1b[2J\n", "a[2J", "nls", ["a·[2J·", "a*[2J*", " D   D"]),
        ("e\u0301", "e", "nls", ["e◌\u0301", "e*", " D"]),
    ],
)
def test_align_texts_keeps_characters_in_columns(
    prediction: str, reference: str, variant: str, lines: list[str]
) -> None:
    assert align(prediction, reference, variant) == lines


def test_align_texts_cuts_long_lines() -> None:
    lines = align("a" * 500, "a" * 400 + "b", width=50)
    assert [(len(line), line[-1]) for line in lines] == [(52, "…")] * 3


def test_hints_that_cost_most_are_shown() -> None:
    hints: list[dict[str, Any]] = [{"text": f"hint {n}\x1b", "submission": "x"} for n in range(MAX_HINTS + 1)]
    shown = format_hints({"submissions": [{}], "hints": hints})
    assert shown.splitlines() == [f"hint: hint {n}·" for n in range(MAX_HINTS)]
