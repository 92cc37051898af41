"""Times ANLS* of nested values against the original program, anls_star 1.0.1, which gives the same bits."""

from __future__ import annotations

import random
import string
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from timing import Row, race

Make = Callable[[random.Random], Any]


def misread(chance: random.Random, text: str) -> str:
    """Replace a character, as an OCR error does."""
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(string.ascii_lowercase) + text[place + 1 :]


def answered(chance: random.Random, value: Any) -> Any:
    """Change a value as a fair model would: shuffled lists, OCR errors in 30% of texts, 5% of fields missing."""
    if isinstance(value, list):
        return [answered(chance, item) for item in chance.sample(value, len(value))]
    if isinstance(value, dict):
        return {key: answered(chance, item) for key, item in value.items() if chance.random() > 0.05}
    return misread(chance, value) if chance.random() < 0.3 and isinstance(value, str) else value


def words(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase + "  ", k=chance.randint(5, 20))).strip() or "x"


def price(chance: random.Random) -> str:
    return f"{chance.randint(1, 999)}.{chance.randint(0, 99):02}"


def table_row(chance: random.Random) -> dict[str, Any]:
    quantity, unit = chance.randint(1, 9), chance.choice(["kg", None])
    return {"description": words(chance), "quantity": quantity, "unit": unit, "price": price(chance)}


def listed(item: Make, count: int) -> Make:
    return lambda chance: [item(chance) for _ in range(count)]


def invoice(chance: random.Random) -> dict[str, Any]:
    seller = {"name": words(chance), "vat": None}
    return {"number": price(chance), "seller": seller, "lines": listed(table_row, 10)(chance), "total": price(chance)}


def levels(depth: int) -> Make:
    """Make a value with this many levels, dicts and lists in turn."""

    def make(chance: random.Random) -> Any:
        value: Any = words(chance)
        for level in range(depth):
            value = [value] if level % 2 else {"name": words(chance), "inside": value}
        return value

    return make


VALUES: dict[str, Make] = {
    "10 texts": listed(words, 10),
    "50 texts": listed(words, 50),
    "50 prices": listed(price, 50),
    "a table of 10 rows": listed(table_row, 10),
    "a table of 50 rows": listed(table_row, 50),
    "an invoice with 10 lines": invoice,
    "4 levels": levels(4),
    "8 levels": levels(8),
}


def time_nested(repetitions: int) -> Iterator[Row]:
    """Time one value of each kind."""
    from anls_star import anls_score

    from anls_metric.core.values import anls_star_score

    warnings.simplefilter("ignore")
    for name, make in VALUES.items():
        reference = make(random.Random(1))
        prediction = answered(random.Random(2), reference)
        calls = {
            "ours": partial(anls_star_score, prediction, reference),
            "theirs": partial(anls_score, reference, prediction),
        }
        assert calls["ours"]() == calls["theirs"](), name
        ours, theirs = race(calls, repetitions).values()
        yield Row("anls_star_score", "anls_star 1.0.1", name, 1, 1e6 * ours, 1e6 * theirs)
