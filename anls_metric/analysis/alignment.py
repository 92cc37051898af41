"""Maps the edits of an answer back to the original texts, since scores compare normalized texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rapidfuzz.distance import Levenshtein

from anls_metric.core.explanation import Match
from anls_metric.core.variants import Variant

MOST_CELLS = 20_000**2
"""The limit for the characters of one text times the characters of the other."""

MOST_CELLS_TOGETHER = 100 * MOST_CELLS
"""The same limit for all pairs of texts of an `Aligner`."""

MOST_PARTS = 400
"""The largest number of differences to show."""


class Aligner:
    """Finds the edits of answers in the original texts.

    Args:
        variant: the variant that normalizes the texts.

    Example:
        >>> from anls_metric import VARIANTS, explain
        >>> why = explain(" CocaCola", ["Coca  cola"])
        >>> Aligner(VARIANTS["standard"]).align(why.prediction, why.best)
        [1, 0, 0, 0, 4, 4, 0, 2, 4, 4]
    """

    def __init__(self, variant: Variant) -> None:
        self._ignore_case = variant.ignore_case
        self._room = MOST_CELLS_TOGETHER

    def align(self, prediction: str, match: Match) -> list[int] | None:
        """Find the edits from a prediction to an accepted answer.

        Args:
            prediction: the prediction before normalization.
            match: how it compares with the accepted answer.

        Returns:
            Numbers of characters, in pairs of a number of the prediction and a number of the accepted answer: for an
            equal part, for an edit, for an equal part, and so on. None if the texts are too long or differ in too many
            places.
        """
        cells = len(match.normalized_prediction) * len(match.normalized_reference)
        if cells > min(MOST_CELLS, self._room):
            return None
        left = _locate(prediction, match.normalized_prediction, self._ignore_case)
        right = _locate(match.reference, match.normalized_reference, self._ignore_case)
        if left is None or right is None:
            return None
        self._room -= cells
        steps = Levenshtein.opcodes(match.normalized_prediction, match.normalized_reference)
        if len(steps) > MOST_PARTS:
            return None
        parts = _Parts()
        parts.add_equal(left[0], right[0])
        for step in steps:
            if step.tag != "equal":
                parts.add_edit(left[step.src_end] - left[step.src_start], right[step.dest_end] - right[step.dest_start])
                continue
            here, there = left[step.src_start : step.src_end + 1], right[step.dest_start : step.dest_end + 1]
            for sizes in _split_equal(here, there):
                parts.add_equal(*sizes)
        parts.add_equal(len(prediction) - left[-1], len(match.reference) - right[-1])
        return parts.sizes


class _Parts:
    """The sizes of alternating parts in two texts: an equal part, an edit, an equal part, and so on."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def add_equal(self, left: int, right: int) -> None:
        if left or right:
            self.sizes += (left, right) if self._wants_equal else (0, 0, left, right)

    def add_edit(self, left: int, right: int) -> None:
        if not self.sizes:
            self.sizes += (0, 0)
        if self._wants_equal:  # consecutive edits are one difference
            self.sizes[-2] += left
            self.sizes[-1] += right
        else:
            self.sizes += (left, right)

    @property
    def _wants_equal(self) -> bool:
        return len(self.sizes) % 4 == 0


def _split_equal(left: Sequence[int], right: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Split an equal part at places where one text has more characters, such as two blanks for one.

    Args:
        left, right: the indices of the characters in both texts, and their ends.
    """
    start = 0
    for place in range(len(left) - 1):
        sizes = left[place + 1] - left[place], right[place + 1] - right[place]
        if sizes[0] != sizes[1]:
            yield left[place] - left[start], right[place] - right[start]
            yield sizes
            start = place + 1
    yield left[-1] - left[start], right[-1] - right[start]


def _locate(raw: str, normalized: str, ignore_case: bool) -> list[int] | None:
    """Find the index in the raw text of each character of the normalized text, and the end; None if that fails."""
    lowered = raw.lower() if ignore_case else raw
    if len(raw) == len(lowered) == len(normalized):
        return list(range(len(raw) + 1))
    places: range | list[int] = range(len(raw))
    if len(lowered) != len(raw):  # a letter can become two letters in lower case
        places = [place for place, sign in enumerate(raw) for _ in sign.lower()]
        if len(places) != len(lowered):
            return None
    indices, place = [], 0
    for sign in normalized:  # skips the blanks that normalizing removes
        while place < len(lowered) and lowered[place] != sign and not (sign == " " and lowered[place].isspace()):
            place += 1
        if place == len(lowered):
            return None
        indices.append(places[place])
        place += 1
    return [*indices, indices[-1] + 1 if indices else 0]
