"""Defines the class `Scorer`, the table of all scorers by name, and `get_scorer`, which returns a scorer with the given
options.
"""

from __future__ import annotations

import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import count
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Literal

from anls_metric.core.checks import RowName, describe, describe_unknown, name_row
from anls_metric.core.version import SCORES_VERSION

__all__ = ["mean"]

Form = Literal["text", "value", "row"]
"""The form of answers: "text" for strings, "value" for lists and nested values, or "row" for rows with the additional
columns of a benchmark.
"""
_JSON = "anls_metric.core.json_values", "structured answers"


class Scorer(ABC):
    """A metric for answers that are strings, lists and nested values, or rows with a benchmark's additional columns.

    The command, the web app, the adapters and the analysis use only these attributes and methods. A new metric is a
    frozen dataclass with this base class, passed to `register`.

    Attributes:
        name: the name by which users choose the scorer.
        meaning: what the scorer computes, in one line.
        source: the paper or program that defines the scorer.
        threshold: the threshold, from 0 to 1.
        key: the name of the score in a dict of results.
        label: the name of the score in a table.
        options: the names of the fields that a call may override.
        columns: the fields that a row must have, each with a description, if the scorer needs more than predictions
            and references. The references of a row are then a dict with these fields.
        optional: the fields that a row may have in addition, each with a description.
        references: the name of the column with the references.
        prediction_field: the field of the predictions in a submission to the benchmark.
        reads_json: whether answers are lists and nested values written as JSON rather than strings.
        form: the form of answers, which is "text", "value" or "row".
        nothing: the value that stands for a missing answer.
        marker: the string that must precede the answer in a prediction; "" for none.
        correct_at: the lowest score at which an answer is treated as correct.
        confidence_bins: the maximum number of bins for the calibration error; None for the default.
        averages_rows: whether the score of a set is the mean of the scores of its rows.
        has_edits: whether its explanations list the edits to the closest reference.
        has_leaves: whether its scores can list the leaves of a value, with the outcome of each.
    """

    name: str
    meaning: str
    source: str
    threshold: float
    label: str = "ANLS"
    options: tuple[str, ...] = ()
    columns: Mapping[str, str] = MappingProxyType({})
    optional: Mapping[str, str] = MappingProxyType({})
    references: str = "references"
    prediction_field: str = "prediction"
    reads_json: bool = False
    marker: str = ""
    correct_at: float = 0.5
    confidence_bins: int | None = None

    @property
    def key(self) -> str:
        """The name of the score in a dict of results."""
        return "anls"

    @property
    def has_leaves(self) -> bool:
        """Whether its scores can list the leaves of a value, with the outcome of each."""
        return False

    @property
    def averages_rows(self) -> bool:
        """Whether the score of a set is the mean of the scores of its rows."""
        return True

    @property
    def form(self) -> Form:
        """The form of answers: "row" if there are columns, "value" if answers are JSON, and otherwise "text"."""
        return "row" if self.columns else "value" if self.reads_json else "text"

    @property
    def has_edits(self) -> bool:
        """Whether its explanations list the edits that turn the prediction into the closest reference."""
        return False

    @property
    def nothing(self) -> Any:
        """The value that stands for a missing answer."""
        return [] if self.reads_json else ""

    def list_alternatives(self) -> Sequence[Scorer]:
        """List the scorers that may have produced a published number, which are all variants if answers are strings."""
        return SCORERS["standard"].list_alternatives() if self.form == "text" else [self]

    def list_leaves(self) -> Scorer:
        """Return a scorer whose scores also list the leaves of values, or this scorer if its scores have no leaves."""
        return self

    def read_typed(self, prediction: str, references: Sequence[str]) -> tuple[Any, Any]:
        """Read an answer and its references as typed by a person. Raises ValueError if the answer cannot be scored."""
        return prediction, references

    def split_typed(self, text: str) -> list[str]:
        """Split the references that a person typed into a text field, one per line."""
        return [line for line in text.splitlines() if line.strip()]

    def fit_row(self, row: Any, name: str) -> Any:
        """Convert the references of a row with columns to the shape that the scorer expects. Raises a ValueError that
        names the row if the references are invalid.
        """
        return row

    def summarize_scores(self, rows: Any, scores: Sequence[float], row_name: RowName = name_row) -> dict[str, Any]:
        """Compute the figures that a benchmark reports for a set, given the rows and their scores."""
        return {}

    def copy_rows(self, rows: tuple[Any, Any]) -> tuple[Any, Any]:
        """Copy checked rows, because the caller may change the original rows later."""
        return (list(rows[0]), list(map(tuple, rows[1]))) if self.form == "text" else deepcopy(rows)

    def dump(self, rows: Any) -> str:
        """Write rows as JSON. Lists and nested values need the package, because their tuples hold alternatives."""
        return json.dumps(rows if self.form == "text" else import_from_package(*_JSON).to_json(rows))

    def load(self, text: str) -> Any:
        """Read rows from the JSON that `dump` wrote."""
        return json.loads(text) if self.form == "text" else import_from_package(*_JSON).from_json(json.loads(text))

    def read_answer(self, text: str) -> Any:
        """Read an answer that a person wrote, which need not be JSON."""
        return text

    def parse_output(self, text: str) -> Any:
        """Parse an answer that a model wrote. Raises ValueError if it is not JSON or cannot be scored."""
        return text

    def read_references(self, references: Any) -> Any:
        """Read the references of a row from a value or a JSON string. Raises ValueError if the string is malformed."""
        return references

    @property
    def as_text(self) -> Callable[[Any], str]:
        """The function that converts an answer to the string used for comparison, or to "" if the answer is empty."""
        return str

    def check(self, predictions: Any, references: Any, row_name: RowName = name_row) -> tuple[list[Any], list[Any]]:
        """Check the predictions and references, and return both as lists. Raises a ValueError that names the row if a
        row cannot be scored.
        """
        predictions, references = list(predictions), list(references)
        self.score(predictions, references, row_name)
        return predictions, references

    @abstractmethod
    def score(self, predictions: Any, references: Any, row_name: RowName = name_row) -> list[Any]:
        """Score each row from 0 to 1, for use by `mean`. Returns [] if there are no rows. Raises the same ValueError as
        `check`.
        """

    def score_checked(self, predictions: Any, references: Any, row_name: RowName = name_row) -> list[Any]:
        """Score rows that have already been checked."""
        return self.score(predictions, references, row_name)

    def score_missing(self, references: Any, row: str = "") -> float:
        """Score a question without an answer, for use by `mean`. Raises ValueError if the references cannot be
        scored.
        """
        return 0.0

    def mean(self, scores: Iterable[Any]) -> float:
        """Compute the score of a set from the scores of its rows. Raises ValueError if there are no rows."""
        return mean(scores)

    @abstractmethod
    def explain(self, prediction: Any, references: Any) -> Any:
        """Explain the score of an answer. Raises ValueError if the answer cannot be scored.

        Returns:
            An object with the attributes ``score``, ``sentence`` (which gives the score as a percentage), ``closest``
            (the closest reference) and ``edits``. Its string form is the sentence with fractions.
        """

    def signature(self, extract: str = "") -> str:
        """Return the signature to print next to a score, which records how the score was computed.

        Args:
            extract: the names of the rules that extracted the answers; "" for none.
        """
        options = (f"{option}:{getattr(self, option)}" for option in self.options)
        return join_signature(self.name, *options, extract=extract)


