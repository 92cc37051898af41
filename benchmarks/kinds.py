"""The kinds of files that people have: functions that write each kind, and short scripts that score it."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from workloads import QUESTION, Rows, docvqa_like, gold_file, submission_file

# How the files are written


def records(rows: Rows) -> list[dict[str, Any]]:
    """Make the records of a plain table."""
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
    """Write a stream of a thousand rows at a time, as `datasets` does."""
    from pyarrow import Table, ipc

    table = Table.from_pylist(records(rows))
    with ipc.new_stream(file, table.schema) as out:
        out.write_table(table, max_chunksize=1000)


def write_excel(rows: Rows, file: Path) -> None:
    """Write accepted answers as Python prints them, as VLMEvalKit does."""
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


# The scripts

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


def lines(modules: str, read: str, predictions: str, references: str) -> str:
    """Make a script that reads a file and prints the mean."""
    return f"""
import sys, {modules}
from anls_metric import anls_scores, mean
{read.format(file="sys.argv[1]")}
print(mean(anls_scores({predictions}, {references})))
"""


READ_LINES = "rows = [json.loads(line) for line in open({file})]"
READ_EVAL = """
with zipfile.ZipFile({file}) as log:
    rows = [json.loads(log.read(name)) for name in log.namelist() if name.startswith("samples/")]
"""
PREDICTIONS, REFERENCES = ('[row["prediction"] for row in rows]', '[row["answers"] for row in rows]')


class Kind(NamedTuple):
    """A kind of file: its name, the names of its files, a function that writes them, and a script that scores them."""

    name: str
    files: tuple[str, ...]
    write: Callable[..., None]
    lines: str
    most: int = 1_000_000  # the most rows that such files have in practice


KINDS = {
    kind.name: kind
    for kind in (
        Kind("JSON, the leaderboard's two files", ("gold.json", "submission.json"), write_leaderboard, TEN_LINES),
        Kind(
            "JSON, a table",
            ("table.json",),
            write_json,
            lines("json", "rows = json.load(open({file}))", PREDICTIONS, REFERENCES),
        ),
        Kind("JSON lines", ("table.jsonl",), write_json_lines, lines("json", READ_LINES, PREDICTIONS, REFERENCES)),
        Kind(
            "JSON lines, gzip",
            ("table.jsonl.gz",),
            write_gzip,
            lines("gzip, json", READ_LINES.replace("open", "gzip.open"), PREDICTIONS, REFERENCES),
        ),
        Kind(
            "CSV",
            ("table.csv",),
            write_csv,
            lines(
                "csv, json",
                'rows = list(csv.DictReader(open({file}, newline="")))',
                PREDICTIONS,
                '[json.loads(row["answers"]) for row in rows]',
            ),
        ),
        Kind(
            "Parquet (your lines: pandas)",
            ("table.parquet",),
            write_parquet,
            lines(
                "pandas",
                "table = pandas.read_parquet({file})",
                'table["prediction"].tolist()',
                '[list(accepted) for accepted in table["answers"]]',
            ),
        ),
        Kind(
            "Arrow (your lines: pyarrow)",
            ("table.arrow",),
            write_arrow,
            lines(
                "pyarrow",
                "table = pyarrow.ipc.open_stream({file}).read_all()",
                'table["prediction"].to_pylist()',
                'table["answers"].to_pylist()',
            ),
        ),
        Kind(
            "Excel of VLMEvalKit (your lines: pandas)",
            ("table.xlsx",),
            write_excel,
            lines(
                "ast, pandas",
                "table = pandas.read_excel({file}, dtype=str, keep_default_na=False)",
                'table["prediction"].tolist()',
                'table["answer"].map(ast.literal_eval).tolist()',
            ),
            most=5_000,
        ),
        Kind(
            "log of lm_eval",
            ("samples.jsonl",),
            write_lm_eval,
            lines(
                "json",
                READ_LINES,
                '[row["filtered_resps"][0] for row in rows]',
                '[row["doc"]["answers"] for row in rows]',
            ),
        ),
        Kind(
            "log of inspect_ai",
            ("log.eval",),
            write_inspect_ai,
            lines(
                "json, zipfile",
                READ_EVAL,
                '[row["output"]["choices"][0]["message"]["content"] for row in rows]',
                '[row["target"] for row in rows]',
            ),
            most=5_000,
        ),
    )
}


def write(kind: str, count: int, folder: str) -> None:
    """Write a kind of file with this number of rows."""
    KINDS[kind].write(docvqa_like(count), *(Path(folder, file) for file in KINDS[kind].files))
