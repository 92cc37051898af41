"""The function that lm-evaluation-harness calls for each document."""

from __future__ import annotations

from typing import Any

from anls_metric import anls_score


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Score the answer to a question against all accepted answers."""
    return {"anls": anls_score(results[0], doc["answers"], variant="rrc")}
