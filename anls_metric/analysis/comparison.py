"""Compares submissions to the same questions: which is better than the baseline, and how certain that is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import nlargest, nsmallest
from itertools import combinations
from operator import gt, lt
from typing import Any, NamedTuple

from anls_metric.analysis import significance
from anls_metric.analysis.clusters import Clusters, cluster_column, find_clusters
from anls_metric.analysis.scored import Answers, Group, ScoredRow, ScoredSet
from anls_metric.analysis.significance import Interval, Sample, adjust_for_best, differences, holm
from anls_metric.core.choices import describe_unknown
from anls_metric.reading.errors import InputError
from anls_metric.reading.input_file import list_some

SIGNIFICANT = 0.05
"""The adjusted p-value below which a verdict says "better" or "worse"."""

FEWEST_CLUSTERS = 30
"""The number of clusters below which there is no verdict."""

NOT_TOLD_APART, TOO_FEW = "not told apart", "too few questions"

Pair = tuple[ScoredRow, ScoredRow]


class Comparison(NamedTuple):
    """Compares two submissions on the questions that both have. The fields are the keys of the JSON document.

    Attributes:
        first: the name of the first submission: the baseline.
        second: the name of the second submission.
        questions: the number of questions that both have.
        difference: the mean of the second minus the mean of the first.
        interval: the 95 % confidence interval of the difference, None for fewer than two clusters.
        p_value: how often chance alone makes two equally good submissions differ as much: `significance.paired_test`.
        p_value_adjusted: the same, adjusted for the number of comparisons: `significance.holm`.
        better: the number of questions for which the second has the better score.
        worse: the number of questions for which the second has the worse score.
        equal: the number of questions with the same score.
        verdict: about the second: "better", "worse", "not told apart" or "too few questions".
        least_difference: the smallest difference that these questions can detect between these two submissions, None
            for fewer than two clusters: `significance.least_difference`.
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
    least_difference: float | None = None

    @property
    def note(self) -> str:
        """A sentence on why interval and verdict disagree; "" if they agree."""
        if self.interval is None or self.verdict == TOO_FEW:
            return ""
        told_apart, holds_zero = self.verdict != NOT_TOLD_APART, self.interval.low <= 0 <= self.interval.high
        if told_apart != holds_zero:
            return ""
        if not told_apart and self.p_value < SIGNIFICANT:
            return "the interval is of this comparison alone, and the verdict goes by the p adjusted for all of them"
        return "interval and test differ at the border, and the verdict goes by the test"

    def reverse(self) -> Comparison:
        """Return the comparison of the second with the first. The p-values stay the same.

        Example:
            >>> less = Comparison("a", "b", 9, -0.5, Interval(-0.75, -0.25), 0.01, 0.02, 1, 6, 2, "worse")
            >>> less.reverse().difference, less.reverse().interval, less.reverse().verdict
            (0.5, Interval(low=0.25, high=0.75), 'better')
        """
        return self._replace(
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=self.interval and Interval(-self.interval.high, -self.interval.low),
            better=self.worse,
            worse=self.better,
            verdict={"better": "worse", "worse": "better"}.get(self.verdict, self.verdict),
        )

    def adjust(self, p_value: float) -> Comparison:
        """Return the comparison with another adjusted p-value, and the verdict that follows from it."""
        verdict = self.verdict if self.verdict == TOO_FEW else _find_verdict(p_value, self.difference)
        return self._replace(p_value_adjusted=p_value, verdict=verdict)


def _find_verdict(p_value: float, difference: float) -> str:
    if p_value >= SIGNIFICANT:
        return NOT_TOLD_APART
    return "better" if difference > 0 else "worse"


class GroupDifference(NamedTuple):
    """Compares a group of two submissions, as `Comparison` does. The fields are keys of the JSON document."""

    difference: float
    difference_interval: Interval | None


