"""The subcommands of `anls`: identify, export, check-submission, variants and layouts."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from anls_metric.arguments import READING_FLAGS, Parser, add_reading_flags, make_reading, parse_path
from anls_metric.report.terminal import format_layouts, format_variants, make_printable

_NOT_FOR_EXPORT = ("--references-field", "--references-separator", "--confidence-field", "--judge-field", "--runs")


def build_parser(name: str) -> Parser:
    """Build the parser of a subcommand. Its results have an attribute ``command``, the function to call with them."""
    meaning, add_arguments, run = COMMANDS[name]
    parser = Parser(prog=f"anls {name}", description=f"{meaning[0].upper()}{meaning[1:]}.")
    add_arguments(parser)
    parser.set_defaults(command=run)
    return parser


def _add_identify(parser: Parser) -> None:
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help="the function, such as my_project.metrics:anls or metrics.py:anls; it takes a prediction and its accepted "
        "answers, or lists of them, in either order",
    )


def _identify(flags: argparse.Namespace) -> int:
    from anls_metric.analysis.identification import identify

    with contextlib.redirect_stdout(sys.stderr):  # for output that the function prints
        identification = identify(_load_function(flags.function))
    for line in str(identification).splitlines():
        print(make_printable(line))
    return 0 if identification.variants else 1


def _load_function(name: str) -> Callable[..., Any]:
    """Load a function, given ``MODULE:NAME`` with the name or the path of the module. ValueError: it does not exist."""
    path, colon, attributes = name.rpartition(":")
    if not (path and colon and attributes):
        raise ValueError(f"{name!r} is not a function: write MODULE:FUNCTION, such as my_project.metrics:anls")
    try:
        value = _load_module(path)
        for attribute in attributes.split("."):
            value = getattr(value, attribute)
    except (Exception, SystemExit) as error:
        raise ValueError(f"cannot load {name}: {type(error).__name__}: {error}") from None
    if not callable(value):
        raise ValueError(f"{name} is not a function: it is of type {type(value).__name__}")
    function: Callable[..., Any] = value
    return function


def _load_module(path: str) -> Any:
    folder = os.path.dirname(path) if path.endswith(".py") else ""
    sys.path.insert(0, os.path.abspath(folder))
    if not path.endswith(".py"):
        return importlib.import_module(path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _parse_leaderboard(text: str) -> str:
    if text != "rrc":
        raise argparse.ArgumentTypeError(f"unknown leaderboard {text!r}: type anls export rrc FILE")
    return text


def _parse_json_file(text: str) -> str:
    if not parse_path(text).lower().endswith(".json"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .json, and the leaderboard takes only JSON")
    return text


def _add_export(parser: Parser) -> None:
    parser.add_argument(
        "format",
        type=_parse_leaderboard,
        choices=("rrc",),
        help="the leaderboard: rrc, the Robust Reading Competition",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="answers; or a file with the questions, then answers")
    parser.add_argument(
        "-o",
        "--output",
        type=_parse_json_file,
        metavar="FILE.json",
        help="the file to write or overwrite (default: print it)",
    )
    add_reading_flags(parser, [flag for flag in READING_FLAGS if flag not in _NOT_FOR_EXPORT])
    parser.advice = dict.fromkeys(("g", "gold"), "name the file with the questions before the answers;")


def _export(flags: argparse.Namespace) -> int:
    from anls_metric.leaderboard import describe_raw_output, export
    from anls_metric.report.results import refuse_input, write_whole

    if len(flags.files) > 2:
        raise ValueError(
            "too many files: anls export takes one file of answers, or the questions and then one file of answers"
        )
    *questions, answers = flags.files
    if flags.output:
        refuse_input(flags.output, flags.files)
    exported = export(answers, questions[0] if questions else None, make_reading(flags))
    text = "[\n" + ",\n".join(json.dumps(answer, ensure_ascii=False) for answer in exported.answers) + "\n]\n"
    for note in exported.notes:
        print(f"anls: {make_printable(note)}", file=sys.stderr)
    raw, rules = describe_raw_output(exported.answers)
    if raw:
        print(f"hint: {raw}: extract the answers with --extract {rules}", file=sys.stderr)
    if flags.output:
        write_whole(flags.output, text)
        print(f"{len(exported.answers):,} answers: {make_printable(flags.output)}", file=sys.stderr)
    else:
        print(text, end="")
    return 0


def _add_check_submission(parser: Parser) -> None:
    parser.add_argument("file", metavar="SUBMISSION", help="the file for the Robust Reading Competition")
    parser.add_argument(
        "--ids",
        metavar="FILE",
        help="the questions: a gold file with or without accepted answers, a JSON list of ids, or a .txt with an id on "
        "each line (default: ids are not checked)",
    )
    parser.advice = dict.fromkeys(("g", "gold"), "did you mean --ids?")


def _check_submission(flags: argparse.Namespace) -> int:
    from anls_metric.leaderboard import advise_export, find_defects, read_ids, read_text

    ids = None if flags.ids is None else read_ids(flags.ids)
    if flags.ids is not None and os.path.samefile(flags.ids, flags.file):
        problem = f"{flags.file} is both the submission and the questions"
        raise ValueError(f"{problem}: name the file of the questions after --ids")
    text, defect = read_text(flags.file)
    defects = [defect] if defect else find_defects(text, ids)
    for defect in defects:
        print(f"{make_printable(flags.file)}: {make_printable(defect)}")
    if not defects:
        answered = "" if ids is None else f": all {len(ids):,} questions are answered"
        asked = answered or "; to check that all questions are answered, add --ids FILE"
        print(f"{make_printable(flags.file)}: no defects{asked}")
    advice = advise_export(flags.file, flags.ids, text, defects)
    if advice:
        print(f"hint: {make_printable(advice)}", file=sys.stderr)
    return 1 if defects else 0


def _add_nothing(parser: Parser) -> None:
    pass


def _print_variants(flags: argparse.Namespace) -> int:
    print(format_variants())
    return 0


def _print_layouts(flags: argparse.Namespace) -> int:
    print(format_layouts())
    return 0


Command = tuple[str, Callable[[Parser], None], Callable[[argparse.Namespace], int]]

# A subcommand -> its description, the function that adds its arguments, and the function that runs it.
COMMANDS: Mapping[str, Command] = {
    "identify": ("find out which variant of ANLS a Python function computes", _add_identify, _identify),
    "export": ("write answers in the format of a leaderboard", _add_export, _export),
    "check-submission": (
        "find what the leaderboard would refuse",
        _add_check_submission,
        _check_submission,
    ),
    "variants": ("list the variants of ANLS", _add_nothing, _print_variants),
    "layouts": ("list the file layouts that are recognized", _add_nothing, _print_layouts),
}
