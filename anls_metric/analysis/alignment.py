"""Maps the edits of an answer back to the original strings, since scores compare normalized strings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice, pairwise, repeat

from anls_metric.core.strings.explanation import Explanation

MAX_CELLS = 20_000**2
"""The limit for the number of characters in one string times the number in the other."""

MAX_STEPS = 400
"""The largest number of steps to show, counting both edits and the equal parts between them."""


def align(why: Explanation) -> list[int] | None:
    """Find the edits from a prediction to the closest reference, as they appear in the original strings.

    Args:
        why: the explanation of the prediction's score.

    Returns:
        Numbers of characters, in pairs of one for the prediction and one for the reference: for an equal part, for an
        edit, for an equal part, and so on. None if the strings are too long or differ in too many places.

    Example:
        >>> from anls_metric import explain
        >>> align(explain(" CocaCola", ["Coca  cola"]))
        [1, 0, 0, 0, 4, 4, 0, 2, 4, 4]
    """
    predicted, accepted = why.best.normalized_prediction, why.best.normalized_reference
    if len(predicted) * len(accepted) > MAX_CELLS:
        return None
    steps = [(edit.operation == "equal", len(edit.prediction), len(edit.reference)) for edit in why.edits]
    if len(steps) > MAX_STEPS:
        return None
    ignore_case = why.variant.ignore_case
    left = iter(_measure(why.prediction, predicted, ignore_case))
    right = iter(_measure(why.closest, accepted, ignore_case))
    parts: list[tuple[bool, int, int]] = []
    for is_equal, gone, come in [(True, 1, 1), *steps, (True, 1, 1)]:  # text before and after both is treated as equal
        own, theirs = islice(left, gone), islice(right, come)
        parts += zip(repeat(False), own, theirs) if is_equal else [(True, sum(own), sum(theirs))]
    return _join(parts)


def _join(parts: Sequence[tuple[bool, int, int]]) -> list[int]:
    """Join adjacent edits, and adjacent equal parts except where one string has more characters than the other."""
    sizes: list[int] = []
    for (is_edit, _), run in groupby(parts, key=lambda part: (part[0], part[0] or part[1] == part[2])):
        _, left, right = map(sum, zip(*run))
        if left or right:
            is_next_edit = len(sizes) % 4 == 2
            sizes += (left, right) if is_edit == is_next_edit else (0, 0, left, right)
    return sizes


def _measure(raw: str, normalized: str, ignore_case: bool) -> list[int]:
    """Count the raw characters before the normalized string, for each of its characters, and after it."""
    lower = str.lower if ignore_case else str
    places = [place for place, sign in enumerate(raw) for _ in lower(sign)]  # one letter can become two in lower case
    characters = zip(lower(raw), places)
    starts = [0]
    for sign in normalized:  # skips the spaces that normalization removes
        starts.append(next(place for each, place in characters if each == sign or (sign == " " and each.isspace())))
    end = starts[-1] + 1 if normalized else 0
    return [after - before for before, after in pairwise([*starts, end, len(raw)])]
