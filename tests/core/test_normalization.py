"""Normalizing both sides before a variant compares them. The strings were made up for the tests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric import anls_score, anls_scores, get_scorer, score
from anls_metric.core.strings.normalization import NORMALIZATIONS, normalizer
from anls_metric.core.strings.variants import VARIANTS

# a row of the table -> a prediction and a reference that are equal after it, and not before
EQUAL = {
    "nfc": ("Cafe\u0301", "Caf\u00e9"),
    "width": ("\uff21\uff11\uff05\u3000\uff42", "A1% b"),
    "typography": ("\u201c\ufb01n\u2013al\u201d\u00a0\u200bx", '"fin-al" x'),
    "digits": ("\u0661\u0662\u0663", "123"),
    "spaces": ("$ 1 , 200", "$1,200"),
}


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("variant", ["standard", "rrc", "pypi_anls", "nls"])
def test_normalize_makes_both_sides_equal(name, variant):
    prediction, reference = EQUAL[name]
    assert anls_score(prediction, [reference], variant=variant) < 1.0
    scorer: Any = get_scorer(variant, normalize=name)
    for pair in ((prediction, reference), (reference, prediction)):
        assert anls_score(pair[0], [pair[1]], variant=scorer) == 1.0
        assert scorer.explain(pair[0], [pair[1]]).score == 1.0


def test_every_row_of_strings_is_tried():
    assert list(EQUAL) == [name for name, row in NORMALIZATIONS.items() if not row.of_keys]


@pytest.mark.parametrize("variant", VARIANTS)
def test_normalize_is_what_a_variant_gets_when_the_texts_are_normalized_before(variant):
    pairs = [("\uff21 b\u2013c", ["A b-d", "x"]), ("", ["\u3000"]), ("\ufb01n", ["fin."]), ("Plain", ["plain"])]
    change = normalizer("width,typography")
    before = [(change(text), list(map(change, texts))) for text, texts in pairs]
    scorer: Any = get_scorer(variant, normalize="typography,width")
    predictions, references = map(list, zip(*pairs))
    expected = anls_scores([text for text, _ in before], [texts for _, texts in before], variant=variant)
    assert scorer.score(predictions, references) == expected
    assert [scorer.explain(*pair).score for pair in pairs] == scorer.score(*zip(*pairs))


def test_normalize_is_in_the_signature_in_the_order_of_the_table():
    signature = get_scorer("rrc", normalize=" typography, width").signature()
    assert signature == "anls|rrc|threshold:0.5|normalize:width,typography|v2"
    assert get_scorer("rrc", normalize="").signature() == get_scorer("rrc").signature()
    assert "|normalize:keys|" in get_scorer("anls_star", normalize="keys").signature()


def test_an_explanation_shows_references_as_given():
    explanation = get_scorer("standard", normalize="width").explain("\uff21b", ["\uff21bc"])
    assert explanation.closest == "\uff21bc"
    assert explanation.matches[0].normalized_reference == "abc"


@pytest.mark.parametrize(
    ("prediction", "reference", "names", "expected"),
    [
        ({"invoiceDate": "1"}, {"invoice_date": "1"}, "keys", 1.0),
        ({"Invoice Date": {"Net Price": "1"}}, {"invoice_date": {"net-price": "1"}}, "keys", 1.0),
        ({"a": "1", "A": "2"}, {"a": "1", "A": "2"}, "keys", 1.0),  # folded, one of them would be lost
        ({"a": ["\uff21"]}, {"a": ["A"]}, "width", 1.0),
        ({"invoiceDate": "\uff11"}, {"invoice_date": "1"}, "width,keys", 1.0),
    ],
)
def test_normalize_changes_keys_and_texts_of_values(prediction, reference, names, expected):
    scorer = get_scorer("anls_star", normalize=names)
    assert float(scorer.score([prediction], [reference])[0]) == expected
    assert scorer.explain(prediction, reference).score == expected


@pytest.mark.parametrize(
    ("variant", "name", "words"),
    [
        ("standard", "nope", "unknown normalization 'nope'; choose from nfc, width"),
        ("standard", "keys", "use it with the variant anls_star"),
        ("dude", "width", "dude has no option 'normalize'"),
    ],
)
def test_normalize_refuses_what_it_cannot_do(variant, name, words):
    with pytest.raises(ValueError, match=words):
        get_scorer(variant, normalize=name)


def test_score_takes_normalize():
    scores = score(["\uff21"], [["A"]], normalize=["width"])
    assert (scores.anls, "normalize:width" in scores.signature) == (1.0, True)


@pytest.mark.parametrize("name", [*EQUAL, "nfc,width,typography,digits,spaces"])
@given(st.text(max_size=20))
def test_normalizing_again_changes_nothing(name, text):
    change = normalizer(name)
    assert change(change(text)) == change(text)


@pytest.mark.parametrize("name", [name for name, row in NORMALIZATIONS.items() if not row.of_ascii])
@given(st.text(st.characters(max_codepoint=127), max_size=20))
def test_strings_of_ascii_stay_as_they_are(name, text):
    assert normalizer(name)(text) == NORMALIZATIONS[name].apply(text) == text


def test_squares_and_fractions_stay_as_they_are():
    text = "12 m² × ½ — ①"
    assert normalizer("nfc,width,digits")(text) == text


@pytest.mark.parametrize("name", VARIANTS)
def test_without_the_option_no_variant_normalizes_more(name):
    assert get_scorer(name, normalize=None) == get_scorer(name)
    assert "normalize" not in get_scorer(name).signature()
    assert get_scorer(name, normalize="width").signature() != get_scorer(name).signature()


def test_normalize_is_an_option_of_tables_groups_and_all_variants():
    rows = [{"id": n, "prediction": "Ａ", "answers": ["A"], "kind": n % 2} for n in range(4)]
    scores = score(rows, normalize="width", by="kind", variant="rrc,nls")
    (document,) = scores.to_dict()["submissions"]
    assert [group["anls"] for group in document["groups"]["kind"].values()] == [1.0, 1.0]
    assert {*document["variants"].values()} == {1.0}
    with pytest.raises(ValueError, match="does not apply to benchmark metrics"):
        score([{**row, "answer_format": "Str"} for row in rows], normalize="width", variant="mmlongbench_doc")
