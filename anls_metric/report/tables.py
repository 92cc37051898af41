"""Formats submissions side by side as tables: text for a terminal, Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
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
from anls_metric.report.document import Document, index_comparisons
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
    usual: Sequence[str] = LATEX_COLUMNS if latex else USUAL_COLUMNS
    if document.get("all_pairs"):
        usual = [key for key in usual if key not in COMPARED]
    records = collect_records(document)
    blocks = [_build_block("", document, choose_columns(records, columns, usual), records, numbers)]
    if document.get("all_pairs"):
        blocks += _build_matrices(document, numbers)
    variants = submissions[0].get("variants", {})
    if variants:
        rows = [[name, *(numbers.format(each["variants"][name]) for each in submissions)] for name in variants]
        head = ["variant", *(each["name"] for each in submissions)]
        blocks.append(Block(f"{label} under each variant", [head, *rows]))
    usual = LATEX_GROUP_COLUMNS if latex and len(submissions) > 1 else GROUP_COLUMNS
    usual = [key for key in (find_columns(columns) if columns else ()) if key in usual] or usual
    fields = [field for field in submissions[0]["groups"] if any(each["groups"][field] for each in submissions)]
    return blocks + [_build_groups(document, field, numbers, usual) for field in fields]


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
    label, baseline = _get_label(document), document.get("baseline", "")
    head = [column.heading.replace("{label}", label).replace("{baseline}", baseline) for column in columns]
    rows = [[column.make_cell(record, numbers) for column in columns] for record in records]
    return Block(title, [head, *rows], columns)


def _build_matrices(document: Document, numbers: Numbers) -> list[Block]:
    """Build the matrices of all pairs: the differences, row minus column, and the minimum detectable effects."""
    pairs = {(comparison["first"], comparison["second"]): comparison for comparison in document["comparisons"]}
    names = [submission["name"] for submission in document["submissions"]]

    def build(title: str, make_cell: Callable[[Document], str]) -> Block:
        head = ["", *map(str, range(1, len(names)))]
        rows = [
            [
                f"{place} {name}",
                *(make_cell(pairs[other, name]) if (other, name) in pairs else "" for other in names[:-1]),
            ]
            for place, name in enumerate(names, 1)
        ]
        return Block(title, [head, *rows])

    def format_difference(pair: Document) -> str:
        return numbers.format(pair["difference"], "+") + MARK * (pair["verdict"] in ("better", "worse"))

    label = _get_label(document)
    title = f"{label} of the row minus {label} of the column ({MARK} significant at 0.05, adjusted for all pairs)"
    return [
        build(title, format_difference),
        build("Minimum detectable effect at 80% power", lambda pair: COLUMNS["mde"].make_cell(pair, numbers)),
    ]


def format_footnote(document: Document) -> list[str]:
    """Format the sentences below the table, on questions, clusters and adjustment. The last text is the signature."""
    comparisons = document["comparisons"]
    adjusted = f"; p adjusted for {len(comparisons)} comparisons" if len(comparisons) > 1 else ""
    sentences = [f"{count_questions(document)}{adjusted}."]
    if document.get("all_pairs") and any(each["verdict"] == "too few questions" for each in comparisons):
        sentences.append("Too few questions for a verdict.")
    return [*sentences, document["signature"]]


def count_questions(document: Document) -> str:
    """Describe the number of questions and of clusters in words."""
    clusters = document["clusters"]
    of_clusters = f" of {clusters['count']:,} clusters by {clusters['field']}" if clusters else ""
    return f"{count_noun(document['questions'], 'question')}{of_clusters}"


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
        name, row = submission["name"], dict(_list_figures(record, keys, numbers))
        if not columns:
            if document["comparisons"]:
                row["against"] = None if name == document["baseline"] else document["baseline"]
            row |= {f"outcome {outcome}": count for outcome, count in submission["outcomes"].items()}
        row |= {f"anls {each}": _convert(value, numbers) for each, value in submission.get("variants", {}).items()}
        for pair in document["comparisons"] if document.get("all_pairs") else ():
            if pair["second"] == name:
                row[f"difference {pair['first']}"] = _convert(pair["difference"], numbers)
                row[f"p_value_adjusted {pair['first']}"] = pair["p_value_adjusted"]
        for field, groups in submission["groups"].items():
            for value, group in groups.items():
                figures = _list_figures(group, of_groups, numbers)
                row |= {f"{key} {field}={value}": figure for key, figure in figures}
        rows.append(row)
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} | {"signature": document["signature"]} for row in rows]


def _list_figures(record: Document, keys: Iterable[str], numbers: Numbers) -> Iterator[tuple[str, Any]]:
    """List the values of keys, None if the record lacks one. An interval becomes two values, its ends."""
    for key in keys:
        value, start = record.get(key), key.removesuffix("interval")
        if start != key:
            low, high = value or (None, None)
            yield f"{start}low", _convert(low, numbers)
            yield f"{start}high", _convert(high, numbers)
        else:
            yield key, _convert(value, numbers) if COLUMNS[key].is_score else value


def _convert(score: float | None, numbers: Numbers) -> float | str | None:
    """Convert a score to its printed form, or keep all digits if the numbers are `PLAIN`."""
    return score if score is None or numbers == PLAIN else numbers.format(score)


# Formats


def _escape_blocks(
    blocks: Sequence[Block], document: Document, escape_cell: Callable[[str], str], best: str, tie: str
) -> list[Table]:
    """Escape the cells of tables. In the first, the best score and its ties have the formats `best` and `tie`."""
    tables = [[[escape_cell(cell) for cell in row] for row in block.table] for block in blocks]
    if _has_best(blocks[0], document):
        place = [column.key for column in blocks[0].columns].index("anls")
        winner = document["best"]
        forms = {winner["name"]: best, **dict.fromkeys(winner["no_significant_difference"], tie)}
        for submission, row in zip(document["submissions"], tables[0][1:]):
            row[place] = forms.get(submission["name"], "{}").format(row[place])
    return tables


def _has_best(block: Block, document: Document) -> bool:
    """Whether the table of submissions shows which score is the best."""
    return "best" in document and COLUMNS["anls"] in block.columns


def as_markdown(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as Markdown. The best score is bold, and its ties are italic."""
    blocks = build_blocks(document, numbers, columns)
    parts = []
    for block, table in zip(blocks, _escape_blocks(blocks, document, _escape_markdown, "**{}**", "*{}*")):
        head, *rows = (f"| {' | '.join(row)} |" for row in table)
        parts += [f"{_escape_markdown(block.title)}:"] if not block.columns else []
        parts.append("\n".join([head, "|---" * len(table[0]) + "|", *rows]))
    legend = ["**Best**; *no significant difference from it*."] if _has_best(blocks[0], document) else []
    *sentences, signature = format_footnote(document)
    notes = [*legend, *map(_escape_markdown, sentences), f"`{make_printable(signature)}`"]
    return "\n\n".join([*parts, " ".join(notes)])


