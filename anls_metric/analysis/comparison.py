"""Compares submissions on the same questions, and tests which of them differ significantly from the baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from operator import sub
from typing import NamedTuple

from anls_metric.analysis.question_hash import as_strings
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.verdicts import (
    FEW,
    MIN_CLUSTERS,
    MIN_SHARE,
    NO_DIFFERENCE,
    SIGNIFICANT,
    TOO_FEW,
    OneDocument,
    adjust_alike,
)
from anls_metric.core.checks import describe_unknown
from anls_metric.core.names import find_name
from anls_metric.core.statistics import significance
from anls_metric.core.statistics.clusters import Clusters
from anls_metric.core.statistics.significance import (
    LEAST_P,
    Cluster,
    Differences,
    Floats,
    Interval,
    Labels,
    adjust_for_best,
    holm,
    welch_bound,
)
from anls_metric.messages import InputError, Message, list_some, make_error
from anls_metric.options import KEYS
from anls_metric.reading.answers import list_ids

Names = tuple[str, str]
"""The names of two submissions."""


class Comparison(NamedTuple):
    """A comparison of two submissions on the questions that both have. The fields are the keys of the JSON document.

    Attributes:
        first: the name of the first submission, which is the baseline.
        second: the name of the second submission.
        questions: the number of questions that both have.
        difference: the mean of the second minus the mean of the first.
        interval: the 95% confidence interval of the difference; None if there are fewer than two clusters.
        p_value: the probability that two equally good submissions differ at least this much by chance (see
            `significance.paired_test`), which is below 0.05 exactly if the interval excludes 0.
        p_value_adjusted: the p-value adjusted for the number of comparisons (see `significance.holm`) or, if the
            baseline was chosen as the best, for this choice (see `significance.adjust_for_best`).
        wins: the number of questions on which the second has the better score.
        losses: the number of questions on which the second has the worse score.
        equal: the number of questions with the same score.
        mde: the minimum detectable effect at 80% power; None if there are fewer than two clusters or if no difference
            can be that large.
        verdict: the verdict on the second submission: "better", "worse", "no significant difference" or "too few
            documents".
        one_document: the comparison without the document that decides the verdict or makes up at least a third of the
            difference; None if no document does.
        few_documents: whether there are fewer than 30 clusters.
        seeds_bound: the bound below which other seeds could reverse the difference, if both submissions have several
            runs; otherwise None.
        differing: the number of clusters in which the scores differ; None in a run of an earlier version.
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
    one_document: OneDocument | None = None
    few_documents: bool = False
    seeds_bound: float | None = None
    differing: int | None = None

    @property
    def depends_on_seeds(self) -> bool:
        """Whether the difference is so small that other seeds could reverse it."""
        return self.seeds_bound is not None and 0 < abs(self.difference) < self.seeds_bound

    @property
    def seeds_note(self) -> str:
        """A warning that other seeds could reverse the difference, or "" if other seeds could not."""
        if not self.depends_on_seeds:
            return ""
        bound = f"{100 * (self.seeds_bound or 0.0):.1f}"
        return f"other seeds could turn the difference: runs like these of equal methods differ by up to {bound} points"

    @property
    def p_value_is_bound(self) -> bool:
        """Whether the p-value is the smallest that random patterns can produce, so that the exact p-value may be
        smaller.
        """
        return self.p_value <= LEAST_P

    @property
    def note(self) -> str:
        """A sentence that explains why the interval and the verdict disagree, or "" if they agree."""
        if self.p_value < SIGNIFICANT <= self.p_value_adjusted:
            return "the interval is of this comparison alone, and the verdict uses p adjusted for all comparisons"
        return ""

    def reverse(self) -> Comparison:
        """Return the comparison with the two submissions swapped. The p-values stay the same."""
        return self._replace(
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,  # never -0.0
            interval=_reverse(self.interval),
            wins=self.losses,
            losses=self.wins,
            verdict={"better": "worse", "worse": "better"}.get(self.verdict, self.verdict),
            one_document=self.one_document
            and self.one_document._replace(
                difference=0.0 - self.one_document.difference, interval=_reverse(self.one_document.interval)
            ),
        )


def _reverse(interval: Sequence[float] | None) -> Interval | None:
    """Return the interval of the difference with the opposite sign."""
    return Interval(0.0 - interval[1], 0.0 - interval[0]) if interval else None


