"""A folder of files in which commands are typed, and made-up answers. The shapes of the files are real."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anls_metric.command import command_line

WORDS = ["Coca Cola", "12.50", "May 3, 1998", "yes", "Durham", "(641) 555-3891", "22.1%", "8812", "Ivanov Co", "page 4"]
IDS = [49_000 + 3 * n for n in range(24)]
SHUFFLED = random.Random(7).sample(IDS, len(IDS))
ACCEPTED = {key: [f"{WORDS[n % 10]} {n}", f"the {WORDS[n % 10]} {n}"] for n, key in enumerate(IDS)}
BASE = {key: texts[0] if n % 4 else "something else" for n, (key, texts) in enumerate(ACCEPTED.items())}
TUNED = {key: texts[0] if n % 6 else "another thing" for n, (key, texts) in enumerate(ACCEPTED.items())}
SCORE, BETTER, MEAN = 0.75, 20 / 24, 19 / 24
"""The scores of BASE and of TUNED, and of both as runs of one model."""

GOLD: list[dict[str, Any]] = [
    {"questionId": key, "question": f"What is {key}?", "answers": texts} for key, texts in ACCEPTED.items()
]


def list_answers(name: str = "prediction", answers: Mapping[int, str] = BASE, **more: Any) -> list[dict[str, Any]]:
    """Make a submission without accepted answers, in another order than that of the gold file."""
    return [{"questionId": key, name: answers[key], **more} for key in SHUFFLED]


def list_rows(answers: Mapping[int, str] = BASE, **more: Any) -> list[dict[str, Any]]:
    """Make a table with predictions and accepted answers, without ids."""
    return [{"question": f"What is {k}?", "answers": ACCEPTED[k], "prediction": answers[k], **more} for k in IDS]


def list_both(field: str, *names: Any, **more: Any) -> list[dict[str, Any]]:
    """Make a long table of BASE and TUNED, with these values in a field."""
    pairs = zip(names or ("base", "tuned"), (BASE, TUNED))
    rows = [row for name, answers in pairs for row in list_rows(answers, **{field: name}, **more)]
    return [{"id": key, **row} for key, row in zip(IDS * 2, rows)]


class Done(NamedTuple):
    """The exit status of a command, what it printed, and what it printed as errors."""

    status: int
    out: str
    err: str


class Shell:
    """A folder with files, in which commands are typed. gold.json, a.json and b.json are there."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.write({"gold.json": {"data": GOLD}, "a.json": list_answers(), "b.json": list_answers(answers=TUNED)})

    def write(self, files: Mapping[str, Any]) -> None:
        for name, value in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(encode(name, value))

    def type(self, line: str) -> Done:
        try:
            status = command_line.main(shlex.split(line))
        except SystemExit as error:
            status = int(error.code or 0)
        return Done(status, *self._capsys.readouterr())

    def print(self, line: str) -> str:
        """Type a command that must succeed, and return what it printed."""
        done = self.type(line)
        assert done.status == 0, done.err
        return done.out

    def document(self, line: str) -> dict[str, Any]:
        """Type a command, and return its JSON document."""
        document: dict[str, Any] = json.loads(self.print(f"{line} --format json"))
        return document

    def scores(self, line: str) -> list[float]:
        """Type a command, and return the scores of all submissions."""
        return [submission["anls"] for submission in self.document(line)["submissions"]]

    def error(self, line: str) -> str:
        """Type a command that must fail with status 2, no output and one line of error; return that line."""
        done = self.type(line)
        assert (done.status, done.out) == (2, "")
        assert re.fullmatch(r"anls: error: [^\n]+\n", done.err)
        assert len(done.err) < 1400
        return done.err.removeprefix("anls: error: ").rstrip("\n")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


def encode(name: str, value: Any) -> bytes:
    """Write a value in the format of a file name. Strings and bytes are content already."""
    ending = Path(name).suffix
    if ending == ".gz":
        return gzip.compress(encode(name.removesuffix(ending), value))
    if isinstance(value, (str, bytes)):
        return value.encode() if isinstance(value, str) else value
    if ending == ".jsonl":
        return "".join(f"{json.dumps(record)}\n" for record in value).encode()
    if ending == ".csv":
        return _encode_csv(value)
    if ending in (".parquet", ".arrow"):
        return _encode_arrow(value, ending)
    if ending == ".xlsx":
        return _encode_workbook(value)
    return json.dumps(value).encode()


def _encode_csv(records: list[dict[str, Any]]) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, dict.fromkeys(name for record in records for name in record))
    writer.writeheader()
    writer.writerows({k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()} for row in records)
    return stream.getvalue().encode()


def _encode_arrow(records: list[dict[str, Any]], ending: str) -> bytes:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table, stream = pyarrow.Table.from_pylist(records), io.BytesIO()
    if ending == ".parquet":
        parquet.write_table(table, stream)
    else:
        with pyarrow.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)
    return stream.getvalue()


def _encode_workbook(records: list[dict[str, Any]]) -> bytes:
    book, stream = pytest.importorskip("openpyxl").Workbook(), io.BytesIO()
    book.active.append(list(records[0]))
    for record in records:
        book.active.append([v if isinstance(v, (str, int, float)) else json.dumps(v) for v in record.values()])
    book.save(stream)
    return stream.getvalue()
