"""Scorers for inspect_ai: ANLS and ANLS*, for ``inspect eval --scorer`` and ``inspect score --scorer``.

inspect_ai finds the scorers as ``anls_metric/anls`` and ``anls_metric/anls_star``.

Source: https://inspect.aisi.org.uk/scorers.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anls_metric.core.checks import requires
from anls_metric.core.extraction.extract import Extraction, extractor_for
from anls_metric.core.printing import align_texts
from anls_metric.core.scorer import Scorer as Scoring
from anls_metric.core.scorer import get_scorer
from anls_metric.core.statistics.clusters import find_clusters

with requires("inspect_ai"):
    from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
    from inspect_ai.scorer import stderr as stderr_of_clusters
    from inspect_ai.solver import TaskState

__all__ = ["anls", "anls_star", "stderr"]


@metric  # type: ignore[untyped-decorator]
def stderr() -> Metric:
    """Create a metric for the standard error of the mean, clustered by document if every sample's metadata identifies
    one.
    """

    def compute(scores: Sequence[SampleScore]) -> Any:
        clusters = find_clusters([each.sample_metadata or {} for each in scores])
        if clusters is None or None in clusters.names:
            return stderr_of_clusters()(scores)
        named = [
            each.model_copy(update={"sample_metadata": {**(each.sample_metadata or {}), clusters.field: name}})
            for each, name in zip(scores, clusters.names)
        ]
        return stderr_of_clusters(cluster=clusters.field)(named)

    return compute


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def anls(
    variant: str = "standard", threshold: float | None = None, extract: str | Sequence[str] | None = None
) -> Scorer:
    """Create a scorer that compares a completion with the references of its sample by ANLS and shows the edits.

    Args:
        variant, threshold: which ANLS to compute, as in `get_variant`.
        extract: the steps that extract the answer from the completion, such as ``"think,final"``; see `extractor`. A
            list is accepted as well, because inspect_ai splits ``-S extract=think,final`` at the comma.

    Returns:
        A scorer whose scores have a value from 0 to 1, an explanation, and the signature as metadata.

    Raises:
        ValueError: the variant or a step is unknown, or the threshold is outside [0, 1].
    """
    return _make_scorer(get_scorer(variant, threshold=threshold), extract)


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
def anls_star(
    threshold: float | None = None, extract: str | Sequence[str] | None = "json", none_keys: str | None = None
) -> Scorer:
    """Create a scorer that compares a JSON completion with the targets of its sample by ANLS* and shows the leaves that
    differ.

    The targets of a sample are values as JSON strings; several targets are alternatives.

    Args:
        threshold, none_keys: as in `anls_star_score`.
        extract: the steps that extract the value from the completion, as in `anls`; None takes the whole completion.

    Returns:
        A scorer whose scores have a value from 0 to 1, an explanation, and the signature as metadata.

    Raises:
        ValueError: a step is unknown, or an option has a value that is not allowed.
    """
    return _make_scorer(get_scorer("anls_star", threshold=threshold, none_keys=none_keys), extract)


def _make_scorer(scoring: Scoring, steps: str | Sequence[str] | None) -> Scorer:
    names = steps if steps is None or isinstance(steps, str) else ",".join(steps)
    extraction = extractor_for(scoring, names) if names else Extraction(())
    signature = scoring.signature(extraction.signature)

    async def score(state: TaskState, target: Target) -> Score:
        answer = extraction(state.output.completion)
        accepted = tuple(map(scoring.read_references, target))  # a tuple holds alternatives
        try:
            why = scoring.explain(scoring.read_answer(answer), accepted)
        except ValueError:  # valid JSON that cannot be scored is compared as a string
            why = scoring.explain(answer, accepted)
        explanation = "\n".join([str(why), *_show_differences(why)])
        return Score(value=float(why.score), answer=answer, explanation=explanation, metadata={"signature": signature})

    return score


def _show_differences(why: Any) -> list[str]:
    """List the edits to a string, indented as code, or the leaves of a value that differ."""
    if hasattr(why, "leaves"):
        return [f"- {leaf}" for leaf in why.leaves if leaf.score < 1]
    return ["", *(f"    {line}".rstrip() for line in align_texts(why.edits))] if why.best.distance else []
