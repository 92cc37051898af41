"""anls: score the leaderboard's gold and submission files, or one table, from the shell."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from anls_metric.analysis.evaluation import EVERY_VARIANT, Evaluation, fields_of, find_scorers, pause_collector
from anls_metric.analysis.scored import ANSWER_TYPES
from anls_metric.core.variants import OF_VALUES, VARIANTS, Variant
from anls_metric.core.version import __version__
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import extractor
from anls_metric.reading.sources import AUTO, Reading
from anls_metric.reading.submissions import Submission, find_submissions
from anls_metric.report import terminal
from anls_metric.report.document import RESULTS_FILE, describe_evaluation
from anls_metric.report.numbers import Numbers

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Comparison
    from anls_metric.analysis.metrics import Metric
    from anls_metric.core.variants import Scorer
    from anls_metric.reading.corrections import Corrections
    from anls_metric.report.images import Images

FORMATS = ("text", "json", "markdown", "latex", "csv")

_EPILOG = """\
files: those of the leaderboard, the logs of evaluation harnesses (--list-layouts), tables of one's own: JSON, JSON
lines, CSV, and with the extra `files` Parquet, Arrow and Excel; - is standard input, a folder or a pattern in quotes is
one file in parts. FILEs hold both sides each, or the first is a gold file and the others are submissions.
Exit status: 0; 1 for an ANLS under --fail-under, or for a worse submission with --fail-if-worse; 2 for input that
cannot be scored.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, _format_error(message))

    def parse_intermixed_args(self, *given: Any, **named: Any) -> Any:
        """Parse arguments in any order. An unknown flag gets the flag that was perhaps meant."""
        flags, unknown = self.parse_known_intermixed_args(*given, **named)
        if unknown:
            flag = next((text for text in unknown if text.startswith("-")), unknown[0]).partition("=")[0]
            self.error(f"unknown flag {flag}: {self._suggest(flag)}--help lists all flags")
        return flags

    def _suggest(self, flag: str) -> str:
        from difflib import get_close_matches

        known = [name for name in self._option_string_actions if name.startswith("--")]
        name = flag.strip("-")
        near = [each for each in known if len(name) > 2 and name in each] or get_close_matches(flag, known, 1, 0.5)
        return f"did you mean {near[0]}? " if near else ""


def _measure_width() -> int:
    """Measure the width of the terminal. argparse would import shutil for it, which imports compression libraries."""
    try:
        return int(os.environ["COLUMNS"]) if "COLUMNS" in os.environ else os.get_terminal_size().columns
    except (OSError, ValueError):
        return 80


class _Once(argparse.Action):
    """Refuses a second value of a flag, which would silently replace the first one."""

    def __call__(self, parser: argparse.ArgumentParser, flags: Any, value: Any, option: str | None = None) -> None:
        given = flags.__dict__.setdefault("given", set())
        if self.dest in given:
            parser.error(f"{option} is given twice: give it once")
        given.add(self.dest)
        setattr(flags, self.dest, value)


