"""The parts of the document: each is declared in one module, which everything else finds."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import anls_metric
from anls_metric.analysis.parts import PARTS
from anls_metric.report.columns import COLUMNS
from anls_metric.report.schema import Submission
from tests.conftest import RunPython

LONGEST = """
from anls_metric.analysis.part import Column, Line, Part

PART = Part(
    key="longest",
    sentence="with `--metrics longest`, the number of characters of the longest answer",
    find=lambda scored: {"length": float(max(map(len, scored.answers.predictions)))},
    type=dict[str, float],
    order=65,
    forms=("text",),
    columns=[Column("length", "longest answer", "characters of the longest answer", ".1f")],
    lines=lambda values, write: [Line("longest", write(values["length"], ".1f"))],
)
"""
# What follows the files -> a part of what is printed.
PRINTED = {
    "--metrics longest": "\nlongest      12.0\n",
    "--metrics longest --percent": "\nlongest      12.0\n",
    "--metrics longest --percent --columns length --quiet": "longest answer\nrows  12.0\n",
    "--metrics longest --percent --columns length --format csv": "name,length,signature\nrows,12.0,",
    "--metrics longest --format json": '"longest": {\n        "length": 12.0\n      }',
    "--metrics longest --columns length --format latex": "longest answer: characters of the longest answer.",
    "--metrics longest --report r.html": "\nlongest      12.0\n",
    "--metrics longst": "unknown metric 'longst'; did you mean longest?",
    "--help": "longest",
}
PROGRAM = """
import contextlib, io, json
from anls_metric.command.command_line import main
for words in {commands}:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        with contextlib.suppress(SystemExit):
            main(["rows.json", *words.split()])
    print(json.dumps(out.getvalue()))
"""


def test_module_is_all_that_a_further_part_needs(tmp_path: Path, run_python: RunPython) -> None:
    installed = Path(anls_metric.__file__).parent
    shutil.copytree(installed, tmp_path / "anls_metric", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "anls_metric/analysis/parts/longest.py").write_text(LONGEST, encoding="utf-8")
    (tmp_path / "rows.json").write_text('[{"prediction": "Coca Cola Co", "answers": ["Coca Cola"]}]', encoding="utf-8")
    done = run_python(PROGRAM.format(commands=[*PRINTED]), tmp_path)
    printed = dict(zip(PRINTED, map(json.loads, done.stdout.splitlines())))
    assert {words: text for words, text in printed.items() if PRINTED[words] not in text} == {}, done.stderr
    assert '"heading":"longest answer"' in (tmp_path / "r.html").read_text("utf-8")


def test_parts_have_keys_and_columns_of_their_own() -> None:
    columns = Counter(column.key for part in PARTS for column in part.columns)
    assert columns.keys() <= COLUMNS.keys()
    assert {*columns.values()} == {1}
    assert len({part.key for part in PARTS}) == len(PARTS)
    assert {part.key for part in PARTS} <= Submission.__annotations__.keys()
