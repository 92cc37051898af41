"""The benchmarks of whole programs, on a few rows: what they measure is the same work, and they measure it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anls_metric import command_line
from tests.conftest import ROOT, benchmark

kinds, report, timing = map(benchmark, ("kinds", "report", "timing"))

OURS = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from anls_metric.__main__ import run; run()"


@pytest.mark.parametrize("name", kinds.KINDS)
def test_kinds_of_file_have_one_score_by_both_programs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / file) for file in kinds.KINDS[name].files]
    try:
        kinds.write(name, 12, str(tmp_path))
    except ImportError as error:
        pytest.skip(f"it needs a library: {error}")
    assert command_line.main(["--score-only", *files]) == 0
    ours = capsys.readouterr().out
    assert 0 < float(ours) < 1
    monkeypatch.setattr(sys, "argv", ["lines", *files])
    exec(kinds.KINDS[name].lines, {})
    assert capsys.readouterr().out == ours


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of a peak is that of Linux")
def test_race_measures_time_and_memory_and_reports_failure(
    run_python: Callable[..., CompletedProcess[str]],
) -> None:
    """In a small process: a program is said to hold at least what its parent holds."""
    program = (
        "import sys; from timing import race, run\n"
        "python = [sys.executable, '-c']\n"
        "programs = {'small': [*python, 'print(7)'], 'large': [*python, 'len(b\"x\" * 10**8)']}\n"
        "small, large = race(programs, '.', 2).values()\n"
        "assert small.printed == '7\\n' and small.milliseconds > 0\n"
        "assert small.megabytes < 60 and 95 < large.megabytes < 160\n"
        "run([*python, 'import no_such_module'])"
    )
    done = run_python(program, ROOT / "benchmarks")
    assert "RuntimeError" in done.stderr
    assert "No module named 'no_such_module'" in done.stderr


def test_report_benchmark_writes_and_measures_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "browse", lambda file, repetitions: None)
    row = report.measure(report.Size(8, 2), [sys.executable, "-c", OURS], 1)
    assert row.megabytes > 0.02
    assert min(row.written, row.without, row.memory) > 0
    *_, cells = timing.markdown(report.COLUMNS, [row]).splitlines()
    assert cells.startswith("| 8 | 2 | 0.")
    assert cells.endswith("| - | - | - |")
