"""A scorer for `mlflow.genai.evaluate`, whose rows hold the references in `expectations`. Needs mlflow."""

from __future__ import annotations

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai import scorer

from anls_metric import anls_score, explain


@scorer  # type: ignore[untyped-decorator]
def anls(outputs: str, expectations: dict[str, Any]) -> Feedback:
    """Score an answer, with the reason."""
    references = expectations["answers"]
    return Feedback(value=anls_score(outputs, references), rationale=explain(outputs, references).sentence)
