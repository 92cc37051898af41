"""Defines a table of metrics for strings besides ANLS, and computes their values over a set.

Each row names its source; tests compare it with a published implementation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from anls_metric.analysis.comparison import adjust, compare_values
from anls_metric.analysis.scored import Scored, average
from anls_metric.core.checks import describe_unknown
from anls_metric.core.scorer import Scorer, mean
from anls_metric.core.statistics.significance import Interval, mean_interval
from anls_metric.core.strings.kernel import split_into_words
from anls_metric.messages import Message
from anls_metric.options import ABSTENTION, PARTIAL_CREDIT
from anls_metric.reading.answers import Answers, Questions, list_references
from anls_metric.reading.table import Table


class Measured(NamedTuple):
    """The values of a submission under a metric.

    Attributes:
        values: the value of each question.
        mean: their mean.
        interval: its 95% confidence interval; None for fewer than two clusters.
    """

    values: Sequence[float]
    mean: float
    interval: Interval | None


class Metric(NamedTuple):
    """A metric: a row of `METRICS`.

    Attributes:
        name: the name, wherever it is shown.
        meaning: what it measures, in one line.
        source: the definition.
        compute: computes the value of each answer of strings.
        most: the largest value.
        lower_is_better: whether 0 is the best value.
    """

    name: str
    meaning: str
    source: str
    compute: Callable[[Scored], list[float]]
    most: float = 1.0
    lower_is_better: bool = False

    def measure(self, scored: Scored) -> Measured:
        """Measure string answers. Runs are averaged by question.

        Example:
            >>> from anls_metric import score
            >>> scored = score(["the Cola", None, "5.1"], [["Cola"], ["5"], ["5"]], missing="zero")["data"]
            >>> [round(metric.measure(scored).mean, 4) for metric in find_metrics(["f1", "relaxed"])]
            [0.3333, 0.3333]
        """
        values = average(scored.answers, self.compute(scored))
        names = scored.clusters and scored.clusters.names
        return Measured(values, mean(values), mean_interval(values, names, self.most))


def score_f1(prediction: str, reference: str) -> float:
    """Compute the F1 of the words of two texts. Two texts without words score 1, as in SQuAD 2.0.

    Example:
        >>> round(score_f1("The Coca-Cola Company", "Company of Coca Cola!"), 4)
        0.3333
    """
    words, accepted = split_into_words(prediction.lower()), split_into_words(reference.lower())
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
    """Whether a number is within 5% of the accepted number or, for any other text, whether it is equal except for case.

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


def _measure_best(
    measure: Callable[[str, str], float], best: Callable[[list[float]], float], of_missing: float
) -> Callable[[Scored], list[float]]:
    """Make the function that measures answers against the reference that is best for them."""

    def measure_answers(scored: Scored) -> list[float]:
        pairs = zip(scored.answers.predictions, list_references(scored.answers))
        return [
            of_missing if prediction is None else float(best([measure(prediction, text) for text in references]))
            for prediction, references in pairs
        ]

    return measure_answers


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "f1",
            "F1 of the words, the best over the references",
            "SQuAD 2.0, https://rajpurkar.github.io/SQuAD-explorer (evaluate's metrics squad and squad_v2)",
            _measure_best(score_f1, max, 0.0),
        ),
        Metric(
            "cer",
            "character error rate, the lowest over the references; 0 is best; it can exceed 1",
            "jiwer.cer, https://github.com/jitsi/jiwer",
            _measure_best(score_cer, min, 1.0),
            most=float("inf"),
            lower_is_better=True,
        ),
        Metric(
            "relaxed",
            "numbers within 5%, other strings equal except for case",
            "ChartQA, https://arxiv.org/abs/2203.10244, section 5.1, as Qwen-VL and lmms-eval compute it",
            _measure_best(is_relaxed_match, max, 0.0),
        ),
        Metric(
            "exact_match",
            "equals a reference after normalization",
            "the variant that scores the set",
            lambda scored: list(map(float, scored.findings.exact)),
        ),
        Metric(
            "contains",
            "contains a reference as whole words",
            "the variant that scores the set",
            lambda scored: list(map(float, scored.findings.contains)),
        ),
    )
}


def find_metrics(names: Sequence[str]) -> list[Metric]:
    """Find metrics by name. `PARTIAL_CREDIT` and `ABSTENTION` are valid names, but are left out because they are not
    rows of the table.

    Raises:
        ValueError: there is no such metric.

    Example:
        >>> [metric.name for metric in find_metrics(["f1", "cer"])]
        ['f1', 'cer']
    """
    known = [*METRICS, PARTIAL_CREDIT, ABSTENTION]
    for name in names:
        if name not in known:
            raise ValueError(describe_unknown("metric", name, known))
    return [METRICS[name] for name in dict.fromkeys(names) if name in METRICS]


def measure_texts(
    names: Sequence[str], predictions: Sequence[str], references: Sequence[Sequence[str]], scorer: Scorer
) -> dict[str, float]:
    """Measure the answers of a submission in memory.

    Args:
        names: the names of metrics.
        predictions: an answer for each row.
        references: the accepted answers of each row.
        scorer: the variant by which texts are normalized.

    Example:
        >>> from anls_metric import get_variant
        >>> measure_texts(["exact_match"], ["tea", "cola"], [["Tea"], ["Coca Cola"]], get_variant())
        {'exact_match': 0.5}
    """
    _, accepted = scorer.check(predictions, references)
    ids, scores = list(map(str, range(len(accepted)))), list(scorer.score(predictions, references))
    questions = Questions(Table([{}] * len(ids)), ids, accepted, [None] * len(ids), has_ids=False)
    scored = Scored(Answers("", questions, predictions, Message("", "")), scorer, scores, scores, scorer.mean(scores))
    return {metric.name: mean(metric.compute(scored)) for metric in find_metrics(names)}


_COMPARED = ("questions", "difference", "interval", "p_value", "p_value_adjusted")
"""The fields of a comparison that say something under every metric."""


def compare_metric(
    metric: Metric, measured: Mapping[str, Mapping[str, Measured]], first: Scored, others: Sequence[Scored]
) -> dict[str, dict[str, Any]]:
    """Compare submissions with the baseline under a metric, using the same tests as for their ANLS.

    Args:
        metric: the metric.
        measured: the values, by the names of the submission and of the metric.
        first: the baseline.
        others: the submissions that are compared with it; each has a question in common with it.

    Returns:
        For each of the others, by its name, what the JSON document says about it: some fields of `Comparison`, and
        whether it is better.
    """
    values = {name: own[metric.name].values for name, own in measured.items()}
    own = values[first.name]
    comparisons = adjust([compare_values(first, own, each, values[each.name], most=metric.most) for each in others])
    return {
        each.second: {
            "metric": metric.name,
            **{name: getattr(each, name) for name in _COMPARED},
            "is_better": each.difference < 0 if metric.lower_is_better else each.difference > 0,
        }
        for each in comparisons
    }