class ComparisonSet(NamedTuple):
    """The comparisons of several submissions.

    Attributes:
        baseline: the name of the submission with which the others are compared.
        clusters: the clusters of the questions; None for none.
        comparisons: the baseline with each of the others, in their order; then the other pairs, where all are compared.
        hints: reasons to doubt the numbers, as sentences.
        best: the name of the submission with the highest mean.
        ties: the names of the submissions that cannot be distinguished from the best, by p-values adjusted for the
            choice of the best on the same questions: see `significance.adjust_for_best`.
        all_pairs: whether every pair is compared.
        groups: the differences of each of the others from the baseline: by its name, the field and the group. Groups
            that the baseline lacks are missing.
    """

    baseline: str
    clusters: Clusters | None
    comparisons: list[Comparison]
    hints: list[str]
    best: str
    ties: list[str]
    all_pairs: bool
    groups: Mapping[str, Mapping[str, Mapping[str, GroupDifference]]]


def compare(
    scored_sets: Mapping[str, ScoredSet],
    baseline: str | None = None,
    cluster_by: str | None = None,
    all_pairs: bool = False,
) -> ComparisonSet:
    """Compare each of several submissions with one of them, or all of them with each other, question by question.

    Args:
        scored_sets: comparable sets by name; they are joined by the ids of their questions.
        baseline: the name of the set with which the others are compared; None takes the first.
        cluster_by: the field of the records that names the document of a question, or "none"; None chooses as
            `clusters.cluster_field` does.
        all_pairs: whether to compare every pair; p-values are adjusted for all of them.

    Raises:
        ValueError: there are fewer than two sets, no set of the baseline's name, other signatures, a set that is not
            comparable, or no record has the field of `cluster_by`.
        InputError: an id is repeated in a set, two sets have no question in common, or most questions with the same id
            have different accepted answers.

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> def score_answers(answers):
        ...     scored_set = ScoredSet(comparable=True)
        ...     scored_set.add([Row(str(place), answer, ["Cola"], {}) for place, answer in enumerate(answers)])
        ...     return scored_set
        >>> answers = {"a": ["Cola", "x"] * 30, "b": ["Cola", "Col", "Cola"] * 20}
        >>> compared = compare({name: score_answers(texts) for name, texts in answers.items()})
        >>> compared.comparisons[0].difference, compared.comparisons[0].verdict
        (0.4166666666666667, 'better')
    """
    baseline = _find_baseline(scored_sets, baseline)
    answers = {name: _answers_of(name, scored_set) for name, scored_set in scored_sets.items()}
    clusters, cluster_of = _cluster_questions(answers, cluster_by)
    patterns = _count_patterns(len(answers))
    names = [baseline, *(name for name in answers if name != baseline)]
    pairs = list(combinations(names, 2)) if all_pairs else _pair_with(baseline, answers)
    comparisons, hints = _compare_pairs(pairs, answers, cluster_of, patterns)
    best = max(scored_sets, key=lambda name: scored_sets[name].mean)
    others = [comparison for comparison in comparisons if best in (comparison.first, comparison.second)]
    if len(others) < len(answers) - 1:
        others, _ = _compare_pairs(_pair_with(best, answers), answers, cluster_of, patterns)
    ties = _find_ties(best, others)
    return ComparisonSet(
        baseline=baseline,
        clusters=clusters,
        comparisons=comparisons,
        hints=hints,
        best=best,
        ties=[name for name in scored_sets if name in ties],
        all_pairs=all_pairs,
        groups={
            name: _compare_groups(scored_sets[baseline], scored_set, cluster_of)
            for name, scored_set in scored_sets.items()
            if name != baseline
        },
    )


def _pair_with(name: str, others: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, other) for other in others if other != name]


