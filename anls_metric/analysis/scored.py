"""Rows are scored, and a scored set knows its mean, outcomes, groups and worst answers.

It is told the rows piece by piece and keeps counts alone, so that a set need not fit into memory, unless it is asked to
keep the rows.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from anls_metric.analysis.clusters import ClusteredScores, Clusters, cluster_column
from anls_metric.analysis.outcomes import OUTCOMES, ZERO_OUTCOMES, Judge
from anls_metric.analysis.significance import Interval, Sample
from anls_metric.core.kernel import mean
from anls_metric.core.scoring import scores_and_similarities
from anls_metric.core.variants import Scorer, Variant, get_variant
from anls_metric.reading.input_file import natural_key
from anls_metric.reading.join import Row
from anls_metric.reading.layouts import ABSENT, look_up

# The fields by which InfographicVQA groups its questions, the name of each break-down in results.json, and what
# the competition calls the values. Source: https://rrc.cvc.uab.es/?ch=17&com=tasks.
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
"""The group of the scores of keys, in `ScoredSet.groups`."""


class Scored(NamedTuple):
    """A row with its score.

    Attributes:
        row: the question with its answer.
        score: from 0 to 1; a question without an answer scores 0.
        similarity: that of the closest accepted answer, before the threshold; None where the set was not asked to keep
            its rows, and of lists and nested values.
        outcome: why the score is what it is: the name of a row of `outcomes.OUTCOMES`.
    """

    row: Row
    score: float
    similarity: float | None
    outcome: str

    @property
    def zero(self) -> str:
        """The outcome of an answer that scores 0, "" of any other."""
        return self.outcome if self.outcome in ZERO_OUTCOMES else ""


class Answers:
    """What a comparison needs to know of scored rows, as columns: a fraction of the memory of the rows themselves.

    Attributes:
        ids: of the questions.
        scores: of the answers.
        references: the accepted answers of each.
        records: the record of each.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.scores = array("d")
        self.references: list[Sequence[Any]] = []
        self.records: list[Mapping[str, Any]] = []

    def add(self, rows: Sequence[Row], scores: Sequence[float]) -> None:
        """Keep what these rows have."""
        self.ids += [row.id for row in rows]
        self.scores.extend(scores)
        self.references += [row.references for row in rows]
        self.records += [row.record for row in rows]


