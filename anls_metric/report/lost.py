"""Formats the account of lost points of a document as a table of text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from anls_metric.messages import shorten
from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Document, LostRow, Submission

MOST_ROWS = 8
"""The most rows to print; one more adds up the others."""


def list_lost(submission: Submission) -> Sequence[LostRow]:
    """List the rows of the account of a submission; none if it was not made."""
    return submission["lost"]["rows"] if "lost" in submission else ()


def count_answers(submission: Submission, cause: str) -> int:
    """Return how many answers have a cause."""
    return sum(row["answers"] for row in list_lost(submission) if row["cause"] == cause)


def round_rows(rows: Sequence[LostRow], start: float, digits: int) -> list[float]:
    """Round the points of rows so that they add up as printed.

    A step is the difference of the rounded scores before and after it, which are printed, too. The other rows are
    rounded one by one, and what then is missing goes to the largest.

    Args:
        rows: the rows of a submission, the steps first.
        start: its score.
        digits: the digits after the point, of a share.

    Example:
        >>> rows = [{"points": 0.33335, "anls": None}, {"points": 0.33335, "anls": None}, {"points": 0.3333, "anls": None}]
        >>> round_rows(rows, 0.0, 4)
        [0.3333, 0.3334, 0.3333]
    """
    scale = 10**digits
    score, points = round(start * scale), []
    for row in rows:
        if row["anls"] is not None:
            points.append(round(row["anls"] * scale) - score)
            score = round(row["anls"] * scale)
        else:
            points.append(round(row["points"] * scale))
    rest = [place for place, row in enumerate(rows) if row["anls"] is None]
    if rest:
        largest = max(rest, key=lambda place: rows[place]["points"])
        points[largest] += scale - score - sum(points[place] for place in rest)
    return [each / scale for each in points]
