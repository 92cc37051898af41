"""Writes submissions as tables in Markdown, LaTeX and CSV. The module `terminal` writes the same tables as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from string import Template
from typing import Any, NamedTuple

from anls_metric.analysis.part import Column
from anls_metric.analysis.parts import PARTS
from anls_metric.analysis.verdicts import NO_DIFFERENCE, TOO_FEW, OneDocument
from anls_metric.core.checks import count_noun
from anls_metric.core.printing import make_printable
from anls_metric.options import KEYS
from anls_metric.report import schema
from anls_metric.report.columns import (
    COLUMNS,
    COMPARED,
    KEY_COLUMNS,
    LATEX_COLUMNS,
    SHORT_KEY_COLUMNS,
    TERMINAL_COLUMNS,
    USUAL_COLUMNS,
    Names,
    choose_columns,
)
from anls_metric.report.lost import count_answers, list_lost
from anls_metric.report.numbers import PLAIN, NumberFormat, format_p_value
from anls_metric.report.schema import Document
from anls_metric.report.texts import guard_formula
from anls_metric.report.wording import describe_clusters, get_label

FEW_DOCUMENTS = "few documents"
"""The remark beside a verdict that is based on fewer than 30 documents."""

P_VALUES = ("p_value", "p_value_adjusted")
"""The columns with p-values, which can be upper bounds."""

MARK = "*"
"""The mark after a significant difference in a matrix."""


Record = Mapping[str, Any]
"""The values in a table row, keyed as in `COLUMNS`."""


Escape = Callable[[str], str]
"""A function that escapes a string for a format."""


class Markup(NamedTuple):
    """The markup that a format uses in table cells.

    Attributes:
        escape: the function that escapes a title, a cell or a note.
        forms: the formatting of the "best" score and of a "tie", which is not significantly different from the best.
        headings: the headings of columns for which the format has special symbols, by column key.
        usual: the usual columns.
    """

    escape: Escape = str
    forms: Mapping[Any, str] = {}
    headings: Mapping[str, str] = {}
    usual: Sequence[str] = USUAL_COLUMNS


TEXT = Markup(headings={"difference": "difference"}, usual=TERMINAL_COLUMNS)


class PrintedTable(NamedTuple):
    """A table with its title, its columns and its rows, which are records at first and then lists of cells that start
    with the list of headings.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Any]


def build_tables(document: Document, numbers: NumberFormat, names: Names, markup: Markup = TEXT) -> list[PrintedTable]:
    """Build the tables of a document, which are those of submissions, all pairs, variants, groups and confidences.

    Args:
        document: a document from `wording.word`.
        numbers: how scores are printed.
        names: the columns of the first table that the user requests; empty for the usual columns.
        markup: how cells are written.

    Raises:
        ValueError: a column does not exist or is empty.
    """
    records, all_pairs = collect_records(document), document.get("all_pairs")
    shown = [key for key in markup.usual if not (all_pairs and key in COMPARED)]
    tables = [
        PrintedTable("", _choose(document, records, names, shown), records),
        *(_list_matrices(document, numbers) if all_pairs else ()),
        *_list_variants(document),
        *_list_groups(document, markup.usual),
        *_list_confidences(document, numbers),
    ]

    def make_cell(column: Column, record: Record) -> str:
        bound = "<= " * (column.key in P_VALUES and record.get("p_value_is_bound", False))
        cell = markup.escape(bound + numbers.format(record.get(column.key, ""), column.form))
        return markup.forms.get(record.get("mark"), "{}").format(cell) if column.key == "anls" else cell

    def make_rows(table: PrintedTable) -> list[list[str]]:
        headings = [markup.headings.get(column.key) or markup.escape(column.heading) for column in table.columns]
        return [headings, *([make_cell(column, record) for column in table.columns] for record in table.rows)]

    return [table._replace(rows=make_rows(table)) for table in tables]


def _choose(
    document: Document, records: Sequence[Record], names: Names, usual: Sequence[str], is_adjusted: bool = False
) -> list[Column]:
    """Choose the columns of a table, and fill in their placeholders."""
    adjusted = describe_adjustment(document)
    words = {
        "unadjusted": " (unadjusted)" * (bool(adjusted) or is_adjusted),
        "label": get_label(document),
        "baseline": document.get("baseline"),
        "adjusted": adjusted and f", {adjusted}",
    }
    return [
        column._replace(heading=column.heading.format(**words), meaning=column.meaning.format(**words))
        for column in choose_columns(records, names, usual)
    ]


