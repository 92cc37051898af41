"""Identifies the variant that a function computes, by calling it on made-up cases that distinguish all variants."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anls_metric.core.choices import is_number
from anls_metric.core.rows import describe
from anls_metric.core.variants import VARIANTS

__all__ = ["Case", "Identification", "identify"]

TOLERANCE = 1e-9
MOST_SHOWN = 3
"""How many cases are printed on which a function and the nearest variant differ."""


class Case(NamedTuple):
    """An answer and its accepted answers."""

    prediction: str
    references: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        """Whether the prediction and an accepted answer are blank. Several published programs divide by 0 for them."""
        return not self.prediction.strip() and not all(reference.strip() for reference in self.references)


# A selection of the golden cases on which every published program was run (tests/data/conformance). Any two variants
# that differ on some golden case differ on one of these.
CASES = (
    Case("CocaCola", ("Coca Cola", "Coca Cola Company")),
    Case("The Coca", ("Coca Cola", "Coca Cola Company")),
    Case("Cola", ("Coca Cola", "Coca Cola Company")),
    Case("talkingheads", ("TALKINGHEADS", "TALKING HEADS")),
    Case("hi friend", ("hello my friend", "friend", "hi")),
    Case("abcd", ("ab#", "abc###", "ab##")),
    Case("xxxxxxxxxx", ("xxxxxyyyyy", "xxxxyyyyyy", "yyyyyyyyyy")),
    Case("REMAIN IN LIGHT", ("TALKINGHEADS", "TALKING HEADS")),
    Case("rain", ("shine",)),
    Case("I am leaving", ("leave",)),
    Case("100%", ("96%",)),
    Case("a##", ("abc",)),
    Case("completely unrelated text here", ("x",)),
    Case("lnaguaeg", ("language",)),
    Case("abc###", ("abcdef",)),
    Case("abcdef", ("abc",)),
    Case("ToTaL", ("tOtAl",)),
    Case(" Coca Cola", ("Coca Cola",)),
    Case("a b", ("a    c",)),
    Case("a", ("\t\n",)),
    Case("...", ("...",)),
    Case("end. ", ("end",)),
    Case("0.28.", ("0.28",)),
    Case("NONE ", ("nine",)),
    Case("BBOwn    & WIlLia msoan", ("Brown & Williamson",)),
    Case("T.F. Rie\thl\n", ("T.F. Riehl",)),
    Case("SugaAsassoc  iStion\t, Inc.t", ("Sugar Association, Inc.",)),
    Case("istanbul", ("\u0130stanbul",)),
    Case("\u0130", ("i",)),
    Case("\ufb00\ufb00", ("\ufb00a",)),
    Case("\u0390", ("\u03b9",)),
    Case("\u0390\u0390", ("\u0390\u03b1",)),
    Case("", ("a", "")),
    Case("", ("",)),
)

# The arguments of a function -> how to make them from a case.
_CALLS: Mapping[str, Callable[[str, list[str]], tuple[Any, Any]]] = {
    "prediction, references": lambda prediction, references: (prediction, references),
    "references, prediction": lambda prediction, references: (references, prediction),
    "predictions, references": lambda prediction, references: ([prediction], [references]),
    "references, predictions": lambda prediction, references: ([references], [prediction]),
}

# The same for functions that take one accepted answer.
_CALLS_WITH_ONE: Mapping[str, Callable[[str, list[str]], tuple[Any, Any]]] = {
    "prediction, reference": lambda prediction, references: (prediction, references[0]),
    "reference, prediction": lambda prediction, references: (references[0], prediction),
    "predictions, one reference each": lambda prediction, references: ([prediction], [references[0]]),
    "one reference each, predictions": lambda prediction, references: ([references[0]], [prediction]),
}

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
        differences: the cases on which the function and the nearest variant differ, the clearest first.
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
        return self.variants[0] if self.variants else None

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        call = f"called with ({self.arguments}), it returns {self.returns}"
        if self.variants:
            name, *others = self.variants
            same = f" ({', '.join(others)}: the same numbers)" if others else ""
            yield f"the function is {name}{same}: {VARIANTS[name].meaning}"
            yield f"{call}; {self.count} of {self.count} cases are equal"
        elif self.nearest:
            count = f"{len(self.differences):,} of {self.count} cases differ"
            yield f"the function is no known variant; the nearest is {' or '.join(self.nearest)}: {count}"
            yield call
            for case, score, expected, error in self.differences[:MOST_SHOWN]:
                result = f"raises {error}" if error else f"gives {score!r}"
                yield f"  {_describe_case(case)}: the function {result}, {self.nearest[0]} gives {expected!r}"
        shown = [case for case, *_ in self.differences[:MOST_SHOWN]]
        for case, error in self.errors[:1]:
            if case not in shown:
                yield f"the function raises {error}, for {_describe_case(case)}"
        if self.variants and self.errors:
            yield "cases where both texts are blank do not count: several published programs divide by 0 there"


def _describe_case(case: Case) -> str:
    return f"{case.prediction!r} against {' or '.join(map(repr, case.references))}"


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
        >>> from anls_metric import identify, normalized_levenshtein_similarity
        >>> identify(lambda prediction, references: anls_score(prediction, references, variant="due")).variants
        ('due', 'fast_anls')
        >>> identify(normalized_levenshtein_similarity).arguments
        'prediction, reference'
        >>> print(identify(lambda answers, output: 100 * anls_score(output, answers)))
        the function is standard: case and extra white space ignored, exactly 0.5 counts
        called with (references, prediction), it returns 100 times the score; 34 of 34 cases are equal
    """
    if not callable(function):
        raise ValueError(f"function is {describe(function)}: pass a function of a prediction and its accepted answers")
    identification = _find_nearest(function, _CALLS, CASES)
    share = _share_of_differences(identification)
    if share > 0.1:  # it may take one accepted answer
        cases = [case for case in CASES if len(case.references) == 1]
        with_one = _find_nearest(function, _CALLS_WITH_ONE, cases)
        if with_one.variants or _share_of_differences(with_one) < share > 0.5:
            return with_one
    return identification


