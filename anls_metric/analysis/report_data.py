"""Computes the data that only the HTML report shows: standings, causes, groups, suspects and every question."""

from __future__ import annotations

import os
from typing import Any

from anls_metric.analysis.contributions import split_points
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.first_look import choose_cases
from anls_metric.analysis.images import Images
from anls_metric.analysis.leaf_counts import list_leaf_counts
from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.marked import score_accepted, sum_unseen
from anls_metric.analysis.question_data import build_question_data, select_questions
from anls_metric.analysis.question_groups import group_questions
from anls_metric.analysis.question_map import list_documents
from anls_metric.analysis.questions import join_questions
from anls_metric.analysis.standings import describe_standings
from anls_metric.analysis.suspicions import explain_suspicions
from anls_metric.analysis.verdicts import choose_wanted


def build_report_data(result: Result, images: Images, most_bytes: int) -> dict[str, Any]:
    """Build the data for the report.

    Args:
        result: the result, sorted by `sort_for_report`.
        images: the images of the pages.
        most_bytes: the limit for the texts: see `select_questions`.

    Returns:
        - ``standings``: see `describe_standings`
        - ``grouped``: for each submission, its groups by field and name
        - ``total``: the number of all questions; ``image_note``: which images are left out
        - ``looked_at``: the numbers of the submission to look at first and of its baseline, or -1 for no baseline
        - ``cases``: the questions to look at first, see `first_look.Case`
        - ``data``: the data that the report script draws.
    """
    submissions = result.submissions
    everything = join_questions(submissions)
    questions = select_questions(submissions, everything, most_bytes)
    meanings = account_for(submissions[0]).table.meanings
    grouping, suspicions = group_questions(submissions, questions), explain_suspicions(submissions)
    data = {
        "label": submissions[0].scorer.label,
        "source": os.path.basename(submissions[0].questions.table.name),
        "outcomes": [{"name": name, "meaning": meaning} for name, meaning in meanings.items()],
        "suspected_label_errors": [key for key, _ in suspicions],
        "suspicions": [reason for _, reason in suspicions],
        "accepted": score_accepted(submissions, questions),
        "unseen": sum_unseen(submissions, questions),
        "contributions": {name: [part._asdict() for part in own] for name, own in split_points(submissions).items()},
        "of_strings": submissions[0].scorer.has_edits,
        "groups": grouping.questions,
        "first_field": grouping.first_field,
        "documents": list_documents(submissions, questions),
        "leaves": list_leaf_counts(submissions, questions),
        **build_question_data(result, questions, images),
    }
    names, first, second = [scored.name for scored in submissions], 0, -1
    if result.compared:
        wanted = choose_wanted([each._asdict() for each in result.compared.comparisons])
        first, second = names.index(wanted["second"]), names.index(wanted["first"])
    pictured = {row for row, image in enumerate(data["images"]) if isinstance(image, int)}
    cases = choose_cases(submissions, questions, first, second, pictured)
    return {
        "standings": describe_standings(result),
        "looked_at": (first, second),
        "cases": [case._asdict() for case in cases],
        "grouped": grouping.groups,
        "total": len(everything),
        "image_note": images.note,
        "data": data,
    }
