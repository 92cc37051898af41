"""Submissions side by side as a table: text for a terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from anls_metric.report.terminal import printable

Table = list[list[str]]
"""The head and the rows."""


OWN = 5
"""How many columns of the table of submissions are about each alone; how they compare follows."""


class Block(NamedTuple):
    """A table with what it shows."""

    title: str
    table: Table


def blocks(document: Mapping[str, Any]) -> list[Block]:
    """The tables of a document: its submissions, then those of variants and groups where these were asked for.

    Args:
        document: as `document.document` makes it.
    """
    submissions = document["submissions"]
    names = [one["name"] for one in submissions]
    found = [Block("", side_by_side(document))]
    variants = [
        [name, *(f"{one['variants'][name]:.4f}" for one in submissions)] for name in _keys(document, "variants")
    ]
    if variants:
        found.append(Block(f"{_label(document)} under each variant", [["variant", *names], *variants]))
    for field in _keys(document, "groups"):
        groups = [one["groups"].get(field, {}) for one in submissions]
        rows = [_group(value, groups) for value in dict.fromkeys(value for one in groups for value in one)]
        if rows:
            found.append(Block(f"{_label(document)} by {field}", [[field, *names, "questions"], *rows]))
    return found


def _label(document: Mapping[str, Any]) -> str:
    """What the number is called."""
    return str(document.get("label", "ANLS"))


def _keys(document: Mapping[str, Any], key: str) -> list[str]:
    return list(dict.fromkeys(name for one in document["submissions"] for name in one.get(key, ())))


def _group(value: str, groups: Sequence[Mapping[str, Any]]) -> list[str]:
    found = [one.get(value) for one in groups]
    count = max(one["questions"] for one in found if one)
    return [value, *(f"{one['anls']:.4f}" if one else "-" for one in found), f"{count:,}"]


def side_by_side(document: Mapping[str, Any]) -> Table:
    """The table of the submissions of a document: numbers, intervals, and how each compares with the baseline.

    Args:
        document: as `document.document` makes it.
    """
    comparisons, baseline = _comparisons(document)
    head = ["", _label(document), "95 %", "exact", "contains"]
    rows = []
    for one in document["submissions"]:
        row = [one["name"], f"{one['anls']:.4f}", _interval(one["interval"], ".3f")]
        rows.append([*row, f"{one['exact_match']:.3f}", f"{one['contains']:.3f}"])
        if comparisons:
            rows[-1] += _against(comparisons.get(one["name"]))
    if comparisons:
        head += [f"against {baseline}", "95 %", "p", "questions"]
    return [head, *rows]


def _comparisons(document: Mapping[str, Any]) -> tuple[dict[str, Mapping[str, Any]], str]:
    """How each submission compares, by its name, and the name of the baseline."""
    comparisons = {one["second"]: one for one in document["comparisons"]}
    return comparisons, document["comparisons"][0]["first"] if comparisons else ""


def _against(comparison: Mapping[str, Any] | None) -> list[str]:
    if comparison is None:
        return ["the baseline", "", "", ""]
    told = f"{comparison['better']:,} better, {comparison['worse']:,} worse: {comparison['verdict']}"
    p_value = f"{comparison['p_value_adjusted']:.2g}"
    return [f"{comparison['difference']:+.4f}", _interval(comparison["interval"], "+.3f"), p_value, told]


def _interval(interval: Sequence[float] | None, form: str) -> str:
    return f"{interval[0]:{form}} to {interval[1]:{form}}" if interval else "-"


def footnote(document: Mapping[str, Any]) -> list[str]:
    """What the numbers of a document are of: sentences on questions, clusters, adjustment; and the signature."""
    count, least = len(document["comparisons"]), document.get("least_difference")
    of = questions(document)
    adjusted = f"; p adjusted for {count} comparisons" if count > 1 else ""
    sentences = [f"{of}{adjusted}."]
    if least:
        sentences.append(f"Differences under {least:#.2g} cannot be told with these questions.")
    return [*sentences, document["signature"]]


def questions(document: Mapping[str, Any]) -> str:
    """How many questions there are, of how many clusters."""
    clusters = document["clusters"]
    of = f" of {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
    return f"{document['questions']:,} questions{of}"


def figures(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The numbers of each submission, all of them and in full, under one name each: what a spreadsheet wants."""
    comparisons, baseline = _comparisons(document)
    rows = []
    for one in document["submissions"]:
        row = {key: one[key] for key in ("name", "layout", "questions", "anls")}
        row |= zip(("low", "high"), one["interval"] or (None, None))
        row |= {key: one[key] for key in ("exact_match", "contains")}
        if comparisons:
            row |= _figures(comparisons.get(one["name"]), baseline)
        row |= {f"outcome {name}": count for name, count in one["outcomes"].items()}
        row |= {f"anls {name}": value for name, value in one.get("variants", {}).items()}
        for field, groups in one["groups"].items():
            row |= {f"anls {field}={value}": group["anls"] for value, group in groups.items()}
        rows.append(row | {"signature": document["signature"]})
    return rows


_COMPARED = ("difference", "p_value", "p_value_adjusted", "better", "worse", "equal", "verdict")


