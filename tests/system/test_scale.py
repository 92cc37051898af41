"""Many rows and long texts: the fast path equals the definition, memory does not grow, and no pattern runs away."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

import anls_metric
from tests.conftest import ROOT, fuzzed_rows
from tests.system.conftest import Shell

THRESHOLDS = [tenth / 10 for tenth in range(11)]


@pytest.mark.thorough
@pytest.mark.parametrize("count", [5_500, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_fast_path_has_the_bits_of_the_definition(count: int) -> None:
    """Every variant on every row, with another threshold every 500 rows."""
    for start, threshold in zip(range(0, count, 500), itertools.cycle(THRESHOLDS)):
        rows = fuzzed_rows(500, seed=start)
        predictions, references = zip(*rows)
        for variant in anls_metric.VARIANTS:
            fast = anls_metric.anls_scores(predictions, references, threshold, variant)
            plain = [anls_metric.explain(*row, threshold, variant).score for row in rows]
            assert [row for row, score, other in zip(rows, fast, plain) if score != other] == []


def peak_memory(*arguments: str) -> tuple[str, float]:
    """Run `anls`, and return its output and its peak memory in MB."""
    program = (
        "import sys; from anls_metric.command.command_line import main; code = main(sys.argv[1:]);"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')));"
        "sys.exit(code)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    *printed, peak = done.stdout.splitlines()
    return "\n".join(printed), int(peak) / 1024


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    ("count", "files", "limit"),
    [(200_000, "gold.json a.json", 300), (1_000_000, "table.jsonl", 2000), (60_000, "gold.json a.json b.json", 300)],
)
def test_files_take_little_memory(shell: Shell, count: int, files: str, limit: int) -> None:
    answers = [{"questionId": n, "answer": f"CocaCola {n % 10}"} for n in range(count)]
    gold = [{"questionId": n, "question": f"What is {n}?", "answers": ["Coca Cola 7"]} for n in range(count)]
    table = ({"prediction": f"CocaCola {n % 10}", "references": ["Coca Cola 7"]} for n in range(count))
    contents = {"gold.json": {"data": gold}, "a.json": answers, "b.json": answers, "table.jsonl": table}
    shell.write({name: contents[name] for name in files.split()})
    printed, peak = peak_memory(*files.split(), "--quiet")
    assert f"{count:,}" in printed
    assert peak < limit


# Hostile texts

LENGTH = 200_000
UNITS = [" ", "\n", "a", "a ", "1,", "(", '"', "```", "<think>", "\\boxed{", "{'a': [", "The answer is "]
PROGRAM = f"""
from anls_metric import score
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.extraction.extract import EXTRACTORS, extractor
texts = [unit * ({LENGTH} // len(unit)) for unit in {UNITS!r}]
for text in texts:
    for name in EXTRACTORS:
        for hostile in (text, text + "!", "x" + text):
            extractor(name)(hostile)
    is_any_same_value(text, [text + "1"])
print(score(texts, [["a"]] * len(texts)).hints)
"""


@pytest.mark.thorough
def test_extraction_rules_and_hints_end_on_hostile_texts() -> None:
    """Only runaway backtracking takes two minutes."""
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, check=True, timeout=120)
