"""Random answers have the scores of the real programs: PyPI anls 0.0.2 and anls_star."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import Rows, RunPython, find_pypi_anls, fuzzed_rows

# Runs in its own process, because `import anls` would load our file in the checkout.
PYPI_ANLS = """
import json, pathlib
from anls import anls_score
rows, threshold = json.loads(pathlib.Path("rows.json").read_text())
print(json.dumps([anls_score(*row, threshold=threshold) for row in rows]))
"""


def check_scores(rows: Rows, theirs: list[float], threshold: float, variant: str) -> None:
    ours = anls_metric.anls_scores([row[0] for row in rows], [row[1] for row in rows], threshold, variant)
    assert [
        row for row, our_score, their_score in zip(rows, ours, theirs, strict=True) if our_score != their_score
    ] == []
    assert len(set(ours)) > 1 or (variant == "pypi_anls" and threshold == 0)


THRESHOLDS = [0.5, *(pytest.param(other, marks=pytest.mark.thorough) for other in (0.0, 0.25, 0.9, 1.0))]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_variant_pypi_anls_gives_the_bits_of_pypi_anls(threshold: float, tmp_path: Path, run_python: RunPython) -> None:
    rows = fuzzed_rows(4000, seed=int(threshold * 100))
    (tmp_path / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    (tmp_path / "rows.json").write_text(json.dumps([rows, threshold]))
    check_scores(rows, json.loads(run_python(PYPI_ANLS, tmp_path).stdout), threshold, "pypi_anls")


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_variant_standard_gives_the_bits_of_anls_star_on_texts(
    threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = pytest.importorskip("anls_star.anls_star")
    monkeypatch.setattr(program.ANLSTree, "THRESHOLD", threshold)
    rows = fuzzed_rows(1500, seed=7 + int(threshold * 100))
    theirs = [program.anls_score(tuple(references), prediction) for prediction, references in rows]
    check_scores(rows, theirs, threshold, "standard")
