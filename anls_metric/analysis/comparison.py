"""Several submissions to the same questions: which is better than the first one, and how sure that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import Any, NamedTuple

from anls_metric.analysis.clusters import Clusters, cluster_column, find_clusters
from anls_metric.analysis.scored import Scored, ScoredSet
from anls_metric.analysis.significance import Interval, Sample, differences, holm
from anls_metric.reading.files import some
from anls_metric.reading.rows import InputError

# A verdict goes by an adjusted p-value under this,
SIGNIFICANT = 0.05
# and there is none on fewer clusters than these.
FEWEST_CLUSTERS = 30

NOT_TOLD_APART, TOO_FEW = "not told apart", "too few questions"

Answers = Mapping[str, Scored]  # by id
Pair = tuple[Scored, Scored]


class Comparison(NamedTuple):
    """Two submissions on the questions that both have. The fields are the keys of the JSON document.

    Attributes:
        first: the name of the one: the baseline.
        second: the name of the other.
        questions: how many both have.
        difference: the mean of the second minus that of the first.
        interval: the 95 % confidence interval of the difference, None where there are no two clusters.
        p_value: how often chance alone makes two equally good ones differ as much, see `significance.paired_test`.
        p_value_adjusted: the same, adjusted for the number of comparisons, see `significance.holm`.
        better: to how many questions the second has the better answer.
        worse: to how many the worse one.
        equal: to how many one with the same score.
        verdict: on the second: "better", "worse", "not told apart" or "too few questions".
    """

    first: str
    second: str
    questions: int
    difference: float
    interval: Interval | None
    p_value: float
    p_value_adjusted: float
    better: int
    worse: int
    equal: int
    verdict: str

    @property
    def least_difference(self) -> float | None:
        """Under which difference these questions can tell nothing, see `significance.least_difference`."""
        return (self.interval.high - self.interval.low) / 2 if self.interval else None

    @property
    def note(self) -> str:
        """Why the interval does not say what the verdict says; "" where it does."""
        if self.interval is None or self.verdict == TOO_FEW:
            return ""
        told_apart, holds_zero = self.verdict != NOT_TOLD_APART, self.interval.low <= 0 <= self.interval.high
        if told_apart != holds_zero:
            return ""
        if not told_apart and self.p_value < SIGNIFICANT:
            return "the interval is of this comparison alone, and the verdict goes by the p adjusted for all of them"
        return "interval and test differ at the border, and the verdict goes by the test"


class Compared(NamedTuple):
    """What is known of several submissions side by side.

    Attributes:
        baseline: the name of the submission that the others are compared with.
        clusters: what questions belong together by, None for nothing.
        comparisons: one for each of the others, in their order.
        hints: what to know of the numbers before believing them: sentences.
        best: the name of the submission with the highest mean.
        ties: the names of those that cannot be told apart from the best.
    """

    baseline: str
    clusters: Clusters | None
    comparisons: list[Comparison]
    hints: list[str]
    best: str
    ties: list[str]

    @property
    def least_difference(self) -> float | None:
        """Under which difference none of the comparisons can tell anything."""
        found = [one.least_difference for one in self.comparisons if one.least_difference is not None]
        return min(found, default=None)


def compare(
    scored_sets: Mapping[str, ScoredSet], baseline: str | None = None, cluster_by: str | None = None
) -> Compared:
    """Compare each of several submissions with one of them, question by question.

    Args:
        scored_sets: by name, sets that keep their rows; they are joined by the ids of these.
        baseline: the name of the one that the others are compared with; None takes the first.
        cluster_by: the field of the records that says which questions belong together, or "none"; None chooses as
            `clusters.cluster_field` does.

    Raises:
        ValueError: fewer than two sets, no set of the baseline's name, sets of different signatures or without their
            rows, a field that no record has. InputError: an id that comes twice in a set, sets that have no question in
            common, or the same ids with other accepted answers.

    Example:
        >>> from anls_metric.reading.rows import Row
        >>> def scored(answers):
        ...     scored_set = ScoredSet(keep=True)
        ...     scored_set.add([Row(str(place), answer, ["Cola"], {}) for place, answer in enumerate(answers)])
        ...     return scored_set
        >>> found = compare({"a": scored(["Cola", "x"] * 30), "b": scored(["Cola", "Col", "Cola"] * 20)})
        >>> found.comparisons[0].difference, found.comparisons[0].verdict
        (0.4166666666666667, 'better')
    """
    baseline = _check(scored_sets, baseline)
    by_id = {name: _by_id(name, scored_set) for name, scored_set in scored_sets.items()}
    clusters, cluster_of = _clusters(by_id, cluster_by)
    comparisons = _compare_with(baseline, by_id, cluster_of)
    hints = [hint for one in comparisons for hint in _hints(one, by_id)]
    best = max(scored_sets, key=lambda name: scored_sets[name].mean)
    others = comparisons if best == baseline else _compare_with(best, by_id, cluster_of)
    ties = [one.second for one in others if one.verdict in (NOT_TOLD_APART, TOO_FEW)]
    return Compared(baseline, clusters, comparisons, hints, best, ties)


def _compare_with(baseline: str, by_id: Mapping[str, Answers], cluster_of: Mapping[str, Hashable]) -> list[Comparison]:
    """Each of the others with one of them."""
    pairs = {name: _pairs(by_id[baseline], by_id[name], baseline, name) for name in by_id if name != baseline}
    samples = {name: _differences(answers, cluster_of) for name, answers in pairs.items()}
    p_values = [sample.flip_test() for sample in samples.values()]
    return [
        _comparison(baseline, name, pairs[name], samples[name], p_value, adjusted)
        for name, p_value, adjusted in zip(pairs, p_values, holm(p_values))
    ]


def _check(scored_sets: Mapping[str, ScoredSet], baseline: str | None) -> str:
    """The name of the baseline, where these can be compared."""
    if baseline is not None and baseline not in scored_sets:
        raise ValueError(f"no submission is called {baseline!r}: the baseline is one of {', '.join(scored_sets)}")
    if len(scored_sets) < 2:
        raise ValueError(f"a comparison needs two submissions or more, not {len(scored_sets)}")
    if baseline is None:
        baseline = next(iter(scored_sets))
    signatures = {scored_set.signature: name for name, scored_set in scored_sets.items()}
    if len(signatures) > 1:
        scored = ", ".join(f"{name} by {signature}" for signature, name in signatures.items())
        raise ValueError(f"the scores are not of one kind: {scored}: score all of them alike")
    for name, scored_set in scored_sets.items():
        if not scored_set.scorer.averages_rows:
            raise ValueError(
                "submissions are compared by rows, and these are means of leaves: take the average of rows"
            )
        if len(scored_set.rows) != scored_set.count:
            raise ValueError(f"{name} has not kept its rows: score it with keep=True")
    return baseline


def _by_id(name: str, scored_set: ScoredSet) -> Answers:
    answers = {one.row.id: one for one in scored_set.rows}
    if len(answers) < scored_set.count:
        repeated = [key for key, count in Counter(one.row.id for one in scored_set.rows).items() if count > 1]
        raise InputError(f"ids come more than once ({some(repeated)})", name, "keep one record of each")
    return answers


def _clusters(by_id: Mapping[str, Answers], cluster_by: str | None) -> tuple[Clusters | None, Mapping[str, Hashable]]:
    """What questions belong together by, and the cluster of each; where records differ, those of the first set say."""
    records = {key: one.row.record for answers in reversed([*by_id.values()]) for key, one in answers.items()}
    clusters = find_clusters(list(records.values()), cluster_by)
    if clusters is None:
        return None, {}
    return clusters, dict(zip(records, cluster_column(list(records.values()), clusters.field)))


def _pairs(first: Answers, second: Answers, baseline: str, name: str) -> list[Pair]:
    """The answers of both to the questions that both have."""
    pairs = [(one, second[key]) for key, one in first.items() if key in second]
    if not pairs:
        raise InputError(f"none of its ids ({some(second)}) is one of those of {baseline} ({some(first)})", name)
    others = _asked_otherwise(pairs)
    if len(others) > len(pairs) / 2:
        found = f"{len(others):,} of its ids have other accepted answers than in {baseline} ({some(others)})"
        raise InputError(found, name, "an id has to mean the same question in both")
    return pairs


def _asked_otherwise(pairs: Sequence[Pair]) -> list[str]:
    """The ids under which the two have other accepted answers."""
    references = ((one.row.id, one.row.references, other.row.references) for one, other in pairs)
    return [key for key, one, other in references if one != other and not _are_same(one, other)]


def _are_same(references: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether they are the same in another order: values may be lists, which no set takes."""
    return all(one in others for one in references) and all(one in references for one in others)


