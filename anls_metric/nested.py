"""ANLS* and ANLSL: the score of answers that are lists and nested values, as in invoices, forms and tables.

A value is a text, a number, a bool, None, a list or a dict of values; a tuple in a reference is one of several. A leaf
scores as a text does (`anls.py`, variant "standard"), dicts are compared key by key, lists item by item in the best
order, and ANLS* is the sum of the leaves' scores over their number. ANLSL does the same for two lists of texts, by the
rule of the leaderboard (variant "rrc").

Both are the programs' own numbers, to the bit: anls_star 1.0.1 and DUDE's script, with munkres 1.1.4. Where several
orders of a list are equally good, it is the walk of that program which decides, and with it the score of a nested
value: another version of munkres gives other numbers. From Python 3.12 on the originals add floats in another way, and
may differ in the last bit; here the numbers are those of before, on every version.

What is public comes first; then come the values as trees, how they are compared, how lists are matched, and why a score
is what it is.

Sources: Peer et al., "ANLS* - A Universal Document Processing Metric for Generative Large Language Models", 2024,
https://arxiv.org/abs/2402.03848; Tito et al., "Document Collection Visual Question Answering", ICDAR 2021,
https://arxiv.org/abs/2104.14336; Van Landeghem et al., "Document Understanding Dataset and Evaluation (DUDE)", ICCV
2023, https://arxiv.org/abs/2305.08455.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from numbers import Number
from operator import add, attrgetter, truediv
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, extract

from anls_metric.core.explanation import Edit, Explanation
from anls_metric.core.kernel import mean as mean_score
from anls_metric.core.rows import as_column, as_references, as_text, describe, name_row, refuse_no_rows
from anls_metric.core.scoring import anls_scores, explain
from anls_metric.core.variants import RowName, check_threshold
from anls_metric.core.version import __version__

__all__ = [
    "KINDS",
    "VALUE_VARIANTS",
    "Branch",
    "KeyScore",
    "Leaf",
    "ListExplanation",
    "RowScore",
    "StarExplanation",
    "ValueVariant",
    "anls_star_score",
    "anls_star_scores",
    "anlsl_score",
    "check_rows",
    "explain_anlsl",
    "explain_star",
    "from_json",
    "get_value_variant",
    "mean",
    "score_rows",
    "signature",
    "to_json",
]

NoneKeys = Literal["counted", "ignored"]
Average = Literal["rows", "leaves"]
Metric = Literal["anls_star", "anlsl"]

# --------------------------------------------------------------------------------------------------
# What is public
# --------------------------------------------------------------------------------------------------


def anls_star_score(
    prediction: Any, reference: Any, *, threshold: float | None = 0.5, none_keys: NoneKeys = "counted"
) -> float:
    """ANLS* of one value: the sum of the scores of its leaves over their number.

    Args:
        prediction: a text, number, bool, None, or a list or dict of such values.
        reference: the same, where a tuple is one of several accepted values, and a tuple of one value is that value. A
            list of texts against a predicted text means one of them, too.
        threshold: from 0 to 1: leaves less similar than that score 0; None takes 0.5.
        none_keys: what a predicted key costs that the reference does not have and whose value is None, "", [] or {}:
            a wrong leaf ("counted": the program since its version 0.0.7) or nothing ("ignored": the paper).

    Returns:
        The score, from 0 to 1.

    Raises:
        ValueError: what is wrong and where: a leaf of another type (dates, Decimal, bytes, sets), a tuple in the
            prediction or one that is empty, a threshold outside [0, 1].

    Example:
        >>> anls_star_score({"total": "12.50", "items": ["tea", "milk"]}, {"total": "12.50", "items": ["milk", "tea"]})
        1.0
        >>> anls_star_score({"total": "12.5", "paid": True}, {"total": ("12.50", "12,50"), "paid": True, "tip": "1"})
        0.6

    Source: section 3 of https://arxiv.org/abs/2402.03848; https://github.com/deepopinion/anls_star_metric.
    """
    rule = _rule(threshold, none_keys)
    predicted, accepted = _trees(prediction, reference)
    return accepted.compared(predicted, rule).average


def anls_star_scores(
    predictions: Iterable[Any],
    references: Iterable[Any],
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
) -> list[float]:
    """ANLS* of each value of a set, as `anls_star_score` gives it. `anls.mean` of them is the mean over rows.

    Args:
        predictions: N values, as a list, tuple, iterator, or column of pandas, datasets or pyarrow.
        references: N values, in the same order.
        threshold: as there.
        none_keys: as there.

    Returns:
        N scores from 0 to 1.

    Raises:
        ValueError: what is wrong and in which row, counted from 0; columns of different lengths; no rows.

    Example:
        >>> anls_star_scores([["a", "b"], {"n": 1}], [["b", "a", "c", "d"], {"n": "1"}])
        [0.5, 1.0]

    Source: https://github.com/deepopinion/anls_star_metric.
    """
    return list(map(float, score_rows(predictions, references, threshold=threshold, none_keys=none_keys)))


def explain_star(
    prediction: Any, reference: Any, *, threshold: float | None = 0.5, none_keys: NoneKeys = "counted"
) -> StarExplanation:
    """Why a value has its ANLS*: the closest accepted value, what each key scores, and each leaf with its edits.

    Args:
        prediction: as `anls_star_score` takes it.
        reference: as there.
        threshold: as there.
        none_keys: as there.

    Returns:
        A `StarExplanation`.

    Raises:
        ValueError: as `anls_star_score`.

    Example:
        >>> why = explain_star({"items": ["tee", "milk"]}, {"items": ["milk", ("tea", "coffee")], "tip": None})
        >>> print(why)
        2 of 3 leaves right, 1 close, so 0.8889
        >>> why.closest, why.key_scores["items"].score
        ({'items': ['tea', 'milk']}, 0.8333333333333334)
        >>> for leaf in why.leaves:
        ...     print(leaf)
        items[0]: 1 edit on 3 characters from 'tea': similarity 0.6667 is kept (similarity >= 0.5)
        items[1]: equal to 'milk', so 1
        tip: no answer is expected and none is given, so 1
        >>> why.leaves[0].edits[1]
        Edit(operation='replace', prediction='e', reference='a')
        >>> for branch in why.tree.children:
        ...     print(branch.name, branch.score, branch.sentence)
        .items 0.8333333333333334 1 of 2 leaves right, 1 close, so 0.8333
        .tip 1.0 no answer is expected and none is given, so 1

    Source: https://github.com/deepopinion/anls_star_metric (``return_gt``, ``return_key_scores``).
    """
    rule = _rule(threshold, none_keys)
    predicted, accepted = _trees(prediction, reference)
    pair = accepted.compared(predicted, rule)
    return StarExplanation(
        prediction,
        _unwrap(reference),
        pair.average,
        pair.length,
        pair.closest,
        _key_scores(pair),
        _branch(pair, "", "", "", rule),
        rule.threshold,
        rule.none_keys,
    )


class RowScore(float):
    """The score of a row of values: a float, from 0 to 1, which knows its leaves.

    It is the sum of the leaves' scores over their number, or 1 where nothing is expected and nothing is given.

    Args:
        scores: what the leaves score. A leaf that is missing may have no score.
        length: the number of leaves.

    Example:
        >>> row = RowScore([1.0, 1.0], 4)
        >>> row, row / 2, row.length
        (RowScore(0.5, scores=[1.0, 1.0], length=4), 0.25, 4)
    """

    __slots__ = ("length", "scores")
    scores: Sequence[float]
    length: int

    def __new__(cls, scores: Sequence[float], length: int) -> RowScore:
        row = super().__new__(cls, _total(scores) / length if length else 1.0)
        row.scores, row.length = scores, length
        return row

    @property
    def score(self) -> float:
        """The score, as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        return f"RowScore({float(self)}, scores={self.scores}, length={self.length})"

    __str__ = float.__repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return RowScore, (self.scores, self.length)


def score_rows(
    predictions: Iterable[Any],
    references: Iterable[Any],
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
) -> list[RowScore]:
    """What `anls_star_scores` gives, with the leaves of each row: for a `mean` over leaves.

    Args:
        predictions: as `anls_star_scores` takes them.
        references: as there.
        threshold: as there.
        none_keys: as there.

    Returns:
        N `RowScore`.

    Raises:
        ValueError: as `anls_star_scores`.

    Example:
        >>> score_rows([["a", "b"], {"n": 1}], [["b", "a", "c", "d"], {"n": "1"}])
        [RowScore(0.5, scores=[1.0, 1.0], length=4), RowScore(1.0, scores=[1.0], length=1)]
    """
    rows = _star(threshold, none_keys).score(predictions, references)
    refuse_no_rows(rows)
    return rows


