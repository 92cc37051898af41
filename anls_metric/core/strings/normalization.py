"""Normalizes answers and references before comparison, with normalizations that users choose by name from a table.

No variant uses these normalizations by default. The chosen ones are part of the signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from anls_metric.core.checks import describe_unknown


class Normalization(NamedTuple):
    """A row of `NORMALIZATIONS`, which describes one way to normalize strings.

    Attributes:
        name: the name of the row.
        meaning: what the normalization does, in one line.
        apply: the function that normalizes a string.
        of_ascii: whether the normalization also changes ASCII strings.
        of_keys: whether the normalization changes the keys of objects instead of the strings.
    """

    name: str
    meaning: str
    apply: Callable[[str], str]
    of_ascii: bool = False
    of_keys: bool = False


def _compose(text: str) -> str:
    import unicodedata  # a megabyte of tables that most runs do not need

    return unicodedata.normalize("NFC", text)


def _compose_compatible(match: re.Match[str]) -> str:
    import unicodedata

    return unicodedata.normalize("NFKC", match[0])


_WIDE = re.compile("[\uff01-\uffee\u3000]+")
_TYPOGRAPHY = {
    **dict.fromkeys(map(ord, "‘’‚‛′´ʼ"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2008\u2009\u202f"), " "),
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), ""),
    **{0xFB00 + place: text for place, text in enumerate(("ff", "fi", "fl", "ffi", "ffl", "st", "st"))},
    ord("…"): "...",
}
_DIGIT = re.compile(r"(?![0-9])\d")

NORMALIZATIONS: Mapping[str, Normalization] = {
    row.name: row
    for row in (
        Normalization("nfc", "one code for a letter with its accents (Unicode NFC)", _compose),
        Normalization(
            "width",
            "full-width letters, digits and signs in half width (Ａ１％ as A1%)",
            lambda text: _WIDE.sub(_compose_compatible, text),
        ),
        Normalization(
            "typography",
            'straight quotes, plain hyphens and spaces, no ligatures, no invisible characters (“ﬁn–al” as "fin-al")',
            lambda text: text.translate(_TYPOGRAPHY),
        ),
        Normalization(
            "digits",
            "digits of other scripts as 0 to 9 (٣ as 3)",
            lambda text: _DIGIT.sub(lambda match: str(int(match[0])), text),
        ),
        Normalization(
            "spaces", "no spaces at all ($ 1,200 as $1,200)", lambda text: "".join(text.split()), of_ascii=True
        ),
        Normalization(
            "keys",
            "for anls_star: keys without case, spaces and signs (invoiceDate as invoice date)",
            lambda text: "".join(filter(str.isalnum, text.casefold())),
            of_ascii=True,
            of_keys=True,
        ),
    )
}
"""The normalizations by name, in the order in which they are applied."""


@cache
def normalizer(names: str) -> Callable[[str], str]:
    """Return a function that normalizes a string with the named rows of `NORMALIZATIONS`.

    Args:
        names: the names of the rows, separated by commas; "" for none, which returns `str`.

    Raises:
        ValueError: there is no such row.

    Example:
        >>> normalizer("width,typography")("Ｏ’Neil")
        "O'Neil"
    """
    rows = [row for row in _find_rows(names) if not row.of_keys]
    if not rows:
        return str
    of_ascii = any(row.of_ascii for row in rows)

    def normalize(text: str) -> str:
        if of_ascii or not text.isascii():
            for row in rows:
                text = row.apply(text)
        return text

    return normalize


def sort_rows(names: str | Iterable[str], of_values: bool = True) -> str:
    """Return the given names of rows, separated by commas, in the order of `NORMALIZATIONS` and without duplicates.

    Raises:
        ValueError: a row does not exist, or a row is for the keys of objects although ``of_values`` is false.
    """
    rows = _find_rows(names if isinstance(names, str) else ",".join(names))
    for row in rows:
        if row.of_keys and not of_values:
            raise ValueError(f"the normalization {row.name} is for objects: use it with the variant anls_star")
    return ",".join(row.name for row in rows)


def prepare(kernel: Any, names: str) -> Any:
    """Return a copy of a kernel that first normalizes each string and measures the length of the normalized string."""
    change = normalizer(names)

    def change_first(compute: Callable[..., Any]) -> Callable[..., Any]:
        return lambda text, *more: compute(change(text), *more)

    fields = ("normalize", "prediction_length", "reference_length")
    return replace(kernel, **{field: change_first(getattr(kernel, field)) for field in fields})


def _find_rows(names: str) -> list[Normalization]:
    chosen = [name.strip() for name in names.split(",")] if names else []
    for name in chosen:
        if name not in NORMALIZATIONS:
            raise ValueError(describe_unknown("normalization", name, list(NORMALIZATIONS)))
    return [row for row in NORMALIZATIONS.values() if row.name in chosen]


def normalize_value(value: Any, names: str) -> Any:
    """Normalize the strings of a nested value and, if the row ``keys`` is named, the keys of its objects. The keys of
    an object stay unchanged if two of the keys would become equal.

    Example:
        >>> normalize_value({"invoiceDate": ["Ａ"]}, "width,keys")
        {'invoicedate': ['A']}
    """
    change = normalizer(names)
    change_key = NORMALIZATIONS["keys"].apply if "keys" in names.split(",") else str

    def visit(value: Any) -> Any:
        if isinstance(value, str):
            return change(value)
        if isinstance(value, (list, tuple)):
            return type(value)(map(visit, value))
        if isinstance(value, dict):
            keys = {key: change_key(key) if isinstance(key, str) else key for key in value}
            is_clear = len(set(keys.values())) == len(keys)
            return {keys[key] if is_clear else key: visit(item) for key, item in value.items()}
        return value

    return visit(value)
