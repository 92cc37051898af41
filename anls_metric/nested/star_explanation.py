"""Explains the score of a value: its leaves with their edits, the scores of its keys, and the value as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from anls_metric.core.explanation import Edit, Explanation
from anls_metric.core.scoring import explain
from anls_metric.core.variants import Scorer
from anls_metric.nested.lists import List
from anls_metric.nested.row_scores import total
from anls_metric.nested.tree_builder import name_key
from anls_metric.nested.trees import Dict, Node, Nothing, Pair, Rule, Scalar, says_nothing

Kind = Literal["text", "no answer", "answer to nothing", "missing", "extra", "another kind"]

# How a predicted leaf that is not compared as a text compares with the leaf of the reference -> the sentence about it.
_KINDS: Mapping[Kind, str] = {
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
    """The score of a key, over all places where the key occurs.

    Attributes:
        score: the mean score of the values of the key.
        children: the keys inside these values.
    """

    score: float
    children: dict[str, KeyScore] = field(default_factory=dict)


@dataclass(frozen=True)
class Leaf:
    """A leaf, or a part of a value without a counterpart on the other side, and the reason for its score.

    Attributes:
        kind: "text", if texts are compared; "no answer", if none is expected and none is given; "answer to nothing", if
            none is expected; "missing" or "extra", if the other side has nothing; "another kind", if only one side is a
            list or dict.
        prediction_path: the path of the leaf in the prediction, like ``items[2].price``; None if it is missing there.
        reference_path: the path of the leaf in the reference; None if it is missing there.
        prediction: the predicted value; None for none.
        reference: the accepted value, of several alternatives the chosen one; None for none.
        score: the score, from 0 to 1.
        length: the number of leaves that it stands for.
        text: how the texts compare; None if no texts are compared.
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
        """The path in the prediction; if the leaf is missing there, the path in the reference."""
        return (self.reference_path if self.prediction_path is None else self.prediction_path) or ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits from the predicted text to the accepted text, both normalized; () if no texts are compared."""
        return () if self.text is None else self.text.best.edits

    @property
    def sentence(self) -> str:
        """The reason for the score, in plain words."""
        if self.text:
            return str(self.text)
        predicted, accepted = map(_name_kind, (self.prediction, self.reference))
        counted = f" of {self.length} leaves" if self.length > 1 else ""
        return _KINDS[self.kind].format(predicted=predicted, accepted=accepted) + counted

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


@dataclass(frozen=True)
class Branch:
    """A node of an explanation as a tree: a value, and the values inside it.

    Attributes:
        name: the step from the parent, ``.price`` or ``[2]``, by its index in the prediction; "" for the root.
        prediction: the predicted value; None for none.
        reference: the accepted value, of several alternatives the chosen one; None for none.
        score: the score of this value, from 0 to 1.
        length: the number of leaves.
        children: the values inside this value; () for a leaf.
        leaf: the explanation of a leaf; None for a list or dict.
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
        """All leaves at and below this node."""
        if self.leaf is not None and self.leaf.length:
            yield self.leaf
        for child in self.children:
            yield from child.leaves

    @property
    def sentence(self) -> str:
        """The reason for the score, in plain words."""
        return self.leaf.sentence if self.leaf else _summarize(self)


def _summarize(value: Branch | StarExplanation) -> str:
    if not value.length:
        return "nothing is expected and nothing given, so 1"
    scores = [leaf.score for leaf in value.leaves]
    close = sum(0 < score < 1 for score in scores)
    return f"{scores.count(1)} of {value.length} leaves right, {close} close, so {value.score:.4f}"


def _name_kind(value: Any) -> str:
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "nothing")


@dataclass(frozen=True)
class StarExplanation:
    """Why a value has its ANLS*; as a string, one plain sentence.

    Attributes:
        prediction: the value, as given.
        reference: the reference, as given; for a tuple of one value, that value.
        score: the score, from 0 to 1.
        length: the number of leaves, by which the sum of their scores is divided.
        closest: the accepted value that is closest to the prediction, with the chosen alternatives, and with lists in
            the order of the prediction.
        key_scores: the score of each key of a dict, by its name.
        tree: the value as a tree, with a score at each branch and leaf.
        variant: the variant that gave the score.
    """

    prediction: Any
    reference: Any
    score: float
    length: int
    closest: Any
    key_scores: dict[str, KeyScore]
    tree: Branch
    variant: Scorer

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, in the order of ``closest``."""
        return tuple(self.tree.leaves)

    @property
    def signature(self) -> str:
        """The signature of the score. Report it with the score."""
        return self.variant.signature()

    def __str__(self) -> str:
        return _summarize(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentence, and a line for each leaf that does not score 1."""
        from html import escape  # slow to import

        lines = [f"<li>{escape(str(leaf))}</li>" for leaf in self.leaves if leaf.score < 1]
        return f"<p>{escape(str(self))}</p><ul>{''.join(lines)}</ul>"


