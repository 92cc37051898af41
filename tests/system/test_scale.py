"""Many rows: the fast path equals the definition, and memory does not grow."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import ROOT, fuzzed_rows

THRESHOLDS = [tenth / 10 for tenth in range(11)]


@pytest.mark.thorough
@pytest.mark.parametrize("count", [5_500, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_fast_path_has_the_bits_of_the_definition(count: int) -> None:
    """Every variant on every row, with another threshold every 500 rows."""
    for start, threshold in zip(range(0, count, 500), itertools.cycle(THRESHOLDS)):
        predictions, references = zip(*fuzzed_rows(500, seed=start))
        for variant in anls_metric.VARIANTS:
            fast = anls_metric.anls_scores(predictions, references, threshold, variant)
            plain = [anls_metric.explain(*row, threshold, variant).score for row in zip(predictions, references)]
            assert fast == plain, [
                row for row, score, other in zip(zip(predictions, references), fast, plain) if score != other
            ]


def peak_memory(*arguments: str) -> tuple[str, float]:
    """Run `anls`, and return its output and its peak memory in MB."""
    program = (
        "import sys; from anls_metric.command_line import main; code = main(sys.argv[1:]);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')));"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *printed, peak = done.stdout.splitlines()
    return "\n".join(printed), int(peak) / 1024


def write(path: Path, records: Iterable[Mapping[str, object]]) -> str:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in records)
    return str(path)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    ("count", "table_limit", "join_limit"),
    [(100_000, 48, 52), pytest.param(10_000_000, 48, 300, marks=pytest.mark.slow)],
)
def test_files_are_streamed_in_constant_memory(
    tmp_path: Path, count: int, table_limit: float, join_limit: float
) -> None:
    """Files with 100,000 rows have 8 to 10 MB, files with 10,000,000 rows 800 MB."""
    fields = ({"prediction": f"CocaCola {n % 10}", "references": ["Coca Cola 7"]} for n in range(count))
    expected = f"questions  {count:,}\n"
    printed, peak = peak_memory(write(tmp_path / "table.jsonl", fields))
    assert expected in printed
    assert peak < table_limit
    os.remove(tmp_path / "table.jsonl")

    ids = [f"{n}" for n in range(count)]
    gold = write(tmp_path / "gold.jsonl", ({"question_id": key, "answers": ["Coca Cola"]} for key in ids))
    submission = write(tmp_path / "submission.jsonl", ({"question_id": key, "answer": "CocaCola"} for key in ids))
    printed, peak = peak_memory("--gold-label-file", gold, "--submission-file", submission)
    assert expected in printed
    assert "ANLS       0.8889\n" in printed
    assert peak < join_limit
