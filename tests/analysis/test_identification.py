"""The variant that a function computes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rapidfuzz.distance import Levenshtein

from anls_metric import VARIANTS, anls_score, anls_scores, identify, mean
from anls_metric.analysis.identification import CASES
from tests.conftest import find_pypi_anls
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
        "cases where both texts are blank do not count: several published programs divide by 0 there",
    ),
]


@pytest.mark.parametrize(("function", "nearest", "sentences"), DESCRIBED)
def test_differences_and_errors_are_described(function: Function, nearest: tuple[str, ...], sentences: str) -> None:
    found = identify(function)
    assert (str(found), found.nearest) == (sentences, nearest)
    assert (found.variants, found.variant) == ((("rrc",), "rrc") if function is fail_at_blanks else ((), None))


def test_differences_have_both_numbers_and_three_are_printed() -> None:
    numbers = [(each.case.prediction, each.score, each.expected) for each in identify(lenient).differences]
    assert numbers == [("rain", 1.0, 0.0), ("0.28.", 0.799, 0.8)]
    found = identify(lambda prediction, references: float(prediction in references))
    assert len(found.differences) > 3
    assert str(found).count("\n  ") == 3


@pytest.mark.parametrize("result", [None, "0.5", True, [0.5, 0.5], float("nan")])
def test_result_without_a_number_is_no_score(result: Any) -> None:
    found = identify(lambda prediction, references: result)
    assert found.variants == ()
    assert len(found.differences or found.errors) == found.count or result != result


def test_identify_refuses_uncallable_objects() -> None:
    with pytest.raises(ValueError, match="function is 'anls' \\(str\\)"):
        identify("anls")  # type: ignore[arg-type]


# Other programs


def test_pypi_anls_is_identified(tmp_path: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """In its own process, since `import anls` loads our file in the checkout."""
    (tmp_path / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    program = "from anls import anls_score; from anls_metric import identify; print(*identify(anls_score).variants)"
    assert run_python(program, tmp_path).stdout == "pypi_anls\n"


def inverted_port(predictions: list[str], references: list[list[str]]) -> dict[str, float]:
    """A port of the pull requests to evaluate that docs/variants.md describes: the distance, not the similarity."""
    if isinstance(predictions, str) or isinstance(references[0], str):
        raise ValueError("Predictions and/or references don't match the expected format")
    distances = [
        min(Levenshtein.normalized_distance(prediction.lower(), reference.lower()) for reference in accepted)
        for prediction, accepted in zip(predictions, references)
    ]
    return {"anls_score": mean(distance if distance >= 0.5 else 0.0 for distance in distances)}


@pytest.mark.filterwarnings("ignore:Treating ground truth")
@pytest.mark.parametrize(
    ("load", "variants", "arguments", "differences"),
    [
        (lambda: pytest.importorskip("anls_star").anls_score, ("standard",), SWAPPED, 0),
        (lambda: pytest.importorskip("torchmetrics.functional.text").edit_distance, (), "prediction, reference", 11),
        (lambda: inverted_port, (), COLUMN, 1),
    ],
)
def test_other_programs(load: Function, variants: tuple[str, ...], arguments: str, differences: int) -> None:
    found = identify(load())
    assert (found.variants, found.arguments) == (variants, arguments)
    assert len(found.differences) >= differences
