"""The command `anls`, which scores and compares files from the shell."""

from __future__ import annotations

import io
import json
import math
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from anls_metric.analysis.evaluation import Result, compare_with_baseline, find_scorers, pause_collector
from anls_metric.command.arguments import (
    Parser,
    add_flags,
    print_hints,
    print_note,
    read_flags,
    score_files,
    tolerate_closed_pipe,
)
from anls_metric.core.checks import find_similar_name
from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS
from anls_metric.core.printing import make_printable
from anls_metric.core.scorer import SCORERS
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.core.version import __version__
from anls_metric.document import REPORT
from anls_metric.gold import is_name
from anls_metric.messages import InputError, MissingFileError, make_error, reword
from anls_metric.options import LEAVES, Settings
from anls_metric.reading.reader import parse_input
from anls_metric.report import schema
from anls_metric.report.numbers import PLAIN, NumberFormat
from anls_metric.report.schema import Document, Headline, Run
from anls_metric.report.terminal import as_text, format_matches, format_read
from anls_metric.report.wording import word

SUBCOMMANDS = ("variants", "layouts", "datasets", "questions", "demo", "identify", "export", "check-submission")
"""The first words that are not files. For a file with such a name, write ``./export``."""

# Words that users try as subcommands -> what to type.
_INSTEAD = {
    **dict.fromkeys(("score", "evaluate", "eval", "run"), "anls GOLD SUBMISSION"),
    "compare": "anls GOLD SUBMISSION SUBMISSION",
    "report": "anls GOLD SUBMISSION --report report.html",
    "find": "anls GOLD SUBMISSION --find NUMBER",
    "explain": "anls GOLD SUBMISSION --worst 10",
    "help": "anls --help",
}

_EPILOG = """\
files: leaderboard files (RRC), logs of evaluation harnesses (anls layouts lists them), and your own tables as JSON,
JSON lines or CSV; after pip install 'anls-metric[files]' also Parquet, Arrow and Excel. - is standard input. A folder
or a quoted pattern is read as one file in several parts. NAME=FILE names a submission; files with the same name are
runs of one model. Instead of a gold file, type the name of public data, such as docvqa:val (anls datasets lists the
names), which are fetched once after pip install 'anls-metric[hub]'.
{names}
subcommands: anls variants, anls layouts, anls datasets, anls questions NAME, anls demo, anls identify MODULE:FUNCTION,
anls export rrc FILE, anls export hub FILE and anls check-submission FILE; each has its own --help. To score a file with
such a name, write ./export.
exit status: 0; 1 if an ANLS is below --fail-under, a submission is worse or may be with --fail-if-worse, or --find does
not find the number; 2 if the input cannot be scored.
"""


class _Parser(Parser):
    """The parser of files to score. Its help lists names, for which all scorers are loaded."""

    def format_help(self) -> str:
        self.epilog = _EPILOG.format(names=_list_names())
        return super().format_help()


def _list_names() -> str:
    """List the names of the scorers and the extraction steps."""
    scorers = SCORERS.values()
    names = {
        "variants": [scorer.name for scorer in scorers if scorer.scores_strings],
        "variants for structured answers": [scorer.name for scorer in scorers if scorer.reads_json],
        "benchmark metrics": [scorer.name for scorer in scorers if scorer.columns],
        "extraction steps": [*EXTRACTORS, *PROGRAMS],
    }
    lines = [f"{what}: {', '.join(each)}." for what, each in names.items()]
    return "\n".join(textwrap.fill(line, 120, break_on_hyphens=False) for line in lines)


def build_parser() -> Parser:
    """Build the parser. Its flags include those of PyPI anls, whose threshold limits the distance: see `pypi_anls`."""
    parser = _Parser(
        prog="anls",
        usage="%(prog)s [options] FILE [FILE ...]",
        description="Score document VQA answers with ANLS (Average Normalized Levenshtein Similarity).",
        add_help=False,
    )
    add_flags(parser, "a gold file, then submissions; or tables with predictions and references")
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
        that cannot be scored, 130 after a KeyboardInterrupt. (Ctrl-C ends the program `anls` by its signal.)
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if words and words[0] in SUBCOMMANDS:
            from anls_metric.command import subcommands

            return subcommands.run(words[0], words[1:])
        with pause_collector():
            return _score(words)
    except (ValueError, OSError, MemoryError) as error:
        print_note(f"anls: error: {make_printable(' '.join(_describe_error(error, words).split()))}")
        return 2
    except KeyboardInterrupt:
        print_note("anls: interrupted")
        return 130


def _describe_error(error: ValueError | OSError | MemoryError, words: Sequence[str]) -> str:
    """Describe an error in the words of the command, given the words that were typed."""
    if isinstance(error, MissingFileError):
        return error.message.text("command") + _guess_meaning(error.message.values["path"])
    if isinstance(error, InputError):
        return reword(error.message.text("command", shlex.join(["anls", *words])), "command")
    if isinstance(error, MemoryError):
        return "this needs more memory than there is: score fewer answers at a time"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return reword(str(error), "command")


