"""The structure of the package: every module has a place, and imports only go downward, from the doors to the core."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path

import pytest

from tests.conftest import ROOT

TEXTS_AND_VALUES = {"anls_metric.core", "anls_metric.nested"}
SCORERS = {*TEXTS_AND_VALUES, "anls_metric.rules"}
WORDS = {"anls_metric.options", "anls_metric.messages"}
INPUT = {*SCORERS, *WORDS, "anls_metric.reading"}
FILES_AND_SCORES = {*INPUT, "anls_metric.analysis", "anls_metric.report"}
GOLD = "anls_metric.gold"  # resolves names, which the page must not do

# From the ground up: a place, which is a module or a folder of modules, and everything that it may import at any time,
# besides itself and the standard library. A row names only rows above it. CONTRIBUTING.md shows the same table.
MAY_IMPORT: Mapping[str, set[str]] = {
    "anls_metric.core": {"rapidfuzz"},
    "anls_metric.nested": {"anls_metric.core", "rapidfuzz"},
    "anls_metric.rules": {*TEXTS_AND_VALUES, "dateutil"},
    "anls_metric.options": {"anls_metric.core"},
    "anls_metric.messages": {"anls_metric.options"},
    "anls_metric.reading": {*SCORERS, *WORDS, "pyarrow", "python_calamine", "zstandard"},
    GOLD: {*INPUT, "huggingface_hub", "pyarrow"},
    "anls_metric.analysis": {*INPUT, GOLD, "rapidfuzz"},
    "anls_metric.report": {*INPUT, GOLD, "anls_metric.analysis", "PIL", "pyarrow"},
    "anls_metric.torchmetrics": {"anls_metric.core", "rapidfuzz", "torch", "torchmetrics"},
    "anls_metric.keras": {"anls_metric.core", "keras", "numpy", "rapidfuzz"},
    "anls_metric.pytest": {"anls_metric.core", "pytest"},
    "anls_metric.transformers": {"anls_metric.core", "anls_metric.reading"},
    "anls_metric.trl": {*TEXTS_AND_VALUES, "anls_metric.reading", "anls_metric.transformers", "trl"},
    "anls_metric.ms_swift": {"anls_metric.trl", "swift"},
    "anls_metric.metric": {*TEXTS_AND_VALUES, "anls_metric.transformers", "anls_metric.trl", "datasets", "evaluate"},
    "anls_metric.inspect_ai": {*FILES_AND_SCORES, "inspect_ai"},
    "anls_metric.lm_eval": {"anls_metric.core", "anls_metric.reading", "lm_eval"},
    "anls_metric.lmms_eval": {"anls_metric.core"},
    "anls_metric.api": {*FILES_AND_SCORES, GOLD, "datasets", "pandas", "polars", "pyarrow"},
    "anls_metric.page": {*FILES_AND_SCORES, "anls_metric.metric", "gradio", "starlette"},
    "anls_metric.leaderboard": {*INPUT, GOLD},
    "anls_metric.arguments": {"anls_metric.core", *WORDS, "anls_metric.report"},
    "anls_metric.subcommands": {
        *FILES_AND_SCORES,
        GOLD,
        "anls_metric.arguments",
        "anls_metric.leaderboard",
        "anls_metric.page",
    },
    "anls_metric.command_line": {*FILES_AND_SCORES, GOLD, "anls_metric.arguments", "anls_metric.subcommands"},
    "anls_metric.__main__": {"anls_metric.command_line"},
    # __init__.py, which offers the public names
    "anls_metric": {*FILES_AND_SCORES, "anls_metric.api", "anls_metric.metric", "anls_metric.transformers"},
    "app": {"anls_metric.page"},
}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {module_of(path): path for path in [*sorted((ROOT / "anls_metric").rglob("*.py")), ROOT / "app.py"]}


def row_of(name: str) -> str:
    """Find the row of a module; for a library, return its name."""
    longest = max((row for row in MAY_IMPORT if f"{name}.".startswith(f"{row}.")), key=len, default="")
    return longest or name.partition(".")[0]


def imports(module: str) -> set[str]:
    """Find the modules that a module imports, at import time or later."""
    path = FILES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return set(_imports(ast.parse(path.read_text(encoding="utf-8")), package)) - {module}


def _imports(node: ast.AST, package: str) -> Iterator[str]:
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom():
            source = resolve_name("." * node.level + (node.module or ""), package)
            yield from (name if (name := f"{source}.{alias.name}") in FILES else source for alias in node.names)
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if ast.unparse(node.func).endswith("import_module"):
            yield resolve_name(name, package)
        case ast.Constant(value=str(name)) if name.startswith("anls_metric.") and name in FILES:
            yield name  # in a table of modules that are imported by name
        case ast.If() if ast.unparse(node.test) == "TYPE_CHECKING":  # no import at run time
            for statement in node.orelse:
                yield from _imports(statement, package)
            return
    for inner in ast.iter_child_nodes(node):
        yield from _imports(inner, package)


@pytest.mark.parametrize("module", FILES)
def test_module_imports_downward_only(module: str) -> None:
    row = row_of(module)
    allowed = {row, *MAY_IMPORT.get(row, ()), *sys.stdlib_module_names}
    assert {row_of(name) for name in imports(module)} - allowed == set()


@pytest.mark.parametrize("module", FILES)
def test_module_has_a_place_in_the_house(module: str) -> None:
    row = row_of(module)
    assert row in MAY_IMPORT, "a new place is a row of the table above, and of the one in CONTRIBUTING.md"
    assert row != "anls_metric" or FILES[module].name == "__init__.py", "CONTRIBUTING.md says where new code goes"


def test_row_of_the_house_names_rows_above_it_only() -> None:
    above: set[str] = set()
    for row, names in MAY_IMPORT.items():
        assert {name for name in names if name.partition(".")[0] == "anls_metric"} <= above
        above.add(row)


def test_row_of_the_house_is_a_module_or_a_folder_of_modules() -> None:
    assert set(MAY_IMPORT) == {row_of(module) for module in FILES}


def test_no_modules_import_each_other() -> None:
    """Late imports count, too: modules that import each other are one module in several files."""
    graph = {module: {name for name in imports(module) if name in FILES} for module in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize(
    "source",
    [
        "import anls_metric.api",
        "from anls_metric.api import score",
        "from anls_metric import api",
        "from . import api",
        "from .api import score",
        "def late():\n    from .api import score",
        "import_module('anls_metric.api')",
        "importlib.import_module('.api', __package__)",
        "MODULES = {'anls_metric.api': ('score',)}",
        "if TYPE_CHECKING:\n    from anls_metric.trl import build_reward\nelse:\n    import anls_metric.api",
    ],
)
def test_every_way_to_import_counts(source: str) -> None:
    assert set(_imports(ast.parse(source), "anls_metric")) & set(FILES) == {"anls_metric.api"}