def join_signature(*parts: str, extract: str) -> str:
    """Join the parts of a signature, with the extraction steps and the version of the scores at the end."""
    extracted = [f"extract:{extract}"] if extract else []
    return "|".join(["anls", *parts, *extracted, f"v{SCORES_VERSION}"])


def mean(scores: Iterable[float]) -> float:
    """Compute the mean of scores, which is the same to the last bit in any order of the scores.

    Args:
        scores: one or more numbers, in a list or any other iterable.

    Returns:
        The mean as a float. The mean of the scores of a set is the ANLS of the set.

    Raises:
        ValueError: there are no scores, or ``scores`` is not an iterable of finite numbers.

    Example:
        >>> mean(anls_scores(["CocaCola", "12/15/89"], ["Coca Cola", "12/15/88"]))
        0.8819444444444444
    """
    rows = count()
    try:
        total = math.fsum(map(itemgetter(0), zip(scores, rows)))
    except TypeError as error:
        raise ValueError(f"scores must be a list or an iterable of numbers: {error}") from None
    number = next(rows)
    refuse_no_rows(number)
    if not math.isfinite(total):
        raise ValueError("the scores must all be finite numbers")
    return total / number


def refuse_no_rows(rows: Sequence[object] | int) -> None:
    """Raise ValueError if there are no rows to score."""
    if not rows:
        raise ValueError("there are no rows to score: pass at least one prediction and its references")