def mean(rows: Iterable[float], average: Average = "rows") -> float:
    """The ANLS* of a set: the mean of its rows, or of all leaves, where long answers count for more.

    Args:
        rows: one or more, from `score_rows`. Any other float counts as a row of one leaf.
        average: "rows", or "leaves": the score of the whole set as one value, as CheckboxQA has it.

    Returns:
        The mean, from 0 to 1.

    Raises:
        ValueError: no rows, another average.

    Example:
        >>> rows = score_rows([["a", "b"], "1"], [["b", "a", "c", "d"], "1"])
        >>> mean(rows), mean(rows, average="leaves")
        (0.75, 0.6)
    """
    if _choice(average, Average, "average") == "rows":
        return mean_score(rows)
    leaves = [row if isinstance(row, RowScore) else RowScore([row], 1) for row in rows]
    refuse_no_rows(leaves)
    length = sum(row.length for row in leaves)
    return math.fsum(score for row in leaves for score in row.scores) / length if length else 1.0


def anlsl_score(prediction: Iterable[str], references: Iterable[str], *, threshold: float | None = 0.5) -> float:
    """ANLSL of one answer that is a list of texts: its items matched one to one with the accepted ones.

    Args:
        prediction: the list that was answered, or one text.
        references: the list that is accepted, or one text.
        threshold: from 0 to 1: items less similar than that score 0; None takes 0.5.

    Returns:
        The sum of the matched items' scores, each by variant "rrc", over the number of different accepted items or of
        predicted ones, whichever is larger.

    Raises:
        ValueError: an item that is no text, no accepted items, a threshold outside [0, 1].

    Example:
        >>> anlsl_score(["Cola", "tea", "milk"], ["tea", "cola"])
        0.6666666666666666

    Source: Tito et al., DocCVQA, https://arxiv.org/abs/2104.14336; the program is https://github.com/Jordy-VL/DUDEeval.
    """
    return _list_pairs(*_lists(prediction, references), _rule(threshold, "counted").threshold).score


def explain_anlsl(
    prediction: Iterable[str], references: Iterable[str], *, threshold: float | None = 0.5
) -> ListExplanation:
    """Why a list has its ANLSL: which item was matched with which accepted one, each with its edits.

    Args:
        prediction: as `anlsl_score` takes it.
        references: as there.
        threshold: as there.

    Returns:
        A `ListExplanation`.

    Raises:
        ValueError: as `anlsl_score`.

    Example:
        >>> why = explain_anlsl(["Cola", "milk"], ["tea", "cola", "cola"])
        >>> print(why)
        1 of 2 leaves right, 0 close, so 0.5000
        >>> for leaf in why.leaves:
        ...     print(leaf)
        [0]: equal to 'cola', so 1
        [1]: 4 edits on 4 characters from 'tea': similarity 0.0000 is not kept, so 0 (similarity >= 0.5)
        [2]: a text is accepted and nothing is there, so 0

    Source: as `anlsl_score`.
    """
    limit = _rule(threshold, "counted").threshold
    pairs = _list_pairs(*_lists(prediction, references), limit)
    items = tuple(_as_branch(leaf.path, leaf) for leaf in pairs.leaves(limit))
    tree = Branch("", pairs.answered, pairs.accepted, pairs.score, pairs.length, items)
    return ListExplanation(pairs.answered, pairs.accepted, pairs.score, pairs.length, pairs.closest, {}, tree, limit)


def signature(
    metric: Metric = "anls_star",
    *,
    threshold: float | None = 0.5,
    none_keys: NoneKeys = "counted",
    average: Average = "rows",
    extract: str = "",
) -> str:
    """Which metric of nested values a number is: what to print beside it and to report with it.

    Args:
        metric: "anls_star" or "anlsl".
        threshold: as the score was given it.
        none_keys: as the score was given it; ANLSL knows no keys.
        average: as `mean` was given it; ANLSL is averaged over rows.
        extract: the rules by which the answers were taken out of what a model wrote, "" for none.

    Returns:
        ``anls|METRIC|matching:munkres-1.1.4|...|threshold:VALUE|extract:RULES|vVERSION``.

    Raises:
        ValueError: another metric or option, a threshold outside [0, 1].

    Example:
        >>> signature()
        'anls|anls_star|matching:munkres-1.1.4|none_keys:counted|average:rows|threshold:0.5|v2.0.0'
        >>> signature("anlsl")
        'anls|anlsl|matching:munkres-1.1.4|threshold:0.5|v2.0.0'
    """
    return ValueVariant(metric, _rule(threshold, none_keys).threshold, none_keys, average).signature(extract)


