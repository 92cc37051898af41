"""The pieces of the page that need no page: sentences, edit views, tables."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy", reason="the page needs scipy for its intervals")

from anls import VARIANTS, explain
from anls_metric import show
from anls_metric.report import Report, Scored
from anls_metric.rrc import Question

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
        ("xyz", ["ab"], {"variant": "nls"}, "Nothing in common with any accepted answer, so 0."),
    ],
)
def test_the_sentence_says_why(prediction: str, references: list[str], options: dict, said: str) -> None:
    assert show.sentence(explain(prediction, references, **options)) == said


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("prediction", ["", " ", "none", "The Coca", "coca cola", "COCA  COLA.", "ß" * 40, "abcd"])
def test_every_variant_has_something_to_say(variant: str, prediction: str) -> None:
    why = explain(prediction, ["Coca Cola", "ab"], variant=variant)
    said = show.sentence(why)
    assert said.endswith(".")
    assert (", so 0." in said) == (why.score == 0)
    assert show.answer(why)


def test_texts_are_shown_as_text() -> None:
    question = Question(SCRIPT, SCRIPT, [SCRIPT + "x"], {"question": SCRIPT, "kind": SCRIPT})
    report = Report(by=["kind"])
    scored = report.score([question])
    why = explain(SCRIPT, [SCRIPT + "x"])
    found = [
        show.answer(why),
        show.answer_by_variant(SCRIPT, [SCRIPT], why),
        show.summary(report, None, SCRIPT),
        show.groups(SCRIPT, report.groups["kind"]),
        show.answers(scored, 1, report.variant),
        show.differences([(scored[0], scored[0])], (SCRIPT, SCRIPT), report.variant),
        show.comparison(report, report, (SCRIPT, SCRIPT), None),
        show.message(SCRIPT),
    ]
    for page in found:
        assert "<script" not in page
        assert "<img" not in page


def test_texts_that_play_with_the_page_are_tamed() -> None:
    assert show.text("a\u202eb\x00c\ud800\n${1}{{x}}") == "a·b·c··&#36;&#123;1}&#123;&#123;x}}"
    assert len(show.text("x" * 10**6)) < 400


def test_edits_are_told_apart_without_colour() -> None:
    view = show.edit_view(explain("xcoa c", ["coca  cola"], variant="nls").best.edits)
    for operation in ("equal", "insert", "delete"):
        assert f'class="{operation}"' in view
    assert "␣" in view
    assert "replace “a” by “b”" in show.edit_view(explain("a", ["b"], variant="nls").best.edits)
    for rule in (".delete > span:first-child", ".insert > span:last-child", ".replace > span"):
        assert rule in show.CSS
    assert all(mark in show.CSS for mark in ("line-through", "underline", "dashed"))
    assert len(show.edit_view(explain("a" * 9000, ["b"]).best.edits)) < 60_000


def test_the_threshold_of_a_distance_is_marked_as_a_similarity() -> None:
    assert show.least_similarity(VARIANTS["standard"]) == 0.5
    assert 'style="left:20.00%"' in show.number_line(explain("ab", ["abc"], 0.8, variant="pypi_anls"))
    assert 'style="left:80.00%"' in show.histogram([0.1, 1.0], explain("a", ["a"], 0.8).variant)


def test_a_missing_answer_is_shown() -> None:
    report = Report()
    scored = [Scored(Question("7", None, ["a"], {}), 0.0, "missing")]
    assert "has no answer" in show.answers(scored, 1, report.variant)
