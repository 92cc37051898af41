"""The HTML report: one file that shows scored submissions, opens offline, and can be sent to a colleague.

The file holds one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no text of a user becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from string import Template
from typing import Any

from anls_metric.analysis.contributions import split_points
from anls_metric.analysis.evaluation import Result, sort_for_report
from anls_metric.analysis.first_look import choose_cases
from anls_metric.analysis.leaf_counts import list_leaf_counts
from anls_metric.analysis.lost_points import LEAF_MEANINGS, MEANINGS, account_for
from anls_metric.analysis.marked import score_accepted, sum_unseen
from anls_metric.analysis.parts.lost import describe_lost
from anls_metric.analysis.question_groups import group_questions
from anls_metric.analysis.question_map import list_documents
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.suspicions import explain_suspicions
from anls_metric.core.checks import count_noun
from anls_metric.core.strings.variants import Variant
from anls_metric.messages import FrontEnd, make_error
from anls_metric.reading.reader import Input
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
from anls_metric.report.document import build_document, describe_groups, put_into_words
from anls_metric.report.files import check_output, write_whole
from anls_metric.report.first import format_first
from anls_metric.report.headline import describe_headline, percent_numbers
from anls_metric.report.images import Images
from anls_metric.report.question_data import MAX_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.schema import Document, Headline
from anls_metric.report.scripts import SCRIPT, join_modules, read_asset
from anls_metric.report.tables import FORMATS, collect_records, describe_ties
from anls_metric.report.texts import escape


def as_html(
    result: Result,
    images: Images | None = None,
    front_end: FrontEnd = "python",
    most_bytes: int = MAX_BYTES,
    command: str = "",
) -> str:
    """Format a report of one or more submissions as an HTML file.

    Args:
        result: the submissions with their scores.
        images: the images of the pages that the questions are about.
        front_end: the front end in whose words hints name options.
        most_bytes: the limit for the texts of questions and answers. Above it, questions with differences and zeros
            come first, and the report says how many questions it left out.
        command: the command that makes the report; "" for none.

    Returns:
        The content of the file. Write it as UTF-8, without changing the line ends.
    """
    return _make_report(result, images or Images(), front_end, most_bytes, command)[0]


def _make_report(
    result: Result, images: Images, front_end: FrontEnd, most_bytes: int, command: str
) -> tuple[str, Headline]:
    """Make the file, and return it with its headline: see `describe_headline`."""
    source, order = (
        os.path.basename(result.submissions[0].questions.table.name),
        [each.name for each in result.submissions],
    )
    result = sort_for_report(result)
    headline, submissions, numbers = describe_headline(result), result.submissions, percent_numbers(result.settings)
    everything = join_questions(submissions)
    questions = select_questions(submissions, everything, most_bytes)
    document = build_document(result, front_end, numbers)
    plain: Document = {
        **document,
        "submissions": [{**each, "groups": {}, "worst": []} for each in document["submissions"]],
    }
    copied = [key for key in COPIED_COLUMNS if any(key in record for record in collect_records(plain))]
    for submission in document["submissions"]:
        submission |= {"worst": [], "variants": headline["variants"].get(submission["name"], {})}
    meanings = LEAF_MEANINGS if account_for(submissions[0]).counts_leaves else MEANINGS
    outcomes = [{"name": name, "meaning": meaning} for name, meaning in meanings.items()]
    hints, details = format_hints(document, result, front_end), as_html_tables(document, numbers)
    scorer, grouping = submissions[0].scorer, group_questions(submissions, questions)
    for submission, scored, own in zip(document["submissions"], submissions, grouping.groups):
        if "lost" not in submission:  # which --quiet leaves out of a table
            submission["lost"] = put_into_words(describe_lost(scored), front_end)
        described: Any = {field: describe_groups(groups, scored.clusters) for field, groups in own.items()}
        submission["groups"] |= described
    parts = split_points(submissions)
    claims = write_claims({**document, **headline}, numbers, headline["names"])
    data = {
        **headline,
        "about": claims.about,
        "order": order,
        "of_tied": describe_ties(document),
        "asked": list_asked(document, numbers),
        "tables": {name: write(plain, numbers, copied) for name, write in FORMATS.items()},
        "label": scorer.label,
        "digits": numbers.digits,
        "source": source,
        "document": document,
        "outcomes": outcomes,
        "suspected_label_errors": explain_suspicions(submissions),
        "accepted": score_accepted(submissions, questions),
        "unseen": sum_unseen(submissions, questions),
        "contributions": {name: [part._asdict() for part in own] for name, own in parts.items()},
        "of_strings": isinstance(scorer, Variant),
        "groups": grouping.questions,
        "first_field": grouping.first_field,
        "documents": list_documents(submissions, questions),
        "leaves": list_leaf_counts(submissions, questions),
        **build_question_data(result, questions, images),
    }
    some = f"This file contains {len(questions):,} of {len(everything):,} questions, those with differences or zeros "
    notes = [some + "first. The figures above cover all questions."] if len(questions) < len(everything) else []
    data["notes"] = [*notes, f"{images.note}."] if images.note else notes
    worst = format_worst(data)
    order_of = [submission["name"] for submission in document["submissions"]]
    first = order_of.index(claims.about) if claims.about else 0
    second = order_of.index(document["baseline"]) if claims.about else -1
    pictured = {row for row, image in enumerate(data["images"]) if isinstance(image, int)}
    cases = choose_cases(submissions, questions, first, second, pictured)
    style, script = read_asset("palette.css") + read_asset("report.css"), join_modules(SCRIPT)
    page = Template(read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(headline["heading"]),
        heading=escape_sentence(headline["heading"]),
        summary=_mark(headline["summary"], headline["warnings"]),
        description=escape(count_noun(document["questions"], "question") + f" of {source}"),
        about=describe_set(document, source),
        details=details,
        claims=format_claims(claims),
        worst=worst,
        first=format_first(cases, data, numbers, first, second),
        hints=hints,
        meanings=format_meanings(outcomes),
        read=format_read(document),
        origin=describe_origin(result, front_end, command),
        data=encode_script_data(data),
        style=style,
        script=script,
    )
    return page, headline


def _mark(text: str, parts: Iterable[str]) -> str:
    """Format a text as HTML, with some of its parts in bold."""
    page = escape_sentence(text)
    for part in map(escape_sentence, parts):
        page = page.replace(part, f"<b>{part}</b>")
    return page


def write_report(
    path: str,
    result: Result,
    images: str | None = None,
    inputs: Sequence[Input] = (),
    front_end: FrontEnd = "python",
    command: str = "",
) -> Headline:
    """Write a report of a result.

    Args:
        path: the file to write, such as "report.html".
        result: the submissions with their scores.
        images: a folder, a zip archive or a table of page images; None takes those of the scored data.
        inputs: the scored data, the gold file first; see `Images`.
        front_end: the front end in whose words hints name options.
        command: the command that makes the report; "" for none.

    Returns:
        The headline of the report: see `describe_headline`.

    Raises:
        InputError: there are no images at `images`, `path` does not end in ".html", or the file is one of the inputs.
        OSError: it cannot be written.
    """
    check_path(path)
    sources = [*(each.path for each in inputs), images, result.settings.corrections]
    check_output(path, [source for source in sources if source])
    page, headline = _make_report(result, Images(images, inputs), front_end, MAX_BYTES, command)
    write_whole(path, page)
    return headline


def check_path(path: str) -> None:
    """Refuse a file name that is not that of a report. Raises InputError."""
    if not path.lower().endswith((".html", ".htm")):
        raise make_error(path, "the file name of a report must end in .html, such as report.html")


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