@dataclass(frozen=True)
class ValueVariant:
    """A score of values by name: what `Variant` is for texts. Both follow the protocol `Scorer`.

    Attributes:
        name: "anls_star" or "anlsl".
        threshold: from 0 to 1: leaves less similar than that score 0.
        none_keys: as `anls_star_score` takes it.
        average: as `mean` takes it.
    """

    name: Metric
    threshold: float = 0.5
    none_keys: NoneKeys = "counted"
    average: Average = "rows"

    columns: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        _choice(self.name, Metric, "metric")
        object.__setattr__(self, "threshold", _rule(self.threshold, self.none_keys).threshold)
        _choice(self.average, Average, "average")

    @property
    def key(self) -> str:
        """What its number is called in a dict of results."""
        return self.name

    @property
    def label(self) -> str:
        """What its number is called in a table."""
        return _PROGRAMS[self.name].label

    @property
    def meaning(self) -> str:
        """What it scores, in a few words."""
        return _PROGRAMS[self.name].meaning

    @property
    def source(self) -> str:
        """Where it was published."""
        return _PROGRAMS[self.name].source

    @property
    def options(self) -> tuple[str, ...]:
        """Which of its fields change its number."""
        return _PROGRAMS[self.name].options

    def check(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> tuple[list[Any], list[Any]]:
        """Both columns as lists, of rows that can be scored. ValueError: as `check_rows`."""
        return _PROGRAMS[self.name].check(*_columns(predictions, references), row_name)

    def score(
        self, predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
    ) -> list[RowScore]:
        """The score of each row, for `mean`; none of no rows. ValueError: as `check_rows`."""
        return _PROGRAMS[self.name].score(*_columns(predictions, references), self, row_name)

    def score_missing(self, reference: Any, row: str = "") -> RowScore:
        """The score of a question without an answer: 0, with as many wrong leaves as are expected, but at least one.

        An error calls the question by ``row``. ValueError: as `check_rows`.
        """
        (nothing,) = self.score([[]], [reference], lambda _: row)
        return RowScore([0.0], max(1, nothing.length))

    def mean(self, scores: Iterable[float]) -> float:
        """The score of a set: see `mean`."""
        return mean(scores, self.average)

    def explain(self, prediction: Any, reference: Any) -> StarExplanation:
        """Why a value has its score. ValueError: as `check_rows`."""
        return _PROGRAMS[self.name].explain(prediction, reference, self)

    def signature(self, extract: str = "") -> str:
        """Which score it is; ``extract`` names the rules that took the answers out of what a model wrote."""
        options = [f"{option}:{getattr(self, option)}" for option in self.options]
        extracted = [f"extract:{extract}"] if extract else []
        return "|".join(["anls", self.name, "matching:munkres-1.1.4", *options, *extracted, f"v{__version__}"])


def get_value_variant(variant: str | ValueVariant = "anls_star", **options: Any) -> ValueVariant:
    """The score of values that a call asks for.

    Args:
        variant: a name in `VALUE_VARIANTS`, or a `ValueVariant`.
        **options: of ``threshold``, ``none_keys`` and ``average`` those that it has; None leaves one as it is.

    Returns:
        A `ValueVariant`.

    Raises:
        ValueError: there is no such variant, or it has no such option, or the option no such value.

    Example:
        >>> get_value_variant("anls_star", average="leaves").signature()
        'anls|anls_star|matching:munkres-1.1.4|none_keys:counted|average:leaves|threshold:0.5|v2.0.0'
        >>> get_value_variant("anlsl", average="leaves")
        Traceback (most recent call last):
        ValueError: anlsl has no option 'average': there is threshold
    """
    if not isinstance(variant, ValueVariant):
        if not isinstance(variant, str) or variant not in VALUE_VARIANTS:
            raise ValueError(
                f"there is no variant {describe(variant)} of values: choose one of {', '.join(VALUE_VARIANTS)}"
            )
        variant = VALUE_VARIANTS[variant]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in variant.options:
            raise ValueError(f"{variant.name} has no option {option!r}: there is {', '.join(variant.options)}")
    return replace(variant, **given)


def check_rows(
    predictions: Iterable[Any], references: Iterable[Any], row_name: RowName = name_row
) -> tuple[list[Any], list[Any]]:
    """Refuse what ANLS* cannot score, before anything of it is kept.

    Args:
        predictions: N values.
        references: N values, in the same order.
        row_name: what an error calls a row, by its place.

    Returns:
        Both columns, as lists.

    Raises:
        ValueError: what is wrong, in which row, and where in its value.

    Example:
        >>> check_rows([{"n": 1}, {"items": ["a", b"b"]}], [{"n": "1"}, {"items": []}])
        Traceback (most recent call last):
        ValueError: the prediction of row 1 (counted from 0), items[1], is b'b' (bytes): decode the bytes first
    """
    return _checked_values(*_columns(predictions, references), row_name)


def from_json(value: Any) -> Any:
    """A value as JSON has it, which knows no tuples: ``{"__tuple__": [...]}`` is one of several.

    Args:
        value: what ``json.load`` returned.

    Returns:
        The same, with tuples.

    Raises:
        ValueError: a dict with "__tuple__" and other keys, or without a list behind it.

    Example:
        >>> from_json({"date": {"__tuple__": ["31.12.2023", "31 Dec 2023"]}, "pages": [1]})
        {'date': ('31.12.2023', '31 Dec 2023'), 'pages': [1]}
    """
    try:
        return _with_tuples(value)
    except RecursionError:
        raise ValueError("the value is nested too deep, or holds itself: pass a flatter one") from None


def _with_tuples(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_tuples(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "__tuple__" not in value:
        return {key: _with_tuples(item) for key, item in value.items()}
    if len(value) > 1 or not isinstance(value["__tuple__"], list):
        raise ValueError(f'{describe(value)}: write one of several values as {{"__tuple__": [...]}}, and nothing else')
    return tuple(_with_tuples(item) for item in value["__tuple__"])


def to_json(value: Any) -> Any:
    """A value as JSON can write it: what `from_json` reads.

    Args:
        value: a value that can be scored.

    Returns:
        The same, where a tuple is ``{"__tuple__": [...]}``.

    Raises:
        ValueError: a dict with a key that JSON does not have: one that is no text, or "__tuple__" itself.

    Example:
        >>> to_json({"date": ("31.12.2023", "31 Dec 2023"), "pages": [1]})
        {'date': {'__tuple__': ['31.12.2023', '31 Dec 2023']}, 'pages': [1]}
    """
    if isinstance(value, (list, tuple)):
        items = [to_json(item) for item in value]
        return items if isinstance(value, list) else {"__tuple__": items}
    if isinstance(value, float):
        return float(value)
    if value is None or type(value) in (str, int, bool):
        return value
    if not isinstance(value, dict):  # an enumeration and the like: it is compared as that text
        return str(value)
    for key in value:
        if not isinstance(key, str) or key == "__tuple__":
            raise ValueError(f"the key {describe(key)} cannot be written as JSON: name it by another text")
    return {key: to_json(item) for key, item in value.items()}


# --------------------------------------------------------------------------------------------------
# What is asked for
# --------------------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """The options of a call, made ready for comparing."""

    threshold: float
    none_keys: NoneKeys
    furthest: float  # no leaf further away than that, in edits a character, is kept, whatever the rounding

    @property
    def none_key_length(self) -> int:
        """How many leaves a predicted key without a value adds, where the reference does not have it."""
        return 1 if self.none_keys == "counted" else 0


def _make_rule(threshold: float | None, none_keys: NoneKeys) -> _Rule:
    threshold = 0.5 if threshold is None else check_threshold(threshold)
    return _Rule(threshold, _choice(none_keys, NoneKeys, "none_keys"), min(1.0, 1.0 - threshold + 1e-9))


_make_rule_once = lru_cache(maxsize=64, typed=True)(_make_rule)


def _rule(threshold: float | None, none_keys: NoneKeys) -> _Rule:
    try:
        return _make_rule_once(threshold, none_keys)
    except TypeError:  # an argument that cannot be hashed is a wrong one: it is named there
        return _make_rule(threshold, none_keys)


def _choice(value: Any, names: Any, what: str) -> Any:
    if value not in get_args(names):
        raise ValueError(f"{what} is {describe(value)}: it must be one of {', '.join(map(repr, get_args(names)))}")
    return value


# --------------------------------------------------------------------------------------------------
# Values as trees
# --------------------------------------------------------------------------------------------------

# Deeper than any document, and such that the recursion of Python, of 1000 calls, holds it.
_DEEPEST = 300

# What a value is that is no leaf -> what to do. The first that fits is said.
_REMEDIES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda value: isinstance(value, (bytes, bytearray)), "decode the bytes first"),
    (lambda value: isinstance(value, (set, frozenset)), "pass a list"),
    (lambda value: hasattr(value, "isoformat"), "pass the text of the date, for example value.isoformat()"),
    (lambda value: hasattr(value, "tolist"), "pass value.tolist()"),
    (lambda value: isinstance(value, Number), "pass the text that it is to be compared as, for example str(value)"),
    (lambda value: True, "a value is a text, number, bool, None, list or dict"),
)


class _RefusedError(Exception):
    """A value that cannot be scored; `steps` lead to it, the last one first: keys, and places in lists."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.steps: list[str | int] = []


class _Node:
    """A value of a tree: what it is, and how it compares with what was predicted."""

    __slots__ = ("size", "value")
    text: str | None = None  # what of a leaf is compared

    def __init__(self, value: Any, size: int) -> None:
        self.value = value
        self.size = size  # the number of its leaves

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        """This reference with a prediction of any kind."""
        raise NotImplementedError

    def closest(self, pair: _Pair) -> Any:
        """What of this reference is closest to the prediction of the pair."""
        return self.value

    def mismatch(self, prediction: _Node) -> _Pair:
        """This reference with a prediction of another kind: nothing is right."""
        return _Pair(self, prediction, [0.0], max(self.size, prediction.size), False)


class _Pair:
    """A reference compared with a prediction."""

    __slots__ = ("length", "parts", "places", "prediction", "reference", "same", "scores")

    def __init__(
        self,
        reference: _Node,
        prediction: _Node,
        scores: list[float],
        length: int,
        same: bool,
        parts: Sequence[_Pair | _Node] = (),
        places: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.reference = reference  # of several accepted values the one that was chosen
        self.prediction = prediction
        self.scores = scores  # of the leaves, in the order in which they are added
        self.length = length  # by which their sum is divided
        self.same = same  # whether what is closest to the prediction is equal to it
        self.parts = parts  # the pairs inside, a node for one with itself: of a dict by the order of its keys
        self.places = places  # of a list the row and column of each part

    @property
    def average(self) -> float:
        """The sum of the scores over the length; 1 where nothing is expected and nothing given."""
        return _total(self.scores) / self.length if self.length else 1.0

    @property
    def weight(self) -> float:
        """How much speaks for this pair when lists are matched: the average, a bit more where nothing differs."""
        return _more(self.average) if self.same else self.average

    @property
    def closest(self) -> Any:
        """What of the reference is closest to the prediction."""
        return self.reference.closest(self)

    @property
    def inside(self) -> list[_Pair]:
        """The parts, as pairs."""
        return [part if isinstance(part, _Pair) else _Pair(part, part, [1.0], 1, True) for part in self.parts]

    def is_same_inside(self) -> bool:
        """Whether nothing differs for a list or dict around it, where nan is equal to itself."""
        return self.same or self.reference.value is self.prediction.value


def _total(scores: Iterable[float]) -> float:
    """Their sum, added one after the other: `sum` does it in another way from Python 3.12 on."""
    return reduce(add, scores, 0.0)


def _more(average: float) -> float:
    return math.nextafter(average, math.inf)


class _None(_Node):
    """No value: nothing is expected, or nothing was given."""

    __slots__ = ()

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        if _says_nothing(prediction.value):
            return _Pair(self, prediction, [1.0], 1, True)
        return self.mismatch(prediction)

    def closest(self, pair: _Pair) -> Any:
        return pair.prediction.value if pair.same else None


_NOTHING = _None(None, 1)  # each None, and what stands for a key that is not there


def _says_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


class _Leaf(_Node):
    """A text, a number or a bool. All are compared as texts, as the variant "standard" compares them."""

    __slots__ = ("text",)
    text: str
    size = 1

    def __init__(self, value: Any, text: str) -> None:
        self.value = value
        self.text = " ".join(text.lower().split())

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        text, other = self.text, prediction.text
        if other is None:
            return self.mismatch(prediction)
        score = 1.0 if text == other else 1 - Levenshtein.distance(text, other) / max(len(text), len(other))
        scores = [score if score >= rule.threshold else 0.0]
        return _Pair(self, prediction, scores, 1, self.value == prediction.value)


class _Text(_Leaf):
    """A leaf that is a text: one for all places in both values where that text stands."""

    __slots__ = ()


class _Leaves(dict[str, _Text]):
    """The texts of a prediction and its reference."""

    def __missing__(self, text: str) -> _Text:
        leaf = self[text] = _Text(text, text)
        return leaf


class _OneOf(_Node):
    """Several accepted values: the best one counts, of equally good ones the one that is equal, then the first."""

    __slots__ = ("options",)

    def __init__(self, value: Any, options: list[_Node]) -> None:
        super().__init__(value, max(option.size for option in options))
        self.options = options

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        if prediction in self.options:  # itself, not an equal one
            return _Pair(prediction, prediction, [1.0], 1, True)
        pairs = []
        for option in self.options:
            pairs.append(option.compared(prediction, rule))
        return max(pairs, key=lambda pair: (pair.average, pair.same))


class _List(_Node):
    """Values in any order: each is matched with a predicted one, so that the sum of the averages is the highest."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: list[_Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items])

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        if not isinstance(prediction, _List):
            return self.mismatch(prediction)
        here, there = self.items, prediction.items
        table: list[list[_Pair]] = []
        if len(here) == len(there) == 1:  # nothing to choose: what is nested deep is not added up at each level
            places = [(0, 0)]
        elif not here or not there:
            places = []
        elif (found := _matched_flat(self, prediction, rule)) is not None:
            places = found
        else:
            for item in here:
                pairs = []
                for predicted in there:
                    pairs.append(item.compared(predicted, rule))
                table.append(pairs)
            places = _matched([[pair.weight for pair in pairs] for pairs in table])
        scores: list[float] = []
        parts: list[_Pair | _Node] = []
        length, same = self.size + prediction.size, len(here) == len(there)
        for row, column in places:
            item, predicted = here[row], there[column]
            if item is predicted:
                parts.append(item)
                scores.append(1.0)
                length -= 1
            else:
                pair = table[row][column] if table else item.compared(predicted, rule)
                parts.append(pair)
                scores += pair.scores
                length += pair.length - item.size - predicted.size
                same = same and pair.is_same_inside()
        return _Pair(self, prediction, scores, length, same, parts, places)

    def closest(self, pair: _Pair) -> Any:
        if not isinstance(pair.prediction, _List):
            return self.value
        matched = {row for row, _ in pair.places}
        by_column = sorted(zip(pair.places, pair.inside), key=lambda part: part[0][1])
        return [part.closest for _, part in by_column] + [
            item.value for row, item in enumerate(self.items) if row not in matched
        ]


class _Texts(_List):
    """A list of nothing but texts."""

    __slots__ = ()

    def __init__(self, value: Any, items: list[_Node]) -> None:
        self.value, self.items, self.size = value, items, len(items)


class _Dict(_Node):
    """Values by key: each is compared with the predicted one, with None where either has no such key."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: dict[Any, _Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items.values()])

    def compared(self, prediction: _Node, rule: _Rule) -> _Pair:
        if not isinstance(prediction, _Dict):
            return self.mismatch(prediction)
        scores: list[float] = []
        parts: list[_Pair | _Node] = []
        length, same, predicted = 0, True, prediction.items
        for key, item in self.items.items():
            other = predicted.get(key, _NOTHING)
            if item is other:
                parts.append(item)
                scores.append(1.0)
                length += 1
                continue
            pair = item.compared(other, rule)
            parts.append(pair)
            scores += pair.scores
            length += pair.length
            same = same and (pair.is_same_inside() or (key not in predicted and _says_nothing(pair.reference.value)))
        for _, item in () if predicted.keys() <= self.items.keys() else self.extra(prediction):
            same = False
            if _says_nothing(item.value):
                length += rule.none_key_length
            else:
                scores.append(0.0)
                length += max(1, item.size)
        return _Pair(self, prediction, scores, length, same, parts)

    def closest(self, pair: _Pair) -> Any:
        if not isinstance(pair.prediction, _Dict):
            return self.value
        values = {key: part.closest for key, part in zip(self.items, pair.inside)}
        predicted = pair.prediction.items
        return {key: value for key, value in values.items() if key in predicted or not _says_nothing(value)} | {
            key: None for key, item in self.extra(pair.prediction) if not _says_nothing(item.value)
        }

    def extra(self, prediction: _Dict) -> list[tuple[Any, _Node]]:
        """What is predicted under keys that are not here."""
        return [(key, item) for key, item in prediction.items.items() if key not in self.items]


class _Record(_Dict):
    """A dict of nothing but texts, as the row of a table is."""

    __slots__ = ()

    def __init__(self, value: Any, items: dict[Any, _Node]) -> None:
        self.value, self.items, self.size = value, items, len(items)


def _tree(value: Any, is_reference: bool, leaves: _Leaves, depth: int = 0) -> _Node:
    """A value as a tree. Each kind of container says with which step an item of it was refused."""
    if type(value) is str:
        return leaves[value]
    if depth > _DEEPEST:
        raise _RefusedError(f"is nested more than {_DEEPEST} levels deep, or holds itself: pass a flatter value")
    if isinstance(value, (list, tuple)):
        if isinstance(value, tuple) and not is_reference:
            raise _RefusedError("is a tuple, which means one of several values in a reference: pass a list")
        items: list[_Node] = []
        of_list: type[_List] = _Texts
        try:
            for item in value:
                if type(item) is str:
                    items.append(leaves[item])
                else:
                    items.append(_tree(item, is_reference, leaves, depth + 1))
                    of_list = _List
        except _RefusedError as refused:
            refused.steps.append(len(items))
            raise
        if isinstance(value, list):
            return of_list(value, items)
        if not items:
            raise _RefusedError("is an empty tuple, one of no values: pass at least one")
        return _OneOf(value, items)
    if isinstance(value, dict):
        fields: dict[Any, _Node] = {}
        key = None
        of_dict: type[_Dict] = _Record
        try:
            for key, item in value.items():
                if type(item) is str:
                    fields[key] = leaves[item]
                else:
                    fields[key] = _tree(item, is_reference, leaves, depth + 1)
                    of_dict = _Dict
        except _RefusedError as refused:
            refused.steps.append(_step(key))
            raise
        return of_dict(value, fields)
    if value is None:
        return _NOTHING
    if isinstance(value, (str, float, int)):
        try:
            plain = float(value) if isinstance(value, float) else value  # numpy's compares as an array does
            return _Leaf(plain, str(plain))
        except ValueError:  # Python writes no whole number of more than 4300 digits
            raise _RefusedError("is a whole number of thousands of digits: pass it as a text") from None
    remedy = next(remedy for fits, remedy in _REMEDIES if fits(value))
    raise _RefusedError(f"is {describe(value)}: {remedy}")


def _step(key: Any) -> str:
    """A key in a path."""
    if isinstance(key, str) and key.isidentifier() and len(key) <= 60:
        return f".{key}"
    text = repr(key)
    return f"[{text if len(text) <= 60 else text[:57] + '...'}]"


def _trees(prediction: Any, reference: Any, row: str = "") -> tuple[_Node, _Node]:
    """The trees of both sides, or an error that says where something cannot be scored."""
    reference = _unwrap(reference)
    if isinstance(prediction, str) and _is_list_of_texts(reference):
        reference = tuple(reference)  # as in classical question answering: one of these
    leaves = _Leaves()
    side = "prediction"
    try:
        predicted = _tree(prediction, False, leaves)
        side = "reference"
        return predicted, _tree(reference, True, leaves)
    except _RefusedError as refused:
        raise ValueError(f"{_name_part(_name_side(side, row), refused.steps[::-1])} {refused}") from None


def _unwrap(reference: Any) -> Any:
    """The only value of a tuple, which is what the tuple stands for."""
    while isinstance(reference, tuple) and len(reference) == 1:
        reference = reference[0]
    return reference


def _name_side(side: str, row: str) -> str:
    """What an error calls one side of a row."""
    return f"the {side} of {row}" if row else f"the {side}"


def _name_part(whole: str, steps: Sequence[str | int]) -> str:
    """What an error calls a part of a value, to which keys and places in lists lead."""
    if not steps:
        return whole
    path = "".join(step if isinstance(step, str) else f"[{step}]" for step in steps).removeprefix(".")
    has_place = any(isinstance(step, int) for step in steps)
    return f"{whole}, {path}{' (counted from 0)' if has_place and 'counted from 0' not in whole else ''},"


def _is_list_of_texts(reference: Any) -> bool:
    return isinstance(reference, list) and bool(reference) and all(isinstance(item, str) for item in reference)


def _columns(predictions: Iterable[Any], references: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Both columns as lists of one length."""
    predictions = as_column(predictions, "predictions", "pass a list with one value for each row")
    references = as_column(references, "references", "pass a list with one value for each row")
    if len(predictions) != len(references):
        raise ValueError(
            f"there are {len(predictions)} predictions but {len(references)} references: pass one for each prediction"
        )
    return predictions, references


def _star(threshold: float | None, none_keys: NoneKeys) -> ValueVariant:
    return ValueVariant("anls_star", _rule(threshold, none_keys).threshold, none_keys)


def _checked_values(predictions: list[Any], references: list[Any], row_name: RowName) -> tuple[list[Any], list[Any]]:
    for row, (prediction, reference) in enumerate(zip(predictions, references)):
        _trees(prediction, reference, row_name(row))
    return predictions, references


def _star_rows(
    predictions: list[Any], references: list[Any], variant: ValueVariant, row_name: RowName
) -> list[RowScore]:
    rule = _rule(variant.threshold, variant.none_keys)
    rows = []
    for row, (prediction, reference) in enumerate(zip(predictions, references)):
        predicted, accepted = _trees(prediction, reference, row_name(row))
        pair = accepted.compared(predicted, rule)
        rows.append(RowScore(pair.scores, pair.length))
    return rows


# --------------------------------------------------------------------------------------------------
# Flat lists in one go
# --------------------------------------------------------------------------------------------------
#
# What is said above holds for all values. Most long lists are flat, though: texts and the like ("singles"), or dicts of
# them, the rows of a table. Here the weights of all their pairs come in one go, the same bits in a fraction of the
# time: in lists, or, where there are many, in arrays of numpy, if it is there. Most predicted texts are equal to one
# that is accepted, which saves all distances from it (`_matched_equals`).

# Pairs from which on it pays: to take them in one go, to do so in arrays, and to import numpy for that.
_SEVERAL, _MANY, _VERY_MANY = 6, 250, 1000

_Table = Any  # a row for each reference, in it a number for each prediction: a list of lists, or an array


class _Lists:
    """Tables as lists of lists."""

    @staticmethod
    def scores(texts: Sequence[str | None], others: Sequence[str | None], rule: _Rule) -> _Table:
        """The score of each text with each of the others, 0 where one of them is None."""
        table = []
        for text in texts:
            scores = [0.0] * len(others)
            if text is not None:  # only what can be kept comes back, and nothing for None
                for _, ratio, place in extract(text, others, scorer=_RATIO, limit=None, score_cutoff=rule.furthest):
                    if 1 - ratio >= rule.threshold:
                        scores[place] = 1 - ratio
            table.append(scores)
        return table

    @staticmethod
    def best(table: _Table, starts: list[int]) -> _Table:
        """Of the rows from each start to the next the highest numbers."""
        ends = [*starts[1:], len(table)]
        return [list(map(max, zip(*table[start:end]))) for start, end in zip(starts, ends)]

    @staticmethod
    def zeros(rows: int, columns: int) -> _Table:
        return [[0.0] * columns for _ in range(rows)]

    @staticmethod
    def stacked(rows: list[Any]) -> _Table:
        return rows

    @staticmethod
    def plus(table: _Table, other: _Table) -> _Table:
        return [list(map(add, *rows)) for rows in zip(table, other)]

    @staticmethod
    def averages(totals: _Table, lengths: list[int], others: list[int]) -> tuple[_Table, Iterable[tuple[int, int]]]:
        """The totals over the lengths, and where a total is the length but for what is counted for its row, or more."""
        table, places = [], []
        divisors = [length or 1 for length in lengths]
        for row, (numbers, less) in enumerate(zip(totals, others)):
            table.append(list(map(truediv, numbers, divisors)))
            if max(numbers) >= min(lengths) - less:
                places += [(row, place) for place, length in enumerate(lengths) if numbers[place] >= length - less]
        return table, places

    @staticmethod
    def costs(weights: _Table, size: int) -> tuple[_Table, list[int]]:
        """Step 1 of `_matched`."""
        most, padding = max(map(max, weights)), [0.0] * (size - len(weights[0]))
        costs = [[0.0] * size for _ in range(size)]
        zeros = [(1 << size) - 1] * size  # for each row the columns that cost nothing, as bits
        for row, of_row in enumerate(weights):
            least = 0.0 if padding else most - max(of_row)
            costs[row] = [most - weight - least for weight in of_row] + padding
            zeros[row], column = 0, -1
            for _ in range(costs[row].count(0.0)):
                column = costs[row].index(0.0, column + 1)
                zeros[row] |= 1 << column
        return costs, zeros

    @staticmethod
    def nearest(weights: _Table, most: float) -> list[int]:
        """For each row the first column that costs least, where the highest of all weights is known."""
        columns = []
        for of_row in weights:
            costs = [most - weight for weight in of_row]
            columns.append(costs.index(min(costs)))
        return columns

    @staticmethod
    def reduce(costs: _Table, zeros: list[int], covered: list[bool], uncovered: int) -> None:
        """Step 6 of `_matched`: the least uncovered cost is added to covered rows and taken from uncovered columns."""
        columns = [column for column in range(len(costs)) if uncovered >> column & 1]
        open_rows = [row for row, is_covered in zip(costs, covered) if not is_covered]
        least = min([min([row[column] for column in columns]) for row in open_rows])
        for place, row in enumerate(costs):
            if covered[place]:
                row[:] = [cost + least for cost in row]
                zeros[place] = 0
            for column in columns:
                row[column] -= least
                if not row[column]:
                    zeros[place] |= 1 << column


class _Arrays:
    """The same with numpy."""

    @staticmethod
    def scores(texts: Sequence[str | None], others: Sequence[str | None], rule: _Rule) -> _Table:
        given = [[text or "" for text in side] for side in (texts, others)]
        table = 1 - cdist(*given, scorer=_RATIO, dtype=_numpy().float64)
        table[table < rule.threshold] = 0
        if None in texts:
            table[[text is None for text in texts]] = 0
        if None in others:
            table[:, [text is None for text in others]] = 0
        return table

    @staticmethod
    def best(table: _Table, starts: list[int]) -> _Table:
        return _numpy().maximum.reduceat(table, starts)

    @staticmethod
    def zeros(rows: int, columns: int) -> _Table:
        return _numpy().zeros((rows, columns))

    @staticmethod
    def stacked(rows: list[Any]) -> _Table:
        return _numpy().array(rows)

    @staticmethod
    def plus(table: _Table, other: _Table) -> _Table:
        return table + other

    @staticmethod
    def averages(totals: _Table, lengths: list[int], others: list[int]) -> tuple[_Table, Iterable[tuple[int, int]]]:
        numpy = _numpy()
        places = numpy.argwhere(totals >= lengths - numpy.array(others)[:, None])
        return totals / numpy.maximum(lengths, 1), places.tolist()

    @staticmethod
    def costs(weights: _Table, size: int) -> tuple[_Table, list[int]]:
        costs = _numpy().zeros((size, size))
        costs[: weights.shape[0], : weights.shape[1]] = weights.max() - weights
        costs -= costs.min(axis=1)[:, None]
        return costs, _Arrays.zeros_of(costs)

    @staticmethod
    def nearest(weights: _Table, most: float) -> list[int]:
        return list(map(int, (most - weights).argmin(axis=1)))

    @staticmethod
    def zeros_of(costs: _Table) -> list[int]:
        bits = _numpy().packbits(costs == 0, axis=1, bitorder="little")
        return [int.from_bytes(row.tobytes(), "little") for row in bits]

    @staticmethod
    def reduce(costs: _Table, zeros: list[int], covered: list[bool], uncovered: int) -> None:
        rows = _numpy().array(covered)
        columns = _numpy().array([bool(uncovered >> column & 1) for column in range(len(costs))])
        least = costs[~rows][:, columns].min()
        costs[rows] += least
        costs[:, columns] -= least
        zeros[:] = _Arrays.zeros_of(costs)


_RATIO = Levenshtein.normalized_distance
_Kernel = type[_Lists] | type[_Arrays]
_Weigh = Callable[[Sequence[_Node], "_Column", _Rule, _Kernel], _Table]


@lru_cache(maxsize=1)
def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


_items: Callable[[_Node], dict[Any, _Node]] = attrgetter("items")  # of a dict


class _Column:
    """Predictions that several references are compared with."""

    def __init__(self, nodes: Sequence[_Node]) -> None:
        self.nodes = nodes
        self.texts = [node.text for node in nodes]
        self._keys: dict[Any, _Column] = {}

    def of_key(self, key: Any) -> _Column:
        """What each of them, which are dicts, holds under a key."""
        if key not in self._keys:
            self._keys[key] = _Column([items.get(key, _NOTHING) for items in map(_items, self.nodes)])
        return self._keys[key]

    @cached_property
    def nothing(self) -> list[int]:
        """The places of those that say nothing."""
        return [place for place, node in enumerate(self.nodes) if _says_nothing(node.value)]

    @cached_property
    def _places(self) -> dict[Any, list[int]]:
        places: dict[Any, list[int]] = {}
        for place, node in enumerate(self.nodes):
            if node.value == node.value:  # nan is not
                places.setdefault(node.value, []).append(place)
        return places

    def equal_to(self, single: _Node) -> Sequence[int]:
        """The places of those from which what is closest to them does not differ."""
        return self.nothing if single.text is None else self._places.get(single.value, ())


def _matched_flat(reference: _List, prediction: _List, rule: _Rule) -> list[tuple[int, int]] | None:
    """What `_matched` says of two lists, None where they are not flat."""
    here, there = reference.items, prediction.items
    pairs = len(here) * len(there)
    many = pairs >= (_MANY if "numpy" in sys.modules else _VERY_MANY) and _numpy() is not None
    kernel = _Arrays if many else _Lists
    if type(reference) is type(prediction) is _Texts:
        return _matched_equals(here, there, (here, there), (_scores, _weigh_singles), rule, kernel)
    if {*map(type, here), *map(type, there)} == {_Record}:
        keys = [[frozenset(items.items()) for items in map(_items, side)] for side in (here, there)]
        return _matched_equals(here, there, keys, (_weigh_dicts, _weigh_dicts), rule, kernel)
    if pairs < _SEVERAL:
        return None
    for is_flat, weigh in ((_is_single, _weigh_singles), (_is_dict_of_singles, _weigh_dicts)):
        if all(map(is_flat, there)) and all(map(is_flat, here)):
            return _matched(weigh(here, _Column(there), rule, kernel))
    return None


def _matched_equals(
    here: Sequence[_Node],
    there: Sequence[_Node],
    keys: Sequence[Sequence[Any]],
    weigh: tuple[_Weigh, _Weigh],  # those that equal none, and all
    rule: _Rule,
    kernel: _Kernel,
) -> list[tuple[int, int]]:
    """What `_matched` says where items are equal if, and only if, their keys are: those need no distance.

    An item costs nothing with those that are equal to it, another with the nearest. Where no two take the same place,
    that is how step 2 of `_matched` ends; else it has to see all weights.
    """
    column, weighed = _Column(there), {}
    places = dict(zip(keys[1], range(len(there))))
    rest = [row for row, key in enumerate(keys[0]) if key not in places]
    if len(rest) < len(here) <= len(there):
        if len(places) < len(there):  # of equal ones each takes the next
            keys = [_numbered(side) for side in keys]
            places = dict(zip(keys[1], range(len(there))))
        stars = [places.get(key, -1) for key in keys[0]]
        if rest and stars.count(-1) == len(rest):
            weights = weigh[0]([here[row] for row in rest], column, rule, kernel)
            for row, star in zip(rest, kernel.nearest(weights, _more(1.0))):
                stars[row] = star
            weighed = dict(zip(rest, weights))
        if -1 not in stars and len(set(stars)) == len(stars):
            return list(enumerate(stars))
    others = [row for row in range(len(here)) if row not in weighed]
    weighed.update(zip(others, weigh[1]([here[row] for row in others], column, rule, kernel)))
    return _matched(kernel.stacked([weighed[row] for row in range(len(here))]))


def _numbered(keys: Sequence[Any]) -> list[tuple[Any, int]]:
    """Each key and how many equal ones are before it."""
    seen: dict[Any, int] = {}
    numbered = []
    for key in keys:
        seen[key] = number = seen.get(key, -1) + 1
        numbered.append((key, number))
    return numbered


def _weigh_singles(references: Sequence[_Node], predictions: _Column, rule: _Rule, kernel: _Kernel) -> _Table:
    """The weight of each pair of singles: what `_Pair.weight` is, without the pair."""
    return _scores(references, predictions, rule, kernel, weigh=True)


def _scores(
    references: Sequence[_Node], predictions: _Column, rule: _Rule, kernel: _Kernel, weigh: bool = False
) -> _Table:
    """The score of each pair of singles, or its weight; of several options the best."""
    starts: list[int] = []
    leaves = references
    if _OneOf in set(map(type, references)):
        leaves = []
        for reference in references:
            starts.append(len(leaves))
            leaves += _options(reference)
    texts = [leaf.text for leaf in leaves]
    table = kernel.scores(texts, predictions.texts, rule)
    for leaf, scores in zip(leaves, table) if weigh or None in texts else ():
        if leaf.text is None:
            for place in predictions.nothing:
                scores[place] = 1.0
        if weigh:
            for place in predictions.equal_to(leaf):
                scores[place] = _more(scores[place])
    return kernel.best(table, starts) if starts else table


def _weigh_dicts(references: Sequence[_Node], predictions: _Column, rule: _Rule, kernel: _Kernel) -> _Table:
    """The weight of each pair of dicts of singles; those with the same keys in the same order are scored key by key."""
    weights: list[Any] = [None] * len(references)
    rows_of_keys: dict[tuple[Any, ...], list[int]] = {}
    for row, reference in enumerate(references):
        rows_of_keys.setdefault(tuple(_items(reference)), []).append(row)
    counting = [_counting_keys(items, rule) for items in map(_items, predictions.nodes)]
    for keys, rows in rows_of_keys.items():
        alike = [_items(references[row]) for row in rows]
        lengths = [len(others | alike[0].keys()) for others in counting]
        totals = kernel.zeros(len(rows), len(lengths)) if not keys else None
        for key in keys:
            scores = _scores([items[key] for items in alike], predictions.of_key(key), rule, kernel)
            totals = scores if totals is None else kernel.plus(totals, scores)
        others = [_unlike(references[row]) for row in rows]
        table, places = kernel.averages(totals, lengths, others)
        for row, place in places:
            reference, node = references[rows[row]], predictions.nodes[place]
            if others[row] or not lengths[place]:
                table[row][place] = reference.compared(node, rule).weight
            elif node.value == reference.value:
                table[row][place] = _more(table[row][place])
        if len(rows) == len(references):
            return table
        for row, of_row in zip(rows, table):
            weights[row] = of_row
    return kernel.stacked(weights)


def _unlike(reference: _Node) -> int:
    """How many items of a dict may be equal to what is predicted though they are not right: what is no text can be so
    (1, True), and an empty text to a key that is not there.
    """
    if type(reference) is _Record and all(reference.value.values()):
        return 0
    return sum([type(item) is not _Text or not item.value for item in _items(reference).values()])


def _counting_keys(items: dict[Any, _Node], rule: _Rule) -> Set[Any]:
    return items.keys() if rule.none_key_length else {key for key in items if not _says_nothing(items[key].value)}


def _options(single: _Node) -> list[_Node]:
    return [leaf for option in single.options for leaf in _options(option)] if isinstance(single, _OneOf) else [single]


def _is_single(node: _Node) -> bool:
    return isinstance(node, (_Leaf, _None)) or (isinstance(node, _OneOf) and all(map(_is_single, node.options)))


def _is_dict_of_singles(node: _Node) -> bool:
    return isinstance(node, _Dict) and all(map(_is_single, node.items.values()))


# --------------------------------------------------------------------------------------------------
# Matching lists
# --------------------------------------------------------------------------------------------------


def _matched(weights: _Table) -> list[tuple[int, int]]:
    """Each row with a column of its own, so that the sum of the weights is the highest: (row, column), by row.

    Of equally good matchings it is that of Munkres 1.1.4 by Brian M. Clapper (Apache-2.0,
    https://software.clapper.org/munkres/): written anew, with the order in which that program looks for zeros and
    the order in which it adds and subtracts floats. Its six steps are named below.
    """
    width = len(weights[0])
    size = max(len(weights), width)
    # Step 1: weights become costs, and the least cost of a row is taken from the whole row.
    kernel = _Lists if isinstance(weights, list) else _Arrays
    costs, zeros = kernel.costs(weights, size)
    star_in_row, free = _starred(zeros, size)
    star_in_column = [-1] * size
    for place, column in enumerate(star_in_row):
        if column >= 0:
            star_in_column[column] = place
    while free:  # Step 3: until each column has a star
        place, column, primes = _prime_without_star(costs, zeros, star_in_row, free, kernel)
        # Step 5: primes become stars, and stars give way, along the path that begins there.
        while place >= 0:
            before = star_in_column[column]
            star_in_row[place], star_in_column[column] = column, place
            last, place, column = column, before, primes[before]
        free ^= 1 << last
    return [(place, column) for place, column in enumerate(star_in_row[: len(weights)]) if column < width]


def _starred(zeros: list[int], size: int) -> tuple[list[int], int]:
    """Step 2: a zero is starred where neither its row nor its column has a star yet. The star of each row, or -1, and
    the columns that are free.
    """
    stars, free = [], (1 << size) - 1
    for of_row in zeros:
        star = of_row & free
        star &= -star
        stars.append(star.bit_length() - 1)
        free ^= star
    return stars, free


def _prime_without_star(
    costs: _Table, zeros: list[int], star_in_row: list[int], uncovered: int, kernel: _Kernel
) -> tuple[int, int, list[int]]:
    """Steps 4 and 6: zeros are primed until one has no star in its row. Its place, and the prime of each row."""
    size = len(costs)
    primes, covered = [-1] * size, [False] * size
    start = column = 0
    while True:
        # From the last place on, around the table: the first row with a zero, and there the last one of it.
        for row in (*range(start, size), *range(start)):
            if zeros[row] & uncovered and not covered[row]:
                break
        else:
            kernel.reduce(costs, zeros, covered, uncovered)
            start = column = 0
            continue
        found = zeros[row] & uncovered
        column = (found & ((1 << column) - 1) or found).bit_length() - 1
        primes[row] = column
        if star_in_row[row] < 0:
            return row, column, primes
        covered[row], start, column = True, row, star_in_row[row]
        uncovered |= 1 << column


def _numpy_sum(numbers: list[float]) -> float:
    """Their sum as `numpy.sum` adds them, by which DUDE's script does: in eight strands, and from 129 on in halves."""
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return _numpy_sum(numbers[:half]) + _numpy_sum(numbers[half:])
    whole = len(numbers) // 8 * 8
    if not whole:
        return _total(numbers)
    a, b, c, d, e, f, g, h = (_total(numbers[place:whole:8]) for place in range(8))
    return reduce(add, numbers[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))


# --------------------------------------------------------------------------------------------------
# ANLSL: lists of texts
# --------------------------------------------------------------------------------------------------


class _ListPairs(NamedTuple):
    """Two lists of texts, whose items are matched one to one: (place in the prediction, place in the reference)."""

    answered: list[str]
    accepted: list[str]
    places: list[tuple[int, int]]
    scores: list[float]  # of the matched, in the order in which the original adds them

    @property
    def length(self) -> int:
        return max(len(set(self.accepted)), len(self.answered))

    @property
    def score(self) -> float:
        return _numpy_sum(self.scores) / self.length

    @property
    def closest(self) -> list[str]:
        """The accepted items in the order of those that they are matched with."""
        matched = {there for _, there in self.places}
        return [self.accepted[there] for _, there in sorted(self.places)] + [
            text for there, text in enumerate(self.accepted) if there not in matched
        ]

    def leaves(self, threshold: float) -> Iterator[Leaf]:
        """Each item and why it scores what it scores."""
        matched, there_of = {there for _, there in self.places}, dict(self.places)
        for here, text in enumerate(self.answered):
            path = f"[{here}]"
            if here not in there_of:
                yield Leaf("extra", path, None, text, None, 0.0, 1)
                continue
            accepted = self.accepted[there_of[here]]
            why = explain(text, [accepted], variant="rrc", threshold=threshold)
            yield Leaf("text", path, f"[{there_of[here]}]", text, accepted, why.score, 1, why)
        for there, text in enumerate(self.accepted):
            if there not in matched:
                yield Leaf("missing", None, f"[{there}]", None, text, 0.0, 1)


def _lists(prediction: Any, references: Any, row: str = "") -> tuple[list[str], list[str]]:
    """Both sides as lists of texts, or an error that says what of a row is none."""
    accepted = as_references(_unwrap(references), _name_side("references", row))
    if isinstance(prediction, str):
        return [as_text(prediction, "")], list(accepted)
    what = _name_side("prediction", row)
    column = as_column(prediction, what, "pass a list of strings, the items that were answered")
    return [as_text(text, f"{what}, item {place},") for place, text in enumerate(column)], list(accepted)


def _list_pairs(answered: list[str], accepted: list[str], threshold: float) -> _ListPairs:
    if not answered:
        return _ListPairs(answered, accepted, [], [])
    shorter, longer = (accepted, answered) if len(accepted) < len(answered) else (answered, accepted)
    pairs = [text for text in shorter for _ in longer], [other for _ in shorter for other in longer]
    scores = anls_scores(*pairs, threshold=threshold, variant="rrc")
    table = [scores[start : start + len(longer)] for start in range(0, len(scores), len(longer))]
    places = _matched(table)
    matched = [table[row][column] for row, column in places]
    both_ways = places if shorter is answered else [(column, row) for row, column in places]
    return _ListPairs(answered, accepted, both_ways, matched)


def _checked_lists(predictions: list[Any], references: list[Any], row_name: RowName) -> tuple[list[Any], list[Any]]:
    rows = [
        _lists(prediction, accepted, row_name(row))
        for row, (prediction, accepted) in enumerate(zip(predictions, references))
    ]
    return [answered for answered, _ in rows], [accepted for _, accepted in rows]


def _list_rows(
    predictions: list[Any], references: list[Any], variant: ValueVariant, row_name: RowName
) -> list[RowScore]:
    rows = zip(*_checked_lists(predictions, references, row_name))
    return [RowScore([_list_pairs(*row, variant.threshold).score], 1) for row in rows]


# --------------------------------------------------------------------------------------------------
# Why a score is what it is
# --------------------------------------------------------------------------------------------------

Kind = Literal["text", "no answer", "answer to nothing", "missing", "extra", "another kind"]

# How a leaf of the prediction and one of the reference stand to each other -> the sentence that says it.
KINDS: Mapping[Kind, str] = {
    "text": "{predicted} and {accepted}, compared as texts",
    "no answer": "no answer is expected and none is given, so 1",
    "answer to nothing": "{predicted} where no answer is expected, so 0",
    "missing": "{accepted} is accepted and nothing is there, so 0",
    "extra": "{predicted} where the reference has nothing, so 0",
    "another kind": "{predicted} where {accepted} is accepted, so 0",
}
_NAMES: Mapping[type, str] = {
    str: "a text",
    bool: "a bool",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a dict",
}


@dataclass(frozen=True)
class KeyScore:
    """What the values of a key score, over all places where it stands.

    Attributes:
        score: the mean of its scores.
        children: the keys inside its values.
    """

    score: float
    children: dict[str, KeyScore] = field(default_factory=dict)


@dataclass(frozen=True)
class Leaf:
    """A leaf, or a part of a value that has no counterpart, and why it scores what it scores.

    Attributes:
        kind: a key of `KINDS`.
        prediction_path: where it stands in the prediction, as in ``items[2].price``; None where it is not there.
        reference_path: the same for the reference.
        prediction: what was predicted there, None where nothing was.
        reference: what is accepted there (of several the one that was chosen), None where nothing is.
        score: the score, from 0 to 1.
        length: how many leaves it stands for in the length of the value.
        text: how its text compares, an ``anls.Explanation``; None where no texts are compared.
    """

    kind: Kind
    prediction_path: str | None
    reference_path: str | None
    prediction: Any
    reference: Any
    score: float
    length: int
    text: Explanation | None = None

    @property
    def path(self) -> str:
        """Where it stands: in the prediction, or in the reference where it is missing."""
        return (self.reference_path if self.prediction_path is None else self.prediction_path) or ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The steps from the predicted text to the accepted one."""
        return () if self.text is None else self.text.best.edits

    @property
    def sentence(self) -> str:
        """Why it scores what it scores, in plain words."""
        if self.text:
            return str(self.text)
        predicted, accepted = map(_named, (self.prediction, self.reference))
        counted = f" of {self.length} leaves" if self.length > 1 else ""
        return KINDS[self.kind].format(predicted=predicted, accepted=accepted) + counted

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


@dataclass(frozen=True)
class Branch:
    """A value inside a value, with what is inside it in turn: an explanation as a tree, to be shown.

    Attributes:
        name: how it is reached from what is around it, ``.price`` or ``[2]`` (of the prediction); "" for the whole.
        prediction: what was predicted there, None where nothing was.
        reference: what is accepted there (of several the one that was chosen), None where nothing is.
        score: its own, from 0 to 1.
        length: how many leaves it has.
        children: what is inside it; none of a leaf.
        leaf: what is known of a leaf; None where there is more inside.
    """

    name: str
    prediction: Any
    reference: Any
    score: float
    length: int
    children: tuple[Branch, ...] = ()
    leaf: Leaf | None = None

    @property
    def leaves(self) -> Iterator[Leaf]:
        """All leaves that it has."""
        if self.leaf is not None and self.leaf.length:
            yield self.leaf
        for child in self.children:
            yield from child.leaves

    @property
    def sentence(self) -> str:
        """Why it scores what it scores, in plain words."""
        return self.leaf.sentence if self.leaf else _counted(self)


def _counted(of: Branch | StarExplanation) -> str:
    if not of.length:
        return "nothing is expected and nothing given, so 1"
    scores = [leaf.score for leaf in of.leaves]
    close = sum(0 < score < 1 for score in scores)
    return f"{scores.count(1)} of {of.length} leaves right, {close} close, so {of.score:.4f}"


def _named(value: Any) -> str:
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "nothing")


@dataclass(frozen=True)
class StarExplanation:
    """Why a value has its ANLS*; as a string, one plain sentence.

    Attributes:
        prediction: the value, as given.
        reference: the reference, as given; a tuple of one value as that value.
        score: the score, from 0 to 1.
        length: the number of leaves, by which the sum of their scores is divided.
        closest: the accepted value that is closest to the prediction: of several the one that was chosen, lists in the
            order of the prediction.
        key_scores: what each key of dicts scores, by its name.
        tree: the value as a tree, with a score at each branch and leaf.
        threshold: the one that gave the score.
        none_keys: "counted" or "ignored".
    """

    prediction: Any
    reference: Any
    score: float
    length: int
    closest: Any
    key_scores: dict[str, KeyScore]
    tree: Branch
    threshold: float
    none_keys: NoneKeys

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, in the order of ``closest``."""
        return tuple(self.tree.leaves)

    @property
    def signature(self) -> str:
        """Which metric the score is."""
        return ValueVariant("anls_star", self.threshold, self.none_keys).signature()

    def __str__(self) -> str:
        return _counted(self)


@dataclass(frozen=True)
class ListExplanation(StarExplanation):
    """Why a list has its ANLSL; as a string, one plain sentence. There are no keys."""

    none_keys: NoneKeys = "counted"

    @property
    def signature(self) -> str:
        """Which metric the score is."""
        return ValueVariant("anlsl", self.threshold).signature()


def _key_scores(pair: _Pair) -> dict[str, KeyScore]:
    """The scores of the keys, merged by name: the mean of those that stand at one path of names."""
    found: dict[tuple[str, ...], list[float]] = {}
    for path, score in _scores_of_keys(pair, ()):
        found.setdefault(path, []).append(score)
    top = KeyScore(0.0)
    for path in sorted(found, key=len):
        parent = top
        for name in path[:-1]:
            parent = parent.children[name]
        parent.children[path[-1]] = KeyScore(_total(found[path]) / len(found[path]))
    return top.children


def _scores_of_keys(pair: _Pair, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    reference, prediction = pair.reference, pair.prediction
    if isinstance(reference, _List):
        for _, part in sorted(zip(pair.places, pair.inside), key=lambda part: part[0][1]):
            yield from _scores_of_keys(part, path)
    elif isinstance(reference, _Dict) and isinstance(prediction, _Dict):
        for key, part in zip(reference.items, pair.inside):
            inside = (*path, str(key))
            yield from _scores_of_keys(part, inside)
            yield inside, part.average
        for key, item in reference.extra(prediction):
            if not _says_nothing(item.value):
                yield (*path, str(key)), 0.0


def _branch(pair: _Pair, name: str, here: str | None, there: str | None, rule: _Rule) -> Branch:
    """The tree of a pair that stands `here` in the prediction and `there` in the reference; None: not at all."""
    reference, prediction = pair.reference, pair.prediction
    if isinstance(reference, _List) and isinstance(prediction, _List):
        children = list(_items_of_lists(pair, reference, prediction, here, there, rule))
    elif isinstance(reference, _Dict) and isinstance(prediction, _Dict):
        children = list(_items_of_dicts(pair, reference, prediction, here, there, rule))
    elif isinstance(reference, _Leaf) and isinstance(prediction, _Leaf):
        text = explain(str(prediction.value), [str(reference.value)], threshold=rule.threshold)
        return _branch_of_leaf("text", name, prediction, reference, here, there, 1, text.score, text)
    else:
        kind: Kind = "missing" if here is None else "another kind"
        if isinstance(reference, _None):
            kind = "no answer" if pair.scores == [1.0] else "answer to nothing"
        return _branch_of_leaf(kind, name, prediction, reference, here, there, pair.length, _total(pair.scores))
    counting = tuple(child for child in children if child.length)
    return Branch(name, prediction.value, reference.value, pair.average, pair.length, counting)


def _items_of_lists(
    pair: _Pair, reference: _List, prediction: _List, here: str | None, there: str | None, rule: _Rule
) -> Iterator[Branch]:
    places = {column: (row, part) for (row, column), part in zip(pair.places, pair.inside)}
    for column, item in enumerate(prediction.items):
        name = f"[{column}]"
        if column in places:
            row, part = places[column]
            yield _branch(part, name, f"{here}{name}", f"{there}[{row}]", rule)
        else:
            yield _branch_of_leaf("extra", name, item, None, f"{here}{name}", None, item.size)
    matched = {row for row, _ in places.values()}
    for row, item in enumerate(reference.items):
        if row not in matched:
            yield _branch_of_leaf("missing", f"[{row}]", None, item, None, f"{there}[{row}]", item.size)


def _items_of_dicts(
    pair: _Pair, reference: _Dict, prediction: _Dict, here: str | None, there: str | None, rule: _Rule
) -> Iterator[Branch]:
    for key, part in zip(reference.items, pair.inside):
        step = _step(key)
        predicted = f"{here}{step}" if key in prediction.items else None
        yield _branch(part, step, predicted, f"{there}{step}", rule)
    for key, item in reference.extra(prediction):
        length = rule.none_key_length if _says_nothing(item.value) else max(1, item.size)
        yield _branch_of_leaf("extra", _step(key), item, None, f"{here}{_step(key)}", None, length)


def _branch_of_leaf(
    kind: Kind,
    name: str,
    prediction: _Node | None,
    reference: _Node | None,
    here: str | None,
    there: str | None,
    length: int,
    score: float = 0.0,
    text: Explanation | None = None,
) -> Branch:
    here, there = (path if path is None else path.removeprefix(".") for path in (here, there))
    predicted, accepted = (None if node is None else node.value for node in (prediction, reference))
    return _as_branch(name, Leaf(kind, here, there, predicted, accepted, score, length, text))


def _as_branch(name: str, leaf: Leaf) -> Branch:
    average = leaf.score / leaf.length if leaf.length else 1.0
    return Branch(name, leaf.prediction, leaf.reference, average, leaf.length, (), leaf)


# --------------------------------------------------------------------------------------------------
# The scores as variants
# --------------------------------------------------------------------------------------------------


class _Program(NamedTuple):
    """What stands behind the name of a `ValueVariant`."""

    label: str
    meaning: str
    source: str
    options: tuple[str, ...]
    check: Callable[[list[Any], list[Any], RowName], tuple[list[Any], list[Any]]]
    score: Callable[[list[Any], list[Any], ValueVariant, RowName], list[RowScore]]
    explain: Callable[[Any, Any, ValueVariant], StarExplanation]


def _explain_star(prediction: Any, reference: Any, variant: ValueVariant) -> StarExplanation:
    return explain_star(prediction, reference, threshold=variant.threshold, none_keys=variant.none_keys)


def _explain_list(prediction: Any, reference: Any, variant: ValueVariant) -> StarExplanation:
    return explain_anlsl(prediction, reference, threshold=variant.threshold)


_PROGRAMS: Mapping[str, _Program] = {
    "anls_star": _Program(
        "ANLS*",
        "ANLS*: lists and nested values, leaf by leaf",
        "https://arxiv.org/abs/2402.03848",
        ("none_keys", "average", "threshold"),
        _checked_values,
        _star_rows,
        _explain_star,
    ),
    "anlsl": _Program(
        "ANLSL",
        "ANLSL: lists of texts, matched one to one",
        "https://arxiv.org/abs/2104.14336",
        ("threshold",),
        _checked_lists,
        _list_rows,
        _explain_list,
    ),
}

VALUE_VARIANTS: Mapping[str, ValueVariant] = {name: ValueVariant(name) for name in get_args(Metric)}
"""The scores of values, by name."""
