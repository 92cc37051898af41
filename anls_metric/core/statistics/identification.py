"""Identifies the variant that a function computes by calling the function on made-up cases that distinguish all
variants.

The neighbors of a variant differ from it in one or two changes, such as another threshold. If no variant produces the
scores of a function, the neighbor with the fewest changes that agrees on every case is reported.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations, islice
from typing import Any, NamedTuple, get_args

from rapidfuzz.distance import Indel, Levenshtein

from anls_metric.core.checks import count_noun, describe, is_number
from anls_metric.core.statistics.identification_cases import CASES, THRESHOLDS, Case
from anls_metric.core.strings.kernel import LENGTHS, LIMITS
from anls_metric.core.strings.variants import VARIANTS, Whitespace

TOLERANCE = 1e-9
MOST_ROUNDING = 0.05
"""The largest accepted rounding error of a score, which is that of rounding to one digit."""
MOST_EQUAL = 0.95
"""A variant that gives the same score in at least this share of the cases is left out."""
MAX_SHOWN = 3
"""The maximum number of cases to print in which a function and the nearest variant differ."""


# Changes to a variant; a neighbor has one or two of them.
_CHANGES: tuple[Mapping[str, Any], ...] = (
    *({"ignore_case": value} for value in (True, False)),
    *({"threshold": threshold} for threshold in THRESHOLDS),
    *({"kept": condition} for condition in ("distance / length < threshold", *LIMITS)),  # the usual one first
    *({"whitespace": name} for name in get_args(Whitespace)),
    *({"no_answers": answers} for answers in ((), ("",))),
    {"all_or_nothing": True},
    *({"prediction_length": name, "reference_length": name} for name in LENGTHS),
)

_OPTIONS = {"threshold", "ignore_case"}
"""The changes that are options of `anls_score` and of the command."""

_Make = Callable[[str, list[str]], tuple[Any, Any]]

# The names of a function's two arguments -> how to make them from a prediction and its references.
_CALLS: Mapping[tuple[str, str], _Make] = {
    ("prediction", "references"): lambda prediction, references: (prediction, references),
    ("predictions", "references"): lambda prediction, references: ([prediction], [references]),
    ("lists of predictions", "references"): lambda prediction, references: ([[prediction]], [references]),
    ("[prediction]", "references"): lambda prediction, references: ([prediction], references),
}
_CALLS_WITH_ONE: Mapping[tuple[str, str], _Make] = {
    ("prediction", "reference"): lambda prediction, references: (prediction, references[0]),
    ("predictions", "one reference each"): lambda prediction, references: ([prediction], references[:1]),
}
_WITH_ONE = [place for place, case in enumerate(CASES) if len(case.references) == 1]

# What a function returns -> how to convert it to a score.
_SCALES: Mapping[str, Callable[[float], float]] = {
    "the score": lambda number: number,
    "1 - the score": lambda number: 1 - number,
    "100 times the score": lambda number: number / 100,
    "100 - 100 times the score": lambda number: 1 - number / 100,
}


# Similarities that are not variants of ANLS -> how to compute them for two strings.
_OTHERS: Mapping[str, Callable[[str, str], float]] = {
    "the Indel similarity (Levenshtein.ratio, fuzz.ratio)": Indel.normalized_similarity,
    "difflib's ratio": lambda first, second: SequenceMatcher(None, first, second).ratio(),
    "1 - distance / length of the reference": lambda first, second: _divide_by_reference(first, second),
    "1 - distance / length of the reference, at least 0": lambda *texts: max(0.0, _divide_by_reference(*texts)),
}
_FORMS: Mapping[str, Callable[[str], str]] = {
    "": lambda text: text,
    ", case ignored": str.lower,
    ", case and outer spaces ignored": lambda text: text.lower().strip(),
}


def _divide_by_reference(first: str, second: str) -> float:
    return 1 - Levenshtein.distance(first, second) / (len(second) or 1)


@cache
def _score_others() -> Mapping[str, Sequence[float]]:
    """Score the cases with each similarity in `_OTHERS`, with and without the usual threshold."""
    return {
        f"{name}{form}{', 0 below 0.5' if least > 0 else ''}": [
            score
            if (score := max(similarity(change(case.prediction), change(text)) for text in case.references)) >= least
            else 0.0
            for case in CASES
        ]
        for name, similarity in _OTHERS.items()
        for form, change in _FORMS.items()
        for least in (-math.inf, 0.5)
    }


class Difference(NamedTuple):
    """A case on which a function and a variant give different scores.

    Attributes:
        case: the case.
        score: the score of the function; None if it raised an error.
        expected: the score of the variant.
        error: the error that the function raised; "" for none.
    """

    case: Case
    score: float | None
    expected: float
    error: str = ""


@dataclass(frozen=True)
class Identification:
    """The variant that a function computes, if any. Its string form consists of full sentences.

    Attributes:
        variants: the variants whose scores the function returned for every case; () for none. Several variants can have
            identical scores on every case.
        nearest: the variants with the fewest differences; () if no call returned a number, if every call returned the
            same number, or if the function computes another known similarity.
        changes: the changed fields of the nearest variants, such as ``{"threshold": 0.7}``; {} for none.
        arguments: how the function was called: ``"prediction, references"``, ``"references, predictions"``...
        returns: what the function returns: ``"the score"``, ``"1 - the score"``, ``"100 times the score"``...
        count: how many cases were compared.
        differences: the cases on which the function and the nearest variant differ, the largest difference first.
        errors: the errors that the function raised, each with its case.
        other: the known similarity that the function computes, if the function computes no variant.
        constant: the number that the function returned for every case, if the number was always the same.
    """

    variants: tuple[str, ...]
    nearest: tuple[str, ...]
    changes: Mapping[str, Any]
    arguments: str
    returns: str
    count: int
    differences: tuple[Difference, ...]
    errors: tuple[tuple[Case, str], ...]
    other: str = ""
    constant: float | None = None

    @property
    def variant(self) -> str | None:
        """The first of `variants`, or None if the function computes none of them."""
        return next(iter(self.variants), None)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        call = f"called with ({self.arguments}), it returns {self.returns}"
        changes = " and ".join(f"{field} {value!r}" for field, value in self.changes.items())
        name = f"{' or '.join(self.nearest)}{' with ' if changes else ''}{changes}"
        if self.variants:
            yield f"the function is {name}" + ("" if changes else f": {VARIANTS[self.nearest[0]].meaning}")
            yield f"{call}; {self.count} of {self.count} cases are equal"
        elif self.other:
            yield f"the function is no variant of ANLS, but {self.other}"
            yield f"{call}; {self.count} of {self.count} cases are equal"
        elif self.constant is not None:
            yield f"the function returned {self.constant:g} in all cases"
        elif self.nearest:
            count = f"{len(self.differences)} of {self.count} cases differ"
            is_near = 2 * len(self.differences) <= self.count
            nearest = f"; the nearest is {name}: {count}" if is_near else f": for each variant, at least {count}"
            yield f"the function is not a known variant{nearest}"
            yield call
        if self.variants and changes:
            yield f"to score like this, pass {self._format_variant()}"
        for case, score, expected, error in self.differences[:MAX_SHOWN]:
            result = f"raises {error}" if error else f"gives {score!r}"
            yield f"  {case}: the function {result}, {self.nearest[0]} gives {expected!r}"
        for case, error in self.errors[: 0 if self.differences else 1]:
            yield f"the function raises {error}, for {case}"
        if self.variants and self.errors:
            yield "cases where both strings are blank do not count: several published programs divide by 0 there"

    def _format_variant(self) -> str:
        """Format the nearest variant and its changes as arguments and, if all changes are options, also as flags."""
        name, fields = self.nearest[0], ", ".join(f"{field}={value!r}" for field, value in self.changes.items())
        if not self.changes.keys() <= _OPTIONS:
            return f'variant=replace(VARIANTS["{name}"], {fields})'
        values = {"ignore_case": "--ignore-case" if self.changes.get("ignore_case") else "--no-ignore-case"}
        flags = " ".join(values.get(field, f"--{field} {value}") for field, value in self.changes.items())
        return f'variant="{name}", {fields}, or --variant {name} {flags}'


class _Trial(NamedTuple):
    """The results of calling a function in one way, which are, for each case, a number and "", or NaN and an error."""

    arguments: str
    places: Sequence[int]
    results: Sequence[tuple[float, str]]


def identify(function: Callable[..., Any]) -> Identification:
    """Identify the variant of ANLS that a function computes.

    The function is called on made-up cases: with a prediction and its references, with a prediction and one reference,
    or with a list of one prediction and a list of its references, in either order. It may return the score, 1 - score,
    or either times 100, perhaps rounded; a list or a dict with that number is fine. Several variants can give the same
    rounded scores. Some other similarities are recognized as well.

    If no variant returns the same scores, each is tried with another threshold and with one or two other fields
    changed. The one with the fewest changes is preferred.

    Args:
        function: a function, such as the metric of another project.

    Returns:
        An `Identification`, to be printed or inspected. Scores are treated as equal if they differ by less than 1e-9,
        or by no more than the rounding of the function explains.

    Raises:
        ValueError: the argument cannot be called.

    Example:
        >>> from anls_metric import anls_score, identify, normalized_levenshtein_similarity
        >>> identify(lambda prediction, references: anls_score(prediction, references, variant="due")).variants
        ('due', 'fast_anls')
        >>> identify(normalized_levenshtein_similarity).arguments
        'prediction, reference'
        >>> print(identify(lambda answers, output: 100 * anls_score(output, answers, threshold=0.7)))
        the function is standard with threshold 0.7
        called with (references, prediction), it returns 100 times the score; 118 of 118 cases are equal
        to score like this, pass variant="standard", threshold=0.7, or --variant standard --threshold 0.7
    """
    if not callable(function):
        raise ValueError(
            f"function is {describe(function)}: pass a function that takes a prediction and its references"
        )
    first = _identify_as(function, _CALLS, range(len(CASES)))
    share = _share_of_differences(first)
    if first.other:
        return first
    # A few differences are peculiar to the function, unless all of them are on cases with several references.
    if share <= 0.05 and (first.variants or any(len(each.case.references) == 1 for each in first.differences)):
        return first
    with_one = _identify_as(function, _CALLS_WITH_ONE, _WITH_ONE)  # it may take one reference
    is_named = with_one.variants or with_one.other
    return with_one if is_named or _share_of_differences(with_one) < share > 0.5 else first


def _share_of_differences(identification: Identification) -> float:
    """Return the fraction of cases in which the nearest variant differs, or 2 if there is no nearest variant."""
    return len(identification.differences) / identification.count if identification.nearest else 2.0


def _identify_as(
    function: Callable[..., Any], calls: Mapping[tuple[str, str], _Make], places: Sequence[int]
) -> Identification:
    """Find the way to call a function that leaves the fewest differences from a variant with few or no changes."""
    found, keywords = [], _name_keywords(function)
    for names, make in calls.items():
        for step in (1, -1):  # in this order, or the other way round
            results = [
                _call(function, keywords, make(CASES[place].prediction, list(CASES[place].references))[::step])
                for place in places
            ]
            trial = _Trial(", ".join(names[::step]), places, results)
            found.append((_compare_results(trial, 0), trial))
            if found[-1][0].variants or found[-1][0].other:
                return found[-1][0]
    best, trial = min(found, key=lambda pair: _share_of_differences(pair[0]))
    by_changes = best, _compare_results(trial, 1), _compare_results(trial, 2)
    # A variant with one more change is nearer only if it has less than half the differences.
    return min(by_changes, key=lambda each: _share_of_differences(each) * 2 ** by_changes.index(each))


_Changes = tuple[tuple[str, Any], ...]


@cache
def _score_cases(size: int) -> Mapping[tuple[_Changes, str], Sequence[float]]:
    """Score the cases under each variant with this many changes, keyed by the changes and the variant's name.

    Variants whose changes are options come first. Variants that give nearly every case the same score, as some
    thresholds do, are left out, since a function that fails without an error has such scores as well.
    """
    columns = [case.prediction for case in CASES], [case.references for case in CASES]
    scores: dict[tuple[_Changes, str], Sequence[float]] = {}
    for name, variant in VARIANTS.items():
        for changes in combinations(_CHANGES, size):
            each = [dict(change.items() - vars(variant).items()) for change in changes]
            fields = {field: value for change in each for field, value in change.items()}
            if all(each) and len(fields) == sum(map(len, each)):  # each changes something, and no two the same field
                scores[tuple(sorted(fields.items())), name] = replace(variant, **fields).score(*columns)
    keys = sorted(scores, key=lambda key: not dict(key[0]).keys() <= _OPTIONS)
    return {key: own for key in keys if max(map((own := scores[key]).count, own)) < MOST_EQUAL * len(own)}


class _Reading(NamedTuple):
    """The results of a function, read as scores, with the position, the score and the error of each case."""

    rows: Sequence[tuple[int, float, str]]
    tolerance: float

    def list_differences(self, expected: Sequence[float]) -> list[Difference]:
        """List the cases on which the function differs from a variant's expected scores."""
        return [
            Difference(CASES[place], None if error else score, expected[place], error)
            for place, score, error in self.find_differing(expected)
        ]

    def find_differing(self, expected: Sequence[float]) -> Iterator[tuple[int, float, str]]:
        """Find the rows on which the function differs from a variant's expected scores."""
        return (row for row in self.rows if not abs(row[1] - expected[row[0]]) < self.tolerance)  # NaN differs


