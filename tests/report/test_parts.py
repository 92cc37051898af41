"""Parts of the web app and of the terminal: sentences, drawn edits, tables, hints."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.nested import get_value_variant
from anls_metric.report import html_parts
from anls_metric.report.terminal import MAX_HINTS, align_texts, format_hints

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
FAR = "2 edits on 4 characters: similarity 0.5"
NEAR = "1 edit on 4 characters: similarity 0.75"
LIMIT = "the threshold of 0.5"


@pytest.mark.parametrize(
    ("prediction", "reference", "options", "expected"),
    [
        ("TALKINGHEADS", "talkingheads", {}, "Equal to an accepted answer once normalized, so 1."),
        ("ab", "abcd", {}, f"{FAR}, at least {LIMIT}."),
        ("ab", "abcd", {"variant": "pypi_anls"}, f"{FAR}, but distance / length 0.5 is not below {LIMIT}, so 0."),
        ("abc", "abcd", {"variant": "due"}, f"{NEAR}, and distance / length 0.25 is below {LIMIT}."),
        ("ab", "abcd", {"variant": "fast_anls"}, f"{FAR} is not above {LIMIT}, so 0."),
        ("abc", "abcd", {"threshold": 0.75000001}, f"{NEAR} is below the threshold of 0.75000001, so 0."),
        ("None", "Coca Cola", {"variant": "mp_docvqa"}, "By mp_docvqa, “none” is no answer, so 0."),
        ("xyz", "ab", {"variant": "nls"}, "Nothing in common with any accepted answer, so 0."),
    ],
)
def test_sentence_says_why_it_has_its_score(prediction: str, reference: str, options: Any, expected: str) -> None:
    assert explain(prediction, reference, **options).sentence == expected


@pytest.mark.parametrize("variant", VARIANTS)
def test_format_answer_explains_any_answer_under_every_variant(variant: str) -> None:
    for prediction in ("", " ", "none", "The Coca", "coca cola", "COCA  COLA.", "ß" * 40, "abcd"):
        why = explain(prediction, ["Coca Cola", "ab"], variant=variant)
        assert (", so 0." in why.sentence) == (why.score == 0)
        assert html_parts.escape(why.sentence) in html_parts.format_answer(why)


def test_html_parts_escape_hostile_texts() -> None:
    value = get_value_variant("anls_star").explain({SCRIPT: SCRIPT}, [{SCRIPT: "x"}])
    for page in (
        html_parts.format_answer(explain(SCRIPT, [SCRIPT + "x"])),
        html_parts.format_value_answer(value, "ANLS*"),
        html_parts.format_error(SCRIPT),
        html_parts.format_hint(SCRIPT),
    ):
        assert not re.search("<script|<img", page)
    assert html_parts.escape("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(html_parts.escape("x" * 10**6)) < 400


def test_edits_are_marked_without_color_and_few_are_drawn() -> None:
    view = html_parts.draw_edits(explain("xcoa c", ["coca  cola"], variant="nls").best)
    joined = {tag: re.sub(f"<{tag}>.*?</{tag}>", "", view) for tag in ("del", "ins")}
    texts = {tag: re.sub("<.*?>", "", html).replace("␣", " ") for tag, html in joined.items()}
    assert texts == {"del": "coca  cola", "ins": "xcoa c"}
    style = html_parts.STYLE.read_text(encoding="utf-8")
    assert all(mark in style for mark in ("line-through", "underline"))
    assert len(html_parts.draw_edits(explain("ab" * 900, ["a" * 900]).best)) < 60_000


def test_every_accepted_answer_has_its_similarity_and_the_closest_is_marked() -> None:
    shown = html_parts.format_answer(explain("ab", ["x", "abc"], 0.8, variant="pypi_anls"))
    assert '<th scope="col">similarity (minimum 0.2)</th>' in shown
    assert '<tr class=marked><td><q>abc</q> <span class="tag">closest</span></td><td>1</td><td>3</td>' in shown


# The terminal


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
def test_aligned_characters_stay_in_columns(prediction: str, reference: str, variant: str, lines: list[str]) -> None:
    assert align_texts(explain(prediction, reference, variant=variant).best.edits, 100) == lines


def test_align_texts_cuts_long_lines() -> None:
    lines = align_texts(explain("a" * 500, "a" * 400 + "b").best.edits, 50)
    assert [(len(line), line[-1]) for line in lines] == [(52, "…")] * 3


def test_hints_that_cost_most_are_shown() -> None:
    hints: list[dict[str, Any]] = [{"text": f"hint {n}\x1b", "submission": "x"} for n in range(MAX_HINTS + 2)]
    shown = format_hints({"submissions": [{}], "hints": hints})
    texts = [*(f"hint {n}·" for n in range(MAX_HINTS)), "2 more hints in the JSON document"]
    assert shown.splitlines() == [f"hint: {text}" for text in texts]
