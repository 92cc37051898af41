"""Counts the questions that a submission does not answer."""

from __future__ import annotations

from anls_metric.analysis.part import Part
from anls_metric.analysis.scored import Scored
from anls_metric.reading.answers import list_places


def count_unanswered(scored: Scored) -> int | None:
    """Count the questions that lack an answer, in one run or more, or return None if there are none."""
    pairs = zip(scored.answers.predictions, list_places(scored.answers))
    return len({place for prediction, place in pairs if prediction is None}) or None


PART = Part(
    key="unanswered",
    sentence="with `--missing zero`, how many questions have no answer and score 0; absent if there are none",
    find=count_unanswered,
    type=int,
    order=25,
    by_name=False,
)
