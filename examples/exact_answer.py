"""A second evaluate metric, to combine with ANLS: the share of answers that equal an accepted answer exactly."""

from __future__ import annotations

import datasets
import evaluate


class ExactAnswer(evaluate.Metric):  # type: ignore[misc]
    """Predictions are strings, references lists of strings."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description="",
            features=datasets.Features({"predictions": text, "references": datasets.Sequence(text)}),
        )

    def _compute(self, predictions: list[str], references: list[list[str]]) -> dict[str, float]:
        right = [prediction in accepted for prediction, accepted in zip(predictions, references)]
        return {"exact_answer": sum(right) / len(right)}
