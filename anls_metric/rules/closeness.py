"""Compares two numbers or two strings, using rules that several benchmarks share."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Any

from anls_metric.core.strings.variants import VARIANTS, compile_kernel

OVER_HALF = compile_kernel(VARIANTS["mmlongbench"])
"""Case and spaces matter, lengths are those of the uppercased strings, and a similarity of exactly 0.5 scores 0."""

OVER_HALF_OF_CHARACTERS = compile_kernel(VARIANTS["fast_anls"])
"""Like `OVER_HALF`, but with the lengths of the strings as they are."""

HALF_OR_MORE = compile_kernel(replace(VARIANTS["nls"], threshold=0.5))
"""Case and spaces matter, and a similarity of exactly 0.5 is kept."""

PYPI_ANLS = compile_kernel(VARIANTS["pypi_anls"])
OPENBENCH = compile_kernel(VARIANTS["openbench"])


def parse_float(value: Any) -> float | None:
    """Parse a number as Python's `float` does, or return None if that fails.

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
    """Count the digits after the point in a float as Python prints it; 3 if there is no point."""
    _, point, digits = str(number).partition(".")
    return len(digits) if point else 3
