"""The table of options, from which the flags, the keyword arguments, the settings on the page and the docs are
generated.

To add an option, add a row to `Settings` and, if the option is available in Python, a line to the type `Options`.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from anls_metric.core.checks import find_similar_name

if TYPE_CHECKING:
    from typing import TypeAlias

    from anls_metric.core.values import Average, NoneKeys, Numbers

    Names: TypeAlias = str | Sequence[str] | None

MOST, INPUT, SCORING, COMPARISON, OUTPUT = "most used options", "input", "scoring", "comparison", "output"
"""The groups of options in the command's help."""

PAGES = "pages"
"""The value of ``metrics`` for checking whether answers cite the correct pages."""

LEAVES = "leaves"
"""The value of ``output_rows`` that requests a row for each leaf of a structured answer."""

KEYS = "key of the value"
"""The name of the grouping by the keys of structured answers, which is shown beside the groupings by the fields in
``by``.
"""

RUNS = (".anls.json", ".anls.json.gz")
"""The file extensions of a saved run, the second of which is for compressed runs."""

NONE = "none"
"""The value of an option for a field that means that no field has this role."""


# Each function reads the word after a flag or checks the value of a keyword argument. The text of its error says what
# the value must be.


def read_string(value: Any) -> str:
    """Read a nonempty string or a path-like object as a string."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str) or not text:
        raise ValueError("a nonempty string")
    return text


def read_strings(value: Any) -> tuple[str, ...]:
    """Read strings, given as a list or as one comma-separated string."""
    items = value if isinstance(value, (list, tuple)) else read_string(value).split(",")
    return tuple(read_string(item).strip() for item in items)


def read_paths(value: Any) -> tuple[str, ...]:
    """Read file paths."""
    return tuple(map(read_string, value))


def read_share(value: Any) -> float:
    """Read a number from 0 to 1."""
    with suppress(TypeError, ValueError):
        if 0.0 <= float(value) <= 1.0:
            return float(value)
    raise ValueError("a number from 0 to 1")


def read_limits(value: Any) -> dict[str, float]:
    """Read limits from 0 to 1, separated by commas, keyed by the name before the last "=" or, without a name, by ""."""
    try:
        pairs = [part.rpartition("=") for part in str(value).split(",")]
        return {name.strip(): read_share(number) for name, _, number in pairs}
    except ValueError as error:
        raise ValueError(f"{error}, or such numbers for groups, as in total=0.9,date=0.95") from None


def read_count(value: Any) -> int:
    """Read a whole number of at least 0."""
    if not str(value).isdecimal():
        raise ValueError("a whole number of at least 0")
    return int(value)


def read_switch(value: Any) -> bool:
    """Check that a value is True or False."""
    if not isinstance(value, bool):
        raise ValueError("True or False")
    return value


def read_fields(value: Any) -> dict[str, str]:
    """Read paths keyed by role name, given as a dict or as words such as ``confidence=meta.p``."""
    named = dict(value if isinstance(value, Mapping) else (word.partition("=")[::2] for word in value))
    if not all(isinstance(text, str) and text for pair in named.items() for text in pair):
        raise ValueError("NAME=PATH, such as confidence=meta.p")
    return named


class Option(NamedTuple):
    """An option, which is a row of the table of options.

    Attributes:
        flags: the command's flags for the option.
        metavar: the placeholder for the value in the help.
        help: a one-line description of the option, in which "{metrics}" stands for the names of metrics.
        group: the group of the option in the command's help.
        read: the function that reads and checks a value.
        default: the value if the option is not given.
        label: the label on the page, or "" if the page has no control for the option.
    """

    flags: tuple[str, ...]
    metavar: str
    help: str
    group: str
    read: Callable[[Any], Any] = read_string
    default: Any = None
    label: str = ""

    @property
    def choices(self) -> list[str]:
        """The possible values, which the help shows in braces, or [] if the option is not limited to a few values."""
        return self.metavar[1:-1].split(",") if self.metavar.startswith("{") else []


def _option(flags: str, help: str, group: str, **more: Any) -> Any:
    """Create a row of `Settings`, given the flags and the placeholder for the value as one string with spaces."""
    words = flags.split()
    names = tuple(word for word in words if word.startswith("-"))
    row = Option(names, "".join(words[len(names) :]), help, group, **more)
    return field(default=row.default, metadata={"option": row})


_switch = partial(_option, read=read_switch, default=False)


@dataclass(frozen=True, eq=False)
class Settings:
    """The values of all options. The fields of this class are the table of options, in the order of the help."""

    variant: str | None = _option(
        "--variant NAMES",
        "scoring variant(s), comma-separated; the first gives the headline number; 'all' scores with each "
        "(default: standard)",
        MOST,
        read=lambda value: ",".join(read_strings(value)),
        label="Variant",
    )
    prediction: tuple[str, ...] | None = _option(
        "--prediction-field PATH",
        "path of the prediction, such as output.text (default: a common field name); several, comma-separated, are "
        "submissions",
        MOST,
        read=read_strings,
        label="Field of predictions",
    )
    references: str | None = _option(
        "--references-field PATH",
        "path of the references, the accepted answers (default: a common field name)",
        MOST,
        label="Field of references",
    )
    extract: tuple[str, ...] | None = _option(
        "--extract STEPS",
        "extract the answers from raw model output, with steps such as think,final",
        MOST,
        read=read_strings,
        label="Extract answers from raw model output",
    )
    missing: str = _option(
        "--missing {error,zero,skip}",
        "what to do with unanswered questions: fail, score 0, or leave them out (default: error)",
        MOST,
        default="error",
        label="Unanswered questions",
    )
    by: tuple[str, ...] = _option(
        "--by FIELDS",
        "break the score down by fields of the questions, comma-separated",
        MOST,
        default=(),
        read=read_strings,
        label="Break down by",
    )
    worst: int = _option("--worst N", "show the N worst answers (default: 0)", MOST, default=0, read=read_count)
    format: str = _option(
        "--format {text,json,markdown,latex,csv}", "what to print (default: text)", MOST, default="text"
    )
    output: tuple[str, ...] = _option(
        "-o --output PATH",
        "write a row for each answer to PATH.csv, PATH.jsonl or PATH.parquet, the results of each submission to "
        "PATH.json or a folder, or a run to show again to PATH.anls.json",
        MOST,
        default=(),
        read=read_paths,
    )
    report: str | None = _option("--report FILE.html", "write an HTML report that opens in a browser", MOST)
    plot: str | None = _option("--plot PATH", "draw a figure, as PATH.pdf, PATH.svg or PATH.png", OUTPUT)
    kind: str | None = _option(
        "--plot-kind {forest,threshold,groups,keys}",
        "what the figure shows: the models, or scores by threshold, by --by or by --by-key (default: forest)",
        OUTPUT,
    )
    gold: str | None = _option(
        "-g --gold --gold-label-file FILE",
        "the questions with their references: a file, or a name such as docvqa:val",
        INPUT,
        label="Gold file",
    )
    submissions: tuple[str, ...] = _option(
        "-s --submission --submission-file FILE",
        "answers to score",
        INPUT,
        default=(),
        read=read_paths,
    )
    id: str | None = _option(
        "--id-field PATH",
        "path of the question id, or of several fields, comma-separated (default: a common field name); 'none' matches "
        "by position",
        INPUT,
        read=lambda value: ",".join(read_strings(value)),
        label="Field of ids",
    )
    gold_id: str | None = _option(
        "--gold-id-field PATH",
        "path of the question id in the gold file, if it differs",
        INPUT,
        read=lambda value: ",".join(read_strings(value)),
        label="Field of ids in the gold file",
    )
    submission: str | None = _option(
        "--submission-field PATH",
        "path of the model name, in a table of several models (default: a common field name); 'none' for one model",
        INPUT,
        label="Field of models",
    )
    field: Mapping[str, str] | None = _option(
        "--field NAME=PATH",
        "path of a further field: confidence, judge, question, page, gold_page, or a column of a benchmark metric, "
        "such as answer_format=meta.format",
        INPUT,
        read=read_fields,
    )
    fields: tuple[str, ...] = _option(
        "--fields NAMES",
        "for anls_star: columns that are the answer together, in both files, comma-separated; '*' for all shared ones",
        INPUT,
        default=(),
        read=read_strings,
        label="Columns of the answer",
    )
    records: tuple[str, ...] = _option(
        "--records PATHS",
        "path of the list of records in a file, such as data.items, with * for each of several; more, comma-separated "
        "(default: the only list of questions)",
        INPUT,
        default=(),
        read=read_strings,
        label="Path of the records",
    )
    references_separator: str | None = _option(
        "--references-separator TEXT",
        "separator between references in one string",
        INPUT,
        label="Separator between references in one string",
    )
    layout: str | None = _option("--layout NAME", "input layout (default: detected); anls layouts lists them", INPUT)
    filter: str | None = _option(
        "--filter NAME",
        "which of several answers to each question to read: a filter of lm-evaluation-harness, or a run, such as 2",
        INPUT,
        label="Score only one run",
        read=lambda value: read_string(str(value)),
    )
    runs: str | None = _option(
        "--runs {question,error}",
        "whether answers with the same id are runs of one model, or an error (default: runs if a field such as seed or "
        "epoch tells them apart)",
        INPUT,
        label="Several answers to one question",
    )
    samples: str | None = _option(
        "--samples {mean,vote,best}",
        "several answers to a question in one field: score their mean, the most frequent one or the best one, an upper "
        "bound (default: an error)",
        INPUT,
        label="Several answers in one field",
    )
    extra: str = _option(
        "--extra {error,ignore}",
        "what to do with answers to unknown questions: fail, or ignore them (default: error)",
        INPUT,
        default="error",
        label="Answers to unknown questions",
    )
    corrections: str | None = _option(
        "--corrections FILE",
        "a file with corrected annotations: more references, or questions to exclude",
        INPUT,
    )
    threshold: float | None = _option(
        "--threshold --anls-threshold T",
        "minimum similarity (0 to 1); anything lower scores 0 (default: the variant's, mostly 0.5)",
        SCORING,
        read=read_share,
        label="Threshold (%)",
    )
    ignore_case: bool | None = _switch(
        "--ignore-case", "whether to ignore case (default: the variant's)", SCORING, default=None, label="Ignore case"
    )
    normalize: str | None = _option(
        "--normalize NAMES",
        "normalize both sides before they are compared, comma-separated: nfc, width, typography, digits, spaces, and "
        "keys for anls_star (default: nothing but what the variant does)",
        SCORING,
        read=lambda value: ",".join(read_strings(value)),
        label="Normalize both sides",
    )
    average: str | None = _option(
        "--average {rows,leaves}", "for anls_star: average over rows or leaves (default: rows)", SCORING
    )
    none_keys: str | None = _option(
        "--none-keys {counted,ignored}",
        "for anls_star: whether predicted keys without a value count as wrong (default: counted)",
        SCORING,
        label="Keys without a value",
    )
    numbers: str | None = _option(
        "--numbers {as_written,by_value}",
        "for anls_star: compare numbers as they are written, or 2440 and 2440.0 as equal (default: as_written)",
        SCORING,
        label="Numbers",
    )
    ignore_keys: tuple[str, ...] | None = _option(
        "--ignore-keys PATHS",
        "for anls_star: keys to leave out on both sides, comma-separated, such as model_name,items.score",
        SCORING,
        read=read_strings,
        label="Keys to leave out",
    )
    metrics: tuple[str, ...] = _option(
        "--metrics NAMES",
        "more metrics, comma-separated: {metrics}",
        SCORING,
        default=(),
        read=read_strings,
    )
    find: str | None = _option(
        "--find NUMBER",
        "find the variants, metrics and extraction steps that give a number, such as 84.75; status 1 if none does",
        SCORING,
    )
    by_key: bool = _switch(
        "--by-key", "for anls_star: count right, close, wrong, missed and invented values by key", SCORING
    )
    baseline: str | None = _option(
        "--baseline NAME",
        "the submission to compare the others with (default: the first of two, the best of three or more)",
        COMPARISON,
        label="Compare with",
    )
    all_pairs: bool = _switch("--all-pairs", "compare every pair of submissions", COMPARISON)
    cluster_by: str | None = _option(
        "--cluster-by FIELD",
        "field that identifies the document of each question (default: a common field name); 'none' for no clusters",
        COMPARISON,
        label="Field of documents",
    )
    fail_under: Mapping[str, float] | None = _option(
        "--fail-under SCORES",
        "exit with status 1 if an ANLS is below a limit, which can also be that of a group or key, as in "
        "0.8,total=0.95",
        COMPARISON,
        read=read_limits,
    )
    fail_if_worse: bool = _switch(
        "--fail-if-worse",
        "exit with status 1 if a submission is significantly worse than the baseline (default: than the first), or if "
        "that cannot be told",
        COMPARISON,
    )
    allow_doubt: bool = _switch(
        "--allow-doubt",
        "with --fail-if-worse: pass if fewer than six documents or different questions leave the question open",
        COMPARISON,
    )
    output_dir: str | None = _option("--output-dir FOLDER", "like --output, but always a folder", OUTPUT)
    output_rows: str | None = _option(
        "--output-rows {answers,leaves}",
        "for anls_star: whether --output writes a row for each answer, or for each value inside it (default: answers)",
        OUTPUT,
    )
    score_only: bool = _switch("--score-only", "print only the score, with all of its digits", OUTPUT)
    percent: bool = _switch("--percent", "print scores in percent: 83.57 instead of 0.8357", OUTPUT)
    digits: int | None = _option(
        "--digits N",
        "digits after the point (default: 4; 2 with --percent)",
        OUTPUT,
        read=read_count,
    )
    columns: tuple[str, ...] = _option(
        "--columns NAMES",
        "columns of the table, comma-separated, such as anls,interval,difference",
        OUTPUT,
        default=(),
        read=read_strings,
    )
    quiet: bool = _switch("--quiet", "print no hints and no account of lost points", OUTPUT)
    images: str | None = _option(
        "--images PLACE",
        "page images to show in the report: a folder, a zip archive, or a Parquet file with an image column "
        "(default: the image column of the scored files)",
        OUTPUT,
    )


OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(Settings)}
"""The rows of the table, keyed by option name. Keyword arguments and the arguments of endpoints have the same names."""


class Options(TypedDict, total=False):
    """The options of `score` and `compare`, which ``anls_metric.options.OPTIONS`` describes. None stands for the
    default.
    """

    variant: Names
    prediction: Names
    references: str | None
    extract: Names
    missing: Literal["error", "zero", "skip"] | None
    by: Names
    worst: int | None
    id: Names
    gold_id: Names
    submission: str | None
    field: Mapping[str, str] | None
    fields: Names
    records: Names
    references_separator: str | None
    layout: str | None
    filter: int | str | None
    runs: Literal["question", "error"] | None
    samples: Literal["mean", "vote", "best"] | None
    extra: Literal["error", "ignore"] | None
    corrections: str | os.PathLike[str] | None
    threshold: float | None
    ignore_case: bool | None
    normalize: Names
    average: Average | None
    none_keys: NoneKeys | None
    numbers: Numbers | None
    ignore_keys: Names
    metrics: Names
    by_key: bool | None
    baseline: str | None
    all_pairs: bool | None
    cluster_by: str | None


def make_settings(values: Mapping[str, Any], function: str = "score") -> Settings:
    """Create settings from the keyword arguments of a Python function, with None for a default.

    Args:
        values: the keyword arguments.
        function: the name of the function, for error messages.

    Raises:
        TypeError: an option does not exist. ValueError: a value is invalid.

    Example:
        >>> make_settings({"extract": "think,final", "threshold": 0.8}).extract
        ('think', 'final')
        >>> make_settings({"missing": "zeros"})
        Traceback (most recent call last):
        ValueError: missing must be error, zero or skip, got 'zeros'
    """
    names = Options.__annotations__
    for name in values:
        if name not in names:
            similar = find_similar_name(name.removesuffix("_field"), names)  # flags of the command have this ending
            meant = f"did you mean {similar}?" if similar else "help(anls_metric.Options) lists the options"
            advice = INSTEAD.get(name, meant)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}: {advice}")
    return read_settings(values, str)


def read_settings(values: Mapping[str, Any], label: Callable[[str], str]) -> Settings:
    """Create settings from the values of options, keyed by option name, with None for a default.

    Args:
        values: the values of the options. Values with any other name are ignored.
        label: the function that returns how an error message refers to an option.

    Raises:
        ValueError: a value is invalid.
    """
    read = {}
    for name, option in OPTIONS.items():
        value = values.get(name)
        if value is None:
            continue
        try:
            read[name] = option.read(value)
            if option.choices and value not in option.choices:
                raise ValueError(" or ".join([", ".join(option.choices[:-1]), option.choices[-1]]))
        except ValueError as error:
            raise ValueError(f"{label(name)} must be {error}, got {reprlib.repr(value)}") from None
    return Settings(**read)


INSTEAD: Mapping[str, str] = {
    "return_all_scores": "score(...).answers() lists every answer with its score",
    "report": 'score(...).report("report.html") writes the report',
    "output": "score(...).to_dict() has all results",
    "plot": "score(...).plot() draws a figure",
    "confusions": "score(...).confusions(n) lists them",
    "suspects": "compare(...).suspects() lists them",
    "images": 'score(...).report("report.html", images=...) shows them',
    "run": "pass filter=NAME",
    "epoch": "pass filter=NAME",
    "confidence_field": 'pass field={"confidence": PATH}',
    "judge_field": 'pass field={"judge": PATH}',
}
"""The advice for keyword arguments that users try, keyed by name."""
