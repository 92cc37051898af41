"""ANLS with a 95 % confidence interval, the one that the page shows.

    python examples/confidence_interval.py examples/gold_label.json examples/submission.json

Needs ``pip install anls-metric numpy scipy``.
"""

from __future__ import annotations

import sys

from anls_metric.analysis.scored import ScoredSet
from anls_metric.analysis.significance import interval
from anls_metric.reading.join import join_files


def main(gold: str, submission: str) -> None:
    """Print the score of a submission and its interval."""
    scored_set = ScoredSet()
    scores = [scored.score for rows in join_files(gold, submission) for scored in scored_set.add(rows)]
    low, high = interval(scores)
    print(f"{scored_set.mean:.4f}  95 % interval {low:.4f} to {high:.4f}  {scored_set.signature}")


if __name__ == "__main__":
    main(*sys.argv[1:])
