"""An evaluator for Phoenix, whose rows hold the references in `expected`. Needs arize-phoenix-evals."""

from __future__ import annotations

from phoenix.evals import Score, create_evaluator

from anls_metric import anls_score, explain


@create_evaluator(name="anls", kind="code")  # type: ignore[untyped-decorator]
def anls(output: str, expected: list[str]) -> Score:
    """Score an answer, with the reason."""
    return Score(score=anls_score(output, expected), explanation=explain(output, expected).sentence)
