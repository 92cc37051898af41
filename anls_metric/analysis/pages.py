"""Measures whether answers name the right pages."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.analysis.metrics import Measured, summarize
from anls_metric.analysis.scored import Scored, average
from anls_metric.core.pages import PAGE_METRICS, Pages, read_pages


def measure_pages(submissions: Sequence[Scored]) -> dict[str, dict[str, Measured]]:
    """Measure the pages of submissions: their accuracy if each question and each answer has one page, and otherwise
    recall and precision.

    Returns:
        The values, by the names of the submission and of the metric.

    Example:
        >>> from anls_metric import score
        >>> table = {"prediction": ["a", "b"], "answers": [["a"], ["b"]]}
        >>> scored = score({**table, "pred_page": [1, 2], "answer_page_idx": [1, 3]}, metrics="pages")["data"]
        >>> {name: found.mean for name, found in measure_pages([scored])["data"].items()}
        {'page_accuracy': 0.5}
    """
    pages = {scored.name: _read(scored) for scored in submissions}
    has_lists = any(len(each or ()) > 1 for pairs in pages.values() for pair in pairs for each in pair)
    accuracy, *others = PAGE_METRICS.values()
    measured: dict[str, dict[str, Measured]] = {}
    for scored in submissions:
        for metric in others if has_lists else [accuracy]:
            own, accepted = map(list, zip(*pages[scored.name]))
            values = metric.compute(own, accepted, scored.answer_scores, scored.scorer)
            measured.setdefault(scored.name, {})[metric.name] = summarize(
                metric, scored, average(scored.answers, values)
            )
    return measured


def _read(scored: Scored) -> list[tuple[Pages | None, Pages]]:
    """Read the pages of each answer, None for no answer, and those of its question."""
    answers = scored.answers
    rows = zip(answers.predictions, answers.pages or ())
    return [
        (None if prediction is None else read_pages(own), read_pages(accepted)) for prediction, (own, accepted) in rows
    ]
