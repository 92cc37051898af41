"""Formats the account of lost points of a document as a table of text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Document, Submission
from anls_metric.report.texts import align_rows

MOST_ROWS = 8
"""The most rows to print; one more adds up the others."""

MAX_WIDTH, LARGEST = 110, 3
"""A wider table of causes becomes a line for each submission, with its largest causes."""

Groups = Mapping[str, Sequence[str]]
AddUp = Callable[[Mapping[str, float], Sequence[str]], float]


def list_lost(submission: Submission) -> Sequence[Any]:
    """List the rows of the account of a submission; none if it was not made."""
    lost: Any = submission.get("lost", {})
    rows: Sequence[Any] = lost.get("rows", ())
    return rows


def count_answers(submission: Submission, cause: str) -> int:
    """Return how many answers have a cause."""
    return sum(row["answers"] for row in list_lost(submission) if row["cause"] == cause)


def round_rows(rows: Sequence[Any], start: float, digits: int) -> list[float]:
    """Round the points of rows so that they add up as printed.

    A step is the difference of the rounded scores before and after it, which are printed, too. The other rows are
    rounded one by one, and what then is missing goes to the largest.

    Args:
        rows: the rows of a submission, the steps first.
        start: its score.
        digits: the digits after the point, of a share.

    Example:
        >>> rows = [{"points": points, "anls": None} for points in (0.33335, 0.33335, 0.3333)]
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


def format_lost(document: Document, numbers: NumberFormat) -> str:
    """Format the account of lost points, with a line for each cause; "" if nothing is lost or it was not made.

    One submission has a column of points, of answers, and of what to do. Several have a column of points each; of two,
    the differences of the causes add up to the difference of the scores.
    """
    submissions = [each for each in document["submissions"] if list_lost(each)]
    if not submissions:
        return ""
    digits = numbers.places
    columns = {each["name"]: _round_points(each, digits) for each in submissions}
    order = _order_causes(submissions)
    shown, others = (order, []) if len(order) <= MOST_ROWS + 1 else (order[:MOST_ROWS], order[MOST_ROWS:])
    groups = {cause: [cause] for cause in shown} | ({f"{len(others)} more": others} if others else {})

    def add_up(column: Mapping[str, float], causes: Sequence[str]) -> float:
        return round(math.fsum(column.get(cause, 0.0) for cause in causes), digits)

    if len(document["submissions"]) == 1:
        return "\n".join([_format_only(submissions[0], groups, add_up, numbers), *_list_credit(submissions, numbers)])
    rows = [
        [label, *(numbers.format(add_up(column, causes)) for column in columns.values())]
        for label, causes in groups.items()
    ]
    rows.append(["all", *(numbers.format(add_up(column, order)) for column in columns.values())])
    head = ["lost points", *columns]
    if len(columns) == 2 == len(document["submissions"]):
        gaps = _list_differences(document, columns, order, digits)
        for row, causes in zip(rows, [*groups.values(), order]):
            row.append(numbers.format(add_up(gaps, causes), "+"))
        head.append("gain")
    table = align_rows([head, *rows])
    if max(map(len, table.splitlines())) > MAX_WIDTH:
        table = _list_largest(columns, add_up, numbers)
    return "\n".join([table, *_list_steps(submissions, numbers), *_list_credit(submissions, numbers)])


def _list_largest(columns: Mapping[str, Mapping[str, float]], add_up: AddUp, numbers: NumberFormat) -> str:
    """List the largest causes of each submission."""
    rows = [["lost points", "all", "most by"]]
    for name, column in columns.items():
        largest = sorted(column, key=lambda cause: -column[cause])[:LARGEST]
        causes = [f"{cause} {numbers.format(column[cause])}" for cause in largest]
        rows.append([name, numbers.format(add_up(column, [*column])), ", ".join(causes)])
    return align_rows(rows)


