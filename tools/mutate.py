"""Change the core in one place at a time, and list the changes that no test notices: python tools/mutate.py

    python tools/mutate.py                                                  the core, with the tests of the core
    python tools/mutate.py core/strings/kernel.py --tests tests/core/test_scoring.py tests/core/test_conformance.py

Each change, a mutant, is tested in a copy of this checkout. The core has thousands, and each takes seconds, so name the
modules that you have changed. A mutant that survives lacks a test, unless it cannot be noticed: say why in `EXPLAINED`.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis  # noqa: F401
import numpy  # noqa: F401
import pandas  # noqa: F401
import pyarrow  # noqa: F401
import pytest
import rapidfuzz  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "anls_metric"
# anls.py is built from the package, so its tests notice every change, and show nothing.
TESTS = ("tests/core", "--ignore=tests/core/test_one_file.py")
PYTEST = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
SECONDS = 600  # more is an endless loop

# An operator -> what takes its place.
SWAPPED: Mapping[type, type[ast.AST]] = dict(
    [
        *((ast.Lt, ast.LtE), (ast.LtE, ast.Lt), (ast.Gt, ast.GtE), (ast.GtE, ast.Gt), (ast.Eq, ast.NotEq)),
        *((ast.NotEq, ast.Eq), (ast.In, ast.NotIn), (ast.NotIn, ast.In), (ast.Is, ast.IsNot), (ast.IsNot, ast.Is)),
        *((ast.And, ast.Or), (ast.Or, ast.And), (ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Add)),
        *((ast.Div, ast.Mult), (ast.FloorDiv, ast.Mult)),
    ]
)

EXPLAINED: Mapping[str, str] = {
    "LONG = 129": "decides the speed, and no score",
    "LONG = 63": "decides the speed, and no score",
    '"distance / length < threshold": lambda threshold: (-1.0, math.nextafter(threshold, -math.inf)),': (
        "a distance / length below a threshold of 1 leaves a similarity above 0"
    ),
    "return min(self.high, (1.0 - self.low - 1e-09))": "one edit more is allowed, which is more than 1e-9 of any text",
    "return min(self.high, (1.0 + self.low) + 1e-9)": "a limit that is too high costs time, and no score",
    "return min(self.high, 3.0 - self.low + 1e-9)": "a limit that is too high costs time, and no score",
    "return min(self.high, 1.0 - self.low + 1.000000002)": "a limit that is too high costs time, and no score",
    "bounded = measures_normalized and limit < 0": "decides the speed, and no score",
    "is_long = (len(prediction) >= long)": "decides the speed, and no score",
    "if (length <= answer_length):": "sets a number to itself",
    "most = int(((least if least < limit else limit) + length)) + 1": "too many edits are allowed, which costs time",
    "most = int((least if (least <= limit) else limit) * length) + 1": "chooses one of two equal numbers",
    "most = int((least if least < limit else limit) * length) + 3": "too many edits are allowed, which costs time",
    "most = int((least if least < limit else limit) * length) + 0": "of more edits, the distance is these and one",
    "if (ratio <= least):": "sets a number to itself",
    "place = whole.find(part) if part else -3": "any negative place is none",
    "of_ascii: bool = True": "ASCII strings stay the same, which takes time",
    "below, above = sorted([end for end in ends if (end < low)]), sorted([end for end in ends if end >= high])": (
        "an end at the limit is the limit"
    ),
    "below, above = sorted([end for end in ends if end <= low]), sorted([end for end in ends if (end > high)])": (
        "an end at the limit is the limit"
    ),
    "pluses, least = 0, sum(size for size in sizes if (size <= 0))": "adds 0",
    "pluses, least = 0, sum(size for size in sizes if size < 1)": "adds 0",
    "sums = _sum_subsets(chunk, -sum(size for size in chunk if (size <= 0)))": "adds 0",
    "sums = _sum_subsets(chunk, -sum(size for size in chunk if size < 1))": "adds 0",
    "width = max(3, (sum(map(abs, sizes)).bit_length() + 7) // 8)": "a wider number holds the same sum",
    "width = max(0, (sum(map(abs, sizes)).bit_length() + 7) // 8)": "without a size, all sums are 0",
    "width = max(1, (sum(map(abs, sizes)).bit_length() + 15) // 8)": "a wider number holds the same sum",
    "width = max(1, (sum(map(abs, sizes)).bit_length() + 7) // 7)": "a wider number holds the same sum",
    "@dataclass(frozen=False, eq=False)": "nothing changes a kernel",
    "@dataclass(frozen=True, eq=True)": "nothing compares kernels",
}
"""Changed lines that no test can notice -> why."""


class Mutant(NamedTuple):
    """A change of a module: characters of a line that others replace."""

    line: int
    start: int
    end: int
    before: str
    after: str


def find_mutants(source: str) -> Iterator[Mutant]:
    """Find the changes of a module, from its beginning."""
    tree = ast.parse(source)
    left_out = {id(part) for node in ast.walk(tree) for top in list_unchanged(node) for part in ast.walk(top)}
    lines = source.splitlines()
    for node in sorted(ast.walk(tree), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))):
        if isinstance(node, ast.expr) and id(node) not in left_out and node.lineno == node.end_lineno:
            before = ast.get_source_segment(source, node) or ""
            start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
            for after in change(node):
                yield Mutant(node.lineno, start, start + len(before), before, after)


def list_unchanged(node: ast.AST) -> list[ast.AST]:
    """List the parts of a node that are not code: types, and formatted texts."""
    parts = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    return [part for part in (*parts, node if isinstance(node, ast.JoinedStr) else None) if part]


def change(node: ast.expr) -> Iterator[str]:
    """Change an expression in each way that there is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield repr(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield from map(repr, (node.value * 2 + 1, node.value - 1))
    elif isinstance(node, ast.Compare):
        yield from swap(node, node.ops[0], "ops", lambda operator: [operator, *node.ops[1:]])
    elif isinstance(node, (ast.BinOp, ast.BoolOp)):
        yield from swap(node, node.op, "op", lambda operator: operator)


def swap(node: ast.expr, operator: ast.AST, field: str, place: Callable[[ast.AST], Any]) -> Iterator[str]:
    """Swap the operator of an expression, if another takes its place."""
    if type(operator) in SWAPPED:
        swapped = place(SWAPPED[type(operator)]())
        yield f"({ast.unparse(type(node)(**{**vars(node), field: swapped}))})"


def apply(source: str, mutant: Mutant) -> str:
    """Return the source with the change."""
    lines = source.splitlines(True)
    line = lines[mutant.line - 1]
    lines[mutant.line - 1] = line[: mutant.start] + mutant.after + line[mutant.end :]
    return "".join(lines)


def passes(checkout: Path, tests: Sequence[str]) -> bool:
    """Run tests in a copy of the checkout, until one fails: in a fork, which need not import the libraries again."""
    child = os.fork()
    if child:
        return not os.waitpid(child, 0)[1]
    signal.alarm(SECONDS)  # ends the child
    os.chdir(checkout)
    sys.path.insert(0, str(checkout))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        os._exit(pytest.main([*PYTEST, *tests]))


def main() -> int:
    """Test the mutants of some modules, and print those that survive."""
    flags = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    flags.add_argument("modules", nargs="*", default=["core"], help="files or folders in anls_metric (default: core)")
    flags.add_argument("--tests", nargs="+", default=TESTS, help="files of tests, or other arguments of pytest")
    arguments = flags.parse_args()
    os.nice(10)
    sys.dont_write_bytecode = True
    paths = [path for name in arguments.modules for path in sorted((PACKAGE / name).rglob("*.py")) or [PACKAGE / name]]
    count = survived = 0
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        shutil.copytree(ROOT, checkout, ignore=shutil.ignore_patterns(".*", "__pycache__", "dist"))
        if not passes(checkout, arguments.tests):
            sys.exit("the tests fail without any change: run them alone first")
        for path in paths:
            source, target = path.read_text(encoding="utf-8"), checkout / path.relative_to(ROOT)
            module = path.relative_to(PACKAGE).as_posix()
            for mutant in find_mutants(source):
                changed = apply(source, mutant)
                line = changed.splitlines()[mutant.line - 1].strip()
                count += 1
                target.write_text(changed, encoding="utf-8")
                if line not in EXPLAINED and passes(checkout, arguments.tests):
                    survived += 1
                    print(f"{module}:{mutant.line}: {mutant.before}  became  {line}", flush=True)
            target.write_text(source, encoding="utf-8")
    print(f"{survived} of {count} mutants survived")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
