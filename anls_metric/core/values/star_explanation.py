"""Explains the score of a value with its leaves and their edits, the scores of its keys, and the value as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from anls_metric.core.scorer import Scorer
from anls_metric.core.strings.explanation import Edit, Explanation, format_percent
from anls_metric.core.strings.scoring import explain
from anls_metric.core.values.lists import List
from anls_metric.core.values.row_scores import average, total
from anls_metric.core.values.tree_builder import name_key
from anls_metric.core.values.trees import (
    NOTHING,
    Dict,
    Nothing,
    Pair,
    Terms,
    are_unquoted_numbers,
    says_nothing,
    write_number,
)

Kind = Literal["text", "no answer", "answer to nothing", "missing", "extra", "another kind"]

# How a predicted leaf that is not compared as a string compares with the leaf of the reference -> the sentence.
_KINDS: Mapping[Kind, str] = {
    "no answer": "no answer is expected and none is given, so 1",
    "answer to nothing": "{predicted} where no answer is expected, so 0",
    "missing": "{accepted} is accepted and nothing is predicted, so 0",
    "extra": "{predicted} where the reference has nothing, so 0",
    "another kind": "{predicted} where {accepted} is accepted, so 0",
}
_NAMES: Mapping[type, str] = {
    str: "a string",
    bool: "a bool",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a dict",
}


@dataclass(frozen=True)
class KeyScore:
    """The score of a key, averaged over all occurrences of the key.

    Attributes:
        score: the mean score of the values of the key.
        children: the scores of the keys inside the values of the key, by name.
    """

    score: float
    children: dict[str, KeyScore]


@dataclass(frozen=True)
class Leaf:
    """A leaf, or a part of a value that has no counterpart on the other side, with the reason for its score.

    Attributes:
        kind: "text" if strings are compared; "no answer" if none is expected and none is given; "answer to nothing" if
            one is given but none is expected; "missing" or "extra" if the other side has nothing; "another kind" if
            only one side is a list or dict.
        prediction_path: the path of the leaf in the prediction, like ``items[2].price``; None if it is missing there.
        reference_path: the path of the leaf in the reference; None if it is missing there.
        prediction: the predicted value; None if there is none.
        reference: the accepted value, or the chosen one of several alternatives; None if there is none.
        score: the score, from 0 to 1.
        length: the number of leaves that this leaf or part stands for.
        text: the explanation of how the strings compare; None if no strings are compared.
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
        """The path of the leaf in the prediction or, if the leaf is missing there, in the reference."""
        return self.prediction_path or self.reference_path or ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits from the predicted to the accepted string, both normalized, or () if no strings are compared."""
        return () if self.text is None else self.text.best.edits

    @property
    def note(self) -> str:
        """The reason for the score, as a phrase for a terminal."""
        if self.text:
            return str(self.text)
        predicted, accepted = map(_name_kind, (self.prediction, self.reference))
        counted = f" of {self.length} leaves" if self.length > 1 else ""
        return _KINDS[self.kind].format(predicted=predicted, accepted=accepted) + counted

    @property
    def sentence(self) -> str:
        """A sentence that explains the score as a percentage, for a page that shows both values."""
        return self.text.sentence if self.text else f"{self.note}."

    def __str__(self) -> str:
        return f"{self.path}: {self.note}" if self.path else self.note


@dataclass(frozen=True)
class Branch:
    """A node in the tree of an explanation, with a value and the values inside it.

    Attributes:
        name: the step from the parent, such as ``.price`` or, with the index in the prediction, ``[2]``; "" for the
            root.
        prediction: the predicted value; None if there is none.
        reference: the accepted value, or the chosen one of several alternatives; None if there is none.
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
        if self.leaf and self.leaf.length:
            yield self.leaf
        for child in self.children:
            yield from child.leaves

    @property
    def sentence(self) -> str:
        """A sentence that explains the score as a percentage, for a page that shows the values next to the sentence."""
        return self.leaf.sentence if self.leaf else f"{_summarize(self, format_percent)}."


def _summarize(value: Branch | StarExplanation, form: Callable[[float], str] = "{:.4f}".format) -> str:
    if not value.length:
        return "nothing is expected and nothing given, so 1"
    scores = [leaf.score for leaf in value.leaves]
    close = sum(0 < score < 1 for score in scores)
    return f"{scores.count(1)} of {value.length} leaves correct, {close} close, so {form(value.score)}"


def _name_kind(value: Any) -> str:
    return next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "nothing")