def _parse_folder(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return text


def _parse_path(text: str) -> str:
    if not text or text.endswith(os.sep):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of a file")
    return text


def build_parser() -> argparse.ArgumentParser:
    """Build the parser. Its flags include those of PyPI anls, whose threshold limits the distance: see `pypi_anls`."""
    flags = _Parser(
        prog="anls",
        usage="%(prog)s [options] FILE [FILE ...]",
        description="Score answers read from documents with ANLS (Average Normalized Levenshtein Similarity).",
        epilog=_EPILOG,
        allow_abbrev=False,
        formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=_measure_width() - 2),
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
        help="path of the prediction, like output.text (default: detected); several, comma-separated, are submissions",
    )
    add("--references-field", metavar="PATH", help="path of the accepted answers (default: detected)")
    add("--id-field", metavar="PATH", help="path of the question id (default: detected); 'none' matches by position")
    add("--gold-id-field", metavar="PATH", help="path of the question id in the gold file, where it differs")
    add("--submission-field", metavar="PATH", help="path of the model's name, in a table of several models")
    add("--references-separator", metavar="TEXT", help="what stands between the accepted answers of a text")
    add("--extract", metavar="RULES", help="take answers out of what a model wrote, like think,final")
    add("--layout", default=AUTO, metavar="NAME", help="whose files these are (default: found out; see --list-layouts)")
    add("--list-layouts", action="store_true", help="print the layouts that are recognised, and end")
    add("--list-variants", action="store_true", help="print the variants of ANLS, and end")
    add("--filter", metavar="NAME", help="which filter of lm-evaluation-harness to score")
    add(
        "--runs",
        choices=("question", "error"),
        help="answers with one id are runs of a model, or an error (default: found out)",
    )
    add("--run", "--epoch", metavar="N", help="which run to score, such as an epoch (default: the mean of all runs)")
    add(
        "--variant",
        metavar="NAMES",
        help=f"which ANLS, and with commas the number under more of them: {', '.join(VARIANTS)}; or {EVERY_VARIANT}; "
        f"of lists and nested values {' or '.join(OF_VALUES)}",
    )
    add("--find", metavar="NUMBER", help="say which variants and extraction rules give a number, like 84.75")
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
    add("--all-pairs", action="store_true", help="compare every pair of submissions")
    add("--cluster-by", metavar="FIELD", help="which questions belong together (default: found); none: each alone")
    add("--metrics", metavar="NAMES", help="other metrics beside ANLS: f1,cer,relaxed,exact,contains")
    add(
        "--confusions", type=_parse_count, default=0, metavar="N", help="show the N most frequent confusions of letters"
    )
    add("--suspects", action="store_true", help="list questions where most submissions agree on a wrong answer")
    add("--corrections", metavar="FILE", help="accept more answers of some questions, or leave questions out")
    add("--confidence-field", metavar="PATH", help="path of the confidence in an answer (default: detected)")
    add("--judge-field", metavar="PATH", help="path of the verdict of a judge about an answer")
    add("--right-at", type=_parse_share, metavar="X", help="score from which an answer is right (default: 0.5)")
    add("--worst", type=_parse_count, default=0, metavar="N", help="show the N worst answers")
    add(
        "--regressions",
        type=_parse_count,
        default=0,
        metavar="N",
        help="show N questions lost against the baseline, and won",
    )
    add("--format", choices=FORMATS, default=FORMATS[0], help=f"what to print (default: {FORMATS[0]})")
    add("--percent", action="store_true", help="print scores in percent: 83.57 instead of 0.8357")
    add("--digits", type=_parse_digits, metavar="N", help="digits after the point (default: 4; 2 with --percent)")
    add("--columns", metavar="NAMES", help="columns of the table, comma-separated, like anls,interval,difference")
    add("--score-only", action="store_true", help="print the number alone, with all of its digits")
    add("--quiet", action="store_true", help="no hints, and no word on how files were read")
    add("--fail-under", type=_parse_share, metavar="X", help="exit status 1 where an ANLS is under X, from 0 to 1")
    add(
        "--fail-if-worse",
        action="store_true",
        help="exit status 1 where a submission is significantly worse than the baseline",
    )
    add("--output-dir", type=_parse_folder, metavar="DIR", help=f"write the score of each answer to DIR/{RESULTS_FILE}")
    add(
        "--answers",
        type=_parse_path,
        metavar="FILE",
        help="write a record for each answer, with its score, to FILE.csv, FILE.jsonl or FILE.parquet",
    )
    add(
        "--report",
        type=_parse_path,
        metavar="FILE.html",
        help="write a report of all that is known, to open in a browser",
    )
    add(
        "--images",
        type=_parse_folder,
        metavar="DIR",
        help="where the pages are that the report shows beside the questions",
    )
    add("--force", action="store_true", help=f"overwrite a {RESULTS_FILE} of other inputs")
    add("--demo", action="store_true", help="open the page that shows a score and why (needs the extra `app`)")
    add("--version", action="version", version=f"%(prog)s {__version__}")
    return flags


