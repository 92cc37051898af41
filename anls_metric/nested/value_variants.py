"""ANLS* and ANLSL as variants: `ValueVariant` is for values what `Variant` is for texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from anls_metric.core.choices import describe_unknown
from anls_metric.core.rows import name_row
from anls_metric.core.variants import RowName, Scorer
from anls_metric.core.version import __version__
from anls_metric.nested.list_scores import check_list, explain_list, score_list
from anls_metric.nested.row_scores import Average, RowScore, choose, mean
from anls_metric.nested.star_explanation import StarExplanation
from anls_metric.nested.star_scores import check_value, explain_value, score_value
from anls_metric.nested.tree_builder import as_columns
from anls_metric.nested.trees import NoneKeys, Rule, make_rule

Metric = Literal["anls_star", "anlsl"]


class _Program(NamedTuple):
    """How a metric of values is computed and described: a row of `_PROGRAMS`."""

    label: str
    meaning: str
    source: str
    options: tuple[str, ...]
    check: Callable[[Any, Any, str], tuple[Any, Any]]
    score: Callable[[Any, Any, Rule, str], RowScore]
    explain: Callable[[Any, Any, Rule, Scorer], StarExplanation]


_PROGRAMS: Mapping[str, _Program] = {
    "anls_star": _Program(
        "ANLS*",
        "ANLS*: lists and nested values, leaf by leaf",
        "https://arxiv.org/abs/2402.03848",
        ("none_keys", "average", "threshold"),
        check_value,
        score_value,
        explain_value,
    ),
    "anlsl": _Program(
        "ANLSL",
        "ANLSL: lists of texts, matched one to one",
        "https://arxiv.org/abs/2104.14336",
        ("threshold",),
        check_list,
        score_list,
        explain_list,
    ),
}


@dataclass(frozen=True)
class ValueVariant:
    """A metric of lists and nested values, with its options. Like `Variant`, it follows the protocol `Scorer`.

    Attributes:
        name: "anls_star" or "anlsl".
        threshold: from 0 to 1: a leaf with a similarity below it scores 0.
        none_keys: as `anls_star_score` takes it.
        average: as `mean` takes it.
    """

    name: Metric
    threshold: float = 0.5
    none_keys: NoneKeys = "counted"
    average: Average = "rows"

    columns: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        choose(self.name, Metric, "metric")
        choose(self.average, Average, "average")
        object.__setattr__(self, "threshold", self.rule.threshold)

    @property
    def key(self) -> str:
        """The name of the score in a dict of results."""
        return self.name

    @property
    def label(self) -> str:
        """The name of the score in a table."""
        return _PROGRAMS[self.name].label

    @property
    def meaning(self) -> str:
        """What the metric scores, in a few words."""
        return _PROGRAMS[self.name].meaning

    @property
    def source(self) -> str:
        """Where the metric was published."""
        return _PROGRAMS[self.name].source

    @property
    def averages_rows(self) -> bool:
        """Whether the score of a set is the mean of the scores of its rows, and not of all leaves."""
        return self.average == "rows"

    @property
    def options(self) -> tuple[str, ...]:
        """The fields that change the score."""
        return _PROGRAMS[self.name].options

    @property
    def rule(self) -> Rule:
        """The options of a comparison."""
        return make_rule(self.threshold, self.none_keys)

    def check(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> tuple[list[Any], list[Any]]:
        """Check both columns, and return them as lists. ValueError: as `check_rows`."""
        check, rows = _PROGRAMS[self.name].check, zip(*as_columns(predictions, references))
        checked = [check(*pair, row_name(row)) for row, pair in enumerate(rows)]
        return [prediction for prediction, _ in checked], [reference for _, reference in checked]

    def score(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> list[RowScore]:
        """Score each row, for `mean`; [] for no rows. ValueError: as `check_rows`."""
        score, rule, rows = _PROGRAMS[self.name].score, self.rule, zip(*as_columns(predictions, references))
        return [score(*pair, rule, row_name(row)) for row, pair in enumerate(rows)]

    def score_missing(self, reference: Any, row: str = "") -> RowScore:
        """Score a question without an answer: 0, with as many wrong leaves as are expected, and at least one.

        An error names the question by ``row``. ValueError: as `check_rows`.
        """
        (nothing,) = self.score([[]], [reference], lambda _: row)
        return RowScore([0.0], max(1, nothing.length))

    def mean(self, scores: Iterable[float]) -> float:
        """Compute the score of a set: see `mean`."""
        return mean(scores, self.average)

    def explain(self, prediction: Any, reference: Any) -> StarExplanation:
        """Explain the score of a value. ValueError: as `check_rows`."""
        return _PROGRAMS[self.name].explain(prediction, reference, self.rule, self)

    def signature(self, extract: str = "") -> str:
        """The signature of the score; ``extract`` names the rules that extracted the answers."""
        options = [f"{option}:{getattr(self, option)}" for option in self.options]
        extracted = [f"extract:{extract}"] if extract else []
        return "|".join(["anls", self.name, "matching:munkres-1.1.4", *options, *extracted, f"v{__version__}"])


VALUE_VARIANTS: Mapping[str, ValueVariant] = {name: ValueVariant(name) for name in get_args(Metric)}
"""The metrics of values, by name."""


def get_value_variant(variant: str | ValueVariant = "anls_star", **options: Any) -> ValueVariant:
    """Get a metric of values, with the options that a call overrides.

    Args:
        variant: a name in `VALUE_VARIANTS`, or a `ValueVariant`.
        **options: ``threshold``, ``none_keys`` and ``average``, as far as the variant has them; None keeps its value.

    Returns:
        A `ValueVariant`.

    Raises:
        ValueError: there is no such variant, it does not have the option, or the option does not allow the value.

    Example:
        >>> get_value_variant("anls_star", average="leaves").signature()
        'anls|anls_star|matching:munkres-1.1.4|none_keys:counted|average:leaves|threshold:0.5|v2.0.0'
        >>> get_value_variant("anlsl", average="leaves")
        Traceback (most recent call last):
        ValueError: anlsl has no option 'average'; choose from threshold
    """
    if not isinstance(variant, ValueVariant):
        if not isinstance(variant, str) or variant not in VALUE_VARIANTS:
            raise ValueError(describe_unknown("variant for lists and nested values", variant, VALUE_VARIANTS))
        variant = VALUE_VARIANTS[variant]
    changes = {option: value for option, value in options.items() if value is not None}
    for option in changes:
        if option not in variant.options:
            raise ValueError(f"{variant.name} has no option {option!r}; choose from {', '.join(variant.options)}")
    return replace(variant, **changes)