@dataclass(frozen=True)
class StarExplanation:
    """An explanation of the ANLS* of a value. Its string form is one plain sentence.

    Attributes:
        prediction: the value, as given.
        reference: the reference, as given, or the single value if it is a tuple of one.
        score: the score, from 0 to 1.
        length: the number of leaves by which the sum of their scores is divided.
        closest: the accepted value that is closest to the prediction, with the chosen alternatives and with lists in
            the order of the prediction.
        key_scores: the score of each key of a dict, by key name.
        tree: the value as a tree, with a score at each branch and leaf.
        variant: the variant that computed the score.
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
        """The signature to report with the score."""
        return self.variant.signature()

    @property
    def sentence(self) -> str:
        """A sentence that explains the score of the value as a percentage, for a page."""
        return self.tree.sentence

    def __str__(self) -> str:
        return _summarize(self)

    def _repr_html_(self) -> str:
        """Return HTML for a notebook that shows the sentence and a line for each leaf with a score below 1."""
        from html import escape  # slow to import

        lines = [f"<li>{escape(str(leaf))}</li>" for leaf in self.leaves if leaf.score < 1]
        return f"<p>{escape(str(self))}</p><ul>{''.join(lines)}</ul>"


def find_closest(pair: Pair, terms: Terms) -> Any:
    """Find the accepted value closest to the prediction, with its lists in the order of the predicted lists."""
    reference, prediction = pair.reference, pair.prediction
    if isinstance(reference, Nothing):
        return prediction.value if pair.same else None
    if not _has_parts(pair):
        return reference.value
    parts = [(part, find_closest(part.pair, terms)) for part in _iterate_parts(pair, terms)]
    if isinstance(reference, List):
        return [closest for part, closest in parts if part.there]
    return {
        part.key: closest
        for part, closest in parts
        if (part.here and part.there) or not (says_nothing(closest) and says_nothing(part.pair.prediction.value))
    }


def score_keys(pairs: Iterable[Pair], terms: Terms) -> dict[str, KeyScore]:
    """Compute the score of each key, averaged over all occurrences with the same path of key names."""
    values: dict[str, list[Pair]] = {}
    for pair in pairs:
        for name, inner in _iterate_keys(pair, terms):
            values.setdefault(name, []).append(inner)
    return {
        name: KeyScore(total(inner.average for inner in inside) / len(inside), score_keys(inside, terms))
        for name, inside in values.items()
    }


def _iterate_keys(pair: Pair, terms: Terms) -> Iterator[tuple[str, Pair]]:
    """Yield the keys of a dict or of the dicts in a list, each with the pair of compared values."""
    for part in _iterate_parts(pair, terms):
        if isinstance(pair.reference, List):
            yield from _iterate_keys(part.pair, terms)
        elif part.there or not says_nothing(part.pair.prediction.value):
            yield str(part.key), part.pair


def build_branch(pair: Pair, terms: Terms, name: str = "", here: str | None = "", there: str | None = "") -> Branch:
    """Build the tree for a pair and all the pairs inside it.

    Args:
        pair: a reference compared with a prediction.
        terms: the options of the comparison.
        name: the last step of the path to this pair.
        here: the path in the prediction; None if the value is missing there.
        there: the path in the reference; None if the value is missing there.
    """
    reference, prediction = pair.reference, pair.prediction
    if _has_parts(pair):
        children = [
            build_branch(
                part.pair, terms, part.here or part.there or "", _join(here, part.here), _join(there, part.there)
            )
            for part in _iterate_parts(pair, terms)
            if part.pair.length
        ]
        return Branch(name, prediction.value, reference.value, pair.average, pair.length, tuple(children))
    text = None
    kind = _find_kind(pair, here, there)
    if reference.text is not None and prediction.text is not None:
        values = (prediction.value, reference.value)
        texts = [*map(write_number if terms.by_value and are_unquoted_numbers(*values) else str, values)]
        kind, text = "text", explain(texts[0], texts[1:], terms.threshold, terms.variant)
    score = text.score if text else total(pair.scores)
    leaf = Leaf(kind, here, there, prediction.value, reference.value, score, pair.length, text)
    return Branch(name, prediction.value, reference.value, average([score], pair.length), pair.length, (), leaf)


def _join(path: str | None, step: str | None) -> str | None:
    return None if step is None else f"{path}{step}".removeprefix(".")


def _find_kind(pair: Pair, here: str | None, there: str | None) -> Kind:
    if there is None:
        return "extra"
    if isinstance(pair.reference, Nothing) and pair.same:
        return "no answer"
    if here is None:
        return "missing"
    return "answer to nothing" if isinstance(pair.reference, Nothing) else "another kind"


class _Part(NamedTuple):
    """A pair inside a pair of lists or dicts, with the last step of its path on each side, or None for a side that
    lacks the value.
    """

    key: Any  # of a dict
    here: str | None  # in the prediction
    there: str | None  # in the reference
    pair: Pair


def _has_parts(pair: Pair) -> bool:
    """Whether two lists or two dicts are compared part by part."""
    return isinstance(pair.reference, (List, Dict)) and type(pair.reference) is type(pair.prediction)


def _iterate_parts(pair: Pair, terms: Terms) -> Iterator[_Part]:
    """Yield the parts of a pair, in the order of the prediction for lists and of the reference for dicts."""
    reference: Any = pair.reference
    prediction: Any = pair.prediction
    if not _has_parts(pair):
        return
    if isinstance(reference, List):
        matched = {column: (f"[{row}]", inner) for (row, column), inner in zip(pair.places, pair.parts)}
        for column, item in enumerate(prediction.items):
            extra = None, Pair(NOTHING, item, [0.0], item.size, False)
            yield _Part(None, f"[{column}]", *matched.get(column, extra))
        taken = {row for row, _ in pair.places}
        for row, item in enumerate(reference.items):
            if row not in taken:
                yield _Part(None, None, f"[{row}]", Pair(item, NOTHING, [0.0], item.size, False))
    else:
        for key, inner in zip(reference.items, pair.parts):
            step = name_key(key)
            yield _Part(key, step if key in prediction.items else None, step, inner)
        for key, item in reference.find_extra(prediction):
            yield _Part(key, name_key(key), None, Pair(NOTHING, item, [0.0], terms.count_extra(item), False))
