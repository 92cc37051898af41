"""Computes how often answers name the right pages."""

from __future__ import annotations

from anls_metric.analysis.metric_values import Measured, measure_all, summarize
from anls_metric.analysis.scored import Scored, average, once
from anls_metric.core.pages import PAGE_METRICS, Pages, read_pages
from anls_metric.options import PAGES


@once
def measure_pages(scored: Scored) -> dict[str, Measured]:
    """Compute the page metrics of a submission, which are accuracy if no question and no answer has more than one page,
    and recall and precision otherwise.

    Returns:
        The values by metric name.

    Example:
        >>> from anls_metric import score
        >>> table = {"prediction": ["a", "b"], "answers": [["a"], ["b"]]}
        >>> scored = score({**table, "pred_page": [1, 2], "answer_page_idx": [1, 3]}, metrics="pages")["data"]
        >>> {name: found.mean for name, found in measure_pages(scored).items()}
        {'page_accuracy': 0.5}
    """
    pairs = _read(scored)
    has_lists = any(len(each or ()) > 1 for pair in pairs for each in pair)
    accuracy, *others = PAGE_METRICS.values()
    own, accepted = map(list, zip(*pairs))
    return {
        metric.name: summarize(
            metric,
            scored,
            average(scored.answers, metric.compute(own, accepted, scored.answer_scores, scored.scorer)),
        )
        for metric in (others if has_lists else [accuracy])
    }


def list_measured(scored: Scored) -> dict[str, Measured]:
    """Return the values of a submission under all metrics that the user names, including the page metrics."""
    return measure_all(scored) | (measure_pages(scored) if PAGES in scored.settings.metrics else {})


def _read(scored: Scored) -> list[tuple[Pages | None, Pages]]:
    """Read the pages that each answer names, or None for a missing answer, and the pages of the answer's question."""
    answers = scored.answers
    rows = zip(answers.predictions, answers.pages or ())
    return [
        (None if prediction is None else read_pages(own), read_pages(accepted)) for prediction, (own, accepted) in rows
    ]