class Tally:
    """Scores, counted by value: their mean is exact in whatever order and pieces they come.

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
        """Count these scores as well; a mapping says how often each of them comes."""
        self._counts.update(scores)

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(self._counts.values())

    @property
    def mean(self) -> float:
        """Their mean: the same bits as `anls.mean` of all of them. ValueError: there are none."""
        return mean(self._counts.elements())


Groups = dict[str, Tally]


class ScoredSet:
    """What is known of scored rows.

    Args:
        scorer: what scores them: a name or a Variant, as `get_variant` takes it, or any other `Scorer`.
        by: fields of the record to break the score down by; a record whose field holds a list counts in each of its
            groups.
        worst: how many of the worst answers to keep.
        keep: whether to keep every row, with its similarity, as `rows`.
        comparable: whether to keep what a comparison needs, as `answers`; rows that are kept are comparable too.
        cluster_by: the field of the records that says which questions belong together, or "none"; None chooses as
            `clusters.cluster_field` does.
        similarities: whether rows that are kept have their similarity, for which every distance is looked for to its
            end.
        extract: the rules by which the predictions were taken out of what a model wrote, which the signature says.
        others: more scorers under which the mean is wanted.
        by_key: of lists and nested values: whether to have the mean score of each key, as the groups of `KEYS`.

    Attributes:
        scorer: what scores the rows.
        signature: which score it is, to show beside the number.
        outcomes: how many rows have each outcome, by its name.
        groups: for each field of `by` the scores of its groups.
        rows: every `Scored`, where they are kept.
        answers: the ids and scores with what a comparison needs besides, where that is kept.

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
    ) -> None:
        self.scorer: Scorer = get_variant(scorer) if isinstance(scorer, str) else scorer
        self.signature = self.scorer.signature(extract)
        self._others = {other.name: (other, Tally()) for other in others}
        self.outcomes: Counter[str] = Counter(dict.fromkeys((outcome.name for outcome in OUTCOMES), 0))
        self.groups: dict[str, Groups] = {field: {} for field in by}
        self._by = list(self.groups)
        self._by_key = by_key
        if by_key:
            self.groups[KEYS] = {}
        self.rows: list[Scored] = []
        self.answers = Answers() if keep or comparable else None
        self._keep = keep
        self._measures = keep and similarities and isinstance(self.scorer, Variant)
        self._tally = Tally()
        self._all_scores: list[Any] = []  # where the mean is not that of the rows, with
        self._all_records: list[Mapping[str, Any]] = []  # the record of each
        self._clustered = ClusteredScores(cluster_by)
        self._judge = Judge(self.scorer)
        self._exact = self._contain = 0
        self._most_worst = worst
        self._worst: list[tuple[float, int, Scored]] = []  # a heap of the worst, the best of them first

    @property
    def label(self) -> str:
        """What the number is called."""
        return self.scorer.label

    @property
    def mean(self) -> float:
        """The score of the set. ValueError: nothing was scored."""
        return self._tally.mean if self.scorer.averages_rows else self.scorer.mean(self._all_scores)

    @property
    def count(self) -> int:
        """How many rows were scored."""
        return self._tally.count

    @property
    def clusters(self) -> Clusters | None:
        """What the questions belong together by, None for nothing."""
        return self._clustered.chosen()[0]

    @property
    def interval(self) -> Interval | None:
        """The 95 % confidence interval of the mean; None of fewer than two clusters."""
        sample = self._clustered.chosen()[1] if self.scorer.averages_rows else self._sample_of_leaves()
        return sample.interval() if sample.cluster_count > 1 else None

    def _sample_of_leaves(self) -> Sample:
        """The scores of all leaves; those of one row are a cluster at least."""
        clusters = self.clusters
        names = cluster_column(self._all_records, clusters.field) if clusters else repeat(None)
        sample = Sample()
        for place, (score, name) in enumerate(zip(self._all_scores, names)):
            leaves = [*score.scores, *[0.0] * (score.length - len(score.scores))]
            sample.add(leaves, [(place,) if name is None else name] * len(leaves))
        return sample

    @property
    def exact_match(self) -> float:
        """The share of answers that equal an accepted one once normalized."""
        return self._exact / self.count

    @property
    def contains(self) -> float:
        """The share of answers in which an accepted one stands, as whole words."""
        return self._contain / self.count

    @property
    def means(self) -> dict[str, float]:
        """The mean under each of the other scorers, by name."""
        return {name: tally.mean for name, (_, tally) in self._others.items()}

    def means_under(self, scorers: Iterable[Scorer]) -> dict[str, float]:
        """The mean under each of these scorers, by name, where the rows are kept."""
        rows = [scored.row for scored in self.rows]
        return {scorer.name: scorer.mean(score_rows(rows, scorer)) for scorer in scorers}

    @property
    def zeros(self) -> dict[str, int]:
        """How many answers score 0, by outcome."""
        return {name: self.outcomes[name] for name in ZERO_OUTCOMES}

    @property
    def worst(self) -> list[Scored]:
        """The answers with the lowest scores, the lowest first, then as they came."""
        return [scored for *_, scored in sorted(self._worst, key=lambda entry: entry[:2], reverse=True)]

    def explain(self, scored: Scored) -> Any:
        """Why an answer has its score: what its scorer explains. None for a question without an answer."""
        row = scored.row
        return None if row.prediction is None else self.scorer.explain(row.prediction, row.references)

    def add(self, rows: Sequence[Row]) -> list[Scored]:
        """Score rows and count them in.

        Raises:
            ValueError: what cannot be scored, and of which question.
        """
        if not rows:
            return []
        similarities: Iterable[float | None] = repeat(None)
        if self._measures:
            scores, similarities = _measure_rows(rows, self.scorer)
        else:
            scores = score_rows(rows, self.scorer)
        for other, tally in self._others.values():
            tally.add(scores if other == self.scorer else score_rows(rows, other))
        outcomes = self._judge.outcomes(rows, scores)
        exact, contain = self._judge.matches(rows, scores, outcomes)
        self._exact += exact
        self._contain += contain
        before = self.count if self._most_worst else 0
        self._tally.add(scores)
        self._clustered.add(scores, [row.record for row in rows])
        if not self.scorer.averages_rows:
            self._all_scores += scores
            self._all_records += [row.record for row in rows]
        self.outcomes.update(outcomes)
        # `map(Scored, ...)`, in a third of its time
        batch = list(map(tuple.__new__, repeat(Scored), zip(rows, scores, similarities, outcomes)))
        for field in self._by:
            group(batch, field, self.groups[field])
        for scored in batch if self._by_key else ():
            self._add_keys(scored.row)
        for place, scored in enumerate(batch, before) if self._most_worst else ():
            self._keep_if_worse((-scored.score, -place, scored))
        if self._keep:
            self.rows += batch
        if self.answers:
            self.answers.add(rows, scores)
        return batch

    def _add_keys(self, row: Row) -> None:
        """Count in the scores of the keys of a row. Those inside what is missing, or of another kind, have 0."""
        why = self.scorer.explain([] if row.prediction is None else row.prediction, row.references)
        scores = {} if row.prediction is None else dict(_flatten_keys(why.key_scores))
        for key, score in {**dict.fromkeys(_key_paths(why.closest), 0.0), **scores}.items():
            self.groups[KEYS].setdefault(key, Tally()).add([score])

    def _keep_if_worse(self, entry: tuple[float, int, Scored]) -> None:
        if len(self._worst) < self._most_worst:
            heapq.heappush(self._worst, entry)
        elif entry[:2] > self._worst[0][:2]:
            heapq.heapreplace(self._worst, entry)


