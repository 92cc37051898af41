"""Inputs on which quadratic work takes many minutes. The system limits the CPU time, so a busy machine may be slow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

resource = pytest.importorskip("resource", reason="this system has no limits of CPU time")

SECONDS = 60  # of CPU time; each takes a few

PROGRAMS = {
    "a cell of apostrophes": """
        open("a.csv", "w").write("id,prediction,answer\\n1," + "'" * 400_000 + ",a\\n2,b,b\\n")
        anls_metric.score("a.csv")
    """,
    "objects that nest around many values": """
        nested = '{"a":' * 500 + "[" + "1," * 50_000 + "1]" + "}" * 500
        extract = anls_metric.extractor("json")
        assert all(extract(nested) == nested for _ in range(100))
    """,
    "a report of many records": """
        rows = [{"id": n, "prediction": "a", "answer": "a", "question": "b"} for n in range(30_000)]
        anls_metric.score(rows).report("a.html")
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_time_grows_with_the_input_and_not_with_its_square(name: str, tmp_path: Path) -> None:
    lines = "\n".join(map(str.strip, PROGRAMS[name].splitlines()))
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))"
    program = f"{limit}\nimport warnings\nwarnings.simplefilter('ignore')\nimport anls_metric\n{lines}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
