"""Computes ANLSL, which compares two lists of strings whose items are matched one to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from anls_metric.core.strings.rows import as_column, as_references, as_text
from anls_metric.core.strings.variants import compile_kernel, get_variant
from anls_metric.core.values.lists import List
from anls_metric.core.values.matching import match
from anls_metric.core.values.row_scores import total
from anls_metric.core.values.tree_builder import name_side, unwrap
from anls_metric.core.values.trees import Node, Pair, Scalar, Terms


class TextList(List):
    """A list of strings whose items are matched by their scores under the variant `rrc`."""

    __slots__ = ()

    def __init__(self, texts: list[str]) -> None:
        super().__init__(texts, [*map(Scalar, texts)])

    def compare(self, prediction: Node, terms: Terms) -> Pair:
        accepted, answered = self.value, prediction.value
        score = compile_kernel(get_variant("rrc", terms.threshold)).score
        shorter, longer = sorted((answered, accepted), key=len)
        table = [[score(text, (other,)) for other in longer] for text in shorter]
        matched = match(table) if table else []
        scores = [table[row][column] for row, column in matched]
        places = matched if shorter is accepted else [(row, column) for column, row in matched]
        parts = [self.items[row].compare(Scalar(answered[column]), terms) for row, column in places]
        length = max(len(set(accepted)), len(answered))
        return Pair(self, prediction, [add_as_numpy(scores)], length, False, parts, places)


def build_lists(prediction: Any, reference: Any, row: str = "") -> tuple[Node, Node]:
    """Build the lists of strings for the prediction and the reference. Raises a ValueError that names the side if a
    side contains anything but strings.
    """
    accepted = as_references(unwrap(reference), name_side("references", row))
    side = name_side("prediction", row)
    items = [prediction] if isinstance(prediction, str) else prediction
    column = as_column(items, side, "pass a list of strings, the items that were answered")
    answered = [as_text(text, f"{side}, item {place},") for place, text in enumerate(column)]
    return TextList(answered), TextList(list(accepted))


def add_as_numpy(numbers: Sequence[float]) -> float:
    """Add floats in the same order as `numpy.sum`, which DUDE's script calls: in eight partial sums and, above 128
    items, in halves.
    """
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return add_as_numpy(numbers[:half]) + add_as_numpy(numbers[half:])
    whole = len(numbers) // 8 * 8
    if not whole:
        return total(numbers)
    a, b, c, d, e, f, g, h = (total(numbers[place:whole:8]) for place in range(8))
    return reduce(add, numbers[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))
