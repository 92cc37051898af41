"""A scored set as JSON: what the command prints for programs, what the page hands out, and results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.scored import ANSWER_TYPES, Scored, ScoredSet


def document(scored_set: ScoredSet) -> dict[str, Any]:
    """What is known of a scored set: mean, zeros, signature, groups, worst answers."""
    return {
        "anls": scored_set.mean,
        "questions": scored_set.count,
        "zeros": scored_set.zeros,
        "signature": scored_set.signature,
        "groups": {
            field: {value: {"anls": tally.mean, "questions": tally.count} for value, tally in groups.items()}
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


def result_sample(scored: Scored) -> dict[str, Any]:
    """An answer as results.json has it, with the keys of PyPI anls."""
    asked = scored.row.record.get("question")
    return {
        "score": scored.score,
        "question": asked if isinstance(asked, str) else "",
        "gt": list(scored.row.references),
        "det": scored.row.prediction or "",
        "info": scored.zero,
    }


def result_totals(scored_set: ScoredSet, types: Sequence[str] = ()) -> dict[str, Any]:
    """What results.json says of the whole, with the keys of PyPI anls."""
    by_type: Mapping[str, Mapping[str, float]] = {
        ANSWER_TYPES[field][0]: {value: tally.mean for value, tally in scored_set.groups[field].items()}
        for field in types
    }
    return {
        "result": {"score": scored_set.mean, "signature": scored_set.signature},
        "scores_by_types": {name: by_type.get(name, {}) for name, _ in ANSWER_TYPES.values()},
    }
