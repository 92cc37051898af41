"""A scored set as JSON: what the command prints for programs, and what the page hands out."""

from __future__ import annotations

from typing import Any

from anls_metric.analysis.scored import Scored, ScoredSet, in_order


def document(scored_set: ScoredSet, layout: str = "") -> dict[str, Any]:
    """What is known of a scored set: mean, zeros, signature, groups, worst answers."""
    return {
        "layout": layout,
        "anls": scored_set.mean,
        "questions": scored_set.count,
        "zeros": scored_set.zeros,
        "signature": scored_set.signature,
        "groups": {
            field: {value: {"anls": tally.mean, "questions": tally.count} for value, tally in in_order(groups).items()}
            for field, groups in scored_set.groups.items()
        },
        "worst": [_worst(scored, scored_set) for scored in scored_set.worst],
    }


def _worst(scored: Scored, scored_set: ScoredSet) -> dict[str, Any]:
    why = scored.explanation(scored_set.variant)
    return {
        "id": scored.row.id,
        "score": scored.score,
        "reason": scored.outcome,
        "prediction": scored.row.prediction,
        "closest_reference": why.best.reference if why else None,
        "edits": why.best.edits if why else [],
    }


def answer_records(scored_set: ScoredSet) -> list[dict[str, Any]]:
    """Every answer of a set that keeps its rows."""
    return [
        {
            "id": scored.row.id,
            "prediction": scored.row.prediction,
            "references": list(scored.row.references),
            "score": scored.score,
            "similarity": scored.similarity,
            "zero": scored.zero,
        }
        for scored in scored_set.rows
    ]
