"""The options of all front ends: one table, of which flags, keyword arguments, the page and the docs are made.

To add an option, add a row to `Settings`, and, if Python has it, a line to the type `Options` in `api.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from anls_metric.core.choices import find_similar_name

MOST, INPUT, SCORING, COMPARISON, OUTPUT = "most used options", "input", "scoring", "comparison", "output"
"""The groups of options in the help of the command."""

MAX_DIGITS = 16

PARTIAL_CREDIT = "partial_credit"
"""The value of ``metrics`` that asks for the loss by format and the credit for wrong numbers."""

NONE = "none"
"""The value of an option for a field that asks for no such field."""


# Each function reads the word after a flag, or checks the value of a keyword argument. The text of its error says what
# the value must be.


def read_string(value: Any) -> str:
    """Read a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError("a string that is not empty")
    return value


def read_strings(value: Any) -> tuple[str, ...]:
    """Read strings: a list of them, or one string with commas between them."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not items or not all(isinstance(item, str) and item for item in items):
        raise ValueError("a string, or a list of strings, that are not empty")
    return tuple(item.strip() for item in items)


def read_paths(value: Any) -> tuple[str, ...]:
    """Read the paths of files: a list of them, or one path."""
    return tuple(map(read_path, value if isinstance(value, (list, tuple)) else [value]))


def read_path(value: Any) -> str:
    """Read the path of a file."""
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    if not isinstance(value, str) or not value:
        raise ValueError("the path of a file")
    return value


def read_share(value: Any) -> float:
    """Read a number from 0 to 1."""
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise ValueError("a number from 0 to 1")
    return number + 0.0  # 0.0 for -0.0


def read_count(value: Any) -> int:
    """Read a whole number from 0."""
    if isinstance(value, bool) or not str(value).isdecimal():
        raise ValueError("a whole number from 0")
    return int(value)


def read_digits(value: Any) -> int:
    """Read a number of digits."""
    if read_count(value) > MAX_DIGITS:
        raise ValueError(f"a whole number from 0 to {MAX_DIGITS}")
    return int(value)


def read_switch(value: Any) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool):
        raise ValueError("True or False")
    return value


def read_fields(value: Any) -> dict[str, str]:
    """Read paths by the names of roles: a dict, or words like ``confidence=meta.p``."""
    words = [value] if isinstance(value, str) else value
    named = dict(words.items() if isinstance(words, Mapping) else (word.partition("=")[::2] for word in words))
    if not all(isinstance(text, str) and text for pair in named.items() for text in pair):
        raise ValueError("NAME=PATH, such as confidence=meta.p")
    return named


class Option(NamedTuple):
    """A row of the table of options.

    Attributes:
        name: the name in Python, and of the argument of an endpoint.
        flags: the flags of the command, the usual one first.
        label: the label on the page.
        help: what the option does, in one line.
        group: its group in the help of the command.
        read: reads and checks a value.
        default: the value without the option.
        choices: the possible values, if there are few.
        metavar: what the help shows for the value.
        is_repeated: whether the flag can be given several times.
        is_for_command: whether only the command has it.
    """

    name: str
    flags: tuple[str, ...]
    label: str
    help: str
    group: str
    read: Callable[[Any], Any]
    default: Any
    choices: tuple[str, ...]
    metavar: str
    is_repeated: bool
    is_for_command: bool


def _option(
    flag: str,
    help: str,
    group: str,
    *,
    read: Callable[[Any], Any] = read_string,
    default: Any = None,
    choices: tuple[str, ...] = (),
    metavar: str = "NAME",
    label: str = "",
    is_repeated: bool = False,
    is_for_command: bool = False,
) -> Any:
    """Make a row of `Settings`. Several flags are separated by spaces."""
    row = Option(
        "", tuple(flag.split()), label, help, group, read, default, choices, metavar, is_repeated, is_for_command
    )
    return field(default=default, metadata={"option": row})


@dataclass(frozen=True, eq=False)
class Settings:
    """The values of all options. The fields are the table: a row for each option, in the order of the help."""

    variant: str = _option(
        "--variant",
        "scoring variant(s), comma-separated; the first gives the headline number; 'all' scores with each "
        "(default: standard)",
        MOST,
        default="standard",
        read=lambda value: ",".join(read_strings(value)),
        metavar="NAMES",
        label="Variant",
    )
    prediction: tuple[str, ...] | None = _option(
        "--prediction-field",
        "path of the prediction, such as output.text (default: a common field name); several, comma-separated, are "
        "submissions",
        MOST,
        read=read_strings,
        metavar="PATH",
        label="Field of predictions",
    )
    references: str | None = _option(
        "--references-field",
        "path of the accepted answers (default: a common field name)",
        MOST,
        metavar="PATH",
        label="Field of accepted answers",
    )
    extract: tuple[str, ...] | None = _option(
        "--extract",
        "extract the answers from raw model output, with rules such as think,final; anls --help lists them",
        MOST,
        read=read_strings,
        metavar="RULES",
        label="Extract answers from raw model output",
    )
    missing: str = _option(
        "--missing",
        "what to do with unanswered questions: fail, or score 0 (default: error)",
        MOST,
        default="error",
        choices=("error", "zero"),
        label="Unanswered questions",
    )
    by: tuple[str, ...] = _option(
        "--by",
        "break the score down by fields of the questions, comma-separated",
        MOST,
        default=(),
        read=read_strings,
        metavar="FIELDS",
        label="Break down by",
    )
    worst: int = _option(
        "--worst", "show the N worst answers (default: 0)", MOST, default=0, read=read_count, metavar="N"
    )
    format: str = _option(
        "--format",
        "what to print (default: text)",
        MOST,
        default="text",
        choices=("text", "json", "markdown", "latex", "csv"),
        is_for_command=True,
    )
    output: tuple[str, ...] = _option(
        "--output",
        "write a row for each answer to PATH.csv, PATH.jsonl or PATH.parquet, or the results of each submission to "
        "PATH.json or a folder",
        MOST,
        default=(),
        read=read_paths,
        metavar="PATH",
        is_repeated=True,
        is_for_command=True,
    )
    report: str | None = _option(
        "--report",
        "write an HTML report that opens in a browser",
        MOST,
        read=read_path,
        metavar="FILE.html",
        is_for_command=True,
    )
    gold: str | None = _option(
        "-g --gold --gold-label-file",
        "the questions with their accepted answers: a file, or a name such as docvqa:val",
        INPUT,
        metavar="FILE",
        label="Gold file",
        is_for_command=True,
    )
    submissions: tuple[str, ...] = _option(
        "-s --submission --submission-file",
        "answers to score",
        INPUT,
        default=(),
        read=read_paths,
        metavar="FILE",
        is_repeated=True,
        is_for_command=True,
    )
    id: str | None = _option(
        "--id-field",
        "path of the question id (default: a common field name); 'none' matches by position",
        INPUT,
        metavar="PATH",
        label="Field of ids",
    )
    gold_id: str | None = _option(
        "--gold-id-field",
        "path of the question id in the gold file, if it differs",
        INPUT,
        metavar="PATH",
        label="Field of ids in the gold file",
    )
    submission: str | None = _option(
        "--submission-field",
        "path of the model name, in a table of several models (default: a common field name); 'none' for one model",
        INPUT,
        metavar="PATH",
        label="Field of models",
    )
    field: Mapping[str, str] | None = _option(
        "--field",
        "path of a further field: confidence, judge, question, or a column of a benchmark metric, such as "
        "answer_format=meta.format",
        INPUT,
        read=read_fields,
        metavar="NAME=PATH",
        is_repeated=True,
    )
    references_separator: str | None = _option(
        "--references-separator",
        "separator between accepted answers in one string",
        INPUT,
        metavar="TEXT",
        label="Separator between accepted answers in one string",
    )
    layout: str | None = _option("--layout", "input layout (default: detected); anls layouts lists them", INPUT)
    filter: str | None = _option(
        "--filter",
        "which of several answers to each question to read: a filter of lm-evaluation-harness, or a run like epoch 2",
        INPUT,
        label="Score only one run",
        read=lambda value: read_string(str(value)),
    )
    runs: str | None = _option(
        "--runs",
        "whether answers with the same id are runs of one model, or an error (default: runs if a field such as seed or "
        "epoch tells them apart)",
        INPUT,
        choices=("question", "error"),
        label="Several answers to one question",
    )
    extra: str = _option(
        "--extra",
        "what to do with answers to unknown questions: fail, or ignore them (default: error)",
        INPUT,
        default="error",
        choices=("error", "ignore"),
        label="Answers to unknown questions",
    )
    corrections: str | None = _option(
        "--corrections",
        "a file with corrected annotations: more accepted answers, or questions to exclude",
        INPUT,
        read=read_path,
        metavar="FILE",
        label="Corrections of the accepted answers",
    )
    threshold: float | None = _option(
        "--threshold --anls-threshold",
        "minimum similarity (0 to 1); anything lower scores 0 (default: the variant's, mostly 0.5)",
        SCORING,
        read=read_share,
        metavar="T",
        label="Threshold",
    )
    ignore_case: bool | None = _option(
        "--ignore-case",
        "whether to ignore case (default: the variant's)",
        SCORING,
        read=read_switch,
        label="Ignore case",
    )
    average: str | None = _option(
        "--average", "for anls_star: average over rows or leaves (default: rows)", SCORING, choices=("rows", "leaves")
    )
    none_keys: str | None = _option(
        "--none-keys",
        "for anls_star: whether predicted keys without a value count as wrong (default: counted)",
        SCORING,
        choices=("counted", "ignored"),
    )
    metrics: tuple[str, ...] = _option(
        "--metrics",
        "more metrics, comma-separated: f1,cer,relaxed,exact_match,contains,partial_credit",
        SCORING,
        default=(),
        read=read_strings,
        metavar="NAMES",
        label="Other metrics",
    )
    find: str | None = _option(
        "--find",
        "find the variants and extraction rules that give a number, such as 84.75",
        SCORING,
        metavar="NUMBER",
        is_for_command=True,
    )
    by_key: bool = _option(
        "--by-key",
        "for anls_star: break down by the keys of the values",
        COMPARISON,
        default=False,
        read=read_switch,
    )
    baseline: str | None = _option(
        "--baseline", "the submission to compare the others with (default: the first)", COMPARISON, label="Compare with"
    )
    all_pairs: bool = _option(
        "--all-pairs", "compare every pair of submissions", COMPARISON, default=False, read=read_switch
    )
    cluster_by: str | None = _option(
        "--cluster-by",
        "field that says which questions share a document (default: a common field name); 'none' for no clusters",
        COMPARISON,
        metavar="FIELD",
        label="Field of documents",
    )
    fail_under: float | None = _option(
        "--fail-under",
        "exit with status 1 if an ANLS is below SCORE",
        COMPARISON,
        read=read_share,
        metavar="SCORE",
        is_for_command=True,
    )
    fail_if_worse: bool = _option(
        "--fail-if-worse",
        "exit with status 1 if a submission is significantly worse than the baseline",
        COMPARISON,
        default=False,
        read=read_switch,
        is_for_command=True,
    )
    output_dir: str | None = _option(
        "--output-dir", "like --output, but always a folder", OUTPUT, metavar="FOLDER", is_for_command=True
    )
    score_only: bool = _option(
        "--score-only",
        "print only the score, with all of its digits",
        OUTPUT,
        default=False,
        read=read_switch,
        is_for_command=True,
    )
    percent: bool = _option(
        "--percent",
        "print scores in percent: 83.57 instead of 0.8357",
        OUTPUT,
        default=False,
        read=read_switch,
        is_for_command=True,
    )
    digits: int | None = _option(
        "--digits",
        "digits after the point (default: 4; 2 with --percent)",
        OUTPUT,
        read=read_digits,
        metavar="N",
        is_for_command=True,
    )
    columns: tuple[str, ...] = _option(
        "--columns",
        "columns of the table, comma-separated, such as anls,interval,difference",
        OUTPUT,
        default=(),
        read=read_strings,
        metavar="NAMES",
        is_for_command=True,
    )
    quiet: bool = _option("--quiet", "print no hints", OUTPUT, default=False, read=read_switch, is_for_command=True)
    images: str | None = _option(
        "--images",
        "page images to show in the report: a folder, a zip archive, or a Parquet file with an image column "
        "(default: the image column of the scored files)",
        OUTPUT,
        metavar="PLACE",
        is_for_command=True,
    )


OPTIONS: Mapping[str, Option] = {
    each.name: each.metadata["option"]._replace(name=each.name) for each in fields(Settings)
}
"""The rows of the table by their names."""


def make_settings(values: Mapping[str, Any], function: str = "score") -> Settings:
    """Check the keyword arguments of a function in Python. None stands for the default.

    Args:
        values: the arguments.
        function: the name of the function in an error.

    Raises:
        TypeError: there is no such option. ValueError: a value is wrong.

    Example:
        >>> make_settings({"extract": "think,final", "threshold": 0.8}).extract
        ('think', 'final')
        >>> make_settings({"missing": "zeros"})
        Traceback (most recent call last):
        ValueError: missing must be error or zero, got 'zeros'
    """
    checked = {}
    for name, value in values.items():
        if name not in OPTIONS or OPTIONS[name].is_for_command:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{_suggest(name)}")
        if value is not None:
            checked[name] = _check(OPTIONS[name], value)
    return Settings(**checked)


def _check(option: Option, value: Any) -> Any:
    """Check the value of an option in Python."""
    try:
        checked = option.read(value)
        if option.choices and checked not in option.choices:
            raise ValueError(" or ".join(option.choices))
    except ValueError as error:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ValueError(f"{option.name} must be {error}, got {shown}") from None
    return checked


def _suggest(name: str) -> str:
    """Suggest what to pass instead of an unknown keyword argument."""
    if name in INSTEAD:
        return f": {INSTEAD[name]}"
    names = [option.name for option in OPTIONS.values() if not option.is_for_command]
    shorter = name.removesuffix("_field")  # a flag of the command has this ending
    similar = shorter if shorter in names else find_similar_name(name, ["gold", *names])
    return f": did you mean {similar}?" if similar else ": help(anls_metric.Options) lists the options"


INSTEAD: Mapping[str, str] = {
    "return_all_scores": "score(...).answers() lists every answer with its score",
    "report": 'score(...).report("report.html") writes the report',
    "output": "score(...).to_dict() has all results",
    "predictions": "pass the predictions as the first argument, and the accepted answers as the second",
    "confusions": "score(...).confusions(n) lists them",
    "suspects": "compare(...).suspects() lists them",
    "regressions": "compare(...).answers() lists every answer with its score",
    "run": "pass filter=",
    "right_at": "an answer is correct from a score of 0.5",
    "confidence_field": 'pass field={"confidence": PATH}',
    "judge_field": 'pass field={"judge": PATH}',
    "images_limit": "the report takes as many images as fit into 24 MB",
}
"""Keyword arguments that users try -> what to do instead."""
