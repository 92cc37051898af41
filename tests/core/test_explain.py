"""Explanations: reason, sentence, edits, and the closest reference."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import anls_metric


def test_explain_compares_every_reference_and_the_closest_wins() -> None:
    why = anls_metric.explain("The Coca", ["Coca Cola Company", "Coca Cola"])
    assert [(match.distance, match.length) for match in why.matches] == [(12, 17), (5, 9)]
    assert [match.similarity for match in why.matches] == [pytest.approx(5 / 17), pytest.approx(4 / 9)]
    assert why.winner == 1
    assert why.best is why.matches[1]
    assert why.best.reference == "Coca Cola"
    assert why.best.normalized_reference == "coca cola"
    assert (why.prediction, why.normalized_prediction, why.score) == ("The Coca", "the coca", 0.0)
    assert why.signature == anls_metric.signature()
    assert anls_metric.explain("abcd", ["abcx", "abcy"]).winner == 0  # the first of equally close references
    assert hash(why) == hash(anls_metric.explain("The Coca", ["Coca Cola Company", "Coca Cola"]))


CLOSE = "1 edit on 9 characters from 'Coca Cola': similarity 0.8889, at least the threshold of 0.5"
FAR = "5 edits on 9 characters from 'Coca Cola': similarity 0.4444 is below the threshold of 0.5, so 0"
TIE = "2 edits on 4 characters from 'abcd': similarity 0.5, but distance / length 0.5 is not below the threshold of 0.5"
NOTHING = "nothing in common with 'xyz', so 0"


@pytest.mark.parametrize(
    ("prediction", "reference", "variant", "reason", "sentence"),
    [
        ("Coca  cola", "Coca Cola", "standard", "equal", "equal to 'Coca Cola', so 1"),
        ("Coca  Cola", "Coca Cola", "lmms_eval_0_2", "equal", "equal to 'Coca Cola', so 1"),
        ("CocaCola", "Coca Cola", "standard", "close enough", CLOSE),
        ("CocaCola", "Coca Cola", "lmms_eval_0_2", "close enough", f"{CLOSE}, so 1"),
        ("The Coca", "Coca Cola", "standard", "under the threshold", FAR),
        ("ab##", "abcd", "pypi_anls", "under the threshold", f"{TIE}, so 0"),
        (" \n", "Coca Cola", "standard", "empty", "the prediction is empty, so 0"),
        ("", "", "standard", "equal", "equal to '', so 1"),
        ("", "", "mp_docvqa", "empty", "the prediction is empty, so 0"),
        ("None", "none", "mp_docvqa", "empty", "'None' counts as no answer, so 0"),
        ("abc", "xyz", "nls", "nothing in common", NOTHING),
        ("abc", "xyz", "mistral_evals", "nothing in common", NOTHING),
        ("abc", "xyz", "vlmevalkit_mmlongbench", "nothing in common", NOTHING),
    ],
)
def test_explain_gives_reason_and_sentence(
    prediction: str, reference: str, variant: str, reason: str, sentence: str
) -> None:
    why = anls_metric.explain(prediction, [reference], variant=variant)
    assert why.reason == reason
    assert str(why) == sentence


def test_sentence_shows_all_digits_of_the_threshold() -> None:
    sentence = str(anls_metric.explain("The Coca", ["Coca Cola"], threshold=0.44444445))
    assert sentence.endswith("similarity 0.4444444444444444 is below the threshold of 0.44444445, so 0")


@example("TVLKINGHEDS", ["TALKINGHEADS"])
@given(st.text("ab cß", max_size=30), st.lists(st.text("ab cß", max_size=30), min_size=1, max_size=3))
def test_edits_match_the_distance_and_restore_both_texts(prediction: str, references: list[str]) -> None:
    for match in anls_metric.explain(prediction, references).matches:
        assert "".join(edit.prediction for edit in match.edits) == match.normalized_prediction
        assert "".join(edit.reference for edit in match.edits) == match.normalized_reference
        changed = [edit for edit in match.edits if edit.operation != "equal"]
        assert sum(max(len(edit.prediction), len(edit.reference)) for edit in changed) == match.distance
        assert all(edit.prediction == edit.reference for edit in match.edits if edit.operation == "equal")


@pytest.mark.parametrize(
    ("prediction", "references", "shown"),
    [
        (
            "the <b>  cola",
            ["<b> coca", "tea"],
            "<p>5 edits on 12 characters from &#x27;&lt;b&gt; coca&#x27;: similarity 0.5833, at least the threshold of "
            "0.5</p><p style='white-space: pre-wrap'><del>the </del>&lt;b&gt; co<del>l</del><ins>c</ins>a</p>",
        ),
        ("Cola", ["cola"], "<p>equal to &#x27;cola&#x27;, so 1</p>"),
        ("", ["<b>"], "<p>the prediction is empty, so 0</p><p style='white-space: pre-wrap'><ins>&lt;b&gt;</ins></p>"),
    ],
)
def test_explanation_of_a_string_shows_the_edits_in_a_notebook(
    prediction: str, references: list[str], shown: str
) -> None:
    assert anls_metric.explain(prediction, references)._repr_html_() == shown


def test_explanation_of_a_value_lists_the_wrong_leaves_in_a_notebook() -> None:
    why = anls_metric.explain_star({"<total>": "5", "date": "1988"}, {"<total>": "12.50", "date": "1988"})
    shown = why._repr_html_()
    assert shown.startswith("<p>1 of 2 leaves correct")
    assert shown.count("<li>") == 1
    assert "&lt;total&gt;" in shown
