"""A metric for DeepEval, whose test cases hold the references in `metadata`. Needs deepeval."""

from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric

from anls_metric import anls_score, explain


class ANLS(BaseMetric):  # type: ignore[misc]
    """Scores the answer of a test case, with the reason."""

    threshold, __name__ = 0.5, "ANLS"

    def measure(self, case: Any, *_: Any, **__: Any) -> float:
        """Score an answer."""
        answer, references = case.actual_output, case.metadata["answers"]
        self.score, self.reason = anls_score(answer, references), explain(answer, references).sentence
        return self.score

    async def a_measure(self, case: Any, *_: Any, **__: Any) -> float:
        """Score an answer when DeepEval runs several at once."""
        return self.measure(case)

    def is_successful(self) -> bool:
        """Tell whether the score reaches the threshold."""
        return self.score >= self.threshold
