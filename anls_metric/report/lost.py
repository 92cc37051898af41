"""Formats the account of lost points in a document as a text table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Document, Submission
from anls_metric.report.texts import align_rows

MOST_ROWS = 8
"""The maximum number of causes to print in rows of their own. One more row adds up the other causes."""

MAX_WIDTH, LARGEST = 110, 3
"""The maximum width of a table of causes, and the number of largest causes to list for each submission instead of a
wider table.
"""

Groups = Mapping[str, Sequence[str]]
AddUp = Callable[[Mapping[str, float], Sequence[str]], float]


def list_lost(submission: Submission) -> Sequence[Any]:
    """List the rows in a submission's account of lost points, or none if the account was not computed."""
    lost: Any = submission.get("lost", {})
    rows: Sequence[Any] = lost.get("rows", ())
    return rows


def count_answers(submission: Submission, cause: str) -> int:
    """Return the number of answers with a cause."""
    return sum(row["answers"] for row in list_lost(submission) if row["cause"] == cause)


def round_rows(rows: Sequence[Any], start: float, digits: int) -> list[float]:
    """Round the points of rows so that the printed points add up.

    For a step, the rounded points are the difference between the rounded scores before and after the step, which are
    also printed. The other rows are rounded down, except for as many as the sum needs, which are those that rounding
    down would change most.

    Args:
        rows: the rows of a submission, with the steps first.
        start: the score of the submission.
        digits: the number of digits after the decimal point, for scores as fractions.

    Example:
        >>> rows = [{"points": points, "anls": None} for points in (0.33335, 0.33335, 0.3333)]
        >>> round_rows(rows, 0.0, 4)
        [0.3334, 0.3333, 0.3333]
    """
    scale = 10**digits
    score, points = round(start * scale), []
    for row in rows:
        if row["anls"] is not None:
            points.append(round(row["anls"] * scale) - score)
            score = round(row["anls"] * scale)
        else:
            points.append(math.floor(row["points"] * scale))
    rest = [place for place, row in enumerate(rows) if row["anls"] is None]
    missing = scale - score - sum(points[place] for place in rest)
    for place in sorted(rest, key=lambda place: points[place] - rows[place]["points"] * scale)[:missing]:
        points[place] += 1
    return [each / scale for each in points]


def format_lost(document: Document, numbers: NumberFormat) -> str:
    """Format the account of lost points, with a line for each cause, or return "" if nothing is lost or there is no
    account.

    For a single submission, there are columns for the points, for the answers, and for what to do. With several
    submissions, each submission has a column of points. With two submissions, another column contains the differences
    by cause, which add up to the difference between the scores.
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
    """Format a table with the largest causes of each submission."""
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
    """Sort the causes, with the steps first and then the other causes from the most to the least expensive."""
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
    """Write what to do about a cause and, for a step, the resulting score."""
    if row["anls"] is None:
        return str(row["remedy"])
    lowered = numbers.format(row["lowered"])
    loss = f" (other answers lose {lowered})" if lowered.strip("0.") else ""
    return f"{row['remedy']} -> {numbers.format(row['anls'])}{loss}"


def _list_steps(submissions: Sequence[Submission], numbers: NumberFormat) -> list[str]:
    """List the steps of several submissions, each with what to do and the resulting score."""
    steps = [(each["name"], row) for each in submissions for row in list_lost(each) if row["anls"] is not None]
    return [f"{name}: {_advise(row, numbers)}" for name, row in steps]


def _list_credit(submissions: Sequence[Submission], numbers: NumberFormat) -> list[str]:
    """Write how much of each score is credit given to wrong answers."""
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
    """Return the printed difference between two submissions for each cause. If both submissions have all questions, it
    is the difference between their columns.
    """
    [pair] = document["comparisons"]
    own, other = columns[pair["first"]], columns[pair["second"]]
    if all(each["questions"] == pair["questions"] for each in document["submissions"]):
        return {cause: own.get(cause, 0.0) - other.get(cause, 0.0) for cause in order}
    lost: dict[str, float] = pair["lost"]
    points = {cause: round(lost.get(cause, 0.0), digits) for cause in order}
    largest = max(order, key=lambda cause: abs(points[cause]))
    points[largest] += round(pair["difference"], digits) - math.fsum(points.values())
    return points
