"""What the report shows of an answer and of all questions: every number equals that of scoring again."""

from __future__ import annotations

import pytest

from anls_metric import VARIANTS, Variant, explain, get_variant
from anls_metric.analysis import curves
from anls_metric.analysis.alignment import MAX_CELLS, align
from anls_metric.analysis.scored import Scored, score_under
from tests.analysis.scoring import score_columns
from tests.conftest import fuzzed_rows


@pytest.mark.parametrize(
    ("prediction", "reference", "sizes"),
    [
        ("CocaCola", "Coca Cola", [4, 4, 0, 1, 4, 4]),
        ("xCola", "Cola", [0, 0, 1, 0, 4, 4]),
        ("  COLA", "colas ", [2, 0, 0, 0, 4, 4, 0, 1, 0, 1]),
        ("a \n b", "A b!", [1, 1, 0, 0, 3, 1, 0, 0, 1, 1, 0, 1]),
        ("İstanbul", "istanbu", [0, 1, 1, 0, 6, 6, 1, 0]),
        ("🙂a", "🙂b", [1, 1, 1, 1]),
    ],
)
def test_align_counts_characters_of_the_texts_as_written(prediction: str, reference: str, sizes: list[int]) -> None:
    assert align(explain(prediction, [reference])) == sizes


@pytest.mark.parametrize("variant", ["standard", "stvqa", "nls", "mistral_evals", "rrc"])
def test_align_covers_both_texts(variant: str) -> None:
    for prediction, references in fuzzed_rows(100, 7):
        why = explain(prediction, references, variant=variant)
        sizes = align(why)
        assert sizes is not None
        assert (sum(sizes[::2]), sum(sizes[1::2])) == (len(prediction), len(why.closest))


def test_align_refuses_texts_that_are_too_long_or_differ_everywhere() -> None:
    long = "a" * (int(MAX_CELLS**0.5) + 1)
    assert align(explain(long, [long + "b"])) is None
    assert align(explain("ab" * 1000, ["ac" * 1000], variant="nls")) is None


ROWS = [*fuzzed_rows(300, 11), ("none", ["none"]), ("", ["a"]), ("", [""]), ("ab", ["abcd"]), ("İİ", ["i"])]
PREDICTIONS, REFERENCES = [*zip(*ROWS)]


def score_rows(variant: str = "standard", missing: int = 0) -> Scored:
    return score_columns([*PREDICTIONS, *[None] * missing], [*REFERENCES, *[["a"]] * missing], scorer=variant)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_missing_answers_score_0_under_every_variant(variant: Variant) -> None:
    half, whole = score_rows(missing=len(ROWS)), score_rows()
    assert score_under(half.answers, variant) == pytest.approx(score_under(whole.answers, variant) / 2)


@pytest.mark.parametrize("variant", VARIANTS)
def test_score_under_the_own_variant_is_the_score(variant: str) -> None:
    scored = score_rows(variant)
    assert score_under(scored.answers, get_variant(variant)) == scored.anls


@pytest.mark.parametrize(("variant", "expected"), [("standard", 0.5), ("nls", 0.0)])
def test_get_minimum_similarity_is_where_scores_begin(variant: str, expected: float) -> None:
    assert curves.get_minimum_similarity(VARIANTS[variant]) == expected


def test_count_similarities_leaves_out_equal_answers_and_counts_negative_similarities_first() -> None:
    scored = score_columns(["İİ", "a", "abc"], [["q"], ["a"], ["abcd"]], scorer="rrc")
    assert min(scored.similarities) < 0
    counts = curves.count_similarities(scored)
    assert (counts[0], counts[15], sum(counts)) == (1, 1, 2)
