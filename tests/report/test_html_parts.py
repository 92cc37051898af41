"""The HTML parts of the web app: sentences, drawn edits, tables."""

from __future__ import annotations

import re
from typing import Any

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.nested import get_value_variant
from anls_metric.report import html_parts

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
FAR = "2 edits on 4 characters: similarity 0.5"
NEAR = "1 edit on 4 characters: similarity 0.75"


@pytest.mark.parametrize(
    ("prediction", "reference", "options", "sentence"),
    [
        ("TALKINGHEADS", "talkingheads", {}, "Equal to an accepted answer once normalized, so 1."),
        ("ab", "abcd", {}, f"{FAR}, at least the threshold of 0.5."),
        (
            "ab",
            "abcd",
            {"variant": "pypi_anls"},
            f"{FAR}, but distance / length 0.5 is not below the threshold of 0.5, so 0.",
        ),
        ("abc", "abcd", {"variant": "due"}, f"{NEAR}, and distance / length 0.25 is below the threshold of 0.5."),
        ("ab", "abcd", {"variant": "fast_anls"}, f"{FAR} is not above the threshold of 0.5, so 0."),
        ("abc", "abcd", {"threshold": 0.75000001}, f"{NEAR} is below the threshold of 0.75000001, so 0."),
        ("None", "Coca Cola", {"variant": "mp_docvqa"}, "By mp_docvqa, “none” is no answer, so 0."),
        ("xyz", "ab", {"variant": "nls"}, "Nothing in common with any accepted answer, so 0."),
    ],
)
def test_sentence_says_why_an_answer_has_its_score(
    prediction: str, reference: str, options: dict[str, Any], sentence: str
) -> None:
    assert explain(prediction, reference, **options).sentence == sentence


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
