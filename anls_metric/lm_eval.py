"""ANLS as a metric, and the extraction steps as a filter, for lm-evaluation-harness.

The harness finds the metric as ``anls`` and the filter as ``anls_extract``, through the entry points
``lm_eval.metrics`` and ``lm_eval.filters``. A version without plugins (0.4.13 and older) recognizes both once a task's
YAML refers to a function in this module, for example ``aggregation: !function anls_metric.lm_eval.mean``.

Source: https://github.com/EleutherAI/lm-evaluation-harness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anls_metric.core.checks import requires
from anls_metric.core.extraction.extract import extractor
from anls_metric.core.scorer import mean
from anls_metric.core.strings.scoring import anls_score, anls_scores
from anls_metric.core.strings.variants import VARIANTS

with requires("lm_eval"):
    import lm_eval.api.metrics  # noqa: F401  # it registers the aggregation "mean"
    from lm_eval.api.filter import Filter
    from lm_eval.api.registry import register_filter, register_metric

__all__ = ["ExtractFilter", "anls", "mean", "process_results"]


@register_metric(metric="anls", higher_is_better=True, aggregation="mean")  # type: ignore[untyped-decorator]
def anls(references: Sequence[Any], predictions: Sequence[str], **options: Any) -> float:
    """Compute the ANLS of predictions, for ``metric: anls`` in a task's YAML.

    Args:
        references: the references of each prediction: a string or a list of strings.
        predictions: the predictions; the harness passes one at a time.
        **options: ``variant``, ``threshold`` and ``ignore_case``, as in `anls_scores`.

    Returns:
        The mean score, from 0 to 1.

    Raises:
        ValueError: as in `anls_scores`.

    Example:
        >>> anls([["Coca Cola", "Cola"]], ["CocaCola"])
        0.8888888888888888
    """
    return mean(anls_scores(predictions, references, **options))


def process_results(doc: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Score a prediction against all references in the field ``answers``, for ``process_results`` in a task's YAML.

    Without such a function, the harness compares a prediction with one reference at a time and turns any score above 0
    into 1. This function uses the variant ``standard``, ``process_results_rrc`` uses ``rrc``, and so on for every
    variant.

    Args:
        doc: the record of the question.
        results: a list with the model's response as its only item.

    Returns:
        The score from 0 to 1, as ``{"anls": score}``.

    Raises:
        ValueError: as in `anls_score`. KeyError: the record has no field ``answers``.

    Example:
        >>> process_results({"answers": ["Coca Cola", "Cola"]}, ["CocaCola"])
        {'anls': 0.8888888888888888}
    """
    return {"anls": anls_score(results[0], doc["answers"])}


def __getattr__(name: str) -> Callable[[dict[str, Any], Sequence[str]], dict[str, float]]:
    start, _, variant = name.partition("process_results_")
    if start or variant not in VARIANTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def process_results_by_variant(doc: dict[str, Any], results: Sequence[str]) -> dict[str, float]:
        return {"anls": anls_score(results[0], doc["answers"], variant=variant)}

    return process_results_by_variant


@register_filter("anls_extract")
class ExtractFilter(Filter):  # type: ignore[misc]
    """Extracts answers from raw model output, for ``function: anls_extract`` in a task's YAML.

    Args:
        rules: the names of the rules, such as ``"think,final"``; see `extractor`.

    Raises:
        ValueError: there is no such rule.
    """

    def __init__(self, rules: str, **options: Any) -> None:
        super().__init__(**options)
        self._extract = extractor(rules)

    def apply(self, resps: Iterable[Iterable[str]], docs: Sequence[dict[str, Any]]) -> list[list[str]]:
        """Extract the answer from each response."""
        return [[self._extract(text) for text in responses] for responses in resps]
