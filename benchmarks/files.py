"""What it costs to read each kind of file: ``python benchmarks/files.py``.

The same made-up answers, like those of DocVQA, are written as each kind of file that people have. Each is scored by
`calculate-anls --score-only` and by the lines that one would write instead, in turn, after both have given the same
number. What is compared is the time on the processor, the least of the repetitions, and the most memory held.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from command import TEN_LINES
from timing import Command, call, keep, markdown, options, race, run, with_ours
from workloads import QUESTION, Rows, docvqa_like, gold_file, submission_file

COUNTS = [5_000, 100_000]

# How the files are written


def records(rows: Rows) -> list[dict[str, Any]]:
    """A table of one's own."""
    return [
        {"questionId": number, "question": QUESTION, "answers": accepted, "prediction": prediction}
        for number, (prediction, accepted) in enumerate(zip(*rows))
    ]


def write_leaderboard(rows: Rows, gold: Path, submission: Path) -> None:
    gold.write_text(json.dumps(gold_file(rows[1])))
    submission.write_text(json.dumps(submission_file(rows[0])))


def write_json(rows: Rows, file: Path) -> None:
    file.write_text(json.dumps(records(rows)))


def as_lines(values: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def write_json_lines(rows: Rows, file: Path) -> None:
    file.write_text(as_lines(records(rows)))


def write_gzip(rows: Rows, file: Path) -> None:
    file.write_bytes(gzip.compress(as_lines(records(rows)).encode()))


def write_csv(rows: Rows, file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, ["questionId", "question", "answers", "prediction"])
        writer.writeheader()
        writer.writerows({**record, "answers": json.dumps(record["answers"])} for record in records(rows))


def write_parquet(rows: Rows, file: Path) -> None:
    from pyarrow import Table, parquet

    parquet.write_table(Table.from_pylist(records(rows)), file)


def write_arrow(rows: Rows, file: Path) -> None:
    """As `datasets` does: a stream, a thousand rows at a time."""
    from pyarrow import Table, ipc

    table = Table.from_pylist(records(rows))
    with ipc.new_stream(file, table.schema) as out:
        out.write_table(table, max_chunksize=1000)


def write_excel(rows: Rows, file: Path) -> None:
    """As VLMEvalKit does: the accepted answers as Python prints them."""
    import pandas

    table = [{"index": number, **record} for number, record in enumerate(records(rows))]
    for record in table:
        record["answer"] = str(record.pop("answers"))
    pandas.DataFrame(table).to_excel(file, index=False)


def write_lm_eval(rows: Rows, file: Path) -> None:
    file.write_text(
        as_lines(
            [
                {
                    "doc_id": number,
                    "doc": {"questionId": number, "question": QUESTION, "answers": accepted},
                    "target": str(accepted),
                    "arguments": {"gen_args_0": {"arg_0": QUESTION, "arg_1": {"until": ["\n\n"], "max_gen_toks": 256}}},
                    "resps": [[prediction]],
                    "filtered_resps": [prediction],
                    "filter": "none",
                    "metrics": ["exact_match"],
                    **{f"{what}_hash": f"{number:064x}" for what in ("doc", "prompt", "target")},
                    "exact_match": 0.0,
                }
                for number, (prediction, accepted) in enumerate(zip(*rows))
            ]
        )
    )


def write_inspect_ai(rows: Rows, file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (prediction, accepted) in enumerate(zip(*rows)):
            asked = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
            answered = {"role": "assistant", "content": prediction, "source": "generate", "model": "a model"}
            sample = {
                "id": number,
                "epoch": 1,
                "input": [asked],
                "target": accepted,
                "messages": [asked, answered],
                "output": {"model": "a model", "choices": [{"message": answered, "stop_reason": "stop"}]},
                "scores": {"includes": {"value": "I", "answer": prediction}},
                "metadata": {"document_id": f"page{number // 4}"},
            }
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample, indent=2))


# What one would write instead

JSON_LINES = """
import json
import sys
from anls import anls_scores, mean
with open(sys.argv[1]) as file:
    rows = [json.loads(line) for line in file]
predictions = [row["prediction"] for row in rows]
print(mean(anls_scores(predictions, [row["answers"] for row in rows])))
"""

CSV = """
import csv
import json
import sys
from anls import anls_scores, mean
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
predictions = [row["prediction"] for row in rows]
print(mean(anls_scores(predictions, [json.loads(row["answers"]) for row in rows])))
"""

PARQUET = """
import sys
import pandas
from anls import anls_scores, mean
table = pandas.read_parquet(sys.argv[1])
print(mean(anls_scores(table["prediction"].tolist(), [list(accepted) for accepted in table["answers"]])))
"""

ARROW = """
import sys
import pyarrow
from anls import anls_scores, mean
with pyarrow.memory_map(sys.argv[1]) as file:
    table = pyarrow.ipc.open_stream(file).read_all()
print(mean(anls_scores(table["prediction"].to_pylist(), table["answers"].to_pylist())))
"""

