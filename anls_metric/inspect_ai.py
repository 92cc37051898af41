"""Scorers for inspect_ai: ANLS and ANLS*, for ``inspect eval --scorer`` and ``inspect score --scorer``.

inspect_ai finds them as ``anls_metric/anls`` and ``anls_metric/anls_star``.

Source: https://inspect.aisi.org.uk/scorers.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
from inspect_ai.scorer import stderr as stderr_of_clusters
from inspect_ai.solver import TaskState

from anls_metric.analysis.clusters import cluster_field
from anls_metric.core.variants import Scorer as Scoring
from anls_metric.core.variants import get_variant
from anls_metric.nested import from_json, get_value_variant
from anls_metric.reading.extract import Extraction, extractor
from anls_metric.reading.values import parse_value_or_text
from anls_metric.report.terminal import align_texts

__all__ = ["anls", "anls_star", "stderr"]


@metric  # type: ignore[untyped-decorator]
def stderr() -> Metric:
    """The standard error of the mean, clustered by document if the metadata of all samples name one."""

    def compute(scores: Sequence[SampleScore]) -> Any:
        metadata = [each.sample_metadata or {} for each in scores]
        field = cluster_field(metadata)
        return stderr_of_clusters(cluster=field if _is_everywhere(field, metadata) else None)(scores)

    return compute


def _is_everywhere(field: str | None, metadata: Sequence[Mapping[str, Any]]) -> bool:
    values = [each.get(field) if field else None for each in metadata]
    return all(value is not None and value == value for value in values)


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def anls(variant: str = "standard", threshold: float | None = None, extract: str | None = None) -> Scorer:
    """Score a completion against the accepted answers of its sample with ANLS, and show the edits.

    Args:
        variant, threshold: which ANLS, as `get_variant` takes them.
        extract: the rules that extract the answer from the completion, such as ``"think,final"``; see `extractor`.

    Returns:
        A scorer, whose scores have a value from 0 to 1, an explanation, and the signature as metadata.

    Raises:
        ValueError: an unknown variant or rule, or a threshold outside [0, 1].
    """
    scoring = get_variant(variant, threshold)
    extraction = extractor(extract) if extract else None

    async def score(state: TaskState, target: Target) -> Score:
        return _score(scoring, extraction, state.output.completion, str, target)

    return score


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def anls_star(threshold: float | None = None, extract: str | None = "json", none_keys: str | None = None) -> Scorer:
    """Score a completion that is JSON with ANLS*, and show the leaves that differ.

    The targets of a sample are values as JSON texts; several targets are alternatives.

    Args:
        threshold, none_keys: as `anls_star_score` takes them.
        extract: the rules that extract the value from the completion; None takes the whole completion.

    Returns:
        A scorer, whose scores have a value from 0 to 1, an explanation, and the signature as metadata.

    Raises:
        ValueError: an unknown rule, or an option with a value that is not allowed.
    """
    scoring = get_value_variant("anls_star", threshold=threshold, none_keys=none_keys)
    extraction = extractor(extract, values=True) if extract else None

    async def score(state: TaskState, target: Target) -> Score:
        return _score(scoring, extraction, state.output.completion, _parse, target)

    return score


def _parse(text: str) -> Any:
    return from_json(parse_value_or_text(text))


def _score(scoring: Scoring, extraction: Extraction | None, completion: str, parse: Any, target: Target) -> Score:
    answer = extraction(completion) if extraction else completion
    accepted = tuple(parse(text) for text in target)  # a tuple holds alternatives
    try:
        prediction = parse(answer)
        why = scoring.explain(prediction, accepted)
    except ValueError:  # valid JSON that cannot be scored is compared as a text
        prediction = answer
        why = scoring.explain(prediction, accepted)
    (value,) = scoring.score([prediction], [accepted])
    signature = scoring.signature(extraction.signature if extraction else "")
    explanation = "\n".join([str(why), *_show_differences(why)])
    return Score(value=float(value), answer=answer, explanation=explanation, metadata={"signature": signature})


def _show_differences(why: Any) -> list[str]:
    """List the edits of a text, indented as code, or the leaves of a value that differ."""
    if hasattr(why, "leaves"):
        return [f"- {leaf}" for leaf in why.leaves if leaf.score < 1]
    return ["", *(f"    {line}".rstrip() for line in align_texts(why.edits))] if why.best.distance else []
