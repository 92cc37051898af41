"""Defines ANLS* and ANLSL as instances of `ValueVariant`, the counterpart of `Variant` for lists and nested values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal, get_args

from anls_metric.core.checks import RowName, check_choice, check_names, check_number, name_row
from anls_metric.core.json_strings import (
    format_value,
    parse_typed_values,
    parse_value,
    parse_value_or_text,
    read_reference,
)
from anls_metric.core.scorer import Scorer, join_signature, mean, refuse_no_rows
from anls_metric.core.strings.normalization import NORMALIZATIONS, normalize_value, sort_rows
from anls_metric.core.strings.rows import pair_columns
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.core.values.leaves import list_leaves, miss_leaves
from anls_metric.core.values.list_scores import build_lists
from anls_metric.core.values.row_scores import RowScore
from anls_metric.core.values.star_explanation import StarExplanation, build_branch, find_closest, score_keys
from anls_metric.core.values.tree_builder import build_trees, drop_keys
from anls_metric.core.values.trees import Node, Pair, Terms

NoneKeys = Literal["counted", "ignored"]
Average = Literal["rows", "leaves"]
Numbers = Literal["as_written", "by_value"]
KeyPaths = str | Sequence[str]


@dataclass(frozen=True)
class ValueVariant(Scorer):
    """A metric for lists and nested values, with its options.

    Attributes:
        name, label, meaning, source, options: as in `Scorer`.
        text_variant: the variant that scores two strings.
        read: the function that builds the trees of both sides of a row, given the name of the row for errors.
        threshold: the similarity, from 0 to 1, below which a leaf scores 0.
        none_keys: as in `anls_star_score`.
        average: "rows" for the mean over the rows; "leaves" for the mean over all leaves, which gives long answers more
            weight because it scores the whole set as one value, as CheckboxQA does.
        numbers: "as_written" to compare numbers as Python prints them; "by_value" to compare 2440 and 2440.0 as equal.
        ignore_keys: as in `anls_star_score`.
        lists_leaves: whether each score also lists all leaves of ANLS* with their outcomes.
    """

    name: str
    label: str = field()  # without it, a dataclass takes the value of the base class as its default
    meaning: str
    source: str
    options: tuple[str, ...] = field()
    text_variant: str
    read: Callable[[Any, Any, str], tuple[Node, Node]] = field(repr=False)
    threshold: float = 0.5
    none_keys: NoneKeys = "counted"
    average: Average = "rows"
    numbers: Numbers = "as_written"
    ignore_keys: tuple[str, ...] = ()
    normalize: str = ""
    lists_leaves: bool = False

    reads_json = True  # not annotated: attributes of the class rather than fields
    correct_at = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", check_number("threshold", self.threshold))
        check_choice("none_keys", self.none_keys, get_args(NoneKeys))
        check_choice("average", self.average, get_args(Average))
        check_choice("numbers", self.numbers, get_args(Numbers))
        object.__setattr__(self, "ignore_keys", check_names("ignore_keys", self.ignore_keys))
        object.__setattr__(self, "normalize", sort_rows(self.normalize))

    @property
    def has_leaves(self) -> bool:
        """Whether its scores can list the leaves of a value. ANLSL has no leaves, because its items have no keys."""
        return "none_keys" in self.options

    @property
    def key(self) -> str:
        """The name of the score in a dict of results."""
        return self.name

    @property
    def terms(self) -> Terms:
        """The options of a comparison."""
        by_value = self.numbers == "by_value"
        return Terms(self.threshold, 1 if self.none_keys == "counted" else 0, self.text_variant, by_value)

    @property
    def averages_rows(self) -> bool:
        """Whether the score of a set is the mean of the scores of its rows, rather than of the scores of all leaves."""
        return self.average == "rows"

    def list_alternatives(self) -> Sequence[Scorer]:
        """List this metric, ANLS* with each combination of ``average`` and ``none_keys``, and ANLSL."""
        star = VALUE_VARIANTS["anls_star"]
        choices = product(get_args(Average), get_args(NoneKeys))
        every = (replace(star, threshold=self.threshold, average=each[0], none_keys=each[1]) for each in choices)
        return list(dict.fromkeys([self, *every, VALUE_VARIANTS["anlsl"]]))

    def list_leaves(self) -> ValueVariant:
        """Return a copy of this metric whose scores also list the leaves."""
        return replace(self, lists_leaves=True)

    def read_typed(self, prediction: str, references: Sequence[str]) -> tuple[Any, Any]:
        """Read an answer and its references, each as JSON or plain text."""
        return parse_typed_values(prediction, references)

    def split_typed(self, text: str) -> list[str]:
        """Split typed references into one string per line, unless the whole text is a single JSON value."""
        return super().split_typed(text) if isinstance(parse_value_or_text(text), str) else [text]

    def read_answer(self, text: str) -> Any:
        """Read an answer that a person wrote, as JSON or plain text."""
        return parse_value_or_text(text)

    def parse_output(self, text: str) -> Any:
        """Parse the JSON that a model wrote. Raises ValueError if it is not JSON or cannot be scored."""
        value = parse_value(text)
        self.check([value], [""])
        return value

    def read_references(self, references: Any) -> Any:
        """Read the reference of a row from a value or a JSON string. Raises ValueError if the string is malformed."""
        return read_reference(references)

    @property
    def as_text(self) -> Callable[[Any], str]:
        """The function that converts a value to the string used for comparison, or to "" if the value is empty."""
        return _normalize_value

    def check(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> tuple[list[Any], list[Any]]:
        """Check the predictions and references, and return both as lists. Raises a ValueError that names the row if a
        row cannot be scored.
        """
        rows = zip(*pair_columns(predictions, references))
        trees = [self.read(*pair, row_name(row)) for row, pair in enumerate(rows)]
        return [prediction.value for prediction, _ in trees], [reference.value for _, reference in trees]

    def score(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> list[RowScore]:
        """Score each row, for use by `mean`. Returns [] if there are no rows. Raises the same ValueError as `check`."""
        rows = zip(*pair_columns(predictions, references))
        return [self.score_row(*pair, row_name(row)) for row, pair in enumerate(rows)]

    def score_row(self, prediction: Any, reference: Any, row: str = "") -> RowScore:
        """Score a row. Raises a ValueError that names the row if the row cannot be scored."""
        pair = self._compare(prediction, reference, row)[-1]
        return RowScore(pair.scores, pair.length, list_leaves(pair, self.terms) if self.lists_leaves else ())

    def explain(self, prediction: Any, reference: Any) -> StarExplanation:
        """Explain the score of a row. Raises ValueError if the row cannot be scored."""
        predicted, accepted, pair = self._compare(prediction, reference)
        tree, keys = build_branch(pair, self.terms), score_keys([pair], self.terms)
        closest = find_closest(pair, self.terms)
        return StarExplanation(predicted.value, accepted.value, tree.score, tree.length, closest, keys, tree, self)

    def _compare(self, prediction: Any, reference: Any, row: str = "") -> tuple[Node, Node, Pair]:
        """Build the trees of both sides of a row and compare them. Raises ValueError if the row cannot be scored."""
        if self.normalize:
            prediction, reference = (normalize_value(value, self.normalize) for value in (prediction, reference))
        if self.ignore_keys:
            paths = [self.normalize_path(path) for path in self.ignore_keys]
            prediction, reference = (drop_keys(value, paths) for value in (prediction, reference))
        predicted, accepted = self.read(prediction, reference, row)
        return predicted, accepted, accepted.compare(predicted, self.terms)

    def normalize_path(self, path: str) -> str:
        """Normalize each key of a path, such as ``items.unitPrice``, if keys are normalized."""
        has_keys = "keys" in self.normalize.split(",")
        return ".".join(map(NORMALIZATIONS["keys"].apply, path.split("."))) if has_keys else path

    def score_missing(self, reference: Any, row: str = "") -> RowScore:
        """Score a question without an answer as 0, with as many wrong leaves as the reference has, but at least one.

        Raises a ValueError that names the row if the reference cannot be scored.
        """
        found = self.score_row([], reference, row)
        return RowScore([0.0], max(1, found.length), miss_leaves(found.leaves) if self.lists_leaves else ())

    def mean(self, scores: Iterable[Any]) -> float:
        """Compute the score of a set from the scores of its rows. Raises ValueError if there are no rows."""
        if self.averages_rows:
            return mean(scores)
        rows = list(scores)
        refuse_no_rows(rows)
        length = sum(row.length for row in rows)
        return math.fsum(score for row in rows for score in row.scores) / length if length else 1.0

    def signature(self, extract: str = "") -> str:
        """Return the signature of the score. ``extract`` names the rules that extracted the answers."""
        values = {option: getattr(self, option) for option in self.options}
        values["ignore_keys"] = ",".join(self.ignore_keys)
        options = [f"{option}:{value}" for option, value in values.items() if value not in ("as_written", "")]
        return join_signature(self.name, "matching:munkres-1.1.4", *options, extract=extract)


def _normalize_value(value: Any) -> str:
    """Convert a value to a normalized string, or to "" if the value is empty."""
    normalize = VARIANTS["standard"].as_text
    if isinstance(value, (bool, int, float)):
        return normalize(str(value))
    return normalize(format_value(value)) if value else ""


_TABLE = (
    ValueVariant(
        "anls_star",
        "ANLS*",
        "ANLS*: structured answers, leaf by leaf",
        "https://arxiv.org/abs/2402.03848",
        ("none_keys", "average", "numbers", "ignore_keys", "normalize", "threshold"),
        "standard",
        build_trees,
    ),
    ValueVariant(
        "anlsl",
        "ANLSL",
        "ANLSL: lists of strings, matched one to one",
        "https://arxiv.org/abs/2104.14336",
        ("normalize", "threshold"),
        "rrc",
        build_lists,
    ),
)
VALUE_VARIANTS: Mapping[str, ValueVariant] = {variant.name: variant for variant in _TABLE}
"""The metrics for lists and nested values, keyed by name."""
