"""Times ANLS* against the original program, side by side: ``python benchmarks/nested.py``.

It makes an environment beside this file with anls_star 1.0.1 and munkres 1.1.4, checks that both programs give the same
bits for every workload, and times them in turn. It compares the least processor time of the repetitions, so that other
work on the machine has little effect.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import string
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from timing import ROOT, environment

PACKAGES = ["anls_star==1.0.1", "munkres==1.1.4"]

Pair = tuple[Any, Any]  # a prediction and its reference


class Row(NamedTuple):
    """One line of the table: milliseconds for one value."""

    workload: str
    theirs: float
    ours: float

    @property
    def ratio(self) -> float:
        """The time of the original divided by ours."""
        return self.theirs / self.ours


# Made-up values in the shape of real answers


def misread(chance: random.Random, text: str) -> str:
    """Replace a character, as an OCR error does."""
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(string.ascii_lowercase) + text[place + 1 :]


def answered(chance: random.Random, value: Any) -> Any:
    """Change a value as a fair model would: shuffled lists, OCR errors in 30 % of texts, 5 % of fields missing."""
    if isinstance(value, list):
        return [answered(chance, item) for item in chance.sample(value, len(value))]
    if isinstance(value, dict):
        return {key: answered(chance, item) for key, item in value.items() if chance.random() > 0.05}
    if isinstance(value, tuple):
        return answered(chance, value[0])
    return misread(chance, value) if chance.random() < 0.3 and isinstance(value, str) else value


def words(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase + "  ", k=chance.randint(5, 20))).strip() or "x"


def line_item(chance: random.Random) -> str:
    return f"Item {chance.randint(1, 500)} {chance.choice(['tea', 'milk', 'bread', '12.50', 'Hello world'])}"


def price(chance: random.Random) -> str:
    return f"{chance.randint(1, 999)}.{chance.randint(0, 99):02}"


def table_row(chance: random.Random) -> dict[str, str]:
    return {"description": words(chance), "quantity": str(chance.randint(1, 9)), "price": price(chance)}


def typed_row(chance: random.Random) -> dict[str, Any]:
    """Make a row of a table with numbers, and None for missing values."""
    return {**table_row(chance), "quantity": chance.randint(1, 9), "unit": chance.choice(["kg", None]), "vat": None}


def listed(item: Callable[[random.Random], Any], count: int) -> Callable[[random.Random], Any]:
    return lambda chance: [item(chance) for _ in range(count)]


def invoice(chance: random.Random) -> dict[str, Any]:
    head = {
        "number": price(chance),
        "date": ("31.12.2023", "31 Dec 2023"),
        "seller": {"name": words(chance), "vat": None},
    }
    return head | {"lines": listed(table_row, 10)(chance), "total": price(chance)}


def checkboxes(chance: random.Random) -> dict[str, Any]:
    """Make 20 documents of 6 questions, most with one answer, as one value, like CheckboxQA."""

    def answers() -> list[Any]:
        single = [chance.choice(["Yes", "No", ("N/A", "NA"), "OES"])]
        return single if chance.random() < 0.85 else [words(chance) for _ in range(chance.randint(2, 6))]

    return {f"document {number}": {f"Is {key} checked?": answers() for key in "abcdef"} for number in range(20)}


def nested(depth: int) -> Callable[[random.Random], Any]:
    """Make a value with this many levels, dicts and lists in turn."""

    def make(chance: random.Random) -> Any:
        value: Any = words(chance)
        for level in range(depth):
            value = [value] if level % 2 else {"name": words(chance), "inside": value}
        return value

    return make


WORKLOADS: dict[str, Callable[[random.Random], Any]] = {
    "10 texts": listed(words, 10),
    "10 line items": listed(line_item, 10),
    "10 prices": listed(price, 10),
    "a table of 10 rows": listed(table_row, 10),
    "10 rows with numbers and None": listed(typed_row, 10),
    "50 texts": listed(words, 50),
    "50 line items": listed(line_item, 50),
    "50 prices": listed(price, 50),
    "a table of 50 rows": listed(table_row, 50),
    "50 rows with numbers and None": listed(typed_row, 50),
    "an invoice with 10 lines": invoice,
    "like CheckboxQA, 120 questions": checkboxes,
    "4 levels": nested(4),
    "8 levels": nested(8),
    "12 levels": nested(12),
}
DEPTHS = [25, 50, 100, 200]


def pair(make: Callable[[random.Random], Any]) -> Pair:
    reference = make(random.Random(1))
    return answered(random.Random(2), reference), reference


# Timing

Score = Callable[[Any, Any], object]


def milliseconds(score: Score, prediction: Any, reference: Any, seconds: float) -> float:
    """Measure the least time of a call, over as many batches of calls as there is time for, at least two.

    A batch lasts some milliseconds, because the clock of the processor is coarse.
    """
    times: list[float] = []
    calls = 1
    while len(times) < 2 or sum(times) * calls < 1000 * seconds:
        start = time.process_time()
        for _ in range(calls):
            score(prediction, reference)
        took = 1000 * (time.process_time() - start)
        if took < 4:
            calls *= 2
        else:
            times.append(took / calls)
    return min(times)


def race(seconds: float, repetitions: int) -> Iterator[Row]:
    """Time ours and the original in turn."""
    from anls_star import anls_score

    from anls_metric.nested import anls_star_score

    warnings.simplefilter("ignore")
    for name, make in WORKLOADS.items():
        prediction, reference = pair(make)
        assert anls_star_score(prediction, reference) == anls_score(reference, prediction), name
        turns = [
            (
                milliseconds(anls_score, reference, prediction, seconds / repetitions),
                milliseconds(anls_star_score, prediction, reference, seconds / repetitions),
            )
            for _ in range(repetitions)
        ]
        yield Row(name, *map(min, zip(*turns)))


def levels(seconds: float) -> dict[int, float]:
    """Time deeper and deeper values with ours only, since the time of the original doubles with each level."""
    from anls_metric.nested import anls_star_score

    return {depth: milliseconds(anls_star_score, *pair(nested(depth)), seconds) for depth in DEPTHS}


def main() -> None:
    """Run the benchmark."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--seconds", type=float, default=2.0, help="what a timing may take")
    command.add_argument("--repetitions", type=int, default=4)
    command.add_argument("--json", metavar="FILE", help="write the figures to a file")
    flags = command.parse_args()
    python = environment("nested", "-e", str(ROOT), *PACKAGES) / "python"
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [str(python), __file__, *sys.argv[1:]])

    print("| a value of | anls_star | ours | |\n|---|---|---|---|")
    rows = []
    for row in race(flags.seconds, flags.repetitions):
        rows.append(row)
        cells = f"{row.theirs:.2f} ms", f"{row.ours:.3f} ms", f"{row.ratio:.0f}x"
        print("|", " | ".join([row.workload, *cells]), "|", flush=True)
    deep = levels(flags.seconds)
    print()
    for depth, took in deep.items():
        print(f"{depth} levels: {took:.3f} ms, {1000 * took / depth:.1f} us a level")
    if flags.json:
        figures = {"Python": platform.python_version(), "rows": [row._asdict() for row in rows], "levels": deep}
        Path(flags.json).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
