"""Maps the edits between two normalized strings back to the original strings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, islice, pairwise, repeat

from anls_metric.core.strings.explanation import Explanation

MAX_CELLS = 20_000**2
"""The maximum product of the lengths of the two normalized strings."""

MAX_STEPS = 400
"""The maximum number of steps in an alignment, counting both edits and the equal parts between edits."""


def align(why: Explanation) -> list[int] | None:
    """Find the edits from a prediction to the closest reference, as they appear in the original strings.

    Args:
        why: the explanation of the prediction's score.

    Returns:
        A flat list with two character counts for each part, one in the prediction and one in the reference. Equal parts
        and edits alternate, beginning with an equal part. None if the strings are too long or the alignment has too
        many steps.

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
    """Join adjacent edits and adjacent equal parts, but keep equal parts of the same length in both strings separate
    from equal parts of different lengths.
    """
    sizes: list[int] = []
    for (is_edit, _), run in groupby(parts, key=lambda part: (part[0], part[0] or part[1] == part[2])):
        _, left, right = map(sum, zip(*run))
        if left or right:
            is_next_edit = len(sizes) % 4 == 2
            sizes += (left, right) if is_edit == is_next_edit else (0, 0, left, right)
    return sizes


def _measure(raw: str, normalized: str, ignore_case: bool) -> list[int]:
    """Count the raw characters before a normalized string, at each of its characters, and after the string."""
    lower = str.lower if ignore_case else str
    places = [place for place, sign in enumerate(raw) for _ in lower(sign)]  # one letter can become two in lower case
    characters = zip(lower(raw), places)
    starts = [0]
    for sign in normalized:  # skips the spaces that normalization removes
        starts.append(next(place for each, place in characters if each == sign or (sign == " " and each.isspace())))
    end = starts[-1] + 1 if normalized else 0
    return [after - before for before, after in pairwise([*starts, end, len(raw)])]