class GroupDifference(NamedTuple):
    """A comparison of two submissions on one group, similar to `Comparison`. The fields are keys of the JSON document.

    Only groups for keys of nested values are tested, with p-values adjusted for the number of keys.
    """

    difference: float
    difference_interval: Interval | None
    p_value_adjusted: float | None = None
    verdict: str | None = None
    few_documents: bool | None = None


class ComparisonSet(NamedTuple):
    """The comparisons of several submissions.

    Attributes:
        baseline: the name of the submission with which the others are compared.
        clusters: the clusters of the baseline's questions; None if there are none.
        comparisons: the comparisons of the baseline with each other submission, in the order of the submissions,
            followed by those of all other pairs if every pair is compared.
        hints: reasons to doubt the comparisons.
        notes: caveats, such as why an interval and a verdict disagree.
        best: the name of the submission with the highest score; in a tie, the first.
        p_values: the p-value of each other submission against the best, keyed by submission name and adjusted for
            choosing the best on the same questions (see `significance.adjust_for_best`).
        ties: the names of the submissions whose difference from the best is not significant or has too few documents to
            be tested.
        all_pairs: whether every pair is compared.
        chose_best: whether the baseline was chosen as the best of several submissions, with p-values adjusted for this
            choice.
        groups: the differences of all other submissions from the baseline, keyed by submission name, field and group.
        pairs: the comparisons of pairs before their p-values are adjusted.
    """

    baseline: str
    clusters: Clusters | None
    comparisons: list[Comparison]
    hints: list[Message]
    notes: list[Message]
    best: str
    p_values: Mapping[str, float]
    ties: list[str]
    all_pairs: bool
    chose_best: bool
    groups: Mapping[str, Mapping[str, Mapping[str, GroupDifference]]]
    pairs: _Pairs


def compare(
    submissions: Sequence[Scored],
    baseline: str | None = None,
    all_pairs: bool = False,
    known: ComparisonSet | None = None,
) -> ComparisonSet:
    """Compare submissions question by question, either each with a baseline or every pair.

    Args:
        submissions: two or more submissions, which are joined by the ids of their questions.
        baseline: the name of the submission with which the others are compared. None selects the best of three or more
            submissions, with p-values adjusted for this choice, or the first submission if there are only two or if
            every pair is compared.
        all_pairs: whether to compare every pair, with p-values adjusted for the number of pairs.
        known: an earlier comparison of the same submissions, whose tested pairs are reused.

    Raises:
        ValueError: no submission has the name of the baseline.
        InputError: the scores are means of leaves, two submissions have no questions in common, or most questions with
            the same id have different references.

    Example:
        >>> import anls_metric
        >>> answers = {"a": ["Cola", "x"] * 30, "b": ["Cola", "Col", "Cola"] * 20}
        >>> scores = anls_metric.compare(answers, [["Cola"]] * 60)
        >>> compared = compare([scores["a"], scores["b"]])
        >>> compared.comparisons[0].difference, compared.comparisons[0].verdict
        (0.4166666666666667, 'better')
    """
    by_name = {scored.name: scored for scored in submissions}
    compared = known.pairs if known else _Pairs(submissions)
    best = sort_by_score(submissions)[0].name
    chose_best = baseline is None and len(submissions) > 2 and not all_pairs
    names = _sort_by_baseline(list(by_name), best if chose_best else baseline)
    if not submissions[0].scorer.averages_rows:
        raise make_error("", "submissions can only be compared question by question: use {use.average:rows}")
    own, *others = names
    pairs = list(combinations(names, 2)) if all_pairs else [(own, name) for name in others]
    hints = [hint for first, second in pairs for hint in _check_pair(by_name[first], by_name[second])]
    _share_clusters(submissions)
    adjusted = adjust([compared[pair] for pair in pairs], chose_best)
    comparisons = list(map(compared.add_one_document, adjusted))
    rivals = [compared[best, scored.name] for scored in submissions if scored.name != best]
    p_values = adjust_for_best([each.p_value for each in rivals])
    return ComparisonSet(
        baseline=own,
        clusters=by_name[own].clusters,
        comparisons=comparisons,
        hints=hints,
        notes=_list_notes(comparisons),
        best=best,
        p_values={each.second: p_value for each, p_value in zip(rivals, p_values)},
        ties=[
            each.second for each, p_value in zip(rivals, p_values) if each.verdict == TOO_FEW or p_value >= SIGNIFICANT
        ],
        all_pairs=all_pairs,
        chose_best=chose_best,
        groups={name: _compare_groups(by_name[own], by_name[name]) for name in others},
        pairs=compared,
    )


