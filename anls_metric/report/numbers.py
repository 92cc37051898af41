"""Formats scores as fractions or in percent, with a number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anls_metric.core.choices import check_count


class Numbers(NamedTuple):
    """The format of scores, differences and intervals.

    Attributes:
        percent: whether to print 83.57 instead of 0.8357.
        digits: the number of digits after the point; None for 4, and for 2 in percent.

    Example:
        >>> Numbers().format(0.8357), Numbers(percent=True).format(0.8357), Numbers(digits=2).format(0.8357)
        ('0.8357', '83.57', '0.84')
        >>> Numbers(percent=True, digits=1).format_interval((-0.25, 0.5), "+")
        '-25.0 to +50.0'
    """

    percent: bool = False
    digits: int | None = None

    @classmethod
    def of(cls, percent: bool, digits: int | None) -> Numbers:
        """Make a format. ValueError: the number of digits is not a whole number from 0 to `MOST_DIGITS`."""
        return cls(percent, None if digits is None else check_count("digits", digits, MOST_DIGITS))

    def format(self, score: float, sign: str = "") -> str:
        """Format a score. With the sign "+", every number has a sign, as differences do."""
        digits = (2 if self.percent else 4) if self.digits is None else self.digits
        return f"{score * (100 if self.percent else 1):{sign}.{digits}f}"

    def format_interval(self, interval: Sequence[float] | None, sign: str = "") -> str:
        """Format an interval as "low to high", and None as "-"."""
        return " to ".join(self.format(end, sign) for end in interval) if interval else "-"


PLAIN = Numbers()
MOST_DIGITS = 16
