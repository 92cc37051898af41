"""Compares submissions to the same questions: which is better than the baseline, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from operator import gt, lt
from typing import Any, NamedTuple

from anls_metric.analysis import significance
from anls_metric.analysis.clusters import Clusters
from anls_metric.analysis.question_hash import as_strings
from anls_metric.analysis.scored import Group, Scored
from anls_metric.analysis.significance import Interval, adjust_for_best, differences, holm
from anls_metric.core.choices import describe_unknown
from anls_metric.messages import Message, list_some, make_error
from anls_metric.reading.names import find_name

SIGNIFICANT = 0.05
"""The adjusted p-value below which a verdict says "better" or "worse"."""

MIN_CLUSTERS = 30
"""The number of clusters below which there is no verdict."""

NO_DIFFERENCE, TOO_FEW = "no significant difference", "too few questions"


class Comparison(NamedTuple):
    """Compares two submissions on the questions that both have. The fields are the keys of the JSON document.

    Attributes:
        first: the name of the first submission: the baseline.
        second: the name of the second submission.
        questions: the number of questions that both have.
        difference: the mean of the second minus the mean of the first.
        interval: the 95% confidence interval of the difference, None for fewer than two clusters.
        p_value: how often chance alone makes two equally good submissions differ as much: `significance.paired_test`.
        p_value_adjusted: the same, adjusted for the number of comparisons: `significance.holm`.
        wins: the number of questions on which the second has the better score.
        losses: the number of questions on which the second has the worse score.
        equal: the number of questions with the same score.
        mde: the minimum detectable effect at 80% power, None for fewer than two clusters.
        verdict: about the second: "better", "worse", "no significant difference" or "too few questions".
    """

    first: str
    second: str
    questions: int
    difference: float
    interval: Interval | None
    p_value: float
    p_value_adjusted: float
    wins: int
    losses: int
    equal: int
    mde: float | None
    verdict: str

    @property
    def note(self) -> str:
        """A sentence on why interval and verdict disagree; "" if they agree."""
        if self.interval is None or self.verdict == TOO_FEW:
            return ""
        is_significant, has_zero = self.verdict != NO_DIFFERENCE, self.interval.low <= 0 <= self.interval.high
        if is_significant != has_zero:
            return ""
        if not is_significant and self.p_value < SIGNIFICANT:
            return "the interval is of this comparison alone, and the verdict uses p adjusted for all comparisons"
        return "interval and test differ at the border, and the verdict uses the test"

    def reverse(self) -> Comparison:
        """Return the comparison of the second with the first. The p-values stay the same."""
        return self._replace(
            first=self.second,
            second=self.first,
            difference=-self.difference,
            interval=self.interval and Interval(-self.interval.high, -self.interval.low),
            wins=self.losses,
            losses=self.wins,
            verdict={"better": "worse", "worse": "better"}.get(self.verdict, self.verdict),
        )

    def adjust(self, p_value: float) -> Comparison:
        """Return the comparison with another adjusted p-value, and the verdict that follows from it."""
        verdict = self.verdict if self.verdict == TOO_FEW else _find_verdict(p_value, self.difference)
        return self._replace(p_value_adjusted=p_value, verdict=verdict)


def _find_verdict(p_value: float, difference: float) -> str:
    if p_value >= SIGNIFICANT:
        return NO_DIFFERENCE
    return "better" if difference > 0 else "worse"


class GroupDifference(NamedTuple):
    """Compares a group of two submissions, as `Comparison` does. The fields are keys of the JSON document."""

    difference: float
    difference_interval: Interval | None


class ComparisonSet(NamedTuple):
    """The comparisons of several submissions.

    Attributes:
        baseline: the name of the submission with which the others are compared.
        clusters: the clusters of the questions of the baseline; None for none.
        comparisons: the baseline with each of the others, in their order; then the other pairs, if all are compared.
        hints: what is doubtful about the comparisons.
        best: the name of the submission with the highest score; of equal scores, the first name.
        p_values: the p-value of each of the others against the best, by its name, adjusted for the choice of the best
            on the same questions: see `significance.adjust_for_best`.
        ties: the names of the submissions without a significant difference from the best, by these p-values.
        all_pairs: whether every pair is compared.
        groups: the differences of each of the others from the baseline: by its name, the field and the group.
    """

    baseline: str
    clusters: Clusters | None
    comparisons: list[Comparison]
    hints: list[Message]
    best: str
    p_values: Mapping[str, float]
    ties: list[str]
    all_pairs: bool
    groups: Mapping[str, Mapping[str, Mapping[str, GroupDifference]]]


def compare(submissions: Sequence[Scored], baseline: str | None = None, all_pairs: bool = False) -> ComparisonSet:
    """Compare each of several submissions with one of them, or all of them with each other, question by question.

    Args:
        submissions: two submissions or more. They are joined by the ids of their questions.
        baseline: the name of the submission with which the others are compared; None takes the first.
        all_pairs: whether to compare every pair; p-values are adjusted for all of them.

    Raises:
        ValueError: there is no submission with the name of the baseline.
        InputError: the scores are means of leaves; two submissions have no question in common, or most questions with
            the same id have different accepted answers.

    Example:
        >>> from dataclasses import replace
        >>> from anls_metric.analysis.scored import score_columns
        >>> answers = {"a": ["Cola", "x"] * 30, "b": ["Cola", "Col", "Cola"] * 20}
        >>> scored = [(name, score_columns(texts, [["Cola"]] * 60)) for name, texts in answers.items()]
        >>> compared = compare([replace(each, answers=each.answers._replace(name=name)) for name, each in scored])
        >>> compared.comparisons[0].difference, compared.comparisons[0].verdict
        (0.4166666666666667, 'better')
    """
    by_name = {scored.name: scored for scored in submissions}
    own = _find_baseline(list(by_name), baseline)
    if not submissions[0].scorer.averages_rows:
        raise make_error("", "a comparison needs {use.average:rows}, since it compares questions")
    names = [own, *(name for name in by_name if name != own)]
    pairs = list(combinations(names, 2)) if all_pairs else [(own, name) for name in names[1:]]
    comparisons, hints = _compare_pairs(by_name, pairs)
    best = sort_by_score(submissions)[0].name
    others = [comparison for comparison in comparisons if best in (comparison.first, comparison.second)]
    if len(others) < len(by_name) - 1:
        others, _ = _compare_pairs(by_name, [(best, name) for name in by_name if name != best])
    rivals = {(each.first if each.second == best else each.second): each for each in others}
    p_values = dict(zip(rivals, adjust_for_best([each.p_value for each in others])))
    return ComparisonSet(
        baseline=own,
        clusters=by_name[own].clusters,
        comparisons=comparisons,
        hints=hints,
        best=best,
        p_values=p_values,
        ties=[
            name
            for name in by_name
            if name in rivals and (rivals[name].verdict == TOO_FEW or p_values[name] >= SIGNIFICANT)
        ],
        all_pairs=all_pairs,
        groups={name: _compare_groups(by_name[own], by_name[name]) for name in names[1:]},
    )


def _find_baseline(names: Sequence[str], baseline: str | None) -> str:
    if baseline is None:
        return names[0]
    found = find_name(baseline, names)
    if not found:
        raise ValueError(describe_unknown("baseline", baseline, names))
    return found


def _count_patterns(submissions: int) -> int:
    """Count the sign patterns of a test. There are enough for a significant p-value after every adjustment."""
    return max(significance.FLIPS, round(math.comb(submissions, 2) / SIGNIFICANT))


def sort_by_score(submissions: Sequence[Scored]) -> list[Scored]:
    """Sort submissions by score, the best first; equal scores by name."""
    return sorted(submissions, key=lambda scored: (-scored.anls, scored.name))


def rank_submissions(submissions: Sequence[Scored], compared: ComparisonSet) -> dict[str, int]:
    """Rank submissions by name, the best first: 1 for the best and its ties, else the place by score."""
    names = [scored.name for scored in sort_by_score(submissions)]
    return {name: 1 if name in (compared.best, *compared.ties) else place for place, name in enumerate(names, 1)}


class Pair(NamedTuple):
    """Two submissions on the questions that both have.

    Attributes:
        first, second: the places of these questions in each submission.
        clusters: their clusters; None if each question is its own.
    """

    first: Sequence[int]
    second: Sequence[int]
    clusters: Sequence[Hashable] | None


def pair_questions(first: Scored, second: Scored) -> Pair:
    """Pair the questions that two submissions have, in the order of the first, with their clusters in the first.

    Raises:
        InputError: they have no question in common.
    """
    names = first.clusters and first.clusters.names
    if first.questions.ids == second.questions.ids:
        places = range(len(first.scores))
        return Pair(places, places, names)
    there = dict(zip(second.questions.ids, range(len(second.scores))))
    own = [place for place, key in enumerate(first.questions.ids) if key in there]
    if not own:
        sentence = "no question ids in common with {first}: {own} / {theirs}"
        values = {"own": list_some(second.questions.ids, 2), "theirs": list_some(first.questions.ids, 2)}
        raise make_error(second.name, sentence, first=first.name, **values)
    other = [there[first.questions.ids[place]] for place in own]
    return Pair(own, other, names and [names[place] for place in own])


def _compare_pairs(
    by_name: Mapping[str, Scored], names: Iterable[tuple[str, str]]
) -> tuple[list[Comparison], list[Message]]:
    """Compare pairs of submissions, and adjust the p-values for all of these pairs.

    Returns:
        The comparisons, and hints about them.
    """
    patterns = _count_patterns(len(by_name))
    scored = [(by_name[first], by_name[second]) for first, second in names]
    hints: list[Message] = []
    samples = []
    for first, second in scored:
        pair = pair_questions(first, second)
        hints += _check_pair(first, second, pair)
        before, after = [first.scores[place] for place in pair.first], [second.scores[place] for place in pair.second]
        samples.append((before, after, differences(before, after, pair.clusters)))
    p_values = [sample.flip_test(patterns) for *_, sample in samples]
    comparisons = []
    for (first, second), (before, after, sample), p_value, adjusted in zip(scored, samples, p_values, holm(p_values)):
        wins, losses = sum(map(gt, after, before)), sum(map(lt, after, before))
        several = sample.cluster_count > 1
        comparison = Comparison(
            first=first.name,
            second=second.name,
            questions=len(before),
            difference=sample.mean,
            interval=sample.interval() if several else None,
            p_value=p_value,
            p_value_adjusted=adjusted,
            wins=wins,
            losses=losses,
            equal=len(before) - wins - losses,
            mde=sample.minimum_detectable_effect() if several else None,
            verdict=_find_verdict(adjusted, sample.mean) if sample.cluster_count >= MIN_CLUSTERS else TOO_FEW,
        )
        comparisons.append(comparison)
    return comparisons, [*hints, *_list_notes(comparisons)]


def _check_pair(first: Scored, second: Scored, pair: Pair) -> list[Message]:
    """Warn of questions that only one of two submissions has, and of other accepted answers.

    Raises:
        InputError: most questions with the same id have different accepted answers.
    """
    if first.questions is second.questions:
        return []
    hints = []
    if len(pair.first) < max(len(first.scores), len(second.scores)):
        sentence = "{second} is compared with {first} on the {common:,} questions that both have: "
        counts = {"common": len(pair.first), "own": len(second.scores), "theirs": len(first.scores)}
        names: dict[str, Any] = {"first": first.name, "second": second.name}
        hints.append(Message("", sentence + "it has {own:,}, {first} has {theirs:,}", names | counts))
    others = [
        first.questions.ids[own]
        for own, other in zip(pair.first, pair.second)
        if as_strings(first.questions.references[own]) != as_strings(second.questions.references[other])
    ]
    sentence = "{count:,} of its questions have different accepted answers in {first} ({some})"
    values: dict[str, Any] = {"count": len(others), "first": first.name, "some": list_some(others)}
    if 2 * len(others) > len(pair.first):
        raise make_error(second.name, sentence + ": use the same id for the same question in both", **values)
    return [*hints, *([Message(second.name, sentence, values)] if others else [])]


def _list_notes(comparisons: Sequence[Comparison]) -> list[Message]:
    """List the notes of comparisons: each note once, with the comparisons that have it."""
    pairs: dict[str, list[str]] = {}
    for each in comparisons:
        if each.note:
            pairs.setdefault(each.note, []).append(f"{each.second} against {each.first}")
    return [
        Message("", "{pairs}: {note}", {"pairs": list_some(names, 2), "note": note}) for note, names in pairs.items()
    ]


def compare_each_with_each(submissions: Sequence[Scored], compared: ComparisonSet) -> dict[str, dict[str, Comparison]]:
    """Compare submissions as if each of them were the baseline.

    Args:
        submissions: the submissions.
        compared: their comparison with the baseline, or of all pairs.

    Returns:
        The comparison by the name of the baseline and the name of the other submission. Its p-value is adjusted for the
        comparisons with this baseline, or for all pairs if `compared` has all pairs.
    """
    by_name = {scored.name: scored for scored in submissions}
    by_names = {(each.first, each.second): each for each in compared.comparisons}
    missing = [pair for pair in combinations(by_name, 2) if pair not in by_names and pair[::-1] not in by_names]
    more, _ = _compare_pairs(by_name, missing)
    by_names |= zip(missing, more)
    by_names |= {(second, first): each.reverse() for (first, second), each in by_names.items()}
    by_baseline: dict[str, dict[str, Comparison]] = {}
    for baseline in by_name:
        others = [by_names[baseline, name] for name in by_name if name != baseline]
        if not compared.all_pairs:
            others = list(map(Comparison.adjust, others, holm([each.p_value for each in others])))
        by_baseline[baseline] = {each.second: each for each in others}
    return by_baseline


# Groups


def _compare_groups(first: Scored, second: Scored) -> dict[str, dict[str, GroupDifference]]:
    """Compare the groups that both submissions have."""
    return {
        field: {
            name: difference
            for name in groups.keys() & first.groups.get(field, {}).keys()
            if (difference := compare_group(first, second, first.groups[field][name], groups[name]))
        }
        for field, groups in second.groups.items()
    }


def compare_group(first: Scored, second: Scored, before: Group, after: Group) -> GroupDifference | None:
    """Compare a group of two submissions on the questions that both have in it; None without such a question."""
    ids = second.questions.ids
    scores = {ids[place]: score for place, score in zip(after.places, after.scores)}
    own = first.questions.ids
    common = [(place, score) for place, score in zip(before.places, before.scores) if own[place] in scores]
    if not common:
        return None
    names = first.clusters and [first.clusters.names[place] for place, _ in common]
    sample = differences([score for _, score in common], [scores[own[place]] for place, _ in common], names)
    return GroupDifference(sample.mean, sample.interval() if sample.cluster_count > 1 else None)