def _share_clusters(submissions: Sequence[Scored]) -> None:
    """Reuse the first submission's clusters for all submissions with the same questions."""
    first, *others = submissions
    for each in others:
        if each.questions is first.questions:
            vars(each)["clusters"] = first.clusters


def _sort_by_baseline(names: Sequence[str], baseline: str | None) -> list[str]:
    """Move the name of the baseline to the front."""
    own = names[0] if baseline is None else find_name(baseline, names)
    if not own:
        raise make_error("", "{problem}", problem=describe_unknown("baseline", baseline, names))
    return [own, *(name for name in names if name != own)]


def sort_by_score(submissions: Sequence[Scored]) -> list[Scored]:
    """Sort submissions by score, with the best first. Submissions with equal scores keep their order."""
    return sorted(submissions, key=lambda scored: -scored.anls)


def rank_submissions(submissions: Sequence[Scored], compared: ComparisonSet) -> dict[str, int]:
    """Map the name of each submission to its rank, which is 1 for the best and for those tied with the best, and the
    position by score for all others.
    """
    names = [scored.name for scored in sort_by_score(submissions)]
    return {name: 1 if name in (compared.best, *compared.ties) else place for place, name in enumerate(names, 1)}


class PairedQuestions(NamedTuple):
    """The questions that two submissions have in common.

    Attributes:
        first, second: the positions of these questions in the first and in the second submission.
        clusters: the clusters of the questions; None if each question is its own cluster.
    """

    first: Sequence[int]
    second: Sequence[int]
    clusters: Labels


def pair_questions(first: Scored, second: Scored) -> PairedQuestions:
    """Pair the questions that two submissions have in common, in the order of the first submission and with its
    clusters.

    Raises:
        InputError: the submissions have no questions in common.
    """
    names = first.clusters and first.clusters.names
    if first.questions.ids == second.questions.ids:
        places = range(len(first.scores))
        return PairedQuestions(places, places, names)
    there = dict(zip(second.questions.ids, range(len(second.scores))))
    own = [place for place, key in enumerate(first.questions.ids) if key in there]
    if not own:
        sentence = "no question ids in common with {first} ({own} / {theirs}): "
        sentence += "use the same id for the same question in both"
        values = {"own": list_some(second.questions.ids, 2), "theirs": list_some(first.questions.ids, 2)}
        raise make_error(second.name, sentence, first=first.name, **values)
    other = [there[first.questions.ids[place]] for place in own]
    return PairedQuestions(own, other, names and [names[place] for place in own])


class _Pairs(dict[Names, Comparison]):
    """Comparisons with unadjusted p-values, keyed by the names of both submissions and computed on request."""

    def __init__(self, submissions: Sequence[Scored]) -> None:
        super().__init__()
        self._by_name = {scored.name: scored for scored in submissions}
        self._samples: dict[Names, Differences] = {}

    def __missing__(self, names: Names) -> Comparison:
        if names[::-1] in self:
            self[names] = self[names[::-1]].reverse()
        else:
            first, second = (self._by_name[name] for name in names)
            # so many that a p-value can be small enough to remain significant after any adjustment
            patterns = max(significance.FLIPS, round(math.comb(len(self._by_name), 2) / SIGNIFICANT))
            sample = self._samples[names] = pair_values(first, first.scores, second, second.scores)
            bound = welch_bound(first.run_scores, second.run_scores)
            self[names] = describe_differences(names, sample, patterns)._replace(seeds_bound=bound)
        return self[names]

    def find_sample(self, first: str, second: str) -> tuple[Differences, int]:
        """Return the differences on which a known comparison is based, and the factor, 1 or -1, that makes them the
        second submission minus the first.
        """
        sample = self._samples.get((first, second))
        return (self._samples[second, first], -1) if sample is None else (sample, 1)

    def add_one_document(self, comparison: Comparison) -> Comparison:
        """Add to a comparison the document that decides it, if there is one."""
        sample = self._samples.get((comparison.first, comparison.second))
        if sample is None:
            return self.add_one_document(comparison.reverse()).reverse()
        return comparison._replace(one_document=_find_one_document(comparison, sample))


