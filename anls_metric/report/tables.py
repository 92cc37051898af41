"""Formats submissions side by side as tables: text for a terminal, Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from string import Template
from typing import Any, NamedTuple

from anls_metric.messages import count_noun
from anls_metric.report.columns import (
    COLUMNS,
    COMPARED,
    GROUP_COLUMNS,
    LATEX_COLUMNS,
    LATEX_GROUP_COLUMNS,
    USUAL_COLUMNS,
    Column,
    Names,
    choose_columns,
    find_columns,
)
from anls_metric.report.document import Document, describe_clusters, index_comparisons
from anls_metric.report.numbers import PLAIN, Numbers
from anls_metric.report.texts import make_printable

Table = list[list[str]]
"""The header and the rows: lists of cells of the same length."""

MARK = "*"
"""The mark after a significant difference in a matrix."""


class Block(NamedTuple):
    """A table with its title, and with its columns if they are rows of `COLUMNS`."""

    title: str
    table: Table
    columns: Sequence[Column] = ()


def build_blocks(document: Document, numbers: Numbers = PLAIN, columns: Names = (), latex: bool = False) -> list[Block]:
    """Build the tables of a document: of submissions and of all pairs, then of the variants and groups that it has.

    Args:
        document: as `document.build_document` makes it.
        numbers: how scores are printed.
        columns: the columns that the user asks for; empty for the usual columns.
        latex: whether to take the usual columns for LaTeX.

    Raises:
        ValueError: there is no such column, or it is empty.
    """
    submissions, label = document["submissions"], _get_label(document)
    all_pairs = document.get("all_pairs")
    usual = [key for key in (LATEX_COLUMNS if latex else USUAL_COLUMNS) if not (all_pairs and key in COMPARED)]
    records = collect_records(document)
    blocks = [_build_block("", document, choose_columns(records, columns, usual), records, numbers)]
    if all_pairs:
        blocks += _build_matrices(document, numbers)
    variants = submissions[0].get("variants", {})
    if variants:
        rows = [[name, *(numbers.format(each["variants"][name]) for each in submissions)] for name in variants]
        head = ["variant", *(each["name"] for each in submissions)]
        blocks.append(Block(f"{label} under each variant", [head, *rows]))
    of_groups: Sequence[str] = LATEX_GROUP_COLUMNS if latex and len(submissions) > 1 else GROUP_COLUMNS
    of_groups = [key for key in (find_columns(columns) if columns else ()) if key in of_groups] or of_groups
    fields = [field for field in submissions[0]["groups"] if any(each["groups"][field] for each in submissions)]
    return blocks + [_build_groups(document, field, numbers, of_groups) for field in fields]


def _get_label(document: Document) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def _build_groups(document: Document, field: str, numbers: Numbers, usual: Sequence[str]) -> Block:
    """Build the table of the groups of a field: a row for each group and submission."""
    submissions = document["submissions"]
    records = [
        {"group": value, "name": submission["name"], **submission["groups"][field][value]}
        for value in dict.fromkeys(value for each in submissions for value in each["groups"][field])
        for submission in submissions
        if value in submission["groups"][field]
    ]
    name, *chosen = choose_columns(records, (), usual)
    names = [name._replace(heading="submission")] if len(submissions) > 1 else []
    columns = [Column("group", "text", field), *names, *chosen]
    return _build_block(f"{_get_label(document)} by {field}", document, columns, records, numbers)


def _build_block(
    title: str, document: Document, columns: Sequence[Column], records: Sequence[Document], numbers: Numbers
) -> Block:
    """Build the table of records, with the placeholders of the columns filled."""
    count = len(document["comparisons"])
    values = {
        "{label}": _get_label(document),
        "{adjusted}": f", adjusted for {count} comparisons (Holm)" if count > 1 else "",
        "{baseline}": document.get("baseline", ""),
    }
    for place, value in values.items():
        columns = [
            column._replace(heading=column.heading.replace(place, value), meaning=column.meaning.replace(place, value))
            for column in columns
        ]
    rows = [[column.make_cell(record, numbers) for column in columns] for record in records]
    return Block(title, [[column.heading for column in columns], *rows], columns)


def _build_matrices(document: Document, numbers: Numbers) -> list[Block]:
    """Build the matrices of all pairs: the differences, row minus column, and the minimum detectable effects."""
    names = [submission["name"] for submission in document["submissions"]]

    def build(title: str, make_cell: Callable[[Document], str]) -> Block:
        cells = {(pair["first"], pair["second"]): make_cell(pair) for pair in document["comparisons"]}
        rows = [
            [f"{place} {name}", *(cells.get((other, name), "") for other in names[:-1])]
            for place, name in enumerate(names, 1)
        ]
        return Block(title, [["", *map(str, range(1, len(names)))], *rows])

    def format_difference(pair: Document) -> str:
        return numbers.format(pair["difference"], "+") + MARK * (pair["verdict"] in ("better", "worse"))

    label = _get_label(document)
    title = f"{label} of the row minus {label} of the column ({MARK} significant at 0.05, adjusted for all pairs)"
    return [
        build(title, format_difference),
        build("Minimum detectable effect at 80% power", lambda pair: COLUMNS["mde"].make_cell(pair, numbers)),
    ]


def list_notes(document: Document) -> list[str]:
    """List sentences on the questions, clusters and comparisons."""
    comparisons = document["comparisons"]
    adjusted = f"; p adjusted for {len(comparisons)} comparisons" if len(comparisons) > 1 else ""
    has_too_few = document.get("all_pairs") and any(each["verdict"] == "too few questions" for each in comparisons)
    return [f"{_count_questions(document)}{adjusted}.", *["Too few questions for a verdict."] * bool(has_too_few)]


def _count_questions(document: Document) -> str:
    """Describe the number of questions and of clusters in words."""
    questions, clusters = count_noun(document["questions"], "question"), describe_clusters(document)
    return f"{questions} of {clusters}" if clusters else questions


def collect_records(document: Document) -> list[dict[str, Any]]:
    """Collect a record for each submission and its comparison with the baseline, by the keys of `COLUMNS`."""
    comparisons = index_comparisons(document)
    records = []
    for submission in document["submissions"]:
        record = {key: submission[key] for key in COLUMNS if key in submission} | submission.get("partial_credit", {})
        for name, metric in submission.get("metrics", {}).items():
            record |= {f"metric_{name}": metric["mean"], f"metric_{name}_interval": metric["interval"]}
        comparison = comparisons.get(submission["name"])
        if comparison:
            record |= {key: comparison[key.removeprefix("difference_")] for key in COMPARED}
        records.append(record)
    return records


def collect_figures(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> list[dict[str, Any]]:
    """Collect the figures of each submission as a dict: the rows of a spreadsheet.

    Args:
        document: as `document.build_document` makes it.
        numbers: how scores are printed; `PLAIN` keeps all digits.
        columns: the columns that the user asks for; empty for all.

    Raises:
        ValueError: there is no such column, or it is empty.
    """
    records = collect_records(document)
    keys = [column.key for column in choose_columns(records, columns, COLUMNS)]
    of_groups = [key for key in GROUP_COLUMNS if key in keys and key != "questions"]
    rows = []
    for submission, record in zip(document["submissions"], records):
        name, row = submission["name"], _make_figures(record, keys, numbers)
        if not columns:
            if document["comparisons"]:
                row["against"] = None if name == document["baseline"] else document["baseline"]
            row |= {f"outcome {outcome}": count for outcome, count in submission["outcomes"].items()}
        for variant, mean in submission.get("variants", {}).items():
            row |= _make_figures({"anls": mean}, ["anls"], numbers, f" {variant}")
        for pair in document["comparisons"] if document.get("all_pairs") else ():
            if pair["second"] == name:
                row |= _make_figures(pair, ("difference", "p_value_adjusted"), numbers, f" {pair['first']}")
        for field, groups in submission["groups"].items():
            for value, group in groups.items():
                row |= _make_figures(group, of_groups, numbers, f" {field}={value}")
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} | {"signature": document["signature"]} for row in rows]


def _make_figures(record: Document, keys: Iterable[str], numbers: Numbers, end: str = "") -> dict[str, Any]:
    """Make the figures of a record, None if it lacks a key. An interval becomes two figures. Names end with `end`."""
    figures: dict[str, Any] = {}
    for key in keys:
        start = key.removesuffix("interval")
        if start == key:
            values = {key: record.get(key)}
        else:
            values = dict(zip((f"{start}low", f"{start}high"), record.get(key) or (None, None)))
        is_printed = numbers != PLAIN and (start != key or COLUMNS[key].is_score)
        for name, value in values.items():
            figures[name + end] = numbers.format(value) if is_printed and value is not None else value
    return figures


# Formats


class Markup(NamedTuple):
    """A markup language.

    Attributes:
        escape: formats a title, a cell or a note.
        best: the form of the best score.
        tie: the form of a score without a significant difference from the best.
        legends: the explanations of `best` alone, and of `best` and `tie`.
    """

    escape: Callable[[str], str]
    best: str
    tie: str
    legends: tuple[str, str] = ("", "")


def _mark_up(blocks: Sequence[Block], document: Document, markup: Markup) -> tuple[list[Table], list[str]]:
    """Write tables in a markup language. In the first, the best score and its ties are marked: also return a legend."""
    tables = [[list(map(markup.escape, row)) for row in block.table] for block in blocks]
    keys = [column.key for column in blocks[0].columns]
    if "best" not in document or "anls" not in keys:
        return tables, []
    place, ties = keys.index("anls"), document["best"]["no_significant_difference"]
    forms = {document["best"]["name"]: markup.best, **dict.fromkeys(ties, markup.tie)}
    for submission, row in zip(document["submissions"], tables[0][1:]):
        row[place] = forms.get(submission["name"], "{}").format(row[place])
    return tables, [markup.legends[bool(ties)]]


def as_markdown(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as Markdown. The best score is bold, and its ties are italic."""
    blocks = build_blocks(document, numbers, columns)
    tables, legend = _mark_up(blocks, document, _MARKDOWN)
    parts = []
    for block, table in zip(blocks, tables):
        head, *rows = (f"| {' | '.join(row)} |" for row in table)
        parts += [] if block.columns else [f"{_escape_markdown(block.title)}:"]
        parts.append("\n".join([head, "|---" * len(table[0]) + "|", *rows]))
    notes = [*legend, *map(_escape_markdown, list_notes(document)), f"`{make_printable(document['signature'])}`"]
    return "\n\n".join([*parts, " ".join(notes)])


