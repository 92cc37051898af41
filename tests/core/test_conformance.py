"""Every score that a published implementation gave is reproduced bit for bit, at every threshold."""

from __future__ import annotations

import json
from typing import Any

import pytest

import anls
from tests.conftest import CONFORMANCE

CASES = {case["id"]: case for case in json.loads((CONFORMANCE / "cases.json").read_text(encoding="utf-8"))}
IMPLEMENTATIONS = sorted(path.stem for path in (CONFORMANCE / "vectors").glob("*.json"))

# Its edit distance is a beam search, wrong on texts of very different lengths (tests/data/conformance/README.md).
KNOWN_WRONG = {("docsaid_nls", "long-003")}


def golden(name: str) -> dict[str, Any]:
    vector: dict[str, Any] = json.loads((CONFORMANCE / "vectors" / f"{name}.json").read_text(encoding="utf-8"))
    return vector


def same(name: str, ours: float, theirs: float) -> bool:
    if name == "pix2struct":  # reports 0 to 100
        return 100.0 * ours == theirs
    if name == "docsaid_nls":  # computes in float32
        return abs(ours - theirs) < 1e-6
    return ours == theirs


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_every_golden_score_is_reproduced(name: str) -> None:
    vector = golden(name)
    tables: dict[float | None, Any] = {None: vector["scores"]}
    tables |= {float(text): scores for text, scores in (vector.get("scores_by_threshold") or {}).items()}
    compared, different = 0, []
    for threshold, scores in tables.items():
        # A score is {"error": ...} where the original crashed. Rows without references are an error with us.
        numbers = {
            key: score for key, score in scores.items() if isinstance(score, (int, float)) and CASES[key]["references"]
        }
        ours = anls.anls_scores(
            [CASES[key]["prediction"] for key in numbers],
            [CASES[key]["references"] for key in numbers],
            threshold=threshold,
            variant=name,
        )
        for (key, theirs), score in zip(numbers.items(), ours):
            compared += 1
            if not same(name, score, theirs) and (name, key) not in KNOWN_WRONG:
                different.append((threshold, key, theirs, score))
    assert different == []
    assert compared >= 200


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_rows_where_the_original_crashed_get_a_score_or_a_clear_error(name: str) -> None:
    for key, score in golden(name)["scores"].items():
        if isinstance(score, dict) or not CASES[key]["references"]:
            prediction, references = CASES[key]["prediction"], CASES[key]["references"]
            if references:
                assert 0 <= anls.anls_score(prediction, references, variant=name) <= 1
            else:
                with pytest.raises(ValueError, match="at least one accepted answer"):
                    anls.anls_score(prediction, references, variant=name)


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
@pytest.mark.parametrize("threshold", [None, 0.0, 0.3, 0.5, 0.8, 1.0])
def test_one_by_one_in_a_batch_and_explained_are_the_same_bits(name: str, threshold: float | None) -> None:
    rows = [(case["prediction"], case["references"]) for case in CASES.values() if case["references"]]
    batch = anls.anls_scores([row[0] for row in rows], [row[1] for row in rows], threshold, name)
    assert batch == [anls.anls_score(*row, threshold=threshold, variant=name) for row in rows]
    assert batch == [anls.explain(*row, threshold=threshold, variant=name).score for row in rows]


def test_the_texts_among_the_nested_cases_of_anls_star() -> None:
    """`star_cases.json` holds nested values too: those are ANLS*, another metric."""
    cases = json.loads((CONFORMANCE / "star_cases.json").read_text(encoding="utf-8"))["cases"]
    compared = 0
    for case in cases:
        truth = case["gt"]["__tuple__"] if isinstance(case["gt"], dict) and "__tuple__" in case["gt"] else [case["gt"]]
        if isinstance(case["pred"], str) and all(isinstance(text, str) for text in truth):
            compared += 1
            assert anls.anls_score(case["pred"], truth) == case["score"], case["id"]
    assert compared >= 8


def test_every_variant_has_a_golden_file() -> None:
    named = {name for variant in anls.VARIANTS.values() for name in (variant.name, *variant.aliases)}
    assert set(IMPLEMENTATIONS) <= named
    assert {anls.get_variant(name).name for name in IMPLEMENTATIONS} == set(anls.VARIANTS)
