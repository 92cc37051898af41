"""The modules for libraries work if they are loaded by the path of their files."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

# The library of each module, a program that uses the module, and its output.
MODULES = {
    "torchmetrics": ('round(float(module.ANLS()(["CocaCola"], ["Coca Cola"])), 4)', "0.8889"),
    "keras": ('round(float(module.ANLS()(["Coca Cola"], ["CocaCola"])), 4)', "0.8889"),
}
PROGRAM = """
import importlib, sys
from importlib.util import module_from_spec, spec_from_file_location

for name, expression in {expressions}:
    importlib.import_module(name)
    before = set(sys.modules)
    spec = spec_from_file_location("by_path_" + name, {folder!r} + "/" + name + ".py")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    brought = {{"datasets", "evaluate", "keras_hub", "tensorflow", "transformers", "trl"}} & (set(sys.modules) - before)
    print(name, eval(expression), *brought)
"""


def test_module_of_a_library_brings_no_other_framework(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    """In one process, because importing the libraries takes most of the time."""
    names = [name for name in MODULES if find_spec(name)]
    if not names:
        pytest.skip("no library is installed that they stand for")
    expressions = [(name, MODULES[name][0]) for name in names]
    program = PROGRAM.format(expressions=expressions, folder=str(ROOT / "anls_metric"))
    done = run_python(program, tmp_path, PYTHONPATH=str(ROOT), KERAS_BACKEND="torch")
    assert done.stdout.splitlines() == [f"{name} {MODULES[name][1]}" for name in names], done.stderr
