"""Lists the leaves of a compared value with their outcomes: right, close, wrong, missed, invented or blank.

Every leaf that is counted in the divisor of ANLS* is listed once. If a part of a value has no counterpart, or a
counterpart of another kind, each leaf inside that part is listed, or the part itself if it contains no leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

from anls_metric.core.values.lists import List
from anls_metric.core.values.tree_builder import name_key
from anls_metric.core.values.trees import NOTHING, Dict, Node, Nothing, OneOf, Pair, Scalar, Terms

LeafOutcome = Literal["right", "close", "wrong", "missed", "invented", "blank"]
LEAF_OUTCOMES: tuple[LeafOutcome, ...] = get_args(LeafOutcome)
"""The possible outcomes of a leaf.

* right: it scores 1 and has a value;
* close: it scores more than 0 and less than 1;
* wrong: it scores 0 and both sides have a value;
* missed: it scores 0 and the prediction has no value;
* invented: it scores 0, and the reference has no value, or lacks the key or item;
* blank: it scores 1 and has no value: it is None, a missing key, a string of only spaces, [] or {}.
"""

Keys = tuple[Any, ...]
"""The keys that lead from the root to a leaf. Lists add no keys."""

_Places = tuple[tuple[int, Any, Any], ...]
"""The positions in lists on the path to a leaf, each given by the number of keys before it, the index in the reference
and the index in the prediction.
"""


class ScoredLeaf(NamedTuple):
    """A leaf of a value and its outcome.

    Attributes:
        outcome: one of `LEAF_OUTCOMES`.
        score: the score, from 0 to 1.
        prediction: the predicted value; None if there is none.
        reference: the accepted value, or the chosen one of several alternatives; None if there is none.
        keys: the keys that lead to the leaf.
        places: the positions in lists on the path to the leaf, for `path`.
        is_predicted: whether the prediction contains the leaf, even if its value is None.
    """

    outcome: LeafOutcome
    score: float
    prediction: Any
    reference: Any
    keys: Keys = ()
    places: _Places = ()
    is_predicted: bool = True

    @property
    def path(self) -> str:
        """The path of the leaf in the prediction, such as ``items[2].price``, or in the reference if the prediction
        lacks the leaf.
        """
        steps = list(map(name_key, self.keys))
        for before, *indices in reversed(self.places):
            steps.insert(before, f"[{indices[self.is_predicted]}]")
        return "".join(steps).removeprefix(".")


_make_leaf: Callable[[tuple[Any, ...]], ScoredLeaf] = partial(tuple.__new__, ScoredLeaf)  # takes half the time


def list_leaves(pair: Pair, terms: Terms) -> list[ScoredLeaf]:
    """List the leaves of a compared value with their outcomes.

    Args:
        pair: the compared value.
        terms: the options of the comparison.

    Example:
        >>> from anls_metric.core.values.tree_builder import build_trees
        >>> terms = Terms(0.5, 1, "standard")
        >>> prediction, reference = build_trees({"items": [{"name": "tee"}]}, {"items": [{"name": "tea", "price": 2}]})
        >>> for leaf in list_leaves(reference.compare(prediction, terms), terms):
        ...     print(leaf.path, leaf.outcome, leaf.keys)
        items[0].name close ('items', 'name')
        items[0].price missed ('items', 'price')
    """
    leaves: list[ScoredLeaf] = []
    is_text = (
        isinstance(pair.prediction.value, str) and isinstance(pair.reference, (List, Dict)) and pair.reference.value
    )
    _visit(pair._replace(prediction=NOTHING) if is_text else pair, terms, leaves, (), (), not is_text)
    return leaves


def miss_leaves(leaves: Sequence[ScoredLeaf]) -> list[ScoredLeaf]:
    """List one or more missed leaves for a question without an answer, given the leaves for the answer []."""
    found = leaves or [ScoredLeaf("missed", 0.0, None, None)]
    return [leaf._replace(outcome="missed", score=0.0, prediction=None, is_predicted=False) for leaf in found]


def _visit(pair: Pair, terms: Terms, leaves: list[ScoredLeaf], keys: Keys, places: _Places, is_predicted: bool) -> None:
    """Add the leaves of a pair to a list."""
    reference: Any = pair.reference
    prediction: Any = pair.prediction
    if type(reference) is Scalar and type(prediction) is Scalar:
        [score] = pair.scores
        outcome: LeafOutcome
        if score == 1.0:
            outcome = "right" if reference.text else "blank"
        elif score > 0.0:
            outcome = "close"
        else:
            outcome = "missed" if not prediction.text else "wrong" if reference.text else "invented"
        leaves.append(_make_leaf((outcome, score, prediction.value, reference.value, keys, places, True)))
    elif type(reference) is Dict and type(prediction) is Dict:
        for key, part in zip(reference.items, pair.parts):
            _visit(part, terms, leaves, (*keys, key), places, key in prediction.items)
        for key, item in reference.find_extra(prediction):
            leaves += _spread("invented", item, terms.count_extra(item), (*keys, key), places, True)
    elif type(reference) is List and type(prediction) is List:
        for place, part in zip(pair.places, pair.parts):
            _visit(part, terms, leaves, keys, (*places, (len(keys), *place)), True)
        taken, given = (set(side) for side in zip(*pair.places)) if pair.places else (set(), set())
        for row, item in enumerate(reference.items):
            if row not in taken:
                leaves += _spread("missed", item, item.size, keys, (*places, (len(keys), row, None)), False)
        for column, item in enumerate(prediction.items):
            if column not in given:
                leaves += _spread("invented", item, item.size, keys, (*places, (len(keys), None, column)), True)
    elif pair.same and type(reference) is Nothing:
        leaves.append(ScoredLeaf("blank", 1.0, prediction.value, None, keys, places, is_predicted))
    else:
        leaves += _list_unlike(pair, keys, places, is_predicted)


def _list_unlike(pair: Pair, keys: Keys, places: _Places, is_predicted: bool) -> list[ScoredLeaf]:
    """List the leaves of two values that score 0 because one value is nothing or only one value is a list or dict."""
    reference, prediction, length = pair.reference, pair.prediction, pair.length
    if type(reference) is Nothing or (_is_blank(reference) and not _is_blank(prediction)):
        return list(_spread("invented", prediction, length, keys, places, True))
    is_predicted = is_predicted and type(reference) is Scalar  # no leaf inside a list or dict is predicted
    if _is_blank(prediction):
        leaves = _spread("missed", reference, length, keys, places, is_predicted)
        return [leaf._replace(prediction=prediction.value) for leaf in leaves]
    wrong = list(_spread("wrong", reference, max(1, reference.size), keys, places, is_predicted))
    invented = list(_spread("invented", prediction, length, keys, places, True))  # those beyond the wrong ones
    return [*(leaf._replace(prediction=prediction.value) for leaf in wrong), *invented[len(wrong) :]][:length]


def _spread(
    outcome: LeafOutcome, node: Node, length: int, keys: Keys, places: _Places, is_predicted: bool
) -> Iterator[ScoredLeaf]:
    """Yield the leaves inside a part of a value, up to ``length``, or repeat the part itself if it has no leaves."""
    inside = list(_list_inside(node, keys, places)) or [(node.value, keys, places)] * length
    for value, own_keys, own_places in inside[:length]:
        prediction, reference = (value, None) if outcome == "invented" else (None, value)
        yield ScoredLeaf(outcome, 0.0, prediction, reference, own_keys, own_places, is_predicted)


def _list_inside(node: Any, keys: Keys, places: _Places) -> Iterator[tuple[Any, Keys, _Places]]:
    """Yield the leaves inside a node, each with its keys and its positions in lists. Of several alternatives, only the
    one with the most leaves is used.
    """
    if type(node) is OneOf:
        yield from _list_inside(max(node.options, key=lambda option: option.size), keys, places)
    elif type(node) is List:
        for place, item in enumerate(node.items):
            yield from _list_inside(item, keys, (*places, (len(keys), place, place)))
    elif type(node) is Dict:
        for key, item in node.items.items():
            yield from _list_inside(item, (*keys, key), places)
    else:
        yield node.value, keys, places


def _is_blank(node: Node) -> bool:
    """Whether a node has no value, which includes strings of only spaces, [] and {}."""
    return node.text == "" or (node.text is None and not node.value)
