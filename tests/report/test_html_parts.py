"""The pieces of the page that need no page: sentences, edit views, tables."""

from __future__ import annotations

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.analysis.curves import least_similarity
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.rows import Row
from anls_metric.report import html_parts
from anls_metric.report.document import document

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.mark.parametrize(
    ("prediction", "references", "options", "said"),
    [
        ("Coca Cola", ["Coca Cola"], {}, "Equal to an accepted answer, so 1."),
        ("TALKINGHEADS", ["talkingheads"], {}, "Equal to an accepted answer once normalized, so 1."),
        ("The Coca", ["Coca Cola"], {}, "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0."),
        ("ab", ["abcd"], {}, "2 edits on 4 characters: similarity 0.5, at least the threshold of 0.5."),
        (
            "ab",
            ["abcd"],
            {"variant": "pypi_anls"},
            "2 edits on 4 characters: similarity 0.5, but distance / length 0.5 is not under 0.5, so 0.",
        ),
        (
            "abc",
            ["abcd"],
            {"variant": "due"},
            "1 edit on 4 characters: similarity 0.75, and distance / length 0.25 is under 0.5.",
        ),
        ("ab", ["abcd"], {"variant": "fast_anls"}, "2 edits on 4 characters: similarity 0.5 is not above 0.5, so 0."),
        ("abc", ["abcd"], {"threshold": 0.75000001}, "1 edit on 4 characters: similarity 0.75 is under 0.75, so 0."),
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
def test_the_sentence_says_why(prediction: str, references: list[str], options: dict, said: str) -> None:
    assert explain(prediction, references, **options).sentence == said


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("prediction", ["", " ", "none", "The Coca", "coca cola", "COCA  COLA.", "ß" * 40, "abcd"])
def test_every_variant_has_something_to_say(variant: str, prediction: str) -> None:
    why = explain(prediction, ["Coca Cola", "ab"], variant=variant)
    said = why.sentence
    assert said.endswith(".")
    assert (", so 0." in said) == (why.score == 0)
    assert html_parts.answer(why)


def test_texts_are_shown_as_text() -> None:
    scored_set = ScoredSet(keep=True)
    scored_set.add([Row(SCRIPT, SCRIPT, [SCRIPT + "x"], {"question": SCRIPT, "kind": SCRIPT})])
    why = explain(SCRIPT, [SCRIPT + "x"])
    found = [
        html_parts.answer(why),
        html_parts.answer_by_variant(SCRIPT, [SCRIPT], why),
        html_parts.summary(document([Entry(SCRIPT, scored_set)], hints=[SCRIPT]), [SCRIPT]),
        html_parts.summary(document([Entry(SCRIPT, scored_set), Entry(SCRIPT, scored_set)])),
        html_parts.message(SCRIPT),
    ]
    for page in found:
        assert "<script" not in page
        assert "<img" not in page


def test_texts_that_play_with_the_page_are_tamed() -> None:
    assert html_parts.text("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(html_parts.text("x" * 10**6)) < 400


def test_edits_are_told_apart_without_colour() -> None:
    view = html_parts.edit_view(explain("xcoa c", ["coca  cola"], variant="nls").best)
    for operation in ("equal", "insert", "delete"):
        assert f'class="{operation}"' in view
    assert "␣" in view
    assert "replace “a” by “b”" in html_parts.edit_view(explain("a", ["b"], variant="nls").best)
    style = html_parts.STYLE.read_text(encoding="utf-8")
    for rule in (".delete > span:first-child", ".insert > span:last-child", ".replace > span"):
        assert rule in style
    assert all(mark in style for mark in ("line-through", "underline", "dashed"))


def test_what_is_shown_of_long_texts_stays_short() -> None:
    assert len(html_parts.edit_view(explain("a" * 9000, ["b"]).best)) < 60_000
    long = explain("ab" * 2000, ["ac" * 2000])
    assert html_parts.edits_of(long.best) is None
    assert html_parts.edit_view(long.best).count("4,000 characters against 4,000: too long to show what differs") == 1
    many = explain("a", ["b", "c"] * 500 + ["a"])
    shown = html_parts.answer(many)
    assert "and 950 other accepted answers" in shown
    assert shown.count('class="dot') == 51
    assert '<tr class=marked><td><q>a</q> <span class="tag">closest</span>' in shown


def test_the_threshold_of_a_distance_is_marked_as_a_similarity() -> None:
    assert least_similarity(VARIANTS["standard"]) == 0.5
    assert 'style="left:20.00%"' in html_parts.number_line(explain("ab", ["abc"], 0.8, variant="pypi_anls"))
