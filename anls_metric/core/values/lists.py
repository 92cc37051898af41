"""Compares lists in any order, by comparing each item with its matched item in the other list."""

from __future__ import annotations

from typing import Any

from anls_metric.core.values.matching import match
from anls_metric.core.values.trees import Node, Pair, Terms


class List(Node):
    """A list whose items are matched one to one with predicted items so as to maximize the sum of the pair averages."""

    __slots__ = ("items",)

    def __init__(self, value: Any, items: list[Node]) -> None:
        self.value, self.items, self.size = value, items, sum([item.size for item in items])

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        if not isinstance(prediction, List):
            return self.mismatch(prediction)
        pairs = [[item.compare(other, terms) for other in prediction.items] for item in self.items]
        places = match([[pair.weight for pair in row] for row in pairs]) if pairs and prediction.items else []
        parts = [pairs[row][column] for row, column in places]
        scores = [score for part in parts for score in part.scores]
        matched = sum(
            part.length - self.items[row].size - prediction.items[column].size
            for part, (row, column) in zip(parts, places)
        )
        same = len(self.items) == len(prediction.items) and all(part.is_same_inside() for part in parts)
        return Pair(self, prediction, scores, self.size + prediction.size + matched, same, parts, places)
