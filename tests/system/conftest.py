"""Runs the command in this process as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anls_metric import command_line

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run anls in this process: its exit status, what it printed, and what it printed as errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        try:
            status = command_line.main([str(argument) for argument in arguments])
        except SystemExit as error:
            status = int(error.code or 0)
        return status, *capsys.readouterr()

    return run


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def parse_document(out: str) -> dict[str, Any]:
    """Parse the printed document, with the fields of its first submission at the top."""
    document: dict[str, Any] = json.loads(out)
    keys = ["signature", "questions", "clusters", "hints", "submissions", "comparisons"]
    values = ["label"] if "|anls_star|" in document["signature"] or "|anlsl|" in document["signature"] else []
    assert list(document) == keys + values + ["best", "baseline", "all_pairs"] * bool(document["comparisons"])
    return {**document, **document["submissions"][0]}


def run_to_error(run: Run, *arguments: object) -> str:
    """Run a command that must fail with status 2, no output and one line of error; return that line."""
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith("anls: error: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    return err
