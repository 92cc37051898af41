"""Identifies the variant that a function computes, by calling it on made-up cases that distinguish all variants."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anls_metric.core.choices import is_number
from anls_metric.core.rows import describe
from anls_metric.core.variants import VARIANTS

TOLERANCE = 1e-9
MAX_SHOWN = 3
"""How many cases are printed on which a function and the nearest variant differ."""


class Case(NamedTuple):
    """An answer and its accepted answers."""

    prediction: str
    references: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.prediction!r} against {' or '.join(map(repr, self.references))}"


# A selection of the golden cases on which the published programs were run (tests/data/conformance). Any two variants
# that differ on some golden case differ on one of these.
CASES = tuple(
    Case(prediction, tuple(references))
    for prediction, *references in (
        ("CocaCola", "Coca Cola", "Coca Cola Company"),
        ("The Coca", "Coca Cola", "Coca Cola Company"),
        ("Cola", "Coca Cola", "Coca Cola Company"),
        ("talkingheads", "TALKINGHEADS", "TALKING HEADS"),
        ("hi friend", "hello my friend", "friend", "hi"),
        ("abcd", "ab#", "abc###", "ab##"),
        ("xxxxxxxxxx", "xxxxxyyyyy", "xxxxyyyyyy", "yyyyyyyyyy"),
        ("REMAIN IN LIGHT", "TALKINGHEADS", "TALKING HEADS"),
        ("rain", "shine"),
        ("I am leaving", "leave"),
        ("100%", "96%"),
        ("a##", "abc"),
        ("completely unrelated text here", "x"),
        ("lnaguaeg", "language"),
        ("abc###", "abcdef"),
        ("abcdef", "abc"),
        ("ToTaL", "tOtAl"),
        (" Coca Cola", "Coca Cola"),
        ("a b", "a    c"),
        ("a", "\t\n"),
        ("...", "..."),
        ("end. ", "end"),
        ("0.28.", "0.28"),
        ("NONE ", "nine"),
        ("BBOwn    & WIlLia msoan", "Brown & Williamson"),
        ("T.F. Rie\thl\n", "T.F. Riehl"),
        ("SugaAsassoc  iStion\t, Inc.t", "Sugar Association, Inc."),
        ("istanbul", "\u0130stanbul"),
        ("\u0130", "i"),
        ("\ufb00\ufb00", "\ufb00a"),
        ("\u0390", "\u03b9"),
        ("\u0390\u0390", "\u0390\u03b1"),
        ("", "a", ""),
        ("", ""),
    )
)

# The names of the two arguments of a function; "predictions" are lists of one.
_CALLS = (("prediction", "references"), ("predictions", "references"))
_CALLS_WITH_ONE = (("prediction", "reference"), ("predictions", "one reference each"))

# What a function returns -> how to convert it to a score.
_SCALES: Mapping[str, Callable[[float], float]] = {
    "the score": lambda number: number,
    "1 - the score": lambda number: 1 - number,
    "100 times the score": lambda number: number / 100,
    "100 - 100 times the score": lambda number: 1 - number / 100,
}


class Difference(NamedTuple):
    """A case on which a function and a variant differ.

    Attributes:
        case: the case.
        score: the score of the function; None where it raised an error.
        expected: the score of the variant.
        error: the error that the function raised, "" for none.
    """

    case: Case
    score: float | None
    expected: float
    error: str = ""


@dataclass(frozen=True)
class Identification:
    """Which variant a function computes; as a string, sentences.

    Attributes:
        variants: the variants whose scores the function returned for every case, () for none. Several variants can give
            the same bits on every case.
        nearest: the variants with the fewest differences, () where no call returned a number.
        arguments: how the function was called: ``"prediction, references"``, ``"references, predictions"``...
        returns: what the function returns: ``"the score"``, ``"1 - the score"``, ``"100 times the score"``...
        count: how many cases were compared.
        differences: the cases on which the function and the nearest variant differ, the largest difference first.
        errors: the errors that the function raised, with the case.
    """

    variants: tuple[str, ...]
    nearest: tuple[str, ...]
    arguments: str
    returns: str
    count: int
    differences: tuple[Difference, ...]
    errors: tuple[tuple[Case, str], ...]

    @property
    def variant(self) -> str | None:
        """The first of `variants`, None where the function is none of them."""
        return next(iter(self.variants), None)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        call = f"called with ({self.arguments}), it returns {self.returns}"
        if self.variants:
            yield f"the function is {' or '.join(self.variants)}: {VARIANTS[self.variants[0]].meaning}"
            yield f"{call}; {self.count} of {self.count} cases are equal"
        elif self.nearest:
            count = f"{len(self.differences)} of {self.count} cases differ"
            yield f"the function is not a known variant; the nearest is {' or '.join(self.nearest)}: {count}"
            yield call
        for case, score, expected, error in self.differences[:MAX_SHOWN]:
            result = f"raises {error}" if error else f"gives {score!r}"
            yield f"  {case}: the function {result}, {self.nearest[0]} gives {expected!r}"
        for case, error in self.errors[: 0 if self.differences else 1]:
            yield f"the function raises {error}, for {case}"
        if self.variants and self.errors:
            yield "cases where both strings are blank do not count: several published programs divide by 0 there"


def identify(function: Callable[..., Any]) -> Identification:
    """Find out which variant of ANLS a function computes.

    The function is called on made-up cases: with a prediction and its accepted answers, with a prediction and one
    accepted answer, or with a list of one prediction and a list of its accepted answers, in either order. It may return
    the score, 1 - score, or either times 100; a list or a dict with that number is fine.

    Args:
        function: a function, such as the metric of another project.

    Returns:
        An `Identification`: print it, or read its attributes. Scores are equal where they differ by less than 1e-9.

    Raises:
        ValueError: the argument cannot be called.

    Example:
        >>> from anls_metric import anls_score, identify, normalized_levenshtein_similarity
        >>> identify(lambda prediction, references: anls_score(prediction, references, variant="due")).variants
        ('due', 'fast_anls')
        >>> identify(normalized_levenshtein_similarity).arguments
        'prediction, reference'
        >>> print(identify(lambda answers, output: 100 * anls_score(output, answers)))
        the function is standard: case and extra whitespace ignored, exactly 0.5 passes
        called with (references, prediction), it returns 100 times the score; 34 of 34 cases are equal
    """
    if not callable(function):
        raise ValueError(f"function is {describe(function)}: pass a function of a prediction and its accepted answers")
    identification = _find_nearest(function, _CALLS, CASES)
    share = _share_of_differences(identification)
    if share > 0.1:  # it may take one accepted answer
        with_one = _find_nearest(function, _CALLS_WITH_ONE, [case for case in CASES if len(case.references) == 1])
        if with_one.variants or _share_of_differences(with_one) < share > 0.5:
            return with_one
    return identification


def _share_of_differences(identification: Identification) -> float:
    """Compute the share of the cases on which the nearest variant differs; 2 if no call returned a number."""
    return len(identification.differences) / identification.count if identification.nearest else 2.0


def _find_nearest(
    function: Callable[..., Any], calls: Sequence[tuple[str, str]], cases: Sequence[Case]
) -> Identification:
    """Find the way to call a function that gives the fewest differences from a variant."""
    found = []
    for names in calls:
        for step in (1, -1):  # in this order, or the other way round
            results = [_call(function, _make_arguments(names, case)[::step]) for case in cases]
            found.append(_compare_results(", ".join(names[::step]), cases, results))
            if found[-1].variants:
                return found[-1]
    return min(found, key=_share_of_differences)


def _make_arguments(names: tuple[str, str], case: Case) -> tuple[Any, Any]:
    """Make the arguments of these names from a case."""
    references = list(case.references) if names[1] == "references" else case.references[0]
    return (case.prediction, references) if names[0] == "prediction" else ([case.prediction], [references])


def _compare_results(arguments: str, cases: Sequence[Case], results: Sequence[tuple[float, str]]) -> Identification:
    """Compare the results of a function, numbers and errors, with the scores of all variants."""
    errors = tuple((case, error) for case, (_, error) in zip(cases, results) if error)
    if len(errors) == len(cases):
        return Identification((), (), arguments, "", len(cases), (), errors)
    columns = [case.prediction for case in cases], [case.references for case in cases]
    found = {
        (returns, name): [
            Difference(case, None if error else scale(score), expected, error)
            for case, (score, error), expected in zip(cases, results, variant.score(*columns))
            if not abs(scale(score) - expected) < TOLERANCE and (case.prediction or not error)  # NaN differs
        ]
        for returns, scale in _SCALES.items()
        for name, variant in VARIANTS.items()
    }
    returns, best = min(found, key=lambda pair: len(found[pair]))
    differences = sorted(
        found[returns, best], key=lambda each: -2.0 if each.score is None else -abs(each.score - each.expected)
    )
    nearest = tuple(name for name in VARIANTS if found[returns, name] == found[returns, best])
    variants = () if differences else nearest
    return Identification(variants, nearest, arguments, returns, len(cases), tuple(differences), errors)


def _call(function: Callable[..., Any], arguments: tuple[Any, Any]) -> tuple[float, str]:
    """Call the function, and return its number and "", or NaN and its error."""
    names = _name_keywords(function)
    try:
        return _read_number(function(**dict(zip(names, arguments))) if names else function(*arguments)), ""
    except (Exception, SystemExit) as error:
        return math.nan, f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def _name_keywords(function: Callable[..., Any]) -> list[str]:
    """Return the names of the first two parameters, if they are keyword-only."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][:2]
    except (TypeError, ValueError):  # of C functions
        return []
    return [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]


def _read_number(result: Any) -> float:
    """Read the number in a result: a number, a list or array with one item, or a dict or tuple that holds it."""
    if hasattr(result, "tolist"):  # an array or a tensor
        result = result.tolist()
    if isinstance(result, Mapping):
        result = tuple(filter(is_number, result.values()))
    if isinstance(result, tuple) or (isinstance(result, list) and len(result) == 1):
        return _read_number(next(iter(result), None))
    if not is_number(result):
        raise TypeError(f"it returned {describe(result)}, which is not a number")
    return float(result)
