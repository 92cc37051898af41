"""Whole sets seen from above: question by question, under every variant, over the threshold, and how they spread."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from anls_metric.analysis.scored import Scored, ScoredSet
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.reading.rows import Row

THRESHOLDS = tuple(step / 100 for step in range(101))
"""At which `by_threshold` looks."""

BINS = 20
"""Into which `spread` counts."""


class Question(NamedTuple):
    """A question with the answer of each submission.

    Attributes:
        id: what the question is called.
        row: that of the first submission that was asked it.
        answers: one for each submission, None where it was not asked.
    """

    id: str
    row: Row
    answers: Sequence[Scored | None]

    @property
    def needs_a_look(self) -> bool:
        """Whether a submission has 0 there, or two differ."""
        scores = [answer.score for answer in self.answers if answer]
        return 0.0 in scores or len(set(scores)) > 1 or None in self.answers


def questions(scored_sets: Sequence[ScoredSet]) -> list[Question]:
    """Every question of sets that keep their rows, in the order of the first set, then of the others.

    Example:
        >>> sets = [ScoredSet(keep=True), ScoredSet(keep=True)]
        >>> scored = [sets[0].add([Row("7", "a", ["a"], {})]), sets[1].add([Row("7", "b", ["a"], {})])]
        >>> [(question.id, question.needs_a_look) for question in questions(sets)]
        [('7', True)]
    """
    by_id = [{scored.row.id: scored for scored in scored_set.rows} for scored_set in scored_sets]
    ids = dict.fromkeys(key for answers in by_id for key in answers)
    rows = {key: scored.row for answers in reversed(by_id) for key, scored in answers.items()}
    return [Question(key, rows[key], [answers.get(key) for answers in by_id]) for key in ids]


def by_variant(scored_set: ScoredSet) -> dict[str, float]:
    """The mean of a set that keeps its rows under every variant, each as published.

    Example:
        >>> scored_set = ScoredSet(keep=True)
        >>> scored = scored_set.add([Row("7", "Coca Col", ["Coca Cola"], {})])
        >>> by_variant(scored_set)["lmms_eval_0_2"]
        1.0
    """
    return scored_set.means_under(VARIANTS.values())


# Whether a similarity is kept at a threshold. A distance / length that a similarity stands for comes back with the
# rounding of two subtractions, and no two of them are as near to each other as this.
_ROUNDING = 1e-12
_KEEPS: Mapping[str, Callable[[float, float], bool]] = {
    "similarity >= threshold": lambda similarity, threshold: similarity >= threshold,
    "similarity > threshold": lambda similarity, threshold: similarity > threshold,
    "distance / length < threshold": lambda similarity, threshold: 1 - similarity < threshold - _ROUNDING,
}


def by_threshold(scored_set: ScoredSet) -> list[tuple[float, float]]:
    """The mean of a set that keeps its rows with their similarities, at each of `THRESHOLDS`.

    Returns:
        Thresholds as the variant takes them, and means. Where it compares the distance, 0 is left out: nothing is kept
        there.

    Example:
        >>> scored_set = ScoredSet(keep=True)
        >>> scored = scored_set.add([Row("7", "ab", ["abcd"], {}), Row("8", "abcd", ["abcd"], {})])
        >>> dict(by_threshold(scored_set))[0.5], dict(by_threshold(scored_set))[0.51]
        (0.75, 0.5)
    """
    variant, count = scored_set.variant, scored_set.count
    keeps, normalize = _KEEPS[variant.kept], normalizer(variant)
    counts = Counter(
        one.similarity
        for one in scored_set.rows
        if one.similarity and not (variant.no_answers and normalize(one.row.prediction or "") in variant.no_answers)
    )
    return [
        (
            threshold,
            math.fsum(
                (1.0 if variant.all_or_nothing else similarity) * times
                for similarity, times in counts.items()
                if keeps(similarity, threshold)
            )
            / count,
        )
        for threshold in THRESHOLDS
        if threshold or "distance" not in variant.kept
    ]


def least_similarity(variant: Variant) -> float:
    """The similarity from which on an answer counts, give or take equality."""
    return 1 - variant.threshold if "distance" in variant.kept else variant.threshold


def spread(scored_set: ScoredSet) -> tuple[list[int], int]:
    """How the similarities of a set that keeps them spread.

    Returns:
        How many are in each of `BINS` equal parts from 0 to 1, and how many are 1, which no part counts. A negative one
        (a text can be longer in lower case) is in the first part.

    Example:
        >>> scored_set = ScoredSet(keep=True)
        >>> scored = scored_set.add([Row("7", "ab", ["abcd"], {}), Row("8", "abcd", ["abcd"], {})])
        >>> counts, equal = spread(scored_set)
        >>> counts[10], sum(counts), equal
        (1, 1, 1)
    """
    counts = [0] * BINS
    similarities = [one.similarity or 0.0 for one in scored_set.rows]
    below = [similarity for similarity in similarities if similarity != 1.0]
    for similarity in below:
        counts[min(max(int(similarity * BINS), 0), BINS - 1)] += 1
    return counts, len(similarities) - len(below)
