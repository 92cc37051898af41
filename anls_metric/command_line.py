"""The command `anls`: scores and compares files from the shell."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.analysis.evaluation import Result, evaluate, find_scorers, pause_collector
from anls_metric.arguments import Parser, add_scoring_flags, describe_error, format_error, make_settings, measure_width
from anls_metric.core.variants import OF_RULES, OF_VALUES, VARIANTS
from anls_metric.core.version import __version__
from anls_metric.gold import resolve
from anls_metric.messages import make_error
from anls_metric.options import Settings
from anls_metric.reading.extract import EXTRACTORS
from anls_metric.reading.reader import Input, parse_input
from anls_metric.report.document import build_document
from anls_metric.report.numbers import PLAIN, Numbers
from anls_metric.report.progress import announce
from anls_metric.report.terminal import as_text, format_hints, format_matches, format_read
from anls_metric.report.texts import make_printable

SUBCOMMANDS = ("variants", "layouts", "datasets", "questions", "demo", "identify", "export", "check-submission")
"""The first words that are not files. For a file with such a name, write ``./export``."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""

# Words that users try as subcommands -> what to type.
_INSTEAD = {
    **dict.fromkeys(("score", "evaluate", "eval", "run"), "anls GOLD SUBMISSION"),
    "compare": "anls GOLD SUBMISSION SUBMISSION",
    "report": "anls GOLD SUBMISSION --report report.html",
    "help": "anls --help",
}


def _list_names(names: Iterable[str]) -> str:
    """Format names as lines of the help."""
    rest = list(names)
    return ",\n  ".join(", ".join(rest[start : start + 6]) for start in range(0, len(rest), 6))


_EPILOG = f"""\
files: leaderboard files (RRC), logs of evaluation harnesses (anls layouts lists them), and your own tables as JSON,
JSON lines or CSV; after pip install 'anls-metric[files]' also Parquet, Arrow and Excel. - is standard input. A folder
or a quoted pattern is read as one file in several parts. NAME=FILE names a submission; files with the same name are
runs of one model. Instead of a gold file, type the name of public data, such as docvqa:val (anls datasets lists the
names), which are fetched once after pip install 'anls-metric[hub]'.
variants: {_list_names(VARIANTS)};
  for lists and nested values {_list_names(OF_VALUES)};
  rules of benchmarks {_list_names(OF_RULES)}.
extraction rules: {_list_names(EXTRACTORS)}.
subcommands: anls variants, anls layouts, anls datasets, anls questions NAME, anls demo, anls identify MODULE:FUNCTION,
anls export rrc FILE, anls export hub FILE and anls check-submission FILE; each has its own --help. To score a file with
such a name, write ./export.
exit status: 0; 1 if an ANLS is below --fail-under, or a submission is worse with --fail-if-worse; 2 if the input cannot
be scored.
"""


