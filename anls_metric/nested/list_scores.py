"""ANLSL: two lists of texts, whose items are matched one to one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from anls_metric.core.rows import as_column, as_references, as_text
from anls_metric.core.scoring import anls_scores, explain
from anls_metric.core.variants import Scorer
from anls_metric.nested.matching import Place, match
from anls_metric.nested.row_scores import RowScore, total
from anls_metric.nested.star_explanation import Branch, Leaf, ListExplanation, as_branch
from anls_metric.nested.tree_builder import name_side, unwrap
from anls_metric.nested.trees import Rule


class _ListPair(NamedTuple):
    """Two lists of texts and the matching of their items: pairs of an index in `answered` and one in `accepted`."""

    answered: list[str]
    accepted: list[str]
    places: list[Place]
    scores: list[float]  # of the matched pairs, in the order in which the original program adds them

    @property
    def length(self) -> int:
        return max(len(set(self.accepted)), len(self.answered))

    @property
    def score(self) -> float:
        return add_as_numpy(self.scores) / self.length

    @property
    def closest(self) -> list[str]:
        """The accepted items, in the order of the answered items that they match; unmatched items come last."""
        matched = {there for _, there in self.places}
        return [self.accepted[there] for _, there in sorted(self.places)] + [
            text for there, text in enumerate(self.accepted) if there not in matched
        ]

    def explain_leaves(self, threshold: float) -> Iterator[Leaf]:
        """Yield a leaf for each item, which explains the score of the item."""
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


def check_list(prediction: Any, references: Any, row: str = "") -> tuple[list[str], list[str]]:
    """Convert both sides to lists of texts. ValueError: a side holds something else; the message names it."""
    accepted = as_references(unwrap(references), name_side("references", row))
    if isinstance(prediction, str):
        return [as_text(prediction, "")], list(accepted)
    side = name_side("prediction", row)
    column = as_column(prediction, side, "pass a list of strings, the items that were answered")
    return [as_text(text, f"{side}, item {place},") for place, text in enumerate(column)], list(accepted)


def score_list(prediction: Any, references: Any, rule: Rule, row: str = "") -> RowScore:
    """The score of a list. ValueError: as `check_list`."""
    return RowScore([_match_texts(*check_list(prediction, references, row), rule.threshold).score], 1)


def explain_list(prediction: Any, references: Any, rule: Rule, variant: Scorer) -> ListExplanation:
    """Explain the score of a list. ValueError: as `check_list`."""
    pair = _match_texts(*check_list(prediction, references), rule.threshold)
    items = tuple(as_branch(leaf.path, leaf) for leaf in pair.explain_leaves(rule.threshold))
    tree = Branch("", pair.answered, pair.accepted, pair.score, pair.length, items)
    return ListExplanation(pair.answered, pair.accepted, pair.score, pair.length, pair.closest, {}, tree, variant)


def _match_texts(answered: list[str], accepted: list[str], threshold: float) -> _ListPair:
    if not answered:
        return _ListPair(answered, accepted, [], [])
    shorter, longer = (accepted, answered) if len(accepted) < len(answered) else (answered, accepted)
    pairs = [text for text in shorter for _ in longer], [other for _ in shorter for other in longer]
    scores = anls_scores(*pairs, threshold=threshold, variant="rrc")
    table = [scores[start : start + len(longer)] for start in range(0, len(scores), len(longer))]
    places = match(table)
    matched = [table[row][column] for row, column in places]
    both_ways = places if shorter is answered else [(column, row) for row, column in places]
    return _ListPair(answered, accepted, both_ways, matched)


def add_as_numpy(numbers: list[float]) -> float:
    """Add floats in the order of `numpy.sum`, which DUDE's script calls: eight partial sums; over 128 items, halves."""
    if len(numbers) > 128:
        half = len(numbers) // 2 // 8 * 8
        return add_as_numpy(numbers[:half]) + add_as_numpy(numbers[half:])
    whole = len(numbers) // 8 * 8
    if not whole:
        return total(numbers)
    a, b, c, d, e, f, g, h = (total(numbers[place:whole:8]) for place in range(8))
    return reduce(add, numbers[whole:], ((a + b) + (c + d)) + ((e + f) + (g + h)))
