"""The house: every file has a place, and imports run one way, anls <- reading <- analysis <- report <- doors."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.conftest import ROOT

BELOW_THE_DOORS = {"anls", "anls_metric.reading", "anls_metric.analysis", "anls_metric.report"}

# From the ground up: a place, which is a module or a folder of modules, and what it may import besides itself and the
# standard library. A row names rows above it alone, and no door another door.
MAY_IMPORT: Mapping[str, set[str]] = {
    "anls": {"rapidfuzz"},
    "anls_metric": {"anls"},  # `__init__` alone: its docstring is the map
    "anls_metric.nested": {"anls", "rapidfuzz"},
    "anls_metric.reading": {"anls"},
    "anls_metric.analysis": {"anls", "anls_metric.reading"},
    "anls_metric.report": {"anls", "anls_metric.reading", "anls_metric.analysis"},
    "anls_metric.trl": {"anls", "anls_metric.reading", "trl"},
    "anls_metric.torchmetrics": {"anls", "rapidfuzz", "torch", "torchmetrics"},
    "anls_metric.keras": {"anls", "rapidfuzz", "numpy", "keras"},
    "anls_metric.page": {*BELOW_THE_DOORS, "gradio", "gradio_client", "starlette"},
    "anls_metric.command_line": BELOW_THE_DOORS,
    "anls_metric.files": BELOW_THE_DOORS,
    "anls_metric.__main__": {"anls", "anls_metric.command_line"},
    "calculate_anls": set(),  # the script of the command, which says why the package cannot be imported
    "app": {"anls_metric.page"},
}

# What is imported inside a function alone: what only some calls need, and what may be missing.
MAY_IMPORT_LATE: Mapping[str, set[str]] = {
    "anls": {"evaluate", "datasets", "anls_metric.nested", "anls_metric.reading", "anls_metric.trl"},
    "anls_metric": {"anls_metric.files"},  # the names of this door are also those of the package
    "anls_metric.nested": {"numpy"},
    "anls_metric.reading": {"anls_metric.nested", "pyarrow", "python_calamine", "zstandard"},
    "anls_metric.analysis": {"anls_metric.nested"},
    "anls_metric.trl": {"anls_metric.nested"},
    "anls_metric.report": {"PIL"},  # the images of a report
    "anls_metric.command_line": {"anls_metric.nested", "anls_metric.page"},  # --demo opens that door
    "anls_metric.files": {"anls_metric.nested", "pandas"},
    "calculate_anls": {"anls_metric.command_line"},
}

ROOMS_OF_TESTS = {"core", "reading", "analysis", "report", "page", "frameworks", "system"}

FILES = [*ROOT.glob("*.py"), *sorted((ROOT / "anls_metric").rglob("*.py"))]


def module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def place(name: str) -> str:
    """The row of the house that a module, or a name in one, belongs to; of a library, its own name."""
    longest = max((row for row in MAY_IMPORT if f"{name}.".startswith(f"{row}.")), key=len, default="")
    return longest or name.partition(".")[0]


def imports(node: ast.AST, late: bool = False) -> Iterator[tuple[str, bool]]:
    """The places that some code imports, each with whether a function must be called first."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.Import):
            yield from ((place(alias.name), late) for alias in inner.names)
        elif isinstance(inner, ast.ImportFrom):
            assert inner.level == 0, "import by the whole name, so that a file also loads by its path"
            yield from ((place(f"{inner.module}.{alias.name}"), late) for alias in inner.names)
        if isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING":  # no import when it runs
            continue
        yield from imports(inner, late or isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)))


@pytest.mark.parametrize("path", FILES, ids=module)
def test_imports_run_one_way(path: Path) -> None:
    own = place(module(path))
    allowed = {own, *MAY_IMPORT.get(own, ()), *sys.stdlib_module_names}
    allowed_late = allowed | MAY_IMPORT_LATE.get(own, set())
    for name, late in imports(ast.parse(path.read_text(encoding="utf-8"))):
        assert name in (allowed_late if late else allowed), f"{module(path)} must not import {name} here"


@pytest.mark.parametrize("path", FILES, ids=module)
def test_every_file_has_a_place(path: Path) -> None:
    own = place(module(path))
    assert own in MAY_IMPORT, "a new place is a row of the table above, and a line of CONTRIBUTING.md"
    assert own != "anls_metric" or path.name == "__init__.py", "CONTRIBUTING.md says where new code goes"


def test_a_row_names_rows_above_it_alone() -> None:
    above: set[str] = set()
    for row, names in MAY_IMPORT.items():
        assert {name for name in names if name in MAY_IMPORT} <= above
        above.add(row)


def test_the_tests_mirror_the_house() -> None:
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert folders <= ROOMS_OF_TESTS
