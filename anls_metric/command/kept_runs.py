"""The subcommands for saved runs, which are report, show, table, plot, gate and compare."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from itertools import chain

from anls_metric.command.arguments import Parser, add_flags, print_note, read_flags
from anls_metric.command.output import Limits, check_limits, print_document, print_hints, print_limits
from anls_metric.core.printing import make_printable
from anls_metric.options import OPTIONS, Settings
from anls_metric.reading.inputs import parse_input
from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Run
from anls_metric.report.wording import word
from anls_metric.run import check_path, explain_damage, is_run, read_run, write_run

NUMBERS = ("percent", "digits")
SHOWN = (*NUMBERS, "columns", "quiet")
TABLES = tuple(each for each in OPTIONS["format"].choices if each not in ("text", "json"))
LIMITS = ("baseline", "fail_under", "fail_if_worse", "allow_doubt")


def add_run(names: Sequence[str], target: str, parser: Parser) -> None:
    """Add the argument for the run, the flags for the options and, if the subcommand writes a file, the flag for its
    path.
    """
    add_flags(parser, "a run, as --output run.anls.json keeps it", names)
    if target:
        parser.add_argument("-o", "--output", dest="target", metavar=target, help="the file to write or overwrite")


def add_table(parser: Parser) -> None:
    """Add the arguments of the subcommand `table` to a parser."""
    add_run(SHOWN, "", parser)
    parser.add_argument("--format", metavar=f"{{{','.join(TABLES)}}}", help="what to print (default: markdown)")


def add_runs(parser: Parser) -> None:
    """Add the arguments of the subcommand `compare` to a parser."""
    add_flags(
        parser,
        "runs of the same questions; of two, the first is the baseline; NAME=RUN names one",
        (*SHOWN, "format", *LIMITS),
    )
    words = "also keep all submissions as one run, which every subcommand for runs takes"
    parser.add_argument("-o", "--output", dest="target", metavar="RUN.anls.json", help=words)


def _read_only(flags: argparse.Namespace, name: str, instead: str) -> tuple[str, Run]:
    """Read the run in the only file argument, and return its path and the run. Raises ValueError unless there is
    exactly one file argument.
    """
    if len(flags.files) != 1:
        advice = f"to score files, type {instead}"
        if flags.files and all(map(is_run, flags.files)):
            advice = f"to compare them, type anls compare {shlex.join(flags.files)}"
        raise ValueError(f"anls {name} takes one run, got {len(flags.files)}; {advice}")
    return flags.files[0], read_run(flags.files[0])


def _need_target(flags: argparse.Namespace, example: str) -> str:
    if flags.target is None:
        raise ValueError(f"the file to write is missing: add -o {example}")
    return str(flags.target)


def report(flags: argparse.Namespace) -> None:
    """Write the HTML report of a run."""
    from anls_metric.report.html import check_path, write_report

    path, run = _read_only(flags, "report", "anls GOLD SUBMISSION --report report.html")
    target = _need_target(flags, "report.html")
    check_path(target)
    with explain_damage(path):
        write_report(target, run, [path], "command")
    print_note(f"report: {make_printable(target)}")


def plot(flags: argparse.Namespace) -> None:
    """Draw a figure of a run."""
    from anls_metric.report.figures import check_path, complete, write_figure

    path, run = _read_only(flags, "plot", "anls GOLD SUBMISSION --plot figure.pdf")
    target, kind = _need_target(flags, "figure.pdf"), read_flags(flags).kind or "forest"
    check_path(target)
    with explain_damage(path):
        write_figure(target, complete(word(run, "command"), run, kind, "command"), kind, [path])
    print_note(f"figure: {make_printable(target)}")


def show(flags: argparse.Namespace) -> None:
    """Print a run as text or in another format."""
    path, run = _read_only(flags, "show", "anls GOLD SUBMISSION")
    _print(path, run, read_flags(flags))


def table(flags: argparse.Namespace) -> None:
    """Print the tables of a run."""
    flags.format = flags.format or "markdown"
    if flags.format not in TABLES:
        known = f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
        raise ValueError(f"--format must be {known}, got {flags.format!r}; for text or JSON, type anls show RUN")
    path, run = _read_only(flags, "table", f"anls GOLD SUBMISSION --format {flags.format}")
    _print(path, run, read_flags(flags))


def _print(path: str, run: Run, settings: Settings) -> None:
    with explain_damage(path):
        document = word(run, "command", NumberFormat(settings.percent, settings.digits))
        print_document(document, settings)
        print_hints(document, settings, f"anls show {shlex.quote(path)} --format json has all")


def gate(flags: argparse.Namespace) -> int:
    """Check the scores of a run against limits, and return the exit status. If the run has no comparisons with the
    baseline, its submissions are compared again.
    """
    from anls_metric.analysis.gate import choose_baseline, has_comparisons
    from anls_metric.compare_runs import compare_runs

    path, run = _read_only(flags, "gate", "anls GOLD SUBMISSION --fail-if-worse")
    settings = read_flags(flags)
    if settings.fail_under is None and not settings.fail_if_worse:
        raise ValueError("anls gate needs a limit: add --fail-if-worse or --fail-under SCORES")
    with explain_damage(path):
        if settings.fail_if_worse and not has_comparisons(run, choose_baseline(run, settings.baseline)):
            run = compare_runs({path: run}, settings.baseline, against_first=True)
        return print_limits(check_limits(run, settings))


def compare(flags: argparse.Namespace) -> int:
    """Compare the submissions of several runs, print the comparison, and return the exit status. With a target, also
    combine the runs into one.
    """
    from anls_metric.compare_runs import choose_model, compare_runs, list_models

    if len(flags.files) < 2:
        advice = "to score files, type anls GOLD SUBMISSION SUBMISSION"
        raise ValueError(f"anls compare takes several runs (the baseline first), got {len(flags.files)}; {advice}")
    settings = read_flags(flags)
    inputs = list(map(parse_input, flags.files))
    if flags.target:
        check_path(flags.target)
    names = [each.name or os.path.basename(each.path).partition(".anls.json")[0] for each in inputs]
    names = names if len({*names}) == len(names) else [each.name or each.path for each in inputs]
    runs = {name: read_run(each.path) for name, each in zip(names, inputs)}
    with explain_damage(", ".join(flags.files)):
        run = compare_runs(runs, settings.baseline, against_first=settings.fail_if_worse)
        models = list_models(runs) if settings.fail_if_worse and not settings.baseline else []
        pairs = [compare_runs(choose_model(runs, model), against_first=True) for model in models] or [run]
        checked = [check_limits(pair, settings) for pair in pairs]
        if flags.target:
            _combine(runs, [each.path for each in inputs], flags.target, settings)
        limits = Limits(*(list(chain.from_iterable(parts)) for parts in zip(*checked)))
        document = word(run, "command", NumberFormat(settings.percent, settings.digits))
        if limits.gates:
            document["gate"] = limits.gates
        print_document(document, settings)
        print_hints(document, settings, "--format json has all")
        return print_limits(limits)


def _combine(runs: Mapping[str, Run], paths: Sequence[str], target: str, settings: Settings) -> None:
    """Combine runs into one, and write it."""
    from anls_metric.combine_runs import combine_runs
    from anls_metric.writing import check_output

    check_output(target, paths)
    command = f"anls compare {shlex.join(paths)} --output {shlex.quote(target)}"
    write_run(target, combine_runs(runs, settings.baseline, settings.fail_if_worse, command))
    print_note(f"output: {make_printable(target)}")
