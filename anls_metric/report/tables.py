"""Submissions side by side as tables: text for a terminal, Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from anls_metric.report.terminal import format_interval, make_printable

Table = list[list[str]]
"""The head and the rows: lists of cells, all of the same length."""

OWN = 5
"""The first columns of the table of submissions are about each submission; the others compare it with the baseline."""


class Block(NamedTuple):
    """A table with its title."""

    title: str
    table: Table


def build_blocks(document: Mapping[str, Any]) -> list[Block]:
    """The tables of a document: of its submissions, then of the variants and groups that it has.

    Args:
        document: as `document.build_document` makes it.
    """
    submissions = document["submissions"]
    names = [submission["name"] for submission in submissions]
    tables = [Block("", build_comparison_table(document))]
    variants = [
        [name, *(f"{submission['variants'][name]:.4f}" for submission in submissions)]
        for name in _collect_keys(document, "variants")
    ]
    if variants:
        tables.append(Block(f"{_get_score_name(document)} under each variant", [["variant", *names], *variants]))
    for field in _collect_keys(document, "groups"):
        groups = [submission["groups"].get(field, {}) for submission in submissions]
        values = dict.fromkeys(value for tallies in groups for value in tallies)
        rows = [_format_group(value, groups) for value in values]
        if rows:
            tables.append(Block(f"{_get_score_name(document)} by {field}", [[field, *names, "questions"], *rows]))
    return tables


def _get_score_name(document: Mapping[str, Any]) -> str:
    """The name of the score."""
    return str(document.get("label", "ANLS"))


def _collect_keys(document: Mapping[str, Any], key: str) -> list[str]:
    return list(dict.fromkeys(name for submission in document["submissions"] for name in submission.get(key, ())))


def _format_group(value: str, groups: Sequence[Mapping[str, Any]]) -> list[str]:
    tallies = [by_value.get(value) for by_value in groups]
    count = max(tally["questions"] for tally in tallies if tally)
    return [value, *(f"{tally['anls']:.4f}" if tally else "-" for tally in tallies), f"{count:,}"]


def build_comparison_table(document: Mapping[str, Any]) -> Table:
    """The table of submissions: scores, intervals, and the comparison of each submission with the baseline.

    Args:
        document: as `document.build_document` makes it.
    """
    comparisons, baseline = _index_comparisons(document)
    head = ["", _get_score_name(document), "95 %", "exact", "contains"]
    rows = []
    for submission in document["submissions"]:
        row = [submission["name"], f"{submission['anls']:.4f}", format_interval(submission["interval"], ".3f")]
        row += [f"{submission['exact_match']:.3f}", f"{submission['contains']:.3f}"]
        if comparisons:
            row += _format_comparison(comparisons.get(submission["name"]))
        rows.append(row)
    if comparisons:
        head += [f"against {baseline}", "95 %", "p", "questions"]
    return [head, *rows]


def _index_comparisons(document: Mapping[str, Any]) -> tuple[dict[str, Mapping[str, Any]], str]:
    """The comparison of each submission by its name, and the name of the baseline."""
    comparisons = {comparison["second"]: comparison for comparison in document["comparisons"]}
    return comparisons, document["comparisons"][0]["first"] if comparisons else ""


def _format_comparison(comparison: Mapping[str, Any] | None) -> list[str]:
    if comparison is None:
        return ["the baseline", "", "", ""]
    counts = f"{comparison['better']:,} better, {comparison['worse']:,} worse: {comparison['verdict']}"
    p_value = f"{comparison['p_value_adjusted']:.2g}"
    return [f"{comparison['difference']:+.4f}", format_interval(comparison["interval"], "+.3f"), p_value, counts]


def format_footnote(document: Mapping[str, Any]) -> list[str]:
    """Sentences below the table, on questions, clusters and adjustment; the last text is the signature."""
    count, least = len(document["comparisons"]), document.get("least_difference")
    of = count_questions(document)
    adjusted = f"; p adjusted for {count} comparisons" if count > 1 else ""
    sentences = [f"{of}{adjusted}."]
    if least:
        sentences.append(f"Differences under {least:#.2g} cannot be told with these questions.")
    return [*sentences, document["signature"]]


def count_questions(document: Mapping[str, Any]) -> str:
    """The number of questions and of clusters, in words."""
    clusters = document["clusters"]
    of = f" of {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
    return f"{document['questions']:,} questions{of}"


def collect_figures(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All numbers of each submission with all digits, a dict for each submission: the rows of a spreadsheet."""
    comparisons, baseline = _index_comparisons(document)
    rows = []
    for submission in document["submissions"]:
        row = {key: submission[key] for key in ("name", "layout", "questions", "anls")}
        row |= zip(("low", "high"), submission["interval"] or (None, None))
        row |= {key: submission[key] for key in ("exact_match", "contains")}
        if comparisons:
            row |= _collect_comparison(comparisons.get(submission["name"]), baseline)
        row |= {f"outcome {name}": count for name, count in submission["outcomes"].items()}
        row |= {f"anls {name}": value for name, value in submission.get("variants", {}).items()}
        for field, groups in submission["groups"].items():
            row |= {f"anls {field}={value}": group["anls"] for value, group in groups.items()}
        rows.append(row | {"signature": document["signature"]})
    return rows


