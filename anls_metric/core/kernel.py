"""The one loop that scores texts, and the mean of scores.

`Kernel` holds what the loop needs of a variant, and `iter_scores` is the loop. `explanation` takes the same steps one
by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.core.rows import check_rows, describe, name_row, name_rows_from, pair_columns, refuse_no_rows

__all__ = ["mean"]

Whitespace = Literal["squeeze", "strip", "keep"]
Length = Literal["normalized", "normalized upper", "stripped", "stripped upper", "raw", "raw upper"]
Kept = Literal["similarity >= threshold", "similarity > threshold", "distance / length < threshold"]

# Above this many characters of a prediction the edit distance costs more than what can avoid it.
LONG = 64


def _squeeze(text: str) -> str:
    return " ".join(text.split()) if len(text) <= LONG else _squeeze_long(text)


def _squeeze_long(text: str) -> str:
    # No white space but the blank is printable. Looking whether there is anything to squeeze is faster than doing it.
    tidy = "  " not in text and text[0] != " " != text[-1] and text.isprintable()
    return text if tidy else " ".join(text.split())


def lower_and_squeeze(text: str) -> str:
    return " ".join(text.lower().split()) if len(text) <= LONG else _squeeze_long(text.lower())


def _lower_and_strip(text: str) -> str:
    return text.lower().strip()


def _as_it_is(text: str) -> str:
    return text


# (ignore_case, whitespace) -> what is done to a text before it is compared.
NORMALIZERS: Mapping[tuple[bool, Whitespace], Callable[[str], str]] = {
    (True, "squeeze"): lower_and_squeeze,
    (True, "strip"): _lower_and_strip,
    (True, "keep"): str.lower,
    (False, "squeeze"): _squeeze,
    (False, "strip"): str.strip,
    (False, "keep"): _as_it_is,
}


def _normalized(text: str, normalized: str) -> int:
    return len(normalized)


def _normalized_upper(text: str, normalized: str) -> int:
    return len(normalized.upper())


def _stripped(text: str, normalized: str) -> int:
    return len(text.strip())


def _stripped_upper(text: str, normalized: str) -> int:
    return len(text.strip().upper())


def _raw(text: str, normalized: str) -> int:
    return len(text)


def _raw_upper(text: str, normalized: str) -> int:
    return len(text.upper())


# The length that counts for a text, given as it is and normalized. Upper-casing makes a few texts longer.
LengthOf = Callable[[str, str], int]
LENGTHS: Mapping[Length, LengthOf] = {
    "normalized": _normalized,
    "normalized upper": _normalized_upper,
    "stripped": _stripped,
    "stripped upper": _stripped_upper,
    "raw": _raw,
    "raw upper": _raw_upper,
}

# Threshold -> the least similarity and the greatest distance / length that keep a score.
LIMITS: Mapping[Kept, Callable[[float], tuple[float, float]]] = {
    "similarity >= threshold": lambda threshold: (threshold, math.inf),
    "similarity > threshold": lambda threshold: (math.nextafter(threshold, math.inf), math.inf),
    "distance / length < threshold": lambda threshold: (0.0, math.nextafter(threshold, -math.inf)),
}


class Kernel(NamedTuple):
    """A variant made ready for the loop."""

    normalize: Callable[[str], str]
    prediction_length: LengthOf
    reference_length: LengthOf
    plain: bool  # whether texts are lower-cased and squeezed, and their length is that of the result
    low: float  # a score is kept at this similarity or above ...
    high: float  # ... and at this distance / length or below
    limit: float  # no distance / length above it is kept, whatever the rounding
    bounded: bool  # whether a prediction can be too long to be kept, and its beginning tells
    equal: float  # the score of equal texts
    equal_empty: float  # the score of equal texts that are empty
    no_answers: frozenset[str]  # normalized predictions that score 0
    all_or_nothing: bool  # whether every score above 0 becomes 1
    as_given: bool  # whether a prediction that stands among the references as it is scores `equal`


# How many rows are checked and then scored at a time: they stay in the processor's cache in between.
_CHUNK = 1024


def score_columns(
    predictions: Any, references: Any, kernel: Kernel, row_name: Callable[[int], str] = name_row
) -> list[float]:
    """The score of each row of two columns of any kind. ValueError: it names a bad row by its place, by `row_name`."""
    predictions, references = pair_columns(predictions, references)
    scores: list[float] = []
    for start in range(0, len(predictions), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        checked = check_rows(predictions[chunk], references[chunk], name_rows_from(start, row_name))
        scores += score_rows(zip(*checked), kernel)
    return scores


def score_rows(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> list[float]:
    """The score of each row."""
    return list(iter_scores(rows, kernel))


def iter_scores(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """The score of each row, before the next row is asked for."""
    scores = _iter_kept(rows, kernel)
    return map(one_if_kept, scores) if kernel.all_or_nothing else scores


def one_if_kept(score: float) -> float:
    return 1.0 if score else 0.0


def _iter_kept(rows: Iterable[tuple[str, Sequence[str]]], kernel: Kernel) -> Iterator[float]:
    """What is kept of each row's similarity. The one loop of this project; `explain` says the same in plain steps."""
    distance, far, long = Levenshtein.distance, math.inf, LONG
    plain, low, high, equal, as_given = kernel.plain, kernel.low, kernel.high, kernel.equal, kernel.as_given
    normalize, no_answers, bounded = kernel.normalize, kernel.no_answers, kernel.bounded
    prediction_length, reference_length = kernel.prediction_length, kernel.reference_length
    for prediction, references in rows:
        if as_given and prediction in references:
            yield equal
            continue
        if len(prediction) > long:
            hopeless = bounded and _is_too_long(prediction, references, kernel)
            yield 0.0 if hopeless else _score_long(prediction, references, kernel)
            continue
        if plain:  # what the functions of a plain kernel do, written out: two calls a text cost a fifth of the loop
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
    """The same for a long prediction, without the distances that cannot change the score."""
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
        # More edits than these are either too many to be kept, or too many to be the fewest.
        most = int(min(least, kernel.limit) * length) + 1
        edits = _distance(answer, accepted, most)
        if edits <= most:
            least = min(least, edits / length)
    similarity = 1 - least
    return similarity if similarity >= kernel.low and least <= kernel.high else 0.0


