"""Maps the edits of an answer back to the original texts, since scores compare normalized texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    if len(match.normalized_prediction) * len(match.normalized_reference) > MAX_CELLS:
        return None
    left = _locate(prediction, match.normalized_prediction, ignore_case)
    right = _locate(match.reference, match.normalized_reference, ignore_case)
    if left is None or right is None:
        return None
    steps = Levenshtein.opcodes(match.normalized_prediction, match.normalized_reference)
    if len(steps) > MAX_STEPS:
        return None
    sizes: list[int] = []
    _add(sizes, left[0], right[0])
    for step in steps:
        own, other = left[step.src_start : step.src_end + 1], right[step.dest_start : step.dest_end + 1]
        if step.tag != "equal":
            _add(sizes, own[-1] - own[0], other[-1] - other[0], is_edit=True)
            continue
        for pair in _split_equal(own, other):
            _add(sizes, *pair)
    _add(sizes, len(prediction) - left[-1], len(match.reference) - right[-1])
    return sizes


def _add(sizes: list[int], left: int, right: int, is_edit: bool = False) -> None:
    """Add a part to the sizes of alternating equal parts and edits. Consecutive edits are one difference."""
    needs_edit = len(sizes) % 4 == 2
    if is_edit and sizes and not needs_edit:
        sizes[-2] += left
        sizes[-1] += right
    elif left or right:
        sizes += (left, right) if is_edit == needs_edit else (0, 0, left, right)


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
    # A letter can become two letters in lower case.
    places = [place for place, sign in enumerate(raw) for _ in (sign.lower() if ignore_case else sign)]
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