def _figures(comparison: Mapping[str, Any] | None, baseline: str) -> dict[str, Any]:
    if comparison is None:
        return dict.fromkeys(("against", *_COMPARED, "difference_low", "difference_high"))
    low, high = comparison["interval"] or (None, None)
    found = {"against": baseline, **{key: comparison[key] for key in _COMPARED}}
    return found | {"difference_low": low, "difference_high": high}


# Characters


def as_text(table: Table) -> str:
    """A table for a terminal."""
    table = [[printable(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def _marked(table: Table, document: Mapping[str, Any], best: str, tie: str) -> Table:
    """The table of the submissions, its cells made ready, with marks at the best number and at those like it."""
    found = document.get("best")
    if not found:
        return table
    form = {found["name"]: best, **dict.fromkeys(found["not_told_apart"], tie)}
    names = ["", *(one["name"] for one in document["submissions"])]
    return [[row[0], form.get(name, "{}").format(row[1]), *row[2:]] for name, row in zip(names, table)]


def as_markdown(document: Mapping[str, Any]) -> str:
    """The tables of a document for Markdown: the best is bold, what cannot be told apart from it is italic."""
    first, *others = blocks(document)
    tables = [_marked(_markdown_cells(first.table), document, "**{}**", "*{}*")]
    tables += [_markdown_cells(block.table) for block in others]
    legend = ["**Best**; *not told apart from it*."] if document.get("best") else []
    *sentences, signature = footnote(document)
    said = [*legend, *map(_markdown_text, sentences), f"`{printable(signature)}`"]
    return "\n\n".join([*map(_markdown_table, tables), " ".join(said)])


def _markdown_table(table: Table) -> str:
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *rows])


def _markdown_cells(table: Table) -> Table:
    return [[_markdown_text(cell).replace("|", "\\|") for cell in row] for row in table]


def _markdown_text(text: str) -> str:
    """A text as Markdown shows it: no HTML, and stars and underscores are themselves."""
    return "".join(f"\\{sign}" if sign in "\\*_`[]<>&" else sign for sign in printable(text))


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


def as_latex(document: Mapping[str, Any]) -> str:
    """The tables of a document as a paper wants them: booktabs, the best in bold, what is like it underlined."""
    first, *others = blocks(document)
    comparisons, baseline = _comparisons(document)
    cells = _latex_cells([row[:8] for row in first.table])  # how many are better and worse is for the text
    if comparisons:
        cells[0][5], cells[0][7] = r"$\Delta$", "$p$"
    caption = [
        f"{latex_text(_label(document))} on {latex_text(questions(document))}, with 95\\,\\% confidence intervals."
    ]
    if comparisons:
        adjusted = f", adjusted for {len(comparisons)} comparisons (Holm)" if len(comparisons) > 1 else ""
        caption.append(f"$\\Delta$: difference from {latex_text(baseline)}; $p$: paired randomization test{adjusted}.")
        caption.append("Bold: the best; underlined: not told apart from the best at 0.05.")
    caption.append(f"\\texttt{{{latex_text(document['signature'])}}}")
    marked = _marked(cells, document, r"\textbf{{{}}}", r"\underline{{{}}}")
    tables = [_latex_table(marked, " ".join(caption), "tab:anls")]
    for number, block in enumerate(others, 1):
        tables.append(_latex_table(_latex_cells(block.table), f"{latex_text(block.title)}.", f"tab:anls-{number}"))
    return "\n\n".join(tables)


def _latex_cells(table: Table) -> Table:
    return [[_latex_cell(cell) for cell in row] for row in table]


_SIGNED = r"(?<![\w.-])[+-]\d[\d.]*"
_RANGE = r"^(\d[\d.]*) to (\d[\d.]*)$"


def _latex_cell(cell: str) -> str:
    """A cell of numbers or words, with minus signs and ranges as they are set."""
    return re.sub(_SIGNED, r"$\g<0>$", re.sub(_RANGE, r"\1--\2", latex_text(cell)))


def _latex_table(cells: Table, caption: str, label: str) -> str:
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
    """The tables of a document for a notebook: the best is bold, what cannot be told apart from it is italic."""
    first, *others = blocks(document)
    cells = _marked(_html_cells(first.table), document, "<b>{}</b>", "<i>{}</i>")
    tables = [_html_table(cells, ""), *(_html_table(_html_cells(one.table), escape(one.title)) for one in others)]
    *sentences, signature = map(escape, footnote(document))
    hints = [f"<br>hint: {escape(hint)}" for hint in document["hints"]]
    return "".join([*tables, "<p>", " ".join(sentences), f" <code>{signature}</code>", *hints, "</p>"])


def _html_cells(table: Table) -> Table:
    return [[escape(printable(cell)) for cell in row] for row in table]


def _html_table(cells: Table, title: str) -> str:
    head, *rows = cells
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    names = "".join(f"<th>{cell}</th>" for cell in head)
    return f"<table><caption>{title}</caption><thead><tr>{names}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def as_csv(document: Mapping[str, Any]) -> str:
    """The figures of a document as CSV: a line for each submission."""
    rows = figures(document)
    stream = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return stream.getvalue().rstrip("\n")


def _cell(value: Any) -> Any:
    return _no_formula(printable(value)) if isinstance(value, str) else value


def as_json(document: Mapping[str, Any]) -> str:
    """The document itself."""
    return json.dumps(document, indent=2)


FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "json": as_json,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}


def _no_formula(text: str) -> str:
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
