"""Defines metrics for the pages on which answers were found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anls_metric.core.scorer import Scorer
from anls_metric.core.strings.metrics import Metric

Pages = frozenset[str]


def read_pages(value: Any) -> Pages:
    """Read the pages of an answer or question from a page or a list of pages, either of which may be a string.

    Example:
        >>> sorted(read_pages([3, 4.0])), sorted(read_pages("[3, 4]")), read_pages(""), read_pages("p3")
        (['3', '4'], ['3', '4'], frozenset(), frozenset({'p3'}))
    """
    written = re.fullmatch(r"\s*[\[({](.*)[\])}]\s*", value, re.DOTALL) if isinstance(value, str) else None
    if written:
        value = [item.strip(" \n'\"") for item in written[1].split(",")]
    items = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    return frozenset(filter(None, map(_read_page, items)))


def _read_page(value: Any) -> str:
    if value is None or value != value:  # NaN: a gap in a column of numbers
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _of_pages(compute: Callable[[Pages, Pages], float]) -> Any:
    """Make the function of a metric that compares the predicted pages with the pages of the question."""

    def compute_all(
        predictions: Sequence[Pages | None], references: Sequence[Any], scores: Sequence[float], scorer: Scorer
    ) -> list[float]:
        pairs = zip(predictions, references)
        return [0.0 if own is None else compute(own, accepted) for own, accepted in pairs]

    return compute_all


def _share(part: Pages, whole: Pages) -> float:
    """Return the fraction of the pages in ``part`` that are also in ``whole``. If ``part`` is empty, return 1 if
    ``whole`` is also empty and 0 otherwise.
    """
    return len(part & whole) / len(part) if part else float(not whole)


PAGE_METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "page_accuracy",
            "names the page of the answer",
            "MP-DocVQA, https://arxiv.org/abs/2212.05935, section 5.1",
            _of_pages(lambda own, accepted: float(own == accepted)),
        ),
        Metric(
            "page_recall",
            "share of the pages of the question that the answer names",
            "the pages of the question",
            _of_pages(lambda own, accepted: _share(accepted, own)),
        ),
        Metric(
            "page_precision",
            "share of the pages that the answer names which are pages of the question",
            "the pages of the question",
            _of_pages(_share),
        ),
    )
}
"""The page metrics, keyed by name. The first metric is for single pages, and the others are for lists of pages."""