def _parse_share(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 1")


def _parse_count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _parse_digits(text: str) -> int:
    if text.isdecimal() and int(text) <= _MOST_DIGITS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to {_MOST_DIGITS}")


_MOST_DIGITS = 16


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after its name; None takes those of the process.

    Returns:
        The exit status: 0, 1 for a score under --fail-under or a worse submission with --fail-if-worse, 2 for input
        that cannot be scored, 130 after Ctrl-C.
    """
    flags = build_parser().parse_intermixed_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with pause_collector():
            status = _run(flags)
        if sys.stdout:
            sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(_format_error(_word_error(error)), end="", file=sys.stderr)
        return 2
    except MemoryError:
        print(
            _format_error("this needs more memory than there is: score fewer answers at a time"),
            end="",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("anls: interrupted", file=sys.stderr)
        return 130
    return status


def _format_error(message: str) -> str:
    """Format a message for the terminal, which names and texts of files must not control."""
    return f"anls: error: {terminal.make_printable(' '.join(message.split()))}\n"


def _word_error(error: ValueError | OSError) -> str:
    if isinstance(error, InputError):
        return error.format_for("command")
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _run(flags: argparse.Namespace) -> int:
    """Run what the flags say, and return the exit status."""
    if flags.demo:
        _open_page()
        return 0
    if flags.list_layouts:
        print(terminal.format_layouts())
        return 0
    if flags.list_variants:
        print(terminal.format_variants())
        return 0
    _check_table(flags)
    if not (flags.files or flags.gold or flags.submission):
        raise ValueError("name a file to score, or a gold file and then submissions; --help says more")
    scorers, reading = _find_scorers(flags), _make_reading(flags)
    fields = fields_of([*(ANSWER_TYPES if flags.answer_types else ()), *flags.by], flags.cluster_by)
    submissions = find_submissions(flags.files, flags.gold, flags.submission, reading, fields)
    if flags.answers:
        _refuse_answers_file(flags.answers, submissions)
    images = _find_images(flags, submissions)
    evaluation = Evaluation(
        submissions,
        scorers,
        by=flags.by,
        answer_types=flags.answer_types,
        by_key=flags.by_key,
        worst=flags.worst,
        cluster_by=flags.cluster_by,
        baseline=flags.baseline,
        all_pairs=flags.all_pairs,
        keep=bool(flags.report or flags.regressions or flags.find or flags.answers or flags.suspects),
        similarities=bool(flags.report),
        metrics=_find_metrics(flags),
        confusions=bool(flags.confusions or (flags.report and isinstance(scorers[0], Variant))),
        corrections=_read_corrections(flags),
        right_at=flags.right_at,
    )
    _score(evaluation, flags)
    hints = [hint.format_for("command") for hint in evaluation.hints]
    if not flags.quiet:
        for note in evaluation.notes:
            print(f"anls: {terminal.make_printable(note)}", file=sys.stderr)
        for hint in hints:
            print(f"hint: {terminal.make_printable(hint)}", file=sys.stderr)
    if flags.answers:
        _write_answers(flags.answers, evaluation)
    if flags.report:
        _write_report(flags.report, submissions, images, evaluation, hints)
    worse = _find_worse(evaluation) if flags.fail_if_worse else []
    _print(flags, evaluation, hints)
    return max(_check_scores(evaluation, flags.fail_under), _report_worse(worse))


def _find_metrics(flags: argparse.Namespace) -> Sequence[Metric]:
    if flags.metrics is None:
        return ()
    from anls_metric.analysis.metrics import find_metrics

    return find_metrics(flags.metrics)


def _read_corrections(flags: argparse.Namespace) -> Corrections | None:
    if flags.corrections is None:
        return None
    from anls_metric.reading.corrections import read_corrections

    return read_corrections(flags.corrections)


def _check_table(flags: argparse.Namespace) -> None:
    """Refuse flags for tables where no table is printed, and columns that do not exist."""
    is_given = {
        "--percent": flags.percent,
        "--digits": flags.digits is not None,
        "--columns": flags.columns is not None,
    }
    for flag in (flag for flag, given in is_given.items() if given):
        other = "--format json" if flags.format == "json" else "--score-only" if flags.score_only else ""
        if other:
            raise ValueError(f"{flag} is for tables, and {other} prints numbers with all digits: leave one out")
    if flags.columns is not None:
        from anls_metric.report.columns import find_columns

        find_columns(flags.columns)


def _find_worse(evaluation: Evaluation) -> list[Comparison]:
    """Find the comparisons with the baseline that fail a check, or that had too few questions for it."""
    if evaluation.compared is None:
        raise ValueError(
            "--fail-if-worse needs a comparison, and nothing was compared: name the baseline before the others, "
            "like anls gold.json before.json after.json"
        )
    baseline = evaluation.compared.baseline
    return [
        comparison
        for comparison in evaluation.compared.comparisons
        if comparison.first == baseline and comparison.verdict in ("worse", "too few questions")
    ]


def _report_worse(comparisons: Sequence[Comparison]) -> int:
    """Report submissions that are worse than the baseline, and return the exit status."""
    for each in comparisons:
        first, second = map(terminal.make_printable, (each.first, each.second))
        if each.verdict == "worse":
            text = f"{second} is worse than {first}: {each.difference:+.4f}, p = {each.p_value_adjusted:.2g}"
        else:
            text = f"too few questions to tell whether {second} is worse than {first}: {each.difference:+.4f}"
        print(f"anls: {text}", file=sys.stderr)
    return int(any(each.verdict == "worse" for each in comparisons))


def _check_scores(evaluation: Evaluation, least: float | None) -> int:
    """Report scores under the limit, and return the exit status."""
    means = {name: scored_set.mean for name, scored_set in evaluation.scored_sets.items()}
    low = {name: mean for name, mean in means.items() if least is not None and mean < least}
    for name, mean in low.items():
        print(f"anls: the ANLS of {terminal.make_printable(name)} is {mean:.6g}, under {least}", file=sys.stderr)
    return 1 if low else 0


def _refuse_answers_file(path: str, submissions: Sequence[Submission]) -> None:
    """Refuse a file of answers that could not be written after scoring."""
    from anls_metric.report.answers import find_writer
    from anls_metric.report.results import refuse_input

    find_writer(path)
    refuse_input(path, [path for submission in submissions for path in submission.inputs])


def _write_answers(path: str, evaluation: Evaluation) -> None:
    from anls_metric.report.answers import write_answers

    write_answers(path, evaluation.entries)
    print(f"answers: {terminal.make_printable(path)}", file=sys.stderr)


def _find_images(flags: argparse.Namespace, submissions: Sequence[Submission]) -> Images | None:
    """Find the images of the report. Flags that would fail after scoring are refused before it."""
    if not flags.report:
        if flags.images:
            raise ValueError("--images is for the report: name that with --report FILE.html")
        return None
    from anls_metric.report.images import Images
    from anls_metric.report.results import refuse_input

    refuse_input(flags.report, [path for submission in submissions for path in submission.inputs])
    return Images(flags.images) if flags.images else None


def _write_report(
    path: str,
    submissions: Sequence[Submission],
    images: Images | None,
    evaluation: Evaluation,
    hints: Sequence[str],
) -> None:
    from anls_metric.report.html import as_html
    from anls_metric.report.results import write_whole

    sources = {os.path.basename(submission.questions_name) for submission in submissions}
    source = sources.pop() if len(sources) == 1 else ""
    write_whole(path, as_html(evaluation.entries, evaluation.compared, hints, source=source, images=images))
    print(f"report: {terminal.make_printable(path)}", file=sys.stderr)


def _find_scorers(flags: argparse.Namespace) -> list[Scorer]:
    of_texts = {"--references-separator": flags.references_separator}
    of_values = {"--average": flags.average, "--none-keys": flags.none_keys, "--by-key": flags.by_key or None}
    values = flags.variant in OF_VALUES
    for flag, value in (of_texts if values else of_values).items():
        if value is not None:
            raise ValueError(
                f'{flag} is for texts: write several accepted values as {{"__tuple__": [...]}}'
                if values
                else f"{flag} is for lists and nested values: give it with --variant {OF_VALUES[0]}"
            )
    names = flags.variant or (EVERY_VARIANT if flags.find else "standard")
    return find_scorers(names, flags.anls_threshold, flags.ignore_case, flags.none_keys, flags.average)


def _make_reading(flags: argparse.Namespace) -> Reading:
    """Make the options for reading the files."""
    return Reading(
        layout=flags.layout,
        id_field=flags.id_field,
        gold_id_field=flags.gold_id_field,
        prediction_field=flags.prediction_field,
        references_field=flags.references_field,
        submission_field=flags.submission_field,
        references_separator=flags.references_separator,
        extract=None if flags.extract is None else extractor(flags.extract, values=flags.variant in OF_VALUES),
        confidence_field=flags.confidence_field,
        judge_field=flags.judge_field,
        filter=flags.filter,
        runs=flags.runs,
        run=flags.run,
        missing=flags.missing,
        extra=flags.extra,
        values=flags.variant in OF_VALUES,
    )


def _score(evaluation: Evaluation, flags: argparse.Namespace) -> None:
    """Score everything, and write the score of each answer into a folder, one for each of several submissions."""
    progress = _Progress()
    if flags.output_dir is None:
        for _, scored in evaluation.run():
            progress.add(len(scored))
        return
    from anls_metric.report.results import ResultsFile, name_folder

    with contextlib.ExitStack() as stack:
        files: dict[str, ResultsFile] = {}
        before: Submission | None = None
        for submission, scored in evaluation.run():
            if submission is not before:
                if submission.name in files:  # it is scored anew, as runs
                    files[submission.name].discard()
                folder = flags.output_dir
                if evaluation.holds_several:
                    folder = os.path.join(folder, name_folder(submission.name))
                files[submission.name] = stack.enter_context(ResultsFile(folder, submission.inputs, flags.force))
                before = submission
            files[submission.name].add(scored)
            progress.add(len(scored))
        for entry in evaluation.entries:
            files[entry.name].finish(entry, flags.answer_types)


def _print(flags: argparse.Namespace, evaluation: Evaluation, hints: Sequence[str]) -> None:
    entries = evaluation.entries
    if flags.score_only:
        print("\n".join(str(entry.scored_set.mean) for entry in entries))
        return
    if len(entries) == 1 and flags.format == "text" and not (flags.find or flags.suspects) and flags.columns is None:
        print(terminal.format_summary(entries[0], Numbers(flags.percent, flags.digits), flags.confusions))
    else:
        content = describe_evaluation(evaluation, hints, flags.regressions, flags.confusions, flags.suspects)
        _print_document(flags, evaluation, content)
    if flags.output_dir and flags.format == "text":
        folder = os.path.join(flags.output_dir, "*") if len(entries) > 1 else flags.output_dir
        print(f"\nper answer: {terminal.make_printable(os.path.join(folder, RESULTS_FILE))}")


def _print_document(flags: argparse.Namespace, evaluation: Evaluation, content: dict[str, Any]) -> None:
    from anls_metric.report import tables, terminal_comparison

    if flags.find:
        content["find"] = [match._asdict() for match in evaluation.find_variants(flags.find)]
    numbers, columns = Numbers(flags.percent, flags.digits), flags.columns or ()
    if flags.format == "json":
        print(tables.as_json(content))
    elif flags.format != "text":
        print(tables.FORMATS[flags.format](content, numbers, columns))
    elif flags.find:
        print(terminal.format_matches(flags.find, content["find"]))
    else:
        width = _measure_width() if sys.stdout.isatty() else None
        print(terminal_comparison.as_text(content, evaluation.scored_sets, width, numbers, columns))


def _open_page() -> None:
    try:
        from anls_metric.page import server
    except ImportError as error:
        raise ValueError(f"--demo needs {error.name}: pip install 'anls-metric[app]'") from None
    server.launch(server.build(), inbrowser=True)


class _Progress:
    """Prints a line on the terminal every few seconds: how many questions are scored, and how fast."""

    SECONDS = 5.0

    def __init__(self) -> None:
        self._count = 0
        self._start = self._printed = time.monotonic()

    def add(self, count: int) -> None:
        self._count += count
        now = time.monotonic()
        if now - self._printed >= self.SECONDS and sys.stderr and sys.stderr.isatty():
            self._printed = now
            speed = self._count / (now - self._start)
            print(f"{self._count:,} questions scored, {speed:,.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