def collect_records(document: Document) -> list[dict[str, Any]]:
    """Collect a record for each submission and its comparison with the baseline, keyed as in `COLUMNS`."""
    records: dict[str, dict[str, Any]] = {}
    for submission in document["submissions"]:
        record: dict[str, Any] = {**submission}
        for part in PARTS:
            record |= part.cells(submission[part.key]) if part.columns and part.key in submission else {}
        records[submission["name"]] = record
    for pair in document["comparisons"]:
        if pair["first"] == document["baseline"]:
            compared: Record = pair
            compared = _describe_verdict(compared)
            keys = [*COMPARED, "p_value_is_bound"]
            records[pair["second"]] |= {key: compared[key.removeprefix("difference_")] for key in keys}
    if "best" in document:
        for name in document["best"]["no_significant_difference"]:
            records[name]["mark"] = "tie"
        records[document["best"]["name"]]["mark"] = "best"
    empty = {each["name"]: count_answers(each, "empty") for each in document["submissions"]}
    if any(empty.values()):
        for name, record in records.items():
            record["empty"] = empty[name]
    for hint in document["hints"]:
        if hint["extract"] and hint["anls"] is not None:
            records[hint["submission"] or document["submissions"][0]["name"]]["anls_extracted"] = hint["anls"]
    return list(records.values())


def _describe_verdict(record: Record) -> Record:
    """Add remarks to a verdict, such as that there are few documents."""
    bound = record.get("seeds_bound") or 0.0
    beside = {
        FEW_DOCUMENTS: record.get("few_documents") and record["verdict"] != TOO_FEW,
        "other seeds could turn it": record.get("verdict") in ("better", "worse") and abs(record["difference"]) < bound,
    }
    words = [text for text, is_said in beside.items() if is_said]
    return {**record, "verdict": ", ".join([record["verdict"], *words])} if words else record


def _list_matrices(document: Document, numbers: NumberFormat) -> list[PrintedTable]:
    """List the matrices for all pairs, which contain the differences (row minus column) and the minimum detectable
    effects.
    """
    pairs, label = document["comparisons"], get_label(document)
    names = list(dict.fromkeys(name for pair in pairs for name in (pair["first"], pair["second"])))  # baseline first
    columns = [COLUMNS["name"], *(Column(number, number) for number in map(str, range(1, len(names))))]
    titles = {
        "difference": f"{label} of the row minus {label} of the column "
        f"({MARK} significant at 0.05, adjusted for all pairs)",
        "mde": "Minimum detectable effect at 80% power",
    }
    tables = []
    for key, title in titles.items():
        rows = {name: {"name": f"{number} {name}"} for number, name in enumerate(names, 1)}
        for pair in pairs:
            is_marked = key == "difference" and pair["verdict"] in ("better", "worse")
            figures: Record = pair
            cell = numbers.format(figures[key], COLUMNS[key].form) + MARK * is_marked
            rows[pair["second"]][str(names.index(pair["first"]) + 1)] = cell
        tables.append(PrintedTable(title, columns, list(rows.values())))
    return tables


def _list_variants(document: Document) -> list[PrintedTable]:
    """List the table of scores under each variant, if the document contains scores under all variants."""
    submissions = document["submissions"]
    if not submissions[0].get("variants"):
        return []
    columns = [Column(str(place), submission["name"]) for place, submission in enumerate(submissions)]
    rows = [
        {"name": variant, **{str(place): each["variants"][variant] for place, each in enumerate(submissions)}}
        for variant in submissions[0]["variants"]
    ]
    return [PrintedTable(f"{get_label(document)} under each variant", [Column("name", "variant"), *columns], rows)]


def _list_groups(document: Document, usual: Sequence[str]) -> list[PrintedTable]:
    """List a table for each field with groups, with a row for each group and submission."""
    submissions, tables = document["submissions"], []
    for field in submissions[0]["groups"]:
        names = dict.fromkeys(name for submission in submissions for name in submission["groups"][field])
        if not names:  # values without keys
            continue
        rows = [
            {"group": name, "name": submission["name"], **_describe_verdict(submission["groups"][field][name])}
            for name in names
            for submission in submissions
            if name in submission["groups"][field]
        ]
        of_keys = SHORT_KEY_COLUMNS if usual is TERMINAL_COLUMNS and len(submissions) > 1 else KEY_COLUMNS
        shown = of_keys if field == KEYS else [*usual, "questions"]
        _, *columns = _choose(document, rows, (), shown, is_adjusted=field == KEYS and len(names) > 1)
        if len(submissions) > 1:
            columns.insert(0, Column("name", "submission"))
        title = f"{get_label(document)} by {field}"
        tables.append(PrintedTable(title, [Column("group", field), *columns], rows))
    return tables


