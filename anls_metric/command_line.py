"""The command `anls`: scores and compares files from the shell."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import (
    EVERY_VARIANT,
    Evaluation,
    fields_of,
    find_rule_columns,
    find_scorers,
    pause_collector,
)
from anls_metric.analysis.scored import ANSWER_TYPES
from anls_metric.arguments import (
    READING_FLAGS,
    Parser,
    add_reading_flags,
    format_error,
    is_results_file,
    make_reading,
    measure_width,
    parse_count,
    parse_digits,
    parse_folder,
    parse_megabytes,
    parse_output,
    parse_output_folder,
    parse_path,
    parse_report,
    parse_share,
    parse_text,
    word_error,
)
from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANTS, Variant
from anls_metric.core.version import __version__
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.submissions import Submission, find_submissions
from anls_metric.report import terminal
from anls_metric.report.document import RESULTS_FILE, describe_evaluation
from anls_metric.report.numbers import Numbers
from anls_metric.report.progress import Stopwatch

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Comparison, ComparisonSet
    from anls_metric.analysis.metrics import Metric
    from anls_metric.core.variants import Scorer
    from anls_metric.reading.corrections import Corrections
    from anls_metric.reading.rule_columns import RuleColumns
    from anls_metric.report.images import Images

SUBCOMMANDS = ("identify", "export", "check-submission", "variants", "layouts")
"""The first words that are not files. For a file with such a name, write ``./export``."""

FORMATS = ("text", "json", "markdown", "latex", "csv", "hub")


def _list_names(names: Iterable[str]) -> str:
    """Format names as lines of the help."""
    rest = list(names)
    return ",\n  ".join(", ".join(rest[start : start + 6]) for start in range(0, len(rest), 6))


_EPILOG = f"""\
files: leaderboard files (RRC), logs of evaluation harnesses (anls layouts lists them), and your own tables as JSON,
JSON lines or CSV; after pip install 'anls-metric[files]' also Parquet, Arrow and Excel. - is standard input. A folder
or a quoted pattern is read as one file in several parts. NAME=FILE names a submission; files with the same name are
runs of one model.
variants: {_list_names(VARIANTS)};
  for lists and nested values {_list_names(OF_VALUES)};
  rules of benchmarks {_list_names(OF_RULES)}.
