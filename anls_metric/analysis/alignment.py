"""Maps the edits of an answer back to the original texts, since scores compare normalized texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from rapidfuzz.distance import Levenshtein

from anls_metric.core.explanation import Match

MAX_CELLS = 20_000**2
"""The limit for the characters of one text times the characters of the other."""

MAX_STEPS = 400
"""The largest number of edits, and of equal parts between them, to show."""


def align(prediction: str, match: Match, ignore_case: bool) -> list[int] | None:
    """Find the edits from a prediction to an accepted answer, in the original texts.

    Args:
        prediction: the prediction before normalization.
        match: how it compares with the accepted answer.
        ignore_case: whether the variant that normalized them ignores case.

    Returns:
        Numbers of characters, in pairs of a number of the prediction and a number of the accepted answer: for an equal
        part, for an edit, for an equal part, and so on. None if the texts are too long or differ in too many places.

    Example:
        >>> from anls_metric import explain
        >>> why = explain(" CocaCola", ["Coca  cola"])
        >>> align(why.prediction, why.best, ignore_case=True)
        [1, 0, 0, 0, 4, 4, 0, 2, 4, 4]
    """
    one, other = match.normalized_prediction, match.normalized_reference
    if len(one) * len(other) > MAX_CELLS:
        return None
    steps = Levenshtein.opcodes(one, other)
    if len(steps) > MAX_STEPS:
        return None
    left, right = _locate(prediction, one, ignore_case), _locate(match.reference, other, ignore_case)
    parts = [(False, left[0], right[0])]
    for step in steps:
        own, theirs = left[step.src_start : step.src_end + 1], right[step.dest_start : step.dest_end + 1]
        if step.tag == "equal":
            parts += [(False, *sizes) for sizes in zip(_subtract(own), _subtract(theirs))]
        else:
            parts.append((True, own[-1] - own[0], theirs[-1] - theirs[0]))
    parts.append((False, len(prediction) - left[-1], len(match.reference) - right[-1]))
    return _join(parts)


def _subtract(places: Sequence[int]) -> list[int]:
    """Compute the number of characters from each place to the next one."""
    return [after - before for before, after in pairwise(places)]


def _join(parts: Sequence[tuple[bool, int, int]]) -> list[int]:
    """Join edits that follow each other, and equal parts, but not at places where one text has more characters."""
    sizes: list[int] = []
    for (is_edit, _), run in groupby(parts, key=lambda part: (part[0], part[0] or part[1] == part[2])):
        _, left, right = map(sum, zip(*run))
        if left or right:
            is_next_edit = len(sizes) % 4 == 2
            sizes += (left, right) if is_edit == is_next_edit else (0, 0, left, right)
    return sizes


def _locate(raw: str, normalized: str, ignore_case: bool) -> list[int]:
    """Find the index in the raw text of each character of the normalized text, and the end."""
    lowered, places = raw, list(range(len(raw)))
    if ignore_case:  # a letter can become two letters in lower case
        lowered = raw.lower()
        places = [place for place, sign in enumerate(raw) for _ in sign.lower()]
    indices, number = [], 0
    for sign in normalized:
        while lowered[number] != sign and not (sign == " " and lowered[number].isspace()):
            number += 1  # skips the blanks that normalizing removes
        indices.append(places[number])
        number += 1
    return [*indices, indices[-1] + 1 if indices else 0]
