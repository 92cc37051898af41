"""Compares lists: each item with the item that it is matched to, in any order.

Most long lists hold leaves, or line items: dicts of leaves. For these, rapidfuzz computes a row of weights at a time,
without a `Pair` for every two items. The scores are the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from anls_metric.nested.matching import Place, match
from anls_metric.nested.trees import NOTHING, Dict, Node, Nothing, Pair, Rule, Scalar, says_nothing


class List(Node):
    """A list. Its items are matched one to one with predicted items, for the highest sum of the pair averages."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: list[Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items])

    def compare(self, prediction: Node, rule: Rule) -> Pair:
        if not isinstance(prediction, List):
            return self.mismatch(prediction)
        here, there = self.items, prediction.items
        places, pairs = _match(here, there, rule)
        scores: list[float] = []
        parts: list[Pair] = []
        length, same = self.size + prediction.size, len(here) == len(there)
        for row, column in places:
            item, predicted = here[row], there[column]
            part = pairs.get((row, column)) or item.compare(predicted, rule)
            parts.append(part)
            scores += part.scores
            length += part.length - item.size - predicted.size
            same = same and part.is_same_inside()
        return Pair(self, prediction, scores, length, same, parts, places)


# The weight of two equal items: more than the weight of two that differ and still score 1.
_EQUAL = math.nextafter(1.0, math.inf)


def _match(here: Sequence[Node], there: Sequence[Node], rule: Rule) -> tuple[list[Place], dict[Place, Pair]]:
    """Match the items. Returns the matched places, and the pairs that were compared on the way."""
    if not here or not there:
        return [], {}
    if len(here) == len(there) == 1:
        return [(0, 0)], {}
    weights = _Weights(here, there, rule)
    # A text takes the equal text, which needs no edit distance, else the nearest. If no two texts take the same place,
    # step 2 of the matching ends with the same pairs. Line items of texts are matched like texts.
    places = {_get_key(item): column for column, item in enumerate(there)}
    if None in places or len(places) < len(there):
        places = {}
    columns = [places.get(_get_key(item), -1) for item in here]
    table = [weights.weigh(row) if column < 0 else [] for row, column in enumerate(columns)]
    if not all(table):
        for row, of_row in enumerate(table):
            if of_row:
                costs = [_EQUAL - weight for weight in of_row]
                columns[row] = costs.index(min(costs))
        if len(set(columns)) == len(columns):
            return list(enumerate(columns)), weights.pairs
    return match([of_row or weights.weigh(row) for row, of_row in enumerate(table)]), weights.pairs


def _get_key(item: Node) -> Hashable:
    """Get what identifies a text, or a line item of texts; None for other items."""
    if isinstance(item, Dict):
        return frozenset(item.value.items()) if {*map(type, item.value.values())} == {str} else None
    return item.value if type(item.value) is str else None


class _Weights:
    """Computes `Pair.weight` of an item and all predicted items, as far as possible without a `Pair`."""

    def __init__(self, here: Sequence[Any], there: Sequence[Any], rule: Rule) -> None:
        self.here, self.there, self.rule = here, there, rule
        self.pairs: dict[Place, Pair] = {}
        items = (*here, *there)
        is_table = {*map(type, items)} == {Dict}
        fields = [item.items if is_table else {None: item} for item in items]
        self.rows, self.others = fields[: len(here)], fields[len(here) :]
        self.is_flat = {type(leaf) for row in fields for leaf in row.values()} <= {Scalar, Nothing}
        self.columns: dict[Any, tuple[list[str | None], list[int]]] = {}  # key -> texts, places without a value
        self.keys = set().union(*self.others)

    def weigh(self, row: int) -> list[float]:
        """Compute the weights of an item of the reference."""
        item, weights = self.rows[row], [0.0] * len(self.there)
        certain = sum(map(_is_certain, item.values())) if self.is_flat else 0
        totals = self._add_scores(item) if certain else dict.fromkeys(range(len(weights)), 0.0)
        lengths = [len(item)] * len(self.others)
        for key in self.keys - item.keys():
            for place, other in enumerate(self.others):
                if key in other:
                    lengths[place] += self.rule.count_extra(other[key])
        for place, total in totals.items():
            if total < certain:
                weights[place] = total / lengths[place]
            else:  # they may be equal
                pair = self.pairs[row, place] = self.here[row].compare(self.there[place], self.rule)
                weights[place] = pair.weight
        return weights

    def _add_scores(self, item: Mapping[Any, Node]) -> dict[int, float]:
        """Add the scores of the leaves of an item beside each predicted item, if it has any above 0."""
        totals: dict[int, float] = {}
        threshold = self.rule.threshold
        for key, leaf in item.items():
            if key not in self.columns:
                nodes = [other.get(key, NOTHING) for other in self.others]
                silent = [place for place, node in enumerate(nodes) if says_nothing(node.value)]
                self.columns[key] = [node.text for node in nodes], silent
            texts, silent = self.columns[key]
            if leaf.text is None:
                similar = [(None, 1.0, place) for place in silent]
            else:
                similar = _find_similar(leaf.text, texts, threshold)
            for _, score, place in similar:
                if score >= threshold:
                    totals[place] = totals.get(place, 0.0) + score
        return totals


def _is_certain(leaf: Node) -> bool:
    """Whether a leaf scores 1 where it is equal. 1 equals True and scores 0, and so does "" beside a missing key."""
    return leaf.text is None or (type(leaf.value) is str and leaf.value != "")


def _find_similar(text: str, others: Sequence[str | None], threshold: float) -> list[tuple[Any, float, int]]:
    """Find the texts with at least this similarity, and perhaps some more. Returns each with its score and place."""
    cutoff = max(0.0, threshold - 0.001)  # rapidfuzz loses similarities that equal its cutoff
    return extract(text, others, scorer=Levenshtein.normalized_similarity, limit=None, score_cutoff=cutoff)
