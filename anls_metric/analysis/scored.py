"""Scores rows, and collects the mean, outcomes, groups and worst answers of a set.

Rows are added in batches. By default a set keeps only counts, so that the rows need not fit into memory. It can also
keep the rows.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

from anls_metric.analysis.clusters import ClusteredScores, Clusters, Doubt, cluster_column
from anls_metric.analysis.outcomes import OUTCOMES, ZERO_OUTCOMES, Judge
from anls_metric.analysis.points import PointCounter, Points
from anls_metric.analysis.significance import Interval, Sample
from anls_metric.core.kernel import mean
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import Scorer, Variant, get_variant
from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.input_file import natural_key
from anls_metric.reading.layouts import ABSENT, look_up

if TYPE_CHECKING:
    from fractions import Fraction

    from anls_metric.analysis.confusions import ConfusionCounter
    from anls_metric.analysis.metrics import Metric, MetricScores

# A field that groups the questions of InfographicVQA -> the name of the group in results.json, and the names of its
# values in the competition. Source: https://rrc.cvc.uab.es/?ch=17&com=tasks.
ANSWER_TYPES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "answer_type": (
        "answer_types",
        {
            "image span": "Image-Span",
            "question span": "Question-Span",
            "multiple spans": "Multi-Span",
            "non span": "None span",
        },
    ),
    "evidence": (
        "evidence_types",
        {
            "table/list": "Table/list",
            "textual": "Text",
            "photo/pciture/visual_objects": "Visual/Layout",
            "figure": "Figure",
            "map": "Map",
        },
    ),
    "operation/reasoning": (
        "operation_types",
        {"comparison": "Sorting", "arithmetic": "Arithmetic", "counting": "Counting"},
    ),
}


KEYS = "key of the value"
"""The name under which `ScoredSet.groups` holds the scores of keys."""


class ScoredRow(NamedTuple):
    """A row with its score.

    Attributes:
        row: the question with its answer.
        score: from 0 to 1; a question without an answer scores 0.
        similarity: the similarity to the closest accepted answer, before the threshold; None if the set does not keep
            its rows, and for lists and nested values.
        outcome: the reason for the score: the name of a row of `outcomes.OUTCOMES`.
        runs: the answers of all runs, if there are several. The score of the question is their mean score, and its row
            comes from the run whose score is closest to the mean.
    """

    row: Row
    score: float
    similarity: float | None
    outcome: str
    runs: Sequence[ScoredRow] = ()

    @property
    def zero(self) -> str:
        """The outcome of an answer that scores 0, "" for any other answer."""
        return self.outcome if self.outcome in ZERO_OUTCOMES else ""


class ScoredBatch(Sequence[ScoredRow]):
    """Consecutive rows with their scores, as columns. As a sequence it holds `ScoredRow` objects, created on access.

    Attributes:
        batch: the rows.
        scores: as `ScoredRow.score`, for each row.
        similarities: as `ScoredRow.similarity`; None if the set does not keep its rows.
        runs: as `ScoredRow.runs`; None if there is one run.
    """

    __slots__ = ("_outcomes", "batch", "runs", "scores", "similarities")

    def __init__(
        self,
        batch: Batch,
        scores: Sequence[float],
        outcomes: Sequence[str] | Judge,
        similarities: Sequence[float | None] | None = None,
        runs: Sequence[Sequence[ScoredRow]] | None = None,
    ) -> None:
        self.batch, self.scores, self._outcomes = batch, scores, outcomes
        self.similarities, self.runs = similarities, runs

    @property
    def outcomes(self) -> Sequence[str]:
        """As `ScoredRow.outcome`, for each row. They are found on first access."""
        if isinstance(self._outcomes, Judge):
            self._outcomes = self._outcomes.find_outcomes(self.batch, self.scores)
        return self._outcomes

    @classmethod
    def of(cls, scored: Sequence[ScoredRow]) -> ScoredBatch:
        """Make a batch from scored rows; a batch is returned unchanged."""
        if isinstance(scored, ScoredBatch):
            return scored
        rows, scores, similarities, outcomes, runs = map(list, zip(*scored)) if scored else ([], [], [], [], [])
        return cls(Batch.of(rows), scores, outcomes, similarities, runs if any(runs) else None)

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[ScoredRow]:
        fields = zip(self.batch, self.scores, self.similarities or repeat(None), self.outcomes, self.runs or repeat(()))
        return map(tuple.__new__, repeat(ScoredRow), fields)  # `map(ScoredRow._make, ...)`, in a third of its time

    @overload
    def __getitem__(self, place: int) -> ScoredRow: ...
    @overload
    def __getitem__(self, place: slice) -> ScoredBatch: ...
    def __getitem__(self, place: int | slice) -> ScoredRow | ScoredBatch:
        if isinstance(place, slice):
            return ScoredBatch(
                self.batch[place],
                self.scores[place],
                self._outcomes if isinstance(self._outcomes, Judge) else self._outcomes[place],
                self.similarities and self.similarities[place],
                self.runs and self.runs[place],
            )
        return ScoredRow(
            self.batch[place],
            self.scores[place],
            self.similarities[place] if self.similarities else None,
            self.outcomes[place],
            self.runs[place] if self.runs else (),
        )


class Answers:
    """The columns of scored rows that a comparison needs. They take a fraction of the memory of the rows.

    Attributes:
        scores: the scores of the answers.
    """

    def __init__(self) -> None:
        self.scores = array("d")
        self._columns: list[tuple[Sequence[str], Sequence[Sequence[Any]], Sequence[Mapping[str, Any]]]] = []

    def add(self, batch: Batch, scores: Sequence[float]) -> None:
        """Add rows with their scores."""
        self._columns.append((batch.ids, batch.references, batch.records))
        self.scores.extend(scores)

    @property
    def ids(self) -> list[str]:
        """The ids of the questions."""
        return [question_id for ids, *_ in self._columns for question_id in ids]

    @property
    def references(self) -> list[Sequence[Any]]:
        """The accepted answers of each question."""
        return list(chain.from_iterable(references for _, references, _ in self._columns))

    @property
    def records(self) -> list[Mapping[str, Any]]:
        """The record of each question."""
        return list(chain.from_iterable(records for *_, records in self._columns))


class Tally:
    """Counts scores by value, so that their mean is the same for any order and any batches.

    Example:
        >>> tally = Tally()
        >>> tally.add([1.0, 0.5, 0.0])
        >>> tally.add({1.0: 2, 0.5: 1})
        >>> tally.mean, tally.count
        (0.6666666666666666, 6)
    """

    def __init__(self) -> None:
        self._counts: Counter[float] = Counter()

    def add(self, scores: Iterable[float] | Mapping[float, int]) -> None:
        """Add scores; a mapping gives the number of each score."""
        self._counts.update(scores)

    @property
    def count(self) -> int:
        """The number of scores."""
        return sum(self._counts.values())

    @property
    def mean(self) -> float:
        """The mean, with the same bits as `anls.mean` of all scores. ValueError: there are none."""
        return mean(self._counts.elements())


class Group:
    """The scores of a group of rows.

    Attributes:
        scores: the score of each row.
        places: the place of each row in its set.

    Example:
        >>> group = Group()
        >>> group.add(0, 1.0)
        >>> group.add(7, 0.5)
        >>> group.mean, group.count
        (0.75, 2)
    """

    def __init__(self) -> None:
        self.scores = array("d")
        self.places = array("L")

    def add(self, place: int, score: float) -> None:
        """Add the score of a row."""
        self.places.append(place)
        self.scores.append(score)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.scores)

    @property
    def mean(self) -> float:
        """The mean, with the same bits as `anls.mean` of all scores. ValueError: there are none."""
        return mean(self.scores)

    def interval(self, clusters: Sequence[Hashable] | None) -> Interval | None:
        """Compute the 95 % confidence interval of the mean; None for fewer than two clusters.

        Args:
            clusters: the cluster of each row of the set, None for a row that is its own cluster. Without `clusters`,
                every row is its own cluster.
        """
        sample = Sample()
        sample.add(self.scores, clusters and [clusters[place] for place in self.places])
        return sample.interval() if sample.cluster_count > 1 else None


Groups = dict[str, Group]


class ScoredSet:
    """Scores rows, and collects their statistics.

    Args:
        scorer: the name of a variant, a `Variant`, or any other `Scorer`.
        by: fields of the record to break the score down by. A record with a list in the field is in several groups.
        worst: how many of the worst answers to keep.
        keep: whether to keep every row as `rows`.
        comparable: whether to keep the columns for a comparison as `answers`; kept rows are comparable, too.
        cluster_by: the field of the records that names the document of a question, or "none"; None chooses as
            `clusters.cluster_field` does.
        similarities: whether kept rows have their similarity. It takes longer, as every distance is computed exactly.
        extract: the names of the extraction rules, for the signature.
        others: more scorers, for `means`.
        by_key: for lists and nested values: whether to collect the score of each key, as the groups of `KEYS`.
        metrics: other metrics of texts to compute beside the score: rows of `metrics.METRICS`.
        confusions: whether to count the edits of answers that score between 0 and 1.

    Attributes:
        scorer: the scorer of the rows.
        extract: the names of the extraction rules.
        signature: the signature of the score, to show beside the number.
        groups: the scores of each group, by field and value.
        answers: the columns for a comparison, if they are kept.
        metrics: the scores under other metrics; None for no metrics.
        confusions: the edits of answers that score between 0 and 1; None if they are not counted.

    Example:
        >>> scored_set = ScoredSet()
        >>> rows = [Row("7", "CocaCola", ["Coca Cola"], {}), Row("8", None, ["Cola"], {})]
        >>> [scored.outcome for scored in scored_set.add(rows)]
        ['close enough', 'missing']
        >>> scored_set.mean, scored_set.outcomes["missing"]
        (0.4444444444444444, 1)
    """

    def __init__(
        self,
        scorer: str | Scorer = "standard",
        by: Sequence[str] = (),
        worst: int = 0,
        keep: bool = False,
        comparable: bool = False,
        cluster_by: str | None = None,
        similarities: bool = True,
        extract: str = "",
        others: Iterable[Scorer] = (),
        by_key: bool = False,
        metrics: Sequence[Metric] = (),
        confusions: bool = False,
    ) -> None:
        self.scorer: Scorer = get_variant(scorer) if isinstance(scorer, str) else scorer
        self.extract = extract
        self.signature = self.scorer.signature(extract)
        self._others = {other.name: (other, Tally()) for other in others}
        self._outcomes: Counter[str] = Counter(dict.fromkeys((outcome.name for outcome in OUTCOMES), 0))
        # The answers whose outcomes are not counted yet, with the number of runs of each question.
        self._uncounted: list[tuple[ScoredBatch, Sequence[int] | None]] = []
        self.groups: dict[str, Groups] = {field: {} for field in by}
        self._by = list(self.groups)
        self._by_key = by_key
        if by_key:
            self.groups[KEYS] = {}
        self._batches: list[ScoredBatch] = []
        self._rows: list[ScoredRow] | None = None
        self.answers = Answers() if keep or comparable else None
        self._keep = keep
        self._measures = keep and similarities and isinstance(self.scorer, Variant)
        self._tally = Tally()
        self._run_tallies: list[Tally] = []
        self._of_rule: list[tuple[Row, float]] = []  # if the rule of a benchmark has figures of the whole set
        self._summary: dict[str, Any] | None = None
        self._all_scores: list[Any] = []  # if the mean is not the mean of the rows
        self._all_records: list[Mapping[str, Any]] = []  # the records that belong to them
        self._clustered = ClusteredScores(cluster_by)
        self._judge = Judge(self.scorer)
        self._points = PointCounter(self._judge)
        if (metrics or confusions) and not isinstance(self.scorer, Variant):
            raise ValueError(f"metrics and confusions are for texts, and {self.scorer.name} scores lists and values")
        self.metrics: MetricScores | None = None
        self.confusions: ConfusionCounter | None = None
        if metrics:
            from anls_metric.analysis.metrics import MetricScores

            self.metrics = MetricScores(metrics, self._judge, cluster_by)
        if confusions and isinstance(self.scorer, Variant):
            from anls_metric.analysis.confusions import ConfusionCounter

            self.confusions = ConfusionCounter(self.scorer)
        self._exact: Fraction | int = 0  # of an answer of n runs an n-th counts
        self._contain: Fraction | int = 0
        self._most_worst = worst
        self._worst: list[tuple[float, int, ScoredRow]] = []  # a heap that begins with the best of the worst answers

    @property
    def rows(self) -> Sequence[ScoredRow]:
        """Every `ScoredRow`, if they are kept."""
        if self._rows is None:
            self._rows = list(chain.from_iterable(self._batches))
        return self._rows

    @property
    def label(self) -> str:
        """The name of the score."""
        return self.scorer.label

    @property
    def mean(self) -> float:
        """The score of the set. ValueError: nothing was scored."""
        return self._tally.mean if self.scorer.averages_rows else self.scorer.mean(self._all_scores)

    @property
    def anls(self) -> float:
        """The same, by the name that it has in the scores of a single submission."""
        return self.mean

    @property
    def count(self) -> int:
        """The number of rows that were scored."""
        return self._tally.count

    @property
    def run_scores(self) -> list[float]:
        """The score of each run; [] for one run."""
        return [tally.mean for tally in self._run_tallies]

    @property
    def run_deviation(self) -> float | None:
        """The standard deviation of the scores of the runs (with n - 1); None for one run, or for other questions."""
        scores = self.run_scores
        if len(scores) < 2 or len({tally.count for tally in self._run_tallies}) > 1:
            return None
        center = mean(scores)
        return math.sqrt(math.fsum((score - center) ** 2 for score in scores) / (len(scores) - 1))

    @property
    def clusters(self) -> Clusters | None:
        """The clusters of the questions; None for none."""
        return self._clustered.choose()[0]

    @property
    def doubts(self) -> list[Doubt]:
        """Reasons to doubt the clusters, and so the interval."""
        return self._clustered.find_doubts()

    @property
    def interval(self) -> Interval | None:
        """The 95 % confidence interval of the mean; None for fewer than two clusters."""
        sample = self._clustered.choose()[1] if self.scorer.averages_rows else self._sample_leaves()
        return sample.interval() if sample.cluster_count > 1 else None

    def _sample_leaves(self) -> Sample:
        """Collect the scores of all leaves. The leaves of a row are in one cluster."""
        clusters = self.clusters
        names = cluster_column(self._all_records, clusters.field) if clusters else repeat(None)
        sample = Sample()
        for place, (score, name) in enumerate(zip(self._all_scores, names)):
            leaves = [*score.scores, *[0.0] * (score.length - len(score.scores))]
            sample.add(leaves, [(place,) if name is None else name] * len(leaves))
        return sample

    @property
    def summary(self) -> dict[str, Any]:
        """The figures that the rule of a benchmark computes for the set, by name; {} for several runs.

        Raises:
            ValueError: a column that only the figures need holds a wrong value; it names question and column.
        """
        if not self._of_rule or self._run_tallies:
            return {}
        if self._summary is None:
            rule: Any = self.scorer
            rows, scores = zip(*self._of_rule)
            self._summary = dict(
                rule.summarize_scores(self._list_rule_rows(), scores, lambda n: f"question {rows[n].id}")
            )
        return self._summary

    @property
    def empty_figures(self) -> list[str]:
        """A sentence for the figures of the summary that mean nothing: see `Rule.find_empty_figures`."""
        rule: Any = self.scorer
        return rule.find_empty_figures(self._list_rule_rows()) if self._of_rule and rule.figures else []

    def _list_rule_rows(self) -> list[dict[str, Any]]:
        predictions, columns = split_columns((row for row, _ in self._of_rule), self.scorer)
        return [{**others, "prediction": prediction} for others, prediction in zip(columns, predictions)]

    @property
    def outcomes(self) -> Counter[str]:
        """The number of answers with each outcome. With several runs, each run of a question counts."""
        self._count_outcomes()
        return self._outcomes

    @property
    def exact_match(self) -> float:
        """The share of answers that equal an accepted answer after normalization. Runs are averaged by question."""
        self._count_outcomes()
        return float(self._exact / self.count)

    @property
    def contains(self) -> float:
        """The share of answers that contain an accepted answer as whole words. Runs are averaged by question."""
        self._count_outcomes()
        return float(self._contain / self.count)

    @property
    def points(self) -> Points | None:
        """What format costs the score and what wrong numbers gain it; None for lists and nested values."""
        self._count_outcomes()
        return self._points.count_points(self.count) if isinstance(self.scorer, Variant) else None

    @property
    def means(self) -> dict[str, float]:
        """The mean under each of the other scorers, by name."""
        return {name: tally.mean for name, (_, tally) in self._others.items()}

    def means_under(self, scorers: Iterable[Scorer]) -> dict[str, float]:
        """Compute the mean under each of these scorers, by name. The set must keep its rows."""
        rows = self.list_answers()
        return {scorer.name: self.average(score_rows(rows, scorer), scorer) for scorer in scorers}

    def list_answers(self) -> Batch:
        """List the rows of all answers, with a row for each run of a question. The set must keep its rows."""
        return Batch.of([answer.row for scored in self.rows for answer in scored.runs or [scored]])

    def average(self, scores: Sequence[float], scorer: Scorer) -> float:
        """Compute the mean of the scores of `list_answers`. The runs of a question are averaged first."""
        counts = [len(scored.runs) or 1 for scored in self.rows]
        return scorer.mean(_average(scores, counts) if self._run_tallies else scores)

    def complete(self) -> None:
        """Compute what a report also needs: the similarities of the kept rows, and the confusions."""
        if not isinstance(self.scorer, Variant):
            return
        if self.confusions is None:
            from anls_metric.analysis.confusions import ConfusionCounter

            answers = self.list_answers()
            self.confusions = ConfusionCounter(self.scorer)
            self.confusions.add(answers, score_rows(answers, self.scorer))
        if not self._measures:
            self._measures, self._rows = True, None
            for each in self._batches:
                _, each.similarities = _measure_rows(each.batch, self.scorer)

    @property
    def zeros(self) -> dict[str, int]:
        """The number of answers that score 0, by outcome."""
        return {name: self.outcomes[name] for name in ZERO_OUTCOMES}

    @property
    def worst(self) -> list[ScoredRow]:
        """The answers with the lowest scores, sorted by score and then by the order of the rows."""
        return [scored for *_, scored in sorted(self._worst, key=lambda entry: entry[:2], reverse=True)]

    def find_group_intervals(self, field: str) -> dict[str, Interval | None]:
        """Compute the interval of each group of a field, with the clusters of the whole set; None for one cluster."""
        clusters = self._clustered.list_clusters()
        return {name: each.interval(clusters) for name, each in self.groups[field].items()}

    def explain(self, scored: ScoredRow) -> Any:
        """Explain the score of an answer with the scorer of the set; None for a question without an answer."""
        row = scored.row
        if row.prediction is None or not self.scorer.columns:
            return None if row.prediction is None else self.scorer.explain(row.prediction, row.references)
        (prediction,), (columns,) = split_columns([row], self.scorer)
        return self.scorer.explain(prediction, columns)

    def add(self, rows: Sequence[Row]) -> ScoredBatch:
        """Score rows and add them to the set.

        Args:
            rows: the rows. A `Batch` is fastest.

        Returns:
            The rows with their scores.

        Raises:
            ValueError: a row cannot be scored; the message names the question.
        """
        batch = Batch.of(rows)
        if not batch:
            return ScoredBatch(batch, [], [])
        counts = list(map(len, batch.runs)) if batch.runs else None
        answers = Batch.of(list(chain.from_iterable(batch.runs))) if batch.runs else batch
        scored = self._score_answers(answers, counts)
        for other, tally in self._others.values():
            others = scored.scores if other == self.scorer else score_rows(answers, other)
            tally.add(others if counts is None else _average(others, counts))
        if self.metrics:
            values = self.metrics.measure(answers, scored.scores)
            averages = {name: _average(each, counts) for name, each in values.items()} if counts else values
            self.metrics.add(averages, batch)
        if counts:
            scores = _average(scored.scores, counts)
            scored = ScoredBatch.of(list(map(_join_runs, batch, scores, _split(scored, counts))))
            self._add_run_scores(scored)
        before = self.count if self._most_worst or self.groups else 0
        self._tally.add(scored.scores)
        self._clustered.add(scored.scores, batch.records)
        for field in self._by:
            _add_to_groups(self.groups[field], field, batch.records, scored.scores, before)
        for place, row in enumerate(batch, before) if self._by_key else ():
            self._add_keys(place, row.runs or [row])
        if self.scorer.columns:
            self._of_rule += zip(batch, scored.scores)
            self._summary = None
        if self._most_worst:
            self._keep_worst(scored, before)
        if self._keep:
            self._batches.append(scored)
            self._rows = None
        if self.answers:
            self.answers.add(batch, scored.scores)
        return scored

    def _score_answers(self, batch: Batch, counts: Sequence[int] | None) -> ScoredBatch:
        """Score answers, and update the counts, which include each run; `counts` has the runs of each question."""
        similarities: Sequence[float] | None = None
        if self._measures:
            scores, similarities = _measure_rows(batch, self.scorer)
        else:
            scores = score_rows(batch, self.scorer)
            if not self.scorer.averages_rows:
                self._all_scores += scores
                self._all_records += batch.records
            if (
                type(scores[0]) is not float
            ):  # the scores of nested values hold their leaves, which are no longer needed
                scores = list(map(float, scores))
        if self.confusions:
            self.confusions.add(batch, scores)
        scored = ScoredBatch(batch, scores, self._judge, similarities)
        self._uncounted.append((scored, counts))
        if not self._keep:
            self._count_outcomes()
        return scored

    def _count_outcomes(self) -> None:
        """Count the outcomes, which takes longer than scoring. For kept rows this waits until first access."""
        for scored, counts in self._uncounted:
            if isinstance(self.scorer, Variant):
                self._points.add(scored.batch, scored.scores, scored.outcomes, counts)
            self._outcomes.update(scored.outcomes)
            if counts is None:
                exact, contain = self._judge.count_matches(scored.batch, scored.scores, scored.outcomes)
                self._exact += exact
                self._contain += contain
            else:
                self._count_matches_of_runs(scored, counts)
        self._uncounted.clear()

    def _count_matches_of_runs(self, scored: ScoredBatch, counts: Sequence[int]) -> None:
        from fractions import Fraction  # slow to import, and most sets have no runs

        start = 0
        for count in counts:
            runs = scored[start : start + count]
            exact, contain = self._judge.count_matches(runs.batch, runs.scores, runs.outcomes)
            self._exact += Fraction(exact, count)
            self._contain += Fraction(contain, count)
            start += count

    def _add_run_scores(self, scored: ScoredBatch) -> None:
        if not self.scorer.averages_rows:
            raise ValueError("runs are averaged by questions, and this is a mean of leaves: take the average of rows")
        runs = scored.runs or ()
        for number in range(max(map(len, runs))):
            if number == len(self._run_tallies):
                self._run_tallies.append(Tally())
            self._run_tallies[number].add([each[number].score for each in runs if number < len(each)])

    def _add_keys(self, place: int, answers: Iterable[Row]) -> None:
        """Add the scores of the keys of a question, averaged over its answers.

        A key of the closest accepted answer without a score counts 0.
        """
        by_key: dict[str, list[float]] = {}
        for row in answers:
            why = self.scorer.explain([] if row.prediction is None else row.prediction, row.references)
            scores = {} if row.prediction is None else dict(_flatten_keys(why.key_scores))
            for key, score in {**dict.fromkeys(_list_key_paths(why.closest), 0.0), **scores}.items():
                by_key.setdefault(key, []).append(score)
        for key, scores_of_key in by_key.items():
            self.groups[KEYS].setdefault(key, Group()).add(place, mean(scores_of_key))

    def _keep_worst(self, scored: ScoredBatch, before: int) -> None:
        for place, score in enumerate(scored.scores):
            rank = -score, -place - before
            if len(self._worst) < self._most_worst:
                heapq.heappush(self._worst, (*rank, scored[place]))
            elif rank > self._worst[0][:2]:
                heapq.heapreplace(self._worst, (*rank, scored[place]))


Item = TypeVar("Item")


def _split(items: Iterable[Item], counts: Iterable[int]) -> Iterator[list[Item]]:
    """Split items into lists of these lengths."""
    items = iter(items)
    return (list(islice(items, count)) for count in counts)


def _average(scores: Iterable[float], counts: Iterable[int]) -> list[float]:
    """Compute the mean score of each question over its runs, given the number of runs of each question."""
    return list(map(mean, _split(scores, counts)))


def _join_runs(row: Row, score: float, runs: Sequence[ScoredRow]) -> ScoredRow:
    """Join the answers of all runs of a question. The answer whose score is closest to the mean represents them."""
    closest = min(runs, key=lambda run: (abs(run.score - score), run.score))
    shown = closest.row._replace(id=row.id, record=row.record)
    return ScoredRow(shown, score, closest.similarity, closest.outcome, tuple(runs))


def score_rows(rows: Sequence[Row], scorer: Scorer) -> Sequence[float]:
    """Score rows, including questions without an answer.

    Raises:
        ValueError: a row cannot be scored; the message names the question.
    """
    batch = Batch.of(rows)
    ids, predictions, references = batch.ids, batch.predictions, batch.references
    answered = _find_answered(predictions)
    if answered is None:
        if batch.has_texts and isinstance(scorer, Variant):
            return scorer.score_checked(cast("Sequence[str]", predictions), cast("Sequence[Sequence[str]]", references))
        if scorer.columns:
            columns = split_columns(batch, scorer)
            return scorer.score(columns[0], columns[1], lambda place: f"question {ids[place]}")
        return scorer.score(predictions, references, lambda place: f"question {ids[place]}")
    scores = iter(score_rows([batch[place] for place in answered], scorer) if answered else ())
    return [
        scorer.score_missing(accepted, f"question {key}") if prediction is None else next(scores)
        for key, prediction, accepted in zip(ids, predictions, references)
    ]


def split_columns(rows: Iterable[Row], scorer: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """Split rows for the rule of a benchmark into predictions, and the other columns as references."""
    from anls_metric.reading.rule_columns import PREDICTION, make_rule_row

    columns = [make_rule_row(row, scorer) for row in rows]
    return [each.pop(PREDICTION) for each in columns], columns


def _find_answered(predictions: Sequence[Any]) -> list[int] | None:
    """Find the places of the predictions that are not missing; None if none is missing."""
    if None not in predictions:
        return None
    return [place for place, prediction in enumerate(predictions) if prediction is not None]


def _measure_rows(batch: Batch, variant: Any) -> tuple[Sequence[float], Sequence[float]]:
    """Compute the score and the similarity of each row; both are 0 for a question without an answer."""
    predictions, references = cast("Sequence[str]", batch.predictions), cast("Sequence[list[str]]", batch.references)
    answered = _find_answered(predictions)
    if answered is None:
        return scores_and_similarities(predictions, references, variant=variant)
    scores, similarities = [0.0] * len(batch), [0.0] * len(batch)
    if answered:
        some = [predictions[place] for place in answered], [references[place] for place in answered]
        for place, score, similarity in zip(answered, *scores_and_similarities(*some, variant=variant)):
            scores[place], similarities[place] = score, similarity
    return scores, similarities


def _flatten_keys(keys: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Yield the scores of keys by their paths: items, items.price."""
    for name, key in keys.items():
        yield before + name, key.score
        yield from _flatten_keys(key.children, f"{before}{name}.")