def _is_too_long(prediction: str, references: Sequence[str], kernel: Kernel) -> bool:
    """Whether the beginning of a prediction shows that it cannot be kept, however it goes on.

    Normalized, it has p characters, and no reference counts more than r. At least p - r of them have to be deleted, and
    where p > r the length is p, so that distance / length is at least 1 - r / p. That is over the limit, above which
    nothing is kept, as soon as p > r / (1 - limit). And p is at least what a beginning alone comes to when it is
    normalized: case changes character by character, and what is squeezed, stripped or cut at the end of the beginning
    can only become part of the text when more follows.
    """
    longest = 0
    for reference in references:
        # Another case makes up to three characters of one, but none more of ASCII; the rest of normalizing only less.
        length = len(reference) if reference.isascii() else 3 * len(reference)
        if length > longest:
            longest = length
    enough = int(longest / (1 - kernel.limit)) + 2
    # As many characters and a quarter more, which as a kernel covers the white space among them.
    beginning = enough + enough // 4 + 1
    return len(prediction) > beginning and len(kernel.normalize(prediction[:beginning])) > enough


def _distance(answer: str, accepted: str, most: int) -> int:
    """The edit distance of long texts, or any number over `most` where it is over that."""
    if most > 400:
        # rapidfuzz searches a band that is as wide as the most edits that it is told of: the fewer, the faster. How
        # many there are is guessed from the first 128 characters, which are two machine words of its and cost little:
        # as many as those have in each 100, and 16, so that the guess is rather too high. Too low, it costs a second
        # search. Under 800 characters it does not pay (benchmarks/README.md has the figures).
        guess = Levenshtein.distance(answer[:128], accepted[:128]) * max(len(answer), len(accepted)) // 100 + 16
        if guess < most:
            edits = Levenshtein.distance(answer, accepted, score_cutoff=guess)
            if edits <= guess:
                return edits
    return Levenshtein.distance(answer, accepted, score_cutoff=most)


def keep_similarity(answer: str, accepted: str, ratio: float, kernel: Kernel) -> float:
    """The score of a normalized answer whose distance / length from the closest accepted one is `ratio`."""
    if answer in kernel.no_answers:
        return 0.0
    if not answer and not accepted:
        return kernel.equal_empty
    similarity = 1 - ratio
    score = similarity if similarity >= kernel.low and ratio <= kernel.high else 0.0
    return one_if_kept(score) if kernel.all_or_nothing else score


def mean(scores: Iterable[float]) -> float:
    """The mean of scores, rounded once: the same bits in whatever order they come.

    Args:
        scores: one or more numbers, in a list or as they come.

    Returns:
        Their mean. Of the scores of a set this is its ANLS.

    Raises:
        ValueError: no scores, or no list of them.

    Example:
        >>> mean(anls_scores(["CocaCola", "12/15/89"], ["Coca Cola", "12/15/88"]))
        0.8819444444444444
    """
    if isinstance(scores, Sequence) and not isinstance(scores, str):
        refuse_no_rows(scores)
        return math.fsum(scores) / len(scores)
    if not isinstance(scores, Iterable) or isinstance(scores, str):
        raise ValueError(f"scores is {describe(scores)}: pass one number or more, in a list or as they come")
    places = count()
    total = math.fsum(map(itemgetter(0), zip(scores, places)))
    refuse_no_rows(number := next(places))
    return total / number
