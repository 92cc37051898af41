"""calculate-anls: score the leaderboard's gold and submission files, or one table, from the shell."""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from anls import VARIANTS, __version__, get_variant
from anls_metric.analysis.scored import ANSWER_TYPES, ScoredSet
from anls_metric.reading.files import Records
from anls_metric.reading.join import join_files, read_table
from anls_metric.reading.layouts import ID_FIELDS, REFERENCES_FIELD
from anls_metric.reading.rows import InputError, Row
from anls_metric.report import text
from anls_metric.report.document import document
from anls_metric.report.results import RESULTS_FILE, ResultsFile

# What the command calls the remedies of an error.
REMEDIES = {
    "prediction field": "name the right one with --prediction-field",
    "references field": "name the right one with --references-field",
    "missing": "add them, or count them as 0 with --missing zero",
    "results elsewhere": "name another folder with --output-dir",
    "overwrite results": "name another folder with --output-dir, or overwrite them with --force",
}

_EPILOG = """\
files: JSON as the Robust Reading Competition gives it, JSON lines or CSV, from a path or - for standard input;
Parquet where pyarrow is installed. Exit status: 0, or 2 for input that cannot be scored.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, _error(message))


class _Once(argparse.Action):
    """A flag whose second value would silently take the place of the first."""

    def __call__(self, parser: argparse.ArgumentParser, flags: Any, value: Any, option: str | None = None) -> None:
        given = flags.__dict__.setdefault("given", set())
        if self.dest in given:
            parser.error(f"{option} is given twice: give it once")
        given.add(self.dest)
        setattr(flags, self.dest, value)


def _folder(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return text


def parser() -> argparse.ArgumentParser:
    """The flags, those of PyPI anls among them. Its threshold is of the distance, as in the variant pypi_anls."""
    flags = _Parser(
        prog="calculate-anls",
        description="Score answers read from documents with ANLS (Average Normalized Levenshtein Similarity).",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = flags.add_argument
    flags.register("action", None, _Once)
    add("table", metavar="TABLE", nargs="?", help="one table with predictions and references, instead of the two files")
    add("--gold-label-file", metavar="FILE", help="the questions with their accepted answers")
    add("--submission-file", metavar="FILE", help="the answers to score")
    add("--prediction-field", metavar="FIELD", help="where TABLE has the prediction (default: prediction)")
    add("--references-field", metavar="FIELD", help="where TABLE has the references (default: references)")
    add("--id-field", metavar="FIELD", help="where TABLE has an id (default: records are numbered from 1)")
    add("--variant", default="standard", metavar="NAME", help=f"which ANLS: {', '.join(VARIANTS)}")
    add("--anls-threshold", type=float, metavar="T", help="from 0 to 1: a similarity under it scores 0 (default: 0.5)")
    add(
        "--ignore-case",
        action=argparse.BooleanOptionalAction,
        help="whether case is ignored (default: as the variant does)",
    )
    add("--answer-types", action="store_true", help="break down by answer_type, evidence and operation/reasoning")
    add("--by", action="append", default=[], metavar="FIELD", help="break down by any field of the gold file")
    add("--missing", choices=("error", "zero"), help="a question without answer (default: error)")
    add("--worst", type=_count, default=0, metavar="N", help="show the N worst answers")
    add("--format", choices=("text", "json"), default="text", help="what to print (default: text)")
    add("--output-dir", type=_folder, metavar="DIR", help=f"write the score of each answer to DIR/{RESULTS_FILE}")
    add("--force", action="store_true", help=f"overwrite a {RESULTS_FILE} of other inputs")
    add("--demo", action="store_true", help="open the page that shows a score and why (needs the extra `app`)")
    add("--version", action="version", version=f"%(prog)s {__version__}")
    return flags


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after its name; None takes those of the process.

    Returns:
        The exit status: 0, 2 for input that cannot be scored, 130 after Ctrl-C.
    """
    flags = parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    collecting = gc.isenabled()
    gc.disable()  # looking for cycles in millions of records, which have none, costs half of all time
    try:
        _run(flags)
        if sys.stdout:
            sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(_error(_message(error)), end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("calculate-anls: interrupted", file=sys.stderr)
        return 130
    finally:
        if collecting:
            gc.enable()
    return 0


def _error(message: str) -> str:
    """A message as the terminal may show it: names and texts of files cannot command it."""
    return f"calculate-anls: error: {text.printable(' '.join(message.split()))}\n"


def _message(error: ValueError | OSError) -> str:
    if isinstance(error, InputError):
        return error.worded(REMEDIES)
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _run(flags: argparse.Namespace) -> None:
    if flags.demo:
        _open_page()
        return
    types = list(ANSWER_TYPES) if flags.answer_types else []
    variant = get_variant(flags.variant, flags.anls_threshold, flags.ignore_case)
    scored_set = ScoredSet(variant, by=[*types, *flags.by], worst=flags.worst)
    name, batches = _batches(flags, [*scored_set.groups, "question"])
    with contextlib.ExitStack() as stack:
        results = None
        if flags.output_dir:
            inputs = [flags.table] if flags.table else [flags.gold_label_file, flags.submission_file]
            results = stack.enter_context(ResultsFile(flags.output_dir, inputs, flags.force))
        progress = _Progress()
        for rows in batches:
            scored = scored_set.add(rows)
            if results:
                results.add(scored)
            progress.add(len(rows))
        if not scored_set.count:
            raise ValueError(f"{name}: there are no questions in it")
        _check_groups(scored_set, flags.by, types)
        if results:
            results.finish(scored_set, types)
    if flags.format == "json":
        print(json.dumps(document(scored_set), indent=2))
    else:
        print(text.summary(scored_set))
        if results:
            print(f"\nper answer: {text.printable(results.path)}")


def _open_page() -> None:
    try:
        from anls_metric.page import server
    except ImportError as error:
        raise ValueError(f"--demo needs {error.name}: pip install 'anls-metric[app]'") from None
    server.launch(server.build(), inbrowser=True)


def _batches(flags: argparse.Namespace, fields: Sequence[str]) -> tuple[str, Iterator[list[Row]]]:
    """The rows to score, and the name of the file that has the questions."""
    files = {"--gold-label-file": flags.gold_label_file, "--submission-file": flags.submission_file}
    table_flags = {
        "--prediction-field": flags.prediction_field,
        "--references-field": flags.references_field,
        "--id-field": flags.id_field,
    }
    if flags.table and flags.missing is not None:
        raise ValueError(f"--missing does not go with the table {flags.table}: every row of it has its answer")
    other = files if flags.table else table_flags
    for name, value in other.items():
        if value is not None:
            what = f"the table {flags.table}" if flags.table else "a gold and a submission file"
            raise ValueError(f"{name} does not go with {what}")
    if flags.table:
        prediction, references = flags.prediction_field or "prediction", flags.references_field or "references"
        table = Records(flags.table, [prediction, references, *fields, *filter(None, [flags.id_field])])
        return table.name, read_table(table, prediction, references, flags.id_field)
    for name, value in files.items():
        if value is None:
            raise ValueError(f"{name} is missing: name both files, or one table that holds both sides")
    gold = Records(flags.gold_label_file, [*ID_FIELDS, REFERENCES_FIELD, *fields])
    return gold.name, join_files(gold, flags.submission_file, flags.missing or "error")


def _check_groups(scored_set: ScoredSet, by: Sequence[str], types: Sequence[str]) -> None:
    for field in by:
        if not scored_set.groups[field]:
            raise ValueError(f"--by {field}: no question has that field")
    if types and not any(scored_set.groups[field] for field in types):
        raise ValueError(f"--answer-types: no question has one of the fields {', '.join(types)}; see --by")


class _Progress:
    """A line on the terminal every few seconds: how much is done, and how fast."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self._count = 0
        self._start = self._said = time.monotonic()

    def add(self, count: int) -> None:
        self._count += count
        now = time.monotonic()
        if now - self._said >= self.SECONDS and sys.stderr and sys.stderr.isatty():
            self._said = now
            speed = self._count / (now - self._start)
            print(f"{self._count:,} questions scored, {speed:,.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
