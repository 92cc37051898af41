"""calculate-anls: score the leaderboard's gold and submission files, or one table, from the shell."""

from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from anls import OF_VALUES, VARIANTS, __version__, get_variant
from anls_metric.analysis.clusters import CLUSTER_FIELDS
from anls_metric.analysis.hints import Hints
from anls_metric.analysis.scored import ANSWER_TYPES, ScoredSet
from anls_metric.reading.extract import extractor
from anls_metric.reading.rows import InputError
from anls_metric.reading.sources import AUTO, Reading
from anls_metric.reading.submissions import Submission, find_submissions
from anls_metric.report import text
from anls_metric.report.document import RESULTS_FILE, Entry, document

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared
    from anls_metric.analysis.values import ValueHints
    from anls_metric.report.results import ResultsFile

# What the command calls the remedies of an error.
REMEDIES = {
    "prediction field": "name the right one with --prediction-field",
    "references field": "name the right one with --references-field",
    "no answer": 'write "" where the model answered nothing, or count it as 0 with --missing zero',
    "missing": "add them, or count them as 0 with --missing zero",
    "extra": "leave them out, or ignore them with --extra ignore",
    "no references": "name their field with --references-field, or the file that has them with --gold",
    "no predictions": "name their field with --prediction-field, or a file of answers after it",
    "no gold": "name the file with the accepted answers with --gold",
    "no submission": "name the file of answers with --submission",
    "filter": "choose one with --filter NAME",
    "epoch": "choose one with --epoch N",
    "train_trial_index": "keep the records of one of them",
    "several ids": "write an id once, or number the records with --id-field none",
    "extract": "take the answers out with --extract {value}",
    "references separator": 'split them with --references-separator "{value}"',
    "another prediction field": "if another field holds them, name it with --prediction-field",
    "results elsewhere": "name another folder with --output-dir",
    "none keys": "they count as wrong leaves: leave them out, or score with --none-keys ignored",
    "overwrite results": "name another folder with --output-dir, or overwrite them with --force",
}

_EPILOG = """\
files: those of the leaderboard, the logs of evaluation harnesses (--list-layouts), tables of one's own: JSON, JSON
lines, CSV, and with the extra `files` Parquet, Arrow and Excel; - is standard input, a folder or a pattern in quotes is
one file in parts. FILEs hold both sides each, or the first is a gold file and the others are submissions.
Exit status: 0, or 2 for input that cannot be scored.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, _error(message))


class _Help(argparse.RawDescriptionHelpFormatter):
    """The width of the terminal, without the module by which argparse asks for it again for each flag."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


