"""Decides whether two answers are the same number, amount or date, written differently.

The tables below are the whole rule. A text that they do not cover has no value, so two answers are never the same by
mistake. Dates are not read with `datetime.strptime`, because it takes the names of months from the locale of the
process and would treat the years 44 and 1944 as different.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

LONGEST = 40
"""The largest number of characters of a text that can be a value."""


class Amount(NamedTuple):
    """A number with its unit. Its value is a sign, digits, and a power of ten: 12.50 has the digits "125" and power -1.

    Attributes:
        sign: "-" or "".
        digits: the digits without trailing zeros. Leading zeros of a whole number stay: 007 is a code and not 7.
        power: the power of ten that the digits are multiplied by.
        unit: the name of the unit, "" without one.
        is_plain: whether the number is written with only digits.
    """

    sign: str
    digits: str
    power: int
    unit: str = ""
    is_plain: bool = True


class Date(NamedTuple):
    """A date, or a part of one.

    Attributes:
        year: four digits, two digits, or "" without a year.
        month: from 1 to 12, or the first number of an ambiguous date like 3/4/98.
        day: the day, or the second number of an ambiguous date; None without a day.
        is_ambiguous: whether month and day could be swapped.
    """

    year: str
    month: int
    day: int | None = None
    is_ambiguous: bool = False


# Ways to write a number -> its thousands separator and its decimal sign. The first that fits counts, so a comma before
# three digits separates thousands, and a point is a decimal sign unless there are two.
NUMBERS: Mapping[str, tuple[str, str]] = {
    r"\d+(?:\.\d*)?|\.\d+": ("", "."),
    r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?": (",", "."),
    r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?": (",", "."),  # as in India
    r"[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?": ("'", "."),
    r"[1-9]\d{0,2}(?:\.\d{3}){2,}": (".", ","),
    r"[1-9]\d{0,2}(?:\.\d{3})+,\d+": (".", ","),
    r"\d+,\d+": ("", ","),
}

# The number words that documents use.
NUMBER_WORDS: Mapping[str, str] = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
    "thirteen": "13",
    "fourteen": "14",
    "fifteen": "15",
    "sixteen": "16",
    "seventeen": "17",
    "eighteen": "18",
    "nineteen": "19",
    "twenty": "20",
}

_LONGEST_NUMBER = 12

# A word after a number -> the power of ten that it stands for.
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

# The name of a unit -> the ways to write it. The table does not have "m", which can be a metre or a million, nor "k",
# nor a.m. and p.m., which change a time.
UNITS: Mapping[str, tuple[str, ...]] = {
    "percent": ("%", "percent", "per cent", "pct"),
    "dollar": ("$", "us$", "usd", "dollar", "dollars", "us dollars"),
    "cent": ("¢", "cent", "cents"),
    "euro": ("€", "eur", "euro", "euros"),
    "pound sterling": ("£", "gbp"),
    "pound": ("lb", "lbs", "pound", "pounds"),
    "yen": ("¥", "jpy", "yen"),
    "rupee": ("₹", "rs", "inr", "rupee", "rupees"),
    "second": ("s", "sec", "secs", "second", "seconds"),
    "minute": ("min", "mins", "minute", "minutes"),
    "hour": ("h", "hr", "hrs", "hour", "hours"),
    "day": ("day", "days"),
    "week": ("week", "weeks"),
    "month": ("month", "months"),
    "year": ("yr", "yrs", "year", "years", "years old"),
    "millimetre": ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    "centimetre": ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
    "kilometre": ("km", "kilometre", "kilometres", "kilometer", "kilometers"),
    "inch": ("in", "inch", "inches"),
    "foot": ("ft", "foot", "feet"),
    "mile": ("mile", "miles"),
    "square foot": ("sq ft", "sq. ft", "square foot", "square feet"),
    "acre": ("acre", "acres"),
    "microgram": ("µg", "μg", "mcg", "microgram", "micrograms"),
    "milligram": ("mg", "milligram", "milligrams"),
    "gram": ("g", "gm", "gms", "gram", "grams"),
    "kilogram": ("kg", "kgs", "kilogram", "kilograms"),
    "ounce": ("oz", "ounce", "ounces"),
    "ton": ("ton", "tons", "tonne", "tonnes"),
    "millilitre": ("ml", "mls", "millilitre", "millilitres", "milliliter", "milliliters"),
    "litre": ("l", "litre", "litres", "liter", "liters"),
    "gallon": ("gal", "gallon", "gallons"),
    "celsius": ("°c", "c", "degrees celsius"),
    "fahrenheit": ("°f", "f", "degrees fahrenheit"),
    "degree": ("°", "degree", "degrees"),
    "parts per million": ("ppm",),
    "calorie": ("cal", "calorie", "calories"),
    "kilocalorie": ("kcal", "kcals"),
    "person": ("person", "persons", "people"),
    "time": ("time", "times"),
    "page": ("page", "pages"),
    "copy": ("copy", "copies"),
    "call": ("call", "calls"),
    "item": ("item", "items"),
    "unit": ("unit", "units"),
}
_UNIT_NAMES = {"": "", **{way: name for name, ways in UNITS.items() for way in ways}}
# The units that can also stand before a number.
_BEFORE = {"dollar", "euro", "pound sterling", "yen", "rupee"}

# A month, by its name or its first three letters -> its number.
_MONTHS: Mapping[str, int] = {
    "jan": 1,
    "january": 1,
    "feb": 2,
    "february": 2,
    "mar": 3,
    "march": 3,
    "apr": 4,
    "april": 4,
    "may": 5,
    "jun": 6,
    "june": 6,
    "jul": 7,
    "july": 7,
    "aug": 8,
    "august": 8,
    "sep": 9,
    "sept": 9,
    "september": 9,
    "oct": 10,
    "october": 10,
    "nov": 11,
    "november": 11,
    "dec": 12,
    "december": 12,
}
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?[ .,]+"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
_MONTH = r"(?P<name>[a-z]{3,9})"
_YEAR = r"(?P<year>\d{4}|\d\d)"
_SIGNS = r"[ .,/'-]"

# Ways to write a date with the name of a month, after removing the day of the week. The first that fits counts.
NAMED_DATES = (
    rf"{_MONTH}{_SIGNS}*{_DAY}{_SIGNS}+{_YEAR}",
    rf"{_DAY}{_SIGNS}*(?:of )?{_MONTH}{_SIGNS}*{_YEAR}",
    rf"{_MONTH}{_SIGNS}*(?:of )?(?P<year>\d{{4}})",
    rf"{_MONTH}{_SIGNS}*'(?P<year>\d\d)",
    rf"{_MONTH}{_SIGNS}*{_DAY}",
    rf"{_DAY}{_SIGNS}*(?:of )?{_MONTH}",
)

# Ways to write a date with numbers only.
NUMERIC_DATES = (
    rf"(?P<first>\d\d?)(?P<sign>[-/.])(?P<second>\d\d?)(?P=sign){_YEAR}",
    r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)",
    r"(?P<month>\d\d?)[-/](?P<year>\d{4})",
)

_AMOUNT = (
    r"([-+]?) ?([^\d.,+-]*|rs\.) ?([-+]?) ?"  # a sign, a currency; only rs. has a point
    r"((?:(?<!rs)\.)?\d(?:[\d.,']*\d)?)"
    r"\.?(?:-(?=[a-z]))?(\D*)"  # a unit: 5 years, 5-year
)


_PLAIN_SIGNS = str.maketrans("−’", "-'")
# Keeps the letters of a text in UTF-8, and everything that is not ASCII.
_LETTERS_ALONE = bytes(code if code > 127 or chr(code).isalpha() else ord(" ") for code in range(256))
_WEEKDAYS = "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday"
# Every word that a value can contain.
_WORDS = frozenset(
    " ".join((*NUMBER_WORDS, *MULTIPLIERS, *_UNIT_NAMES, *_MONTHS, _WEEKDAYS, "st nd rd th of"))
    .encode()
    .translate(_LETTERS_ALONE)
    .split()
)


def is_same_value(text: str, other: str) -> bool:
    """Whether two texts are the same number, amount or date, written differently.

    If only one text has a unit, only the numbers are compared. A number that can be a year, like 1998, never equals a
    number with a separator, like 1,998.

    Args:
        text: an answer.
        other: another answer.

    Example:
        >>> is_same_value("977,633", "$977633.00"), is_same_value("27 percent", "27%"), is_same_value("10 years", "ten")
        (True, True, True)
        >>> is_same_value("12/15/88", "December 15, 1988"), is_same_value("3/4/88", "March 4, 1988")
        (True, False)
        >>> is_same_value("12", "12.5"), is_same_value("1,234", "1.234"), is_same_value("007", "7")
        (False, False, False)
    """
    return is_any_same_value(text, [other])


def may_be_a_value(text: str, digits: str) -> bool:
    """Whether a text with these digits may have a value: a value has digits, or begins with a number word.

    Example:
        >>> may_be_a_value("in 1988", "1988"), may_be_a_value("Ten years", ""), may_be_a_value("Paris", "")
        (True, True, False)
    """
    return digits != "" or text.lower().lstrip()[:_LONGEST_NUMBER].partition(" ")[0].rstrip(".") in NUMBER_WORDS


def is_any_same_value(text: str, others: Iterable[str]) -> bool:
    """Whether a text is the same value as one of these texts: see `is_same_value`.

    Example:
        >>> is_any_same_value("1500", ["Paris", "1,500"])
        True
    """
    value = read_value(text)
    if value is None:
        return False
    if isinstance(value, Date):
        return any(_is_same_date(value, read_value(other)) for other in others)
    return any(_is_same_amount(value, read_value(other)) for other in others)


def read_value(text: str) -> Amount | Date | None:
    """Read a text as an amount or as a date; None if it is neither.

    Example:
        >>> read_value("$1.5 million")
        Amount(sign='', digits='15', power=5, unit='dollar', is_plain=False)
        >>> read_value("15-Dec-88"), read_value("no. 5")
        (Date(year='88', month=12, day=15, is_ambiguous=False), None)
    """
    if len(text) > LONGEST:
        return None
    if not text.isascii():
        text = text.translate(_PLAIN_SIGNS)
    elif text.isdigit():
        return _make_amount("", text, "")
    text = " ".join(text.lower().split()).rstrip(".")
    if not _has_words_of_values(text):
        return None
    first, blank, rest = text.partition(" ")
    text = NUMBER_WORDS.get(first, first) + blank + rest
    return _read_amount(text) or _read_date(text)


def _has_words_of_values(text: str) -> bool:
    """Whether all words of a text can be part of a value. This cheap check avoids trying many patterns.

    Example:
        >>> list(map(_has_words_of_values, ["5 years", "may 5th, 1988", "page 5 of the report"]))
        [True, True, False]
    """
    return _WORDS.issuperset(text.encode("utf-8", "surrogatepass").translate(_LETTERS_ALONE).split())


def _read_amount(text: str) -> Amount | None:
    parts = re.fullmatch(_AMOUNT, text)
    if parts is None:
        return None
    sign, before, second_sign, number, after = parts.groups()
    first, _, rest = after.strip().partition(" ")
    times = MULTIPLIERS.get(first.rstrip("."))
    unit = _find_unit(before, after if times is None else rest)
    signs = next((signs for way, signs in NUMBERS.items() if re.fullmatch(way, number)), None)
    if unit is None or signs is None or (sign and second_sign):
        return None
    between, point = signs
    whole, _, fraction = number.replace(between, "").partition(point)
    minus = "-" if "-" in (sign, second_sign) else ""
    return _make_amount(minus, whole, fraction, times or 0, unit, number.isdigit() and times is None)


def _make_amount(sign: str, whole: str, fraction: str, times: int = 0, unit: str = "", is_plain: bool = True) -> Amount:
    """Make an amount from the digits before and after the point. Zero has no sign."""
    digits = fraction.lstrip("0") if whole in ("", "0") else whole + fraction
    significant = digits.rstrip("0") or whole.removeprefix("0")  # 00 is also a code
    power = len(digits) - len(significant) - len(fraction) + times if digits else 0
    return Amount(sign if significant else "", significant, power, unit, is_plain)


def _find_unit(before: str, after: str) -> str | None:
    """Find the name of the unit before or after a number: "" for no unit, None for any other text."""
    if len(after) == 1 and after.isalpha():  # 24c is a code
        return None
    first, last = (_UNIT_NAMES.get(text.strip().rstrip(".")) for text in (before, after))
    if first is None or last is None or (first and first not in _BEFORE) or (first and last and first != last):
        return None
    return first or last


def _is_same_amount(amount: Amount, other: Amount | Date | None) -> bool:
    if (
        not isinstance(other, Amount)
        or amount[:3] != other[:3]
        or (amount.unit != other.unit and amount.unit and other.unit)
    ):
        return False
    return amount[3:] == other[3:] or not (_can_be_a_year(amount) or _can_be_a_year(other))


def _can_be_a_year(amount: Amount) -> bool:
    if not amount.is_plain or amount.unit or amount.sign:
        return False
    return amount.power < 4 and re.fullmatch(r"(?:19|20)\d\d", amount.digits + "0" * amount.power) is not None


def _read_date(text: str) -> Date | None:
    text = re.sub(_WEEKDAY, "", text, count=1) if text[:1].isalpha() else text
    word = re.search("[a-z]{3,}", text)
    if word and word[0] not in _MONTHS:
        return None
    parts = next(filter(None, (re.fullmatch(way, text) for way in (NAMED_DATES if word else NUMERIC_DATES))), None)
    if parts is None:
        return None
    named = parts.groupdict()
    year = named.get("year") or ""
    if "first" in named:
        numbers = int(named["first"]), int(named["second"])
        is_ambiguous = max(numbers) <= 12 and numbers[0] != numbers[1]
        first, second = numbers if is_ambiguous else sorted(numbers)
        date = Date(year, first, second, is_ambiguous)
    else:
        month = _MONTHS[named["name"]] if "name" in named else int(named["month"])
        date = Date(year, month, int(named["day"]) if "day" in named else None)
    is_day = date.day is None or 1 <= date.day <= 31
    return date if 1 <= date.month <= 12 and is_day else None


def _is_same_date(date: Date, other: Amount | Date | None) -> bool:
    if not isinstance(other, Date) or date[1:] != other[1:]:
        return False
    short, long = sorted((date.year, other.year), key=len)
    return short == long or (len(short) == 2 and long.endswith(short))
