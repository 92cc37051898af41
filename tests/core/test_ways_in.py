"""The ways to run and import the package, also beside PyPI's `anls`, and the file `anls.py`."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import ROOT, RunPython, find_pypi_anls


@pytest.fixture
def run_installed(tmp_path: Path, run_python: RunPython) -> RunPython:
    """A function that runs Python with the folder `site`, in which anls-metric is installed."""
    shutil.copytree(ROOT / "anls_metric", tmp_path / "site" / "anls_metric")
    return partial(run_python, cwd=tmp_path, PYTHONPATH=str(tmp_path / "site"))


# The content of the script that pip installs for the entry point.
SCRIPT = "from anls_metric.__main__ import run; run()"


@pytest.mark.parametrize("command", [["-m", "anls_metric"], SCRIPT], ids=["python -m anls_metric", "anls"])
def test_command_without_a_file_says_what_to_name(run_installed: RunPython, command: str | list[str]) -> None:
    done = run_installed(command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("anls: error: there are no files to score")


def test_package_and_pypi_anls_keep_their_own_scores(tmp_path: Path, run_installed: RunPython) -> None:
    """`import anls` loads theirs, `import anls_metric` ours, each with its scores. `.ci/run wheel` installs both."""
    (tmp_path / "site" / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    program = "import anls, anls_metric; print(*(each.anls_score('ab', ['abcd']) for each in (anls, anls_metric)))"
    assert run_installed(program).stdout == "0.0 0.5\n"
    assert run_installed(["-m", "anls_metric", "--version"]).stdout == f"anls {anls_metric.__version__}\n"


def test_running_the_one_file_says_where_the_command_is(tmp_path: Path, run_python: RunPython) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    done = run_python(["-m", "anls"], tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "this file is a module, not a command: pip install anls-metric, and run anls\n"


@pytest.mark.parametrize("module", ["anls", "anls_metric", "anls_metric.core.values", "anls_metric.trl"])
def test_import_brings_rapidfuzz_and_nothing_heavier(module: str, tmp_path: Path, run_installed: RunPython) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path / "site")
    program = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    brought = run_installed(program).stdout.split()
    assert module in brought
    foreign = {name for name in brought if name.startswith("anls_metric.") and not name.startswith("anls_metric.core")}
    assert foreign <= {"anls_metric.trl"}  # an adapter, which needs the core alone
    others = {name.partition(".")[0] for name in brought} - set(sys.stdlib_module_names)
    assert {name for name in others if "cython" not in name} <= {module.partition(".")[0], "rapidfuzz"}


def test_star_import_leaves_out_what_needs_more(run_installed: RunPython) -> None:
    program = "import sys; sys.modules['evaluate'] = None\nfrom anls_metric import *\nprint(anls_score('a', ['a']), "
    assert run_installed(program + "'load' in dir())").stdout == "1.0 False\n"


# A module, a library that it imports, and what installs it.
ADAPTERS = [
    ("generation", "torch", "'transformers[torch]'"),
    ("inspect_ai", "inspect_ai", "inspect_ai"),
    ("keras", "keras", "keras"),
    ("lm_eval", "lm_eval", "lm_eval"),
    ("torchmetrics", "torch", "torchmetrics"),
]


@pytest.mark.parametrize(("module", "library", "package"), ADAPTERS)
def test_adapter_without_its_library_says_what_to_install(
    run_python: RunPython, module: str, library: str, package: str
) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import anls_metric.{module}"
    error = run_python(program, ROOT).stderr.splitlines()[-1]
    assert error.startswith("ModuleNotFoundError: ")
    assert error.endswith(f": pip install {package}")
