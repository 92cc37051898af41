"""Scores as text for a terminal: figures, groups, and the alignment of two strings."""

from __future__ import annotations

from typing import Any

import pytest

import anls_metric
from anls_metric import command_line, score
from anls_metric.report.terminal import MAX_HINTS, align_texts, format_hints
from tests.conftest import ROOT


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


def test_text_has_no_control_characters() -> None:
    record = {
        "id": "1\x1b[2J",
        "question": "q\x1b\n",
        "prediction": "x\x1b]",
        "answers": ["a\x07b"],
        "kind\x1b": "g\x1b",
    }
    text = str(score([record], worst=1, by="kind\x1b"))
    assert all(character.isprintable() for character in text.replace("\n", ""))


def test_groups_are_sorted_by_name_with_numbers_in_order() -> None:
    rows = [{"page": page, "prediction": "a", "references": "a"} for page in (10, 1, 2, "b", "1", 1.0)]
    lines = str(score(rows, by="page")).split("\n\n")[1].splitlines()[2:]
    assert [line.split() for line in lines] == [
        ["1", "1.0000", "1.0000", "to", "1.0000", "3"],
        *[[name, "1.0000", "-", "1"] for name in ("2", "10", "b")],
    ]


def test_worst_answer_has_the_words_of_explain() -> None:
    assert str(anls_metric.explain("The Coca", "Coca Cola")) in str(score(["The Coca"], [["Coca Cola"]], worst=1))


def test_hints_that_cost_most_are_shown() -> None:
    hints: list[dict[str, Any]] = [{"text": f"hint {n}\x1b", "submission": "x"} for n in range(MAX_HINTS + 1)]
    shown = format_hints({"submissions": [{}], "hints": hints})
    assert shown.splitlines() == [f"hint: hint {n}·" for n in range(MAX_HINTS)]


def test_format_hints_names_the_submission_once(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ROOT / "examples" / "compare"
    assert command_line.main([str(folder / f"{name}.json") for name in ("gold", "base", "chatty")]) == 0
    (hint,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("hint: ")]
    assert hint.startswith("hint: chatty: 13 of 150 ")
