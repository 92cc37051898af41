"""Random answers have the scores of the real programs: PyPI anls 0.0.2 and anls_star."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import anls_metric
from tests.conftest import Rows, fuzzed_rows


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_variant_pypi_anls_gives_the_bits_of_pypi_anls(
    pypi_anls: Callable[[Rows, float], list[float]], threshold: float
) -> None:
    rows = fuzzed_rows(4000, seed=int(threshold * 100))
    ours = anls_metric.anls_scores([row[0] for row in rows], [row[1] for row in rows], threshold, "pypi_anls")
    theirs = pypi_anls(rows, threshold)
    assert [row for row, our_score, their_score in zip(rows, ours, theirs) if our_score != their_score] == []
    assert len(set(ours)) > 1 or threshold == 0


@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_variant_standard_gives_the_bits_of_anls_star_on_texts(
    threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    anls_star = pytest.importorskip("anls_star")
    tree = pytest.importorskip("anls_star.anls_star").ANLSTree
    monkeypatch.setattr(tree, "THRESHOLD", threshold)
    rows = fuzzed_rows(1500, seed=7 + int(threshold * 100))
    ours = anls_metric.anls_scores([row[0] for row in rows], [row[1] for row in rows], threshold)
    theirs = [anls_star.anls_score(tuple(references), prediction) for prediction, references in rows]
    assert [row for row, our_score, their_score in zip(rows, ours, theirs) if our_score != their_score] == []
    assert len(set(ours)) > 1
