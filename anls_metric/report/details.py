"""Formats the parts of the report that need no script, such as the table of submissions and the tables of details."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.core.checks import count_noun
from anls_metric.messages import FrontEnd
from anls_metric.options import OPTIONS
from anls_metric.report.claims import Claims
from anls_metric.report.columns import ASKED_COLUMNS, choose_columns
from anls_metric.report.numbers import NumberFormat
from anls_metric.report.schema import Document, Outcome, Run, Submission
from anls_metric.report.tables import Markup, PrintedTable, build_tables, collect_records, list_notes
from anls_metric.report.terminal import list_details
from anls_metric.report.texts import escape
from anls_metric.report.wording import get_label


def escape_sentence(text: str) -> str:
    """Format a string as HTML, with real minus signs and without line breaks after hyphens.

    Example:
        >>> escape_sentence("-0.5 of Qwen2-VL")
        '−0.5 of Qwen2-&#8288;VL'
    """
    return escape(_use_minus_signs(text), 2000).replace("-", "-&#8288;")


def _use_minus_signs(text: str) -> str:
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


_HTML = Markup(escape_sentence, {"best": "<b>{}</b>"})


def as_html_tables(document: Document, numbers: NumberFormat) -> str:
    """Format the tables of a document and its other information about each submission as HTML."""
    lines = [
        [_HTML.escape(text) for text in (submission["name"], name, text)]
        for submission in document["submissions"]
        for name, text in [*_list_runs(submission, numbers), *list_details(submission, numbers)]
    ]
    tables = [_mark_reversed(document, table) for table in build_tables(document, numbers, (), _HTML)]
    more = [PrintedTable("Further figures", (), [["submission", "figure", "details"], *lines])] if lines else []
    notes = "".join(f"<p>{_HTML.escape(note)}</p>" for note in list_notes(document))
    signature = f"<p>{escape(document['signature'], 2000)}</p>"  # unchanged, so that it can be copied
    return "\n".join([*map(_format_table, [*tables, *more]), notes + signature])


def _list_runs(submission: Submission, numbers: NumberFormat) -> list[tuple[str, str]]:
    """List the scores of all runs in one line, if there are several runs."""
    scores = submission.get("run_scores")
    return [("runs", ", ".join(map(numbers.format, scores)))] if scores else []


def _mark_reversed(document: Document, table: PrintedTable) -> PrintedTable:
    """Mark each variant under which the second submission leads the first, if the table is that of all variants."""
    submissions = document["submissions"]
    if not table.title.endswith("under each variant") or len(submissions) < 2:
        return table
    head, *rows = table.rows
    first, second = (submission["variants"] for submission in submissions[:2])
    leads = f" <b>◂ {_HTML.escape(submissions[1]['name'])} leads</b>"
    return table._replace(rows=[head, *([n + leads * (second[n] > first[n]), *cells] for n, *cells in rows)])


def _format_table(table: PrintedTable, style: str = "numbers") -> str:
    head, *rows = table.rows
    title = _HTML.escape(table.title) or "All figures"
    heads = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    body = "\n".join(f"<tr>{_format_row(row)}</tr>" for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{title}"><table class="{style}">'
        f"<caption>{title}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _format_row(row: Sequence[str]) -> str:
    name, *cells = row
    return f'<th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells)


def list_asked(document: Document, numbers: NumberFormat) -> list[dict[str, Any]]:
    """List the requested columns, each with its heading, its meaning, and a cell for every submission."""
    records = collect_records(document)
    columns = [
        {
            "heading": column.heading,
            "meaning": column.meaning,
            "cells": [_use_minus_signs(numbers.format(record.get(column.key), column.form)) for record in records],
        }
        for column in choose_columns(records, (), ASKED_COLUMNS)[1:]
    ]
    return [*columns, *_list_summaries(document["submissions"], numbers)]


def _list_summaries(submissions: Sequence[Submission], numbers: NumberFormat) -> Iterable[dict[str, Any]]:
    """List the figures of a benchmark's rule as columns."""
    found = [submission["summary"] for submission in submissions if "summary" in submission]
    for name, value in (found[0] if found else {}).items():
        if not isinstance(value, dict):
            cells = [numbers.format(submission.get("summary", {}).get(name)) for submission in submissions]
            yield {"heading": name.replace("_", " "), "meaning": "", "cells": cells}


def describe_set(document: Document, source: str) -> str:
    """Describe what was scored and how, as HTML."""
    _, variant, *parts = document["signature"].split("|")
    settings = [_write_setting(part) for part in parts if not re.match(r"questions|gold|v\d", part)]
    clusters = document["clusters"]
    documents = [count_noun(clusters["count"], "document")] if clusters else []
    texts = [
        [count_noun(document["questions"], "question"), *documents],
        [f"{get_label(document)} {variant}", *settings],
    ]
    spans = "".join(f"<span>{escape(', '.join(words))}</span>" for words in texts)
    return f"<b>{escape(source)}</b>{spans}" if source else spans


def _write_setting(part: str) -> str:
    """Write a setting from a signature, with the threshold as a percentage like all similarities in the report."""
    name, _, value = part.partition(":")
    return f"{name} {100 * float(value):g}%" if name == "threshold" else f"{name} {value}"


# The option that extracts answers, as in a command
_EXTRACT = re.compile(r" --extract[ =](?:'[^']*'|\S+)")


# The folders in an absolute path, which reveal who created the report
_ABSOLUTE = re.compile(r"(?<![^\s'\"=:])(?:[A-Za-z]:)?[/\\](?:[^/\\'\"\s=]+[/\\])+")


