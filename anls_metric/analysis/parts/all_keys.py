"""Counts the leaves of structured answers by outcome, and measures how well confidences predict their scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from anls_metric.analysis.part import REPORT, Column, Line, Part, Write
from anls_metric.analysis.parts.confidence import Confidence, measure_confidence, take_assessments
from anls_metric.analysis.scored import Scored, once
from anls_metric.core.names import natural_key
from anls_metric.core.scorer import mean
from anls_metric.messages import make_error

if TYPE_CHECKING:
    from anls_metric.core.values import RowScore, ScoredLeaf

BINS = 10
"""The number of confidence bins."""


class Bin(TypedDict):
    """The leaves with confidences in one range."""

    low: float
    high: float
    """the bounds of the range"""
    leaves: int
    """the number of leaves in the range"""
    confidence: float
    """the mean confidence of the leaves in the range"""
    accuracy: float
    """the share of the leaves in the range that score 1"""


class LeafConfidence(Confidence):
    """How well the confidences predict the scores of leaves."""

    leaves: int
    """the number of leaves with a confidence"""
    reliability: list[Bin]
    """the leaves by range of confidence"""


class Leaves(TypedDict, total=False):
    """The leaves of structured answers."""

    leaves: int
    """the number of leaves"""
    right: int
    close: int
    wrong: int
    missed: int
    invented: int
    blank: int
    """the number of leaves with each outcome, which add up to `leaves`"""
    same_value: int
    """how many close and wrong leaves are the same number or date as the reference, written differently"""
    precision: float | None
    precision_interval: list[float] | None
    recall: float | None
    recall_interval: list[float] | None
    f1: float | None
    f1_interval: list[float] | None
    """the shares of right leaves, null for 0 of 0, and their 95% CIs"""
    mean_score: float | None
    """the mean score of the leaves; for all keys, this is ANLS\\* under `--average leaves`"""
    confidence: LeafConfidence
    """with [confidences of values](confidence_and_judges.md#confidences-of-single-values), as for answers, and:"""


@once
def assess_leaves(scored: Scored) -> Mapping[str | None, LeafConfidence]:
    """Measure, by key, how well confidences predict the scores of leaves. The key None stands for all leaves, and the
    result is {} if no leaf has a confidence.

    Raises:
        InputError: the user names the field of the confidences, but the leaves are not listed.
    """
    places, confidences = take_assessments(scored, "confidence")
    if not any(isinstance(each, (dict, list)) for each in confidences):
        return {}
    if scored.all_keys:
        return measure_leaves([scored.values[place] for place in places], confidences)
    if "confidence" in scored.answers.named:
        sentence = "confidences for individual values need counts by key: use {use.variant:anls_star} and {use.by_key}"
        raise make_error(scored.name, sentence)
    return {}


def measure_leaves(rows: Iterable[RowScore], confidences: Iterable[Any]) -> dict[str | None, LeafConfidence]:
    """Measure how well confidences predict the scores of the leaves under each key and, under None, of all leaves.

    Args:
        rows: the scores of answers, which list their leaves.
        confidences: for each answer, numbers in the same structure as the answer; a number applies to all leaves below
            it.
    """
    from anls_metric.analysis.leaf_keys import name_keys  # a plain run over strings does not need it

    pairs_of: dict[str | None, list[tuple[float, float]]] = defaultdict(list)
    for row, confidence in zip(rows, confidences):
        for leaf in row.leaves:
            leaf_confidence = find_confidence(confidence, leaf)
            if leaf_confidence is not None:
                for name in (None, *name_keys(leaf.keys)):
                    pairs_of[name].append((leaf_confidence, leaf.score))
    return {name: _measure(pairs_of[name]) for name in sorted(pairs_of, key=lambda name: natural_key(name or ""))}


def find_confidence(confidence: Any, leaf: ScoredLeaf) -> float | None:
    """Find the confidence for a leaf by following its path in the prediction, or return None if the leaf or its
    confidence is missing.

    Example:
        >>> from anls_metric.core.values import ScoredLeaf
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
        Bin(
            low=place / BINS,
            high=(place + 1) / BINS,
            leaves=len(own),
            confidence=mean([confidence for confidence, _ in own]),
            accuracy=mean([float(score == 1.0) for _, score in own]),
        )
        for place, own in sorted(bins.items())
    ]
    measures = measure_confidence(*zip(*pairs), correct_at=1.0)
    return {"leaves": len(pairs), **measures, "reliability": reliability}


def describe_leaves(scored: Scored) -> dict[str, Any]:
    """Return the figures for all leaves in a submission, or {} if the leaves were not counted."""
    assessed = assess_leaves(scored)
    return {**scored.all_keys, **({"confidence": assessed[None]} if None in assessed else {})}


def _write_lines(values: Leaves, write: Write) -> Iterable[Line]:
    from anls_metric.core.values import LEAF_OUTCOMES  # a plain run over strings does not need them

    if values["leaves"]:
        counts = ", ".join(f"{values[name]:,} {name}" for name in LEAF_OUTCOMES)
        yield Line("leaves", f"{values['leaves']:,} ({counts})")
        precision, recall, f1 = map(write, (values["precision"], values["recall"], values["f1"]))
        of_precision, of_recall = write(values["precision_interval"]), write(values["recall_interval"])
        yield Line("", f"precision {precision} ({of_precision}), recall {recall} ({of_recall})")
        yield Line("", f"F1 {f1} (95% CI {write(values['f1_interval'])})")
    if values["same_value"]:
        yield Line("", f"same number or date, written differently: {values['same_value']:,} of close and wrong")


_INTERVAL = ("95% CI", "confidence interval")

PART = Part(
    key="all_keys",
    sentence="with `--by-key`, the [counts of all leaves](#keys-of-structured-answers)",
    find=describe_leaves,
    type=Leaves,
    order=20,
    by_name=False,
    columns=[
        Column("leaves", "leaves", shown=()),
        Column("right", "right", "leaves that score 1", shown=()),
        Column("close", "close", "leaves that score between 0 and 1", shown=()),
        Column("wrong", "wrong", "leaves with a different value", shown=()),
        Column("missed", "missed", "leaves without a value where one is accepted", shown=()),
        Column("invented", "invented", "leaves with a value where none is accepted", shown=()),
        Column("blank", "blank", "leaves without a value where none is accepted", shown=()),
        Column(
            "same_value",
            "same value",
            "close or wrong leaves with the same number or date, written differently",
            shown=(),
        ),
        Column("precision", "precision", "share of right leaves among those with a value", shown=(REPORT,)),
        Column("precision_interval", *_INTERVAL, shown=()),
        Column("recall", "recall", "share of right leaves among those where a value is accepted", shown=(REPORT,)),
        Column("recall_interval", *_INTERVAL, shown=()),
        Column("f1", "F1", "harmonic mean of precision and recall", shown=(REPORT,)),
        Column("f1_interval", *_INTERVAL, shown=()),
        Column("mean_score", "mean score", "mean of the scores of the leaves", shown=()),
        Column("cost", "cost", "part of the score that is lost here", shown=()),
    ],
    lines=_write_lines,
)
