"""Imports run one way: adapters know `anls.py` and one library, and it knows none of them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# What each file may import besides the standard library, at the top or inside a function.
MAY_IMPORT = {
    "anls.py": {"rapidfuzz", "evaluate", "datasets"},
    "anls_metric/__init__.py": set(),
    "anls_metric/rrc.py": {"anls", "pyarrow"},
    "anls_metric/report.py": {"anls", "anls_metric.rrc"},
    "anls_metric/command_line.py": {"anls", "anls_metric.rrc", "anls_metric.report", "anls_metric.page"},
    "anls_metric/compare.py": {"numpy", "scipy"},
    "anls_metric/review.py": {"anls", "anls_metric.compare", "anls_metric.report", "anls_metric.rrc"},
    "anls_metric/show.py": {"anls", "anls_metric.compare", "anls_metric.report"},
    "anls_metric/page.py": {"anls", "gradio", "anls_metric.report", "anls_metric.review", "anls_metric.show"},
    "anls_metric/torchmetrics.py": {"anls", "rapidfuzz", "torch", "torchmetrics"},
    "anls_metric/keras.py": {"anls", "rapidfuzz", "keras"},
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            whole = node.module == "anls_metric"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} if whole else {node.module}
    return {name if name.startswith("anls_metric.") else name.partition(".")[0] for name in names}


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_imports_run_one_way(name: str) -> None:
    assert imported(ROOT / name) - set(sys.stdlib_module_names) <= MAY_IMPORT[name]


def test_every_adapter_is_listed_here() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "anls_metric").glob("*.py")}
    assert {"anls.py", *found} == set(MAY_IMPORT)