# The scorers by name


class _Scorers(Mapping[str, Scorer]):
    """A mapping of names to scorers that looks up registered scorers first and loads tables of scorers on demand."""

    def __init__(self) -> None:
        self.registered: dict[str, Scorer] = {}
        self.changes = 0
        self.tables: list[Callable[[], Mapping[str, Scorer]]] = []

    def __getitem__(self, name: str) -> Scorer:
        if name in self.registered:
            return self.registered[name]
        for load in self.tables:
            if name in (known := load()):
                return known[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, scorer in self.list_all().items() if name == scorer.name])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def list_all(self) -> dict[str, Scorer]:
        """Return the scorers of all tables and all registered scorers, keyed by name and by alias."""
        names = [name for load in self.tables for name in load()]
        return {name: self[name] for name in [*names, *self.registered]}


SCORERS = _Scorers()
"""All scorers, keyed by name: variants for strings and structured answers, benchmark metrics, and your own scorers."""


def load_table(reference: str) -> Mapping[str, Scorer]:
    """Load the table of scorers at ``module:table``, or return {} if anls.py is used without the package."""
    module, _, table = reference.partition(":")
    try:
        return getattr(import_module(module), table)  # type: ignore[no-any-return]
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        return {}


GROUP = "anls_metric.scorers"
"""The group of entry points in which a package declares scorers. Each entry point refers to a `Scorer` or to a dict of
scorers keyed by name.
"""


@cache
def find_installed() -> Mapping[str, Scorer]:
    """Find the scorers that installed packages declare in `GROUP`. A scorer that cannot be loaded causes a warning."""
    from importlib.metadata import entry_points  # takes longer to import than everything else here

    found: dict[str, Scorer] = {}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            for scorer in loaded.values() if isinstance(loaded, Mapping) else [loaded]:
                _check_scorer(scorer)
                for name in (scorer.name, *getattr(scorer, "aliases", ())):
                    found.setdefault(name, scorer)
        except Exception as error:  # whatever the code of others raises
            warnings.warn(f"the entry point {entry.name} = {entry.value} has no scorer: {error}", stacklevel=2)
    return found


def register(*scorers: Scorer) -> None:
    """Register scorers by name, for `get_scorer`, `score`, the report and the adapters in this process.

    A package that others install should instead declare its scorers as entry points in the group
    ``anls_metric.scorers``, which makes the scorers available in every process, including that of the command.

    Args:
        *scorers: the scorers. The ``aliases`` of a scorer, if any, become further names, except for aliases that
            already belong to another scorer.

    Returns:
        Nothing. A scorer replaces one that was registered under the same name.

    Raises:
        ValueError: an argument is not a `Scorer` or lacks an attribute, or its name is that of another scorer in an
            installed package, such as "rrc".

    Example:
        >>> from dataclasses import replace
        >>> register(replace(VARIANTS["rrc"], aliases=("leaderboard",)))
        >>> get_scorer("leaderboard").name
        'rrc'
        >>> register(VARIANTS["rrc"])  # the row of the table again
    """
    for scorer in scorers:
        _check_scorer(scorer)
        _check_name(scorer)
        aliases = [name for name in getattr(scorer, "aliases", ()) if SCORERS.get(name, scorer).name == scorer.name]
        SCORERS.registered |= dict.fromkeys((scorer.name, *aliases), scorer)
        SCORERS.changes += 1


