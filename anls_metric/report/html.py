"""The HTML report: one file that shows scored submissions, opens without a network, and can be sent to a colleague.

The file holds one JSON document. The scripts in assets/report draw everything from this document with text nodes, so
that no text of a user becomes markup. Python fills in a template and escapes what it inserts.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Any

from anls_metric.analysis import curves
from anls_metric.analysis.comparison import compare_each_with_each, compare_group
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.questions import JoinedQuestion, get_record, join_questions
from anls_metric.analysis.scored import KEYS, Scored, group_scores, list_grouping_fields, name_groups, score_under
from anls_metric.analysis.suspects import find_suspects
from anls_metric.core.variants import VARIANTS, Variant
from anls_metric.core.version import __version__
from anls_metric.messages import FrontEnd, count_noun
from anls_metric.reading.formats import natural_key
from anls_metric.reading.layouts import take_column
from anls_metric.report.beside import list_lines
from anls_metric.report.document import build_document, list_extraction
from anls_metric.report.images import Images
from anls_metric.report.numbers import PLAIN
from anls_metric.report.question_data import MAX_BYTES, build_question_data, encode_script_data, select_questions
from anls_metric.report.tables import FORMATS
from anls_metric.report.texts import make_printable

ASSETS = Path(__file__).parent / "assets" / "report"

# The modules of the script. A module comes after the modules that it imports.
MODULES = (
    *("elements", "data", "marks", "state", "charts", "questions", "edits", "downloads", "ranking", "closer", "page"),
    *("question", "list", "main"),
)

_MAX_GROUPS = 12  # of a field that is shown without being asked for
_MAX_FIELDS = 4  # that are shown without being asked for
_MAX_DIFFERENCES = 6_000  # between the groups of all pairs of submissions; above it, the report has none
_MAX_POINTS = 500  # of a curve, as many as a screen can show


def as_html(
    result: Result,
    source: str = "",
    images: Images | None = None,
    front_end: FrontEnd = "python",
    most_bytes: int = MAX_BYTES,
    most_by_variant: int | None = None,
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

    Returns:
        The content of the file. Write it as UTF-8, without changing the line ends.
    """
    submissions = sorted(result.submissions, key=lambda scored: -scored.anls)
    document = build_document(replace(result, submissions=submissions), front_end)
    for submission in document["submissions"]:
        submission |= {"groups": {}, "worst": []}  # the report has all groups and answers elsewhere
    everything = join_questions(submissions)
    questions = select_questions(submissions, everything, most_bytes)
    data = {
        "title": submissions[0].name if len(submissions) == 1 else f"{len(submissions)} submissions",
        "label": submissions[0].scorer.label,
        "source": source,
        "version": __version__,
        "document": document,
        "pairs": _compare_pairs(result),
        "outcomes": [{"name": outcome.name, "meaning": outcome.meaning} for outcome in OUTCOMES],
        "extraction": list_extraction(document),
        "beside": [list_lines(each, PLAIN, ("partial_credit",)) for each in document["submissions"]],
        "suspected_label_errors": [suspect._asdict() for suspect in find_suspects(submissions)],
        "curves": _describe_curves(submissions, result),
        "variants": _describe_variants(submissions, most_by_variant),
        "paper": {name: write(document, PLAIN, ()) for name, write in FORMATS.items()},
        "groups": _describe_groups(submissions, questions, document),
        **build_question_data(submissions, questions, images, result.added),
    }
    some = f"This file contains {len(questions):,} of {len(everything):,} questions, those with differences or zeros "
    notes = [some + "first. The figures above cover all questions."] if len(questions) < len(everything) else []
    data["notes"] = [*notes, *([f"{images.note}."] if images and images.note else [])]
    style, script = _read_asset("report.css"), _join_modules()
    return Template(_read_asset("report.html")).substitute(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=_escape(f"{data['title']} - {data['label']} report"),
        description=_escape(count_noun(document["questions"], "question") + (f" of {source}" if source else "")),
        scores="\n".join(_escape(f"{scored.anls:.4f}  {scored.name}") for scored in submissions),
        data=encode_script_data(data),
        style=style,
        script=script,
    )


