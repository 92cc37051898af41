"""The HTML report: one file that shows scored submissions, opens without a network, and can be sent to a colleague.

The file holds one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no text of a user becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Any

from anls_metric.analysis import curves
from anls_metric.analysis.comparison import sort_by_score
from anls_metric.analysis.contributions import Contribution, split_difference, split_loss
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.questions import JoinedQuestion, get_record, join_questions
from anls_metric.analysis.scored import KEYS, Scored, group_scores, list_grouping_fields, name_groups
from anls_metric.analysis.suspects import find_suspects
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.core.version import __version__
from anls_metric.messages import FrontEnd, count_noun
from anls_metric.reading.formats import natural_key
from anls_metric.reading.layouts import take_column
from anls_metric.reading.reader import Input
from anls_metric.report.document import build_document
from anls_metric.report.files import check_report_path, write_whole
from anls_metric.report.headline import describe_headline, percent_numbers
from anls_metric.report.images import Images
from anls_metric.report.question_data import MAX_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.tables import FORMATS
from anls_metric.report.terminal import as_text
from anls_metric.report.texts import make_printable

ASSETS = Path(__file__).parent / "assets" / "report"

# The modules of the script. A module comes after the modules that it imports.
MODULES = (
    *("elements", "data", "marks", "state", "questions", "downloads", "summary", "causes", "panels", "edits"),
    *("question", "list", "main"),
)

# The names of outcomes where the report lists what costs points
_LABELS = {
    "close enough": "small differences",
    "empty": "empty answers",
    "missing": "missing answers",
    "other": "different answers",
    "contains an answer": "extra words",
    "another number": "wrong numbers",
    "refusal": "refusals",
}

_MAX_GROUPS = 12  # of a field that is shown without being asked for
_MAX_FIELDS = 4  # that are shown without being asked for


def as_html(
    result: Result,
    source: str = "",
    images: Images | None = None,
    front_end: FrontEnd = "python",
    most_bytes: int = MAX_BYTES,
    most_by_variant: int | None = None,
    headline: Mapping[str, Any] | None = None,
) -> str:
    """Format a report of one submission or more as an HTML file.

    Args:
        result: the submissions with their scores.
        source: the name of the file with the questions.
        images: the images of the pages that the questions are about.
        front_end: the front end in whose words hints name options.
        most_bytes: the limit for the texts of questions and answers. Above it, questions with differences and zeros
            come first, and the report says how many questions it left out.
        most_by_variant: the most answers that are scored under every variant; None for no limit.
        headline: what `describe_headline` returned for the result, if it is known.

    Returns:
        The content of the file. Write it as UTF-8, without changing the line ends.
    """
    submissions = sort_by_score(result.submissions)
    headline = headline or describe_headline(result, most_by_variant)
    document = _build_reported_document(result, submissions, headline, front_end)
    everything = join_questions(submissions)
    questions = select_questions(submissions, everything, most_bytes)
    numbers = percent_numbers(result.settings)
    data = {
        **headline,
        "label": submissions[0].scorer.label,
        "digits": numbers.digits,
        "source": source,
        "document": document,
        "meanings": {variant.name: variant.meaning.replace("`", "") for variant in VARIANTS.values()},
        "outcomes": [
            {"name": name, "label": _LABELS.get(name, name), "meaning": meaning} for name, meaning, *_ in OUTCOMES
        ],
        "details": as_text(document, numbers),
        "suspected_label_errors": [suspect.id for suspect in find_suspects(submissions)],
        "contributions": _describe_contributions(submissions),
        "similarities": _count_similarities(submissions),
        "tables": {name: write(document, numbers, ()) for name, write in FORMATS.items() if name != "json"},
        "groups": _describe_groups(submissions, questions, result),
        **build_question_data(submissions, questions, images, result.added),
    }
    some = f"This file contains {len(questions):,} of {len(everything):,} questions, those with differences or zeros "
    notes = [some + "first. The figures above cover all questions."] if len(questions) < len(everything) else []
    data["notes"] = [*notes, *([f"{images.note}."] if images and images.note else [])]
    style, script = _read_asset("report.css"), _join_modules()
    return Template(_read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=_escape(headline["heading"]),
        description=_escape(count_noun(document["questions"], "question") + (f" of {source}" if source else "")),
        scores="\n".join(_escape(f"{numbers.format(scored.anls)}  {scored.name}") for scored in submissions),
        version=__version__,
        data=encode_script_data(data),
        style=style,
        script=script,
    )


def write_report(
    path: str,
    result: Result,
    images: str | None = None,
    inputs: Sequence[Input] = (),
    front_end: FrontEnd = "python",
    headline: Mapping[str, Any] | None = None,
) -> None:
    """Write a report of a result, with the name of its gold file.

    Args:
        path: the file to write, such as "report.html".
        result: the submissions with their scores.
        images: a folder, a zip archive or a table of page images; None takes those of the scored data.
        inputs: the scored data, the gold file first; see `Images`.
        front_end: the front end in whose words hints name options.
        headline: what `describe_headline` returned for the result, if it is known.

    Raises:
        InputError: there are no images at `images`, or `path` does not end in ".html". OSError: it cannot be written.
    """
    check_report_path(path)
    source, pages = os.path.basename(result.submissions[0].questions.name), Images(images, inputs)
    write_whole(path, as_html(result, source, pages, front_end, headline=headline))


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _join_modules() -> str:
    """Join the modules to one script. They share one scope, so imports and exports are removed."""
    lines = [line for name in MODULES for line in _read_asset(f"{name}.js").splitlines(keepends=True)]
    imports = [line for line in lines if line.startswith("import ")]
    assert all(line.endswith('.js";\n') for line in imports), "an import has one line"
    names = re.findall(r"^(?:export )?(?:const|let) (\w+)", "".join(lines), re.MULTILINE)
    assert len(names) == len(set(names)), "two modules use one name"
    return "".join(line.removeprefix("export ") for line in lines if line not in imports)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _escape(text: str) -> str:
    return html.escape(make_printable(text))


def _build_reported_document(
    result: Result, submissions: list[Scored], headline: Mapping[str, Any], front_end: FrontEnd
) -> dict[str, Any]:
    """Build the document of the report: the best submission first, the others compared with the reported baseline."""
    document = build_document(replace(result, submissions=submissions), front_end)
    for submission in document["submissions"]:
        submission |= {"groups": {}, "worst": []}  # the report has all groups and answers elsewhere
    baseline = headline.get("reported_baseline")
    if baseline != document.get("baseline"):
        names = sorted((scored.name for scored in submissions), key=lambda name: name != baseline)
        compared = [pair for pair in combinations(names, 2) if document["all_pairs"] or baseline in pair]
        comparisons = [headline["pairs"][first][second] for first, second in compared]
        document |= {"baseline": baseline, "comparisons": comparisons}
    return document


def _describe_contributions(submissions: Sequence[Scored]) -> dict[str, Any]:
    """Describe where the points go: for each submission, and for each pair if they are compared, by their numbers."""
    indices = {outcome.name: index for index, outcome in enumerate(OUTCOMES)}

    def describe(contributions: Sequence[Contribution]) -> list[list[Any]]:
        return [
            [indices[each.outcome], *each[1:4], None if each.document is None else str(each.document), each.shared]
            for each in contributions
        ]

    return {str(number): describe(split_loss(scored)) for number, scored in enumerate(submissions)} | {
        f"{first} {second}": describe(split_difference(submissions[first], submissions[second]))
        for first, second in combinations(range(len(submissions)), 2)
    }


def _count_similarities(submissions: Sequence[Scored]) -> dict[str, Any] | None:
    """Count similarities before the threshold, in bins; None for lists and nested values."""
    variant = submissions[0].scorer
    if not isinstance(variant, Variant):
        return None
    counts = [curves.count_similarities(scored) for scored in submissions]
    return {"minimum": curves.get_minimum_similarity(variant), "counts": counts}


def _describe_groups(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], result: Result
) -> dict[str, Any]:
    """Describe the groups of each field that the user names, else of fields with few groups, and of the documents."""
    records = submissions[0].questions.records
    few = list_grouping_fields(records, min(_MAX_GROUPS, max(2, len(records) // 2)))
    fields = list(submissions[0].groups) or [field for field in few if field != "question"][:_MAX_FIELDS]
    clusters = result.compared.clusters if result.compared else submissions[0].clusters
    fields += [clusters.field] if clusters else []
    return {field: _describe_field(submissions, questions, field) for field in dict.fromkeys(fields)}


def _describe_field(submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], field: str) -> dict[str, Any]:
    """Describe the groups of a field.

    Returns:
        The ``names`` of the groups; for each submission their ``counts``, ``means`` and ``intervals``; and ``of``, the
        indices of the groups of each question.
    """
    found = [
        scored.groups.get(field) or group_scores(scored.questions.records, scored.scores, field)
        for scored in submissions
    ]
    names = sorted({name for groups in found for name in groups}, key=natural_key)
    indices = {name: index for index, name in enumerate(names)}
    columns = [[groups.get(name) for name in names] for groups in found]
    values = take_column([get_record(submissions, each) for each in questions], field) if field != KEYS else []
    return {
        "names": list(map(make_printable, names)),
        "of": [[indices[name] for name in name_groups(field, value)] for value in values],
        "counts": [[len(group.scores) if group else 0 for group in column] for column in columns],
        "means": [[group and group.mean for group in column] for column in columns],
        "intervals": [
            [group and group.interval(scored.clusters) for group in column]
            for scored, column in zip(submissions, columns)
        ],
    }
