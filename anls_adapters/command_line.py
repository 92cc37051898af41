"""calculate-anls: score the leaderboard's gold and submission files, or one table, from the shell."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NoReturn, TextIO

from anls import VARIANTS, __version__, get_variant
from anls_adapters import report, rrc

RESULTS_FILE = "results.json"
_CHUNK = 4096

_EPILOG = """\
files: JSON as the Robust Reading Competition gives it, JSON lines or CSV, from a path or - for standard input;
Parquet where pyarrow is installed. Exit status: 0, or 2 for input that cannot be scored.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def parser() -> argparse.ArgumentParser:
    """The flags, those of PyPI anls among them. Its threshold is of the distance, as in the variant pypi_anls."""
    flags = _Parser(
        prog="calculate-anls",
        description="Score answers read from documents with ANLS (Average Normalized Levenshtein Similarity).",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = flags.add_argument
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
    add("--missing", choices=("error", "zero"), default="error", help="a question without answer (default: error)")
    add("--worst", type=_count, default=0, metavar="N", help="show the N worst answers")
    add("--format", choices=("text", "json"), default="text", help="what to print (default: text)")
    add("--output-dir", metavar="DIR", help=f"write the score of each answer to DIR/{RESULTS_FILE}")
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
    try:
        _run(flags)
        if sys.stdout:
            sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        message = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"calculate-anls: error: {' '.join(message.split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("calculate-anls: interrupted", file=sys.stderr)
        return 130
    return 0


def _run(flags: argparse.Namespace) -> None:
    if flags.demo:
        _open_page()
        return
    types = list(report.ANSWER_TYPES) if flags.answer_types else []
    variant = get_variant(flags.variant, flags.anls_threshold, flags.ignore_case)
    summary = report.Report(variant, by=[*types, *flags.by], worst=flags.worst)
    source, questions = _questions(flags, [*summary.groups, "question"])
    with contextlib.ExitStack() as stack:
        results = stack.enter_context(_Results(Path(flags.output_dir))) if flags.output_dir else None
        progress = stack.enter_context(_Progress(sys.stderr, source))
        while chunk := list(islice(questions, _CHUNK)):
            scored = summary.score(chunk)
            if results:
                results.add(scored)
            progress.add(len(chunk))
        if not summary.count:
            raise ValueError(f"{source.name}: there are no questions in it")
        _check_groups(summary, flags.by, types)
        if results:
            results.finish(summary, types)
    print(_as_json(summary) if flags.format == "json" else _as_text(summary, flags.output_dir))


def _open_page() -> None:
    try:
        from anls_adapters import page
    except ImportError as error:
        raise ValueError(f"--demo needs {error.name}: pip install 'anls-metric[app]'") from None
    page.launch(page.build(), inbrowser=True)


def _questions(flags: argparse.Namespace, fields: Sequence[str]) -> tuple[rrc.Records, Iterator[rrc.Question]]:
    """The questions to score, and the file whose reading tells how far the work has come."""
    files = {"--gold-label-file": flags.gold_label_file, "--submission-file": flags.submission_file}
    table_flags = {
        "--prediction-field": flags.prediction_field,
        "--references-field": flags.references_field,
        "--id-field": flags.id_field,
    }
    other = files if flags.table else table_flags
    for name, value in other.items():
        if value is not None:
            what = f"the table {flags.table}" if flags.table else "a gold and a submission file"
            raise ValueError(f"{name} does not go with {what}")
    if flags.table:
        prediction, references = flags.prediction_field or "prediction", flags.references_field or "references"
        table = rrc.Records(flags.table, [prediction, references, *fields, *filter(None, [flags.id_field])])
        return table, rrc.read_table(table, prediction, references, flags.id_field)
    for name, value in files.items():
        if value is None:
            raise ValueError(f"{name} is missing: name both files, or one table that holds both sides")
    gold = rrc.Records(flags.gold_label_file, [*rrc.ID_FIELDS, rrc.REFERENCES_FIELD, *fields])
    return gold, rrc.read_questions(gold, flags.submission_file, flags.missing)


def _check_groups(summary: report.Report, by: Sequence[str], types: Sequence[str]) -> None:
    for field in by:
        if not summary.groups[field]:
            raise ValueError(f"--by {field}: no question has that field")
    if types and not any(summary.groups[field] for field in types):
        raise ValueError(f"--answer-types: no question has one of the fields {', '.join(types)}; see --by")


# What is printed


def _as_text(summary: report.Report, output_dir: str | None) -> str:
    zeros = ", ".join(f"{count} {reason}" for reason, count in summary.zeros.items())
    lines = [
        f"ANLS       {summary.anls:.4f}",
        f"questions  {summary.count}",
        f"scored 0   {sum(summary.zeros.values())} ({zeros})",
        f"signature  {summary.signature}",
    ]
    for field, groups in summary.groups.items():
        if groups:
            names = {value: report.printable(value) for value in sorted(groups)}
            width = max(len(field) + 1, *map(len, names.values()))
            lines += ["", f"{'by ' + field:{width + 2}}  ANLS    questions"]
            lines += [
                f"  {name:{width}}  {groups[value].mean:.4f}  {groups[value].count}" for value, name in names.items()
            ]
    for scored in summary.worst:
        lines += ["", *_worst(scored, summary)]
    if output_dir:
        lines += ["", f"per answer: {Path(output_dir) / RESULTS_FILE}"]
    return "\n".join(lines)


def _worst(scored: report.Scored, summary: report.Report) -> list[str]:
    why = scored.explanation(summary.variant)
    head = f"question {report.printable(scored.question.id)}  score {scored.score:.4f}  "
    if why is None:
        return [head + "the submission has no answer to it"]
    names = ["prediction", "reference", ""]
    lines = report.alignment(why.best.edits)
    asked = scored.question.record.get("question")
    if isinstance(asked, str):
        names, lines = ["question", *names], [_shortened(report.printable(" ".join(asked.split()))), *lines]
    return [head + _shortened(str(why)), *(f"  {name:10}  {line}".rstrip() for name, line in zip(names, lines))]


def _shortened(text: str, length: int = 160) -> str:
    return text if len(text) <= length else text[: length // 2] + " … " + text[-length // 2 :]


def _as_json(summary: report.Report) -> str:
    worst = []
    for scored in summary.worst:
        why = scored.explanation(summary.variant)
        worst.append(
            {
                "id": scored.question.id,
                "score": scored.score,
                "reason": scored.zero or (why.reason if why else ""),
                "prediction": scored.question.prediction,
                "closest_reference": why.best.reference if why else None,
                "edits": why.best.edits if why else [],
            }
        )
    return json.dumps(
        {
            "anls": summary.anls,
            "questions": summary.count,
            "zeros": summary.zeros,
            "signature": summary.signature,
            "groups": {
                field: {value: {"anls": tally.mean, "questions": tally.count} for value, tally in groups.items()}
                for field, groups in summary.groups.items()
            },
            "worst": worst,
        },
        indent=2,
    )


# What is written


class _Results:
    """results.json, with the structure of PyPI anls: written aside, and renamed when it is whole."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS_FILE
        self._aside = folder / f".{RESULTS_FILE}.{os.getpid()}"
        self._separator = ""

    def __enter__(self) -> _Results:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self._aside, "w", encoding="ascii")
        self._file.write('{"per_sample_result": {')
        return self

    def add(self, scored: Sequence[report.Scored]) -> None:
        for question, score, zero in scored:
            sample = {
                "score": score,
                "question": asked if isinstance(asked := question.record.get("question"), str) else "",
                "gt": list(question.references),
                "det": question.prediction or "",
                "info": zero,
            }
            self._file.write(f"{self._separator}\n{json.dumps(question.id)}: {json.dumps(sample, default=str)}")
            self._separator = ","

    def finish(self, summary: report.Report, types: Sequence[str]) -> None:
        by_type = {
            report.ANSWER_TYPES[field][0]: {value: tally.mean for value, tally in summary.groups[field].items()}
            for field in types
        }
        rest = {
            "result": {"score": summary.anls, "signature": summary.signature},
            "scores_by_types": {name: by_type.get(name, {}) for name, _ in report.ANSWER_TYPES.values()},
        }
        self._file.write("\n},\n" + json.dumps(rest)[1:] + "\n")
        self._file.close()
        os.replace(self._aside, self.path)

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._aside.unlink(missing_ok=True)


class _Progress:
    """A bar on a terminal, once the work has taken a second: how much is done, how fast, how long it still takes."""

    def __init__(self, stream: TextIO, source: rrc.Records) -> None:
        self._stream, self._source = stream, source
        self._shown = False
        self._count = 0
        self._start = self._last = time.monotonic()

    def __enter__(self) -> _Progress:
        self._live = bool(self._stream) and self._stream.isatty()
        return self

    def add(self, count: int) -> None:
        self._count += count
        now = time.monotonic()
        if not self._live or now - self._last < (0.2 if self._shown else 1):
            return
        self._last, self._shown = now, True
        passed = now - self._start
        said = f"{self._count:,} questions  {self._count / passed:,.0f}/s"
        fraction = self._source.fraction
        if fraction:
            left = int(passed / fraction - passed)
            bar = "#" * int(20 * fraction)
            said = f"[{bar:-<20}] {fraction:4.0%}  {said}  {left // 60}:{left % 60:02} left"
        self._stream.write(f"\r{said}\033[K")
        self._stream.flush()

    def __exit__(self, *exception: object) -> None:
        if self._shown:
            self._stream.write("\r\033[K")
            self._stream.flush()


if __name__ == "__main__":
    sys.exit(main())
