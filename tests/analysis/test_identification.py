"""Which variant a foreign function computes."""

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
    found = identify(of_variant(variant))
    assert set(found.variants) == {name for name in VARIANTS if SCORES[name] == SCORES[variant]}
    assert found.variant in found.variants == found.nearest
    assert (found.arguments, found.returns, found.count) == ("prediction, references", "the score", len(CASES))
    assert (found.differences, found.errors) == ((), ())


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
    found = identify(function)
    assert (found.variants, found.arguments, found.returns) == (("rrc",), arguments, returns)


def test_function_of_one_reference_is_identified() -> None:
    found = identify(Levenshtein.normalized_similarity)
    assert (found.variants, found.arguments) == (("nls",), "prediction, reference")
    assert found.count == sum(len(case.references) == 1 for case in CASES) < len(CASES)


def test_difference_names_the_nearest_variant_and_the_plainest_cases_with_both_numbers() -> None:
    def lenient(prediction: str, references: list[str]) -> float:
        return 1.0 if prediction == "rain" else ANLS(prediction, references) - 0.001 * (prediction == "0.28.")

    found = identify(lenient)
    assert (found.variants, found.variant, found.nearest) == ((), None, ("rrc",))
    assert [(each.case.prediction, each.score, each.expected) for each in found.differences] == [
        ("rain", 1.0, 0.0),
        ("0.28.", 0.799, 0.8),
    ]
    assert str(found) == (
        f"the function is no known variant; the nearest is rrc: 2 of {len(CASES)} cases differ\n"
        "called with (prediction, references), it returns the score\n"
        "  'rain' against 'shine': the function gives 1.0, rrc gives 0.0\n"
        "  '0.28.' against '0.28': the function gives 0.799, rrc gives 0.8"
    )


def test_at_most_three_differences_are_printed() -> None:
    found = identify(lambda prediction, references: float(prediction in references))
    assert len(found.differences) > 3
    assert len([line for line in str(found).splitlines() if line.startswith("  ")]) == 3


def test_function_that_always_raises_is_reported_with_its_error_and_the_case() -> None:
    def broken(prediction: str, references: list[str]) -> float:
        raise RuntimeError("no\n model")

    found = identify(broken)
    assert (found.variants, found.nearest) == ((), ())
    assert (
        str(found)
        == "the function raises RuntimeError: no model, for 'CocaCola' against 'Coca Cola' or 'Coca Cola Company'"
    )


def test_error_for_one_case_is_a_difference() -> None:
    def broken(prediction: str, references: list[str]) -> float:
        return ANLS(prediction, references) / (prediction != "rain")

    found = identify(broken)
    assert (found.variants, found.nearest) == ((), ("rrc",))
    assert "'rain' against 'shine': the function raises ZeroDivisionError: float division by zero, rrc" in str(found)


def test_error_for_blank_texts_does_not_hide_the_variant() -> None:
    """Several published programs divide by 0 there."""

    def of_blank_texts(prediction: str, references: list[str]) -> float:
        lengths = [max(len(prediction.strip()), len(reference.strip())) for reference in references]
        return ANLS(prediction, references) / min(1, *lengths, 1)

    found = identify(of_blank_texts)
    assert found.variants == ("rrc",)
    assert "the function raises ZeroDivisionError: float division by zero, for '' against 'a' or ''" in str(found)
    assert "do not count" in str(found)


@pytest.mark.parametrize("result", [None, "0.5", True, [0.5, 0.5], float("nan")])
def test_what_is_no_number_is_no_score(result: Any) -> None:
    found = identify(lambda prediction, references: result)
    assert found.variants == ()
    assert len(found.differences or found.errors) == found.count or result != result


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ValueError, match="function is 'anls' \\(str\\)"):
        identify("anls")  # type: ignore[arg-type]


# Programs of others


def test_pypi_anls_is_identified(tmp_path: Path, run_python: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """In a process of its own: in the checkout `import anls` is ours."""
    (tmp_path / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    program = "from anls import anls_score; from anls_metric import identify; print(*identify(anls_score).variants)"
    assert run_python(program, tmp_path).stdout == "pypi_anls\n"


@pytest.mark.filterwarnings("ignore:Treating ground truth")
def test_anls_star_is_standard() -> None:
    anls_star: Any = pytest.importorskip("anls_star")
    found = identify(anls_star.anls_score)
    assert (found.variants, found.arguments) == (("standard",), "references, prediction")


def test_edit_distance_of_torchmetrics_is_no_variant() -> None:
    text: Any = pytest.importorskip("torchmetrics.functional.text")
    found = identify(text.edit_distance)
    assert (found.variants, found.arguments) == ((), "prediction, reference")
    assert len(found.differences) > 10


def test_inverted_port_is_no_variant() -> None:
    """A port of the pull requests of evaluate, as docs/variants.md describes them: the distance, not the similarity."""

    def inverted(predictions: list[str], references: list[list[str]]) -> dict[str, float]:
        if isinstance(predictions, str) or isinstance(references[0], str):
            raise ValueError("Predictions and/or references don't match the expected format")
        distances = [
            min(Levenshtein.normalized_distance(prediction.lower(), reference.lower()) for reference in accepted)
            for prediction, accepted in zip(predictions, references)
        ]
        return {"anls_score": mean(distance if distance >= 0.5 else 0.0 for distance in distances)}

    found = identify(inverted)
    assert (found.variants, found.arguments) == ((), "predictions, references")
    assert found.differences