def _differences(pairs: Sequence[Pair], cluster_of: Mapping[str, Hashable]) -> Sample:
    return differences(
        [first.score for first, _ in pairs],
        [second.score for _, second in pairs],
        [cluster_of.get(first.row.id) for first, _ in pairs],
    )


def changes(first: ScoredSet, second: ScoredSet, most: int) -> tuple[list[Pair], list[Pair]]:
    """The questions that two submissions answer most differently.

    Args:
        first: a set that keeps its rows.
        second: another one; they are joined by the ids of the rows.
        most: how many questions to give of each kind.

    Returns:
        Pairs of the answers of both: those that the second one lost, and those that it won. The largest difference of
        the scores comes first, then the order of the first set.

    Example:
        >>> from anls_metric.reading.rows import Row
        >>> first, second = ScoredSet(keep=True), ScoredSet(keep=True)
        >>> _ = first.add([Row("7", "Cola", ["Cola"], {}), Row("8", "x", ["Cola"], {}), Row("9", "y", ["Cola"], {})])
        >>> _ = second.add([Row("7", "x", ["Cola"], {}), Row("8", "Col", ["Cola"], {}), Row("9", "z", ["Cola"], {})])
        >>> [[pair[0].row.id for pair in found] for found in changes(first, second, 5)]
        [['7'], ['8']]
    """
    answers = {one.row.id: one for one in second.rows}
    pairs = [(one, answers[one.row.id]) for one in first.rows if one.row.id in answers]
    lost = [pair for pair in pairs if pair[1].score < pair[0].score]
    won = [pair for pair in pairs if pair[1].score > pair[0].score]

    def loss(pair: Pair) -> float:
        return pair[0].score - pair[1].score

    return nlargest(most, lost, key=loss), nsmallest(most, won, key=loss)


