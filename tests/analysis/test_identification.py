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

COLUMNS = [case.prediction for case in CASES], [case.references for case in CASES]
SCORES = {name: anls_scores(*COLUMNS, variant=name) for name in VARIANTS}


def of_variant(variant: str) -> Callable[[str, list[str]], float]:
    return lambda prediction, references: anls_score(prediction, references, variant=variant)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_identified_as_itself(variant: str) -> None:
    identification = identify(of_variant(variant))
    assert set(identification.variants) == {name for name in VARIANTS if SCORES[name] == SCORES[variant]}
    assert identification.variant in identification.variants == identification.nearest
    assert (identification.arguments, identification.returns, identification.count) == (
        "prediction, references",
        "the score",
        len(CASES),
    )
    assert (identification.differences, identification.errors) == ((), ())


def test_cases_tell_all_variants_apart_that_the_golden_cases_tell_apart() -> None:
    cases = [case for case in GOLDEN_CASES.values() if case["references"]]
    columns = [case["prediction"] for case in cases], [case["references"] for case in cases]
    golden = {name: anls_scores(*columns, variant=name) for name in VARIANTS}
    for pair in combinations(VARIANTS, 2):
        same, same_here = (table[pair[0]] == table[pair[1]] for table in (golden, SCORES))
        assert same == same_here, pair


def test_cases_are_golden_cases() -> None:
    golden = {(case["prediction"], tuple(case["references"])) for case in GOLDEN_CASES.values()}
    assert [case for case in CASES if (case.prediction, case.references) not in golden] == []


ANLS = of_variant("rrc")


def anls_by_keywords(*, outputs: list[str], answers: list[list[str]]) -> dict[str, Any]:
    return {"name": "anls", "anls": mean(anls_scores(outputs, answers, variant="rrc"))}


@pytest.mark.parametrize(
    ("function", "arguments", "returns"),
    [
        (lambda answers, output: ANLS(output, answers), "references, prediction", "the score"),
        (lambda outputs, answers: anls_scores(outputs, answers, variant="rrc"), "predictions, references", "the score"),
        (
            lambda answers, outputs: list(map(ANLS, outputs, answers)),
            "references, predictions",
            "the score",
        ),
        (lambda output, answers: 1 - ANLS(output, answers), "prediction, references", "1 - the score"),
        (lambda output, answers: 100 * ANLS(output, answers), "prediction, references", "100 times the score"),
        (
            lambda output, answers: 100 - 100 * ANLS(output, answers),
            "prediction, references",
            "100 - 100 times the score",
        ),
        (lambda output, answers: (ANLS(output, answers), "matched"), "prediction, references", "the score"),
        (lambda output, answers: ANLS(output, answers) + 5e-10, "prediction, references", "the score"),
        (
            lambda output, answers: SimpleNamespace(tolist=lambda: [ANLS(output, answers)]),
            "prediction, references",
            "the score",
        ),
        (anls_by_keywords, "predictions, references", "the score"),
    ],
)
def test_call_and_scale_are_found_out(function: Callable[..., Any], arguments: str, returns: str) -> None:
    identification = identify(function)
    assert (identification.variants, identification.arguments, identification.returns) == (("rrc",), arguments, returns)


def test_function_of_one_reference_is_identified() -> None:
    identification = identify(Levenshtein.normalized_similarity)
    assert (identification.variants, identification.arguments) == (("nls",), "prediction, reference")
    assert identification.count == sum(len(case.references) == 1 for case in CASES) < len(CASES)


def test_difference_names_the_nearest_variant_and_the_plainest_cases_with_both_numbers() -> None:
    def lenient(prediction: str, references: list[str]) -> float:
        return 1.0 if prediction == "rain" else ANLS(prediction, references) - 0.001 * (prediction == "0.28.")

    identification = identify(lenient)
    assert (identification.variants, identification.variant, identification.nearest) == ((), None, ("rrc",))
    assert [(each.case.prediction, each.score, each.expected) for each in identification.differences] == [
        ("rain", 1.0, 0.0),
        ("0.28.", 0.799, 0.8),
    ]
    assert str(identification) == (
        f"the function is no known variant; the nearest is rrc: 2 of {len(CASES)} cases differ\n"
        "called with (prediction, references), it returns the score\n"
        "  'rain' against 'shine': the function gives 1.0, rrc gives 0.0\n"
        "  '0.28.' against '0.28': the function gives 0.799, rrc gives 0.8"
    )


