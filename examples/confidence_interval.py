"""Compute ANLS with a 95% confidence interval, from the scores of your own loop.

    python examples/confidence_interval.py examples/compare/gold.json examples/compare/tuned.json

The command prints the same interval. Needs ``pip install anls-metric``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from anls_metric import anls_scores, cluster_field, interval, mean, signature


def main(gold: str, submission: str) -> None:
    """Print the score of a submission and its interval, clustered by document or page if the questions name one."""
    questions = json.loads(Path(gold).read_text(encoding="utf-8"))
    answers = {row["questionId"]: row["answer"] for row in json.loads(Path(submission).read_text(encoding="utf-8"))}
    scores = anls_scores(
        [answers[question["questionId"]] for question in questions], [question["answers"] for question in questions]
    )
    field = cluster_field(questions)
    low, high = interval(scores, [question.get(field) for question in questions] if field else None)
    by = f"by {field}" if field else "each question for itself"
    print(f"{mean(scores):.4f}  95% CI {low:.4f} to {high:.4f} ({by})  {signature()}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: confidence_interval.py GOLD SUBMISSION")
    main(*sys.argv[1:])
