"""Formats scores as fractions or percentages, with a given number of digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class NumberFormat(NamedTuple):
    """The format of scores, differences and intervals.

    Attributes:
        percent: whether to print 83.57 instead of 0.8357.
        digits: the number of digits after the decimal point; None for 4, or for 2 with percentages.

    Example:
        >>> NumberFormat().format(0.8357), PERCENT.format(0.8357), NumberFormat(digits=2).format(0.8357)
        ('0.8357', '83.6', '0.84')
        >>> NumberFormat(percent=True, digits=1).format((-0.25, 0.5), "+")
        '-25.0 to +50.0'
        >>> NumberFormat(percent=True, digits=1).format(-0.0004)
        '0.0'
        >>> NumberFormat().format(12345), NumberFormat().format(0.00012, ".2g"), NumberFormat().format(None)
        ('12,345', '0.00012', '-')
    """

    percent: bool = False
    digits: int | None = None

    def format(self, value: float | Sequence[float] | str | None, form: str = "") -> str:
        """Format a value from the document. A count gets thousands separators, an interval becomes "low to high", and
        None becomes "-".

        Args:
            value: the value. A string is returned unchanged.
            form: "+" to give every score a sign; ".2g", ".1f" and the like for a number that is not a score, such as a
                p-value, which is never a percentage.
        """
        if value is None:
            return "-"
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, Sequence):
            return " to ".join(self.format(end, form) for end in value)
        if form.startswith("."):
            return format(value, form)
        digits = self.places - 2 if self.percent else self.places
        text = f"{value * (100 if self.percent else 1):{form}.{digits}f}"
        return text if text.strip("+-0.") else text.lstrip("+-")  # zero gets no sign

    @property
    def places(self) -> int:
        """The number of digits after the decimal point in a fraction, regardless of whether it is printed as a
        percentage.
        """
        return 4 if self.digits is None else self.digits + 2 * self.percent


PLAIN = NumberFormat()

PERCENT = NumberFormat(percent=True, digits=1)
"""The format of scores in the report and in the web app."""


def format_p_value(p_value: float) -> str:
    """Format a p-value in the usual style of papers.

    Example:
        >>> format_p_value(0.0001), format_p_value(0.0042), format_p_value(0.042)
        ('p < 0.001', 'p = 0.004', 'p = 0.04')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.{3 if p_value < 0.01 else 2}f}"
