"""A scorer for Braintrust's `Eval` and for autoevals, where `expected` holds the references. Needs braintrust."""

from __future__ import annotations

from braintrust import Score

from anls_metric import anls_score, explain


def anls(input: str, output: str, expected: list[str]) -> Score:
    """Score an answer, with the reason."""
    return Score("anls", anls_score(output, expected), {"reason": explain(output, expected).sentence})