def score_rows(rows: Sequence[Row], scorer: Scorer) -> Sequence[float]:
    """The score of each row; a question without an answer has what the scorer gives for that."""
    predictions = [row.prediction for row in rows]
    references = [row.references for row in rows]
    if None not in predictions:
        return scorer.score(predictions, references, lambda place: f"question {rows[place].id}")
    answered = [row for row in rows if row.prediction is not None]
    scores = iter(score_rows(answered, scorer) if answered else ())
    return [
        scorer.score_missing(row.references, f"question {row.id}") if row.prediction is None else next(scores)
        for row in rows
    ]


def _measure_rows(rows: Sequence[Row], variant: Any) -> tuple[Sequence[float], Sequence[float]]:
    """The score and the similarity of each row; a question without an answer has 0 of both."""
    answered = [row for row in rows if row.prediction is not None]
    scores, similarities = (
        scores_and_similarities(
            [row.prediction for row in answered], [row.references for row in answered], variant=variant
        )
        if answered
        else ((), ())
    )
    if len(answered) == len(rows):
        return scores, similarities
    pairs = iter(zip(scores, similarities))
    scores, similarities = zip(*((0.0, 0.0) if row.prediction is None else next(pairs) for row in rows))
    return scores, similarities


def _flatten_keys(keys: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Keys by their path: items, items.price."""
    for name, key in keys.items():
        yield before + name, key.score
        yield from _flatten_keys(key.children, f"{before}{name}.")


def _key_paths(value: Any, before: str = "") -> Iterator[str]:
    """The paths of the keys of a value, named as those of `_flatten_keys`."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield f"{before}{name}"
            yield from _key_paths(item, f"{before}{name}.")
    elif value and isinstance(value, (list, tuple)):
        for item in value if isinstance(value, list) else value[:1]:
            yield from _key_paths(item, before)


def group(scored: Iterable[Scored], field: str, groups: Groups | None = None) -> Groups:
    """The scores by the values of a field of the record.

    Args:
        scored: the rows.
        field: which field; a row whose record has a list there counts in each of its groups.
        groups: what they are added to; None begins anew.

    Example:
        >>> scored = ScoredSet().add([Row("7", "a", ["a"], {"kind": "x"}), Row("8", "a", ["b"], {"kind": ["x", "y"]})])
        >>> {value: tally.mean for value, tally in group(scored, "kind").items()}
        {'x': 0.5, 'y': 0.0}
    """
    groups = {} if groups is None else groups
    for one in scored:
        for name in group_names(one.row.record, field):
            groups.setdefault(name, Tally()).add([one.score])
    return groups


def group_names(record: Mapping[str, Any], field: str) -> list[str]:
    """What the groups of a field are called that a record is in, each once."""
    return list(dict.fromkeys(_group_name(field, value) for value in group_values(record, field)))


def group_values(record: Mapping[str, Any], field: str) -> list[Any]:
    """What puts a record into groups of a field, or a path: each value of a list, or the one that there is."""
    value = record[field] if field in record else look_up(record, field)
    value = None if value is ABSENT else value
    return [one for one in (value if isinstance(value, list) else [value]) if one is not None]


def _group_name(field: str, value: Any) -> str:
    """What a group is called: 7, "7" and 7.0 are one, as files of different kinds write the same value."""
    name = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return ANSWER_TYPES[field][1].get(name, name) if field in ANSWER_TYPES else name


def in_order(groups: Groups) -> Groups:
    """The groups in the order of their names, in which 2 comes before 10.

    Example:
        >>> list(in_order({"page 10": Tally(), "page 2": Tally(), "a": Tally()}))
        ['a', 'page 2', 'page 10']
    """
    return {name: groups[name] for name in sorted(groups, key=natural_key)}


def grouping_fields(rows: Sequence[Row]) -> list[str]:
    """The fields of the records that put rows into groups, those with the fewest groups first.

    Args:
        rows: of which the first 2,000 are looked at.
    """
    sizes: dict[str, int] = {}
    some = rows[:2000]
    for field in dict.fromkeys(name for row in some[:100] for name in row.record):
        values = [value for row in some for value in group_values(row.record, field)]
        if any(isinstance(value, (bytes, dict, list)) for value in values):
            continue
        groups = len(set(map(str, values)))
        if 1 < groups <= max(2, len(some) // 2):
            sizes[field] = groups
    return sorted(sizes, key=sizes.__getitem__)