def pair_values(first: Scored, before: Floats, second: Scored, after: Floats, most: float = 1.0) -> Differences:
    """Return the differences between the values of two submissions, such as scores, on each question that both have.

    Args:
        first: the baseline.
        before: the values of the baseline.
        second: the other submission.
        after: the values of the other submission.
        most: see `Differences`.
    """
    pair = pair_questions(first, second)
    values = map(sub, _choose(after, pair.second), _choose(before, pair.first))
    return Differences(list(values), pair.clusters, most)


def _choose(values: Floats, places: Sequence[int]) -> Iterable[float]:
    """Return the values at the given positions, or all values if the positions are a range."""
    return values if isinstance(places, range) else map(values.__getitem__, places)


def describe_differences(names: Names, sample: Differences, patterns: int | None = None) -> Comparison:
    """Create the comparison of two submissions from their differences, without adjusting the p-value.

    Args:
        names: the names of both submissions.
        sample: their differences.
        patterns: see `Differences.flip_test`.
    """
    mde = sample.minimum_detectable_effect() if sample.cluster_count > 1 else math.inf
    wins, losses = (
        len([value for value in sample.values if value > 0]),
        len([value for value in sample.values if value < 0]),
    )
    p_value = sample.p_value(patterns)
    return Comparison(
        *names,
        questions=sample.count,
        difference=sample.mean,
        interval=sample.usual_interval,
        p_value=p_value,
        p_value_adjusted=p_value,
        wins=wins,
        losses=losses,
        equal=sample.count - wins - losses,
        mde=mde if mde <= sample.most and math.isfinite(mde) else None,
        verdict=TOO_FEW if sample.cluster_count < MIN_CLUSTERS else NO_DIFFERENCE,
        few_documents=sample.cluster_count < FEW,
        differing=sample.differing_count,
    )


def adjust(comparisons: Sequence[Comparison], chose_best: bool = False) -> list[Comparison]:
    """Adjust the p-values for the number of comparisons or for the choice of the best, and determine the verdicts."""
    p_values = [each.p_value for each in comparisons]
    adjusted = []
    for each, p_value in zip(comparisons, adjust_for_best(p_values) if chose_best else holm(p_values)):
        verdict = TOO_FEW if each.verdict == TOO_FEW else _find_verdict(each.difference, p_value)
        adjusted.append(each._replace(p_value_adjusted=p_value, verdict=verdict))
    return adjusted


def _find_verdict(difference: float, p_value: float) -> str:
    if p_value >= SIGNIFICANT:
        return NO_DIFFERENCE
    return "better" if difference > 0 else "worse"


def _check_pair(first: Scored, second: Scored) -> list[Message]:
    """List warnings that two submissions have the same answers, different questions, or different references.

    Raises:
        InputError: most questions with the same id have different references.
    """
    hints = []
    if first.scores == second.scores and _list_predictions(first) == _list_predictions(second):
        sentence = "it has the same answers as {first}: pass the answers of a different model"
        hints.append(Message(second.name, sentence, {"first": first.name}))
    if first.questions is second.questions:
        return hints
    pair = pair_questions(first, second)
    if len(pair.first) < max(len(first.scores), len(second.scores)):
        sentence = "{first} has {theirs:,} questions and {second} has {own:,}: they are compared on the {common:,} "
        sentence += "that both have"
        counts = {"common": len(pair.first), "own": len(second.scores), "theirs": len(first.scores)}
        hints.append(Message("", sentence, {"first": first.name, "second": second.name, **counts}))
    others = [
        first.questions.ids[own]
        for own, other in zip(pair.first, pair.second)
        if as_strings(first.questions.references[own]) != as_strings(second.questions.references[other])
    ]
    sentence = "{count:,} of its questions have different accepted answers in {first} ({some})"
    message = Message(second.name, sentence, {"count": len(others), "first": first.name, "some": list_some(others)})
    if 2 * len(others) > len(pair.first):
        raise InputError(message._replace(sentence=f"{sentence}: use the same id for the same question in both"))
    return [*hints, message] if others else hints