def _round_points(submission: Submission, digits: int) -> dict[str, float]:
    rows = list_lost(submission)
    points: dict[str, float] = {}
    for row, value in zip(rows, round_rows(rows, submission["anls"], digits)):
        points[row["cause"]] = points.get(row["cause"], 0.0) + value
    return points


def _order_causes(submissions: Sequence[Submission]) -> list[str]:
    """Order the causes: steps first, then those that cost most."""
    rows = [row for each in submissions for row in list_lost(each)]
    points: dict[str, float] = {}
    for row in rows:
        points[row["cause"]] = points.get(row["cause"], 0.0) + row["points"]
    steps = dict.fromkeys(row["cause"] for row in rows if row["anls"] is not None)
    return [*steps, *sorted(points.keys() - steps.keys(), key=lambda cause: (-points[cause], cause))]


def _format_only(submission: Submission, groups: Groups, add_up: AddUp, numbers: NumberFormat) -> str:
    """Format the account of the only submission."""
    rows = {row["cause"]: row for row in list_lost(submission)}
    points = _round_points(submission, numbers.places)
    lines = [["lost points", numbers.format(add_up(points, [*points])), "answers", "what to do"]]
    for label, causes in groups.items():
        row = rows[causes[0]] if len(causes) == 1 else None
        what = _advise(row, numbers) if row else ""
        count = sum(rows[cause]["answers"] for cause in causes)
        lines.append([label, numbers.format(add_up(points, causes)), f"{count:,}", what])
    return align_rows(lines)


def _advise(row: Any, numbers: NumberFormat) -> str:
    """Say what to do about a cause, and for a step what it gives."""
    if row["anls"] is None:
        return str(row["remedy"])
    lowered = numbers.format(row["lowered"])
    loss = f" (other answers lose {lowered})" if lowered.strip("0.") else ""
    return f"{row['remedy']} -> {numbers.format(row['anls'])}{loss}"


def _list_steps(submissions: Sequence[Submission], numbers: NumberFormat) -> list[str]:
    """List the steps of several submissions."""
    steps = [(each["name"], row) for each in submissions for row in list_lost(each) if row["anls"] is not None]
    return [f"{name}: {_advise(row, numbers)}" for name, row in steps]


def _list_credit(submissions: Sequence[Submission], numbers: NumberFormat) -> list[str]:
    """Say how much of each score is credit for wrong answers."""
    amounts_of: list[tuple[str, Mapping[str, float]]] = [
        (each["name"], each["lost"]["credit_for_wrong"]) for each in submissions
    ]
    shown = [(name, numbers.format(math.fsum(own.values())), own) for name, own in amounts_of]
    shown = [row for row in shown if row[1].strip("0.")]
    if not shown:
        return []
    causes = ", ".join(dict.fromkeys(cause for *_, own in shown for cause in own))
    if len(submissions) == 1:
        return [f"of the score, {shown[0][1]} is credit for wrong answers ({causes})"]
    amounts = ", ".join(f"{name} {total}" for name, total, _ in shown)
    return [f"of the scores, this is credit for wrong answers ({causes}): {amounts}"]


def _list_differences(
    document: Document, columns: Mapping[str, Mapping[str, float]], order: Sequence[str], digits: int
) -> Mapping[str, float]:
    """List the differences of two submissions by cause, as printed: those of the columns if both have all questions."""
    [pair] = document["comparisons"]
    own, other = columns[pair["first"]], columns[pair["second"]]
    if all(each["questions"] == pair["questions"] for each in document["submissions"]):
        return {cause: own.get(cause, 0.0) - other.get(cause, 0.0) for cause in order}
    lost: dict[str, float] = pair["lost"]
    points = {cause: round(lost.get(cause, 0.0), digits) for cause in order}
    largest = max(order, key=lambda cause: abs(points[cause]))
    points[largest] += round(pair["difference"], digits) - math.fsum(points.values())
    return points