def _guess_meaning(word: str) -> str:
    """Say what else a word that is not a file may be: a subcommand, or one of several steps after ``--extract``."""
    if word in EXTRACTORS:
        return "; write extraction steps with commas and without spaces, such as --extract think,final"
    similar = "" if "." in word or os.sep in word else find_similar_name(word, SUBCOMMANDS)
    return f"; the subcommand is anls {similar}" if similar else ""


def _score(words: Sequence[str]) -> int:
    """Score files, and return the exit status."""
    if words and words[0] in _INSTEAD and not os.path.exists(words[0]):
        raise ValueError(f"there is no subcommand {words[0]!r}: type {_INSTEAD[words[0]]}")
    flags = build_parser().parse_intermixed_args(words)
    settings = read_flags(flags)
    if settings.images and not settings.report:
        raise make_error("", "{use.images} works only with a report: add {use.report}")
    if settings.kind and not settings.plot:
        raise make_error("", "{use.kind} works only with {use.plot}: add {use.plot:figure.pdf}")
    if settings.format == "json" and (settings.percent or settings.digits is not None):
        raise make_error("", "JSON always contains fractions with all digits: leave out {use.percent} and {use.digits}")
    if settings.find and (settings.score_only or settings.format not in (None, "text", "json")):
        raise make_error("", "{use.find} prints what gives the number: leave out {use.score_only} and {use.format}")
    endings = _check_outputs(settings)
    needs = {name for name, path in {REPORT: settings.report, settings.kind or "forest": settings.plot}.items() if path}
    result, run = _score_files(flags.files, settings, needs)
    document = word(run, "command", NumberFormat(settings.percent, settings.digits))
    if settings.fail_if_worse and result.compared is None:
        raise make_error("", "{use.fail_if_worse} needs a comparison: pass the baseline before the other submissions")
    files = [*filter(None, [settings.gold]), *flags.files, *settings.submissions]
    inputs = [parse_input(word).path for word in files]
    if settings.output or settings.output_dir:
        _write_outputs(result, document, settings, inputs, endings)
    if settings.report:
        document = {**document, **_write_report(run, settings, inputs, words)}
    if settings.plot:
        _write_figure(document, settings, inputs)
    failures, notes = _check_limits(result, document)
    if settings.find:
        document |= _find(result, settings)
    with tolerate_closed_pipe():  # nobody who stops reading changes the exit status
        _print(result, document, settings)
    print_hints(document, settings)
    for line in failures + notes:
        print_note(make_printable(f"anls: {line}"))
    return int(bool(failures) or not all(match["exact"] for match in document.get("find", ())))


def _score_files(files: Sequence[str], settings: Settings, needs: Collection[str]) -> tuple[Result, Run]:
    """Score files. To find a number for lists and objects, score them as values without being asked."""
    try:
        return score_files(files, settings, needs)
    except InputError as error:
        if not settings.find or settings.variant or error.message.find_options().get("variant") != "anls_star":
            raise
    return score_files(files, replace(settings, variant="anls_star"), needs)


# Files


def _check_outputs(settings: Settings) -> list[str]:
    """Check the paths to write before anything is scored, and return the endings of the outputs; "" for a folder."""
    endings = [_check_output(path) for path in settings.output]
    if settings.output_rows and not {*endings} - {"", ".json"}:
        raise make_error("", "{use.output_rows} needs a file of rows: add {use.output:leaves.csv}")
    if settings.report:
        from anls_metric.report.html import check_path

        check_path(settings.report)
    if settings.plot:
        from anls_metric.report.figures import check_path as check_path_of_figure

        check_path_of_figure(settings.plot)
    return endings


def _check_output(path: str) -> str:
    """Return the ending of a path, "" for a folder. InputError: nothing is written in such a form."""
    from anls_metric.report.answers import WRITERS

    is_folder = os.path.isdir(path) or path.endswith(os.sep)
    ending = "" if is_folder else os.path.splitext(path)[1].lower()
    if path == "-" or ending not in ("", ".json", *WRITERS):
        sentence = "{use.output} must be a folder, or a file that ends in .json, .csv, .jsonl or .parquet"
        raise make_error(path, sentence + "; for .html, use {use.report}; for a LaTeX table, use --format latex > FILE")
    return ending


