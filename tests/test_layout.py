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
    "anls_adapters/__init__.py": set(),
    "anls_adapters/rrc.py": {"anls", "pyarrow"},
    "anls_adapters/report.py": {"anls", "anls_adapters.rrc"},
    "anls_adapters/command_line.py": {"anls", "anls_adapters.rrc", "anls_adapters.report", "anls_adapters.page"},
    "anls_adapters/compare.py": {"numpy", "scipy"},
    "anls_adapters/review.py": {"anls", "anls_adapters.compare", "anls_adapters.report", "anls_adapters.rrc"},
    "anls_adapters/show.py": {"anls", "anls_adapters.compare", "anls_adapters.report"},
    "anls_adapters/page.py": {"anls", "gradio", "anls_adapters.report", "anls_adapters.review", "anls_adapters.show"},
    "anls_adapters/torchmetrics.py": {"anls", "rapidfuzz", "torch", "torchmetrics"},
    "anls_adapters/keras.py": {"anls", "rapidfuzz", "keras"},
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            whole = node.module == "anls_adapters"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} if whole else {node.module}
    return {name if name.startswith("anls_adapters.") else name.partition(".")[0] for name in names}


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_imports_run_one_way(name: str) -> None:
    assert imported(ROOT / name) - set(sys.stdlib_module_names) <= MAY_IMPORT[name]


def test_every_adapter_is_listed_here() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "anls_adapters").glob("*.py")}
    assert {"anls.py", *found} == set(MAY_IMPORT)