def score_keys(pairs: Iterable[Pair]) -> dict[str, KeyScore]:
    """Compute the score of each key: the mean over all places with the same path of key names."""
    values: dict[str, list[Pair | None]] = {}
    for pair in pairs:
        for name, part in _iterate_keys(pair):
            values.setdefault(name, []).append(part)
    return {
        name: KeyScore(total(part.average for part in parts if part) / len(parts), score_keys(filter(None, parts)))
        for name, parts in values.items()
    }


def _iterate_keys(pair: Pair) -> Iterator[tuple[str, Pair | None]]:
    """Yield the keys of a dict, or of the dicts in a list, with their pairs; None for a key that scores 0."""
    reference, prediction = pair.reference, pair.prediction
    if isinstance(reference, List):
        for part in pair.sort_by_column():
            yield from _iterate_keys(part)
    elif isinstance(reference, Dict) and isinstance(prediction, Dict):
        for key, part in zip(reference.items, pair.parts):
            yield str(key), part
        for key, item in reference.find_extra(prediction):
            if not says_nothing(item.value):
                yield str(key), None


class _Spot(NamedTuple):
    """The place of a value: its name, and its path on each side, None on a side where it is missing."""

    name: str = ""
    here: str | None = ""
    there: str | None = ""

    def step(self, here: str | None, there: str | None) -> _Spot:
        """Return the place of a part, given the step to it on each side."""
        return _Spot(
            there or "" if here is None else here,
            None if here is None else f"{self.here}{here}",
            None if there is None else f"{self.there}{there}",
        )


def build_branch(pair: Pair, rule: Rule, spot: _Spot = _Spot()) -> Branch:  # noqa: B008
    """Build the tree of a pair and of all pairs inside it."""
    reference, prediction = pair.reference, pair.prediction
    if isinstance(reference, List) and isinstance(prediction, List):
        children = _build_items(pair, reference, prediction, rule, spot)
    elif isinstance(reference, Dict) and isinstance(prediction, Dict):
        children = _build_fields(pair, reference, prediction, rule, spot)
    elif isinstance(reference, Scalar) and isinstance(prediction, Scalar):
        texts = str(prediction.value), [str(reference.value)]
        text = explain(*texts, variant=rule.variant, threshold=rule.threshold)
        return _build_leaf("text", spot, prediction, reference, 1, text.score, text)
    else:
        kind: Kind = "missing" if spot.here is None else "another kind"
        if isinstance(reference, Nothing):
            kind = "no answer" if pair.scores == [1.0] else "answer to nothing"
        return _build_leaf(kind, spot, prediction, reference, pair.length, total(pair.scores))
    counting = tuple(child for child in children if child.length)
    return Branch(spot.name, prediction.value, reference.value, pair.average, pair.length, counting)


def _build_items(pair: Pair, reference: List, prediction: List, rule: Rule, spot: _Spot) -> Iterator[Branch]:
    rows = {column: row for row, column in pair.places}
    parts = dict(zip(rows, pair.parts))
    for column, item in enumerate(prediction.items):
        if column in rows:
            yield build_branch(parts[column], rule, spot.step(f"[{column}]", f"[{rows[column]}]"))
        else:
            yield _build_leaf("extra", spot.step(f"[{column}]", None), item, None, item.size)
    for row in sorted({*range(len(reference.items))} - {*rows.values()}):
        item = reference.items[row]
        yield _build_leaf("missing", spot.step(None, f"[{row}]"), None, item, item.size)


def _build_fields(pair: Pair, reference: Dict, prediction: Dict, rule: Rule, spot: _Spot) -> Iterator[Branch]:
    for key, part in zip(reference.items, pair.parts):
        step = name_key(key)
        yield build_branch(part, rule, spot.step(step if key in prediction.items else None, step))
    for key, item in reference.find_extra(prediction):
        yield _build_leaf("extra", spot.step(name_key(key), None), item, None, rule.count_extra(item))


def _build_leaf(
    kind: Kind,
    spot: _Spot,
    prediction: Node | None,
    reference: Node | None,
    length: int,
    score: float = 0.0,
    text: Explanation | None = None,
) -> Branch:
    here, there = (path if path is None else path.removeprefix(".") for path in (spot.here, spot.there))
    predicted, accepted = (None if node is None else node.value for node in (prediction, reference))
    leaf = Leaf(kind, here, there, predicted, accepted, score, length, text)
    return Branch(spot.name, predicted, accepted, score / length if length else 1.0, length, (), leaf)