def _find_baseline(scored_sets: Mapping[str, ScoredSet], baseline: str | None) -> str:
    """Find the name of the baseline. ValueError: the sets cannot be compared."""
    if baseline is not None and baseline not in scored_sets:
        raise ValueError(describe_unknown("baseline", baseline, scored_sets))
    if len(scored_sets) < 2:
        raise ValueError(f"a comparison needs two submissions or more, not {len(scored_sets)}")
    if baseline is None:
        baseline = next(iter(scored_sets))
    signatures = {scored_set.signature: name for name, scored_set in scored_sets.items()}
    if len(signatures) > 1:
        scored = ", ".join(f"{name} by {signature}" for signature, name in signatures.items())
        raise ValueError(f"the signatures differ ({scored}): score all submissions with the same options")
    for scored_set in scored_sets.values():
        if not scored_set.scorer.averages_rows:
            raise ValueError(
                "a comparison needs scores averaged over rows, and these are averaged over leaves: use average=rows"
            )
    return baseline


def _answers_of(name: str, scored_set: ScoredSet) -> Answers:
    answers = scored_set.answers
    if answers is None:
        raise ValueError(f"{name} has not kept its answers: score it with comparable=True")
    if len(set(answers.ids)) < len(answers.ids):
        repeated = [key for key, count in Counter(answers.ids).items() if count > 1]
        raise InputError(f"ids come more than once ({list_some(repeated)})", name, "keep one record for each id")
    return answers


def _cluster_questions(
    answers: Mapping[str, Answers], cluster_by: str | None
) -> tuple[Clusters | None, Mapping[str, Hashable]]:
    """Find the clusters, and the cluster of each question. If records differ, those of the first set count."""
    records: dict[str, Mapping[str, Any]] = {}
    for each in answers.values():
        if not records or records.keys() != set(each.ids):
            records = dict(zip(each.ids, each.records)) | records
    clusters = find_clusters(list(records.values()), cluster_by)
    if clusters is None:
        return None, {}
    return clusters, dict(zip(records, cluster_column(list(records.values()), clusters.field)))


def _find_ties(best: str, others: Sequence[Comparison]) -> set[str]:
    """Find the names of the submissions that cannot be distinguished from the best, given its comparisons."""
    p_values = adjust_for_best([other.p_value for other in others])
    return {
        other.first if other.second == best else other.second
        for other, p_value in zip(others, p_values)
        if other.verdict == TOO_FEW or p_value >= SIGNIFICANT
    }


def _compare_pairs(
    names: Iterable[tuple[str, str]],
    answers: Mapping[str, Answers],
    cluster_of: Mapping[str, Hashable],
    patterns: int,
) -> tuple[list[Comparison], list[str]]:
    """Compare pairs of submissions, and adjust the p-values for all of these pairs; also return the hints."""
    pairs = [_Pairs(first, answers[first], second, answers[second]) for first, second in names]
    samples = [pair.sample(cluster_of) for pair in pairs]
    p_values = [sample.flip_test(patterns) for sample in samples]
    comparisons = list(map(_Pairs.compare, pairs, samples, p_values, holm(p_values)))
    hints = [hint for comparison, pair in zip(comparisons, pairs) for hint in pair.find_hints(comparison)]
    return comparisons, [*hints, *_list_notes(comparisons)]


def _list_notes(comparisons: Sequence[Comparison]) -> list[str]:
    """List the notes of comparisons as hints: each note once, with the comparisons that have it."""
    pairs: dict[str, list[str]] = {}
    for each in comparisons:
        if each.note:
            pairs.setdefault(each.note, []).append(f"{each.second} against {each.first}")
    return [
        f"{names[0]}: {note}" if len(names) == 1 else f"{len(names)} comparisons ({list_some(names, 2)}): {note}"
        for note, names in pairs.items()
    ]


