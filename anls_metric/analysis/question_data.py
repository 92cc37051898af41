"""Builds the data for the report script about every question: its texts, its image and its answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.alignment import align
from anls_metric.analysis.answer_rows import describe_question
from anls_metric.analysis.confusions import find_confusions
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.images import Images, find_page_name
from anls_metric.analysis.lost_points import MEANINGS, account_for
from anls_metric.analysis.questions import JoinedQuestion
from anls_metric.analysis.scored import Scored
from anls_metric.core.json_strings import format_value
from anls_metric.core.strings.explanation import SENTENCES, Explanation

if TYPE_CHECKING:
    from anls_metric.core.values.star_explanation import Branch

MAX_CONFUSIONS = 10
"""The maximum number of confusions to list for each submission."""

_INDICES = {name: index for index, name in enumerate(MEANINGS)}
_BYTES_BESIDES = 150  # per answer, besides its texts: its share of the question, its score and the names of the keys


def select_questions(
    submissions: Sequence[Scored], questions: Sequence[JoinedQuestion], max_bytes: int
) -> list[JoinedQuestion]:
    """Select as many questions as fit into a report, keeping their order. Questions with different scores or a score of
    0 take precedence.

    Args:
        submissions: the submissions.
        questions: all of their questions.
        max_bytes: the limit for the texts, on the assumption that the selected questions have texts of average length.
    """
    texts = [text for each in submissions for text in (*each.answers.predictions, *(each.answers.raw or ()))]
    most = int(len(questions) * max_bytes / sum(_BYTES_BESIDES + len(str(text)) for text in texts))
    ranked = sorted(range(len(questions)), key=lambda place: not questions[place].needs_a_look)
    return [questions[place] for place in sorted(ranked[:most])]


def build_question_data(result: Result, questions: Sequence[JoinedQuestion], images: Images) -> dict[str, Any]:
    """Build the data for N questions.

    Args:
        result: the submissions with their scores.
        questions: the N questions to show.
        images: the images in the report, to which the images of the questions are added.

    Returns:
        A dict that can be stored as JSON. Answers that are lists or objects are JSON strings.

        - ``ids``, ``questions``: N strings; ``pages``: the name of the image or document of each question.
        - ``references``: N lists of strings; ``added``: the references that corrections added, by question number.
        - ``pictures``: ``data:`` URLs; ``images``: for each question, an index in ``pictures`` or the reason why there
          is no image.
        - ``answers``: for each submission, a dict with ``rows``, which are N dicts (see `_describe_answer`) or None for
          a question that the submission lacks, and ``confusions``, each with the numbers of the questions in which it
          occurs.
        - ``sentences``: the distinct reasons for scores, to which the indices in the answers refer.
    """
    pages = [find_page_name(question.record) for question in questions]
    sentences: dict[str, int] = {}
    added = result.submissions[0].added
    references = [list(map(format_value, question.references)) for question in questions]
    return {
        "ids": [question.id for question in questions],
        "questions": [question.text or "" for question in questions],
        "pages": pages,
        "references": references,
        "added": {row: added[each.id] for row, each in enumerate(questions) if each.id in added},
        "images": images.embed(result.submissions[0].questions, questions, pages),
        "pictures": images.pictures,
        "answers": [
            _describe_answers(scored, number, questions, references, sentences)
            for number, scored in enumerate(result.submissions)
        ],
        "sentences": list(sentences),
    }


def _describe_answers(
    scored: Scored,
    number: int,
    questions: Sequence[JoinedQuestion],
    references: Sequence[Sequence[str]],
    sentences: dict[str, int],
) -> dict[str, Any]:
    """Describe the answers in a submission, given its number, the questions and their references."""
    places = [question.places[number] for question in questions]
    rows = {answer: row for row, place in enumerate(places) if place is not None for answer in scored.runs[place]}

    def list_rows(answers: Iterable[int]) -> list[int]:
        return sorted({rows[answer] for answer in answers if answer in rows})

    content: dict[str, Any] = {
        "rows": [
            None if place is None else _describe_answer(scored, place, shared, sentences)
            for place, shared in zip(places, references)
        ],
        "confusions": [],
    }
    if scored.scorer.has_edits:
        content["confusions"] = [
            {**vars(confusion), "questions": list_rows(own)}
            for confusion, own in find_confusions(scored, MAX_CONFUSIONS)
        ]
    return content


def _describe_answer(scored: Scored, place: int, shared: Sequence[str], sentences: dict[str, int]) -> dict[str, Any]:
    """Describe the answer to the question at a position in a submission.

    Args:
        scored: the submission.
        place: the position of the question.
        shared: the references that the report shows for the question.
        sentences: the index of each reason for a score, to which new reasons are added.

    Returns:
        A dict with ``prediction`` (None for no answer), ``score``, ``outcome`` and ``sentence`` (both indices), and
        ``closest`` (the index of the closest reference). Where needed, the dict also has ``raw`` (the model output),
        ``costs`` (the points that the question loses to each cause, if the outcome does not imply them), ``references``
        (if they differ from ``shared``), ``edits`` (to the closest reference, see `align`) or ``tree`` (the parts of a
        nested value, see `_describe_branch`).
    """
    row, answer = describe_question(scored, place), scored.representatives[place]
    prediction = None if row["prediction"] is None else _write_text(row["prediction"])
    sentence, closest, drawing = _explain(scored, answer, scored.questions.references[place])
    if scored.answer_scores[answer] != row["score"]:
        sentence += f" The score is the mean of {len(row['runs'])} runs."
    content = {
        "prediction": prediction,
        "score": row["score"],
        "outcome": _INDICES[row["outcome"]],
        "sentence": sentences.setdefault(sentence, len(sentences)),
        "closest": closest,
        **drawing,
    }
    if row.get("raw") not in (None, prediction):
        content["raw"] = row["raw"]
    references = list(map(_write_text, row["references"]))
    if references != shared:
        content["references"] = references
    costs = account_for(scored).by_question[place]
    if costs and costs != {row["outcome"]: 1.0 - row["score"]}:
        content["costs"] = costs
    return content


def _write_text(value: Any) -> str:
    """Return a string unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _explain(scored: Scored, answer: int, accepted: Sequence[Any]) -> tuple[str, int, dict[str, Any]]:
    """Explain the score of an answer by a sentence, the index of the closest reference, and the edits or the tree."""
    prediction = scored.answers.predictions[answer]
    if prediction is None:
        return "The submission has no answer to it, so 0.", 0, {}
    if scored.answer_scores[answer] == 1.0 and scored.scorer.has_edits and prediction in accepted:
        return SENTENCES["equal"], accepted.index(prediction), {}  # most answers; explaining takes time
    why = scored.why(answer)
    return why.sentence, getattr(why, "winner", 0), describe_drawing(why)


def describe_drawing(why: Any) -> dict[str, Any]:
    """Return the data that the report script draws for an explanation: the ``edits`` of a string, the ``tree`` of a
    value, or nothing.
    """
    if isinstance(why, Explanation):
        return {"edits": align(why)} if why.best.distance and why.normalized_prediction else {}
    has_tree = hasattr(why, "tree") and why.tree.children
    return {"tree": _describe_branch(why.tree)} if has_tree else {}


def _describe_branch(branch: Branch) -> dict[str, Any]:
    """Describe a branch, including the branches inside it and the ``edits`` of a leaf. A branch that contains other
    branches has neither prediction nor reference.
    """
    inside = list(map(_describe_branch, branch.children))
    values = (None, None) if inside else (branch.prediction, branch.reference)
    prediction, reference = (None if value is None else format_value(value) for value in values)
    why = branch.leaf.text if branch.leaf else None
    return {
        "name": branch.name,
        "prediction": prediction,
        "reference": reference,
        "score": branch.score,
        "sentence": branch.sentence,
        "inside": inside,
        **(describe_drawing(why) if why and (prediction, reference) == (why.prediction, why.closest) else {}),
    }
