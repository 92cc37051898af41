"""Formats submissions side by side as tables: text for a terminal, Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from anls_metric.analysis.metrics import METRICS
from anls_metric.report import columns as of
from anls_metric.report.columns import COLUMNS, COMPARED, Column, choose_columns
from anls_metric.report.document import index_comparisons
from anls_metric.report.numbers import PLAIN, Numbers
from anls_metric.report.terminal import make_printable

Table = list[list[str]]
"""The header and the rows: lists of cells of the same length."""

Names = str | Iterable[str]
"""The columns that a user asks for, as `columns.find_columns` takes them; empty for the usual columns."""

MARK = "*"
"""The mark after a significant difference in a matrix."""


class Block(NamedTuple):
    """A table with its title, and with its columns if they are rows of `COLUMNS`."""

    title: str
    table: Table
    columns: Sequence[Column] = ()


def build_blocks(
    document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = (), latex: bool = False
) -> list[Block]:
    """Build the tables of a document: of submissions and of all pairs, then of the variants and groups that it has.

    Args:
        document: as `document.build_document` makes it.
        numbers: how scores are printed.
        columns: the columns that the user asks for; empty for the usual columns.
        latex: whether to take the usual columns for LaTeX.

    Raises:
        ValueError: there is no such column, or it is empty.
    """
    blocks = [_build_submissions(document, numbers, columns, latex)]
    if document.get("all_pairs"):
        blocks += _build_matrices(document, numbers)
    names = [submission["name"] for submission in document["submissions"]]
    variants = [
        [name, *(numbers.format(submission["variants"][name]) for submission in document["submissions"])]
        for name in _collect_keys(document, "variants")
    ]
    if variants:
        blocks.append(Block(f"{_get_label(document)} under each variant", [["variant", *names], *variants]))
    fields = _collect_keys(document, "groups")
    groups = [_build_groups(document, field, numbers, columns, latex) for field in fields]
    return blocks + [block for block in groups if block.table[1:]]


def _get_label(document: Mapping[str, Any]) -> str:
    """Return the name of the score."""
    return str(document.get("label", "ANLS"))


def _collect_keys(document: Mapping[str, Any], key: str) -> list[str]:
    return list(dict.fromkeys(name for submission in document["submissions"] for name in submission.get(key, ())))


def _build_submissions(document: Mapping[str, Any], numbers: Numbers, names: Names, latex: bool) -> Block:
    """Build the table of submissions: scores, intervals, and the comparison of each submission with the baseline."""
    usual: Sequence[str] = of.OF_SUBMISSIONS_IN_LATEX if latex else of.OF_SUBMISSIONS
    if document.get("all_pairs"):
        usual = [key for key in usual if key not in COMPARED]
    records = collect_records(document)
    return _build_block("", document, choose_columns(records, names, usual), records, numbers)


def _build_groups(document: Mapping[str, Any], field: str, numbers: Numbers, names: Names, latex: bool) -> Block:
    """Build the table of the groups of a field: a row for each group and submission."""
    submissions = document["submissions"]
    several = len(submissions) > 1
    values = _collect_keys({"submissions": [each["groups"] for each in submissions]}, field)
    records = [
        {"group": value, "name": submission["name"], **submission["groups"][field][value]}
        for value in values
        for submission in submissions
        if value in submission["groups"].get(field, {})
    ]
    usual = (of.OF_GROUPS_IN_LATEX if several else of.OF_GROUPS_ALONE_IN_LATEX) if latex else of.OF_GROUPS
    wanted = [key for key in of.find_columns(names) if key in usual] if names else ()
    name, *chosen = choose_columns(records, wanted, usual)
    first = [Column("group", field.replace("{", "{{").replace("}", "}}"), of.format_text)]
    first += [name._replace(heading="submission")] if several else []
    return _build_block(f"{_get_label(document)} by {field}", document, [*first, *chosen], records, numbers)


def _build_block(
    title: str,
    document: Mapping[str, Any],
    columns: Sequence[Column],
    records: Sequence[Mapping[str, Any]],
    numbers: Numbers,
) -> Block:
    head = [column.heading.format(label=_get_label(document), baseline=_get_baseline(document)) for column in columns]
    return Block(
        title, [head, *([column.make_cell(record, numbers) for column in columns] for record in records)], columns
    )


def _get_baseline(document: Mapping[str, Any]) -> str:
    return str(document.get("baseline", ""))


def _build_matrices(document: Mapping[str, Any], numbers: Numbers) -> list[Block]:
    """Build the matrices of all pairs: the differences, row minus column, and the smallest detectable differences."""
    pairs = {(comparison["first"], comparison["second"]): comparison for comparison in document["comparisons"]}
    names = list(dict.fromkeys(name for pair in pairs for name in pair))

    def build(title: str, make_cell: Callable[[Mapping[str, Any]], str]) -> Block:
        rows = [
            [
                f"{place} {name}",
                *(make_cell(pairs[other, name]) if (other, name) in pairs else "" for other in names[:-1]),
            ]
            for place, name in enumerate(names, 1)
        ]
        return Block(title, [["", *map(str, range(1, len(names)))], *rows])

    def format_difference(comparison: Mapping[str, Any]) -> str:
        return numbers.format(comparison["difference"], "+") + MARK * (comparison["verdict"] in ("better", "worse"))

    label = _get_label(document)
    return [
        build(
            f"{label} of the row minus {label} of the column ({MARK} significant at 0.05, adjusted for all pairs)",
            format_difference,
        ),
        build(
            "Smallest differences that these questions can detect",
            lambda comparison: COLUMNS["least_difference"].make_cell(comparison, numbers),
        ),
    ]


def format_footnote(document: Mapping[str, Any]) -> list[str]:
    """Format the sentences below the table, on questions, clusters and adjustment. The last text is the signature."""
    comparisons = document["comparisons"]
    adjusted = f"; p adjusted for {len(comparisons)} comparisons" if len(comparisons) > 1 else ""
    sentences = [f"{count_questions(document)}{adjusted}."]
    if document.get("all_pairs") and any(each["verdict"] == "too few questions" for each in comparisons):
        sentences.append("Too few questions for a verdict.")
    return [*sentences, document["signature"]]


def count_questions(document: Mapping[str, Any]) -> str:
    """Describe the number of questions and of clusters in words."""
    clusters = document["clusters"]
    of = f" of {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
    return f"{document['questions']:,} question{'s' * (document['questions'] != 1)}{of}"


def collect_records(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Collect a record for each submission and its comparison with the baseline, by the keys of `COLUMNS`."""
    comparisons = index_comparisons(document)
    records = []
    for submission in document["submissions"]:
        record = {key: submission[key] for key in COLUMNS if key in submission}
        record |= submission.get("points", {})
        for name, metric in submission.get("metrics", {}).items():
            record |= {f"metric_{name}": metric["mean"], f"metric_{name}_interval": metric["interval"]}
        comparison = comparisons.get(submission["name"])
        if comparison:
            comparison = {**comparison, "difference_interval": comparison["interval"]}
            record |= {key: comparison[key] for key in COMPARED}
        records.append(record)
    return records