def _check_name(scorer: Scorer) -> None:
    """Raise ValueError if a scorer has the name of a declared scorer but differs from it in more than the aliases."""
    known = next((own[scorer.name] for own in (load() for load in SCORERS.tables) if scorer.name in own), scorer)
    if known != scorer:
        names = getattr(known, "aliases", None)
        if type(known) is not type(scorer) or names is None or replace(scorer, aliases=names) != known:  # type: ignore[type-var]
            raise ValueError(
                f"{scorer.name!r} is the name of another scorer, whose scores must stay the same under its "
                "signature: choose another name"
            )


def _check_scorer(scorer: object) -> None:
    """Raise ValueError for an object that is not a scorer. The attributes are checked instead of the class, because a
    copy of this module has its own `Scorer`.
    """
    if isinstance(scorer, type) or not hasattr(scorer, "score_missing"):
        raise ValueError(f"each scorer must be an instance of a subclass of Scorer, got {describe(scorer)}")
    for attribute in ("name", "meaning", "source", "threshold"):
        if not hasattr(scorer, attribute):
            raise ValueError(f"the scorer {describe(scorer)} has no {attribute}: add this field to its class")


def get_scorer(scorer: str | Scorer = "standard", **options: Any) -> Scorer:
    """Return the scorer with the given name, with any given options in place of its own.

    Args:
        scorer: a name in `SCORERS`, an alias, or a `Scorer`.
        **options: values for the fields that the scorer lists in ``options``; None keeps the scorer's value.

    Returns:
        A `Scorer`.

    Raises:
        ValueError: there is no such scorer, the scorer has no such option, or the option does not allow the value.

    Example:
        >>> get_scorer("unitxt", threshold=0.8).signature()
        'anls|rrc|threshold:0.8|v2'
        >>> get_scorer("anlsl", average="leaves")
        Traceback (most recent call last):
        ValueError: anlsl has no option 'average'; choose from normalize, threshold
    """
    if isinstance(scorer, str):
        try:
            scorer = SCORERS[scorer]
        except KeyError:
            raise ValueError(describe_unknown_scorer(scorer)) from None
    elif not hasattr(scorer, "score_missing"):
        raise ValueError(f"variant is {describe(scorer)}: pass a name or a Scorer")
    changes = {option: value for option, value in options.items() if value is not None}
    for option in changes:
        if option not in scorer.options:
            choices = f"choose from {', '.join(scorer.options)}" if scorer.options else "leave it out"
            raise ValueError(f"{scorer.name} has no option {option!r}; {choices}")
    # A copy takes longer than scoring a short answer. The repr distinguishes 1 from True.
    is_same = all(repr(getattr(scorer, option)) == repr(value) for option, value in changes.items())
    return scorer if is_same else replace(scorer, **changes)  # type: ignore[type-var]


def describe_unknown_scorer(name: object) -> str:
    """Describe an unknown name of a scorer for an error message."""
    problem = describe_unknown("variant", name, SCORERS.list_all(), "SCORERS")
    try:
        import_from_package("anls_metric", "any other metric")
    except ImportError as error:
        return f"{problem}; {error}"
    return problem


def import_from_package(module: str, feature: str) -> Any:
    """Import a module of the package. Raises ImportError if anls.py is used without the package."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("anls_metric"):
            raise
        raise ImportError(f"{feature} needs the package anls-metric: pip install anls-metric") from error