extraction rules: {_list_names(EXTRACTORS)}.
subcommands: anls identify MODULE:FUNCTION, anls export rrc FILE, anls check-submission FILE, anls variants and anls
layouts; each has its own --help. To score a file with such a name, write ./export.
exit status: 0; 1 if an ANLS is below --fail-under, or a submission is worse with --fail-if-worse; 2 if the input cannot
be scored.
"""

_READING_FLAGS_FIRST = ("--prediction-field", "--references-field", "--extract", "--missing")


def build_parser() -> Parser:
    """Build the parser. Its flags include those of PyPI anls, where the threshold limits the distance: `pypi_anls`."""
    flags = Parser(
        prog="anls",
        usage="%(prog)s [options] FILE [FILE ...]",
        description="Score answers about documents with ANLS (Average Normalized Levenshtein Similarity).",
        epilog=_EPILOG,
        add_help=False,
    )
    _add_first_flags(flags)
    _add_input_flags(flags)
    _add_scoring_flags(flags)
    _add_comparison_flags(flags)
    _add_output_flags(flags)
    _add_report_flags(flags)
    _add_other_flags(flags)
    flags.advice = {"limit": "to score some questions, cut the gold file, and add --extra ignore;"}
    return flags


def _add_first_flags(flags: Parser) -> None:
    group = flags.add_group("most used options", "anls examples/gold_label.json examples/submission.json --worst 3")
    add = group.add_argument
    add(
        "files",
        metavar="FILE",
        nargs="*",
        help="a gold file, then submissions; or tables with predictions and accepted answers",
    )
    add(
        "--variant",
        type=parse_text,
        metavar="NAMES",
        help="scoring variant(s), comma-separated; the first gives the headline number; "
        f"'{EVERY_VARIANT}' scores with each (default: standard)",
    )
    add_reading_flags(group, _READING_FLAGS_FIRST)
    add("--by", action="append", default=[], metavar="FIELD", help="break the score down by a field of the gold file")
    add("--worst", type=parse_count, default=0, metavar="N", help="show the N worst answers (default: 0)")
    add("--format", choices=FORMATS, default=FORMATS[0], help=f"what to print (default: {FORMATS[0]})")
    add(
        "--output",
        type=parse_output,
        metavar="PATH",
        help=f"write the score of each answer to PATH/{RESULTS_FILE}, or to PATH if it ends in .json",
    )
    add("--report", type=parse_report, metavar="FILE.html", help="write an HTML report that opens in a browser")


def _add_input_flags(flags: Parser) -> None:
    group = flags.add_group("input", "anls --gold examples/gold_label.json --submission examples/submission.json")
    add = group.add_argument
    add("-g", "--gold", "--gold-label-file", metavar="FILE", help="the questions with their accepted answers")
    add("-s", "--submission", "--submission-file", action="append", default=[], metavar="FILE", help="answers to score")
    add_reading_flags(group, [flag for flag in READING_FLAGS if flag not in _READING_FLAGS_FIRST])
    add(
        "--field",
        action="append",
        default=[],
        metavar="COLUMN=PATH",
        help="for the rule of a benchmark: path of a column, such as answer_format=meta.format (default: its name)",
    )
    add(
        "--corrections",
        type=parse_text,
        metavar="FILE",
        help="a file with more accepted answers, or with questions to exclude",
    )


def _add_scoring_flags(flags: Parser) -> None:
    group = flags.add_group(
        "scoring", "anls examples/gold_label.json examples/submission.json --variant rrc --threshold 0.8"
    )
    add = group.add_argument
    add(
        "--threshold",
        "--anls-threshold",
        type=parse_share,
        metavar="T",
        help="least similarity that counts, from 0 to 1; less scores 0 (default: the variant's, mostly 0.5)",
    )
    add("--ignore-case", action=argparse.BooleanOptionalAction, help="whether to ignore case (default: the variant's)")
    add("--average", choices=("rows", "leaves"), help="for anls_star: average over rows or leaves (default: rows)")
    add(
        "--none-keys",
        choices=("counted", "ignored"),
        help="for anls_star: whether predicted keys without a value count as wrong (default: counted)",
    )
    add("--metrics", metavar="NAMES", help="more metrics, comma-separated: f1,cer,relaxed,exact,contains")
    add(
        "--right-at",
        type=parse_share,
        metavar="SCORE",
        help="the score from which an answer is right, for confidences and verdicts (default: 0.5)",
    )
    add(
        "--find",
        type=parse_text,
        metavar="NUMBER",
        help="find the variants and extraction rules that give a number, such as 84.75",
    )


def _add_comparison_flags(flags: Parser) -> None:
    models = " ".join(f"examples/compare/{name}.json" for name in ("gold", "base", "tuned"))
    group = flags.add_group("breakdown and comparison", f"anls {models} --baseline base --regressions 2")
    add = group.add_argument
    add("--answer-types", action="store_true", help="break down by answer_type, evidence and operation/reasoning")
    add("--by-key", action="store_true", help="for anls_star: break down by the keys of the values")
    add(
        "--baseline",
        type=parse_text,
        metavar="NAME",
        help="the submission to compare the others with (default: the first)",
    )
    add("--all-pairs", action="store_true", help="compare every pair of submissions")
    add(
        "--cluster-by",
        metavar="FIELD",
        help="field that says which questions share a document (default: detected); 'none' for no clusters",
    )
    add(
        "--regressions",
        type=parse_count,
        default=0,
        metavar="N",
        help="show N questions that a submission lost against the baseline, and N that it won (default: 0)",
    )
    add(
        "--confusions",
        type=parse_count,
        default=0,
        metavar="N",
        help="show the N most frequent confusions of characters (default: 0)",
    )
    add("--suspects", action="store_true", help="list questions where most submissions agree on a wrong answer")
    add("--fail-under", type=parse_share, metavar="SCORE", help="exit with status 1 if an ANLS is below SCORE")
    add(
        "--fail-if-worse",
        action="store_true",
        help="exit with status 1 if a submission is significantly worse than the baseline",
    )


def _add_output_flags(flags: Parser) -> None:
    group = flags.add_group("output", "anls examples/gold_label.json examples/submission.json --score-only --quiet")
    add = group.add_argument
    add(
        "--output-dir",
        type=parse_output_folder,
        dest="output",
        metavar="FOLDER",
        help="like --output, but PATH is always a folder",
    )
    add("--force", action="store_true", help="overwrite the results of other inputs")
    add(
        "--answers",
        type=parse_path,
        metavar="FILE",
        help="write each answer with its score to a table: FILE.csv, FILE.jsonl or FILE.parquet",
    )
    add("--score-only", action="store_true", help="print only the score, with all of its digits")
    add("--percent", action="store_true", help="print scores in percent: 83.57 instead of 0.8357")
    add("--digits", type=parse_digits, metavar="N", help="digits after the point (default: 4; 2 with --percent)")
    add("--columns", metavar="NAMES", help="columns of the table, comma-separated, such as anls,interval,difference")
    add("--quiet", action="store_true", help="print no hints, and no notes on how files were read")
    add("--hub-dataset", metavar="OWNER/NAME", help="for --format hub: the data set on the Hugging Face Hub")
    add("--hub-task", metavar="TASK", help="for --format hub: the task, as the data set's eval.yaml names it")
    add(
        "--hub-source",
        metavar="URL",
        help="for --format hub: logs or a paper that support the score (default: the variant's source)",
    )


def _add_report_flags(flags: Parser) -> None:
    models = " ".join(f"examples/compare/{name}.json" for name in ("gold", "base", "tuned"))
    group = flags.add_group("report", f"anls {models} --report report.html")
    group.add_argument(
        "--images",
        type=parse_folder,
        metavar="PLACE",
        help="page images to show beside the questions: a folder, a zip archive, or a Parquet file with a column of "
        "images (default: such a column of the FILEs)",
    )
    group.add_argument(
        "--images-limit",
        type=parse_megabytes,
        metavar="MB",
        help="limit of the size of all page images in the report (default: 24; 0: no images)",
    )


def _add_other_flags(flags: Parser) -> None:
    add = flags.add_group("other", "anls --list-variants").add_argument
    add("--list-layouts", action="store_true", help="list the file layouts that are recognized, and exit")
    add("--list-variants", action="store_true", help="list the variants of ANLS, and exit")
    add("--demo", action="store_true", help="open the page in the browser (needs pip install 'anls-metric[app]')")
    add("--version", action="version", version=f"%(prog)s {__version__}", help="print the version, and exit")
    add("-h", "--help", action="help", help="print this help, and exit")


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the words after the name of the command. The result has the function to call with it as ``command``."""
    words = list(arguments)
    if words and words[0] in SUBCOMMANDS:
        from anls_metric import subcommands

        parser, words = subcommands.build_parser(words[0]), words[1:]
    else:
        parser = build_parser()
        parser.set_defaults(command=_run)
        if words:
            _refuse_unknown_subcommand(parser, words[0])
    return parser.parse_intermixed_args(words)  # type: ignore[no-any-return]


