"""The HTML parts of the web app: sentences, drawn edits, tables."""

from __future__ import annotations

import re

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.nested import get_value_variant
from anls_metric.report import html_parts

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize(
    ("prediction", "references", "options", "sentence"),
    [
        ("Coca Cola", ["Coca Cola"], {}, "Equal to an accepted answer, so 1."),
        ("TALKINGHEADS", ["talkingheads"], {}, "Equal to an accepted answer once normalized, so 1."),
        (
            "The Coca",
            ["Coca Cola"],
            {},
            "5 edits on 9 characters: similarity 0.4444 is below the threshold of 0.5, so 0.",
        ),
        ("ab", ["abcd"], {}, "2 edits on 4 characters: similarity 0.5, at least the threshold of 0.5."),
        (
            "ab",
            ["abcd"],
            {"variant": "pypi_anls"},
            "2 edits on 4 characters: similarity 0.5, but distance / length 0.5 is not below the threshold"
            " of 0.5, so 0.",
        ),
        (
            "abc",
            ["abcd"],
            {"variant": "due"},
            "1 edit on 4 characters: similarity 0.75, and distance / length 0.25 is below the threshold of 0.5.",
        ),
        (
            "ab",
            ["abcd"],
            {"variant": "fast_anls"},
            "2 edits on 4 characters: similarity 0.5 is not above the threshold of 0.5, so 0.",
        ),
        (
            "abc",
            ["abcd"],
            {"threshold": 0.75000001},
            "1 edit on 4 characters: similarity 0.75 is below the threshold of 0.75000001, so 0.",
        ),
        (" ", ["Coca Cola"], {}, "The prediction is empty, so 0."),
        ("None", ["Coca Cola"], {"variant": "mp_docvqa"}, "By mp_docvqa, “none” is no answer, so 0."),
        (
            "CocaCola",
            ["Coca Cola"],
            {"variant": "lmms_eval_0_2"},
            "1 edit on 9 characters: similarity 0.8889, at least the threshold of 0.5, so 1.",
        ),
        ("xyz", ["ab"], {"variant": "nls"}, "Nothing in common with any accepted answer, so 0."),
    ],
)
def test_sentence_says_why_an_answer_has_its_score(
    prediction: str, references: list[str], options: dict, sentence: str
) -> None:
    assert explain(prediction, references, **options).sentence == sentence


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("prediction", ["", " ", "none", "The Coca", "coca cola", "COCA  COLA.", "ß" * 40, "abcd"])
def test_format_answer_explains_any_answer_under_every_variant(variant: str, prediction: str) -> None:
    why = explain(prediction, ["Coca Cola", "ab"], variant=variant)
    sentence = why.sentence
    assert sentence.endswith(".")
    assert (", so 0." in sentence) == (why.score == 0)
    assert html_parts.format_answer(why)


def test_html_parts_escape_hostile_texts() -> None:
    pages = [
        html_parts.format_answer(explain(SCRIPT, [SCRIPT + "x"])),
        html_parts.format_value_answer(
            get_value_variant("anls_star").explain({SCRIPT: SCRIPT}, [{SCRIPT: "x"}]), "ANLS*"
        ),
        html_parts.format_error(SCRIPT),
        html_parts.format_hint(SCRIPT),
    ]
    for page in pages:
        assert "<script" not in page
        assert "<img" not in page


def test_escape_removes_control_characters_and_templates_and_shortens() -> None:
    assert html_parts.escape("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(html_parts.escape("x" * 10**6)) < 400


def test_edits_are_marked_without_color() -> None:
    view = html_parts.draw_edits(explain("xcoa c", ["coca  cola"], variant="nls").best)
    joined = {tag: re.sub(f"<{tag}>.*?</{tag}>", "", view) for tag in ("del", "ins")}
    texts = {tag: re.sub("<.*?>", "", html).replace("␣", " ") for tag, html in joined.items()}
    assert texts == {"del": "coca  cola", "ins": "xcoa c"}
    style = html_parts.STYLE.read_text(encoding="utf-8")
    assert all(mark in style for mark in ("line-through", "underline"))


def test_few_edits_of_a_long_text_are_drawn() -> None:
    assert len(html_parts.draw_edits(explain("ab" * 900, ["a" * 900]).best)) < 60_000
    assert "too long to show what differs" in html_parts.draw_edits(explain("a" * 20_000, ["b" * 20_000]).best)


def test_every_accepted_answer_has_its_similarity_and_the_closest_is_marked() -> None:
    shown = html_parts.format_answer(explain("ab", ["x", "abc"], 0.8, variant="pypi_anls"))
    assert '<th scope="col">similarity (minimum 0.2)</th>' in shown
    assert '<tr class=marked><td><q>abc</q> <span class="tag">closest</span></td><td>1</td><td>3</td>' in shown
