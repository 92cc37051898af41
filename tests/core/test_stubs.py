"""The installed `anls` has types: those of the stub package, which is made from `anls.py`."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.core.stubs import STUB, stub

USER = """
import anls
from anls import Anls, Explanation, Variant, anls_scores, explain, load, mean

score: float = mean(anls_scores(["a"], [["a", "b"]], variant="rrc"))
why: Explanation = explain("a", ["b"])
mine: Variant = anls.VARIANTS["standard"]
kept: str = why.best.edits[0].operation
reveal_type(why.best.similarity)
reveal_type(why.reason)
metric: Anls = load(variant="rrc")
metric.compute(predictions=["a"], references=["a"], threshold=0.5, return_all_scores=True)

anls_scores("a", 5)
explain("a", ["b"], treshold=0.5)
anls.anls_scoring
Variant("mine", whitespace="trim")
metric.compute(predictions=["a"], threshold="0.5")
"""


def test_the_stub_is_what_anls_py_offers() -> None:
    """Where it is not: python -m tests.core.stubs"""
    made = stub((ROOT / "anls.py").read_text(encoding="utf-8"))
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(STUB.read_text(encoding="utf-8")))


def test_it_is_part_of_the_distribution() -> None:
    configured = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '\n    "anls-stubs",\n' in configured
    assert '\nanls-stubs = ["*.pyi"]\n' in configured


def test_a_program_that_uses_the_installed_module_is_checked(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    venv.create(tmp_path / "environment", with_pip=False)
    site = next((tmp_path / "environment").glob("[lL]ib/**/site-packages"))
    shutil.copy(ROOT / "anls.py", site)
    shutil.copytree(ROOT / "anls-stubs", site / "anls-stubs")
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    python = next((tmp_path / "environment").glob("[bS]*/python*"))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "--no-incremental", "user.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    lines = USER.splitlines()
    found = [line.partition(":")[2].partition(": ") for line in done.stdout.splitlines() if line.startswith("user.py:")]
    said = {lines[int(number) - 1].partition("(")[0]: message for number, _, message in found if message[:4] != "note"}
    assert set(said) == {"anls_scores", "explain", "anls.anls_scoring", "Variant", "metric.compute"}, done.stdout
    assert 'Revealed type is "float"' in done.stdout
    assert "'under the threshold'" in done.stdout