_COMPARED = ("difference", "p_value", "p_value_adjusted", "better", "worse", "equal", "verdict")


def _collect_comparison(comparison: Mapping[str, Any] | None, baseline: str) -> dict[str, Any]:
    if comparison is None:
        return dict.fromkeys(("against", *_COMPARED, "difference_low", "difference_high"))
    low, high = comparison["interval"] or (None, None)
    values = {"against": baseline, **{key: comparison[key] for key in _COMPARED}}
    return values | {"difference_low": low, "difference_high": high}


# Characters


def as_text(table: Table) -> str:
    """A table for a terminal."""
    table = [[make_printable(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def _mark_best(table: Table, document: Mapping[str, Any], best: str, tie: str) -> Table:
    """The table of submissions, of escaped cells, with the best score and its ties in the formats `best` and `tie`."""
    winner = document.get("best")
    if not winner:
        return table
    forms = {winner["name"]: best, **dict.fromkeys(winner["not_told_apart"], tie)}
    names = ["", *(submission["name"] for submission in document["submissions"])]
    return [[row[0], forms.get(name, "{}").format(row[1]), *row[2:]] for name, row in zip(names, table)]


def as_markdown(document: Mapping[str, Any]) -> str:
    """The tables of a document as Markdown. The best score is bold; scores not told apart from it are italic."""
    first, *others = build_blocks(document)
    tables = [_mark_best(_escape_markdown_cells(first.table), document, "**{}**", "*{}*")]
    tables += [_escape_markdown_cells(block.table) for block in others]
    legend = ["**Best**; *not told apart from it*."] if document.get("best") else []
    *sentences, signature = format_footnote(document)
    notes = [*legend, *map(_escape_markdown, sentences), f"`{make_printable(signature)}`"]
    return "\n\n".join([*map(_format_markdown_table, tables), " ".join(notes)])


def _format_markdown_table(table: Table) -> str:
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *rows])


def _escape_markdown_cells(table: Table) -> Table:
    return [[_escape_markdown(cell).replace("|", "\\|") for cell in row] for row in table]


def _escape_markdown(text: str) -> str:
    """A text in which Markdown sees no HTML and no markup."""
    return "".join(f"\\{sign}" if sign in "\\*_`[]<>&" else sign for sign in make_printable(text))


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _escape_latex(text: str) -> str:
    """A text in which LaTeX sees no commands."""
    return "".join(_LATEX.get(sign, sign) for sign in make_printable(text))


def as_latex(document: Mapping[str, Any]) -> str:
    """The tables of a document as LaTeX with booktabs. The best score is bold; scores like it are underlined."""
    first, *others = build_blocks(document)
    comparisons, baseline = _index_comparisons(document)
    # Without the last column: the counts of better and worse questions take too much room.
    cells = _format_latex_cells([row[:8] for row in first.table])
    if comparisons:
        cells[0][5], cells[0][7] = r"$\Delta$", "$p$"
    caption = [
        f"{_escape_latex(_get_score_name(document))} on {_escape_latex(count_questions(document))}, "
        "with 95\\,\\% confidence intervals."
    ]
    if comparisons:
        adjusted = f", adjusted for {len(comparisons)} comparisons (Holm)" if len(comparisons) > 1 else ""
        caption.append(
            f"$\\Delta$: difference from {_escape_latex(baseline)}; $p$: paired randomization test{adjusted}."
        )
        pairs = ", adjusted for all pairs" if len(comparisons) > 1 else ""
        caption.append(f"Bold: the best; underlined: not told apart from the best at 0.05{pairs}.")
    caption.append(f"\\texttt{{{_escape_latex(document['signature'])}}}")
    marked = _mark_best(cells, document, r"\textbf{{{}}}", r"\underline{{{}}}")
    tables = [_format_latex_table(marked, " ".join(caption), "tab:anls")]
    for number, block in enumerate(others, 1):
        title = f"{_escape_latex(block.title)}."
        tables.append(_format_latex_table(_format_latex_cells(block.table), title, f"tab:anls-{number}"))
    return "\n\n".join(tables)


def _format_latex_cells(table: Table) -> Table:
    return [[_format_latex_cell(cell) for cell in row] for row in table]


_SIGNED = r"(?<![\w.-])[+-]\d[\d.]*"
_RANGE = r"^(\d[\d.]*) to (\d[\d.]*)$"


def _format_latex_cell(cell: str) -> str:
    """A cell, with minus signs and ranges as LaTeX sets them."""
    return re.sub(_SIGNED, r"$\g<0>$", re.sub(_RANGE, r"\1--\2", _escape_latex(cell)))


def _format_latex_table(cells: Table, caption: str, label: str) -> str:
    head, *rows = (" & ".join(row) + r" \\" for row in cells)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{l{'c' * (len(cells[0]) - 1)}}}",
        r"    \toprule",
        f"    {head.lstrip()}",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{caption}}}",
        rf"  \label{{{label}}}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def as_html(document: Mapping[str, Any]) -> str:
    """The tables of a document as HTML. The best score is bold; scores not told apart from it are italic."""
    first, *others = build_blocks(document)
    cells = _mark_best(_escape_html_cells(first.table), document, "<b>{}</b>", "<i>{}</i>")
    tables = [
        _format_html_table(cells, ""),
        *(_format_html_table(_escape_html_cells(block.table), escape(block.title)) for block in others),
    ]
    *sentences, signature = map(escape, format_footnote(document))
    hints = [f"<br>hint: {escape(hint)}" for hint in document["hints"]]
    return "".join([*tables, "<p>", " ".join(sentences), f" <code>{signature}</code>", *hints, "</p>"])


def _escape_html_cells(table: Table) -> Table:
    return [[escape(make_printable(cell)) for cell in row] for row in table]


def _format_html_table(cells: Table, title: str) -> str:
    head, *rows = cells
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    names = "".join(f"<th>{cell}</th>" for cell in head)
    return f"<table><caption>{title}</caption><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def as_csv(document: Mapping[str, Any]) -> str:
    """The numbers of a document as CSV: a line for each submission."""
    rows = collect_figures(document)
    stream = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_format_csv_cell, names))
    writer.writerows([_format_csv_cell(row.get(name)) for name in names] for row in rows)
    return stream.getvalue().rstrip("\n")


def _format_csv_cell(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; a number as it is."""
    if not isinstance(value, str):
        return value
    text = make_printable(value)
    return f"'{text}" if value.lstrip(" ").startswith(_FORMULA_SIGNS) else text


_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_json(document: Mapping[str, Any]) -> str:
    """The document as JSON."""
    return json.dumps(document, indent=2)


FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "json": as_json,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
