"""Which field is which in somebody's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# The Robust Reading Competition's files. Source: https://rrc.cvc.uab.es/?ch=17&com=tasks.
ID_FIELDS = ("questionId", "question_id", "id")
ANSWER_FIELD = "answer"
REFERENCES_FIELD = "answers"

# The columns of a table that are taken for what they say, the likeliest first.
PREDICTION_COLUMNS = ("prediction", "predicted", "answer", "model", "output", "response")
REFERENCES_COLUMNS = ("references", "answers", "accepted", "reference", "gold", "labels", "label", "target")


def guess(columns: Iterable[str], likely: Sequence[str]) -> str | None:
    """The likeliest of the columns that are there.

    Example:
        >>> guess(["id", "answers", "gold"], REFERENCES_COLUMNS)
        'answers'
    """
    columns = list(columns)
    return next((name for name in likely if name in columns), None)