def _escape_markdown(text: str) -> str:
    """Escape HTML and the markup of Markdown in a text."""
    return "".join(f"\\{sign}" if sign in "\\*_`[]<>&|" else sign for sign in make_printable(text))


_LEGEND = "**Best**; *no significant difference from it*."
_MARKDOWN = Markup(_escape_markdown, "**{}**", "*{}*", (_LEGEND, _LEGEND))

_LATEX_SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _escape_latex(text: str) -> str:
    """Escape the commands of LaTeX in a text."""
    return "".join(_LATEX_SIGNS.get(sign, sign) for sign in make_printable(text))


# A pattern in cells -> its form in LaTeX.
_LATEX_FORMS = {
    r"^(\d[\d.]*) to (\d[\d.]*)$": r"\1--\2",
    r"^([+-]\d[\d.]*) to ([+-]\d[\d.]*)$": r"$[\1,\2]$",
    r"^([+-]\d[\d.]*)$": r"$\1$",
    r"^([+-]\d[\d.]*)\*$": r"$\1^{*}$",
}


def _format_latex_cell(cell: str) -> str:
    """Format a cell with the minus signs and ranges of LaTeX."""
    cell = _escape_latex(cell)
    for pattern, form in _LATEX_FORMS.items():
        cell = re.sub(pattern, form, cell)
    return cell