def build_parser() -> Parser:
    """Build the parser. Its flags include those of PyPI anls, where the threshold limits the distance: `pypi_anls`."""
    parser = Parser(
        prog="anls",
        usage="%(prog)s [options] FILE [FILE ...]",
        description="Score document VQA answers with ANLS (Average Normalized Levenshtein Similarity).",
        epilog=_EPILOG,
        add_help=False,
    )
    add_scoring_flags(parser)
    other = parser.add_argument_group("other")
    other.add_argument(
        "--version", action="version", version=f"%(prog)s {__version__}", help="print the version, and exit"
    )
    other.add_argument("-h", "--help", action="help", help="print this help, and exit")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words after the name of the command; None takes the arguments of the process.

    Returns:
        The exit status: 0, 1 for a score under --fail-under or a worse submission with --fail-if-worse, 2 for input
        that cannot be scored, 130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        with pause_collector():
            if words and words[0] in SUBCOMMANDS:
                from anls_metric import subcommands

                status = subcommands.run(words[0], words[1:])
            else:
                status = _score(words)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError) as error:
        print(format_error(describe_error(error)), end="", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("anls: interrupted", file=sys.stderr, flush=True)
        return INTERRUPTED
    return status


def _score(words: Sequence[str]) -> int:
    """Score files, and return the exit status."""
    parser = build_parser()
    if words and words[0] in _INSTEAD and not os.path.exists(words[0]):
        parser.error(f"there is no subcommand {words[0]!r}: type {_INSTEAD[words[0]]}")
    flags = parser.parse_intermixed_args(words)
    settings = make_settings(parser, flags)
    if not (flags.files or settings.gold or settings.submissions):
        raise ValueError("there are no files to score: type anls GOLD SUBMISSION, or anls TABLE; --help shows examples")
    if settings.columns:
        from anls_metric.report.columns import find_columns

        find_columns(settings.columns)  # an unknown name is an error before scoring
    inputs = [parse_input(word) for word in (*flags.files, *settings.submissions)]
    paths = [each.path for each in inputs] + ([settings.gold] if settings.gold else [])
    names = {each.name or each.path for each in inputs if each.path != settings.gold}
    _check_outputs(settings, paths, len(names) > (1 if settings.gold else 2))
    inputs, gold, settings = resolve(
        inputs, parse_input(settings.gold) if settings.gold else None, settings, flags.variant
    )
    with announce("scoring ..."):
        result = evaluate(inputs, gold, settings)
    if settings.fail_if_worse and result.compared is None:
        raise make_error("", "{use.fail_if_worse} needs a comparison: pass the baseline before the others")
    document = build_document(result, "command")
    if not settings.quiet and document["hints"]:
        print(format_hints(document), file=sys.stderr)
    _write_outputs(result, settings, paths)
    if settings.report:
        from anls_metric.report.headline import describe_headline

        headline = describe_headline(result)
        document |= headline
        _write_report(result, settings, [*([gold] if gold else []), *inputs], headline)
    _print(result, document, settings)
    return _check_limits(result)


# Files


_ONE_FILE = "one file cannot hold several submissions: pass a folder"


def _check_outputs(settings: Settings, inputs: Sequence[str], several: bool) -> None:
    """Refuse a path that cannot be written, and an option without effect, before scoring."""
    if settings.images and not settings.report:
        raise make_error("", "{use.images} shows page images in a report: add {use.report}")
    if settings.format == "json" and (settings.percent or settings.digits is not None):
        raise make_error("", "JSON has every digit of each number: leave out {use.percent} and {use.digits}")
    if not (settings.output or settings.report):
        return
    from anls_metric.report.files import check_output, check_report_path

    for path in settings.output:
        if _extension(path) not in ("", ".json", ".csv", ".jsonl", ".parquet"):
            sentence = "{use.output} writes a folder, or a file that ends in .json, .csv, .jsonl or .parquet"
            raise make_error(path, sentence + "; {use.report} writes .html")
        if _extension(path) == ".json" and several:
            raise make_error(path, _ONE_FILE)
        if _extension(path):
            check_output(path, inputs)
    if settings.report:
        check_report_path(settings.report)
        check_output(settings.report, [*inputs, *([settings.images] if settings.images else [])])


def _extension(path: str) -> str:
    """Return the ending of a file, "" for a folder."""
    return "" if os.path.isdir(path) or path.endswith(os.sep) else os.path.splitext(path)[1].lower()


def _write_outputs(result: Result, settings: Settings, inputs: Sequence[str]) -> None:
    """Write the answers and the results."""
    if not (settings.output or settings.output_dir):
        return
    from anls_metric.report.answers import WRITERS, write_answers
    from anls_metric.report.results import FILE, name_folder, write_results

    several = len(result.submissions) > 1
    folders = [os.path.join(settings.output_dir, "")] if settings.output_dir else []
    for path in (*settings.output, *folders):
        extension = _extension(path)
        if extension in WRITERS:
            write_answers(path, result.submissions)
        elif extension and several:
            raise make_error(path, _ONE_FILE)
        else:
            for scored in result.submissions:
                file = os.path.join(path, name_folder(scored.name) if several else "", FILE)
                write_results(path if extension else file, scored, result.signature, inputs)
        print(f"output: {make_printable(path)}", file=sys.stderr)


def _write_report(result: Result, settings: Settings, inputs: Sequence[Input], headline: Mapping[str, Any]) -> None:
    from anls_metric.report.files import write_whole
    from anls_metric.report.html import as_html
    from anls_metric.report.images import Images

    path, questions = str(settings.report), result.submissions[0].questions
    images = Images(settings.images, inputs)
    source = os.path.basename(questions.name)
    write_whole(path, as_html(result, source, images, "command", headline=headline))
    print(f"report: {make_printable(path)}", file=sys.stderr)


# Printing


def _print(result: Result, document: dict[str, Any], settings: Settings) -> None:
    numbers, columns = Numbers(settings.percent, settings.digits), settings.columns
    if settings.find:
        from anls_metric.analysis.variant_search import find_variants

        scorers = find_scorers(settings)
        matches = find_variants(settings.find, result.submissions, scorers if len(scorers) > 1 else ())
        document["find"] = [match._asdict() for match in matches]
    if settings.score_only:
        for scored in result.submissions:
            print(scored.anls if numbers == PLAIN else numbers.format(scored.anls))
    elif settings.format != "text":
        from anls_metric.report.tables import FORMATS

        print(FORMATS[settings.format](document, numbers, columns))
        if settings.format != "json" and not settings.quiet:
            print(*map(make_printable, format_read(document).split("\n")), sep="\n", file=sys.stderr)
    elif settings.find:
        print(format_matches(settings.find, document["find"]))
    else:
        print(as_text(document, numbers, columns, measure_width() if sys.stdout and sys.stdout.isatty() else None))


# Exit status


def _check_limits(result: Result) -> int:
    """Report scores under the limit and submissions that are worse than the baseline; return the exit status."""
    settings, failures, doubts = result.settings, [], []
    for scored in result.submissions:
        if settings.fail_under is not None and scored.anls < settings.fail_under:
            failures.append(f"the ANLS of {scored.name} is {scored.anls:.6g}, under {settings.fail_under}")
    for each in result.compared.comparisons if settings.fail_if_worse else ():
        words = f"{each.second} is worse than {each.first}: {each.difference:+.4f}"
        if each.first == result.compared.baseline and each.verdict == "worse":
            failures.append(f"{words}, p = {each.p_value_adjusted:.2g}")
        elif each.first == result.compared.baseline and each.verdict == "too few questions":
            doubts.append(f"too few questions to tell whether {words}")
    for line in failures + doubts:
        print(make_printable(f"anls: {line}"), file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
