"""Files that people score: functions that write each kind, and the short scripts that score them without `anls`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from workloads import QUESTION, Rows, gold_file, submission_file


def records(rows: Rows) -> list[dict[str, Any]]:
    """Make the records of a table."""
    return [
        {"questionId": number, "question": QUESTION, "answers": accepted, "prediction": prediction}
        for number, (prediction, accepted) in enumerate(zip(*rows))
    ]


def write_leaderboard(rows: Rows, gold: Path, submission: Path) -> None:
    gold.write_text(json.dumps(gold_file(rows[1])))
    submission.write_text(json.dumps(submission_file(rows[0])))


def write_json_lines(rows: Rows, file: Path) -> None:
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records(rows)))


def write_csv(rows: Rows, file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, ["questionId", "question", "answers", "prediction"])
        writer.writeheader()
        writer.writerows({**record, "answers": json.dumps(record["answers"])} for record in records(rows))


def write_parquet(rows: Rows, file: Path) -> None:
    from pyarrow import Table, parquet

    parquet.write_table(Table.from_pylist(records(rows)), file)


TEN_LINES = """
import json
import sys
from anls_metric import anls_scores, mean
with open(sys.argv[1]) as file:
    gold = json.load(file)["data"]
with open(sys.argv[2]) as file:
    answers = {record["questionId"]: record["answer"] for record in json.load(file)}
predictions = [answers[record["questionId"]] for record in gold]
print(mean(anls_scores(predictions, [record["answers"] for record in gold])))
"""

OF_A_TABLE = """
import csv, json, sys
from anls_metric import anls_scores, mean
rows = {rows}
print(mean(anls_scores([row["prediction"] for row in rows], [{references} for row in rows])))
"""


class Kind(NamedTuple):
    """A kind of file: the names of its files, the function that writes them, and the script that scores them."""

    files: tuple[str, ...]
    write: Callable[..., None]
    script: str


KINDS = {
    "leaderboard files": Kind(("gold.json", "submission.json"), write_leaderboard, TEN_LINES),
    "JSON lines": Kind(
        ("table.jsonl",),
        write_json_lines,
        OF_A_TABLE.format(rows="[json.loads(line) for line in open(sys.argv[1])]", references='row["answers"]'),
    ),
    "CSV": Kind(
        ("table.csv",),
        write_csv,
        OF_A_TABLE.format(
            rows='list(csv.DictReader(open(sys.argv[1], newline="")))', references='json.loads(row["answers"])'
        ),
    ),
    "Parquet": Kind(
        ("table.parquet",),
        write_parquet,
        OF_A_TABLE.format(
            rows='__import__("pyarrow.parquet").parquet.read_table(sys.argv[1]).to_pylist()',
            references='row["answers"]',
        ),
    ),
}