_LATEX = Markup(
    _format_latex_cell,
    r"\textbf{{{}}}",
    r"\underline{{{}}}",
    (
        "Bold: the best.",
        "Bold: the best; underlined: no significant difference from the best at 0.05, adjusted for all pairs.",
    ),
)
_LATEX_TABLE = Template(
    r"""
\begin{table}
  \centering\footnotesize\setlength{\tabcolsep}{3pt}
  \begin{tabular}{@{}l$columns@{}}
    \toprule
    $head
    \midrule
    $rows
    \bottomrule
  \end{tabular}
  \caption{%
    $caption
  }
  \label{tab:anls$number}
\end{table}"""
)


def as_latex(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as LaTeX with booktabs. The best score is bold, and its ties are underlined."""
    blocks = build_blocks(document, numbers, columns, latex=True)
    tables, legend = _mark_up(blocks, document, _LATEX)
    signature = _escape_latex(document["signature"]).replace(r"\textbar{}", r"\textbar\allowbreak{}")
    signature = signature.replace("questions:", "%\n    questions:")  # over two lines of the source
    parts = [r"% \usepackage{booktabs}"]
    percent = " in percent" if numbers.percent else ""
    title = f"{_get_label(document)}{percent} on {_count_questions(document)}"
    notes = [*legend, rf"\texttt{{{signature}}}"]
    for number, (block, table) in enumerate(zip(blocks, tables)):
        names = [column.latex or name for column, name in zip(block.columns, table[0])] or table[0]
        head, *rows = (" & ".join(row) + r" \\" for row in (names, *table[1:]))
        meanings = dict.fromkeys(
            f"{name}: {_escape_latex(column.meaning)}." for name, column in zip(names, block.columns) if column.meaning
        )
        caption = [f"{_escape_latex(block.title or title)}.", *meanings, *([] if number else notes)]
        parts.append(
            _LATEX_TABLE.substitute(
                columns="c" * (len(names) - 1),
                head=head.lstrip(),
                rows="\n    ".join(rows),
                caption="\n    ".join(caption),
                number=f"-{number}" if number else "",
            )
        )
    return "\n".join(parts)


def as_html(document: Document) -> str:
    """Format the tables of a document as HTML. The best score is bold, and its ties are italic."""
    blocks = build_blocks(document)
    parts = []
    for block, table in zip(blocks, _mark_up(blocks, document, _HTML)[0]):
        head, *rows = (f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in table)
        head = f"<caption>{_escape_html(block.title)}</caption><thead>{head.replace('td>', 'th>')}</thead>"
        parts.append(f"<table>{head}<tbody>{''.join(rows)}</tbody></table>")
    notes = " ".join(map(_escape_html, list_notes(document)))
    hints = [f"<br>hint: {_escape_html(hint['text'])}" for hint in document["hints"]]
    return "".join([*parts, "<p>", notes, f" <code>{_escape_html(document['signature'])}</code>", *hints, "</p>"])


def _escape_html(text: str) -> str:
    return escape(make_printable(text))


_HTML = Markup(_escape_html, "<b>{}</b>", "<i>{}</i>")


def as_csv(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the figures of a document as CSV: a line for each submission. `PLAIN` numbers keep all digits."""
    rows = collect_figures(document, numbers, columns)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows(map(_format_csv_cell, row) for row in (rows[0], *(row.values() for row in rows)))
    return stream.getvalue().rstrip("\n")


def _format_csv_cell(value: Any) -> Any:
    """Make a text safe, so that no spreadsheet takes it for a formula. Numbers stay unchanged."""
    if not isinstance(value, str) or re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    text = make_printable(value)
    return f"'{text}" if text.lstrip().startswith(tuple("=+-@＝＋－＠")) else text


def as_json(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the document as JSON, with all digits."""
    return json.dumps(document, indent=2)


FORMATS: Mapping[str, Callable[[Document, Numbers, Names], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
    "json": as_json,
}