# Words that users try in place of a flag, with what to type.
_NO_SUBCOMMANDS = {
    **dict.fromkeys(("score", "evaluate", "eval", "run"), "anls GOLD SUBMISSION"),
    "compare": "anls GOLD SUBMISSION SUBMISSION",
    "report": "anls GOLD SUBMISSION --report report.html",
    **{word: f"anls --{word}" for word in ("help", "version", "demo")},
}


def _refuse_unknown_subcommand(parser: Parser, word: str) -> None:
    """Refuse a first word that is not a file and looks like a misspelled subcommand."""
    if word.replace("-", "").replace("_", "").isalpha() and not word.startswith("-") and not os.path.exists(word):
        from anls_metric.core.choices import describe_unknown, find_similar_name

        if word in _NO_SUBCOMMANDS:
            parser.error(f"there is no subcommand {word!r}: type {_NO_SUBCOMMANDS[word]}")
        if find_similar_name(word, SUBCOMMANDS):
            parser.error(describe_unknown("subcommand", word, SUBCOMMANDS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after the name of the command; None takes the arguments of the process.

    Returns:
        The exit status: 0, 1 for a score under --fail-under or a worse submission with --fail-if-worse, 2 for input
        that cannot be scored, 130 after Ctrl-C.
    """
    flags = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with pause_collector():
            status: int = flags.command(flags)
        if sys.stdout:
            sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(format_error(word_error(error)), end="", file=sys.stderr)
        return 2
    except MemoryError:
        print(
            format_error("this needs more memory than there is: score fewer answers at a time"),
            end="",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("anls: interrupted", file=sys.stderr)
        return 130
    return status


def _run(flags: argparse.Namespace) -> int:
    """Run the command with these flags, and return the exit status."""
    if flags.demo:
        _open_page()
        return 0
    if flags.list_layouts:
        print(terminal.format_layouts())
        return 0
    if flags.list_variants:
        print(terminal.format_variants())
        return 0
    _check_printed(flags)
    if not (flags.files or flags.gold or flags.submission):
        raise ValueError("there are no files to score: type anls GOLD SUBMISSION, or anls TABLE; --help shows examples")
    _check_hub(flags)
    scorers, reading = _find_scorers(flags), make_reading(flags, values=flags.variant in OF_VALUES)
    reading = reading._replace(rule=_find_rule_columns(flags))
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
    with Stopwatch("scoring") as stopwatch:
        _score(evaluation, flags, stopwatch)
        hints = [hint.format_for("command") for hint in evaluation.hints]
    if not flags.quiet:
        for note in evaluation.notes:
            print(f"anls: {terminal.make_printable(note)}", file=sys.stderr)
        for hint in hints:
            print(f"hint: {terminal.make_printable(hint)}", file=sys.stderr)
    _check_comparison(flags, evaluation)
    if flags.right_at is not None and not any(entry.assessments for entry in evaluation.entries):
        raise ValueError(
            "--right-at is for confidences and verdicts, and the files have none: "
            "leave it out, or name a field with --confidence-field or --judge-field"
        )
    if flags.answers:
        _write_answers(flags.answers, evaluation)
    if flags.report:
        _write_report(flags.report, submissions, images, evaluation, hints)
        if images and images.note and not flags.quiet:
            print(f"anls: {terminal.make_printable(images.note)}", file=sys.stderr)
    worse = _find_worse(evaluation.compared) if flags.fail_if_worse and evaluation.compared else []
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


def _check_printed(flags: argparse.Namespace) -> None:
    """Refuse flags for what is not printed, and columns that do not exist."""
    of_tables = {
        "--percent": flags.percent,
        "--digits": flags.digits is not None,
        "--columns": flags.columns is not None,
    }
    others = {f"--format {flags.format}": flags.format != "text"}
    others |= {f"--{name}": getattr(flags, name) for name in ("find", "worst", "suspects", "confusions", "regressions")}
    for is_set, reason, refused in (
        (flags.score_only, "--score-only prints only the score, with all of its digits", of_tables | others),
        (flags.format == "json", "--format json prints numbers with all digits", of_tables),
    ):
        for flag in (flag for flag, is_given in refused.items() if is_set and is_given):
            raise ValueError(f"{reason}: leave out {flag}")
    if flags.columns is not None:
        from anls_metric.report.columns import find_columns

        find_columns(flags.columns)


def _check_hub(flags: argparse.Namespace) -> None:
    """Refuse --format hub without the flags that it needs, and these flags without it."""
    values = {"--hub-dataset": flags.hub_dataset, "--hub-task": flags.hub_task}
    missing = [flag for flag, value in values.items() if not value]
    if flags.format == "hub" and missing:
        raise ValueError(f"--format hub needs {' and '.join(values)}: add {' and '.join(missing)}")
    if flags.format != "hub" and any([*values.values(), flags.hub_source]):
        raise ValueError("--hub-dataset, --hub-task and --hub-source are for --format hub: add it")
    if flags.format == "hub" and flags.columns is not None:
        raise ValueError("--columns is for tables, and --format hub prints none: leave one out")


def _check_comparison(flags: argparse.Namespace, evaluation: Evaluation) -> None:
    """Refuse flags for a comparison if nothing was compared; a hint says why several submissions were not."""
    is_given = {"--fail-if-worse": flags.fail_if_worse}
    if not evaluation.holds_several:
        is_given |= {"--regressions": flags.regressions, "--all-pairs": flags.all_pairs}
    for flag in (flag for flag, is_set in is_given.items() if is_set and evaluation.compared is None):
        raise ValueError(
            f"{flag} needs a comparison, and nothing was compared: name the baseline before the others, "
            "like anls gold.json before.json after.json"
        )


def _find_worse(compared: ComparisonSet) -> list[Comparison]:
    """Find the comparisons in which a submission is worse than the baseline, or that have too few questions."""
    return [
        comparison
        for comparison in compared.comparisons
        if comparison.first == compared.baseline and comparison.verdict in ("worse", "too few questions")
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
    """Refuse a path for the answers that would fail after scoring."""
    from anls_metric.report.answers import find_writer
    from anls_metric.report.results import refuse_input

    find_writer(path)
    refuse_input(path, [path for submission in submissions for path in submission.inputs])


def _write_answers(path: str, evaluation: Evaluation) -> None:
    from anls_metric.report.answers import write_answers

    write_answers(path, evaluation.entries)
    print(f"answers: {terminal.make_printable(path)}", file=sys.stderr)


def _find_images(flags: argparse.Namespace, submissions: Sequence[Submission]) -> Images | None:
    """Find the images of the report. Wrong flags are refused here, before scoring."""
    if not flags.report:
        for flag, value in (("--images", flags.images), ("--images-limit", flags.images_limit)):
            if value is not None:
                raise ValueError(f"{flag} is for the report: add --report FILE.html")
        return None
    from anls_metric.report.images import Images, count_bytes
    from anls_metric.report.progress import StatusLine
    from anls_metric.report.results import refuse_input

    inputs = [path for submission in submissions for path in submission.inputs]
    refuse_input(flags.report, [*inputs, *([flags.images] if flags.images else [])])
    show = None if flags.quiet else StatusLine("report", sys.stderr).show
    return Images(flags.images, dict.fromkeys(inputs), count_bytes(flags.images_limit), show)


def _write_report(
    path: str,
    submissions: Sequence[Submission],
    images: Images | None,
    evaluation: Evaluation,
    hints: Sequence[str],
) -> None:
    if images:
        images.has_ids = evaluation.has_ids
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
    return find_scorers(names, flags.threshold, flags.ignore_case, flags.none_keys, flags.average)


def _find_rule_columns(flags: argparse.Namespace) -> RuleColumns | None:
    named = {}
    for pair in flags.field:
        column, equals, path = pair.partition("=")
        if not equals:
            raise ValueError(f"--field {pair}: write it as COLUMN=PATH")
        named[column] = path
    return find_rule_columns(flags.variant or "", named)


def _score(evaluation: Evaluation, flags: argparse.Namespace, stopwatch: Stopwatch) -> None:
    """Score everything, and write the score of each answer to a file for each submission."""
    if flags.output is None:
        for _, scored in evaluation.run():
            stopwatch.add(len(scored))
        return
    from anls_metric.report.results import ResultsFile, name_folder

    with contextlib.ExitStack() as stack:
        files: dict[str, ResultsFile] = {}
        before: Submission | None = None
        for submission, scored in evaluation.run():
            if submission is not before:
                if submission.name in files:  # the submission is scored again, as runs
                    files[submission.name].discard()
                name = name_folder(submission.name) if evaluation.holds_several else ""
                path = _name_results_file(flags.output, name)
                files[submission.name] = stack.enter_context(ResultsFile(path, submission.inputs, flags.force))
                before = submission
            files[submission.name].add(scored)
            stopwatch.add(len(scored))
        for entry in evaluation.entries:
            files[entry.name].finish(entry, flags.answer_types)


def _name_results_file(output: str, folder: str = "") -> str:
    """Name the file for the scores of a submission: in its own folder, if there are several submissions."""
    if not is_results_file(output):
        return os.path.join(output, folder, RESULTS_FILE)
    if folder:
        raise ValueError(f"--output {output} is one file, and there are several submissions: name a folder instead")
    return output


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
    if flags.output and flags.format == "text":
        path = _name_results_file(flags.output, "*" if len(entries) > 1 else "")
        print(f"\nper answer: {terminal.make_printable(path)}")


def _print_document(flags: argparse.Namespace, evaluation: Evaluation, content: dict[str, Any]) -> None:
    from anls_metric.report import tables, terminal_comparison

    if flags.find:
        content["find"] = [match._asdict() for match in evaluation.find_variants(flags.find)]
    numbers, columns = Numbers(flags.percent, flags.digits), flags.columns or ()
    if flags.format == "json":
        print(tables.as_json(content))
    elif flags.format == "hub":
        from anls_metric.report.hub import Benchmark, as_eval_results

        source = flags.hub_source or evaluation.entries[0].scored_set.scorer.source
        date = time.strftime("%Y-%m-%d", time.gmtime())
        print(as_eval_results(content, Benchmark(flags.hub_dataset, flags.hub_task, source, date), numbers))
    elif flags.format != "text":
        print(tables.FORMATS[flags.format](content, numbers, columns))
    elif flags.find:
        print(terminal.format_matches(flags.find, content["find"]))
    else:
        width = measure_width() if sys.stdout.isatty() else None
        print(terminal_comparison.as_text(content, evaluation.scored_sets, width, numbers, columns))


def _open_page() -> None:
    try:
        from anls_metric.page import server
    except ImportError as error:
        raise ValueError(f"--demo needs {error.name}: pip install 'anls-metric[app]'") from None
    server.launch(server.build(), inbrowser=True)


if __name__ == "__main__":
    sys.exit(main())
