"""The one loop that scores texts, and the mean of scores.

`Kernel` holds what the loop needs from a variant; `iter_scores` is the loop. `explanation` computes the same scores
in plain steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.rows import (
    check_numbers,
    check_rows,
    describe,
    name_row,
    name_rows_from,
    pair_columns,
    refuse_no_rows,
)

__all__ = ["mean"]

Whitespace = Literal["squeeze", "strip", "keep"]
Length = Literal["normalized", "normalized upper", "stripped", "stripped upper", "raw", "raw upper"]
Kept = Literal["similarity >= threshold", "similarity > threshold", "distance / length < threshold"]

# For a prediction longer than this many characters, avoiding the edit distance is faster than computing it.
LONG = 64


def _squeeze(text: str) -> str:
    return " ".join(text.split()) if len(text) <= LONG else _squeeze_long(text)


def _squeeze_long(text: str) -> str:
    # The blank is the only printable white space. Looking for something to squeeze is faster than squeezing.
    tidy = "  " not in text and text[0] != " " != text[-1] and text.isprintable()
    return text if tidy else " ".join(text.split())


def lower_and_squeeze(text: str) -> str:
    return " ".join(text.lower().split()) if len(text) <= LONG else _squeeze_long(text.lower())


def _lower_and_strip(text: str) -> str:
    return text.lower().strip()


# (ignore_case, whitespace) -> the function that normalizes a text before the comparison.
NORMALIZERS: Mapping[tuple[bool, Whitespace], Callable[[str], str]] = {
    (True, "squeeze"): lower_and_squeeze,
    (True, "strip"): _lower_and_strip,
    (True, "keep"): str.lower,
    (False, "squeeze"): _squeeze,
    (False, "strip"): str.strip,
    (False, "keep"): str.__str__,
}


# Name of a length -> the length, computed from the raw and the normalized text. Upper-casing makes a few texts longer.
LengthOf = Callable[[str, str], int]
LENGTHS: Mapping[Length, LengthOf] = {
    "normalized": lambda text, normalized: len(normalized),
    "normalized upper": lambda text, normalized: len(normalized.upper()),
    "stripped": lambda text, normalized: len(text.strip()),
    "stripped upper": lambda text, normalized: len(text.strip().upper()),
    "raw": lambda text, normalized: len(text),
    "raw upper": lambda text, normalized: len(text.upper()),
}

# The rule that keeps a score -> a function of the threshold: the least similarity and the greatest distance / length
# that keep a score.
LIMITS: Mapping[Kept, Callable[[float], tuple[float, float]]] = {
    "similarity >= threshold": lambda threshold: (threshold, math.inf),
    "similarity > threshold": lambda threshold: (math.nextafter(threshold, math.inf), math.inf),
    "distance / length < threshold": lambda threshold: (0.0, math.nextafter(threshold, -math.inf)),
}


class Kernel(NamedTuple):
    """What the loop needs from a variant."""

    normalize: Callable[[str], str]
    prediction_length: LengthOf
    reference_length: LengthOf
    plain: bool  # whether texts are lower-cased and squeezed, and their lengths are measured afterwards
    low: float  # a score is kept at this similarity or above ...
    high: float  # ... and at this distance / length or below
    limit: float  # no distance / length above it is kept, even after rounding
    bounded: bool  # whether the beginning of a prediction can show that the prediction is too long to be kept
    equal: float  # the score of equal texts
    equal_empty: float  # the score of equal texts that are empty
    no_answers: frozenset[str]  # normalized predictions that score 0
    all_or_nothing: bool  # whether every score above 0 becomes 1
    raw_match: bool  # whether a raw prediction that is among the raw references scores `equal`


# How many rows are checked and then scored at a time. So few rows stay in the processor's cache between the two steps.
_CHUNK = 1024


def score_columns(
    predictions: Any, references: Any, kernel: Kernel, row_name: Callable[[int], str] = name_row
) -> list[float]:
    """Score each row of two columns of any kind. ValueError: a row cannot be scored; `row_name` names it."""
    predictions, references = pair_columns(predictions, references)
    scores: list[float] = []
    for start in range(0, len(predictions), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        checked = check_rows(predictions[chunk], references[chunk], name_rows_from(start, row_name))
        scores += score_rows(zip(*checked), kernel)
    return scores


def score_rows(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> list[float]:
    """Score each row."""
    return list(iter_scores(rows, kernel))


def iter_scores(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """Score each row, and yield its score before reading the next row."""
    scores = _iter_kept(rows, kernel)
    return map(raise_to_one, scores) if kernel.all_or_nothing else scores


def raise_to_one(score: float) -> float:
    return 1.0 if score else 0.0


def _iter_kept(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """Score each row, without raising scores above 0 to 1.

    This is the only loop of the project that computes ANLS; `explain` computes the same score in plain steps.
    """
    distance, far, long = Levenshtein.distance, math.inf, LONG
    plain, low, high, equal, raw_match = kernel.plain, kernel.low, kernel.high, kernel.equal, kernel.raw_match
    normalize, no_answers, bounded = kernel.normalize, kernel.no_answers, kernel.bounded
    prediction_length, reference_length = kernel.prediction_length, kernel.reference_length
    for prediction, references in rows:
        if raw_match and prediction in references:
            yield equal
            continue
        if len(prediction) > long:
            hopeless = bounded and _is_too_long(prediction, references, kernel)
            yield 0.0 if hopeless else _score_long(prediction, references, kernel)
            continue
        if plain:  # the functions of a plain kernel, inlined: two calls a text would cost a fifth of the loop
            answer = " ".join(prediction.lower().split())
            answer_length = len(answer)
        else:
            answer = normalize(prediction)
            answer_length = prediction_length(prediction, answer)
            if answer in no_answers:
                yield 0.0
                continue
        least = far
        for reference in references:
            if plain:
                accepted = " ".join(reference.lower().split())
                length = len(accepted)
            else:
                accepted = normalize(reference)
                length = reference_length(reference, accepted)
            if accepted == answer:
                yield equal if answer else kernel.equal_empty
                break
            ratio = distance(answer, accepted) / (length if length > answer_length else answer_length)
            if ratio < least:
                least = ratio
        else:
            similarity = 1 - least
            yield similarity if similarity >= low and least <= high else 0.0


def _score_long(prediction: str, references: Sequence[str], kernel: Kernel) -> float:
    """Score a long prediction. A distance that cannot change the score is not computed to the end."""
    answer = kernel.normalize(prediction)
    if answer in kernel.no_answers:
        return 0.0
    answer_length = kernel.prediction_length(prediction, answer)
    least = math.inf
    for reference in references:
        accepted = kernel.normalize(reference)
        if accepted == answer:
            return kernel.equal if answer else kernel.equal_empty
        length = max(kernel.reference_length(reference, accepted), answer_length)
        # With more edits than this, the score is 0 or another reference is closer.
        most = int(min(least, kernel.limit) * length) + 1
        edits = _distance(answer, accepted, most)
        if edits <= most:
            least = min(least, edits / length)
    similarity = 1 - least
    return similarity if similarity >= kernel.low and least <= kernel.high else 0.0


def _is_too_long(prediction: str, references: Sequence[str], kernel: Kernel) -> bool:
    """Whether the beginning of a prediction shows that the prediction scores 0 with any continuation.

    Let p be the length of the normalized prediction, and r the greatest length of a reference. At least p - r
    characters must be deleted. If p > r, the distance is divided by p, so distance / length is at least 1 - r / p. This
    exceeds the limit, above which no score is kept, as soon as p > r / (1 - limit).

    p is at least the length of the normalized beginning: case changes character by character, and what normalizing
    squeezes, strips or cuts at the end of the beginning can only become part of the text when more text follows.
    """
    longest = 0
    for reference in references:
        # Changing the case turns a character into at most three, an ASCII character into one. The other steps of
        # normalizing only remove characters.
        length = len(reference) if reference.isascii() else 3 * len(reference)
        if length > longest:
            longest = length
    enough = int(longest / (1 - kernel.limit)) + 2
    # A quarter more characters, because normalizing removes some of the white space among them.
    beginning = enough + enough // 4 + 1
    return len(prediction) > beginning and len(kernel.normalize(prediction[:beginning])) > enough


def _distance(answer: str, accepted: str, most: int) -> int:
    """Compute the edit distance of long texts; if it is above `most`, return any number above `most`."""
    if most > 400:
        # rapidfuzz searches a band as wide as score_cutoff, so a lower cutoff is faster. We guess the distance from the
        # first 128 characters, which fill two machine words of rapidfuzz and cost little: the guess is their distance
        # for each 100 characters, plus 16, so that it is rather too high. A guess that is too low costs a second
        # search. Below 800 characters a guess does not pay (figures: benchmarks/README.md).
        guess = Levenshtein.distance(answer[:128], accepted[:128]) * max(len(answer), len(accepted)) // 100 + 16
        if guess < most:
            edits = Levenshtein.distance(answer, accepted, score_cutoff=guess)
            if edits <= guess:
                return edits
    return Levenshtein.distance(answer, accepted, score_cutoff=most)


def keep_similarity(answer: str, accepted: str, ratio: float, kernel: Kernel) -> float:
    """Turn `ratio`, the distance / length of an answer from the closest accepted answer, into a score."""
    if answer in kernel.no_answers:
        return 0.0
    if not answer and not accepted:
        return kernel.equal_empty
    similarity = 1 - ratio
    score = similarity if similarity >= kernel.low and ratio <= kernel.high else 0.0
    return raise_to_one(score) if kernel.all_or_nothing else score


def mean(scores: Iterable[float]) -> float:
    """Compute the mean of scores. It is rounded once, so any order of the scores gives the same bits.

    Args:
        scores: one or more numbers, in a list or any other iterable.

    Returns:
        The mean, a float. The mean of the scores of a set is the ANLS of the set.

    Raises:
        ValueError: there are no scores, or ``scores`` is not an iterable of finite numbers.

    Example:
        >>> mean(anls_scores(["CocaCola", "12/15/89"], ["Coca Cola", "12/15/88"]))
        0.8819444444444444
    """
    if isinstance(scores, Sequence) and not isinstance(scores, str):
        refuse_no_rows(scores)
        check_numbers(scores)
        return math.fsum(scores) / len(scores)
    if not isinstance(scores, Iterable) or isinstance(scores, str):
        raise ValueError(f"scores is {describe(scores)}: pass one number or more, in a list or as they come")
    places = count()
    try:
        total = math.fsum(map(itemgetter(0), zip(scores, places)))
    except TypeError:
        raise ValueError(f"the score of {name_row(next(places) - 1)} is not a number") from None
    refuse_no_rows(number := next(places))
    return total / number