def _read_asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _join_modules() -> str:
    """Join the modules to one script. They share one scope, so imports and exports are removed."""
    lines = (line for name in MODULES for line in _read_asset(f"{name}.js").splitlines(keepends=True))
    return "".join(line.removeprefix("export ") for line in lines if not line.startswith("import "))


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _escape(text: str) -> str:
    return html.escape(make_printable(text))


def _compare_pairs(result: Result) -> dict[str, dict[str, Any]]:
    """Compare all pairs of submissions, by the names of the baseline and of the other."""
    found = compare_each_with_each(result.submissions, result.compared) if result.compared else {}
    return {
        baseline: {name: {**comparison._asdict(), "note": comparison.note} for name, comparison in others.items()}
        for baseline, others in found.items()
    }


def _describe_groups(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], document: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe the groups of each field that the user names, else of fields with few groups, and of the documents."""
    records = submissions[0].questions.records
    few = list_grouping_fields(records, min(_MAX_GROUPS, max(2, len(records) // 2)))
    fields = list(submissions[0].groups) or [field for field in few if field != "question"][:_MAX_FIELDS]
    if document["clusters"]:
        fields.append(document["clusters"]["field"])
    return {field: _describe_field(submissions, questions, field) for field in dict.fromkeys(fields)}


def _describe_field(submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], field: str) -> dict[str, Any]:
    """Describe the groups of a field.

    Returns:
        The ``names`` of the groups; for each submission their ``counts``, ``means`` and ``intervals``; for each pair of
        submissions their ``differences``, with intervals; and ``of``, the indices of the groups of each question.
    """
    found = [
        scored.groups.get(field) or group_scores(scored.questions.records, scored.scores, field)
        for scored in submissions
    ]
    names = sorted({name for groups in found for name in groups}, key=natural_key)
    indices = {name: index for index, name in enumerate(names)}
    columns = [[groups.get(name) for name in names] for groups in found]
    pairs = list(combinations(range(len(submissions)), 2))
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
        "differences": {
            f"{first} {second}": [
                before and after and compare_group(submissions[first], submissions[second], before, after)
                for before, after in zip(columns[first], columns[second])
            ]
            for first, second in (pairs if len(pairs) * len(names) <= _MAX_DIFFERENCES else ())
        },
    }


def _describe_curves(submissions: Sequence[Scored], result: Result) -> dict[str, Any] | None:
    """Describe the mean over the threshold, the similarities in bins, and the risk over the coverage."""
    variant, names = submissions[0].scorer, [scored.name for scored in submissions]
    if not isinstance(variant, Variant):
        return None
    return {
        "threshold": variant.threshold,
        "is_distance": "distance" in variant.kept,
        "minimum": curves.get_minimum_similarity(variant),
        "thresholds": [curves.compute_means_by_threshold(scored, variant) for scored in submissions],
        "similarities": [curves.count_similarities(scored) for scored in submissions],
        "risks": [
            [(step.count / steps[-1].count, step.risk) for step in steps[:: -1 - len(steps) // _MAX_POINTS]][::-1]
            for steps in (found.steps if found else [] for found in map(result.assessments.get, names))
        ],
    }


def _describe_variants(submissions: Sequence[Scored], most: int | None) -> dict[str, Any] | None:
    """Describe the score of each submission under every variant, with the threshold and case of the variant."""
    if not isinstance(submissions[0].scorer, Variant):
        return None
    count = sum(len(scored.answers.predictions) for scored in submissions)
    variants = [] if most is not None and count > most else list(VARIANTS.values())
    return {
        "names": [variant.name for variant in variants],
        "meanings": [variant.meaning.replace("`", "") for variant in variants],
        "means": [[score_under(scored.answers, variant) for variant in variants] for scored in submissions],
        "chosen": submissions[0].scorer.name,
    }
