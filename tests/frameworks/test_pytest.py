"""The pytest fixture, in another project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import RunPython

TESTS = """
def test_good(assert_anls):
    assert assert_anls(["CocaCola"], [["Coca Cola"]], at_least=0.8) > 0.88

def test_bad(assert_anls):
    predictions = ["yes", "CocaCola", "1988", "x" * 1000]
    assert_anls(predictions, ["yes", ["Coca Cola", "Pepsi"], ["1989"], ["y"]], at_least=0.95, variant="rrc")
"""


def test_fixture_is_found_and_its_message_shows_the_worst_answers(tmp_path: Path, run_python: RunPython) -> None:
    (tmp_path / "test_made_up.py").write_text(TESTS, encoding="utf-8")
    done = run_python(["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"], tmp_path, PYTEST_ADDOPTS="")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    lines = [line.removeprefix("E").strip() for line in done.stdout.splitlines() if line.startswith("E ")]
    signature = anls_metric.signature("rrc")
    assert lines[0] == f"AssertionError: ANLS 0.6597 is under 0.95 ({signature}); the worst of 4 answers:"
    assert lines[1].startswith(f"row 3: 0.0000  predicted '{'x' * 100} ... xxx")
    assert lines[2:] == [
        "row 2: 0.7500  predicted '1988', accepted '1989'",
        "row 1: 0.8889  predicted 'CocaCola', accepted 'Coca Cola' or 'Pepsi'",
    ]
    assert "anls_metric/pytest.py" not in done.stdout  # the line that fails is that of the test


def test_plugin_imports_nothing_but_pytest_when_pytest_starts(tmp_path: Path, run_python: RunPython) -> None:
    program = (
        "import pytest, sys; before = {*sys.modules}; import anls_metric.pytest;"
        "print(*sorted({name.partition('.')[0] for name in {*sys.modules} - before} - sys.stdlib_module_names))"
        ";print(*sorted(name for name in sys.modules if name.startswith('anls_metric.')))"
    )
    assert run_python(program, tmp_path).stdout == "anls_metric\nanls_metric.pytest\n"


def test_wrong_arguments_are_no_failures(assert_anls: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match="at_least must be a number from 0 to 1, got 90"):
        assert_anls(["a"], [["a"]], at_least=90)
    with pytest.raises(ValueError, match="row"):
        assert_anls(["a", None], [["a"], ["b"]])
