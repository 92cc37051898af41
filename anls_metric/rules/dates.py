"""Reads dates with python-dateutil, in a way that does not depend on the current day."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from typing import Any

# A string without a digit is a date only if it names a month or a day of the week. Other strings need not be parsed.
_NAMES = (
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
)
_LONGEST = 1000  # characters: no date is longer

# python-dateutil completes a date with the parts of a default day. An incomplete date differs between these two days.
_DAYS = (datetime(2023, 2, 7), datetime(2024, 11, 18))
_TODAY = 2026  # the year of the benchmark, by which two-digit years are completed


def parse_date(text: str) -> tuple[date, ...]:
    """Parse a date. An ambiguous date is read with the month first.

    Returns:
        The date, completed once from each of two different days, so that the results differ if the string is
        incomplete, or () if the string is not a date.

    Raises:
        ValueError: the string may be a date, but python-dateutil is not installed.

    Example:
        >>> parse_date("March 5, 2024")[0].isoformat(), parse_date("Coca Cola")
        ('2024-03-05', ())
    """
    if len(text) > _LONGEST:
        return ()
    lower = text.lower()
    if not any(map(str.isdigit, text)) and not any(name in lower for name in _NAMES):
        return ()
    return _parse(text)


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[date, ...]:
    parse = _load_parser()
    try:
        return tuple(parse(text, default=day).date() for day in _DAYS)
    except (ValueError, TypeError, ArithmeticError):
        return ()


@lru_cache(maxsize=1)
def _load_parser() -> Any:
    try:
        from dateutil import parser
    except ImportError:
        raise ValueError("dates need python-dateutil: pip install 'anls-metric[rules]'") from None

    class Century(parser.parserinfo):  # type: ignore[misc]
        """Completes two-digit years in the same way in any year."""

        def convertyear(self, year: int, century_specified: bool = False) -> int:
            if year >= 100 or century_specified:
                return year
            year += _TODAY // 100 * 100
            return year - 100 if year >= _TODAY + 50 else year + 100 if year < _TODAY - 50 else year

    return parser.parser(Century()).parse
