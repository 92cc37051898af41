"""The edits of an answer in the original texts."""

from __future__ import annotations

import pytest

from anls_metric import VARIANTS, explain
from anls_metric.analysis.alignment import MAX_CELLS, align
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
    why = explain(prediction, [reference])
    assert align(prediction, why.best, ignore_case=True) == sizes


@pytest.mark.parametrize("variant", ["standard", "stvqa", "nls", "mistral_evals", "rrc"])
def test_align_covers_both_texts(variant: str) -> None:
    for prediction, references in fuzzed_rows(100, 7):
        why = explain(prediction, references, variant=variant)
        sizes = align(prediction, why.best, VARIANTS[variant].ignore_case)
        assert sizes is not None
        assert (sum(sizes[::2]), sum(sizes[1::2])) == (len(prediction), len(why.closest))


def test_align_refuses_texts_that_are_too_long_or_differ_everywhere() -> None:
    long = "a" * (int(MAX_CELLS**0.5) + 1)
    why = explain(long, [long + "b"])
    assert align(long, why.best, ignore_case=True) is None
    many = "ab" * 1000
    why = explain(many, ["ac" * 1000], variant="nls")
    assert align(many, why.best, ignore_case=False) is None
