"""The score of a row of values, and the mean of such scores.

Floats are added one after the other, as `sum` did before Python 3.12. Newer versions of `sum` compensate for rounding,
so they differ in the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, Literal, get_args

from anls_metric.core.kernel import mean as mean_of_scores
from anls_metric.core.rows import describe, refuse_no_rows

Average = Literal["rows", "leaves"]


def total(numbers: Iterable[float]) -> float:
    """Add floats one after the other."""
    return reduce(add, numbers, 0.0)


def average(scores: Sequence[float], length: int) -> float:
    """Divide the sum of leaf scores by the number of leaves; 1 if nothing is expected and nothing is given."""
    return total(scores) / length if length else 1.0


class RowScore(float):
    """The score of a row of values: a float from 0 to 1 that also holds the scores of its leaves.

    It is the sum of the leaf scores divided by the number of leaves, or 1 if nothing is expected and nothing is given.

    Args:
        scores: the scores of the leaves. Leaves that score 0 may be left out.
        length: the number of leaves.

    Example:
        >>> row = RowScore([1.0, 1.0], 4)
        >>> row, row / 2, row.length
        (RowScore(0.5, scores=[1.0, 1.0], length=4), 0.25, 4)
    """

    __slots__ = ("length", "scores")
    scores: Sequence[float]
    length: int

    def __new__(cls, scores: Sequence[float], length: int) -> RowScore:
        row = super().__new__(cls, average(scores, length))
        row.scores, row.length = scores, length
        return row

    @property
    def score(self) -> float:
        """The score, as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        return f"RowScore({float(self)}, scores={self.scores}, length={self.length})"

    __str__ = float.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return RowScore, (self.scores, self.length)


def mean(rows: Iterable[float], average: Average = "rows") -> float:
    """Compute the ANLS* of a set: the mean over its rows, or over all leaves, which gives long answers more weight.

    Args:
        rows: one score or more, from `score_rows`. Any other float counts as a row of one leaf.
        average: "rows", or "leaves" to score the whole set as one value, as CheckboxQA does.

    Returns:
        The mean, from 0 to 1.

    Raises:
        ValueError: there are no rows, or ``average`` is something else.

    Example:
        >>> rows = [RowScore([1.0, 1.0], 4), RowScore([1.0], 1)]
        >>> mean(rows), mean(rows, average="leaves")
        (0.75, 0.6)
    """
    if choose(average, Average, "average") == "rows":
        return mean_of_scores(rows)
    leaves = [row if isinstance(row, RowScore) else RowScore([row], 1) for row in rows]
    refuse_no_rows(leaves)
    length = sum(row.length for row in leaves)
    return math.fsum(score for row in leaves for score in row.scores) / length if length else 1.0


def choose(value: Any, names: Any, what: str) -> Any:
    """Return the value if it is one of the names of a ``Literal``. ValueError: it is not."""
    allowed = get_args(names)
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, allowed))}, got {describe(value)}")
    return value