def compare_each_with_each(
    scored_sets: Mapping[str, ScoredSet], compared: ComparisonSet
) -> dict[str, dict[str, Comparison]]:
    """Compare submissions as if each of them were the baseline.

    Args:
        scored_sets: the sets by name.
        compared: their comparison with the baseline, or of all pairs.

    Returns:
        The comparison by the name of the baseline and the name of the other submission. Its p-value is adjusted for the
        comparisons with this baseline, or for all pairs if `compared` has all pairs. Pairs without common questions are
        missing.
    """
    by_names = {(each.first, each.second): each for each in compared.comparisons}
    missing = [pair for pair in combinations(scored_sets, 2) if pair not in by_names and pair[::-1] not in by_names]
    if missing:
        answers = {name: _answers_of(name, scored_set) for name, scored_set in scored_sets.items()}
        cluster_of = find_cluster_of_questions(scored_sets, compared)
        for pair in missing:
            with suppress(InputError):
                (by_names[pair],), _ = _compare_pairs([pair], answers, cluster_of, _count_patterns(len(answers)))
    by_names |= {(second, first): each.reverse() for (first, second), each in by_names.items()}
    by_baseline: dict[str, dict[str, Comparison]] = {}
    for baseline in scored_sets:
        others = [by_names[baseline, name] for name in scored_sets if (baseline, name) in by_names]
        if not compared.all_pairs:
            others = list(map(Comparison.adjust, others, holm([each.p_value for each in others])))
        by_baseline[baseline] = {each.second: each for each in others}
    return by_baseline


def find_cluster_of_questions(scored_sets: Mapping[str, ScoredSet], compared: ComparisonSet) -> Mapping[str, Hashable]:
    """Find the cluster of each question by its id, as the comparison does. Other questions are their own clusters."""
    if compared.clusters is None:
        return {}
    answers = {name: _answers_of(name, scored_set) for name, scored_set in scored_sets.items()}
    return _cluster_questions(answers, compared.clusters.field)[1]


def _count_patterns(submissions: int) -> int:
    """Count the sign patterns of a test. There are enough for a significant p-value after every adjustment."""
    return max(significance.FLIPS, round(math.comb(submissions, 2) / SIGNIFICANT))


class _Pairs:
    """The scores of two submissions for the questions that both have, in the order of the first.

    Raises:
        InputError: the two have no question in common, or most questions have other accepted answers.
    """

    def __init__(self, first_name: str, first: Answers, second_name: str, second: Answers) -> None:
        self._names, self._sizes = (first_name, second_name), (len(first.ids), len(second.ids))
        if first.ids == second.ids:
            self._ids: Sequence[str] = first.ids
            here = there = range(len(first.ids))
        else:
            places = dict(zip(second.ids, range(len(second.ids))))
            self._ids = [key for key in first.ids if key in places]
            here = [place for place, key in enumerate(first.ids) if key in places]  # type: ignore[assignment]
            there = list(map(places.__getitem__, self._ids))  # type: ignore[assignment]
        if not self._ids:
            own, others = list_some(second.ids), list_some(first.ids)
            problem = f"no question ids in common with {first_name}: {own} here, {others} there"
            raise InputError(problem, second_name)
        self._first = [first.scores[place] for place in here]
        self._second = [second.scores[place] for place in there]
        references = zip(map(first.references.__getitem__, here), map(second.references.__getitem__, there))
        self._others = [
            key
            for key, (accepted, others) in zip(self._ids, references)
            if accepted is not others and accepted != others and not _are_same(accepted, others)
        ]
        if len(self._others) > len(self._ids) / 2:
            problem = f"{len(self._others):,} of its ids have other accepted answers than in {first_name} "
            raise InputError(
                problem + f"({list_some(self._others)})", second_name, "use the same id for the same question in both"
            )

    def sample(self, cluster_of: Mapping[str, Hashable]) -> Sample:
        """Collect the differences, second minus first, by cluster."""
        return differences(self._first, self._second, list(map(cluster_of.get, self._ids)))

    def compare(self, sample: Sample, p_value: float, adjusted: float) -> Comparison:
        """Compare the second with the first, given the p-values of the test."""
        difference, clusters = sample.mean, sample.cluster_count
        better = sum(map(gt, self._second, self._first))
        worse = sum(map(lt, self._second, self._first))
        verdict = TOO_FEW if clusters < FEWEST_CLUSTERS else _find_verdict(adjusted, difference)
        return Comparison(
            first=self._names[0],
            second=self._names[1],
            questions=len(self._ids),
            difference=difference,
            interval=sample.interval() if clusters > 1 else None,
            p_value=p_value,
            p_value_adjusted=adjusted,
            better=better,
            worse=worse,
            equal=len(self._ids) - better - worse,
            verdict=verdict,
            least_difference=sample.least_difference() if clusters > 1 else None,
        )

    def find_hints(self, comparison: Comparison) -> Iterator[str]:
        """Find reasons to doubt the comparison."""
        (first, second), (here, there) = self._names, self._sizes
        if comparison.questions < max(here, there):
            yield (
                f"{second} is compared with {first} on the {comparison.questions:,} questions that both have: "
                f"it has {there:,}, {first} has {here:,}"
            )
        if self._others:
            yield (
                f"{len(self._others):,} of the questions of {second} have other accepted answers than in {first} "
                f"({list_some(self._others)})"
            )


