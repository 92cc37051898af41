"""A contract for import-linter: no circles, also through imports that it does not see by itself.

import-linter sees imports under ``TYPE_CHECKING`` where pyproject.toml tells it to, and imports inside functions. This
contract adds what is imported by its name, as in ``import_module("anls_metric.trl")``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grimp
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract

ROOT = Path(__file__).resolve().parent.parent


class NoCircles(AcyclicSiblingsContract):
    """No circles of imports between modules or packages of one folder."""

    type_name = "no_circles"

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> Any:
        """Check the graph with the imports by name."""
        for importer in sorted(graph.modules):
            for name, line in find_imports_by_name(read_source(importer), graph.modules):
                if name != importer:
                    graph.add_import(importer=importer, imported=name, line_number=line, line_contents=repr(name))
        return super().check(graph, verbose)


def find_imports_by_name(source: str, modules: set[str]) -> Iterator[tuple[str, int]]:
    """Find the modules whose names are arguments of calls, each with its line."""
    for node in ast.walk(ast.parse(source)):
        for argument in node.args if isinstance(node, ast.Call) else ():
            if isinstance(argument, ast.Constant) and argument.value in modules:
                yield argument.value, argument.lineno


def read_source(module: str) -> str:
    """Read the source of a module or package in this checkout."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")
