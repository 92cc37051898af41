"""Decides whether two answers are the same number, amount or date, even if they are written differently.

The tables below are the whole rule. A string that they do not cover has no value, so two answers are never treated as
the same by mistake. Dates are not read with `datetime.strptime`, because it takes month names from the locale of the
process and would treat the years 44 and 1944 as different.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

MAX_LENGTH = 40
"""The maximum length of a string that can be a value."""


class Value(NamedTuple):
    """A number or a date in canonical form.

    Attributes:
        exact: the parts that two strings must have in common. For an amount, these are the number, its leading zeros
            (007 is a code), and whether the number can be a year, which is written as four digits from 1900 to 2099 and
            nothing else. For a date, these are its possible months and days, month first (3/4/98 has two readings),
            with 0 for a missing day, and the last two digits of the year.
        vague: the part that one of the strings may lack, which is the unit of an amount or the century of a date.
    """

    exact: tuple[Any, ...]
    vague: str


# Ways to write a number -> what is done to its thousands separators and its decimal point. The first pattern that fits
# is used, so a comma before three digits separates thousands, and a point is a decimal point unless there are two.
NUMBERS: Mapping[str, Mapping[int, Any]] = {
    r"\d+(?:\.\d*)?|\.\d+"
    r"|[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
    r"|[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"  # as in India
    r"|[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?": str.maketrans("", "", ",'"),
    r"[1-9]\d{0,2}(?:\.\d{3}){2,}"
    r"|[1-9]\d{0,2}(?:\.\d{3})+,\d+"
    r"|\d+,\d+": str.maketrans(",", ".", "."),
}

_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
# The number words that occur in documents -> their digits.
NUMBER_WORDS: Mapping[str, str] = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())}

# A word after a number -> the power of ten for which it stands.
MULTIPLIERS: Mapping[str, int] = {
    "hundred": 2,
    "thousand": 3,
    "million": 6,
    "billion": 9,
    "trillion": 12,
    "lakh": 5,
    "lakhs": 5,
    "crore": 7,
    "crores": 7,
}

# The name of a unit -> the ways to write it. The table contains neither "m", which can be a meter or a million, nor
# "k", nor a.m. and p.m., which change a time.
UNITS: Mapping[str, str] = {
    "percent": "%, percent, per cent, pct",
    "dollar": "$, us$, usd, dollar, dollars, us dollars",
    "cent": "¢, cent, cents",
    "euro": "€, eur, euro, euros",
    "pound sterling": "£, gbp",
    "pound": "lb, lbs, pound, pounds",
    "yen": "¥, jpy, yen",
    "rupee": "₹, rs, inr, rupee, rupees",
    "second": "s, sec, secs, second, seconds",
    "minute": "min, mins, minute, minutes",
    "hour": "h, hr, hrs, hour, hours",
    "day": "day, days",
    "week": "week, weeks",
    "month": "month, months",
    "year": "yr, yrs, year, years, years old",
    "millimetre": "mm, millimetre, millimetres, millimeter, millimeters",
    "centimetre": "cm, centimetre, centimetres, centimeter, centimeters",
    "kilometre": "km, kilometre, kilometres, kilometer, kilometers",
    "inch": "in, inch, inches",
    "foot": "ft, foot, feet",
    "mile": "mile, miles",
    "square foot": "sq ft, sq. ft, square foot, square feet",
    "acre": "acre, acres",
    "microgram": "µg, μg, mcg, microgram, micrograms",
    "milligram": "mg, milligram, milligrams",
    "gram": "g, gm, gms, gram, grams",
    "kilogram": "kg, kgs, kilogram, kilograms",
    "ounce": "oz, ounce, ounces",
    "ton": "ton, tons, tonne, tonnes",
    "millilitre": "ml, mls, millilitre, millilitres, milliliter, milliliters",
    "litre": "l, litre, litres, liter, liters",
    "gallon": "gal, gallon, gallons",
    "celsius": "°c, c, degrees celsius",
    "fahrenheit": "°f, f, degrees fahrenheit",
    "degree": "°, degree, degrees",
    "parts per million": "ppm",
    "calorie": "cal, calorie, calories",
    "kilocalorie": "kcal, kcals",
    "person": "person, persons, people",
    "time": "time, times",
    "page": "page, pages",
    "copy": "copy, copies",
    "call": "call, calls",
    "item": "item, items",
    "unit": "unit, units",
}
_UNIT_NAMES = {"": "", **{way: name for name, ways in UNITS.items() for way in ways.split(", ")}}
# The units that can also stand before a number.
_BEFORE = {"", "dollar", "euro", "pound sterling", "yen", "rupee"}

_AMOUNT = (
    r"([-+]?)([^\d.,+-]*)([-+]?) ?"  # a sign, a currency, a sign
    r"(?=(0*)\d|\.)(\.?\d(?:[\d.,']*\d)?)"  # leading zeros, and the number with them
    rf"\.?(?:-(?=[a-z]))?(?![a-z]$) ?(?:({'|'.join(MULTIPLIERS)})(?: |$))?(\D*)"  # a unit: 5 years, 5-year; but not 24c
)

_WEEKDAYS = "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
_MONTH_NAMES = "january february march april may june july august september october november december"
# The first three letters of a month -> its number.
_MONTHS: Mapping[str, int] = {name[:3]: number for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_WEEKDAY = rf"^(?:{'|'.join(_WEEKDAYS.split())})[ .,]+"
_NAME = rf"(?P<month>{'|'.join(_MONTH_NAMES.split())}|sept|{'|'.join(_MONTHS)})"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_DAY_TH = rf"{_DAY}(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|\d\d)"
_SIGNS = r"[ .,/'-]"
_SIGN = r"(?P<sign>[-/.])"

# Ways to write a date after the day of the week: with the name of a month, and with numbers only.
DATES = (
    rf"{_NAME}{_SIGNS}*(?:of )?(?P<year>\d{{4}}|(?<=')\d\d)",
    rf"{_NAME}{_SIGNS}*(?<!'){_DAY_TH}(?:{_SIGNS}+{_YEAR})?",
    rf"{_DAY_TH}{_SIGNS}*(?:of )?{_NAME}(?:{_SIGNS}*{_YEAR})?",
    rf"{_MONTH}{_SIGN}{_DAY}(?P=sign){_YEAR}",
    rf"{_DAY}{_SIGN}{_MONTH}(?P=sign){_YEAR}",
    rf"(?P<year>\d{{4}}){_SIGN}{_MONTH}(?P=sign){_DAY}",
    rf"{_MONTH}[-/](?P<year>\d{{4}})",
)

# Every word that a value can contain. It is fastest to reject a string by its words before anything else.
_KNOWN = (*MULTIPLIERS, *NUMBER_WORDS, *_UNIT_NAMES, *_MONTHS, _MONTH_NAMES, _WEEKDAYS, "sept of st nd rd th")
_find_words = re.compile("[a-z]+").findall
_find_first_word = re.compile("[a-z]+").search
_has_digit = re.compile(r"\d").search
_WORDS = frozenset(_find_words(" ".join(_KNOWN)))


def is_any_same_value(text: str, others: Iterable[str]) -> bool:
    """Whether a string is the same number, amount or date as any of several others, even if it is written differently.

    If only one string has a unit, only the numbers are compared, and the year 88 can be 1988 or 1888. A number that can
    be a year, such as 1998, never equals a number with a separator, such as 1,998.

    Example:
        >>> is_any_same_value("977,633", ["Paris", "$977633.00"]), is_any_same_value("10 years", ["ten"])
        (True, True)
        >>> is_any_same_value("12/15/88", ["December 15, 1988"]), is_any_same_value("3/4/88", ["March 4, 1988"])
        (True, False)
        >>> is_any_same_value("12", ["12.5"]), is_any_same_value("1,234", ["1.234"]), is_any_same_value("007", ["7"])
        (False, False, False)
    """
    value = read_value(text)
    if value is None:
        return False
    return any(
        other.exact == value.exact and (other.vague == value.vague or not other.vague or not value.vague)
        for other in filter(None, map(read_value, others))
    )


def read_value(text: str) -> Value | None:
    """Read a string as an amount or a date, or return None if it is neither.

    Example:
        >>> read_value("$1.5 million")
        Value(exact=(Decimal('1.5E+6'), '', False), vague='dollar')
        >>> read_value("15-Dec-1988"), read_value("no. 5")
        (Value(exact=(((12, 15),), '88'), vague='19'), None)
    """
    if len(text) > MAX_LENGTH:
        return None
    text = text.lower()
    word = _find_first_word(text)
    if word and word[0] not in _WORDS:
        return None
    text = " ".join(text.replace("−", "-").replace("’", "'").split()).rstrip(".")
    first, blank, rest = text.partition(" ")
    text = NUMBER_WORDS.get(first, first) + blank + rest
    if not _has_digit(text) or not _WORDS.issuperset(_find_words(text)):
        return None
    return _read_amount(text) or _read_date(text)


def _read_amount(text: str) -> Value | None:
    parts = re.fullmatch(_AMOUNT, text.replace("rs.", "rs "))  # the point in Rs.5 is not a decimal point
    if parts is None:
        return None
    sign, before, second_sign, zeros, written, multiplier, after = parts.groups()
    currency, unit = _UNIT_NAMES.get(before.strip()), _UNIT_NAMES.get(after.rstrip("."))
    if (sign and second_sign) or currency not in _BEFORE or unit is None or len({currency, unit, ""}) > 2:
        return None
    for way, signs in NUMBERS.items():
        if re.fullmatch(way, written):
            number = Decimal(f"{sign}{second_sign}{written.translate(signs)}e{MULTIPLIERS.get(multiplier, 0)}")
            is_year = text.isdigit() and 1900 <= number < 2100
            return Value((number, zeros or "", is_year), unit or currency)
    return None


def _read_date(text: str) -> Value | None:
    text = re.sub(_WEEKDAY, "", text)
    matches = (re.fullmatch(way, text) for way in DATES)
    readings = [match.groupdict() for match in matches if match]
    if not readings:
        return None
    days = [(_MONTHS.get(each["month"][:3]) or int(each["month"]), int(each.get("day") or 0)) for each in readings]
    year = readings[0].get("year") or ""
    return Value((tuple(dict.fromkeys(days)), year[-2:]), year[:-2])
