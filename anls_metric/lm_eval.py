"""The score as a metric and the extraction rules as a filter of lm-evaluation-harness.

The harness finds them as ``anls`` and ``anls_extract`` by the entry points ``lm_eval.metrics`` and ``lm_eval.filters``.
A harness without plugins (0.4.13 and before) knows both once the YAML of a task names a function of this module, such
as ``aggregation: !function anls_metric.lm_eval.mean``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import lm_eval.api.metrics  # noqa: F401  # it registers the aggregation "mean"
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter, register_metric

from anls_metric.core.kernel import mean
from anls_metric.core.scoring import anls_score, anls_scores
from anls_metric.reading.extract import extractor

__all__ = ["ExtractFilter", "anls", "mean", "process_results"]


@register_metric(metric="anls", higher_is_better=True, aggregation="mean")  # type: ignore[untyped-decorator]
def anls(references: Sequence[Any], predictions: Sequence[str], **options: Any) -> float:
    """The ANLS of the predictions, for ``metric: anls`` in the YAML of a task.

    Args:
        references: the accepted answers of each prediction: a text, or a list of texts.
        predictions: the predictions; the harness gives one at a time.
        **options: ``variant``, ``threshold`` and ``ignore_case``, as `anls_scores` takes them.
    """
    return mean(anls_scores(predictions, references, **options))


def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
    """The ANLS against all accepted answers in the field ``answers``, for ``process_results`` in the YAML of a task.

    The harness itself compares a prediction with one accepted answer at a time, and makes 1 of any score above 0. For
    another variant than ``standard``, write such a function of your own beside the YAML.
    """
    return {"anls": anls_score(results[0], doc["answers"])}


@register_filter("anls_extract")
class ExtractFilter(Filter):  # type: ignore[misc]
    """Takes answers out of what a model wrote, for ``function: anls_extract`` in the YAML of a task.

    Args:
        rules: the rules, such as ``"think,final"``; see `extractor`.
    """

    def __init__(self, rules: str, **options: Any) -> None:
        super().__init__(**options)
        self._extract = extractor(rules)

    def apply(self, resps: Iterable[Iterable[str]], docs: Sequence[dict[str, Any]]) -> list[list[str]]:
        """Extract the answer from each response."""
        return [[self._extract(text) for text in responses] for responses in resps]