@functools.cache
def _columns() -> int:
    try:
        return int(os.environ["COLUMNS"]) if "COLUMNS" in os.environ else os.get_terminal_size().columns
    except (OSError, ValueError):
        return 80


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
        formatter_class=_Help,
    )
    add = flags.add_argument
    flags.register("action", None, _Once)
    add(
        "files", metavar="FILE", nargs="*", help="answers with their accepted answers; or a gold file, then submissions"
    )
    add("-g", "--gold", "--gold-label-file", metavar="FILE", help="the questions with their accepted answers")
    add("-s", "--submission", "--submission-file", action="append", default=[], metavar="FILE", help="answers to score")
    add(
        "--prediction-field",
        metavar="PATH",
        help="where a record has the prediction, like output.text (default: found)",
    )
    add("--references-field", metavar="PATH", help="where a record has the accepted answers (default: found)")
    add("--id-field", metavar="PATH", help="where a record has its id (default: found); none numbers the records")
    add("--references-separator", metavar="TEXT", help="what stands between the accepted answers of a text")
    add("--extract", metavar="RULES", help="take answers out of what a model wrote, like think,final")
    add("--layout", default=AUTO, metavar="NAME", help="whose files these are (default: found out; see --list-layouts)")
    add("--list-layouts", action="store_true", help="print the layouts that are recognised, and end")
    add("--filter", metavar="NAME", help="which filter of lm-evaluation-harness to score")
    add("--epoch", metavar="N", help="which epoch of inspect_ai to score")
    add("--variant", default="standard", metavar="NAME", help=f"which ANLS: {', '.join((*VARIANTS, *OF_VALUES))}")
    add("--anls-threshold", type=float, metavar="T", help="from 0 to 1: a similarity under it scores 0 (default: 0.5)")
    add(
        "--ignore-case",
        action=argparse.BooleanOptionalAction,
        help="whether case is ignored (default: as the variant does)",
    )
    add(
        "--average", choices=("rows", "leaves"), help="of anls_star: the mean of rows, or of all leaves (default: rows)"
    )
    add(
        "--none-keys",
        choices=("counted", "ignored"),
        help="of anls_star: predicted keys without a value (default: counted)",
    )
    add("--by-key", action="store_true", help="of anls_star: break down by the keys of the values")
    add("--answer-types", action="store_true", help="break down by answer_type, evidence and operation/reasoning")
    add("--by", action="append", default=[], metavar="FIELD", help="break down by any field of the gold file")
    add("--missing", choices=("error", "zero"), default="error", help="a question without answer (default: error)")
    add("--extra", choices=("error", "ignore"), default="error", help="an answer without question (default: error)")
    add("--baseline", metavar="NAME", help="the submission that the others are compared with (default: the first)")
    add("--cluster-by", metavar="FIELD", help="which questions belong together (default: found); none: each alone")
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
    if flags.list_layouts:
        print(text.layouts())
        return
    reading, by = _reading(flags), [*_answer_types(flags), *flags.by]
    fields = [*by, "question", *CLUSTER_FIELDS, *filter(None, [flags.cluster_by])]
    submissions = find_submissions(flags.files, flags.gold, flags.submission, reading, fields)
    entries: list[Entry] = []
    hints: list[str] = []
    make_set: _MakeSet = _SETS.get(flags.variant, _set_of_texts)
    for submission in submissions:
        scored_set, looked_for = make_set(
            flags,
            by=by,
            worst=flags.worst,
            keep=len(submissions) > 1,
            cluster_by=flags.cluster_by,
            extract=reading.rules,
        )
        results = _results(submission, flags, len(submissions) > 1)
        hints += _score(submission, scored_set, looked_for, flags, results)
        entries.append(Entry(submission.name, scored_set, submission.layout))
    compared, more = _compare(flags, {entry.name: entry.scored_set for entry in entries})
    hints = list(dict.fromkeys([*hints, *more]))
    for hint in hints:
        print(f"hint: {text.printable(hint)}", file=sys.stderr)
    _print(flags, entries, compared, hints)


def _set_of_texts(flags: argparse.Namespace, **options: Any) -> tuple[ScoredSet, Hints]:
    """What texts are scored into, and what looks for hints among them."""
    for flag, given in (("--average", flags.average), ("--none-keys", flags.none_keys), ("--by-key", flags.by_key)):
        if given:
            raise ValueError(f"{flag} is for lists and nested values: give it with --variant {OF_VALUES[0]}")
    variant = get_variant(flags.variant, flags.anls_threshold, flags.ignore_case)
    return ScoredSet(variant, similarities=False, **options), Hints(variant, options["extract"])


def _set_of_values(flags: argparse.Namespace, **options: Any) -> tuple[ScoredSet, ValueHints]:
    """The same of lists and nested values."""
    from anls_metric.analysis.values import ScoredValues, ValueHints
    from anls_metric.nested import get_value_variant

    if flags.references_separator is not None:
        raise ValueError('--references-separator is for texts: write several accepted values as {"__tuple__": [...]}')
    asked = {
        "threshold": flags.anls_threshold,
        "none_keys": flags.none_keys,
        "average": flags.average,
        "ignore_case": flags.ignore_case,
    }
    variant = get_value_variant(flags.variant, **asked)
    return ScoredValues(variant, by_key=flags.by_key, **options), ValueHints(options["extract"])


_MakeSet: TypeAlias = "Callable[..., tuple[ScoredSet, Hints | ValueHints]]"
_SETS: Mapping[str, _MakeSet] = dict.fromkeys(OF_VALUES, _set_of_values)


def _answer_types(flags: argparse.Namespace) -> list[str]:
    return list(ANSWER_TYPES) if flags.answer_types else []