def _write_outputs(
    result: Result, document: Document, settings: Settings, inputs: Sequence[str], endings: Sequence[str]
) -> None:
    """Write the answers or the results, according to the endings of the paths."""
    from anls_metric.analysis.answer_rows import list_answers, list_leaves, list_rows
    from anls_metric.report.answers import WRITERS, write_answers, write_rows
    from anls_metric.report.results import FILE, check_names, name_folder, write_results
    from anls_metric.writing import check_output

    several = len(result.submissions) > 1
    places = [each if each == "-" or is_name(each) else os.path.abspath(each) for each in inputs]
    targets = [
        *zip(settings.output, endings),
        *([(os.path.join(settings.output_dir, ""), "")] if settings.output_dir else []),
    ]
    for path, ending in targets:  # all of them, before one is written
        if ending == ".json" and several:
            raise make_error(path, "one file cannot hold several submissions: pass a folder")
        if ending:
            check_output(path, [*inputs, *_list_sources(settings)])
        else:
            check_names(path, [scored.name for scored in result.submissions])
    for path, ending in targets:
        if ending in WRITERS and settings.output_rows == LEAVES:
            write_rows(path, list(list_leaves(result.submissions)))
        elif ending in WRITERS:
            rows = {scored.name: list_rows(scored) for scored in result.submissions}
            write_answers(path, list(list_answers(rows)), of_values=result.submissions[0].scorer.reads_json)
        else:
            for submission, scored in zip(document["submissions"], result.submissions):
                folder = name_folder(scored.name) if several else ""
                target = path if ending else os.path.join(path, folder, FILE)
                write_results(target, submission, list_rows(scored), result.signature, places)
        print_note(f"output: {make_printable(path)}")


def _write_report(run: Run, settings: Settings, inputs: Sequence[str], words: Sequence[str]) -> Headline:
    """Write the report, and return its headline, which is also part of the document."""
    from anls_metric.report.headline import describe_headline
    from anls_metric.report.html import write_report

    path = str(settings.report)
    write_report(path, run, [*inputs, *_list_sources(settings)], "command", shlex.join(["anls", *words]))
    print_note(f"report: {make_printable(path)}")
    return describe_headline(run)


def _write_figure(document: Document, settings: Settings, inputs: Sequence[str]) -> None:
    """Write the figure."""
    from anls_metric.report.figures import write_figure

    path, kind = str(settings.plot), settings.kind or "forest"
    write_figure(path, document, kind, [*inputs, *_list_sources(settings)])
    print_note(f"figure: {make_printable(path)}")


def _list_sources(settings: Settings) -> list[str]:
    """List the input files that options name."""
    return [path for path in (settings.corrections, settings.images) if path]


# Printing


def _print(result: Result, document: Document, settings: Settings) -> None:
    numbers, columns = NumberFormat(settings.percent, settings.digits), settings.columns
    if settings.score_only:
        for scored in result.submissions:
            print(scored.anls if numbers == PLAIN else numbers.format(scored.anls))
    elif settings.format == "json":
        print(json.dumps(document, indent=2))
    elif settings.format != "text":
        from anls_metric.report.tables import FORMATS

        print(FORMATS[settings.format](document, numbers, columns))
        if not settings.quiet:
            print_note(format_read(document))
    elif settings.find:
        print(format_matches(settings.find, document, VARIANTS))
    else:
        is_terminal = sys.stdout and sys.stdout.isatty()
        print(as_text(document, numbers, columns, shutil.get_terminal_size().columns if is_terminal else math.inf))


def _find(result: Result, settings: Settings) -> schema.Document:
    """Find what gives the user's number, for the JSON document."""
    from anls_metric.analysis.variant_search import search_variants

    scorers = find_scorers(settings)
    found = search_variants(str(settings.find), result.submissions, scorers if len(scorers) > 1 else ())
    matches = [match._asdict() for match in found.matches]
    return cast(schema.Document, {"find": matches, "find_chance": {"tried": found.tried, "share": found.share}})


# Exit status


def _check_limits(result: Result, document: Document) -> tuple[list[str], list[str]]:
    """Find scores under the limit, and submissions that are worse than the baseline; and what is only to be said.

    The document says which pairs were tested.
    """
    limit, pairs, notes = result.settings.fail_under or 0.0, [], []
    low = [scored for scored in result.submissions if scored.anls < limit]
    failures = [f"the ANLS of {scored.name} is {scored.anls:.6g}, under {limit}" for scored in low]
    if result.settings.fail_if_worse:
        pairs = list(compare_with_baseline(result))
        document["gate"] = [
            {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference,
                "p_value_adjusted": pair.p_value_adjusted,
                "verdict": pair.verdict,
                "doubt": doubt or None,
            }
            for pair, doubt in pairs
        ]
    for each, doubt in pairs:
        words = f"{each.second} is worse than {each.first}: {each.difference:+.4f}"
        if each.verdict == "worse":
            failures.append(f"{words}, p = {each.p_value_adjusted:.2g}")
        elif doubt and result.settings.allow_doubt:
            notes.append(f"{doubt} to tell whether {words}")
        elif doubt:
            failures.append(f"{doubt} to tell whether {words}; to pass all the same, add --allow-doubt")
    return failures, notes


if __name__ == "__main__":
    sys.exit(main())
