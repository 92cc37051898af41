"""The arguments that the commands share: the parser, the flags for reading files, and the format of errors."""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from anls_metric.core.choices import describe_unknown, find_similar_name
from anls_metric.core.variants import VARIANT_NAMES
from anls_metric.reading.errors import InputError
from anls_metric.reading.extract import EXTRACTORS, extractor
from anls_metric.reading.input_file import describe_missing_file
from anls_metric.reading.sources import AUTO, CHOICES, Reading
from anls_metric.report.numbers import MOST_DIGITS
from anls_metric.report.terminal import make_printable


class Parser(argparse.ArgumentParser):
    """A parser with errors of one line. Flags can be in any order, and each flag only once.

    Attributes:
        advice: what to do in place of an unknown flag, by its name without dashes.
    """

    advice: Mapping[str, str] = MappingProxyType({})

    def __init__(self, **options: Any) -> None:
        formatter = functools.partial(argparse.RawDescriptionHelpFormatter, width=measure_width() - 2)
        super().__init__(allow_abbrev=False, formatter_class=formatter, **options)
        self.register("action", None, _Once)

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ").replace(": expected one argument", " needs a value after it")
        flag, takes_no_value, _ = message.partition(": ignored explicit argument ")
        self.exit(2, format_error(f"{flag} takes no value" if takes_no_value else message))

    def add_group(self, title: str, example: str) -> argparse._ArgumentGroup:
        """Add a group to the help, with a command as an example."""
        return self.add_argument_group(title, f"example: {example}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(action, describe_unknown("value", value, action.choices))

    def parse_intermixed_args(self, *arguments: Any, **options: Any) -> Any:
        """Parse arguments in any order. The error for an unknown flag suggests a similar flag."""
        for word in arguments[0] if arguments else ():
            flag = word.partition("=")[0]
            meant = f"--{flag.lstrip(_DASHES)}"
            if flag.startswith(tuple(_DASHES)) and flag != meant and meant in self._option_string_actions:
                self.error(f"unknown flag {flag}: did you mean {meant}? --help lists all flags")
        flags, unknown = self.parse_known_intermixed_args(*arguments, **options)
        if unknown:
            flag = next((text for text in unknown if text.startswith("-")), "").partition("=")[0]
            if not flag:
                self.error(f"{unknown[0]:.60} is one argument too many: --help lists arguments and flags")
            known = [name.strip("-") for name in self._option_string_actions if name.startswith("--")]
            typed = flag.strip("-")
            meaning = _MEANINGS.get(typed)
            similar = meaning if meaning in known else find_similar_name(typed, known)
            advice = self.advice.get(typed) or (f"did you mean --{similar}?" if similar else "")
            self.error(" ".join(filter(None, [f"unknown flag {flag:.60}:", advice, "--help lists all flags"])))
        return flags


_DASHES = "-–—"  # word processors make a long dash of two short ones

# Flags of other programs -> ours.
_MEANINGS = {
    **dict.fromkeys(("predictions", "prediction", "pred", "preds", "prediction-file", "results"), "submission"),
    **dict.fromkeys(("references", "reference", "gt", "ground-truth", "labels", "answers-file"), "gold"),
    "o": "output",
}


def measure_width() -> int:
    """Measure the width of the terminal. argparse uses shutil for it, which imports compression libraries."""
    try:
        return int(os.environ["COLUMNS"]) if "COLUMNS" in os.environ else os.get_terminal_size().columns
    except (OSError, ValueError):
        return 80


class _Once(argparse.Action):
    """Refuses a second value for a flag, which would silently replace the first."""

    def __call__(self, parser: argparse.ArgumentParser, flags: Any, value: Any, option: str | None = None) -> None:
        given = flags.__dict__.setdefault("given", {})
        if self.dest in given:
            before = given[self.dest]
            twice = f"{option} is given twice: give it once"
            parser.error(twice if before == option else f"{before} and {option} mean the same: give one of them")
        given[self.dest] = option
        setattr(flags, self.dest, value)


def parse_folder(text: str) -> str:
    if text in ("", "-"):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a folder")
    return text


def parse_output_folder(text: str) -> str:
    return os.path.join(parse_folder(text), "")


_FLAGS_OF_ENDINGS = {".html": "--report", ".csv": "--answers", ".jsonl": "--answers", ".parquet": "--answers"}


def parse_output(text: str) -> str:
    """Parse the path of a folder, or of a file that ends in .json."""
    ending = os.path.splitext(text)[1]
    if ending.lower() not in ("", ".json") and not os.path.isdir(text):
        problem = f"{text!r} ends in {ending}: name a folder, or a file that ends in .json"
        flag = _FLAGS_OF_ENDINGS.get(ending.lower())
        raise argparse.ArgumentTypeError(f"{problem}; for this file, type {flag} {text}" if flag else problem)
    return parse_output_folder(text) if not ending or os.path.isdir(text) else text


def is_results_file(output: str) -> bool:
    """Whether a path from `parse_output` is a file. The path of a folder ends in a separator."""
    return not output.endswith(os.sep)


def parse_text(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty: give a value, or leave the flag out")
    return text


def parse_path(text: str) -> str:
    if text in ("", "-") or text.endswith(os.sep):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a file")
    return text


def parse_report(text: str) -> str:
    from anls_metric.report.results import refuse_report_path

    try:
        refuse_report_path(parse_path(text))
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def parse_share(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= 1:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")


def parse_count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def parse_megabytes(text: str) -> float:
    from anls_metric.report.images import MOST_MEGABYTES

    with contextlib.suppress(ValueError):
        if 0 <= float(text) <= MOST_MEGABYTES:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {MOST_MEGABYTES:,}")


def parse_digits(text: str) -> int:
    if text.isdecimal() and int(text) <= MOST_DIGITS:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {MOST_DIGITS}")


READING_FLAGS: Mapping[str, Mapping[str, Any]] = {
    "--prediction-field": {
        "metavar": "PATH",
        "help": "path of the prediction, such as output.text (default: detected); several, comma-separated, are "
        "submissions",
    },
    "--references-field": {"metavar": "PATH", "help": "path of the accepted answers (default: detected)"},
    "--id-field": {
        "metavar": "PATH",
        "help": "path of the question id (default: detected); 'none' matches by position",
    },
    "--gold-id-field": {
        "metavar": "PATH",
        "help": "path of the question id in the gold file, if it differs (default: detected)",
    },
    "--submission-field": {
        "metavar": "PATH",
        "help": "path of the model name, in a table of several models (default: detected)",
    },
    "--references-separator": {"metavar": "TEXT", "help": "text between accepted answers that share one string"},
    "--extract": {
        "metavar": "RULES",
        "help": "extract the answer from raw model output, with rules such as think,final (anls --help lists them)",
    },
    "--layout": {
        "default": AUTO,
        "metavar": "NAME",
        "help": "input layout (default: detected); anls layouts lists them",
    },
    "--filter": {"metavar": "NAME", "help": "which filter of a log of lm-evaluation-harness to read"},
    "--runs": {
        "choices": CHOICES["runs"],
        "help": "whether answers with the same id are runs of one model, or an error (default: detected)",
    },
    "--run": {"metavar": "NAME", "help": "which run to read, such as an epoch (default: all runs)"},
    "--missing": {
        "choices": CHOICES["missing"],
        "default": "error",
        "help": "what to do with unanswered questions: fail, or take them as wrong (default: error)",
    },
    "--extra": {
        "choices": CHOICES["extra"],
        "default": "error",
        "help": "what to do with answers to unknown questions: fail, or ignore them (default: error)",
    },
    "--confidence-field": {"metavar": "PATH", "help": "path of the model's confidence (default: detected)"},
    "--judge-field": {"metavar": "PATH", "help": "path of a judge's verdict (default: none)"},
}
"""The flags for reading files. Their names are the fields of `Reading`."""

_SHORT = {"--run": ("--epoch",)}


def add_reading_flags(parser: argparse._ActionsContainer, flags: Iterable[str]) -> None:
    """Add some of the flags for reading files to a parser, or to a group of its help."""
    for flag in flags:
        parser.add_argument(flag, *_SHORT.get(flag, ()), type=parse_text, **READING_FLAGS[flag])


def make_reading(flags: argparse.Namespace, values: bool = False) -> Reading:
    """Make the options for reading files from the flags of a command."""
    names = [flag.removeprefix("--").replace("-", "_") for flag in READING_FLAGS]
    options = {name: getattr(flags, name) for name in names if name != "extract" and hasattr(flags, name)}
    extract = None if flags.extract is None else extractor(flags.extract, values=values)
    return Reading(**options, extract=extract, values=values)


def format_error(message: str) -> str:
    """Format a message for the terminal. Control characters in names and texts of files are removed."""
    return f"anls: error: {make_printable(' '.join(message.split()))}\n"


def word_error(error: ValueError | OSError) -> str:
    if isinstance(error, InputError):
        return error.format_for("command")
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        path = str(error.filename)
        problem, advice = describe_missing_file(path)
        return ": ".join(filter(None, [path, problem, _advise_on_word(path, advice)]))
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _advise_on_word(word: str, advice: str) -> str:
    """Say what to do about a word that is no file: a value without its flag, or a subcommand that does not exist.

    Args:
        word: the word.
        advice: what to do about it as the path of a file; "" if nothing is known.
    """
    for flag, names in {"--extract": EXTRACTORS, "--variant": VARIANT_NAMES}.items():
        if word in names:
            return f"if it is for {flag}, join the names with commas"
    if word.lower() in ("true", "false"):
        return "a flag for yes or no takes no value: write --no- before its name for no, such as --no-ignore-case"
    one_value = "to score files, type anls GOLD SUBMISSION; a flag takes one value: join several names with commas"
    return advice or (one_value if word.replace("_", "").isalpha() else "")
