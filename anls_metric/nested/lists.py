"""Compares lists: each item with the item that it is matched to, in any order.

Most long lists hold texts, or line items: dicts of texts, numbers and None. For these the weights of a matching are
computed without a `Pair` for every two items. The scores are the same to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import extract

from anls_metric.nested.matching import Place, Table, find_nearest, match
from anls_metric.nested.trees import NOTHING, Dict, Node, Nothing, Pair, Rule, Scalar, Text, says_nothing


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
        parts: list[Pair | Node] = []
        length, same = self.size + prediction.size, len(here) == len(there)
        for row, column in places:
            item, predicted = here[row], there[column]
            if item is predicted:
                parts.append(item)
                scores.append(1.0)
                length -= 1
            else:
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
        table = []
        for item in here:
            pairs = []
            for predicted in there:
                pairs.append(item.compare(predicted, rule))
            table.append(pairs)
        return match([[pair.weight for pair in pairs] for pairs in table]), table

    def find_closest(self, pair: Pair) -> Any:
        if not isinstance(pair.prediction, List):
            return self.value
        matched = {row for row, _ in pair.places}
        return [part.closest for part in pair.sort_by_column()] + [
            item.value for row, item in enumerate(self.items) if row not in matched
        ]


# --------------------------------------------------------------------------------------------------
# Lists of texts and of line items
# --------------------------------------------------------------------------------------------------

# The weight of two equal texts or line items: more than the weight of two that differ and still score 1.
_EQUAL = math.nextafter(1.0, math.inf)

_Weigh = Callable[[Sequence[Any], Sequence[Any], Rule], Table]


def _match_flat(here: Sequence[Any], there: Sequence[Any], rule: Rule) -> list[Place] | None:
    """Match two lists of texts or of line items, with the result of `match`; None for lists of other items."""
    kinds = {*map(type, here), *map(type, there)}
    if kinds == {Text}:
        return _match_equal(here, there, (here, there), _weigh_texts, rule)
    if kinds != {Dict}:
        return None
    kinds = set().union(*[map(type, item.items.values()) for item in (*here, *there)])
    if kinds == {Text}:
        keys = [[frozenset(item.items.items()) for item in side] for side in (here, there)]
        return _match_equal(here, there, keys, _weigh_line_items, rule)
    return match(_weigh_line_items(here, there, rule)) if kinds <= {Text, Scalar, Nothing} else None


def _match_equal(
    here: Sequence[Any], there: Sequence[Any], keys: Sequence[Sequence[Hashable]], weigh: _Weigh, rule: Rule
) -> list[Place]:
    """Match items that are equal if and only if their keys are equal, with the result of `match`.

    An item takes the equal item if there is one, else the nearest. If no two items take the same place, step 2 of the
    matching ends with the same pairs, so equal items need no edit distance. Otherwise `match` needs all weights.
    """
    places = dict(zip(keys[1], range(len(there))))
    columns = [places.get(key, -1) for key in keys[0]]
    rest = [row for row, column in enumerate(columns) if column < 0]
    weights: dict[int, list[float]] = {}
    if len(rest) < len(here) and len(places) == len(there):
        weights = dict(zip(rest, weigh([here[row] for row in rest], there, rule)))
        for row, of_row in weights.items():
            columns[row] = find_nearest(of_row, _EQUAL)
        if len(set(columns)) == len(columns):
            return list(enumerate(columns))
    others = [row for row in range(len(here)) if row not in weights]
    weights.update(zip(others, weigh([here[row] for row in others], there, rule)))
    return match([weights[row] for row in range(len(here))])


def _weigh_texts(here: Sequence[Any], there: Sequence[Any], rule: Rule) -> Table:
    """Compute `Pair.weight` for each text and each predicted text."""
    others = [text.text for text in there]
    table = []
    for text in here:
        weights = [0.0] * len(others)
        for _, score, place in _find_alike(text.text, others, rule):
            weights[place] = _EQUAL if text is there[place] else score
        table.append(weights)
    return table


def _weigh_line_items(here: Sequence[Any], there: Sequence[Any], rule: Rule) -> Table:
    """Compute `Pair.weight` for each line item and each predicted line item."""
    columns: dict[Any, tuple[list[str | None], list[int]]] = {}  # key -> predicted texts, places without a value
    lengths: dict[tuple[Any, ...], list[int]] = {}
    table = []
    for item in here:
        totals = [0.0] * len(there)
        doubts = 0  # leaves that may equal a predicted leaf and still score 0: 1 equals True, "" equals a missing key
        for key, leaf in item.items.items():
            if key not in columns:
                nodes = [other.items.get(key, NOTHING) for other in there]
                columns[key] = (
                    [node.text for node in nodes],
                    [place for place, node in enumerate(nodes) if says_nothing(node.value)],
                )
            texts, silent = columns[key]
            if leaf.text is None:
                for place in silent:
                    totals[place] += 1.0
            else:
                doubts += type(leaf) is not Text or not leaf.value
                for _, score, place in _find_alike(leaf.text, texts, rule):
                    totals[place] += score
        keys = tuple(item.items)
        if keys not in lengths:
            lengths[keys] = [len(keys) + _count_extra(item, other, rule) for other in there]
        weights = []
        for total, length, other in zip(totals, lengths[keys], there):
            weights.append(total / length if total < length - doubts else item.compare(other, rule).weight)
        table.append(weights)
    return table


def _count_extra(item: Dict, prediction: Dict, rule: Rule) -> int:
    if prediction.items.keys() <= item.items.keys():
        return 0
    return sum(rule.none_key_length if says_nothing(extra.value) else 1 for _, extra in item.find_extra(prediction))


def _find_alike(text: str, others: Sequence[str | None], rule: Rule) -> list[tuple[Any, float, int]]:
    """Find the texts that are similar enough to score. Each result holds the text, its score and its place."""
    return extract(text, others, scorer=Levenshtein.normalized_similarity, limit=None, score_cutoff=rule.threshold)
