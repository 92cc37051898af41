"""Compares lists: each item with the item that it is matched to, in any order.

Most long lists hold texts, or line items: dicts of texts, numbers and None. For these, rapidfuzz computes a row of
weights at a time, without a `Pair` for every two items. The scores are the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from anls_metric.nested.matching import Place, Table, match
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
        places, table = self._match(there, rule)
        scores: list[float] = []
        parts: list[Pair] = []
        length, same = self.size + prediction.size, len(here) == len(there)
        for row, column in places:
            item, predicted = here[row], there[column]
            part = table[row][column] if table else item.compare(predicted, rule)
            parts.append(part)
            scores += part.scores
            length += part.length - item.size - predicted.size
            same = same and part.is_same_inside()
        return Pair(self, prediction, scores, length, same, parts, places)

    def _match(self, there: Sequence[Node], rule: Rule) -> tuple[list[Place], list[list[Pair]]]:
        """Match the items. Returns the matched places, and the table of all pairs, [] if it was not needed."""
        here = self.items
        if not here or not there:
            return [], []
        if len(here) == len(there) == 1:  # nothing to choose: deep nesting need not be compared at every level
            return [(0, 0)], []
        places = _match_flat(here, there, rule)
        if places is not None:
            return places, []
        table = [[item.compare(predicted, rule) for predicted in there] for item in here]
        return match([[pair.weight for pair in pairs] for pairs in table]), table

    def find_closest(self, pair: Pair) -> Any:
        if not isinstance(pair.prediction, List):
            return self.value
        matched = {row for row, _ in pair.places}
        return [part.closest for part in pair.sort_by_column()] + [
            item.value for row, item in enumerate(self.items) if row not in matched
        ]


# The weight of two equal texts: more than the weight of two that differ and still score 1.
_EQUAL = math.nextafter(1.0, math.inf)


def _match_flat(here: Sequence[Any], there: Sequence[Any], rule: Rule) -> list[Place] | None:
    """Match two lists of texts or of line items, with the result of `match`; None for lists of other items."""
    items = (*here, *there)
    if {type(item.value) for item in items} == {str}:
        return _match_texts(here, there, rule)
    if {*map(type, items)} != {Dict}:
        return None
    kinds = set().union(*[map(type, item.items.values()) for item in items])
    return match(_weigh_line_items(here, there, rule)) if kinds <= {Scalar, Nothing} else None


def _match_texts(here: Sequence[Scalar], there: Sequence[Scalar], rule: Rule) -> list[Place]:
    """Match texts. A text takes the equal text, which needs no edit distance, else the nearest.

    If no two texts take the same place, step 2 of the matching ends with the same pairs.
    """
    places = {text.value: place for place, text in enumerate(there)}
    columns = [places.get(text.value, -1) for text in here]
    rest = [row for row, column in enumerate(columns) if column < 0]
    if len(rest) < len(here) and len(places) == len(there):
        for row, weights in zip(rest, _weigh_texts([here[row] for row in rest], there, rule)):
            costs = [_EQUAL - weight for weight in weights]
            columns[row] = costs.index(min(costs))
        if len(set(columns)) == len(columns):
            return list(enumerate(columns))
    return match(_weigh_texts(here, there, rule))


def _weigh_texts(here: Sequence[Scalar], there: Sequence[Scalar], rule: Rule) -> Table:
    others = [text.text for text in there]
    table = []
    for text in here:
        weights = [0.0] * len(others)
        for _, score, place in _find_similar(text.text, others, rule):
            weights[place] = _EQUAL if text.value == there[place].value else score
        table.append(weights)
    return table


def _weigh_line_items(here: Sequence[Dict], there: Sequence[Dict], rule: Rule) -> Table:
    columns: dict[Any, tuple[list[str | None], list[int]]] = {}  # key -> predicted texts, places without a value
    lengths: dict[tuple[Any, ...], list[int]] = {}
    table = []
    for item in here:
        totals = [0.0] * len(there)
        doubts = 0  # leaves that may equal a predicted leaf and still score 0: 1 equals True, "" equals a missing key
        for key, leaf in item.items.items():
            if key not in columns:
                nodes = [other.items.get(key, NOTHING) for other in there]
                silent = [place for place, node in enumerate(nodes) if says_nothing(node.value)]
                columns[key] = [node.text for node in nodes], silent
            texts, silent = columns[key]
            if leaf.text is None:
                for place in silent:
                    totals[place] += 1.0
            else:
                doubts += not isinstance(leaf.value, str) or not leaf.value
                for _, score, place in _find_similar(leaf.text, texts, rule):
                    totals[place] += score
        keys = tuple(item.items)
        if keys not in lengths:
            lengths[keys] = [len(keys) + _count_extra(item, other, rule) for other in there]
        table.append(
            [
                total / length if total < length - doubts else item.compare(other, rule).weight
                for total, length, other in zip(totals, lengths[keys], there)
            ]
        )
    return table


def _count_extra(item: Dict, prediction: Dict, rule: Rule) -> int:
    return sum(rule.none_key_length if says_nothing(extra.value) else 1 for _, extra in item.find_extra(prediction))


def _find_similar(text: str, others: Sequence[str | None], rule: Rule) -> list[tuple[Any, float, int]]:
    """Find the texts that are similar enough to score. Each result holds the text, its score and its place."""
    cutoff = max(0.0, rule.threshold - 0.001)  # rapidfuzz loses similarities that equal its cutoff
    found = extract(text, others, scorer=Levenshtein.normalized_similarity, limit=None, score_cutoff=cutoff)
    return [similar for similar in found if similar[1] >= rule.threshold]
