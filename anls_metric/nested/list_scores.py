"""ANLSL: two lists of texts, whose items are matched one to one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

from anls_metric.core.rows import as_column, as_references, as_text
from anls_metric.core.variants import compile_kernel, get_variant
from anls_metric.nested.lists import List
from anls_metric.nested.matching import match
from anls_metric.nested.row_scores import total
from anls_metric.nested.tree_builder import name_side, unwrap
from anls_metric.nested.trees import Pair, Scalar


def check_list(prediction: Any, references: Any, row: str = "") -> tuple[list[str], list[str]]:
    """Convert both sides to lists of texts. ValueError: a side holds something else; the message names it."""
    accepted = as_references(unwrap(references), name_side("references", row))
    if isinstance(prediction, str):
        return [as_text(prediction, "")], list(accepted)
    side = name_side("prediction", row)
    column = as_column(prediction, side, "pass a list of strings, the items that were answered")
    return [as_text(text, f"{side}, item {place},") for place, text in enumerate(column)], list(accepted)


def compare_lists(answered: list[str], accepted: list[str], threshold: float = 0.5) -> Pair:
    """Match two lists of texts. The pair has the scores in the order in which the original program adds them."""
    score = compile_kernel(get_variant("rrc", threshold)).score
    shorter, longer = (accepted, answered) if len(accepted) < len(answered) else (answered, accepted)
    table = [[score(text, (other,)) for other in longer] for text in shorter]
    places = match(table) if table else []
    scores = [table[row][column] for row, column in places]
    if shorter is answered:
        places = [(column, row) for row, column in places]
    prediction, reference = (List(texts, [*map(Scalar, texts)]) for texts in (answered, accepted))
    parts = [
        Pair(reference.items[row], prediction.items[column], [part], 1, part == 1.0)
        for part, (row, column) in zip(scores, places)
    ]
    return Pair(reference, prediction, scores, max(len(set(accepted)), len(answered)), False, parts, places)


def score_list(pair: Pair) -> float:
    """Compute the ANLSL of two lists that were matched."""
    return add_as_numpy(pair.scores) / pair.length


def add_as_numpy(numbers: Sequence[float]) -> float:
    """Add floats in the order of `numpy.sum`, which DUDE's script calls: eight partial sums; over 128 items, halves."""
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return add_as_numpy(numbers[:half]) + add_as_numpy(numbers[half:])
    whole = len(numbers) // 8 * 8
    if not whole:
        return total(numbers)
    a, b, c, d, e, f, g, h = (total(numbers[place:whole:8]) for place in range(8))
    return reduce(add, numbers[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))