def _compare_groups(
    first: ScoredSet, second: ScoredSet, cluster_of: Mapping[str, Hashable]
) -> dict[str, dict[str, GroupDifference]]:
    """Compare the groups that both sets have, on the questions that both have in a group."""
    by_field: dict[str, dict[str, GroupDifference]] = {}
    for field, groups in second.groups.items():
        by_field[field] = {}
        for name in groups.keys() & first.groups.get(field, {}).keys():
            before = index_scores(first, first.groups[field][name])
            after = index_scores(second, groups[name])
            difference = compare_groups(before, after, cluster_of)
            if difference:
                by_field[field][name] = difference
    return by_field


def compare_groups(
    before: Mapping[str, float], after: Mapping[str, float], cluster_of: Mapping[str, Hashable]
) -> GroupDifference | None:
    """Compare the scores of a group, by the ids of its questions; None without a common question."""
    ids = [key for key in after if key in before]
    if not ids:
        return None
    sample = differences([before[key] for key in ids], [after[key] for key in ids], list(map(cluster_of.get, ids)))
    return GroupDifference(sample.mean, sample.interval() if sample.cluster_count > 1 else None)


def index_scores(scored_set: ScoredSet, group: Group) -> dict[str, float]:
    """Return the scores of a group of a set that keeps its answers, by the ids of the questions."""
    ids = scored_set.answers.ids if scored_set.answers else ()
    return {ids[place]: score for place, score in zip(group.places, group.scores)}


def _are_same(references: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether two lists have the same items in any order. Items may be lists, which a set cannot hold."""
    return all(text in others for text in references) and all(text in references for text in others)


def find_changes(first: ScoredSet, second: ScoredSet, most: int) -> tuple[list[Pair], list[Pair]]:
    """Find the questions whose scores differ most between two submissions.

    Args:
        first: a set that keeps its rows.
        second: another one; they are joined by the ids of the rows.
        most: how many questions to return of each kind.

    Returns:
        Two lists of pairs of answers: questions on which the second scores less, and questions on which it scores more.
        The largest difference comes first; equal differences have the order of the first set.

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> first, second = ScoredSet(keep=True), ScoredSet(keep=True)
        >>> _ = first.add([Row("7", "Cola", ["Cola"], {}), Row("8", "x", ["Cola"], {}), Row("9", "y", ["Cola"], {})])
        >>> _ = second.add([Row("7", "x", ["Cola"], {}), Row("8", "Col", ["Cola"], {}), Row("9", "z", ["Cola"], {})])
        >>> [[pair[0].row.id for pair in pairs] for pairs in find_changes(first, second, 5)]
        [['7'], ['8']]
    """
    answers = {scored.row.id: scored for scored in second.rows}
    pairs = [(scored, answers[scored.row.id]) for scored in first.rows if scored.row.id in answers]
    lost = [pair for pair in pairs if pair[1].score < pair[0].score]
    won = [pair for pair in pairs if pair[1].score > pair[0].score]

    def loss(pair: Pair) -> float:
        return pair[0].score - pair[1].score

    return nlargest(most, lost, key=loss), nsmallest(most, won, key=loss)
