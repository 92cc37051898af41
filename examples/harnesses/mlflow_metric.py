"""Use ANLS as an MLflow EvaluationMetric, on a table of synthetic answers.

    python examples/harnesses/mlflow_metric.py

Needs ``pip install anls-metric mlflow``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlflow
import pandas as pd
from mlflow.metrics import MetricValue, make_metric

from anls_metric import anls_scores, mean, signature

QUESTIONS = Path(__file__).parent / "questions" / "test.jsonl"
VARIANT = "rrc"


def score(predictions: pd.Series, targets: pd.Series, metrics: Any = None) -> MetricValue:
    """Compute the score of each row, and the ANLS."""
    scores = anls_scores(predictions, targets, variant=VARIANT)
    return MetricValue(scores=scores, aggregate_results={"mean": mean(scores)})


anls_metric = make_metric(eval_fn=score, greater_is_better=True, name="anls")


def main() -> dict[str, float]:
    """Score a table with answers and accepted answers."""
    lines = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    answers = ["12.34 EUR", "CocaCola", "12/15/89", "eight"]
    table = pd.DataFrame({"accepted": [line["answers"] for line in lines], "answer": answers})
    with mlflow.start_run(tags={"anls.signature": signature(VARIANT)}):
        result = mlflow.models.evaluate(
            data=table, predictions="answer", targets="accepted", extra_metrics=[anls_metric], evaluators="default"
        )
    metrics: dict[str, float] = result.metrics
    print(metrics, signature(VARIANT))
    return metrics


if __name__ == "__main__":
    main()
