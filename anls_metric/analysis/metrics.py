"""Other metrics of texts beside ANLS: a table of metrics, and their scores over a set.

Each row names its source; tests compare it with a published implementation.
"""

from __future__ import annotations

import re
import string
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.analysis.clusters import ClusteredScores, cluster_column
from anls_metric.analysis.outcomes import Answer, Judge, stands_in
from anls_metric.analysis.significance import Interval, differences, holm
from anls_metric.core.choices import describe_unknown
from anls_metric.core.kernel import mean
from anls_metric.reading.batch import Batch, Row


class Metric(NamedTuple):
    """A row of `METRICS`.

    Attributes:
        name: the name, wherever it is shown.
        meaning: what it measures, in one line.
        source: the definition.
        score: computes the score of an answer.
        of_missing: the score of a question without an answer.
        most: the largest score.
        lower_is_better: whether 0 is the best score.
    """

    name: str
    meaning: str
    source: str
    score: Callable[[Answer], float]
    of_missing: float = 0.0
    most: float = 1.0
    lower_is_better: bool = False


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def _split_into_tokens(text: str) -> list[str]:
    """Split a text into words without case, punctuation and articles, as SQuAD does."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def score_f1(prediction: str, reference: str) -> float:
    """Compute the F1 of the words of two texts. Two texts without words score 1, as in SQuAD 2.0.

    Example:
        >>> round(score_f1("The Coca-Cola Company", "Company of Coca Cola!"), 4)
        0.3333
    """
    words, accepted = _split_into_tokens(prediction), _split_into_tokens(reference)
    if not words or not accepted:
        return float(words == accepted)
    common = (Counter(words) & Counter(accepted)).total()
    return 2 * common / (len(words) + len(accepted))


def score_cer(prediction: str, reference: str) -> float:
    """Compute the character error rate: distance / length of the reference. It can exceed 1.

    Example:
        >>> score_cer("abd", "abc"), score_cer("abcd", "a"), score_cer("", "")
        (0.3333333333333333, 3.0, 0.0)
    """
    prediction, reference = prediction.strip(), reference.strip()
    return Levenshtein.distance(prediction, reference) / (len(reference) or 1)


def is_relaxed_match(prediction: str, reference: str) -> bool:
    """Whether a number is within 5 % of the accepted number, or another text is equal except for case.

    Example:
        >>> is_relaxed_match("104", "100"), is_relaxed_match("5%", "0.05"), is_relaxed_match("Yes", "yes")
        (True, True, True)
        >>> is_relaxed_match("1,000", "1000"), is_relaxed_match("0.0", "0")
        (False, False)
    """
    number, accepted = _as_float(prediction), _as_float(reference)
    if number is not None and accepted:
        return abs(number - accepted) / abs(accepted) <= 0.05
    return prediction.lower() == reference.lower()


def _as_float(text: str) -> float | None:
    try:
        return float(text.rstrip("%")) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _score_best_f1(answer: Answer) -> float:
    return max(score_f1(answer.raw, reference) for reference in answer.raw_references)


def _score_least_cer(answer: Answer) -> float:
    return min(score_cer(answer.raw, reference) for reference in answer.raw_references)


def _score_relaxed(answer: Answer) -> float:
    return float(any(is_relaxed_match(answer.raw, reference) for reference in answer.raw_references))


def _score_exact(answer: Answer) -> float:
    return float(answer.score > 0.0 and answer.prediction in answer.references)


def _score_contains(answer: Answer) -> float:
    return _score_exact(answer) or float(any(stands_in(text, answer.prediction) for text in answer.references))


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "f1",
            "F1 of the words, the best over the accepted answers",
            "SQuAD 2.0, https://rajpurkar.github.io/SQuAD-explorer (evaluate's metrics squad and squad_v2)",
            _score_best_f1,
        ),
        Metric(
            "cer",
            "character error rate, the least over the accepted answers; 0 is best, and it can exceed 1",
            "jiwer.cer, https://github.com/jitsi/jiwer",
            _score_least_cer,
            of_missing=1.0,
            most=float("inf"),
            lower_is_better=True,
        ),
        Metric(
            "relaxed",
            "numbers up to 5 % away, other texts equal but for case",
            "ChartQA, https://arxiv.org/abs/2203.10244, section 5.1, as Qwen-VL and lmms-eval compute it",
            _score_relaxed,
        ),
        Metric("exact", "equal to an accepted answer once normalized", "the variant that scores the set", _score_exact),
        Metric(
            "contains",
            "an accepted answer stands in it as whole words",
            "the variant that scores the set",
            _score_contains,
        ),
    )
}


def find_metrics(names: str) -> list[Metric]:
    """Find metrics by their names.

    Args:
        names: names separated by commas.

    Raises:
        ValueError: there is no such metric.

    Example:
        >>> [metric.name for metric in find_metrics("f1, cer")]
        ['f1', 'cer']
    """
    chosen = dict.fromkeys(name.strip() for name in names.split(","))
    for name in chosen:
        if name not in METRICS:
            raise ValueError(describe_unknown("metric", name, METRICS))
    return [METRICS[name] for name in chosen]


class Summary(NamedTuple):
    """The mean of a metric over a set, and its 95 % confidence interval, None for fewer than two clusters."""

    mean: float
    interval: Interval | None


class MetricScores:
    """Collects the scores of a set under several metrics.

    Args:
        metrics: the metrics.
        judge: normalizes texts as the variant of the set does.
        cluster_by: the field that names the document of a question: see `clusters.ClusteredScores`.

    Attributes:
        scores: the score of each row by the name of the metric, in the order of the rows.

    Example:
        >>> collected = MetricScores(find_metrics("f1,relaxed"), Judge())
        >>> rows = [Row("7", "the Cola", ["Cola"], {}), Row("8", None, ["5"], {}), Row("9", "5.1", ["5"], {})]
        >>> collected.add(collected.measure(rows, [0.5, 0.0, 0.0]), rows)
        >>> {name: round(summary.mean, 4) for name, summary in collected.summarize().items()}
        {'f1': 0.3333, 'relaxed': 0.3333}
    """

    def __init__(self, metrics: Sequence[Metric], judge: Judge, cluster_by: str | None = None) -> None:
        self.metrics = metrics
        self.scores = {metric.name: array("d") for metric in metrics}
        self._judge = judge
        self._clustered = {metric.name: ClusteredScores(cluster_by, metric.most) for metric in metrics}

    def measure(self, answers: Sequence[Row], scores: Sequence[float]) -> dict[str, list[float]]:
        """Score answers under each metric, given their scores under the variant of the set."""
        batch = Batch.of(answers)
        columns = zip(batch.predictions, batch.references, scores)
        judged = [Answer(prediction, references, score, self._judge) for prediction, references, score in columns]
        return {
            metric.name: [metric.of_missing if each.raw is None else metric.score(each) for each in judged]
            for metric in self.metrics
        }

    def add(self, values: Mapping[str, Sequence[float]], rows: Sequence[Row]) -> None:
        """Add questions with their score under each metric; with several runs, their mean score."""
        batch = Batch.of(rows)
        for name, scores in values.items():
            self.scores[name].extend(scores)
            self._clustered[name].add(scores, batch.records)

    def summarize(self) -> dict[str, Summary]:
        """Compute the mean and the interval of each metric, by name. ValueError: no rows were added."""
        samples = {name: clustered.choose()[1] for name, clustered in self._clustered.items()}
        return {
            name: Summary(mean(self.scores[name]), sample.interval() if sample.cluster_count > 1 else None)
            for name, sample in samples.items()
        }


class MetricComparison(NamedTuple):
    """Compares two submissions under a metric, on the questions that both have. The fields are keys of the document.

    Attributes:
        metric: the name of the metric.
        questions: the number of questions that both have.
        difference: the mean of the second minus the mean of the first.
        interval: the 95 % confidence interval of the difference, None for fewer than two clusters.
        p_value: see `significance.paired_test`.
        p_value_adjusted: the same, adjusted for the comparisons under this metric: `significance.holm`.
        is_better: whether the second has the better mean.
    """

    metric: str
    questions: int
    difference: float
    interval: Interval | None
    p_value: float
    p_value_adjusted: float
    is_better: bool


class MetricColumns(NamedTuple):
    """The scores of a submission under metrics, as columns: ids, records and scores have the same order."""

    ids: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    scores: Mapping[str, Sequence[float]]


def compare_metrics(
    first: MetricColumns, others: Sequence[MetricColumns], metrics: Sequence[Metric], cluster_field: str | None = None
) -> list[list[MetricComparison]]:
    """Compare submissions with a first one under each metric, with the tests that compare their ANLS.

    Args:
        first: the baseline.
        others: the submissions that are compared with it; each has a question in common with it.
        metrics: the metrics.
        cluster_field: the field of the records that names the clusters; None for no clusters.

    Returns:
        For each of the others its comparisons, in the order of the metrics.

    Example:
        >>> base = MetricColumns(["1", "2", "3"], [{}, {}, {}], {"cer": [0.5, 0.5, 1.0]})
        >>> better = MetricColumns(["3", "2", "1"], [{}, {}, {}], {"cer": [0.0, 0.0, 0.5]})
        >>> compared = compare_metrics(base, [better], find_metrics("cer"))[0][0]
        >>> compared.difference, compared.is_better, compared.p_value
        (-0.5, True, 0.5)
    """
    clusters = cluster_column(first.records, cluster_field) if cluster_field else [None] * len(first.ids)
    cluster_of = dict(zip(first.ids, clusters))
    places = [dict(zip(other.ids, range(len(other.ids)))) for other in others]
    compared: list[list[MetricComparison]] = [[] for _ in others]
    for metric in metrics:
        base = dict(zip(first.ids, first.scores[metric.name]))
        samples = []
        for other, place_of in zip(others, places):
            common = [key for key in first.ids if key in place_of]
            scores = [other.scores[metric.name][place_of[key]] for key in common]
            samples.append(differences([base[key] for key in common], scores, [cluster_of[key] for key in common]))
        p_values = [sample.flip_test() for sample in samples]
        for row, sample, p_value, adjusted in zip(compared, samples, p_values, holm(p_values)):
            interval = sample.interval() if sample.cluster_count > 1 else None
            is_better = (sample.mean < 0) if metric.lower_is_better else (sample.mean > 0)
            row.append(MetricComparison(metric.name, sample.count, sample.mean, interval, p_value, adjusted, is_better))
    return compared