def _list_confidences(document: Document, numbers: NumberFormat) -> list[PrintedTable]:
    """List the two tables on the confidences of leaves by key, which show the measures and the share of right leaves in
    each bin.
    """
    submissions = document["submissions"]
    records = [
        {"group": name, "name": submission["name"], **figures["confidence"]}
        for name in (None, *submissions[0]["groups"].get(KEYS, ()))
        for submission in submissions
        for figures in [submission.get("all_keys", {}) if name is None else submission["groups"][KEYS][name]]
        if "confidence" in figures
    ]
    if not records:
        return []
    first = [Column("group", KEYS), *[Column("name", "submission")] * (len(submissions) > 1)]
    measures = [Column("leaves", "leaves"), Column("auroc", "AUROC"), Column("aurc", "AURC")]
    measures.append(Column("ece", f"ECE (at most {max(record['bins'] for record in records)} bins)"))
    levels = [Column(level, f"coverage at {float(level):.0%}") for level in records[0]["coverage"]]
    bins = sorted({(each["low"], each["high"]) for row in records for each in row["reliability"]})
    borders = [Column(f"from {low}", f"{low:.1f} to {high:.1f}") for low, high in bins]
    rows = [
        {**row, **row["coverage"], "group": "all" if row["group"] is None else row["group"]}
        | {
            f"from {each['low']}": f"{numbers.format(each['accuracy'])} ({each['leaves']})"
            for each in row["reliability"]
        }
        for row in records
    ]
    return [
        PrintedTable("Confidence by key of the value", [*first, *measures, *levels], rows),
        PrintedTable("Share of right leaves, and their number, by confidence", [*first, *borders], rows),
    ]


def list_notes(document: Document) -> list[str]:
    """Write sentences about the questions, clusters and comparisons."""
    comparisons, adjusted = document["comparisons"], describe_adjustment(document)
    adjusted = adjusted and f"; p {adjusted}"
    doubts = []  # without all pairs, they are in the table
    if document.get("all_pairs") and any(each["few_documents"] for each in comparisons):
        has_verdicts = all(each["verdict"] != TOO_FEW for each in comparisons)
        doubts = [f"{FEW_DOCUMENTS.capitalize()}." if has_verdicts else "Too few documents for a verdict."]
    independent = document.get("independent", "")
    doubts += [f"{independent[0].upper()}{independent[1:]}."] if independent else []
    return [f"{_count_questions(document)}{adjusted}.", *doubts, *_list_unanswered(document), *_list_ways(document)]


def _list_unanswered(document: Document) -> list[str]:
    """Write how many questions of each submission have no answer, if there are any."""
    counts = [f"{each['unanswered']:,} of {each['name']}" for each in document["submissions"] if "unanswered" in each]
    return [f"Unanswered questions, which score 0: {', '.join(counts)}."] if counts else []


def _list_ways(document: Document) -> list[str]:
    """Write how the answers of each run were obtained if the signatures of the runs differ."""
    shared = document["signature"].split("|")
    ways = {
        each["name"]: "|".join(part for part in each["signature"].split("|") if part not in shared)
        for each in document["submissions"]
        if "signature" in each
    }
    return [f"In the signature of {name}: {way}." for name, way in ways.items() if way]


def _list_deciding(document: Document) -> list[str]:
    """Write a sentence on each comparison with the baseline for which a single document is decisive."""
    sentences = []
    for pair in document["comparisons"]:
        left: Any = pair["one_document"]
        if left and pair["first"] == document["baseline"]:
            deciding = OneDocument(**left).describe(pair)
            sentences.append(f"{pair['second']} against {pair['first']}: {deciding}.")
    return sentences