def _escape_markdown(text: str) -> str:
    """Escape HTML and the markup of Markdown in a text."""
    return "".join(f"\\{sign}" if sign in "\\*_`[]<>&|" else sign for sign in make_printable(text))


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


def as_latex(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as LaTeX with booktabs. The best score is bold, and its ties are underlined."""
    blocks = build_blocks(document, numbers, columns, latex=True)
    tables = _escape_blocks(blocks, document, _format_latex_cell, r"\textbf{{{}}}", r"\underline{{{}}}")
    percent = " in percent" if numbers.percent else ""
    signature = _escape_latex(document["signature"]).replace(r"\textbar{}", r"\textbar\allowbreak{}")
    signature = signature.replace("questions:", "%\n    questions:")  # over two lines of the source
    parts = [r"% \usepackage{booktabs}"]
    for number, (block, table) in enumerate(zip(blocks, tables)):
        title = block.title or f"{_get_label(document)}{percent} on {count_questions(document)}"
        sentences = [_escape_latex(title), *_explain_columns(document, block)]
        sentences += [_explain_marks(document["best"])] if not number and _has_best(block, document) else []
        caption = [*(f"{sentence}." for sentence in sentences), *([] if number else [rf"\texttt{{{signature}}}"])]
        head = [column.latex or name for column, name in zip(block.columns, table[0])] or table[0]
        parts.append(_format_latex_table([head, *table[1:]], caption, f"tab:anls-{number}" if number else "tab:anls"))
    return "\n\n".join(parts)


def _explain_columns(document: Document, block: Block) -> list[str]:
    """Explain the headings of a table in LaTeX, each once."""
    count = len(document["comparisons"])
    adjusted = f", adjusted for {count} comparisons (Holm)" if count > 1 else ""
    names = {"adjusted": adjusted, "baseline": document.get("baseline", "")}
    sentences = (
        f"{column.latex or _escape_latex(column.heading)}: {_escape_latex(column.meaning.format_map(names))}"
        for column in block.columns
        if column.meaning
    )
    return list(dict.fromkeys(sentences))


def _explain_marks(best: Document) -> str:
    """Explain what is bold, and what is underlined."""
    if not best["no_significant_difference"]:
        return "Bold: the best"
    return "Bold: the best; underlined: no significant difference from the best at 0.05, adjusted for all pairs"


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


def as_html(document: Document, numbers: Numbers = PLAIN, columns: Names = ()) -> str:
    """Format the tables of a document as HTML. The best score is bold, and its ties are italic."""
    blocks = build_blocks(document, numbers, columns)
    parts = []
    for block, table in zip(blocks, _escape_blocks(blocks, document, _escape_html, "<b>{}</b>", "<i>{}</i>")):
        head, *rows = ("".join(f"<td>{cell}</td>" for cell in row) for row in table)
        title, names = _escape_html(block.title), head.replace("td>", "th>")
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        parts.append(f"<table><caption>{title}</caption><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>")
    *sentences, signature = map(_escape_html, format_footnote(document))
    hints = [f"<br>hint: {_escape_html(hint['text'])}" for hint in document["hints"]]
    return "".join([*parts, "<p>", " ".join(sentences), f" <code>{signature}</code>", *hints, "</p>"])


def _escape_html(text: str) -> str:
    return escape(make_printable(text))


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
