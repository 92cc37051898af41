"""Submissions side by side as a table: text for a terminal, Markdown, LaTeX, CSV; and every answer of one as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anls_metric.analysis.scored import ScoredSet
from anls_metric.report.document import answer_records
from anls_metric.report.text import printable

Table = list[list[str]]
"""The head and the rows."""


def side_by_side(document: Mapping[str, Any]) -> Table:
    """The table of the submissions of a document: numbers, intervals, and how each compares with the baseline.

    Args:
        document: as `document.document` makes it.
    """
    comparisons = {one["second"]: one for one in document["comparisons"]}
    baseline = document["comparisons"][0]["first"] if comparisons else ""
    head = ["", "ANLS", "95 %", "exact", "contains"]
    rows = []
    for one in document["submissions"]:
        row = [one["name"], f"{one['anls']:.4f}", _interval(one["interval"], ".3f")]
        rows.append([*row, f"{one['exact_match']:.3f}", f"{one['contains']:.3f}"])
        if comparisons:
            rows[-1] += _against(comparisons.get(one["name"]))
    if comparisons:
        head += [f"against {baseline}", "95 %", "p", "questions"]
    return [head, *rows]


def _against(comparison: Mapping[str, Any] | None) -> list[str]:
    if comparison is None:
        return ["the baseline", "", "", ""]
    told = f"{comparison['better']:,} better, {comparison['worse']:,} worse: {comparison['verdict']}"
    p_value = f"{comparison['p_value_adjusted']:.2g}"
    return [f"{comparison['difference']:+.4f}", _interval(comparison["interval"], "+.3f"), p_value, told]


def _interval(interval: Sequence[float] | None, form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}" if interval else "-"


def footnote(document: Mapping[str, Any]) -> str:
    """What the numbers of a document are of: questions, clusters, adjustment, signature."""
    clusters, count = document["clusters"], len(document["comparisons"])
    of = f" of {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
    adjusted = f"; p adjusted for {count} comparisons" if count > 1 else ""
    return f"{document['questions']:,} questions{of}{adjusted}. {document['signature']}"


def as_text(table: Table) -> str:
    """A table for a terminal."""
    table = [[printable(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def as_markdown(table: Table) -> str:
    """A table for Markdown."""
    cells = [[printable(cell).replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in table]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]])


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def latex_text(text: str) -> str:
    """A text as LaTeX sets it."""
    return "".join(_LATEX.get(sign, sign) for sign in printable(text))


def as_csv(table: Table) -> str:
    """A table as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(table)
    return stream.getvalue().rstrip("\n")


FORMATS: Mapping[str, Callable[[Table], str]] = {"text": as_text, "markdown": as_markdown, "csv": as_csv}


def to_csv(scored_set: ScoredSet) -> str:
    """Every answer of a set that keeps its rows; what a spreadsheet takes for a formula gets an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream)  # its line ends make it quote a lone carriage return as well
    for number, record in enumerate(answer_records(scored_set)):
        record["references"] = json.dumps(record["references"], ensure_ascii=False)
        record["signature"] = scored_set.signature
        if not number:
            writer.writerow(record)
        writer.writerow([_no_formula(value) if isinstance(value, str) else value for value in record.values()])
    return stream.getvalue().encode("utf-8", "replace").decode("utf-8")


def _no_formula(text: str) -> str:
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