def describe_adjustment(document: Document) -> str:
    """Describe what the p-values are adjusted for and how. Returns "" if there is only one comparison."""
    count = len(document["comparisons"])
    if count < 2:
        return ""
    if document["chose_best"]:
        return f"adjusted for choosing {document['baseline']}, the best of {count + 1}"
    others = "" if document["all_pairs"] else f" with {document['baseline']}"
    return f"adjusted for {count} comparisons{others} (Holm)"


def _count_questions(document: Document, of_paper: bool = False) -> str:
    """Write the numbers of questions and clusters. For a paper, leave out the name of the clusters' field."""
    questions, clusters = count_noun(document["questions"], "question"), describe_clusters(document)
    return f"{questions} about {clusters.partition(' (')[0] if of_paper else clusters}" if clusters else questions


def write_sentence(document: Document, numbers: NumberFormat, escape: Escape = str, quote: Escape = str) -> str:
    """Write a sentence for a paper about a score and how it compares with another score.

    With several submissions, the sentence is about the baseline and the best of the others, and begins with the better
    of the two.

    Args:
        document: a document from `document.build_document`.
        numbers: how scores are printed.
        escape: the function that writes the text.
        quote: the function that writes the signature.
    """
    submissions = {each["name"]: each for each in document["submissions"]}
    pairs = [pair for pair in document["comparisons"] if pair["first"] == document["baseline"]]
    pair = max(pairs, key=itemgetter("difference"), default=None)
    if pair is None:
        (name,) = submissions
        compared = ""
    else:
        name, other = pair["second"], pair["first"]
        sign = 1 if pair["difference"] >= 0 else -1
        name, other = (name, other)[::sign]
        unit = " points" * numbers.percent
        difference = numbers.format(sign * pair["difference"])
        is_seen = bool(difference.strip("-0."))
        compared = f", {difference}{unit} higher than {other}" if is_seen else f", level with {other}"
        compared += f" ({'; '.join(_list_evidence(document, pair, sign, numbers))})"
    submission = submissions[name]
    runs = [f"mean of {submission['runs']} runs"] if "runs" in submission else []
    interval = [f"95% CI {numbers.format(submission['interval'])}"] if submission["interval"] else []
    about = "".join(f"{words}; " for words in [", ".join([*runs, *interval])] if words)
    score = f"{name} scores {numbers.format(submission['anls'])} {get_label(document)} ({about}"
    missing = f" ({submission['unanswered']:,} of them unanswered, which score 0)" if "unanswered" in submission else ""
    start = f"On {_count_questions(document, of_paper=True)}{missing}, {score}"
    signature = submission.get("signature", document["signature"])
    return escape(start) + quote(make_printable(signature)) + escape(f"){compared}.")


def _list_evidence(document: Document, pair: schema.Comparison, sign: int, numbers: NumberFormat) -> list[str]:
    """List remarks on how certain a difference is and how this was tested, given the sign of the difference."""
    interval = sorted(sign * end for end in pair["interval"] or ())
    adjusted = describe_adjustment(document)
    test = f"paired randomization test by {'document' if document['clusters'] else 'question'}"
    asked = count_noun(pair["questions"], "question")
    evidence = {
        f"on the {asked} that both have": pair["questions"] != document["questions"],
        f"{'unadjusted ' * bool(adjusted)}95% CI of the difference {numbers.format(interval)}": interval,
        f"{test}, {format_p_value(pair['p_value_adjusted'])}{adjusted and f', {adjusted}'}": True,
        f"minimum detectable effect {numbers.format(pair['mde'])}": pair["mde"] and pair["verdict"] == NO_DIFFERENCE,
        "too few documents for a verdict": pair["verdict"] == TOO_FEW,
        FEW_DOCUMENTS: pair["few_documents"] and pair["verdict"] != TOO_FEW,
        f"other seeds could turn differences up to {numbers.format(pair['seeds_bound'])}": (
            pair["seeds_bound"] and abs(pair["difference"]) < pair["seeds_bound"]
        ),
    }
    return [text for text, is_said in evidence.items() if is_said]


# Formats


