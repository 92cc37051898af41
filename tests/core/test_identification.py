"""The variant that a function computes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Indel, Levenshtein

from anls_metric import VARIANTS, anls_score, anls_scores, get_variant, identify, mean
from anls_metric.command.arguments import read_flags
from anls_metric.command.command_line import build_parser
from anls_metric.core.statistics.identification_cases import CASES, GOLDEN_CASES, THRESHOLDS
from tests.core.test_conformance import CASES as ALL_GOLDEN_CASES

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
    cases = [case for case in ALL_GOLDEN_CASES.values() if case["references"]]
    assert {*GOLDEN_CASES} <= {(case["prediction"], tuple(case["references"])) for case in cases}
    columns = [case["prediction"] for case in cases], [case["references"] for case in cases]
    golden = {name: anls_scores(*columns, variant=name) for name in VARIANTS}
    for one, other in combinations(VARIANTS, 2):
        assert (golden[one] == golden[other]) == (SCORES[one] == SCORES[other]), (one, other)


def by_keywords(*, outputs: list[str], answers: list[list[str]]) -> dict[str, Any]:
    return {"name": "anls", "anls": mean(anls_scores(outputs, answers, variant="rrc"))}


def as_lmms_eval(references: list[str], predictions: list[str]) -> dict[str, float]:
    return {"anls": rrc("".join(predictions), references) if isinstance(predictions, list) else 0.0}


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
        (lambda outputs, answers: [rrc(outputs[0][0], answers[0])], "lists of predictions, references", "the score"),
        (as_lmms_eval, "references, [prediction]", "the score"),
        (lambda output, answers: round(rrc(output, answers), 4), PLAIN, "the score, rounded to 4 digits"),
        (
            lambda output, answers: round(100 * rrc(output, answers), 1),
            PLAIN,
            "100 times the score, rounded to 1 digit",
        ),
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


@pytest.mark.parametrize("variant", ["standard", "rrc", "mp_docvqa", "due", "nls"])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_rounded_scores_leave_the_variants_that_they_do_not_tell_apart(variant: str, digits: int) -> None:
    found = identify(lambda output, answers: round(anls_score(output, answers, variant=variant), digits))
    assert variant in found.variants
    rounded = [round(score, digits) for score in SCORES[variant]]
    near = 0.5 * 10**-digits + 1e-9
    assert set(found.variants) == {
        name for name in VARIANTS if all(abs(one - own) <= near for one, own in zip(rounded, SCORES[name]))
    }
    assert found.returns == f"the score, rounded to {digits} digit{'s' * (digits > 1)}"


CLEANED: dict[str, Callable[[str], str]] = {
    "think": lambda text: re.sub(r"(?s)<think>.*</think>", "", text),
    "tags": lambda text: re.sub(r"<[^>]*>", "", text),
    "bold": lambda text: text.replace("**", ""),
    "prefix": lambda text: text.removeprefix("Answer: "),
    "first line": lambda text: text.split("\n")[0] if "\nIt" in text else text,
    "200 characters": lambda text: text[:200],
    "255 characters": lambda text: text[:255],
    "slashes": lambda text: text.replace("/", "-"),
    "units": lambda text: re.sub(r"(?<=\d) [a-z]+$", "", text),
}


@pytest.mark.parametrize("change", CLEANED)
def test_function_that_cleans_texts_is_not_the_variant(change: str) -> None:
    clean = CLEANED[change]
    found = identify(lambda output, answers: anls_score(clean(output), list(map(clean, answers))))
    assert (found.variants, found.nearest[0]) == ((), "standard")
    assert 1 <= len(found.differences) <= 3


def test_function_that_splits_references_is_not_the_variant() -> None:
    found = identify(lambda output, answers: anls_score(output, [part for text in answers for part in text.split("|")]))
    assert (found.variants, [each.case.references for each in found.differences]) == ((), [("Coca Cola|Pepsi",)])


def test_constant_function_is_called_constant() -> None:
    found = identify(lambda output, answers: 1.0)
    assert (found.variants, found.nearest, str(found)) == ((), (), "the function returned 1 in all cases")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (Indel.normalized_similarity, "but the Indel similarity (Levenshtein.ratio, fuzz.ratio)"),
        (lambda output, answer: fuzz.ratio(output.lower(), answer.lower()), "fuzz.ratio), case ignored"),
        (lambda output, answer: SequenceMatcher(None, output, answer).ratio(), "difflib's ratio"),
        (lambda output, answer: Levenshtein.distance(output, answer) / max(1, len(answer)), "length of the reference"),
    ],
)
def test_other_similarity_is_named(function: Function, words: str) -> None:
    found = identify(function)
    assert (found.variants, words in str(found)) == ((), True), str(found)


# Neighbors


@pytest.mark.parametrize(
    ("variant", "threshold"),
    [*(("standard", each) for each in THRESHOLDS), ("due", 0.3), ("due", 0.7), ("due", 1.0), ("monkey", 0.9)],
)
def test_other_threshold_is_found(variant: str, threshold: float) -> None:
    mine = get_variant(variant, threshold)
    found = identify(lambda output, answers: 100 * anls_score(output, answers, variant=mine))
    assert found.returns == "100 times the score"
    assert variant in found.variants or (variant, threshold) == ("due", 1.0)  # which is nls
    assert anls_scores(*COLUMNS, variant=replace(VARIANTS[found.variants[0]], **found.changes)) == anls_scores(
        *COLUMNS, variant=mine
    )
    assert found.changes.keys() <= {"threshold"}


CHANGED: list[tuple[Function, str, dict[str, Any]]] = [
    (
        lambda each: replace(each, kept="distance / length < threshold"),
        "standard",
        {"kept": "distance / length < threshold"},
    ),
    (lambda each: replace(each, ignore_case=False), "standard", {"ignore_case": False}),
    (lambda each: replace(each, threshold=0.9), "standard", {"threshold": 0.9}),
    (lambda each: replace(each, no_answers=("",)), "standard", {"no_answers": ("",)}),
    (
        lambda each: replace(each, no_answers=("",), whitespace="strip", threshold=0.7),
        "mp_docvqa",
        {"no_answers": ("",), "threshold": 0.7},
    ),
]


@pytest.mark.parametrize(("change", "variant", "changes"), CHANGED)
def test_variant_with_the_fewest_changes_is_found(change: Function, variant: str, changes: dict[str, Any]) -> None:
    mine = change(VARIANTS["standard"])
    found = identify(lambda output, answers: anls_score(output, answers, variant=mine))
    assert (found.variant, found.changes) == (variant, changes)


def test_function_of_right_or_wrong_is_found() -> None:
    found = identify(lambda output, answers: float(anls_score(output, answers, 0.8, "stvqa") > 0))
    assert (found.variant, found.changes) == ("stvqa", {"all_or_nothing": True, "threshold": 0.8})


@pytest.mark.thorough
def test_printed_variant_computes_the_same_scores() -> None:
    for change, _, changes in CHANGED:
        mine = change(VARIANTS["standard"])
        words = str(identify(lambda output, answers, mine=mine: anls_score(output, answers, variant=mine)))
        (code,) = re.findall(r"pass variant=(.*?)(?:, or --.*)?$", words, re.MULTILINE)
        assert eval(f"anls_scores(*COLUMNS, variant={code})", globals()) == anls_scores(*COLUMNS, variant=mine)
        assert all(field in words for field in changes)
        if changes.keys() <= {"threshold", "ignore_case"}:
            (flags,) = re.findall(r", or (--.*)$", words, re.MULTILINE)
            settings = read_flags(build_parser().parse_intermixed_args(["answers.json", *flags.split()]))
            typed = get_variant(str(settings.variant), settings.threshold, settings.ignore_case)
            assert anls_scores(*COLUMNS, variant=typed) == anls_scores(*COLUMNS, variant=mine)


@pytest.mark.parametrize(
    "fold",
    [
        str.casefold,
        lambda text: unicodedata.normalize("NFKC", text),
        lambda text: unicodedata.normalize("NFC", text),
        lambda text: re.sub(r"[^\w\s]", "", text),
        lambda text: re.sub(r"\b(?:a|an|the)\b", "", text.lower()),
        lambda text: text.replace(",", ""),
        lambda text: text.replace("-", " "),
        lambda text: text.replace(".", ""),
        lambda text: {"two": "2"}.get(text, text),
    ],
)
def test_function_that_folds_strings_is_no_variant(fold: Function) -> None:
    found = identify(lambda output, answers: anls_score(fold(output), list(map(fold, answers))))
    assert found.variants == ()
    assert 1 <= len(found.differences) <= 20


@pytest.mark.parametrize("threshold", [0.55, 0.72, 0.85, 0.97])
def test_threshold_between_those_that_are_tried_is_no_variant(threshold: float) -> None:
    assert identify(lambda output, answers: anls_score(output, answers, threshold=threshold)).variants == ()


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_constant_is_no_variant(score: float) -> None:
    assert identify(lambda output, answers: score).variants == ()


# Descriptions


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
        "the function is not a known variant; the nearest is rrc: 2 of 118 cases differ\n"
        "called with (prediction, references), it returns the score\n"
        "  'rain' against 'shine': the function gives 1.0, rrc gives 0.0\n"
        "  '0.28.' against '0.28': the function gives 0.799, rrc gives 0.8",
    ),
    (
        lambda prediction, references: (len(prediction) % 5) / 7,
        ("lmms_eval_0_2",),
        "the function is not a known variant: for each variant, at least 78 of 109 cases differ\n",
    ),
    (
        raise_always,
        (),
        "the function raises RuntimeError: no model, for 'CocaCola' against 'Coca Cola' or 'Coca Cola Company'",
    ),
    (
        fail_at_rain,
        ("rrc",),
        "the function is not a known variant; the nearest is rrc: 1 of 118 cases differ\n"
        "called with (prediction, references), it returns the score\n"
        f"  'rain' against 'shine': the function {DIVIDED}, rrc gives 0.0",
    ),
    (
        fail_at_blanks,
        ("rrc",),
        f"the function is rrc: {VARIANTS['rrc'].meaning}\n"
        "called with (prediction, references), it returns the score; 118 of 118 cases are equal\n"
        f"the function {DIVIDED}, for '' against 'a' or ''\n"
        "cases where both strings are blank do not count: several published programs divide by 0 there",
    ),
]


@pytest.mark.parametrize(("function", "nearest", "sentences"), DESCRIBED)
def test_differences_and_errors_are_described(function: Function, nearest: tuple[str, ...], sentences: str) -> None:
    found = identify(function)
    assert (str(found)[: len(sentences) if sentences.endswith("\n") else None], found.nearest) == (sentences, nearest)
    assert (found.variants, found.variant) == ((("rrc",), "rrc") if function is fail_at_blanks else ((), None))


@pytest.mark.parametrize("result", [None, "0.5", True, [0.5, 0.5], float("nan")])
def test_result_without_a_number_is_no_score(result: Any) -> None:
    found = identify(lambda prediction, references: result)
    assert found.variants == ()
    assert len(found.errors) == found.count or found.constant in (0.5, result) or result != result


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
