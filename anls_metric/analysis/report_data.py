"""Computes what the HTML report shows besides the document: standings, causes, groups, suspects and every question."""

from __future__ import annotations

import os
from typing import Any

from anls_metric.analysis.contributions import split_points
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.images import Images
from anls_metric.analysis.lost_points import LEAF_MEANINGS, MEANINGS, account_for
from anls_metric.analysis.question_data import build_question_data, select_questions
from anls_metric.analysis.question_groups import group_questions
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.standings import describe_standings
from anls_metric.analysis.suspects import find_suspects
from anls_metric.core.strings.variants import Variant


def build_report_data(result: Result, images: Images, most_bytes: int) -> dict[str, Any]:
    """Build the data of the report.

    Args:
        result: the result, sorted by `sort_for_report`.
        images: the images of the pages.
        most_bytes: the limit for the texts: see `select_questions`.

    Returns:
        - ``standings``: see `describe_standings`
        - ``grouped``: for each submission its groups, by field and by name
        - ``total``: the number of all questions; ``image_note``: which images are left out
        - ``data``: what the script draws.
    """
    submissions = result.submissions
    everything = join_questions(submissions)
    questions = select_questions(submissions, everything, most_bytes)
    meanings = LEAF_MEANINGS if account_for(submissions[0]).counts_leaves else MEANINGS
    grouping = group_questions(submissions, questions)
    data = {
        "label": submissions[0].scorer.label,
        "source": os.path.basename(submissions[0].questions.table.name),
        "outcomes": [{"name": name, "meaning": meaning} for name, meaning in meanings.items()],
        "suspected_label_errors": [suspect.id for suspect in find_suspects(submissions)],
        "contributions": {name: [part._asdict() for part in own] for name, own in split_points(submissions).items()},
        "of_strings": isinstance(submissions[0].scorer, Variant),
        "groups": grouping.questions,
        "first_field": grouping.first_field,
        **build_question_data(result, questions, images),
    }
    return {
        "standings": describe_standings(result),
        "grouped": grouping.groups,
        "total": len(everything),
        "image_note": images.note,
        "data": data,
    }
