"""Counts, for each key of nested values, how many leaves are right, close, wrong, missed, invented and blank.

A key is the path of names that leads to a leaf, without positions in lists: ``items.price``. A leaf is counted under
its key and under all keys above it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from operator import sub, truediv
from typing import Any, NamedTuple, TypeVar

from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.names import natural_key
from anls_metric.core.scorer import mean
from anls_metric.core.statistics.significance import Labels, ratio_interval
from anls_metric.core.values import LEAF_OUTCOMES, RowScore, ScoredLeaf
from anls_metric.reading.answers import average_runs

_Value = TypeVar("_Value")
Figures = Mapping[str, Any]
"""Numbers and intervals, keyed by their names in the JSON document. None stands for 0 of 0."""


class KeyScores(NamedTuple):
    """The results for a key: the positions of the questions that have leaves under the key, the mean score of these
    leaves in each question, and the key's figures.
    """

    places: Sequence[int]
    scores: Sequence[float]
    figures: Figures


def count_keys(
    places: Sequence[int], rows: Sequence[RowScore], documents: Labels = None
) -> tuple[Figures, dict[str, KeyScores]]:
    """Count the leaves of the answers by key.

    Args:
        places: the position of each answer's question, where the equal positions of several runs are adjacent.
        rows: the scores of the answers, each with a list of leaves.
        documents: the document of each question; None for a question without a document, which is treated as a document
            of its own.

    Returns:
        The figures for all leaves, and the results for each key, sorted by name with 2 before 10.

    Example:
        >>> from dataclasses import replace
        >>> from anls_metric.core.scorer import get_scorer
        >>> variant = replace(get_scorer("anls_star"), lists_leaves=True)
        >>> row = variant.score_row({"items": [{"name": "tee"}]}, {"items": [{"name": "tea", "price": "2"}]})
        >>> figures, keys = count_keys([0], [row])
        >>> figures["leaves"], figures["close"], figures["missed"], list(keys), keys["items.price"].scores
        (2, 1, 1, ['items', 'items.name', 'items.price'], [0.0])
    """
    leaves: list[ScoredLeaf] = list(chain.from_iterable(row.leaves for row in rows))
    everything = _Leaves(
        [number for number, row in enumerate(rows) for _ in row.leaves],
        [own for place, row in zip(places, rows) for own in [_name_document(place, documents)] * len(row.leaves)],
        [leaf.score for leaf in leaves],
        [leaf.outcome for leaf in leaves],
        [leaf.outcome in _DIFFERENT and _is_same_value(leaf) for leaf in leaves],
    )
    parts_of: defaultdict[str, list[list[int]]] = defaultdict(list)
    for keys, part in _find_places([leaf.keys for leaf in leaves]).items():
        for name in name_keys(keys):
            parts_of[name].append(part)
    runs = Counter(places)
    lengths = [row.length * runs[place] for place, row in zip(places, rows)]
    found = {}
    for name in sorted(parts_of, key=natural_key):
        own = everything.select(sorted(chain.from_iterable(parts_of[name])))
        found[name] = _summarize(own, places, lengths, len(runs))
    return _describe(everything), found


def _find_places(values: Iterable[_Value]) -> Mapping[_Value, list[int]]:
    """Map each distinct value to its positions."""
    places: defaultdict[_Value, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        places[value].append(place)
    return places


def name_keys(keys: Sequence[object]) -> list[str]:
    """List the dotted paths of the keys that lead to a leaf, with the outermost key first.

    Example:
        >>> name_keys(("items", "price"))
        ['items', 'items.price']
    """
    return list(accumulate(map(str, keys), "{}.{}".format))


_DIFFERENT = frozenset(("close", "wrong"))


class _Leaves(NamedTuple):
    """Columns of leaves: the number of the answer, the document, the score, the outcome, and whether the prediction is
    the reference's value, written differently.
    """

    numbers: list[int]
    documents: list[Hashable]
    scores: list[float]
    outcomes: list[str]
    same: list[bool]

    def select(self, places: Sequence[int]) -> _Leaves:
        columns: Sequence[list[Any]] = self
        return _Leaves(*([column[place] for place in places] for column in columns))


def _is_same_value(leaf: ScoredLeaf) -> bool:
    """Whether a leaf that is compared as a string is the same number or date as the reference, written differently."""
    if not leaf.is_predicted or isinstance(leaf.prediction, (list, dict)):
        return False
    return is_any_same_value(str(leaf.prediction), [str(leaf.reference)])


def _summarize(leaves: _Leaves, places: Sequence[int], lengths: Sequence[int], questions: int) -> KeyScores:
    """Summarize a key from its leaves, given the position of each answer's question, the number of leaves in each
    answer times the number of the question's runs, and the number of questions.
    """
    numbers, _, scores, *_ = leaves
    sizes, totals = Counter(numbers), scores
    if len(sizes) < len(numbers):
        ends = list(accumulate(sizes.values()))
        totals = [math.fsum(scores[end - size : end]) for end, size in zip(ends, sizes.values())]
    means = list(map(truediv, totals, sizes.values()))
    lost = map(truediv, map(sub, sizes.values(), totals), map(lengths.__getitem__, sizes))
    own_places = [places[number] for number in sizes]
    exact = [float(score == 1.0) for score in means]
    more = {"exact_match": mean(average_runs(own_places, exact)), "cost": math.fsum(lost) / questions}
    return KeyScores([*dict.fromkeys(own_places)], average_runs(own_places, means), {**_describe(leaves), **more})


def _describe(leaves: _Leaves) -> dict[str, float | None]:
    """Return the counts of leaves by outcome, and the shares of right leaves with their intervals."""
    _, documents, scores, outcomes, same = leaves
    counts, by_document = Counter(outcomes), Counter(zip(documents, outcomes))
    parts: dict[Hashable, Counter[str]] = {name: Counter() for name in documents}
    for (name, outcome), count in by_document.items():
        parts[name][outcome] = count
    figures: dict[str, Any] = {
        "leaves": len(scores),
        **{name: counts[name] for name in LEAF_OUTCOMES},
        "same_value": sum(same),
        "mean_score": math.fsum(scores) / len(scores) if scores else None,
    }
    for name, share in _SHARES.items():
        part, whole = share(counts)
        figures[name] = part / whole if whole else None
        figures[f"{name}_interval"] = ratio_interval(map(share, parts.values()))
    return figures


def _name_document(place: int, documents: Labels) -> Hashable:
    """Return the name of a question's document, or a unique name if the question has no document."""
    name = None if documents is None else documents[place]
    return (place,) if name is None else name


_FOUND = ("right", "close", "wrong")


def _count(counts: Counter[str], *more: str) -> int:
    """Count the leaves with a value on both sides together with those that have the given outcomes."""
    return sum(counts[name] for name in (*_FOUND, *more))


# The shares of right leaves, each as a numerator and a denominator
_SHARES: Mapping[str, Callable[[Counter[str]], tuple[int, int]]] = {
    "precision": lambda counts: (counts["right"], _count(counts, "invented")),
    "recall": lambda counts: (counts["right"], _count(counts, "missed")),
    "f1": lambda counts: (2 * counts["right"], _count(counts, "invented") + _count(counts, "missed")),
}

NO_LEAVES: Figures = {**_describe(_Leaves([], [], [], [], [])), "exact_match": None, "cost": 0.0}
"""The figures for a key that only other submissions have."""