def as_markdown(document: Document, numbers: NumberFormat, columns: Names) -> str:
    """Format the tables of a document as Markdown. The best score is bold, and the scores tied with it are italic.

    The last line contains a sentence for a paper.
    """
    markup = Markup(escape_markdown, {"best": "**{}**", "tie": "*{}*"})
    parts, tables = [], build_tables(document, numbers, columns, markup)
    for table in tables:
        parts += [f"{escape_markdown(table.title)}:"] if table.title else []
        head, *rows = (f"| {' | '.join(row)} |" for row in table.rows)
        parts.append("\n".join([head, "|---" * len(table.columns) + "|", *rows]))
    ties = describe_ties(document)
    legend = f"**Best**; *{ties}*." if ties else "**Best**."
    sentences = map(escape_markdown, [*list_notes(document), *_list_deciding(document)])
    notes = [*[legend] * _has_best(document, tables[0]), *sentences]
    signature = f"`{make_printable(document['signature'])}`"
    from anls_metric.report.claims import write_claims

    claims = [f"- {claim.title}: {escape_markdown(str(claim))}" for claim in write_claims(document, numbers).sentences]
    sentence = write_sentence(document, numbers, escape_markdown, "`{}`".format)
    return "\n\n".join([*parts, " ".join([*notes, signature]), "\n".join(claims), f"> {sentence}"])


def _has_best(document: Document, table: PrintedTable) -> bool:
    """Whether a table marks the best score."""
    return "best" in document and any(column.key == "anls" for column in table.columns)


def describe_ties(document: Document) -> str:
    """Describe the submissions that are marked as tied with the best, or return "" if there are none."""
    if not document.get("best", {}).get("no_significant_difference"):
        return ""
    if any(pair["verdict"] == TOO_FEW for pair in document["comparisons"]):
        return "too few documents for a verdict"
    chosen = " (p adjusted because it was chosen as best)" * (len(document["submissions"]) > 2)
    return f"not significantly worse than the best{chosen}"


def escape_markdown(text: str) -> str:
    """Escape HTML and Markdown markup in a string."""
    return re.sub(r"([\\*_`\[\]<>&|])", r"\\\1", make_printable(text))


_LATEX_SIGNS = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)

# A pattern in cells -> how it is written in LaTeX.
_LATEX_FORMS = {
    r"^(\d[\d.]*) to (\d[\d.]*)$": r"\1--\2",
    r"^\\textless\{\}= (\S+)$": r"$\\leq \1$",
    r"^([+-]?\d[\d.]*) to ([+-]?\d[\d.]*)$": r"$[\1,\2]$",
    r"^([+-]\d[\d.]*)$": r"$\1$",
    r"^([+-]\d[\d.]*)\*$": r"$\1^{*}$",
}

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


def _escape_latex(text: str) -> str:
    """Escape special characters for LaTeX, and write minus signs and ranges in LaTeX notation."""
    text = make_printable(text).translate(_LATEX_SIGNS)
    for pattern, form in _LATEX_FORMS.items():
        text = re.sub(pattern, form, text)
    return text


def _quote_latex(signature: str) -> str:
    return rf"\texttt{{{_escape_latex(signature)}}}"


_LATEX = Markup(
    _escape_latex,
    {"best": r"\textbf{{{}}}", "tie": r"\underline{{{}}}"},
    {"difference": r"$\Delta$", "p_value": "raw $p$", "p_value_adjusted": "$p$"},
    LATEX_COLUMNS,
)


def as_latex(document: Document, numbers: NumberFormat, columns: Names) -> str:
    """Format the tables of a document as LaTeX with booktabs. The best score is bold, and the scores tied with it are
    underlined.

    Above the tables, a comment contains a sentence for the paper.
    """
    tables = build_tables(document, numbers, columns, _LATEX)
    unit = " in percent" * numbers.percent
    title = f"{get_label(document)}{unit} on {_count_questions(document)}"
    parts = [r"% \usepackage{booktabs}", f"% {write_sentence(document, numbers, _escape_latex, _quote_latex)}"]
    for number, table in enumerate(tables):
        meanings = [
            f"{heading}: {_escape_latex(column.meaning)}"
            for heading, column in zip(table.rows[0], table.columns)
            if column.meaning
        ]
        of_scores = unit * table.title.startswith(get_label(document))
        caption = [_escape_latex(f"{table.title}{of_scores}" if table.title else title), *dict.fromkeys(meanings)]
        notes = [] if number else _list_latex_notes(document, table)
        head, *rows = (" & ".join(row) + r" \\" for row in table.rows)
        parts.append(
            _LATEX_TABLE.substitute(
                columns="c" * (len(table.columns) - 1),
                head=head.lstrip(),
                rows="\n    ".join(rows),
                caption="\n    ".join([*(f"{sentence}." for sentence in caption), *notes]),
                number=f"-{number}" if number else "",
            )
        )
    return "\n".join(parts)