def _results(submission: Submission, flags: argparse.Namespace, several: bool) -> ResultsFile | None:
    """Where the score of each answer goes: of several submissions into a folder for each."""
    if flags.output_dir is None:
        return None
    from anls_metric.report.results import ResultsFile

    folder = os.path.join(flags.output_dir, submission.name) if several else flags.output_dir
    return ResultsFile(folder, submission.inputs, flags.force)


def _reading(flags: argparse.Namespace) -> Reading:
    """How the files are to be read."""
    if flags.filter is not None and flags.epoch is not None:
        raise ValueError("--filter is for logs of lm-evaluation-harness and --epoch for those of inspect_ai: give one")
    return Reading(
        layout=flags.layout,
        id_field=flags.id_field,
        prediction_field=flags.prediction_field,
        references_field=flags.references_field,
        references_separator=flags.references_separator,
        extract=None if flags.extract is None else extractor(flags.extract, values=flags.variant in OF_VALUES),
        repeat=flags.filter if flags.epoch is None else flags.epoch,
        missing=flags.missing,
        extra=flags.extra,
        values=flags.variant in OF_VALUES,
    )


def _score(
    submission: Submission,
    scored_set: ScoredSet,
    hints: Hints | ValueHints,
    flags: argparse.Namespace,
    results: ResultsFile | None,
) -> list[str]:
    """Score a submission, and say what looks wrong with it."""
    with contextlib.ExitStack() as stack:
        if results:
            stack.enter_context(results)
        progress = _Progress()
        for rows in submission.batches():
            scored = scored_set.add(rows)
            hints.add(scored)
            if results:
                results.add(scored)
            progress.add(len(rows))
        if not scored_set.count:
            raise ValueError(f"{submission.asked}: there are no questions in it")
        _check_groups(scored_set, flags)
        if results:
            results.finish(scored_set, _answer_types(flags))
    for note in submission.notes:
        print(f"calculate-anls: {text.printable(note)}", file=sys.stderr)
    return [hint.worded(REMEDIES) for hint in hints.found()]


def _compare(flags: argparse.Namespace, scored_sets: Mapping[str, ScoredSet]) -> tuple[Compared | None, list[str]]:
    """How several submissions compare, and what to know of it."""
    if len(scored_sets) < 2:
        return None, []
    if flags.baseline is not None and flags.baseline not in scored_sets:
        raise ValueError(f"--baseline {flags.baseline}: no submission is called so, but {', '.join(scored_sets)}")
    if flags.average == "leaves":
        return None, ["not compared: submissions are compared by rows, leave --average leaves out for that"]
    from anls_metric.analysis.comparison import compare

    try:
        compared = compare(scored_sets, flags.baseline, flags.cluster_by)
    except ValueError as error:  # they have nothing in common: each has its number all the same
        return None, [f"not compared: {_message(error)}"]
    return compared, compared.hints


def _print(
    flags: argparse.Namespace, entries: Sequence[Entry], compared: Compared | None, hints: Sequence[str]
) -> None:
    if flags.format == "json":
        print(json.dumps(document(entries, compared, hints), indent=2))
        return
    if len(entries) == 1:
        print(text.summary(entries[0].scored_set))
    else:
        from anls_metric.report import tables

        found = document(entries, compared, hints)
        print(tables.as_text(tables.side_by_side(found)) + "\n" + text.printable(tables.footnote(found)))
        for entry in entries:
            details = text.details(entry.scored_set)
            if details:
                print(f"\n{text.printable(entry.name)}\n\n{details}")
    if flags.output_dir:
        folder = os.path.join(flags.output_dir, "*") if len(entries) > 1 else flags.output_dir
        print(f"\nper answer: {text.printable(os.path.join(folder, RESULTS_FILE))}")


def _open_page() -> None:
    try:
        from anls_metric.page import server
    except ImportError as error:
        raise ValueError(f"--demo needs {error.name}: pip install 'anls-metric[app]'") from None
    server.launch(server.build(), inbrowser=True)


def _check_groups(scored_set: ScoredSet, flags: argparse.Namespace) -> None:
    for field in flags.by:
        if not scored_set.groups[field]:
            raise ValueError(f"--by {field}: no question has that field")
    types = _answer_types(flags)
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
