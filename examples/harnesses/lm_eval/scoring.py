"""What lm-evaluation-harness calls for each document."""

from __future__ import annotations

from typing import Any

from anls_metric import anls_score


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The score of the one answer to a question against all accepted ones."""
    return {"anls": anls_score(results[0], doc["answers"], variant="rrc")}