def _list_latex_notes(document: Document, table: PrintedTable) -> list[str]:
    """List the end of the first table's caption: a legend, notes, and the signature on two lines of the source."""
    described = describe_ties(document)
    ties = f"; underlined: {described}" if described else ""
    signature = _escape_latex(document["signature"]).replace(r"\textbar{}", r"\textbar\allowbreak{}")
    signature = signature.replace("questions:", "%\n    questions:")
    legend = [f"Bold: the best{ties}."] * _has_best(document, table)
    written = [*_list_unanswered(document), *_list_deciding(document), *_list_ways(document)]
    sentences = map(_escape_latex, written)
    return [*legend, *sentences, rf"\texttt{{{signature}}}"]


# Figures


def collect_figures(document: Document, names: Names = ()) -> list[dict[str, Any]]:
    """Collect the figures of each submission as a dict, for a row in a spreadsheet. An interval becomes two figures.

    If the leaves of nested values are counted by key, a row for each key follows, with the name of the key.

    Args:
        document: a document from `wording.word`.
        names: the columns that the user requests; empty for all.

    Raises:
        ValueError: a column does not exist or is empty.
    """
    records, rows = collect_records(document), []
    of_keys = [group for each in document["submissions"] for group in each["groups"].get(KEYS, {}).values()]
    keys = [column.key for column in choose_columns([*records, *of_keys], names, COLUMNS)]
    for submission, record in zip(document["submissions"], records):
        by_key = submission["groups"].get(KEYS, {})
        row = {"name": submission["name"], **({"key": ""} if by_key else {})} | {key: record.get(key) for key in keys}
        row |= {"signature": submission["signature"]} if "signature" in submission else {}
        if not names:
            row |= {f"lost {each['cause']}": each["points"] for each in list_lost(submission)}
        row |= {f"anls {variant}": mean for variant, mean in submission.get("variants", {}).items()}
        for pair in document["comparisons"]:
            if pair["second"] == submission["name"] and document["all_pairs"]:
                row |= {f"{key} {pair['first']}": pair[key] for key in ("difference", "p_value_adjusted")}
        for field, groups in submission["groups"].items():
            for value, group in groups.items() if field != KEYS else ():
                row |= {f"{key} {field}={value}": figure for key, figure in group.items() if key in keys}
        rows.append(row)
        for name, group in by_key.items():
            figures = {key: figure for key, figure in group.items() if key in (keys if names else COLUMNS)}
            rows.append({"name": submission["name"], "key": name, **figures})
    heads = dict.fromkeys(head for row in rows for head in row if head != "signature")
    return [
        {name: figure for head in heads for name, figure in _split_interval(head, row.get(head))}
        | {"signature": row.get("signature", document["signature"])}
        for row in rows
    ]


def _split_interval(head: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Split an interval, whose heading begins with a key of `COLUMNS`, into two figures with their own headings. Any
    other value stays unchanged.
    """
    if not head.split(" ")[0].endswith("interval"):
        return [(head, value)]
    return zip((head.replace("interval", end, 1) for end in ("low", "high")), value or (None, None))


def as_csv(document: Document, numbers: NumberFormat, columns: Names) -> str:
    """Format the figures in a document as CSV, with a line for each row from `collect_figures`. `PLAIN` keeps all
    digits.
    """
    stream, figures = io.StringIO(), collect_figures(document, columns)
    writer = csv.writer(stream, lineterminator="\n")
    for row in ({head: head for head in figures[0]}, *figures):
        writer.writerow(_make_csv_cell(head, value, numbers) for head, value in row.items())
    return stream.getvalue().rstrip("\n")


def _make_csv_cell(head: str, value: Any, numbers: NumberFormat) -> Any:
    """Convert a value to a cell, given its heading. Strings are guarded so that spreadsheets do not treat them as
    formulas.
    """
    column = COLUMNS.get(head.split(" ")[0])
    is_score = column is None or not column.form.startswith(".")
    if isinstance(value, float) and numbers != PLAIN and is_score:
        return numbers.format(value)
    if not isinstance(value, str):
        return value
    return guard_formula(make_printable(value))


FORMATS: Mapping[str, Callable[[Document, NumberFormat, Names], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}