def test_at_most_three_differences_are_printed() -> None:
    identification = identify(lambda prediction, references: float(prediction in references))
    assert len(identification.differences) > 3
    assert len([line for line in str(identification).splitlines() if line.startswith("  ")]) == 3


def test_function_that_always_raises_is_reported_with_its_error_and_the_case() -> None:
    def broken(prediction: str, references: list[str]) -> float:
        raise RuntimeError("no\n model")

    identification = identify(broken)
    assert (identification.variants, identification.nearest) == ((), ())
    assert (
        str(identification)
        == "the function raises RuntimeError: no model, for 'CocaCola' against 'Coca Cola' or 'Coca Cola Company'"
    )


def test_error_for_one_case_is_a_difference() -> None:
    def broken(prediction: str, references: list[str]) -> float:
        return ANLS(prediction, references) / (prediction != "rain")

    identification = identify(broken)
    assert (identification.variants, identification.nearest) == ((), ("rrc",))
    assert "'rain' against 'shine': the function raises ZeroDivisionError: float division by zero, rrc" in str(
        identification
    )


def test_error_for_blank_texts_does_not_hide_the_variant() -> None:
    """Several published programs divide by 0 there."""

    def of_blank_texts(prediction: str, references: list[str]) -> float:
        lengths = [max(len(prediction.strip()), len(reference.strip())) for reference in references]
        return ANLS(prediction, references) / min(1, *lengths, 1)

    identification = identify(of_blank_texts)
    assert identification.variants == ("rrc",)
    assert "the function raises ZeroDivisionError: float division by zero, for '' against 'a' or ''" in str(
        identification
    )
    assert "do not count" in str(identification)


@pytest.mark.parametrize("result", [None, "0.5", True, [0.5, 0.5], float("nan")])
def test_result_without_a_number_is_no_score(result: Any) -> None:
    identification = identify(lambda prediction, references: result)
    assert identification.variants == ()
    assert len(identification.differences or identification.errors) == identification.count or result != result


def test_identify_refuses_uncallable_objects() -> None:
    with pytest.raises(ValueError, match="function is 'anls' \\(str\\)"):
        identify("anls")  # type: ignore[arg-type]


# Other programs


def test_pypi_anls_is_identified(tmp_path: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """In its own process, since `import anls` loads our file in the checkout."""
    (tmp_path / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    program = "from anls import anls_score; from anls_metric import identify; print(*identify(anls_score).variants)"
    assert run_python(program, tmp_path).stdout == "pypi_anls\n"


@pytest.mark.filterwarnings("ignore:Treating ground truth")
def test_anls_star_is_standard() -> None:
    anls_star: Any = pytest.importorskip("anls_star")
    identification = identify(anls_star.anls_score)
    assert (identification.variants, identification.arguments) == (("standard",), "references, prediction")


def test_edit_distance_of_torchmetrics_is_no_variant() -> None:
    text: Any = pytest.importorskip("torchmetrics.functional.text")
    identification = identify(text.edit_distance)
    assert (identification.variants, identification.arguments) == ((), "prediction, reference")
    assert len(identification.differences) > 10


def test_inverted_port_is_no_variant() -> None:
    """A port of the pull requests to evaluate that docs/variants.md describes: the distance, not the similarity."""

    def inverted(predictions: list[str], references: list[list[str]]) -> dict[str, float]:
        if isinstance(predictions, str) or isinstance(references[0], str):
            raise ValueError("Predictions and/or references don't match the expected format")
        distances = [
            min(Levenshtein.normalized_distance(prediction.lower(), reference.lower()) for reference in accepted)
            for prediction, accepted in zip(predictions, references)
        ]
        return {"anls_score": mean(distance if distance >= 0.5 else 0.0 for distance in distances)}

    identification = identify(inverted)
    assert (identification.variants, identification.arguments) == ((), "predictions, references")
    assert identification.differences
