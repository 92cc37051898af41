"""Rows are scored, and a scored set knows its mean, outcomes, groups and worst answers.

It is told the rows piece by piece and keeps counts alone, so that a set need not fit into memory, unless it is asked to
keep the rows.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from anls_metric.analysis.clusters import ClusteredScores, Clusters
from anls_metric.analysis.outcomes import OUTCOMES, ZERO_OUTCOMES, Judge
from anls_metric.analysis.significance import Interval
from anls_metric.core.explanation import Explanation
from anls_metric.core.kernel import mean
from anls_metric.core.scoring import anls_scores, explain, scores_and_similarities
from anls_metric.core.variants import Variant, get_variant, signature
from anls_metric.reading.files import natural
from anls_metric.reading.layouts import ABSENT, look_up
from anls_metric.reading.rows import Row

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


class Scored(NamedTuple):
    """A row with its score.

    Attributes:
        row: the question with its answer.
        score: from 0 to 1; a question without an answer scores 0.
        similarity: that of the closest accepted answer, before the threshold; None where the set was not asked to keep
            its rows.
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

    def explanation(self, variant: Variant) -> Explanation | None:
        """Why the variant gave it that score; None for a question without an answer."""
        if self.row.prediction is None:
            return None
        return explain(self.row.prediction, self.row.references, variant=variant)


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
        variant: which ANLS: a name or a Variant, as `anls.get_variant` gives it.
        by: fields of the record to break the score down by; a record whose field holds a list counts in each of its
            groups.
        worst: how many of the worst answers to keep.
        keep: whether to keep every row, with its similarity, as `rows`.
        cluster_by: the field of the records that says which questions belong together, or "none"; None chooses as
            `clusters.cluster_field` does.
        similarities: whether rows that are kept have their similarity, for which every distance is looked for to its
            end.
        extract: the rules by which the predictions were taken out of what a model wrote, which the signature says.
        variants: more variants under which the mean is wanted.

    Attributes:
        label: what the number is called.
        variant: which ANLS.
        signature: the same as text, to show beside the number.
        outcomes: how many rows have each outcome, by its name.
        groups: for each field of `by` the scores of its groups.
        rows: every `Scored`, where they are kept.

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
        variant: str | Variant = "standard",
        by: Sequence[str] = (),
        worst: int = 0,
        keep: bool = False,
        cluster_by: str | None = None,
        similarities: bool = True,
        extract: str = "",
        variants: Iterable[Variant] = (),
    ) -> None:
        self.variant: Any = self._as_variant(variant)
        self.signature = self._signature(extract)
        self._variants = {other: Tally() for other in variants}
        self.outcomes: Counter[str] = Counter(dict.fromkeys((outcome.name for outcome in OUTCOMES), 0))
        self.groups: dict[str, Groups] = {field: {} for field in by}
        self._by = list(self.groups)
        self.rows: list[Scored] = []
        self._keep = keep
        self._measures = keep and similarities
        self._tally = Tally()
        self._clustered = ClusteredScores(cluster_by)
        self._judge = self._as_judge()
        self._exact = self._contain = 0
        self._most_worst = worst
        self._worst: list[tuple[float, int, Scored]] = []  # a heap of the worst, the best of them first

    # What a set of lists and nested values has otherwise: see `values`.

    label = "ANLS"
    of_rows = True
    """Whether the mean is that of the scores of rows."""

    def _as_variant(self, variant: Any) -> Any:
        return get_variant(variant)

    def _signature(self, extract: str) -> str:
        return signature(self.variant, extract=extract)

    def _as_judge(self) -> Judge:
        return Judge(self.variant)

    def explanation(self, scored: Scored) -> Any:
        """Why an answer has its score; None for a question without an answer."""
        return scored.explanation(self.variant)

    @property
    def mean(self) -> float:
        """The ANLS. ValueError: nothing was scored."""
        return self._tally.mean

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
        _, sample = self._clustered.chosen()
        return sample.interval() if sample.cluster_count > 1 else None

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
        """The mean under each of the variants that were wanted, by name."""
        return {other.name: tally.mean for other, tally in self._variants.items()}

    def means_under(self, variants: Iterable[Variant]) -> dict[str, float]:
        """The same of other variants, by the rows, where these are kept."""
        rows = [one.row for one in self.rows]
        return {other.name: mean(self._score(rows, other, measures=False)[0]) for other in variants}

    @property
    def zeros(self) -> dict[str, int]:
        """How many answers score 0, by outcome."""
        return {name: self.outcomes[name] for name in ZERO_OUTCOMES}

    @property
    def worst(self) -> list[Scored]:
        """The answers with the lowest scores, the lowest first, then as they came."""
        return [scored for *_, scored in sorted(self._worst, key=lambda entry: entry[:2], reverse=True)]

    def add(self, rows: Sequence[Row]) -> list[Scored]:
        """Score rows and count them in.

        Raises:
            ValueError: see `anls.anls_scores`.
        """
        if not rows:
            return []
        scores, similarities = self._score(rows, self.variant, self._measures)
        for other, tally in self._variants.items():
            tally.add(scores if other == self.variant else self._score(rows, other, measures=False)[0])
        outcomes = self._judge.outcomes(rows, scores)
        exact, contain = self._judge.matches(rows, scores, outcomes)
        self._exact += exact
        self._contain += contain
        before = self.count if self._most_worst else 0
        self._tally.add(scores)
        self._clustered.add(scores, [row.record for row in rows])
        self.outcomes.update(outcomes)
        # `map(Scored, ...)`, in a third of its time
        scored = list(map(tuple.__new__, repeat(Scored), zip(rows, scores, similarities, outcomes)))
        for field in self._by:
            group(scored, field, self.groups[field])
        for place, one in enumerate(scored, before) if self._most_worst else ():
            self._keep_if_worse((-one.score, -place, one))
        if self._keep:
            self.rows += scored
        return scored

    def _score(
        self, rows: Sequence[Row], variant: Variant, measures: bool
    ) -> tuple[Sequence[float], Iterable[float | None]]:
        """The score and the similarity of each row; a question without an answer has none of both."""
        predictions: list[Any] = [row.prediction for row in rows]
        if None in predictions:
            answered = [row for row in rows if row.prediction is not None]
            scores, similarities = self._score(answered, variant, measures) if answered else ((), ())
            found = iter(zip(scores, similarities))
            nothing = 0.0, 0.0 if measures else None
            scores, similarities = zip(*(nothing if row.prediction is None else next(found) for row in rows))
            return scores, similarities
        references = [row.references for row in rows]
        if measures:
            return scores_and_similarities(predictions, references, variant=variant)
        return anls_scores(predictions, references, variant=variant), repeat(None)

    def _keep_if_worse(self, entry: tuple[float, int, Scored]) -> None:
        if len(self._worst) < self._most_worst:
            heapq.heappush(self._worst, entry)
        elif entry[:2] > self._worst[0][:2]:
            heapq.heapreplace(self._worst, entry)


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
    return {name: groups[name] for name in sorted(groups, key=natural)}


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
