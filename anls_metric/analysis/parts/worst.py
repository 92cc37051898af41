"""The answers with the lowest scores, each with the reason for its score."""

from __future__ import annotations

from typing import Any, TypedDict

from anls_metric.analysis.part import Part
from anls_metric.analysis.scored import Scored, list_worst
from anls_metric.core.json_values import to_json


class Leaf(TypedDict):
    """A leaf of a structured answer."""

    where: str
    """the path of the leaf"""
    prediction: Any
    reference: Any
    """the values that were compared"""
    score: float
    """the score of the leaf"""
    leaves: int
    """the number of leaves that it stands for"""
    why: str
    edits: list[list[str]]
    """the reason for the score, and the edits"""


class _Answer(TypedDict):
    id: str
    question: str | None
    """the question"""
    prediction: Any
    references: list[Any]
    """the values that were compared"""
    score: float
    outcome: str
    """the score of the answer, and the [cause](error_analysis.md#causes) that costs it the most, or `right` if it loses
    nothing
    """


class WorstAnswer(_Answer, total=False):
    """An answer with the reason for its score."""

    closest_reference: Any
    """the reference that determines the score"""
    why: str | None
    """the reason for the score, in a sentence"""
    edits: list[list[str]]
    """for strings, a list of `[operation, predicted, accepted]`"""
    leaves: list[Leaf]
    """for [structured answers](nested.md), the leaves"""
    raw: str
    """the raw model output, if the answer was extracted"""


def describe_worst(scored: Scored) -> list[WorstAnswer] | None:
    """Describe as many of the lowest-scoring answers as the user asks for, or return None if no number is given."""
    worst = scored.settings.worst
    return [_explain_question(scored, place) for place in list_worst(scored, worst)] if worst else None


def _explain_question(scored: Scored, place: int) -> WorstAnswer:
    """Describe the answer to a question, with the reason for its score."""
    from anls_metric.analysis.answer_rows import describe_question  # the figures do not need it

    row, why = describe_question(scored, place), scored.why(scored.representatives[place])
    answer: Any = {key: value for key, value in row.items() if key in WorstAnswer.__annotations__}
    answer |= {"closest_reference": None, "why": None}
    if why is not None:
        answer |= {"closest_reference": to_json(why.closest), "why": str(why)}
    if hasattr(why, "leaves"):
        answer["leaves"] = list(map(_describe_leaf, why.leaves))
    else:
        answer["edits"] = getattr(why, "edits", [])
    explained: WorstAnswer = answer
    return explained


def _describe_leaf(leaf: Any) -> Leaf:
    return {
        "where": leaf.path,  # not "path": gradio treats a dict with this key as a file
        "prediction": to_json(leaf.prediction),
        "reference": to_json(leaf.reference),
        "score": leaf.score,
        "leaves": leaf.length,
        "why": leaf.note,
        "edits": leaf.edits,
    }


PART = Part(
    key="worst",
    sentence="with `--worst`, the [worst answers](#worst-answer-submissionsworst)",
    find=describe_worst,
    type=list[WorstAnswer],
    order=110,
    by_name=False,
)
