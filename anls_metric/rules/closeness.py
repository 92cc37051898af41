"""Compares two numbers or two strings, using rules that several benchmarks share."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Any

from anls_metric.core.strings.variants import VARIANTS, compile_kernel

OVER_HALF = compile_kernel(VARIANTS["mmlongbench"])
"""A kernel that respects case and spaces, uses the lengths of the uppercased strings, and scores a similarity of
exactly 0.5 as 0.
"""

OVER_HALF_OF_CHARACTERS = compile_kernel(VARIANTS["fast_anls"])
"""A kernel like `OVER_HALF`, but with the lengths of the original strings."""

HALF_OR_MORE = compile_kernel(replace(VARIANTS["nls"], threshold=0.5))
"""A kernel that respects case and spaces and keeps a similarity of exactly 0.5."""

PYPI_ANLS = compile_kernel(VARIANTS["pypi_anls"])
OPENBENCH = compile_kernel(VARIANTS["openbench"])


def parse_float(value: Any) -> float | None:
    """Parse a number with Python's `float`, or return None if parsing fails.

    Example:
        >>> parse_float(" 1e3 "), parse_float("1,000")
        (1000.0, None)
    """
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def is_close(prediction: float, gold: float) -> bool:
    """Whether two numbers are within 1% of each other or equal when rounded. As a percentage, 50 is also close to 0.5.

    Example:
        >>> is_close(0.5, 50.0), is_close(12.5, 12.0), is_close(12.3, 12.34)
        (True, False, True)
    """
    for number in (gold / 100, gold, gold * 100):
        if isclose(number, prediction, rel_tol=0.01):
            return True
        digits = max(min(_count_digits(prediction), _count_digits(number)), 2)
        if round(prediction, digits) == round(number, digits):
            return True
    return False


def _count_digits(number: float) -> int:
    """Count the digits after the point in the printed form of a float, or return 3 if there is no point."""
    _, point, digits = str(number).partition(".")
    return len(digits) if point else 3
