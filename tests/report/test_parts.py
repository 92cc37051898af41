"""Parts of the web app and of the terminal: sentences, drawn edits, tables, hints."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.core.printing import align_texts
from anls_metric.report.terminal import MAX_HINTS, format_hints
from anls_metric.report.texts import escape

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
FAR = "2 edits on 4 characters: similarity 50%"
NEAR = "1 edit on 4 characters: similarity 75%"
LIMIT = "the threshold of 50%"


@pytest.mark.parametrize(
    ("prediction", "reference", "options", "expected"),
    [
        ("TALKINGHEADS", "talkingheads", {}, "Equal to a reference once normalized, so 100%."),
        ("ab", "abcd", {}, f"{FAR}, at least {LIMIT}."),
        ("ab", "abcd", {"variant": "pypi_anls"}, f"{FAR}, but distance / length 50% is not below {LIMIT}, so 0."),
        ("abc", "abcd", {"variant": "due"}, f"{NEAR}, and distance / length 25% is below {LIMIT}."),
        ("ab", "abcd", {"variant": "fast_anls"}, f"{FAR} is not above {LIMIT}, so 0."),
        ("abc", "abcd", {"threshold": 0.75000001}, f"{NEAR} is below the threshold of 75.000001%, so 0."),
        ("None", "Coca Cola", {"variant": "mp_docvqa"}, "By mp_docvqa, “none” is no answer, so 0."),
        ("xyz", "ab", {"variant": "nls"}, "Nothing in common with any reference, so 0."),
    ],
)
def test_sentence_says_why_it_has_its_score(prediction: str, reference: str, options: Any, expected: str) -> None:
    assert explain(prediction, reference, **options).sentence == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_sentence_ends_with_the_score_if_it_is_0(variant: str) -> None:
    for prediction in ("", " ", "none", "The Coca", "coca cola", "COCA  COLA.", "ß" * 40, "abcd"):
        why = explain(prediction, ["Coca Cola", "ab"], variant=variant)
        assert (", so 0." in why.sentence) == (why.score == 0)


def test_escape_makes_hostile_texts_safe_and_short() -> None:
    assert not re.search("<script|<img", escape(SCRIPT))
    assert escape("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(escape("x" * 10**6)) < 400


# The terminal


@pytest.mark.parametrize(
    ("prediction", "reference", "variant", "lines"),
    [
        ("CocaCola!", "Coca Cola", "standard", ["coca·cola!", "coca cola·", "    I    D"]),
        ("1989", "1988", "standard", ["1989", "1988", "   R"]),
        ("東京x", "東a京", "standard", ["東·京x", "東a京·", "  I  D"]),
        ("漢", "ab", "standard", ["·漢", "ab ", "IRR"]),
        ("a\x1b[2J\n", "a[2J", "nls", ["a·[2J·", "a·[2J·", " D   D"]),
        ("e\u0301", "e", "nls", ["e◌\u0301", "e·", " D"]),
    ],
)
def test_aligned_characters_stay_in_columns(prediction: str, reference: str, variant: str, lines: list[str]) -> None:
    assert align_texts(explain(prediction, reference, variant=variant).best.edits, 100) == lines


def test_align_texts_cuts_long_lines() -> None:
    lines = align_texts(explain("a" * 500, "a" * 400 + "b").best.edits, 50)
    assert [(len(line), line[-1]) for line in lines] == [(52, "…")] * 3


def test_hints_that_cost_most_are_shown() -> None:
    hints: list[dict[str, Any]] = [{"text": f"hint {n}\x1b", "submission": "x"} for n in range(MAX_HINTS + 2)]
    document: Any = {"submissions": [{}], "hints": hints}
    shown = format_hints(document, "there")
    texts = [
        *(f"hint {n}·" for n in range(MAX_HINTS)),
        "2 more hints: there",
    ]
    assert shown.splitlines() == [f"hint: {text}" for text in texts]
