"""The benchmarks of whole programs, on a few rows: what they measure is the same work, and they measure it."""

from __future__ import annotations

import sys
from pathlib import Path

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
