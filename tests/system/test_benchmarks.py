"""The benchmarks of whole programs, on a few rows: both programs do the same work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anls_metric import command_line
from tests.conftest import benchmark

files, workloads = map(benchmark, ("files", "workloads"))


@pytest.mark.parametrize("name", files.KINDS)
def test_kinds_of_file_have_one_score_by_both_programs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = files.KINDS[name]
    paths = [tmp_path / file for file in kind.files]
    kind.write(workloads.docvqa_like(12), *paths)
    assert command_line.main(["--score-only", *map(str, paths)]) == 0
    ours = capsys.readouterr().out
    assert 0 < float(ours) < 1
    monkeypatch.setattr(sys, "argv", ["script", *map(str, paths)])
    exec(kind.script, {})
    assert capsys.readouterr().out == ours