def _hints(one: Comparison, by_id: Mapping[str, Answers]) -> Iterator[str]:
    first, second = len(by_id[one.first]), len(by_id[one.second])
    pairs = _pairs(by_id[one.first], by_id[one.second], one.first, one.second)
    if one.questions < max(first, second):
        yield (
            f"{one.second} is compared with {one.first} on the {one.questions:,} questions that both have: "
            f"it has {second:,}, {one.first} has {first:,}"
        )
    others = _asked_otherwise(pairs)
    if others:
        yield (
            f"{len(others):,} of the questions of {one.second} have other accepted answers than in {one.first} "
            f"({some(others)})"
        )
    if one.note:
        yield f"{one.second} against {one.first}: {one.note}"


def _comparison(
    baseline: str, name: str, pairs: Sequence[Pair], sample: Sample, p_value: float, adjusted: float
) -> Comparison:
    difference, clusters = sample.mean, sample.cluster_count
    better = sum(second.score > first.score for first, second in pairs)
    worse = sum(second.score < first.score for first, second in pairs)
    if clusters < FEWEST_CLUSTERS:
        verdict = TOO_FEW
    elif adjusted >= SIGNIFICANT:
        verdict = NOT_TOLD_APART
    else:
        verdict = "better" if difference > 0 else "worse"
    return Comparison(
        first=baseline,
        second=name,
        questions=len(pairs),
        difference=difference,
        interval=sample.interval() if clusters > 1 else None,
        p_value=p_value,
        p_value_adjusted=adjusted,
        better=better,
        worse=worse,
        equal=len(pairs) - better - worse,
        verdict=verdict,
    )
