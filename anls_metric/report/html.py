"""The HTML report, which is a single file that shows scored submissions, opens offline, and can be sent to a colleague.

The file contains one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no user text becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from string import Template

from anls_metric.core.checks import count_noun
from anls_metric.messages import FrontEnd, make_error
from anls_metric.report.claims import write_claims
from anls_metric.report.columns import COPIED_COLUMNS
from anls_metric.report.details import (
    as_html_tables,
    describe_origin,
    describe_set,
    escape_sentence,
    format_claims,
    format_hints,
    format_meanings,
    format_read,
    format_worst,
    list_asked,
)
from anls_metric.report.first import format_first
from anls_metric.report.headline import describe_headline, percent_numbers
from anls_metric.report.schema import Document, Outcome, Run, ScriptData
from anls_metric.report.scripts import SCRIPT, encode_script_data, join_modules, read_asset
from anls_metric.report.tables import FORMATS, collect_records, describe_ties
from anls_metric.report.texts import escape
from anls_metric.report.wording import word_document
from anls_metric.writing import check_output, write_whole


def as_html(run: Run, front_end: FrontEnd = "python") -> str:
    """Format a report on one or more submissions as an HTML file.

    Args:
        run: a document from `anls_metric.document.build_document` that contains what the report needs.
        front_end: the front end in whose words hints name options.

    Returns:
        The content of the file. Write it as UTF-8 without changing the line endings.
    """
    report, headline, numbers = run["report"], describe_headline(run), percent_numbers(run)
    data, words = report["data"], run["words"]
    document = word_document(report["document"], report["messages"], words, front_end, numbers)
    plain: Document = {**document, "submissions": [{**each, "groups": {}} for each in document["submissions"]]}
    copied = [key for key in COPIED_COLUMNS if any(key in record for record in collect_records(plain))]
    for submission in document["submissions"]:
        submission["variants"] = headline["variants"].get(submission["name"], {})
    groups = zip(document["submissions"], report["grouped"])
    shown = {**document, "submissions": [{**each, "groups": {**each["groups"], **own}} for each, own in groups]}
    claims = write_claims({**document, **headline}, numbers, headline["names"])
    drawn = {
        **headline,
        "about": claims.about,
        "order": report["order"],
        "of_tied": describe_ties(document),
        "asked": list_asked(document, numbers),
        "tables": {name: write(plain, numbers, copied) for name, write in FORMATS.items()},
        "digits": numbers.digits,
        "document": shown,
        **data,
        "notes": _list_notes(run),
    }
    first = format_first(report["cases"], drawn, numbers, *report["looked_at"])
    style, script = read_asset("palette.css") + read_asset("report.css"), join_modules(SCRIPT)
    return Template(read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(headline["heading"]),
        heading=escape_sentence(headline["heading"]),
        summary=_mark(headline["summary"], headline["warnings"]),
        description=escape(count_noun(document["questions"], "question") + f" of {data['source']}"),
        about=describe_set(document, data["source"]),
        details=as_html_tables(document, numbers),
        claims=format_claims(claims),
        first=first,
        worst=format_worst(drawn),
        hints=format_hints(document, run, front_end),
        meanings=format_meanings(_list_outcomes(data)),
        read=format_read(document),
        origin=describe_origin(run, front_end),
        data=encode_script_data(drawn),
        style=style,
        script=script,
    )


def _list_outcomes(data: ScriptData) -> list[Outcome]:
    """List the outcomes that occur among the answers."""
    names = {part["outcome"] for parts in data["contributions"].values() for part in parts}
    return [each for each in data["outcomes"] if each["name"] in names]


def _list_notes(run: Run) -> list[str]:
    """List what the report leaves out."""
    report = run["report"]
    shown, total, images = len(report["data"]["ids"]), report["total"], report["image_note"]
    some = f"This file contains {shown:,} of {total:,} questions, those with differences or zeros "
    notes = [some + "first. The figures above cover all questions."] if shown < total else []
    return [*notes, f"{images}."] if images else notes


def _mark(text: str, parts: Iterable[str]) -> str:
    """Format a string as HTML, with some parts in bold."""
    page = escape_sentence(text)
    for part in map(escape_sentence, parts):
        page = page.replace(part, f"<b>{part}</b>")
    return page


def write_report(path: str, run: Run, inputs: Sequence[str] = (), front_end: FrontEnd = "python") -> None:
    """Write a report.

    Args:
        path: the file to write, such as "report.html".
        run: a document that contains what the report needs.
        inputs: the files that were read.
        front_end: the front end in whose words hints name options.

    Raises:
        InputError: `path` does not end in ".html" or ".htm", or the file is one of the inputs.
        OSError: the file cannot be written.
    """
    check_path(path)
    check_output(path, inputs)
    write_whole(path, as_html(run, front_end))


def check_path(path: str) -> None:
    """Raise InputError if a file name is not suitable for a report."""
    if not path.lower().endswith((".html", ".htm")):
        raise make_error(path, "the file name of a report must end in .html, such as report.html")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
