"""The variant that a function computes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

from anls_metric import VARIANTS, anls_score, anls_scores, identify, mean
from anls_metric.analysis.identification import CASES
from tests.core.test_conformance import CASES as GOLDEN_CASES

Function = Callable[..., Any]
COLUMNS = [case.prediction for case in CASES], [case.references for case in CASES]
SCORES = {name: anls_scores(*COLUMNS, variant=name) for name in VARIANTS}
PLAIN, SWAPPED, COLUMN = "prediction, references", "references, prediction", "predictions, references"


def rrc(prediction: str, references: list[str]) -> float:
    return anls_score(prediction, references, variant="rrc")


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_identified_as_itself(variant: str) -> None:
    found = identify(lambda prediction, references: anls_score(prediction, references, variant=variant))
    assert set(found.variants) == {name for name in VARIANTS if SCORES[name] == SCORES[variant]}
    assert found.variant in found.variants == found.nearest
    assert (found.arguments, found.returns, found.count) == (PLAIN, "the score", len(CASES))
    assert (found.differences, found.errors) == ((), ())


def test_cases_are_golden_cases_and_tell_the_same_variants_apart() -> None:
    cases = [case for case in GOLDEN_CASES.values() if case["references"]]
    assert {*CASES} <= {(case["prediction"], tuple(case["references"])) for case in cases}
    columns = [case["prediction"] for case in cases], [case["references"] for case in cases]
    golden = {name: anls_scores(*columns, variant=name) for name in VARIANTS}
    for one, other in combinations(VARIANTS, 2):
        assert (golden[one] == golden[other]) == (SCORES[one] == SCORES[other]), (one, other)


def by_keywords(*, outputs: list[str], answers: list[list[str]]) -> dict[str, Any]:
    return {"name": "anls", "anls": mean(anls_scores(outputs, answers, variant="rrc"))}


@pytest.mark.parametrize(
    ("function", "arguments", "returns"),
    [
        (lambda answers, output: rrc(output, answers), SWAPPED, "the score"),
        (lambda outputs, answers: anls_scores(outputs, answers, variant="rrc"), COLUMN, "the score"),
        (lambda answers, outputs: list(map(rrc, outputs, answers)), "references, predictions", "the score"),
        (lambda output, answers: 1 - rrc(output, answers), PLAIN, "1 - the score"),
        (lambda output, answers: 100 * rrc(output, answers), PLAIN, "100 times the score"),
        (lambda output, answers: 100 - 100 * rrc(output, answers), PLAIN, "100 - 100 times the score"),
        (lambda output, answers: (rrc(output, answers), "matched"), PLAIN, "the score"),
        (lambda output, answers: rrc(output, answers) + 5e-10, PLAIN, "the score"),
        (lambda output, answers: SimpleNamespace(tolist=lambda: [rrc(output, answers)]), PLAIN, "the score"),
        (by_keywords, COLUMN, "the score"),
    ],
)
def test_call_and_scale_are_found_out(function: Function, arguments: str, returns: str) -> None:
    found = identify(function)
    assert (found.variants, found.arguments, found.returns) == (("rrc",), arguments, returns)


def test_function_of_one_reference_is_identified() -> None:
    found = identify(Levenshtein.normalized_similarity)
    assert (found.variants, found.arguments) == (("nls",), "prediction, reference")
    assert found.count == sum(len(case.references) == 1 for case in CASES) < len(CASES)


def raise_always(prediction: str, references: list[str]) -> float:
    raise RuntimeError("no\n model")


def lenient(prediction: str, references: list[str]) -> float:
    return 1.0 if prediction == "rain" else rrc(prediction, references) - 0.001 * (prediction == "0.28.")


def fail_at_rain(prediction: str, references: list[str]) -> float:
    return rrc(prediction, references) / (prediction != "rain")


def fail_at_blanks(prediction: str, references: list[str]) -> float:
    """Several published programs divide by 0 for blank texts."""
    lengths = [max(len(prediction.strip()), len(reference.strip())) for reference in references]
    return rrc(prediction, references) / min(1, *lengths, 1)


DIVIDED = "raises ZeroDivisionError: float division by zero"
DESCRIBED: list[tuple[Function, tuple[str, ...], str]] = [
    (
        lenient,
        ("rrc",),
        "the function is not a known variant; the nearest is rrc: 2 of 34 cases differ\n"
        "called with (prediction, references), it returns the score\n"
        "  'rain' against 'shine': the function gives 1.0, rrc gives 0.0\n"
        "  '0.28.' against '0.28': the function gives 0.799, rrc gives 0.8",
    ),
    (
        raise_always,
        (),
        "the function raises RuntimeError: no model, for 'CocaCola' against 'Coca Cola' or 'Coca Cola Company'",
    ),
    (
        fail_at_rain,
        ("rrc",),
        "the function is not a known variant; the nearest is rrc: 1 of 34 cases differ\n"
        "called with (prediction, references), it returns the score\n"
        f"  'rain' against 'shine': the function {DIVIDED}, rrc gives 0.0",
    ),
    (
        fail_at_blanks,
        ("rrc",),
        f"the function is rrc: {VARIANTS['rrc'].meaning}\n"
        "called with (prediction, references), it returns the score; 34 of 34 cases are equal\n"
        f"the function {DIVIDED}, for '' against 'a' or ''\n"
        "cases where both strings are blank do not count: several published programs divide by 0 there",
    ),
]


@pytest.mark.parametrize(("function", "nearest", "sentences"), DESCRIBED)
def test_differences_and_errors_are_described(function: Function, nearest: tuple[str, ...], sentences: str) -> None:
    found = identify(function)
    assert (str(found), found.nearest) == (sentences, nearest)
    assert (found.variants, found.variant) == ((("rrc",), "rrc") if function is fail_at_blanks else ((), None))


@pytest.mark.parametrize("result", [None, "0.5", True, [0.5, 0.5], float("nan")])
def test_result_without_a_number_is_no_score(result: Any) -> None:
    found = identify(lambda prediction, references: result)
    assert found.variants == ()
    assert len(found.differences or found.errors) == found.count or result != result


def test_identify_refuses_uncallable_objects() -> None:
    with pytest.raises(ValueError, match="function is 'anls' \\(str\\)"):
        identify("anls")  # type: ignore[arg-type]


# Other programs


@pytest.mark.filterwarnings("ignore:Treating ground truth")
def test_score_of_anls_star_is_that_of_standard() -> None:
    found = identify(pytest.importorskip("anls_star").anls_score)
    assert (found.variants, found.arguments) == (("standard",), SWAPPED)


@pytest.mark.needs("torchmetrics")
def test_edit_distance_of_torchmetrics_is_no_variant() -> None:
    found = identify(pytest.importorskip("torchmetrics.functional.text").edit_distance)
    assert (found.variants, found.arguments) == ((), "prediction, reference")
    assert len(found.differences) >= 11
