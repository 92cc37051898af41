"""Computes the metrics of `core.strings.metrics` for submissions, and compares submissions under these metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.comparison import adjust, describe_differences, pair_values
from anls_metric.analysis.scored import Scored, average, once
from anls_metric.core.scorer import mean
from anls_metric.core.statistics.significance import Interval, mean_interval
from anls_metric.core.strings.metrics import METRICS, Metric
from anls_metric.reading.answers import list_references


class Measured(NamedTuple):
    """The values of a submission under a metric.

    Attributes:
        values: the value of each question.
        mean: the mean of the values.
        interval: the 95% confidence interval of the mean; None for fewer than two clusters.
        label: the name of the metric, and how it is computed for this set.
    """

    values: Sequence[float]
    mean: float
    interval: Interval | None
    label: str


def measure(metric: Metric, scored: Scored) -> Measured:
    """Compute a metric for string answers. Runs are averaged by question.

    For an error rate over all texts together, the value of a question is the rate plus the question's contribution,
    which is the question's errors minus the errors expected for its length, divided by the mean length. The mean of
    these values is the rate.

    Example:
        >>> from anls_metric import score
        >>> from anls_metric.core.strings.metrics import METRICS
        >>> scored = score(["the Cola", None, "5.1"], [["Cola"], ["5"], ["5"]], missing="zero")["data"]
        >>> [round(measure(METRICS[name], scored).mean, 4) for name in ("f1", "relaxed")]
        [0.3333, 0.3333]
    """
    label = " ".join(filter(None, [metric.name.replace("_", " "), metric.describe(scored.questions.references)]))
    if metric.count_errors is None:
        return summarize(metric, scored, compute_values(metric, scored), label)
    counts = metric.count_errors(scored.answers.predictions, list_references(scored.answers))
    errors, lengths = (average(scored.answers, list(map(float, column))) for column in zip(*counts))
    rate, length = math.fsum(errors) / (math.fsum(lengths) or 1.0), mean(lengths) or 1.0
    values = [rate + (wrong - rate * own) / length for wrong, own in zip(errors, lengths)]
    return summarize(metric, scored, values, label)._replace(mean=rate)


def summarize(metric: Metric, scored: Scored, values: Sequence[float], label: str = "") -> Measured:
    """Summarize the values of a submission's questions."""
    names = scored.clusters and scored.clusters.names
    interval = mean_interval(values, names, metric.most)
    return Measured(values, mean(values), interval, label or metric.name.replace("_", " "))


@once
def measure_all(scored: Scored) -> dict[str, Measured]:
    """Compute the string metrics that the user names for a submission, in the order in which the user names them."""
    return {name: measure(METRICS[name], scored) for name in scored.settings.metrics if name in METRICS}


def compute_values(metric: Metric, scored: Scored) -> Sequence[float]:
    """Compute a metric's value for each question. Runs are averaged."""
    answers = scored.answers
    values = metric.compute(answers.predictions, list_references(answers), scored.answer_scores, scored.scorer)
    return average(answers, values)


_COMPARED = ("questions", "difference", "interval", "p_value", "p_value_adjusted")
"""The fields of a comparison that are meaningful under every metric."""


def compare_metric(
    metric: Metric,
    measured: Mapping[str, Mapping[str, Measured]],
    first: Scored,
    others: Sequence[Scored],
    chose_best: bool = False,
) -> dict[str, dict[str, Any]]:
    """Compare submissions with the baseline under a metric, using the same tests as for ANLS.

    Args:
        metric: the metric.
        measured: the values, keyed by submission name and metric name.
        first: the baseline.
        others: the submissions to compare with the baseline; each has at least one question in common with it.
        chose_best: whether the baseline is the best of several: see `compare`.

    Returns:
        The entry for each other submission in the JSON document, keyed by submission name, with some fields of
        `Comparison` and whether the submission is better than the baseline.
    """
    values = {name: own[metric.name].values for name, own in measured.items()}
    own = values[first.name]
    comparisons = [
        describe_differences((first.name, each.name), pair_values(first, own, each, values[each.name], metric.most))
        for each in others
    ]
    return {
        each.second: {
            "metric": metric.name,
            **{name: getattr(each, name) for name in _COMPARED},
            "is_better": each.difference < 0 if metric.lower_is_better else each.difference > 0,
        }
        for each in adjust(comparisons, chose_best)
    }
