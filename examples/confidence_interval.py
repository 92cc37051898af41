"""ANLS with a 95 % confidence interval, the one that the command and the page show.

    python examples/confidence_interval.py examples/gold_label.json examples/submission.json

Needs ``pip install anls-metric``.
"""

from __future__ import annotations

import sys

from anls_metric.analysis.clusters import ClusteredScores
from anls_metric.analysis.scored import ScoredSet
from anls_metric.reading.join import join_files


def main(gold: str, submission: str) -> None:
    """Print the score of a submission and its interval, by document or page where the questions say which."""
    scored_set, scores = ScoredSet(), ClusteredScores()
    for rows in join_files(gold, submission):
        scored = scored_set.add(rows)
        scores.add([one.score for one in scored], [one.row.record for one in scored])
    clusters, sample = scores.chosen()
    low, high = sample.interval()
    by = f"{clusters.count} clusters by {clusters.field}" if clusters else "each question for itself"
    print(f"{scored_set.mean:.4f}  95 % interval {low:.4f} to {high:.4f} ({by})  {scored_set.signature}")


if __name__ == "__main__":
    main(*sys.argv[1:])
