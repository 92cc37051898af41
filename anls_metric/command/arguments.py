"""The command's parser, which takes its flags from the rows of `OPTIONS` and reads them into `Settings`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any, NoReturn

from anls_metric.analysis.evaluation import Result, evaluate
from anls_metric.analysis.parts import BY_NAME
from anls_metric.core.checks import find_similar_name
from anls_metric.core.strings.metrics import METRICS
from anls_metric.document import build_document
from anls_metric.gold import resolve
from anls_metric.options import (
    COMPARISON,
    INPUT,
    MOST,
    OPTIONS,
    OUTPUT,
    SCORING,
    Option,
    Settings,
    read_fields,
    read_paths,
    read_settings,
    read_switch,
)
from anls_metric.reading.inputs import parse_input
from anls_metric.report.schema import Run

GONE: Mapping[str, str] = {
    "run": "type --filter NAME",
    "epoch": "type --filter NAME",
    "confidence-field": "type --field confidence=PATH",
    "judge-field": "type --field judge=PATH",
    "right-at": "an answer is correct from a score of 0.5",
    "answer-types": "type --by answer_type,evidence,operation/reasoning",
    **dict.fromkeys(("regressions", "improvements"), "type --report FILE.html, which shows them, or --output FILE.csv"),
    "points": "the lost points are part of the output, unless you type --quiet",
    "confusions": "type --report FILE.html, which shows them",
    "suspects": "type --report FILE.html, which shows them",
    "force": "leave it out; results are overwritten",
    "answers": "type --output FILE.csv",
    "hub-dataset": "type anls export hub",
    "hub-task": "type anls export hub",
    "hub-source": "type anls export hub",
    "images-limit": "the report takes as many images as fit into 24 MB",
    "list-layouts": "type anls layouts",
    "list-variants": "type anls variants",
    "demo": "type anls demo",
    "limit": "to score some questions, cut the gold file, and add --extra ignore",
    **dict.fromkeys(("predictions", "prediction", "pred", "preds", "results"), "type --submission FILE"),
    **dict.fromkeys(("references", "reference", "gt", "ground-truth", "labels"), "type --gold FILE"),
    "q": "type --quiet",
    **{name: f"type --format {name}" for name in ("latex", "markdown", "csv", "json")},
    **dict.fromkeys(
        ("test", "significance", "bootstrap", "ci"), "leave it out; intervals and p-values are computed anyway"
    ),
    **dict.fromkeys(("check-submission FILE", "check-submission gold"), "for the questions, type --ids FILE"),
    "compare report": "keep the runs as one with -o all.anls.json, and type anls report all.anls.json -o report.html",
    "compare plot": "keep the runs as one with -o all.anls.json, and type anls plot all.anls.json -o figure.pdf",
    "export rrc ids": "pass the file with the questions first, as in anls export rrc GOLD FILE",
}
"""The advice for flags that were removed or belong to other programs, keyed by flag."""

_MODELS = "anls examples/compare/gold.json examples/compare/base.json examples/compare/tuned.json"
_ONE = "anls examples/gold_label.json examples/submission.json"
# A group of options -> the example in its help.
EXAMPLES = {
    MOST: f"{_ONE} --worst 3",
    INPUT: "anls --gold examples/gold_label.json --submission examples/submission.json",
    SCORING: f"{_ONE} --variant rrc --threshold 0.8",
    COMPARISON: f"{_MODELS} --baseline base",
    OUTPUT: f"{_ONE} --score-only --quiet",
}


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line, accepts arguments in any order, and rejects repeated flags."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        raise ValueError(message.removeprefix("argument "))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help or the version, but raise output errors, which argparse would ignore."""
        with tolerate_closed_pipe():
            print(message, end="", file=file or sys.stderr)

    def parse_intermixed_args(self, words: Sequence[str]) -> Any:  # type: ignore[override]
        """Parse arguments in any order, including files after ``--``. The error for an unknown flag suggests what to
        type instead.
        """
        place = words.index("--") if "--" in words else len(words)
        # argparse forgets where "--" stood. A path that begins with "./" is not a flag.
        files = [f"./{word}" if re.match("-.", word) else word for word in words[place + 1 :]]
        flags, unknown = self.parse_known_intermixed_args([*words[:place], *files])
        if unknown:
            flag, _, _ = unknown[0].partition("=")
            name = flag.strip("-")
            similar = find_similar_name(name, [flag.strip("-") for flag in self._option_string_actions])
            meant = f"did you mean --{similar}?" if similar else "--help lists arguments and flags"
            subcommand = self.prog.partition(" ")[2]  # lacks most of the flags
            meant = GONE.get(f"{subcommand} {name if name != flag else 'FILE'}".strip(), meant)
            self.error(f"unknown {'flag' if name != flag else 'argument'} {flag:.60}: {meant}")
        return flags