# The key of an interval in the document -> the names of its two ends as figures.
_ENDS = {
    "interval": ("low", "high"),
    "difference_interval": ("difference_low", "difference_high"),
    **{f"metric_{name}_interval": (f"metric_{name}_low", f"metric_{name}_high") for name in METRICS},
}


def collect_figures(document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = ()) -> list[dict[str, Any]]:
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
    groups = [
        group for each in document["submissions"] for field in each["groups"].values() for group in field.values()
    ]
    of_groups = [
        key for key in of.OF_GROUPS if key in keys and key != "questions" and any(key in group for group in groups)
    ]
    rows = []
    for submission, record in zip(document["submissions"], records):
        row = _spread(record, keys, numbers)
        if not columns and document["comparisons"]:
            row["against"] = None if submission["name"] == document["baseline"] else document["baseline"]
        if not columns:
            row |= {f"outcome {name}": count for name, count in submission["outcomes"].items()}
        row |= {f"anls {name}": _convert(value, numbers) for name, value in submission.get("variants", {}).items()}
        row |= _collect_differences(document, submission["name"], numbers)
        for field, by_value in submission["groups"].items():
            for value, group in by_value.items():
                figures = _spread(group, of_groups, numbers)
                row |= {f"{key} {field}={value}": figure for key, figure in figures.items()}
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} | {"signature": document["signature"]} for row in rows]


