"""Scores lists as they are: without reading, and under any scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.scored import Scored, score_answers
from anls_metric.core.variants import get_variant
from anls_metric.messages import Message
from anls_metric.reading.answers import Answers, Questions


def score_columns(
    predictions: Sequence[Any],
    references: Sequence[Sequence[Any]],
    records: Sequence[Mapping[str, Any]] | None = None,
    scorer: Any = "standard",
) -> Scored:
    """Score predictions, None for a question without an answer, against the accepted answers of each question."""
    ids = [str(number) for number in range(1, len(references) + 1)]
    questions = Questions("", ids, references, records or [{}] * len(ids), [None] * len(ids), has_ids=False)
    answers = Answers("", questions, predictions, Message("", ""))
    return score_answers(answers, get_variant(scorer) if isinstance(scorer, str) else scorer)
