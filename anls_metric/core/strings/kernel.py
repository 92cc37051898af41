"""Contains the only loop that scores strings.

`Kernel` holds the properties of a variant that the loop needs, and `Kernel.score_rows` is the loop. The module
`explanation` computes the same scores in plain steps.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rapidfuzz.distance import Levenshtein

from anls_metric.core.checks import RowName, name_row
from anls_metric.core.strings.rows import check_rows, pair_columns

# For a prediction longer than this many characters, avoiding the edit distance is faster than computing it.
LONG = 64


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def split_into_words(text: str) -> list[str]:
    """Split a string into words, leaving out ASCII punctuation and lowercase articles, as SQuAD does.

    Example:
        >>> split_into_words("the Coca-Cola Company, Inc.")
        ['CocaCola', 'Company', 'Inc']
    """
    return _ARTICLES.sub(" ", text.translate(_NO_PUNCTUATION)).split()


# (ignore_case, whitespace) -> the function that normalizes a string before the comparison.
NORMALIZERS: Mapping[tuple[bool, str], Callable[[str], str]] = {
    (True, "squeeze"): lambda text: " ".join(text.lower().split()),
    (True, "strip"): lambda text: text.lower().strip(),
    (True, "keep"): str.lower,
    (True, "words"): lambda text: " ".join(split_into_words(text.lower())),
    (False, "squeeze"): lambda text: " ".join(text.split()),
    (False, "strip"): str.strip,
    (False, "keep"): str.__str__,
    (False, "words"): lambda text: " ".join(split_into_words(text)),
}

# The name of a length -> the length, computed from the raw and the normalized string. Uppercasing makes some longer.
LengthOf = Callable[[str, str], int]
LENGTHS: Mapping[str, LengthOf] = {
    "normalized": lambda text, normalized: len(normalized),
    "normalized upper": lambda text, normalized: len(normalized.upper()),
    "stripped": lambda text, normalized: len(text.strip()),
    "stripped upper": lambda text, normalized: len(text.strip().upper()),
    "raw": lambda text, normalized: len(text),
    "raw upper": lambda text, normalized: len(text.upper()),
}

# The rule that keeps a score -> a function that maps the threshold to the smallest similarity and the largest
# distance / length that keep a score.
LIMITS: Mapping[str, Callable[[float], tuple[float, float]]] = {
    "similarity >= threshold": lambda threshold: (threshold, math.inf),
    "similarity > threshold": lambda threshold: (math.nextafter(threshold, math.inf), math.inf),
    "distance / length < threshold": lambda threshold: (0.0, math.nextafter(threshold, -math.inf)),
}


@dataclass(frozen=True, eq=False)
class Kernel:
    """The loop that scores strings, with the properties of a variant that the loop needs."""

    normalize: Callable[[str], str]
    prediction_length: LengthOf
    reference_length: LengthOf
    low: float  # a score is kept at this similarity or above ...
    high: float  # ... and at this distance / length or below
    no_answers: Collection[str]  # normalized predictions that score 0
    empty_equals_empty: bool  # whether two empty strings score 1 at any threshold
    all_or_nothing: bool  # whether every score above 0 becomes 1

    def keep(self, answer: str, accepted: str, ratio: float) -> float:
        """Convert `ratio`, which is distance / length for an answer and the closest reference, to a score."""
        if answer in self.no_answers:
            return 0.0
        if self.empty_equals_empty and not answer and not accepted:
            return 1.0
        similarity = 1 - ratio
        score = similarity if similarity >= self.low and ratio <= self.high else 0.0
        return 1.0 if score and self.all_or_nothing else score

    @cached_property
    def limit(self) -> float:
        """A limit above which no distance / length is kept, even after rounding."""
        return min(self.high, 1.0 - self.low + 1e-9)

    def score(self, prediction: str, references: Sequence[str]) -> float:
        """Score a prediction against its references, all of which must be strings that have already been checked."""
        return next(self.score_rows([(prediction, references)]))

    @cached_property
    def score_rows(self) -> Callable[[Iterable[tuple[str, Sequence[str]]]], Iterator[float]]:
        """The function that scores rows of a prediction and its references, one row at a time.

        This function contains the only loop of the project that computes ANLS. `explain` computes the same score in
        plain steps. The values from the kernel are local variables in a closure, because reading attributes would take
        a third longer.
        """
        normalize, no_answers, low, high, limit = self.normalize, self.no_answers, self.low, self.high, self.limit
        prediction_length, reference_length = self.prediction_length, self.reference_length
        measures_normalized = prediction_length is LENGTHS["normalized"]
        # Whether the functions of the kernel can be inlined: two calls per string would take a fifth of the time.
        measures_alike = measures_normalized and reference_length is prediction_length
        plain = normalize is NORMALIZERS[True, "squeeze"] and measures_alike and not no_answers
        bounded = measures_normalized and limit < 1
        equal, equal_empty = self.keep("a", "a", 0.0), self.keep("", "", 0.0)
        raw_match = not no_answers and equal == equal_empty  # strings that are equal as given are equal once normalized
        distance, far, long, all_or_nothing = Levenshtein.distance, math.inf, LONG, self.all_or_nothing

        def score_rows(rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[float]:
            for prediction, references in rows:
                if raw_match and prediction in references:
                    yield equal
                    continue
                is_long = len(prediction) > long
                if is_long and bounded and _is_too_long(prediction, references, self):
                    yield 0.0
                    continue
                if plain:
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
                        yield equal if answer else equal_empty
                        break
                    if length < answer_length:
                        length = answer_length
                    if is_long:
                        # With more edits than this, the score is 0 or another reference is closer.
                        most = int((least if least < limit else limit) * length) + 1
                        ratio = distance(answer, accepted, score_cutoff=most) / length
                    else:
                        ratio = distance(answer, accepted) / length
                    if ratio < least:
                        least = ratio
                else:
                    similarity = 1 - least
                    score = similarity if similarity >= low and least <= high else 0.0
                    yield 1.0 if all_or_nothing and score else score

        return score_rows


# How many rows are checked and then scored at a time. So few stay in the processor's cache between the two steps.
CHUNK = 1024


def score_columns(predictions: Any, references: Any, kernel: Kernel, row_name: RowName = name_row) -> list[float]:
    """Score each row of two columns of any supported type. Raises a ValueError that names the row with `row_name` if a
    row cannot be scored.
    """
    predictions, references = pair_columns(predictions, references)
    scores: list[float] = []
    for first in range(0, len(predictions), CHUNK):
        chunk = slice(first, first + CHUNK)
        scores += kernel.score_rows(zip(*check_rows(predictions[chunk], references[chunk], row_name, first)))
    return scores


def _is_too_long(prediction: str, references: Sequence[str], kernel: Kernel) -> bool:
    """Whether the beginning of a prediction is enough to show that the whole prediction scores 0.

    Let p be the length of the normalized prediction, and r the greatest length of any reference. At least p - r
    characters must be deleted. If p > r, the distance is divided by p, so distance / length is at least 1 - r / p. This
    exceeds the limit, above which no score is kept, as soon as p > r / (1 - limit).

    p is at least the length of the normalized beginning: case changes character by character, and what normalizing
    squeezes, strips or cuts at the end of the beginning can only become part of the string when more text follows. Only
    an incomplete article, such as "th", could disappear: at most two characters and a space.
    """
    # Changing the case turns a character into at most three, and an ASCII character into one. The other steps of
    # normalizing only remove characters.
    longest = max(map(len, references)) * (1 if "".join(references).isascii() else 3)
    enough = int(longest / (1 - kernel.limit)) + 5
    # A quarter more characters, because normalizing removes some of the whitespace among them.
    beginning = enough + enough // 4 + 1
    return len(prediction) > beginning and len(kernel.normalize(prediction[:beginning])) > enough
