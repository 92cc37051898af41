"""The contract by which no modules import one another in a circle."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.conftest import ROOT

grimp = pytest.importorskip("grimp")
pytest.importorskip("importlinter.configuration").configure()


@pytest.fixture
def contracts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return import_module("import_contracts")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def __getattr__(name):\n    return import_module("anls_metric.trl").build', [("anls_metric.trl", 2)]),
        ('x = import_from_package("anls_metric.trl", "a reward")', [("anls_metric.trl", 1)]),
        ('import_module("anls_metric.no_such")', []),
        ('"""It serves anls_metric.trl."""\nx = "anls_metric.trl"', []),
    ],
)
def test_import_by_name_is_found(contracts: Any, source: str, found: list[tuple[str, int]]) -> None:
    assert list(contracts.find_imports_by_name(source, {"anls_metric", "anls_metric.trl"})) == found


@pytest.mark.parametrize(("importer", "kept"), [("trl", False), ("keras", True)])
def test_circle_through_an_import_by_name_breaks_the_contract(contracts: Any, importer: str, kept: bool) -> None:
    """The metric imports ``anls_metric.trl`` by its name."""
    graph = grimp.ImportGraph()
    for name in ("anls_metric", "anls_metric.metric", "anls_metric.trl", "anls_metric.keras"):
        graph.add_module(name)
    graph.add_import(importer=f"anls_metric.{importer}", imported="anls_metric.metric")
    contract = contracts.NoCircles("circles", {"root_packages": ["anls_metric"]}, {"ancestors": ["anls_metric"]})
    assert contract.check(graph, verbose=False).kept is kept