def _compare_results(trial: _Trial, size: int) -> Identification:
    """Compare the results of a function with the scores of all variants with this many changes."""
    errors = tuple((CASES[place], error) for place, (_, error) in zip(trial.places, trial.results) if error)
    count = len(trial.places)
    if len(errors) == count:
        return Identification((), (), {}, trial.arguments, "", count, (), errors)
    rows = [
        (place, number, error)
        for place, (number, error) in zip(trial.places, trial.results)
        if CASES[place].prediction or not error
    ]
    numbers = [number for _, number, error in rows if not error]
    if len({*numbers}) == 1:
        return Identification((), (), {}, trial.arguments, "", count, (), errors, constant=numbers[0])
    digits = _count_digits(numbers)
    readings = {}
    for ending in ("", f", rounded to {count_noun(digits, 'digit')}"):
        for returns, scale in _SCALES.items():
            unit = 0.5 * 10.0**-digits * abs(scale(1.0) - scale(0.0)) if ending else 0.0
            if unit <= MOST_ROUNDING:
                scaled = [(place, scale(number), error) for place, number, error in rows]
                readings[returns + ending] = _Reading(scaled, TOLERANCE + unit)
    scores = _score_cases(size)
    fewest = count + 1
    found: tuple[str, tuple[_Changes, str]]
    for returns, reading in readings.items():
        for key, expected in scores.items():
            differing = sum(1 for _ in islice(reading.find_differing(expected), fewest))
            if differing < fewest:
                fewest, found = differing, (returns, key)
    for returns, reading in readings.items() if fewest and not size else ():
        others = [other for other, own in _score_others().items() if not any(reading.find_differing(own))]
        if others:
            return Identification((), (), {}, trial.arguments, returns, count, (), errors, other=" or ".join(others))
    returns, (changes, best) = found
    differences = readings[returns].list_differences(scores[changes, best])
    nearest = tuple(
        name
        for name in VARIANTS
        if (changes, name) in scores and readings[returns].list_differences(scores[changes, name]) == differences
    )
    differences.sort(key=lambda each: -2.0 if each.score is None else -abs(each.score - each.expected))
    variants = () if differences else nearest
    return Identification(variants, nearest, dict(changes), trial.arguments, returns, count, tuple(differences), errors)


