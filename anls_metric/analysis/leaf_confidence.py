"""Relates the leaves of nested values, key by key, to confidences that have the same keys as the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from anls_metric.analysis.confidence import measure_confidence
from anls_metric.analysis.leaf_keys import name_keys
from anls_metric.core.scorer import mean
from anls_metric.core.values import RowScore, ScoredLeaf
from anls_metric.reading.formats import natural_key

BINS = 10


LeafConfidence = dict[str, Any]
"""What confidences say about the leaves of a key, by the keys of the JSON document.

* ``leaves``: the number of leaves with a confidence;
* ``auroc``, ``aurc``, ``ece``, ``bins``, ``coverage``: see `ConfidenceMeasures`; a leaf is correct if it scores 1;
* ``reliability``: the bins with leaves, from ``low`` to ``high``: the number of ``leaves``, their mean ``confidence``,
  and their ``accuracy``, the share that scores 1.
"""


def measure_leaves(rows: Iterable[RowScore], confidences: Iterable[Any]) -> dict[str | None, LeafConfidence]:
    """Measure how much the confidences say about the leaves of each key and, under None, about all leaves.

    Args:
        rows: the scores of answers, which list their leaves.
        confidences: for each answer numbers in the form of the answer; a number stands for all leaves below it.
    """
    pairs_of: dict[str | None, list[tuple[float, float]]] = defaultdict(list)
    for row, confidence in zip(rows, confidences):
        for leaf in row.leaves:
            leaf_confidence = find_confidence(confidence, leaf)
            if leaf_confidence is not None:
                for name in (None, *name_keys(leaf.keys)):
                    pairs_of[name].append((leaf_confidence, leaf.score))
    return {name: _measure(pairs_of[name]) for name in sorted(pairs_of, key=lambda name: natural_key(name or ""))}


def find_confidence(confidence: Any, leaf: ScoredLeaf) -> float | None:
    """Find the confidence of a leaf by following its path in the prediction, or return None if the prediction lacks the
    leaf.

    Example:
        >>> leaf = ScoredLeaf("right", 1.0, "tea", "tea", ("items", "name"), ((1, 0, 2),))
        >>> [find_confidence(each, leaf) for each in ({"items": [{}, {}, {"name": 0.5}]}, {"items": {"name": 0.75}})]
        [0.5, 0.75]
        >>> find_confidence({"items": 0.25}, leaf), find_confidence({"total": 0.25}, leaf)
        (0.25, None)
    """
    if not leaf.is_predicted:
        return None
    for depth in range(len(leaf.keys) + 1):
        for before, _, column in leaf.places:
            if before == depth and isinstance(confidence, list):
                confidence = confidence[column] if column < len(confidence) else None
        if not isinstance(confidence, dict) or depth == len(leaf.keys):
            break
        confidence = confidence.get(leaf.keys[depth])
    return confidence if isinstance(confidence, float) else None


def _measure(pairs: Sequence[tuple[float, float]]) -> LeafConfidence:
    bins: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for pair in pairs:
        bins[min(int(pair[0] * BINS), BINS - 1)].append(pair)
    reliability = [
        {
            "low": place / BINS,
            "high": (place + 1) / BINS,
            "leaves": len(own),
            "confidence": mean([confidence for confidence, _ in own]),
            "accuracy": mean([float(score == 1.0) for _, score in own]),
        }
        for place, own in sorted(bins.items())
    ]
    measures = measure_confidence(*zip(*pairs), correct_at=1.0)
    return {"leaves": len(pairs), **measures._asdict(), "reliability": reliability}
