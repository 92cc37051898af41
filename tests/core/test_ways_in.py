"""The ways in from the shell and by import, also where PyPI's package of the same name hides `anls.py`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls
from tests.conftest import ROOT

ADVICE = "pip uninstall anls, then install anls-metric again"


def python(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, cwd=path.parent, env={"PYTHONPATH": str(path)}
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder into which anls-metric was installed."""
    folder = tmp_path / "site"
    shutil.copytree(ROOT / "anls_metric", folder / "anls_metric")
    for name in ("anls.py", "calculate_anls.py"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def both(site: Path) -> Path:
    """The same with PyPI anls beside it. A folder wins over a file, in whatever order they were installed."""
    (site / "anls").mkdir()
    (site / "anls" / "__init__.py").write_text(
        "from .calculator import anls_score\n__all__ = ['anls_score']\n", encoding="utf-8"
    )
    (site / "anls" / "calculator.py").write_text(
        "def anls_score(prediction, gold_labels, threshold=0.5):\n    return 0.0\n", encoding="utf-8"
    )
    return site


# What the script does that pip makes of the entry point.
SCRIPT = ("-c", "import sys; from calculate_anls import main; sys.exit(main())")


def test_the_entry_point_is_what_is_tested_here() -> None:
    assert '\ncalculate-anls = "calculate_anls:main"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [("-m", "anls_metric"), SCRIPT], ids=["python -m anls_metric", "calculate-anls"])
def test_the_command(site: Path, command: tuple[str, str]) -> None:
    done = python(*command, path=site)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("calculate-anls: error: name a file to score")


@pytest.mark.parametrize("command", [("-m", "anls_metric"), SCRIPT], ids=["python -m anls_metric", "calculate-anls"])
def test_pypi_anls_beside_ours_is_told_in_one_line(both: Path, command: tuple[str, str]) -> None:
    done = python(*command, path=both)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert ADVICE in done.stderr
    assert str(both / "anls" / "__init__.py") in done.stderr


@pytest.mark.parametrize("module", ["anls_metric", "anls_metric.reading.rows", "anls_metric.command_line"])
def test_an_import_says_it_as_well(both: Path, module: str) -> None:
    program = f"try:\n    import {module}\nexcept ImportError as error:\n    print(error)"
    assert ADVICE in python("-c", program, path=both).stdout
    shutil.rmtree(both / "anls")
    assert python("-c", program, path=both).stdout == ""


def test_python_m_anls_says_what_the_command_is(site: Path) -> None:
    for arguments in ((), ("--help",)):
        done = python("-m", "anls", *arguments, path=site)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "the command is calculate-anls, or python -m anls_metric\n"


@pytest.mark.parametrize("module", ["anls", "anls_metric"])
def test_an_import_brings_nothing_that_few_calls_need(module: str, site: Path) -> None:
    needed = "import rapidfuzz.distance, dataclasses, functools, itertools, types, typing, warnings"
    program = f"{needed}; import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before)"
    assert set(python("-c", program, path=site).stdout.split()) == {"anls", module}


def test_the_metric_is_made_once(run_python: Callable[..., Any], tmp_path: Path) -> None:
    assert anls.__getattr__("Anls") is anls.Anls
    with pytest.raises(AttributeError, match="no attribute 'anls'"):
        anls.__getattr__("anls")