def _count_digits(numbers: Sequence[float]) -> int:
    """Return the number of decimal places to which numbers are rounded, or 400 if the numbers are not rounded.

    Example:
        >>> _count_digits([0.3333, 1.0]), _count_digits([1 / 3])
        (4, 400)
    """
    return max(next((digits for digits in range(7) if round(number, digits) == number), 400) for number in numbers)


def _call(function: Callable[..., Any], keywords: Sequence[str], arguments: tuple[Any, Any]) -> tuple[float, str]:
    """Call a function, and return its number and "", or NaN and a description of its error."""
    try:
        return _read_number(function(**dict(zip(keywords, arguments))) if keywords else function(*arguments)), ""
    except (Exception, SystemExit) as error:
        return math.nan, f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def _name_keywords(function: Callable[..., Any]) -> list[str]:
    """Return the names of those of the first two parameters that are keyword-only."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][:2]
    except (TypeError, ValueError):  # of C functions
        return []
    return [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]


def _read_number(result: Any) -> float:
    """Read the number from a result, which may also be a list or array of one item, a dict, or a tuple."""
    if hasattr(result, "tolist"):  # an array or a tensor
        result = result.tolist()
    if isinstance(result, Mapping):
        result = tuple(filter(is_number, result.values()))
    if isinstance(result, tuple) or (isinstance(result, list) and len(result) == 1):
        return _read_number(next(iter(result), None))
    if not is_number(result):
        raise TypeError(f"it returned {describe(result)}, which is not a number")
    return float(result)
