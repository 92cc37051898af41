"""The ways to run and import the package, also beside PyPI's `anls`, and the file `anls.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import ROOT, find_pypi_anls


def run_python(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=path.parent, env={"PYTHONPATH": str(path)}
    )


@pytest.fixture
def site_folder(tmp_path: Path) -> Path:
    """A folder with anls-metric installed."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "anls_metric", folder / "anls_metric")
    return folder


# The content of the script that pip installs for the entry point.
SCRIPT = ("-c", "from anls_metric.__main__ import run; run()")


@pytest.mark.parametrize("command", [("-m", "anls_metric"), SCRIPT], ids=["python -m anls_metric", "anls"])
def test_command_without_a_file_says_what_to_name(site_folder: Path, command: tuple[str, str]) -> None:
    done = run_python(*command, path=site_folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("anls: error: there are no files to score")


def test_package_and_pypi_anls_keep_their_own_scores(site_folder: Path) -> None:
    """`import anls` loads theirs, `import anls_metric` ours, each with its scores. `.ci/run wheel` installs both."""
    (site_folder / "anls").symlink_to(find_pypi_anls(), target_is_directory=True)
    program = "import anls, anls_metric; print(*(each.anls_score('ab', ['abcd']) for each in (anls, anls_metric)))"
    assert run_python("-c", program, path=site_folder).stdout == "0.0 0.5\n"
    assert run_python("-m", "anls_metric", "--version", path=site_folder).stdout == f"anls {anls_metric.__version__}\n"


def test_running_the_one_file_says_where_the_command_is(tmp_path: Path) -> None:
    shutil.copy(ROOT / "anls.py", tmp_path)
    done = run_python("-m", "anls", path=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "this file is a module: pip install anls-metric has the command anls\n"


@pytest.mark.parametrize("module", ["anls", "anls_metric"])
def test_import_brings_rapidfuzz_and_nothing_heavier(module: str, site_folder: Path) -> None:
    shutil.copy(ROOT / "anls.py", site_folder)
    program = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    brought = {name.partition(".")[0] for name in run_python("-c", program, path=site_folder).stdout.split()}
    others = brought - set(sys.stdlib_module_names) - {module, "rapidfuzz"}
    assert {name for name in others if "cython" not in name} == set()
