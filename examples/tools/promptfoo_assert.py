"""An assertion for promptfoo, whose tests hold the references in the variable `answers`."""

from __future__ import annotations

from typing import Any

from anls_metric import anls_score, explain


def get_assert(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """Score an answer, with the reason."""
    references = context["vars"]["answers"]
    score = anls_score(output, references)
    return {"pass": score >= 0.5, "score": score, "reason": explain(output, references).sentence}