def _collect_differences(document: Mapping[str, Any], name: str, numbers: Numbers) -> dict[str, Any]:
    """Collect the difference of a submission from each one before it, with its p-value, if all pairs are compared."""
    row: dict[str, Any] = {}
    for comparison in document["comparisons"] if document.get("all_pairs") else ():
        if comparison["second"] == name:
            row[f"difference {comparison['first']}"] = _convert(comparison["difference"], numbers)
            row[f"p_value_adjusted {comparison['first']}"] = comparison["p_value_adjusted"]
    return row


def _spread(record: Mapping[str, Any], keys: Iterable[str], numbers: Numbers) -> dict[str, Any]:
    """Collect the values of keys, None if the record lacks one. An interval becomes two values, its ends."""
    row: dict[str, Any] = {}
    for key in keys:
        value = record.get(key)
        if key in _ENDS:
            row |= zip(_ENDS[key], [_convert(end, numbers) for end in value or (None, None)])
        else:
            row[key] = _convert(value, numbers) if COLUMNS[key].is_score else value
    return row


def _convert(score: float | None, numbers: Numbers) -> float | str | None:
    """Convert a score to its printed form, or keep all digits if the numbers are `PLAIN`."""
    return score if score is None or numbers == PLAIN else numbers.format(score)


# Characters


