"""Measures how the time of every regular expression and of every analysis grows: ``python benchmarks/growth.py``.

Texts and files are hostile, or merely long. An exponent is the logarithm of the ratio of two times over that of two
sizes: 1 is linear, 2 quadratic. The exit status is 1 if an exponent is over 1.5. Left out is what is quadratic by its
nature: the edit distance of two long texts, and the matching of two long lists. Pairs of many models are measured.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import itertools
import math
import os
import pkgutil
import random
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

LIMIT = 1.5
_ENOUGH = 0.02  # seconds from which on a time is more than noise
_LONG = 0.4  # seconds at which a size is not doubled any more


class Growth(NamedTuple):
    """How the time of something grows.

    Attributes:
        what: what was measured.
        input: what its input consists of.
        sizes: n, 2n, 4n.
        seconds: the CPU time at each size.
    """

    what: str
    input: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The exponent between the first and the last size; 0 where the times are too short to tell."""
        if self.seconds[-1] < _ENOUGH:
            return 0.0
        if len(self.seconds) == 1:  # the first size takes far too long
            return math.inf
        return math.log(self.seconds[-1] / max(self.seconds[0], 1e-6)) / math.log(self.sizes[-1] / self.sizes[0])


def measure(what: str, name: str, run: Callable[[Any], object], make: Callable[[int], Any], first: int) -> Growth:
    """Measure n, and 2n and 4n if these could take noticeable time."""
    sizes, seconds = [], []
    for size in (first, 2 * first, 4 * first):
        value = make(size)
        start = time.process_time()
        with suppress(ValueError, RecursionError):  # an answer as well
            run(value)
        sizes.append(size)
        seconds.append(time.process_time() - start)
        if 64 * seconds[-1] < _ENOUGH or seconds[-1] > (_LONG if len(seconds) > 1 else 10 * _LONG):
            break
    return Growth(what, name, tuple(sizes), tuple(seconds))


# Regular expressions

Use = tuple[str, int, str]
"""A pattern, its flags, and the method that uses it."""


def list_uses() -> dict[Use, str]:
    """List the patterns of the package by running its imports and analyses, each with the module that uses it."""
    uses: dict[Use, str] = {}
    compile_pattern = re._compile  # type: ignore[attr-defined]

    def record(pattern: Any, flags: int) -> Any:
        compiled = compile_pattern(pattern, flags)
        method, caller = sys._getframe(1).f_code.co_name, sys._getframe(2)
        module = caller.f_globals.get("__name__", "")
        if module.startswith("anls_metric") and isinstance(compiled.pattern, str):
            methods = [method] if method != "compile" else _find_methods(caller)
            uses.update({(compiled.pattern, compiled.flags, each): module for each in methods})
        return compiled

    re._compile = record  # type: ignore[attr-defined]
    try:
        for name in [name for name in sys.modules if name.startswith("anls_metric")]:
            del sys.modules[name]
        for module in pkgutil.walk_packages([str(ROOT / "anls_metric")], "anls_metric."):
            if not re.search(r"lmms_eval|keras|__main__", module.name):  # which import much, and have no patterns
                try:
                    importlib.import_module(module.name)
                except ImportError:
                    print(f"not installed: what {module.name} needs", file=sys.stderr)
        for _, _, run, make, _ in list_analyses():
            with suppress(ValueError, RecursionError):
                run(make(20))
    finally:
        re._compile = compile_pattern  # type: ignore[attr-defined]
    return uses


def _find_methods(caller: Any) -> Iterable[str]:
    """Find the methods of a compiled pattern that its module uses."""
    lines = Path(caller.f_code.co_filename).read_text(encoding="utf-8").splitlines()
    line = lines[caller.f_lineno - 1]
    direct = re.search(rf"re\.compile\(.*\)\.({_METHODS})\b", line)
    name = re.match(r"(\w+) = re\.compile", line)
    used = re.findall(rf"\b{name[1]}\.({_METHODS})\b", "\n".join(lines)) if name else ()
    others = re.findall(r"(?<!\bre)\.(search|match|fullmatch)\b", "\n".join(lines))  # of a variable for the pattern
    return [direct[1]] if direct else {*used} or {*others} or {"search"}


_METHODS = "search|match|fullmatch|sub|split|findall|finditer"


