"""Defines the score of a row of values.

Floats are added one after the other, like `sum` before Python 3.12. Newer versions of `sum` compensate for rounding, so
their results may differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any


def total(numbers: Iterable[float]) -> float:
    """Add floats one after the other."""
    return reduce(add, numbers, 0.0)


def average(scores: Sequence[float], length: int) -> float:
    """Divide the sum of leaf scores by the number of leaves. Returns 1 if nothing is expected and nothing is given."""
    return total(scores) / length if length else 1.0


class RowScore(float):
    """The score of a row of values, as a float from 0 to 1 that also holds the scores of the leaves.

    The float is the sum of the leaf scores divided by the number of leaves, or 1 if nothing is expected and nothing is
    given.

    Args:
        scores: the scores of the leaves. Leaves that score 0 may be left out.
        length: the number of leaves.
        leaves: all leaves with their outcomes, if requested.

    Example:
        >>> row = RowScore([1.0, 1.0], 4)
        >>> row, row / 2, row.scores, row.length
        (0.5, 0.25, [1.0, 1.0], 4)
    """

    __slots__ = ("leaves", "length", "scores")
    scores: Sequence[float]
    length: int
    leaves: Sequence[Any]

    def __new__(cls, scores: Sequence[float], length: int, leaves: Sequence[Any] = ()) -> RowScore:
        row = super().__new__(cls, average(scores, length))
        row.scores, row.length, row.leaves = scores, length, leaves
        return row

    def __reduce__(self) -> tuple[Any, ...]:
        return RowScore, (self.scores, self.length, self.leaves)