def describe_origin(run: Run, front_end: FrontEnd) -> str:
    """Describe as HTML where the report comes from and how to recreate it, with and without the extraction steps that
    hints propose.

    Args:
        run: the run that the report shows.
        front_end: what created the report. The web app has no command, and its options refer to files on the server.
    """
    command = run["command"]
    # Lists become tuples, as the options read them, whether or not the document was saved to a file.
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in run["options"].items()}
    function = "compare" if run["comparisons"] else "score"

    def write(**more: str) -> str:
        """Write the command or the call with the values of some options replaced."""
        if command:
            words = [_EXTRACT.sub("", command) if more else command]
            return " ".join([*words, *(f"--{name} {value}" for name, value in more.items())])
        return f"{function}({', '.join(['...', *(f'{name}={value!r}' for name, value in {**given, **more}.items())])})"

    command = _ABSOLUTE.sub("", command)
    given = {name: _ABSOLUTE.sub("", value) if isinstance(value, str) else value for name, value in given.items()}
    rules = dict.fromkeys(",".join(hint["extract"]) for hint in run["report"]["document"]["hints"] if hint["extract"])
    date, *versions = (value if name == "date" else f"{name} {value}" for name, value in run["made"].items())
    made = f"Made on {date} by {', '.join(versions[:-1])} and {versions[-1]}"
    if front_end == "page":
        return f"<p>{escape(made)}. Signature: <code>{escape(run['signature'], 2000)}</code></p>"
    lines = [
        ("Signature", run["signature"]),
        (made, write()),
        *(("To extract answers as a hint proposes", write(extract=rule)) for rule in rules),
    ]
    return "".join(f"<p>{escape(name)}: <code>{escape(text, 2000)}</code></p>" for name, text in lines)


# Options as they are written in a command and in Python
_OPTIONS = re.compile(r'(--[a-z-]+(?: (?!with|or|and)[\w,:.-]*\w)?|\b[a-z_]+=(?:"[^"]*")?)')


def format_hints(document: Document, run: Run, front_end: FrontEnd) -> str:
    """Format the hints in a worded document as HTML, with buttons that set the options of the hints in the web app.

    If there are several submissions, hints about one of them and hints about differences are folded, because the rows
    of the submissions show what matters.
    """
    several, shown, folded = len(document["submissions"]) > 1, "", ""
    for hint, message in zip(document["hints"], run["report"]["messages"], strict=True):
        parts = [escape(part, 2000) for part in _OPTIONS.split(hint["text"])]
        parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
        action = _format_action(message["options"]) if front_end == "page" else ""
        item = f"<li>{''.join(parts)}{action}</li>"
        if several and (hint["submission"] or message["is_note"]):
            folded += item
        else:
            shown += item
    box = f'<section class="hints" aria-label="Hints"><ul>{shown}</ul></section>' if shown else ""
    more = f"<details><summary>Hints on models and differences</summary><ul>{folded}</ul></details>"
    return box + more if folded else box


def _format_action(options: Mapping[str, str]) -> str:
    """Format the button that sets the options of a hint in the web app, or return "" if the page lacks a control for
    any of the options.
    """
    labels = [OPTIONS[name].label if name in OPTIONS else "" for name in options]
    if not all(labels) or not labels:
        return ""
    text = ", ".join(f"{label}: {value}" for label, value in zip(labels, options.values()))
    return f' <button data-options="{escape(json.dumps(options), 2000)}" hidden>{escape(text)}</button>'


def format_read(document: Document) -> str:
    """Format what was read for each submission as HTML list items."""
    submissions = document["submissions"]
    lines = [(f"{each['name']}: " if len(submissions) > 1 else "") + each["read"] for each in submissions]
    return "".join(f"<li>{escape(line, 2000)}</li>" for line in lines)


def format_meanings(outcomes: Iterable[Outcome]) -> str:
    """Format the names and meanings of outcomes as the items of an HTML description list."""
    return "".join(f"<dt>{escape(each['name'])}</dt><dd>{escape(each['meaning'])}</dd>" for each in outcomes)


def format_claims(claims: Claims) -> str:
    """Format claims as HTML, with buttons that copy a claim and open the details."""
    parts = []
    for claim, label in zip(claims.sentences, ("Copy", "Why", "")):
        button = f'<button class="scripted" hidden>{label}</button>' if label else ""
        quote = f"<q>{escape_sentence(claim.quote)}</q> " if claim.quote else ""
        text = f"<span>{quote}{escape_sentence(claim.text)}</span>"
        parts.append(f'<p class="claim"><b>{claim.title}</b>{button}{text}</p>')
    return "".join(parts)


MOST_WORST = 10
"""The maximum number of questions that a report shows without a script."""


def format_worst(data: Mapping[str, Any]) -> str:
    """Format the lowest-scoring questions in the report data as an HTML table, for browsers without JavaScript."""
    rows = [[own["rows"][number] for own in data["answers"]] for number in range(len(data["ids"]))]
    means = [sum(each["score"] for each in row if each) / max(1, sum(map(bool, row))) for row in rows]
    order = sorted((number for number in range(len(rows)) if means[number] < 1), key=means.__getitem__)[:MOST_WORST]
    names = [data["names"][submission["name"]] for submission in data["document"]["submissions"]]
    table = [["question", "references", *names]]
    for number in order:
        question = data["questions"][number] or data["ids"][number]
        answers = [str((answer or {}).get("prediction") or "no answer") for answer in rows[number]]
        table.append([question, " | ".join(data["references"][number]), *answers])
    cells = [[escape(text) for text in row] for row in table]
    note = "<p class='note'>All questions, and where the points are lost: open this file with JavaScript.</p>"
    return _format_table(PrintedTable("The questions with the lowest scores", (), cells), "worst") + note