def as_text(table: Table) -> str:
    """Format a table for a terminal."""
    table = [[make_printable(cell) for cell in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)


def _mark_best(block: Block, cells: Table, document: Mapping[str, Any], best: str, tie: str) -> Table:
    """Apply the formats `best` and `tie` to the best score and its ties among escaped cells."""
    winner = document.get("best")
    places = [place for place, column in enumerate(block.columns) if column.key == "anls"]
    if not winner or not places:
        return cells
    forms = {winner["name"]: best, **dict.fromkeys(winner["not_told_apart"], tie)}
    names = ["", *(submission["name"] for submission in document["submissions"])]
    return [
        [forms.get(name, "{}").format(cell) if place in places else cell for place, cell in enumerate(row)]
        for name, row in zip(names, cells)
    ]


def as_markdown(document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as Markdown. The best score is bold; scores not told apart from it are italic."""
    first, *others = build_blocks(document, numbers, columns)
    plain = _escape_markdown_cells(first.table)
    marked = _mark_best(first, plain, document, "**{}**", "*{}*")
    tables = [_format_markdown_table(marked)]
    for block in others:
        title = f"{_escape_markdown(block.title)}:\n\n" if not block.columns else ""
        tables.append(title + _format_markdown_table(_escape_markdown_cells(block.table)))
    legend = ["**Best**; *not told apart from it*."] if marked != plain else []
    *sentences, signature = format_footnote(document)
    notes = [*legend, *map(_escape_markdown, sentences), f"`{make_printable(signature)}`"]
    return "\n\n".join([*tables, " ".join(notes)])


def _format_markdown_table(table: Table) -> str:
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([head, "|---" * len(table[0]) + "|", *rows])


def _escape_markdown_cells(table: Table) -> Table:
    return [[_escape_markdown(cell).replace("|", "\\|") for cell in row] for row in table]


def _escape_markdown(text: str) -> str:
    """Escape HTML and the markup of Markdown in a text."""
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
    """Escape the commands of LaTeX in a text."""
    return "".join(_LATEX.get(sign, sign) for sign in make_printable(text))


def as_latex(document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as LaTeX with booktabs. The best score is bold, and its ties are underlined."""
    first, *others = build_blocks(document, numbers, columns, latex=True)
    plain = _format_latex_block(first)
    marked = _mark_best(first, plain, document, r"\textbf{{{}}}", r"\underline{{{}}}")
    tables = [_format_latex_table(marked, _write_caption(document, first, numbers, marked != plain), "tab:anls")]
    for number, block in enumerate(others, 1):
        caption = [f"{sentence}." for sentence in (_escape_latex(block.title), *_explain_columns(document, block))]
        tables.append(_format_latex_table(_format_latex_block(block), caption, f"tab:anls-{number}"))
    return "\n\n".join([r"% \usepackage{booktabs}", *tables])


def _write_caption(document: Mapping[str, Any], block: Block, numbers: Numbers, is_marked: bool) -> list[str]:
    """Write the caption of the table of submissions, which explains the table in sentences."""
    percent = " in percent" if numbers.percent else ""
    sentences = [f"{_escape_latex(_get_label(document))}{percent} on {_escape_latex(count_questions(document))}"]
    sentences += _explain_columns(document, block)
    if is_marked:
        pairs = ", adjusted for all pairs" if len(document["submissions"]) > 2 else ""
        ties = f"; underlined: not told apart from the best at 0.05{pairs}"
        sentences.append("Bold: the best" + ties * bool(document["best"]["not_told_apart"]))
    signature = _escape_latex(document["signature"]).replace(r"\textbar{}", r"\textbar\allowbreak{}")
    signature = signature.replace("questions:", "%\n    questions:")  # splits it over two lines of the source
    return [*(f"{sentence}." for sentence in sentences), rf"\texttt{{{signature}}}"]


def _explain_columns(document: Mapping[str, Any], block: Block) -> list[str]:
    """Explain the headings of a table, each once."""
    count = len(document["comparisons"])
    adjusted = f", adjusted for {count} comparisons (Holm)" if count > 1 else ""
    texts = {column.caption: None for column in block.columns if column.caption}
    words = {"{baseline}": _escape_latex(_get_baseline(document)), "{adjusted}": adjusted}
    for name, word in words.items():
        texts = {text.replace(name, word): None for text in texts}
    return list(texts)


def _format_latex_block(block: Block) -> Table:
    """Format the cells of a table, with the headings for LaTeX."""
    head, *rows = _format_latex_cells(block.table)
    for place, column in enumerate(block.columns):
        head[place] = column.latex or head[place]
    return [head, *rows]


def _format_latex_cells(table: Table) -> Table:
    return [[_format_latex_cell(cell) for cell in row] for row in table]


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


def _format_latex_table(cells: Table, caption: Sequence[str], label: str) -> str:
    head, *rows = (" & ".join(row) + r" \\" for row in cells)
    lines = [
        r"\begin{table}",
        r"  \centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"  \begin{{tabular}}{{@{{}}l{'c' * (len(cells[0]) - 1)}@{{}}}}",
        r"    \toprule",
        f"    {head.lstrip()}",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"  \caption{%",
        *(f"    {sentence}" for sentence in caption),
        r"  }",
        rf"  \label{{{label}}}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def as_html(document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as HTML. The best score is bold; scores not told apart from it are italic."""
    first, *others = build_blocks(document, numbers, columns)
    cells = _mark_best(first, _escape_html_cells(first.table), document, "<b>{}</b>", "<i>{}</i>")
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


def as_csv(document: Mapping[str, Any], numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the figures of a document as CSV: a line for each submission. `PLAIN` numbers keep all digits."""
    rows = collect_figures(document, numbers, columns)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_format_csv_cell, rows[0]))
    writer.writerows(map(_format_csv_cell, row.values()) for row in rows)
    return stream.getvalue().rstrip("\n")


def _format_csv_cell(value: Any) -> Any:
    """Make a text safe, so that no spreadsheet takes it for a formula. Numbers stay unchanged."""
    if not isinstance(value, str) or re.fullmatch(r"-?\d+(\.\d+)?", value):
        return value
    text = make_printable(value)
    return f"'{text}" if value.lstrip(" ").startswith(_FORMULA_SIGNS) else text


_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_json(document: Mapping[str, Any]) -> str:
    """Format the document as JSON."""
    return json.dumps(document, indent=2)


FORMATS: Mapping[str, Callable[[Mapping[str, Any], Numbers, Names], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