def list_pumps(pattern: str) -> Iterator[tuple[str, str, str]]:
    """List beginnings, repeated parts and ends of texts that a pattern may take long for."""
    plain = re.sub(r"\\[sdwbDSW]|\(\?[a-zA-Z:!=<]+", " ", pattern)
    letters = list(dict.fromkeys(re.sub(r"\\(.)", r"\1", plain)))[:14]
    letters = list(dict.fromkeys([*letters, " ", "1", "a", "-", "."]))
    words = list(dict.fromkeys(re.findall(r"[A-Za-z]{2,}[^\w\s]?", plain)))[:4]
    pumps = [*letters, *words, *(f"{word} " for word in words)]
    pumps += ["".join(pair) for pair in itertools.permutations(letters[:8], 2)]
    for pump in pumps:
        yield "", pump, "\0"
        yield letters[0], pump, ""


def measure_patterns() -> Iterator[Growth]:
    """Measure each pattern with texts that it may take long for."""
    for (pattern, flags, method), module in sorted(list_uses().items(), key=str):
        compiled = re.compile(pattern, flags)
        name = f"`{pattern}` ({method}, {module.removeprefix('anls_metric.')})"
        run = partial(compiled.sub, "") if method == "sub" else getattr(compiled, method)
        if method == "finditer":
            run = compiled.findall
        for start, pump, end in list_pumps(pattern):

            def make(n: int, start: str = start, pump: str = pump, end: str = end) -> str:
                return start + pump * (n // len(pump)) + end

            yield measure(name, f"{start!r} + n * {pump!r} + {end!r}", run, make, 2_000)


# Analyses

Analysis = tuple[str, str, Callable[[Any], object], Callable[[int], Any], int]
"""What is measured, what its input consists of, the function, a function that makes an input, and the first size."""

# Parts of hostile texts: brackets that nest, marks that are looked for again, whitespace, words of many rules.
_PUMPS = (
    *(
        '{"a":',
        "{'a':",
        "[",
        "(",
        '{"a": 1} ',
        "['a', ",
        "\\boxed{",
        "\\text{",
        "<think>",
        "</think>",
        "<answer>",
        "<p ",
        "&a",
    ),
    *(
        "```",
        "**",
        "_",
        "$",
        "\\(",
        '"',
        "'",
        "“",
        " ",
        "\n",
        "\t",
        "-",
        ".",
        "/",
        "0",
        "1,",
        "a ",
        "A: ",
        "- ",
        "The answer is ",
    ),
    *(
        "is ",
        "The Answer: ",
        "Question: ",
        "Question 1:\n",
        "<|channel|>final",
        "<|im_start|>",
        "USER:",
        "</s>",
        "no ",
        "not ",
    ),
    *("January ", "1 ", "$1", "1-", "1/1/", "%", "=", "'=", "｜", "漢"),
)
_CLOSED = {
    '{"a":': ("1", "}"),
    "{'a':": ("1", "}"),
    "[": ("", "]"),
    "(": ("", ")"),
    "\\boxed{": ("", "}"),
    "\\text{": ("", "}"),
}


def _make_text(pump: str, n: int) -> str:
    return (pump * n)[:n]


def _make_closed(pump: str, n: int) -> str:
    """Make a text whose brackets nest, half as deep as it is long."""
    middle, closing = _CLOSED[pump]
    depth = n // 2 // (len(pump) + len(closing))
    return pump * depth + "x" * (n // 2) + middle + closing * depth


def list_analyses() -> Iterator[Analysis]:
    """List the analyses, each with inputs of one kind."""
    from anls_metric.core.extraction.extract import EXTRACTORS, find_certain_rules
    from anls_metric.core.statistics.clusters import name_documents

    texts: list[tuple[str, Callable[[int], str]]] = [
        *((f"n characters of {pump!r}", lambda n, pump=pump: _make_text(pump, n)) for pump in _PUMPS),
        *((f"n characters of {pump!r}, closed", lambda n, pump=pump: _make_closed(pump, n)) for pump in _CLOSED),
        ("1000 objects, nested", lambda n: '{"a":' * 900 + '"' + "x" * n + '"' + "}" * 900),
    ]
    for rule in EXTRACTORS.values():
        for name, make in texts:
            yield f"extract {rule.name}", name, rule.extract, make, 5_000
            if rule.of_values:
                yield f"extract {rule.name} of values", name, rule.of_values, make, 5_000
    for name, make in texts:
        yield "find raw output", name, lambda text: find_certain_rules([text]), make, 5_000
        yield "name documents", name, lambda text: name_documents([text, f"{text}x"]), make, 5_000
        yield "read a CSV file", name, _read_csv, make, 20_000
        yield "read a JSON file", name, _read_json, make, 20_000
        yield "score and explain", name, _score_one, make, 2_000
        yield "score ANLS* and explain", name, _score_values, make, 2_000
    yield "score n questions", "short answers", _score, _make_rows, 4_000
    yield "score n questions", "raw output", _score, lambda n: _make_rows(n, '<think>x</think>{"answer": "%s"}'), 1_000
    yield "score n questions and write a report", "short answers", _report, _make_rows, 1_000
    yield "compare n models", "100 questions", _score, _make_models, 10
    yield "compare n models and write a report", "100 questions", _report, _make_models, 10


def _read_csv(text: str) -> None:
    from anls_metric.reading.formats import read_bytes

    cell = text.replace('"', '""')
    read_bytes(f'id,prediction\n1,"{cell}"\n'.encode(), "a.csv")


def _read_json(text: str) -> None:
    from anls_metric.reading.formats import read_bytes

    read_bytes(text.encode(), "a.json")


def _score_one(text: str) -> None:
    from anls_metric import score

    score([{"id": n, "prediction": f"{text}{n}", "references": ["1 May 2020", "x"]} for n in range(12)])


def _score_values(text: str) -> None:
    from anls_metric import score

    rows = [{"id": n, "prediction": {"a": text}, "references": [{"a": "x", "b": ["y"]}]} for n in range(12)]
    score(rows, variant="anls_star")


Rows = list[dict[str, Any]]


def _make_rows(n: int, form: str = "%s", seed: int = 7) -> Rows:
    chance = random.Random(seed)
    words = ["Coca Cola", "12.50", "May 3, 1998", "yes", "Durham", "22.1%", "no answer"]
    return [
        {
            "id": number,
            "document": f"doc{number // 5}",
            "prediction": form % (chance.choice(words) if chance.random() < 0.4 else words[number % 7]),
            "references": [words[number % 7]],
        }
        for number in range(n)
    ]


def _make_models(n: int) -> Rows:
    return [{**row, "model": f"model {seed}"} for seed in range(n) for row in _make_rows(100, seed=seed)]


def _score(rows: Rows) -> Any:
    from anls_metric import score

    return str(score(rows))


def _report(rows: Rows) -> None:
    from anls_metric import score

    with tempfile.TemporaryDirectory() as folder:
        score(rows).report(os.path.join(folder, "report.html"))


# The table


def _find_worst(found: Iterable[Growth]) -> Iterator[Growth]:
    """Keep the input with the greatest exponent of each thing, or the one that takes longest."""
    for _, group in itertools.groupby(found, key=lambda each: each.what):
        yield max(group, key=lambda each: (each.exponent, each.seconds[-1]))


def main() -> int:
    """Print the table of what takes noticeable time, and count the rest."""
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--only", choices=("patterns", "analyses"), help="measure one half (default: both)")
    options = flags.parse_args()
    warnings.simplefilter("ignore")
    rows: list[Growth] = []
    if options.only != "analyses":
        rows += _find_worst(measure_patterns())
    if options.only != "patterns":
        analyses = sorted(list_analyses(), key=lambda each: each[0])
        gc.collect()
        gc.freeze()  # looking for cycles in all that the patterns left takes longer than a report
        rows += _find_worst(measure(*each) for each in analyses)
    shown = sorted((row for row in rows if row.exponent), key=lambda row: -row.exponent)
    print("| what | input | sizes | seconds | exponent |\n|---|---|---|---|---|")
    for row in shown:
        sizes, seconds = (
            ", ".join(map(form, each)) for form, each in (("{:,}".format, row.sizes), ("{:.3f}".format, row.seconds))
        )
        print(f"| {row.what} | {row.input} | {sizes} | {seconds} | {row.exponent:.1f} |")
    print(f"\n{len(rows) - len(shown)} others of {len(rows)} take less than {_ENOUGH} s at every size.")
    return int(any(row.exponent > LIMIT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
