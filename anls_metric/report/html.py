"""The HTML report: one file that shows scored submissions, opens offline, and can be sent to a colleague.

The file holds one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no text of a user becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Any

from anls_metric.analysis.answer_kinds import KIND, find_kind
from anls_metric.analysis.clusters import choose_clusters
from anls_metric.analysis.contributions import LEAF_CAUSES, split_difference, split_loss
from anls_metric.analysis.evaluation import Result, sort_for_report
from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.questions import JoinedQuestion, join_questions
from anls_metric.analysis.scored import KEYS, Scored, group_scores, list_grouping_fields
from anls_metric.analysis.suspects import find_suspects
from anls_metric.core.checks import count_noun
from anls_metric.core.statistics.clusters import Clusters
from anls_metric.core.strings.variants import Variant
from anls_metric.messages import FrontEnd, make_error
from anls_metric.options import OPTIONS
from anls_metric.reading.answers import Record
from anls_metric.reading.formats import find_repeated
from anls_metric.reading.reader import Input
from anls_metric.report.columns import COPIED_COLUMNS
from anls_metric.report.details import (
    as_html_tables,
    describe_origin,
    describe_set,
    escape_sentence,
    format_hints,
    format_meanings,
    format_read,
    list_asked,
)
from anls_metric.report.document import build_document, describe_groups
from anls_metric.report.files import check_output, write_whole
from anls_metric.report.headline import describe_headline, percent_numbers
from anls_metric.report.images import Images
from anls_metric.report.question_data import MAX_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.schema import Document, Headline
from anls_metric.report.tables import FORMATS, collect_records, describe_ties
from anls_metric.report.texts import escape

ASSETS = Path(__file__).parent / "assets" / "report"

# A module comes after the modules that it imports.
_MODULES = """
elements formats edits data marks state questions downloads forest copies confusions parts question list main
"""

SCRIPT = [ASSETS / f"{name}.js" for name in _MODULES.split()]
"""The modules of the report."""

DRAWING = SCRIPT[:3]
"""The modules that draw an answer, for the report and for the web app."""

_MAX_FIELDS = 4  # that are shown without being asked for


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
    if front_end == "page":
        for described, hint in zip(document["hints"], result.hints):
            described["action"] = _describe_action(hint.message.action)
    plain: Document = {
        **document,
        "submissions": [{**each, "groups": {}, "worst": []} for each in document["submissions"]],
    }
    copied = [key for key in COPIED_COLUMNS if any(key in record for record in collect_records(plain))]
    for submission in document["submissions"]:
        submission |= {"worst": [], "variants": headline["variants"].get(submission["name"], {})}
    outcomes = [{"name": each.name, "meaning": each.meaning} for each in (*OUTCOMES, *LEAF_CAUSES)]
    notes = [note.text(front_end) for note in result.compared.notes] if result.compared else []
    hints, details = format_hints(document, notes), as_html_tables(document, numbers)
    groups, scorer = _add_groups(document, submissions, questions), submissions[0].scorer
    data = {
        **headline,
        "order": order,
        "of_tied": describe_ties(document),
        "asked": list_asked(document, numbers),
        "tables": {name: write(plain, numbers, copied) for name, write in FORMATS.items()},
        "label": scorer.label,
        "digits": numbers.digits,
        "source": source,
        "document": document,
        "outcomes": outcomes,
        "suspected_label_errors": [suspect.id for suspect in find_suspects(submissions)],
        "contributions": _describe_contributions(submissions),
        "of_strings": isinstance(scorer, Variant),
        "groups": groups,
        "first_field": next(iter([*submissions[0].groups, *_name_cluster_field(submissions[0]), *groups]), ""),
        **build_question_data(result, questions, images),
    }
    some = f"This file contains {len(questions):,} of {len(everything):,} questions, those with differences or zeros "
    notes = [some + "first. The figures above cover all questions."] if len(questions) < len(everything) else []
    data["notes"] = [*notes, f"{images.note}."] if images.note else notes
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


def read_asset(name: str) -> str:
    """Read a file of the report, such as "palette.css" with the colors, which the web app also uses."""
    return (ASSETS / name).read_text(encoding="utf-8")


def join_modules(modules: Iterable[Path]) -> str:
    """Join modules into one script. They share a single scope, so imports and exports are removed."""
    lines = [line for path in modules for line in path.read_text(encoding="utf-8").splitlines(keepends=True)]
    imports = [line for line in lines if line.startswith("import ")]
    assert all(line.endswith('.js";\n') for line in imports), "an import takes more than one line"
    script = "".join(line.removeprefix("export ") for line in lines if line not in imports)
    assert not re.search(r"^(?:const|let) [\[{]", script, re.MULTILINE), "destructuring at the top level hides names"
    repeated = find_repeated(re.findall(r"^(?:const|let|function|class) (\w+)", script, re.MULTILINE))
    assert not repeated, f"two modules have the names {repeated}"
    return script


def _describe_action(action: tuple[str, str] | None) -> list[str] | None:
    """Describe the button of a hint: the option, the value that it sets, and its label; None for no button."""
    option, value = action or ("", "")
    label = OPTIONS[option].label if option else ""
    return [option, value, f"{label}: {value}"] if label else None


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _describe_contributions(submissions: Sequence[Scored]) -> dict[str, Any]:
    """Describe where the points go: for each submission, and each pair if they are compared, keyed by their numbers."""
    parts = {str(number): split_loss(scored) for number, scored in enumerate(submissions)}
    for (first, scored), (second, other) in combinations(enumerate(submissions), 2):
        parts[f"{first} {second}"] = split_difference(scored, other)
    return {key: [part._asdict() for part in own] for key, own in parts.items()}


def _add_groups(
    document: Mapping[str, Any], submissions: Sequence[Scored], questions: Sequence[JoinedQuestion]
) -> dict[str, dict[str, list[int]]]:
    """Add the groups of each submission to the document, and list the numbers of the questions in each group.

    For a key, only questions are listed in which a submission has a leaf of it that scores less than 1.
    """
    first, fields = submissions[0], _choose_fields(submissions[0])
    for submission, scored in zip(document["submissions"], submissions):
        own = scored.questions
        records = _complete_records(scored, own.table.records, own.references, scored.clusters)
        for field in fields:
            groups = scored.groups.get(field) or group_scores(records, scored.scores, field)
            submission["groups"][field] = describe_groups(groups, scored.clusters)
    records = [question.record for question in questions]
    clusters = first.clusters and choose_clusters(records, first.settings.cluster_by)
    records = _complete_records(first, records, [question.references for question in questions], clusters)
    found = {field: group_scores(records, range(len(records)), field) for field in fields}
    listed = {field: {name: group.places for name, group in groups.items()} for field, groups in found.items()}
    for name in submissions[0].groups.get(KEYS, ()):
        keys = [scored.groups[KEYS][name] for scored in submissions]
        lost = [{place for place, score in zip(key.places, key.scores) if score < 1.0} for key in keys]
        listed[KEYS][name] = [
            number
            for number, question in enumerate(questions)
            if any(place in own for place, own in zip(question.places, lost))
        ]
    return listed


def _complete_records(
    scored: Scored, records: Sequence[Record], references: Sequence[Any], clusters: Clusters | None
) -> Sequence[Record]:
    """Put the name of its document into each record, in place of a page's name, and the kind of its answer."""
    if clusters and clusters.rule:
        records = [{**record, clusters.field: name} for record, name in zip(records, clusters.names)]
    if not isinstance(scored.scorer, Variant):
        return records
    return [{**record, KIND: find_kind(accepted)} for record, accepted in zip(records, references)]


def _choose_fields(scored: Scored) -> Sequence[str]:
    """Choose the fields of the groups: those that the user names, else those with few values; and some always."""
    named = [field for field, groups in scored.groups.items() if groups]
    fields = named or list_grouping_fields(scored)[:_MAX_FIELDS]
    kinds = [KIND] * isinstance(scored.scorer, Variant)
    return list(dict.fromkeys([*fields, *_name_cluster_field(scored), *kinds]))


def _name_cluster_field(scored: Scored) -> list[str]:
    return [scored.clusters.field] if scored.clusters else []
