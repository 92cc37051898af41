"""The first commands of the README run in a fresh shell, in a clone without any installation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import copy_of_the_checkout, without_questions
from tests.system.test_documentation import README, list_blocks

Typed = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """A function that runs a command in a fresh shell, in a clone without an activated environment."""
    clone = copy_of_the_checkout(tmp_path_factory.mktemp("fresh") / "clone")
    ours = str(Path(sys.executable).parent)
    path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep) if folder != ours)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=clone, env={**environment, "PATH": path}, capture_output=True, text=True
        )

    return run


@pytest.fixture(scope="module")
def first_command(typed: Typed) -> str:
    """The last output of the first command."""
    score, _ = list_blocks(README, "bash")
    done = typed(score)
    if "No matching distribution" in done.stderr + done.stdout:
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_first_command_scores_the_example(first_command: str) -> None:
    assert "\nANLS         0.6273\n" in first_command
    assert anls_metric.signature() in without_questions(first_command)


def test_first_command_installs_rapidfuzz_alone(first_command: str, typed: Typed) -> None:
    listed = typed(".venv/bin/python -m pip list --format freeze").stdout
    names = {line.partition("==")[0].lower() for line in listed.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"anls-metric", "rapidfuzz"}
    program = "import anls_metric; print(anls_metric.anls_score('CocaCola', ['Coca Cola']), anls_metric.__version__)"
    elsewhere = typed(f'cd / && "$OLDPWD/.venv/bin/python" -c "{program}"')
    assert elsewhere.stdout == f"0.8888888888888888 {anls_metric.__version__}\n", elsewhere.stderr
