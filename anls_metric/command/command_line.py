"""The `anls` command, which scores and compares files from the shell."""

from __future__ import annotations

import io
import os
import shlex
import sys
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from anls_metric.analysis.evaluation import Result, find_scorers, pause_collector
from anls_metric.command.arguments import (
    Parser,
    add_flags,
    print_note,
    read_flags,
    score_files,
    tolerate_closed_pipe,
)
from anls_metric.command.output import check_limits, print_document, print_hints, print_limits
from anls_metric.core.checks import find_similar_name
from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS
from anls_metric.core.printing import make_printable
from anls_metric.core.scorer import SCORERS
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.core.version import __version__
from anls_metric.document import EVERYTHING, REPORT
from anls_metric.gold import is_name
from anls_metric.messages import InputError, MissingFileError, make_error, reword
from anls_metric.options import LEAVES, RUNS, Settings
from anls_metric.reading.inputs import parse_input
from anls_metric.report import schema
from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Document, Headline, Run
from anls_metric.report.terminal import format_matches
from anls_metric.report.wording import word

SUBCOMMANDS = (
    *("report", "show", "table", "plot", "gate", "compare"),
    *("variants", "layouts", "datasets", "questions", "demo", "identify", "export", "check-submission"),
)
"""The subcommands. To score a file with the name of a subcommand, write ``./export``."""

# Words that users try as subcommands -> what to type instead.
_INSTEAD = {
    **dict.fromkeys(("score", "evaluate", "eval", "run"), "anls GOLD SUBMISSION"),
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
runs: --output run.anls.json keeps a run. anls report RUN -o report.html, anls show RUN, anls table RUN --format latex,
anls plot RUN -o figure.pdf and anls gate RUN --fail-if-worse show it; anls compare RUN RUN compares two.
subcommands: anls variants, anls layouts, anls datasets, anls questions NAME, anls demo, anls identify MODULE:FUNCTION,
anls export rrc FILE, anls export hub FILE and anls check-submission FILE; each has its own --help. To score a file with
such a name, write ./export.
exit status: 0; 1 if an ANLS is below --fail-under, a submission is worse or may be with --fail-if-worse, or --find does
not find the number; 2 if the input cannot be scored.
"""


class _Parser(Parser):
    """The parser for files to score, whose help lists the names of all scorers."""

    def format_help(self) -> str:
        self.epilog = _EPILOG.format(names=_list_names())
        return super().format_help()


def _list_names() -> str:
    """List the names of the scorers and the extraction steps."""
    scorers = SCORERS.values()
    headings = {"text": "variants", "value": "variants for structured answers", "row": "benchmark metrics"}
    names = {
        **{heading: [each.name for each in scorers if each.form == form] for form, heading in headings.items()},
        "extraction steps": [*EXTRACTORS, *PROGRAMS],
    }
    lines = [f"{what}: {', '.join(each)}." for what, each in names.items()]
    return "\n".join(textwrap.fill(line, 120, break_on_hyphens=False) for line in lines)


def build_parser() -> Parser:
    """Build the parser, which also accepts the flags of PyPI's anls, whose threshold limits the distance (see
    `pypi_anls`).
    """
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
        arguments: the words after the name of the command, or None for the arguments of the process.

    Returns:
        The exit status, which is 0 for success, 1 if a check such as --fail-under or --fail-if-worse fails, 2 if the
        input cannot be scored, and 130 after a KeyboardInterrupt. (In the installed program `anls`, Ctrl-C ends the
        process by its signal instead.)
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
    """Describe an error in the command's terms, given the words that were typed."""
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
    """Return a hint if a missing file may be a subcommand or an extraction step after ``--extract``, or ""."""
    if word in EXTRACTORS:
        return "; write extraction steps with commas and without spaces, such as --extract think,final"
    similar = "" if "." in word or os.sep in word else find_similar_name(word, SUBCOMMANDS)
    return f"; the subcommand is anls {similar}" if similar else ""


def _score(words: Sequence[str]) -> int:
    """Score files and return the exit status."""
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
    kept = any(ending in RUNS for ending in endings)
    asked = {REPORT: settings.report, settings.kind or "forest": settings.plot, EVERYTHING: kept}
    needs = {need for need, is_needed in asked.items() if is_needed}
    result, run = _score_files(flags.files, settings, needs, shlex.join(["anls", *words]))
    numbers = NumberFormat(settings.percent, settings.digits)
    document = word(run, "command", numbers)
    limits = check_limits(run, settings)
    files = [*filter(None, [settings.gold]), *flags.files, *settings.submissions]
    inputs = [parse_input(word).path for word in files]
    if settings.output or settings.output_dir:
        _write_outputs(result, run, settings, inputs, endings)
    if settings.report:
        document = {**document, **_write_report(run, settings, inputs)}
    if settings.plot:
        document = _write_figure(document, run, settings, inputs)
    if limits.gates:
        document["gate"] = limits.gates
    if settings.find:
        document |= _find(result, settings)
    with tolerate_closed_pipe():  # a reader who stops early does not change the exit status
        if settings.find and not settings.score_only and settings.format == "text":
            print(format_matches(settings.find, document, VARIANTS))
        else:
            print_document(document, settings)
    print_hints(document, settings)
    return print_limits(limits) or int(not all(match["exact"] for match in document.get("find", ())))