class _Once(argparse.Action):
    """Stores the value of a flag, and rejects a second value, which would silently replace the first."""

    def __call__(self, parser: argparse.ArgumentParser, flags: Any, value: Any, option: str | None = None) -> None:
        if option and getattr(flags, self.dest) is not None:
            parser.error(f"{option} is given twice: give it once")
        setattr(flags, self.dest, value)


def write_help(option: Option) -> str:
    """Return a one-line description of what an option does."""
    return option.help.format(metrics=",".join([*METRICS, *BY_NAME]))


def _describe_value(option: Option) -> dict[str, Any]:
    """Return the keyword arguments that describe the value of a flag to argparse."""
    if option.read is read_switch:
        return {"action": argparse.BooleanOptionalAction if option.default is None else "store_true"}
    return {"action": "append" if option.read in (read_paths, read_fields) else None, "metavar": option.metavar}


def add_flags(parser: Parser, files: str, names: Iterable[str] = OPTIONS) -> None:
    """Add the file arguments, with the given help, and the flags for the named options. If all options are added, the
    help also shows an example for each group of options.
    """
    parser.add_argument("files", metavar="FILE", nargs="*", help=files)
    has_examples = names is OPTIONS
    groups = {
        title: parser.add_argument_group(title, f"example: {example}" if has_examples else None)
        for title, example in EXAMPLES.items()
    }
    for name in names:
        option = OPTIONS[name]
        groups[option.group].add_argument(*option.flags, dest=name, help=write_help(option), **_describe_value(option))


def read_flags(flags: argparse.Namespace) -> Settings:
    """Create the settings from the parsed flags."""
    return read_settings(vars(flags), lambda name: OPTIONS[name].flags[0])


@contextmanager
def tolerate_closed_pipe() -> Iterator[None]:
    """Allow the reader of the output to stop early, as in ``| head``, without an error or a different exit status.

    Raises:
        OSError: the output cannot be printed, for example because the disk is full. The error names standard output,
            unless the error is about a file.
    """
    try:
        yield
        print(end="", flush=True)
    except OSError as error:
        if error.filename is not None:
            raise
        _silence(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, "standard output") from None


def print_note(text: str) -> None:
    """Print lines to standard error, but ignore a closed standard error, since the exit status is sufficient."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)


def _silence(stream: IO[str]) -> None:
    """Redirect an unwritable stream to the null device, so that Python does not report the failure again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def score_files(
    files: Sequence[str], settings: Settings, needs: Collection[str] = (), command: str = ""
) -> tuple[Result, Run]:
    """Score the files in the arguments and flags of a command, and return the result and its saved form, including the
    data that the requested views need.
    """
    gold = parse_input(settings.gold) if settings.gold else None
    marked = [parse_input(word)._replace(is_marked=True) for word in settings.submissions]
    result = evaluate(*resolve([*map(parse_input, files), *marked], gold, settings))
    images = None
    if settings.images:
        from anls_metric.analysis.images import Images

        images = Images(settings.images)
    return result, build_document(result, needs, images, command=command)
