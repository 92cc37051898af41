"""Cleans strings before they are compared, in steps that several programs share."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d+(?:[-\s]\d+)?|\d{4}[-\s]\d{2}[-\s]\d{2}")
_LOCAL_PART = re.compile(r"[a-zA-Z0-9._%+-]+")
_DOMAIN = re.compile(r"[a-zA-Z0-9.-]+")


def delete_parentheses(text: str) -> str:
    """Delete each part in parentheses and the whitespace before it. A parenthesis that is never closed stays.

    Example:
        >>> delete_parentheses("12 (twelve) kg (net")
        '12 kg (net'
    """
    parts, place = [], 0
    while (opening := text.find("(", place)) >= 0 and (closing := text.find(")", opening)) >= 0:
        parts.append(text[place:opening].rstrip())
        place = closing + 1
    return "".join([*parts, text[place:]])


def strip_signs(text: str, currencies: str = "$") -> str:
    """Delete parentheses with their content, one quote at each end, currency signs at the start and `%` at the end.

    Example:
        >>> strip_signs("'$ 12 (net)'", "$£")
        '12'
    """
    text = delete_parentheses(text).strip() if "(" in text else text.strip()
    text = text[1:] if text.startswith(("'", '"')) else text
    text = (text[:-1] if text.endswith(("'", '"')) else text).strip()
    for currency in currencies:
        text = text.lstrip(currency).strip()
    return text.rstrip("%").strip()


def is_exact(
    text: str,
    parts: tuple[str, ...] = ("https://", "a.m.", "p.m."),
    endings: tuple[str, ...] = (".py", "ipynb"),
) -> bool:
    """Whether a cleaned reference must be matched exactly because it is a number, range, date, time, page, address or
    file name.

    Args:
        text: the reference.
        parts: the strings that mark a reference as exact wherever they occur.
        endings: the strings that mark a reference as exact at its end.

    Example:
        >>> is_exact("2024-01"), is_exact("jo@x.org"), is_exact("3.1 methods")
        (True, True, False)
    """
    if text.startswith("page") or text.endswith(endings) or any(part in text for part in parts):
        return True
    return bool(_NUMBERS.fullmatch(text)) or ("@" in text and _is_address(text))


def _is_address(text: str) -> bool:
    local, _, domain = text.partition("@")
    name, _, ending = domain.rpartition(".")
    is_formed = _LOCAL_PART.fullmatch(local) and _DOMAIN.fullmatch(domain)
    return bool(is_formed) and name != "" and len(ending) > 1 and ending.isalpha()