def _share_of_differences(identification: Identification) -> float:
    """Compute the share of the cases on which the nearest variant differs; 2 if no call returned a number."""
    return len(identification.differences) / identification.count if identification.nearest else 2.0


def _find_nearest(
    function: Callable[..., Any], calls: Mapping[str, Callable[..., tuple[Any, Any]]], cases: Sequence[Case]
) -> Identification:
    """Find the way to call a function that gives the fewest differences from a variant."""
    identifications = []
    for arguments, make in calls.items():
        values = [make(case.prediction, list(case.references)) for case in cases]
        identifications.append(_compare_results(arguments, cases, [_call(function, pair) for pair in values]))
        if identifications[-1].variants:
            return identifications[-1]
    return min(identifications, key=_share_of_differences)


def _compare_results(arguments: str, cases: Sequence[Case], results: Sequence[float | str]) -> Identification:
    """Compare the results of a function, numbers or error texts, with the scores of all variants."""
    errors = tuple((case, result) for case, result in zip(cases, results) if isinstance(result, str))
    if len(errors) == len(cases):
        return Identification((), (), arguments, "", len(cases), (), errors)
    variants_by_result: dict[tuple[str, tuple[Difference, ...]], list[str]] = {}  # variants with the same differences
    columns = [case.prediction for case in cases], [case.references for case in cases]
    for returns, scale in _SCALES.items():
        for name, variant in VARIANTS.items():
            differences = tuple(_compare(cases, results, scale, variant.score(*columns)))
            variants_by_result.setdefault((returns, differences), []).append(name)
    (returns, differences), names = min(variants_by_result.items(), key=lambda item: len(item[0][1]))
    plainest = tuple(sorted(differences, key=_order_by_plainness))
    variants = () if differences else tuple(names)
    return Identification(variants, tuple(names), arguments, returns, len(cases), plainest, errors)


def _compare(
    cases: Sequence[Case], results: Sequence[float | str], scale: Callable[[float], float], expected: Sequence[float]
) -> Iterator[Difference]:
    for case, result, score in zip(cases, results, expected):
        if isinstance(result, str):
            if not case.is_blank:
                yield Difference(case, None, score, result)
        elif not abs(scale(result) - score) < TOLERANCE:  # NaN differs
            yield Difference(case, scale(result), score)


def _order_by_plainness(difference: Difference) -> tuple[float, bool, int]:
    """Make a sort key: the largest difference first, then texts that everybody can read, then short texts."""
    text = difference.case.prediction + "".join(difference.case.references)
    size = 1.0 if difference.score is None else abs(difference.score - difference.expected)
    return -round(size, 3), not (text.isascii() and text.isprintable()), len(text)


def _call(function: Callable[..., Any], arguments: tuple[Any, Any]) -> float | str:
    """Call the function, and return its number, or the text of its error."""
    names = _name_keywords(function)
    try:
        return _read_number(function(**dict(zip(names, arguments))) if names else function(*arguments))
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")


def _name_keywords(function: Callable[..., Any]) -> list[str]:
    """Return the names of the first two parameters, if they are keyword-only."""
    try:
        parameters = [*inspect.signature(function).parameters.values()][:2]
    except (TypeError, ValueError):
        return []
    names = [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    return names if len(names) == 2 else []


def _read_number(result: Any) -> float:
    """Read the number in a result: a number, a list or array with one item, or a dict or tuple that holds it."""
    if hasattr(result, "tolist"):  # an array or a tensor
        result = result.tolist()
    if isinstance(result, Mapping):
        result = next((value for value in result.values() if is_number(value)), result)
    if isinstance(result, tuple) and result:
        result = result[0]
    if isinstance(result, list) and len(result) == 1:
        return _read_number(result[0])
    if not is_number(result):
        raise TypeError(f"it returned {describe(result)}, which is no number")
    return float(result)