def _list_predictions(scored: Scored) -> list[tuple[str, str]]:
    """List the predictions with the ids of their questions, sorted by id."""
    return sorted(zip(list_ids(scored.answers), map(str, scored.answers.predictions)))


_DOUBTFUL = 0.2
"""The p-value below which a comparison is searched for a document that decides it, since less certain differences have
no verdict anyway.
"""


def _find_one_document(comparison: Comparison, sample: Differences) -> OneDocument | None:
    """Find the document that decides a comparison, which can be the one that contributes most to the difference or the
    one with the most questions.
    """
    sums = sample.sums
    if comparison.p_value >= _DOUBTFUL or not comparison.difference or len(sums) < 2:
        return None
    sign = math.copysign(1, comparison.difference)
    largest = [_find_largest(sums, lambda cluster: sign * cluster.total), _find_largest(sums, lambda own: own.size)]
    for name in dict.fromkeys(largest):
        left = sample.without(name)
        is_large = sign * left.mean <= (1 - MIN_SHARE) * abs(comparison.difference)
        is_turned = comparison.verdict in ("better", "worse") and (
            adjust_alike(left.p_value(), comparison._asdict()) >= SIGNIFICANT
        )
        if is_large or is_turned:
            return OneDocument(name, sums[name].size, left.mean, left.usual_interval, left.p_value())
    return None


def _find_largest(sums: Mapping[Hashable, Cluster], measure: Callable[[Cluster], float]) -> Hashable:
    """Return the name of the document that is largest by a measure or, in a tie, the alphabetically first of these
    names.
    """
    measured = list(map(measure, sums.values()))
    most = max(measured)
    return min([name for name, own in zip(sums, measured) if own == most], key=str)


def _list_notes(comparisons: Sequence[Comparison]) -> list[Message]:
    """List each distinct note once, with the comparisons to which it applies."""
    pairs: dict[str, list[str]] = {}
    for each in comparisons:
        deciding = each.one_document and each.one_document.describe(each._asdict())
        for note in filter(None, (each.note, deciding, each.seeds_note)):
            pairs.setdefault(note, []).append(f"{each.second} against {each.first}")
    return [Message("", "{pairs}: {note}", {"pairs": list_some(pairs[note], 2), "note": note}) for note in pairs]


def _compare_groups(first: Scored, second: Scored) -> dict[str, dict[str, GroupDifference]]:
    """Compare two submissions by group, on the questions that are in the group in both submissions or, for keys of
    nested values, in either submission.
    """
    if not second.groups:
        return {}
    pair, clusters = pair_questions(first, second), first.clusters
    others = list(zip(pair.first, pair.second))
    differences: dict[str, dict[str, GroupDifference]] = {}
    for field, groups in second.groups.items():
        samples: dict[str, Differences] = {}
        enough = any if field == KEYS else all  # an answer without leaves of the key loses nothing
        for name in filter(first.groups[field].__contains__, groups):
            before, after = (dict(zip(each.places, each.scores)) for each in (first.groups[field][name], groups[name]))
            common = [(own, other) for own, other in others if enough((own in before, other in after))]
            if common:
                values = [after.get(other, 1.0) - before.get(own, 1.0) for own, other in common]
                samples[name] = Differences(values, clusters and [clusters.names[own] for own, _ in common])
        tests = _test_keys(samples) if field == KEYS else {}
        differences[field] = {
            name: GroupDifference(sample.mean, sample.usual_interval, *tests.get(name, ()))
            for name, sample in samples.items()
        }
    return differences


def _test_keys(samples: Mapping[str, Differences]) -> dict[str, tuple[float, str, bool]]:
    """Return, for each key, the p-value adjusted for the number of keys, the verdict, and whether there are few
    documents.
    """
    patterns = max(significance.FLIPS, round(len(samples) / SIGNIFICANT))
    adjusted = holm([sample.p_value(patterns) for sample in samples.values()])
    return {
        name: (
            p_value,
            TOO_FEW if sample.cluster_count < MIN_CLUSTERS else _find_verdict(sample.mean, p_value),
            sample.cluster_count < FEW,
        )
        for (name, sample), p_value in zip(samples.items(), adjusted)
    }
