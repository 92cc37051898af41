"""No regular expression of the package takes more than linear time for any text."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from anls_metric.analysis import same_value, transformations
from anls_metric.reading import wrappings
from anls_metric.report import tables
from tests.conftest import ROOT
from tests.system.backtracking import find_growth

_AT_ONE_PLACE = {"match", "fullmatch"}

# Variables in patterns: the module and the names -> all their possible values.
NAMES: dict[tuple[str, str], list[tuple[str, ...]]] = {
    ("analysis.transformations", "pattern"): [],  # of `_replace`, whose calls are listed
    ("analysis.transformations", "option"): [(option,) for option in transformations._OPTIONS.values()],
    ("reading.wrappings", "command"): [("boxed",), (wrappings._LATEX_TEXT,)],
    ("reading.wrappings", "closing opening"): [(ends[0], mark) for mark, ends in wrappings.QUOTES.items()],
    ("reading.wrappings", "opening"): [
        (pattern,)
        for pattern in (wrappings._OBJECT, wrappings._CONTAINER, wrappings._PYTHON_DICT, wrappings._PYTHON_CONTAINER)
    ],
    ("analysis.same_value", "way"): [
        (way,) for way in (*same_value.NUMBERS, *same_value.NAMED_DATES, *same_value.NUMERIC_DATES)
    ],
    ("report.tables", "pattern"): [(pattern,) for pattern in tables._LATEX_FORMS],
}
MODULES = sorted((ROOT / "anls_metric").rglob("*.py"))


class Use(NamedTuple):
    """The use of a pattern: the module, the line, the expression, and whether the pattern is searched for."""

    module: str
    line: int
    expression: ast.expr
    is_searched: bool


def list_uses(path: Path) -> Iterator[Use]:
    """List the calls of functions of `re` in a module, including calls through `partial`."""
    module = ".".join(path.relative_to(ROOT / "anls_metric").with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    methods = _find_methods(tree)
    for node in ast.walk(tree):
        words = [node.func, *node.args] if isinstance(node, ast.Call) else []
        for function, pattern in pairwise(words):  # `re.sub(pattern, ...)` and `partial(re.sub, pattern, ...)`
            if isinstance(function, ast.Name) and function.id == "_replace":
                yield Use(module, function.lineno, pattern, is_searched=True)
            elif isinstance(function, ast.Attribute) and ast.unparse(function.value) == "re":
                used = methods.get(node, {"search"}) if function.attr == "compile" else {function.attr}
                yield Use(module, function.lineno, pattern, not used <= _AT_ONE_PLACE)


def _find_methods(tree: ast.AST) -> dict[ast.AST, set[str]]:
    """Find the methods that are called on each compiled pattern, directly or by its name."""
    by_name: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            by_name.setdefault(ast.unparse(node.value), set()).add(node.attr)
    methods: dict[ast.AST, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            methods[node.value] = {node.attr}
        elif isinstance(node, ast.Assign):
            names = map(ast.unparse, node.targets)
            methods[node.value] = {method for name in names for method in by_name.get(name, {"search"})}
    return methods


USES = [use for path in MODULES for use in list_uses(path)]


def find_names(use: Use) -> str:
    """Find the names in an expression that its module does not define."""
    names = {node.id for node in ast.walk(use.expression) if isinstance(node, ast.Name)}
    return " ".join(sorted(names - vars(importlib.import_module(f"anls_metric.{use.module}")).keys()))


def list_patterns(use: Use) -> Iterator[str | bytes]:
    """List the possible values of an expression."""
    module, names = importlib.import_module(f"anls_metric.{use.module}"), find_names(use)
    assert not names or (use.module, names) in NAMES, f"{use.module}, line {use.line}: say in NAMES what {names} can be"
    for values in NAMES.get((use.module, names), [()]):
        code = compile(ast.Expression(use.expression), use.module, "eval")
        yield eval(code, {**vars(module), **dict(zip(names.split(), values))})


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.module}:{use.line}")
def test_pattern_takes_linear_time_for_any_text(use: Use) -> None:
    growth = {pattern: find_growth(pattern, is_searched=use.is_searched) for pattern in list_patterns(use)}
    assert not any(growth.values()), growth


def test_every_pattern_of_the_package_is_listed() -> None:
    """Flags must be inside patterns, where `find_growth` sees them, and functions of `re` must be called by name."""
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"from re import|import re as", text)
        assert not re.search(r"\bre\.[A-Z]+\b", text), f"{path.name}: write flags as (?i:...)"
    assert {use.module for use in USES} > {"reading.wrappings", "reading.references", "report.tables"}
    assert {(use.module, find_names(use)) for use in USES} >= NAMES.keys()


SLOW = [r"(a+)+b", r"(?:a|[ab])*c", r"(?:ab|a[b])*c", r"a*a*b", r"a*[ab]?a*c", r"(\s*a?)*b", r"(?:a{1,20}){1,20}b"]
SLOW += [r"\s+$", r"\s*,", r"'(?:[^'\\]|\\.)*'", r"\w+(?=:)", r"a(?=\w+:)", r"(?m)^a|\s+b"]
FAST = [r"a+", r"\d+(?:\.\d+)?", r'"[^"]*"', r"\[s(?:,s)*,?\]", r"x[a-w]+y", r"^\s*x", r"\s{0,9}:", r"(?i:answer|ans):"]


@pytest.mark.parametrize("pattern", [*SLOW, *FAST])
def test_slow_pattern_is_recognized(pattern: str) -> None:
    assert bool(find_growth(pattern)) == (pattern in SLOW)


@pytest.mark.parametrize("pattern", [r"\s+$", r"a+b", r"'(?:[^'\\]|\\.)*'"])
def test_pattern_that_is_looked_for_at_one_place_may_be_slow_to_search(pattern: str) -> None:
    assert not find_growth(pattern, is_searched=False)
