"""The HTML parts of the page: sentences, drawn edits, tables."""

from __future__ import annotations

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.analysis.curves import least_similarity
from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.batch import Row
from anls_metric.reading.extract import ExtractionReport, extractor
from anls_metric.report import html_parts
from anls_metric.report.document import build_document

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


def test_summary_says_what_extraction_did() -> None:
    scored_set, report = ScoredSet(), ExtractionReport(extractor("json"))
    scored_set.add([Row("7", report.extract('{"answer": "a'), ["a"], {})])
    document = build_document([Entry("model", scored_set, extraction=report)])
    assert "json changed 0 of 1 answer and left 0; 1 is not valid JSON: cut off?" in html_parts.format_summary(document)


def test_html_parts_escape_hostile_texts() -> None:
    scored_set = ScoredSet(keep=True)
    scored_set.add([Row(SCRIPT, SCRIPT, [SCRIPT + "x"], {"question": SCRIPT, "kind": SCRIPT})])
    why = explain(SCRIPT, [SCRIPT + "x"])
    pages = [
        html_parts.format_answer(why),
        html_parts.format_variant_scores(SCRIPT, [SCRIPT], why),
        html_parts.format_summary(build_document([Entry(SCRIPT, scored_set)], hints=[SCRIPT]), [SCRIPT]),
        html_parts.format_summary(build_document([Entry(SCRIPT, scored_set), Entry(SCRIPT, scored_set)])),
        html_parts.format_error(SCRIPT),
    ]
    for page in pages:
        assert "<script" not in page
        assert "<img" not in page


def test_escape_removes_control_characters_and_templates_and_shortens() -> None:
    assert html_parts.escape("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(html_parts.escape("x" * 10**6)) < 400


def test_draw_edits_marks_operations_without_colour() -> None:
    view = html_parts.draw_edits(explain("xcoa c", ["coca  cola"], variant="nls").best)
    for operation in ("equal", "insert", "delete"):
        assert f'class="{operation}"' in view
    assert "␣" in view
    assert "replace “a” by “b”" in html_parts.draw_edits(explain("a", ["b"], variant="nls").best)
    style = html_parts.STYLE.read_text(encoding="utf-8")
    for rule in (".delete > span:first-child", ".insert > span:last-child", ".replace > span"):
        assert rule in style
    assert all(mark in style for mark in ("line-through", "underline", "dashed"))


def test_html_of_long_texts_and_many_references_stays_short() -> None:
    assert len(html_parts.draw_edits(explain("a" * 9000, ["b"]).best)) < 60_000
    long = explain("ab" * 2000, ["ac" * 2000])
    assert html_parts.find_edits(long.best) is None
    assert html_parts.draw_edits(long.best).count("4,000 characters against 4,000: too long to show what differs") == 1
    many = explain("a", ["b", "c"] * 500 + ["a"])
    shown = html_parts.format_answer(many)
    assert "and 950 other accepted answers" in shown
    assert shown.count('class="dot') == 51
    assert '<tr class=marked><td><q>a</q> <span class="tag">closest</span>' in shown


def test_draw_number_line_marks_the_threshold_of_a_distance_as_a_similarity() -> None:
    assert least_similarity(VARIANTS["standard"]) == 0.5
    assert 'style="left:20.00%"' in html_parts.draw_number_line(explain("ab", ["abc"], 0.8, variant="pypi_anls"))