EXCEL = """
import ast
import sys
import pandas
from anls import anls_scores, mean
table = pandas.read_excel(sys.argv[1], dtype=str, keep_default_na=False)
print(mean(anls_scores(table["prediction"].tolist(), table["answer"].map(ast.literal_eval).tolist())))
"""

INSPECT_AI = """
import json
import sys
import zipfile
from anls import anls_scores, mean
with zipfile.ZipFile(sys.argv[1]) as log:
    rows = [json.loads(log.read(name)) for name in log.namelist() if name.startswith("samples/")]
predictions = [row["output"]["choices"][0]["message"]["content"] for row in rows]
print(mean(anls_scores(predictions, [row["target"] for row in rows])))
"""


class Kind(NamedTuple):
    """A kind of file: its name, what its files are called, how they are written, and what would be written instead."""

    name: str
    files: tuple[str, ...]
    write: Callable[..., None]
    lines: str
    most: int = 1_000_000  # rows that anybody has in one


KINDS = {
    kind.name: kind
    for kind in (
        Kind("JSON, the leaderboard's two files", ("gold.json", "submission.json"), write_leaderboard, TEN_LINES),
        Kind(
            "JSON, a table",
            ("table.json",),
            write_json,
            JSON_LINES.replace("[json.loads(line) for line in file]", "json.load(file)"),
        ),
        Kind("JSON lines", ("table.jsonl",), write_json_lines, JSON_LINES),
        Kind(
            "JSON lines, gzip",
            ("table.jsonl.gz",),
            write_gzip,
            JSON_LINES.replace("import json", "import gzip\nimport json").replace("open(", "gzip.open("),
        ),
        Kind("CSV", ("table.csv",), write_csv, CSV),
        Kind("Parquet, beside pandas", ("table.parquet",), write_parquet, PARQUET),
        Kind("Arrow, beside pyarrow", ("table.arrow",), write_arrow, ARROW),
        Kind("Excel of VLMEvalKit, beside pandas", ("table.xlsx",), write_excel, EXCEL, most=5_000),
        Kind(
            "log of lm_eval",
            ("samples.jsonl",),
            write_lm_eval,
            JSON_LINES.replace('row["prediction"]', 'row["filtered_resps"][0]').replace('row["a', 'row["doc"]["a'),
        ),
        Kind("log of inspect_ai", ("log.eval",), write_inspect_ai, INSPECT_AI),
    )
}


# What is measured


class Row(NamedTuple):
    """One line of the table: milliseconds on the processor and megabytes."""

    kind: str
    rows: int
    ours: float
    lines: float
    our_memory: float
    their_memory: float

    @property
    def ratio(self) -> float:
        """How many times as long ours takes."""
        return self.ours / self.lines


def write(kind: str, count: int, folder: str) -> None:
    """Write a kind of file, with so many rows."""
    KINDS[kind].write(docvqa_like(count), *(Path(folder, file) for file in KINDS[kind].files))


def measure(kind: Kind, count: int, programs: Path, repetitions: int) -> Row:
    """Ours and the lines in turn, on the same files."""
    with tempfile.TemporaryDirectory() as folder:
        call(programs / "python", "files.write", kind.name, count, folder)
        entrants: dict[str, Command] = {
            "ours": [programs / "calculate-anls", "--score-only", *kind.files],
            "lines": [programs / "python", "-c", kind.lines, *kind.files],
        }
        printed = {run(command, folder).printed for command in entrants.values()}
        assert len(printed) == 1, (kind, printed)
        ours, lines = race(entrants, folder, repetitions).values()
    return Row(kind.name, count, ours.milliseconds, lines.milliseconds, ours.megabytes, lines.megabytes)


def measured(counts: list[int], repetitions: int) -> Iterator[Row]:
    """Every kind of file, with so many rows each."""
    programs = with_ours("files", "pandas", "openpyxl", extra="[files]")
    for kind in KINDS.values():
        for count in counts:
            if count <= kind.most:
                yield measure(kind, count, programs, max(3, repetitions * counts[0] // count))


COLUMNS = {
    "a file of": ("kind", "{}"),
    "rows": ("rows", "{:,}"),
    "`calculate-anls`": ("ours", "{:,.0f} ms"),
    "your lines": ("lines", "{:,.0f} ms"),
    "ratio": ("ratio", "{:.1f}"),
    "memory": ("our_memory", "{:.0f} MB"),
    "of your lines": ("their_memory", "{:.0f} MB"),
}


def main() -> None:
    """The command."""
    flags = options(__doc__, repetitions=20)
    rows = []
    for row in measured(COUNTS[: 1 if flags.quick else None], flags.repetitions):
        rows.append(row)
        print(markdown(COLUMNS, [row]).splitlines()[-1], file=sys.stderr)
    print(markdown(COLUMNS, rows))
    keep(flags.json, rows)


if __name__ == "__main__":
    main()
