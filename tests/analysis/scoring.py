"""Makes tables of answers, and scores lists as they are: without reading, and under any scorer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anls_metric.analysis.scored import Scored, score_answers
from anls_metric.core.strings.variants import get_variant
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.table import Table

ANSWERS = {"y": "Cola", "h": "Co", "n": "x"}


def make_table(letters: str, questions: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """Make an answer for each letter: y is right, h scores 0.5, n is wrong. A page has four questions."""
    numbers = range(len(letters)) if questions is None else questions
    return [
        {
            "questionId": f"q{number}",
            "prediction": ANSWERS[letter],
            "answers": ["Cola"],
            "image": f"img {number // 4}",
        }
        for number, letter in zip(numbers, letters)
    ]


def score_columns(predictions: Sequence[Any], references: Sequence[Sequence[Any]], scorer: Any = "standard") -> Scored:
    """Score predictions, None for a question without an answer, against the accepted answers of each question."""
    ids = [str(number) for number in range(1, len(references) + 1)]
    questions = Questions(Table([{}] * len(ids)), ids, references, [None] * len(ids), has_ids=False)
    answers = Answers("", questions, predictions, Source("", "", "", "", "", ""))
    return score_answers(answers, get_variant(scorer) if isinstance(scorer, str) else scorer)