def _score_files(files: Sequence[str], settings: Settings, needs: Collection[str], command: str) -> tuple[Result, Run]:
    """Score files. With ``--find``, if the answers are lists or objects and no variant is given, use the variant for
    structured answers.
    """
    try:
        return score_files(files, settings, needs, command)
    except InputError as error:
        if not settings.find or settings.variant or error.message.find_options().get("variant") != "anls_star":
            raise
    return score_files(files, replace(settings, variant="anls_star"), needs, command)


# Files


def _check_outputs(settings: Settings) -> list[str]:
    """Check all output paths before any file is scored, and return the file extension of each `--output` path, or ""
    for a folder.
    """
    endings = [_check_output(path) for path in settings.output]
    if settings.output_rows and not {*endings} - {"", ".json", *RUNS}:
        raise make_error("", "{use.output_rows} needs a file to write the rows to: add {use.output:leaves.csv}")
    if settings.report:
        from anls_metric.report.html import check_path

        check_path(settings.report)
    if settings.plot:
        from anls_metric.report.figures import check_path as check_path_of_figure

        check_path_of_figure(settings.plot)
    return endings


def _check_output(path: str) -> str:
    """Return the file extension of an output path, or "" for a folder. Raises InputError if the format is not
    supported.
    """
    from anls_metric.report.answers import WRITERS

    is_folder = os.path.isdir(path) or path.endswith(os.sep)
    run = next((ending for ending in RUNS if path.lower().endswith(ending)), "")
    ending = "" if is_folder else run or os.path.splitext(path)[1].lower()
    if path == "-" or ending not in ("", ".json", *RUNS, *WRITERS):
        sentence = "{use.output} must be a folder, or a file that ends in .json, .csv, .jsonl, .parquet or .anls.json"
        raise make_error(path, sentence + "; for .html, use {use.report}; for a LaTeX table, use --format latex > FILE")
    return ending


def _write_outputs(result: Result, run: Run, settings: Settings, inputs: Sequence[str], endings: Sequence[str]) -> None:
    """Write the run, the answers or the results to each path, depending on its file extension."""
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
        if ending in RUNS:
            from anls_metric.run import write_run

            write_run(path, run)
        elif ending in WRITERS and settings.output_rows == LEAVES:
            write_rows(path, list(list_leaves(result.submissions)))
        elif ending in WRITERS:
            rows = {scored.name: list_rows(scored) for scored in result.submissions}
            write_answers(path, list(list_answers(rows)), of_values=result.submissions[0].scorer.reads_json)
        else:
            for submission, scored in zip(run["submissions"], result.submissions):
                folder = name_folder(scored.name) if several else ""
                target = path if ending else os.path.join(path, folder, FILE)
                write_results(target, submission, list_rows(scored), result.signature, places)
        print_note(f"output: {make_printable(path)}")


def _write_report(run: Run, settings: Settings, inputs: Sequence[str]) -> Headline:
    """Write the report and return its headline, which is also part of the document."""
    from anls_metric.report.headline import describe_headline
    from anls_metric.report.html import write_report

    path = str(settings.report)
    write_report(path, run, [*inputs, *_list_sources(settings)], "command")
    print_note(f"report: {make_printable(path)}")
    return describe_headline(run)


def _write_figure(document: Document, run: Run, settings: Settings, inputs: Sequence[str]) -> Document:
    """Write the figure and return the document with the figure's data."""
    from anls_metric.report.figures import complete, write_figure

    path, kind = str(settings.plot), settings.kind or "forest"
    document = complete(document, run, kind, "command")
    write_figure(path, document, kind, [*inputs, *_list_sources(settings)])
    print_note(f"figure: {make_printable(path)}")
    return document


def _list_sources(settings: Settings) -> list[str]:
    """List the input files that are named by options."""
    return [path for path in (settings.corrections, settings.images) if path]


def _find(result: Result, settings: Settings) -> schema.Document:
    """Find the settings that produce the user's number, as fields for the JSON document."""
    from anls_metric.analysis.variant_search import search_variants

    scorers = find_scorers(settings)
    found = search_variants(str(settings.find), result.submissions, scorers if len(scorers) > 1 else ())
    matches = [match._asdict() for match in found.matches]
    return cast(schema.Document, {"find": matches, "find_chance": {"tried": found.tried, "share": found.share}})


if __name__ == "__main__":
    sys.exit(main())