def _list_key_paths(value: Any, before: str = "") -> Iterator[str]:
    """List the paths of the keys of a value, in the form of `_flatten_keys`."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{before}{name}"
            yield from _list_key_paths(item, f"{before}{name}.")
    elif value and isinstance(value, (list, tuple)):
        for item in value if isinstance(value, list) else value[:1]:
            yield from _list_key_paths(item, before)


def group(scored: Sequence[ScoredRow], field: str, groups: Groups | None = None, start: int = 0) -> Groups:
    """Group scores by the values of a field of the record.

    Args:
        scored: the rows.
        field: the field. A record with a list in the field is in several groups.
        groups: the groups to which the scores are added; None for new groups.
        start: the place of the first row in its set.

    Example:
        >>> scored = ScoredSet().add([Row("7", "a", ["a"], {"kind": "x"}), Row("8", "a", ["b"], {"kind": ["x", "y"]})])
        >>> {value: each.mean for value, each in group(scored, "kind").items()}
        {'x': 0.5, 'y': 0.0}
    """
    groups = {} if groups is None else groups
    _add_to_groups(groups, field, (each.row.record for each in scored), [each.score for each in scored], start)
    return groups


def _add_to_groups(
    groups: Groups, field: str, records: Iterable[Mapping[str, Any]], scores: Sequence[float], before: int
) -> None:
    for place, record in enumerate(records):
        for name in group_names(record, field):
            if name not in groups:
                groups[name] = Group()
            groups[name].add(before + place, scores[place])


def group_names(record: Mapping[str, Any], field: str) -> list[str]:
    """List the names of the groups of a field that a record is in, each once."""
    return list(dict.fromkeys(_name_group(field, value) for value in group_values(record, field)))


def group_values(record: Mapping[str, Any], field: str) -> list[Any]:
    """List the values of a field or path that put a record into groups: the items of a list, or the value."""
    value = record[field] if field in record else look_up(record, field)
    value = None if value is ABSENT else value
    return [item for item in (value if isinstance(value, list) else [value]) if item is not None]


def _name_group(field: str, value: Any) -> str:
    """Name a group: 7, "7" and 7.0 are the same group, since formats write the same value differently."""
    name = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return ANSWER_TYPES[field][1].get(name, name) if field in ANSWER_TYPES else name


def sort_groups(groups: Groups) -> Groups:
    """Sort groups by name, 2 before 10.

    Example:
        >>> list(sort_groups({"page 10": Group(), "page 2": Group(), "a": Group()}))
        ['a', 'page 2', 'page 10']
    """
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def grouping_fields(rows: Sequence[Row]) -> list[str]:
    """Find the fields of the records that put rows into groups.

    Args:
        rows: the rows; only the first 2,000 are examined.

    Returns:
        The fields, those with the fewest groups first.
    """
    sizes: dict[str, int] = {}
    sample = rows[:2000]
    for field in dict.fromkeys(name for row in sample[:100] for name in row.record):
        values = [value for row in sample for value in group_values(row.record, field)]
        if any(isinstance(value, (bytes, dict, list)) for value in values):
            continue
        groups = len(set(map(str, values)))
        if 1 < groups <= max(2, len(sample) // 2):
            sizes[field] = groups
    return sorted(sizes, key=sizes.__getitem__)
