"""Every question with its answers, as columns: the data that report.js reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.outcomes import OUTCOMES
from anls_metric.analysis.questions import Question
from anls_metric.analysis.scored import Scored, ScoredSet, group_names
from anls_metric.core.explanation import WORDS, Explanation
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import Variant
from anls_metric.reading.values import format_value
from anls_metric.report.document import get_question_text
from anls_metric.report.images import Images, find_image_name

MOST_BYTES = 24_000_000
"""The limit for the texts of a report: about 200,000 answers of everyday length."""

_PLACES = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}
_BYTES_BESIDES_TEXT = 24  # of an answer
_NO_ANSWER = "The submission has no answer to it, so 0."


def select_questions(questions: Sequence[Question], most_bytes: int = MOST_BYTES) -> list[Question]:
    """As many questions as fit, in their order. Questions with a difference or a zero are taken first.

    Args:
        questions: all questions.
        most_bytes: about how many bytes their texts may take.
    """
    sizes = list(map(_count_bytes, questions))
    if sum(sizes) <= most_bytes:
        return list(questions)
    kept, room = set(), most_bytes
    for place in sorted(range(len(questions)), key=lambda place: not questions[place].needs_a_look):
        room -= sizes[place]
        if room >= 0:
            kept.add(place)
        elif not questions[place].needs_a_look:
            break
        else:
            room += sizes[place]  # too large; the next question may fit
    return [question for place, question in enumerate(questions) if place in kept]


def _count_bytes(question: Question) -> int:
    row = question.row
    texts = [row.id, str(row.record.get("question", "")), *_format_references(row.references)]
    texts += [_format_prediction(answer) or "" for answer in question.answers]
    texts += [answer.row.written or "" for answer in question.answers if answer]
    return sum(map(len, texts)) + _BYTES_BESIDES_TEXT * len(question.answers)


def build_question_data(
    questions: Sequence[Question],
    scored_sets: Sequence[ScoredSet],
    fields: Sequence[str] = (),
    images: Images | None = None,
) -> dict[str, Any]:
    """The data of N questions, a list of length N for each property.

    Args:
        questions: the N questions to show.
        scored_sets: the scored sets of the submissions, as many as each question has answers.
        fields: the fields of the records that group the questions.
        images: the images of the report; the images of the questions are added to it.

    Returns:
        A dict of values that JSON can hold. Values of questions and answers are texts; lists and objects are JSON.

        - ``ids``, ``questions``, ``image_names``: N texts.
        - ``references``: N lists of texts.
        - ``pictures``: ``data:`` addresses; ``images``: N indices into them, -1 for no picture.
        - ``groups``: for each field a dict: ``names`` of the groups, and ``of``, N lists of indices into ``names``.
        - ``sentences``: every reason of a score, once.
        - ``answers``: for each submission a dict of columns of length N: ``predictions`` (None: no answer), ``scores``
          (None: the submission was not asked), ``outcomes`` (indices into `OUTCOMES`, -1: not asked), ``sentences``
          (indices), ``closest`` (indices into the references); and of dicts by the number of the question:
          ``references`` where they differ from those of the question, ``written`` where an answer was extracted from
          the output of a model, ``trees`` of nested values.
    """
    names = [find_image_name(question.row.record) for question in questions]
    if images:
        images.add(name for name, question in zip(names, questions) if question.needs_a_look)
        images.add(names)
    pictures = list(images.data) if images else []
    picture_places = {name: place for place, name in enumerate(pictures)}
    sentences = _Index()
    return {
        "ids": [question.id for question in questions],
        "questions": [get_question_text(question.row) or "" for question in questions],
        "references": [_format_references(question.row.references) for question in questions],
        "image_names": names,
        "images": [picture_places.get(name, -1) for name in names],
        "pictures": [images.data[name] for name in pictures] if images else [],
        "groups": {field: _index_groups(questions, field) for field in fields},
        "answers": [
            _collect_answers(questions, place, scored_set, sentences) for place, scored_set in enumerate(scored_sets)
        ],
        "sentences": list(sentences.places),
    }


class _Index:
    """A list of distinct texts, and the place of each in the list."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The place of a text, which is added if it is new."""
        return self.places.setdefault(text, len(self.places))


def _index_groups(questions: Sequence[Question], field: str) -> dict[str, Any]:
    names = _Index()
    of = [[names.add(name) for name in group_names(question.row.record, field)] for question in questions]
    return {"names": list(names.places), "of": of}


def _collect_answers(
    questions: Sequence[Question], place: int, scored_set: ScoredSet, sentences: _Index
) -> dict[str, Any]:
    columns: dict[str, Any] = {"predictions": [], "scores": [], "outcomes": [], "sentences": [], "closest": []}
    columns |= {"references": {}, "written": {}, "trees": {}}
    for number, question in enumerate(questions):
        answer = question.answers[place]
        sentence, closest, tree = _explain(answer, scored_set) if answer else ("", 0, None)
        columns["predictions"].append(_format_prediction(answer))
        columns["scores"].append(answer.score if answer else None)
        columns["outcomes"].append(_PLACES[answer.outcome] if answer else -1)
        columns["sentences"].append(sentences.add(sentence))
        columns["closest"].append(closest)
        if answer and answer.row.references != question.row.references:
            columns["references"][number] = _format_references(answer.row.references)
        if answer and answer.row.written not in (None, columns["predictions"][-1]):
            columns["written"][number] = answer.row.written
        if tree:
            columns["trees"][number] = tree
    return columns


def _explain(answer: Scored, scored_set: ScoredSet) -> tuple[str, int, list[Any] | None]:
    """Why an answer has its score: a sentence, the index of the closest accepted answer, and the tree of a value."""
    row, scorer = answer.row, scored_set.scorer
    if row.prediction is None:
        return _NO_ANSWER, 0, None
    # Most answers score 1. For these no distance is computed.
    if answer.score == 1.0 and isinstance(scorer, Variant) and not scorer.all_or_nothing:
        if row.prediction in row.references:
            return WORDS["equal"].sentence, row.references.index(row.prediction), None
        normalize = normalizer(scorer)
        return (
            WORDS["alike"].sentence,
            [*map(normalize, map(str, row.references))].index(normalize(str(row.prediction))),
            None,
        )
    why = scored_set.explain(answer)
    if isinstance(why, Explanation):
        return why.sentence, why.winner, None
    return why.tree.sentence, 0, _list_branch(why.tree) if why.tree.children else None


def _list_branch(branch: Any) -> list[Any]:
    """A branch of the tree of a value: name, prediction, reference, score, sentence, and the branches inside it."""
    inside = [_list_branch(child) for child in branch.children]
    values = (None, None) if inside else (branch.prediction, branch.reference)
    texts = [None if value is None else format_value(value) for value in values]
    return [branch.name, *texts, branch.score, branch.sentence, inside]


def _format_prediction(answer: Scored | None) -> str | None:
    """The answer of a submission, None if there is none."""
    return None if answer is None or answer.row.prediction is None else format_value(answer.row.prediction)


def _format_references(references: Sequence[Any]) -> list[str]:
    return list(map(format_value, references))


_SURROGATE = re.compile("[\ud800-\udfff]")


def encode_script_data(data: Mapping[str, Any]) -> str:
    r"""Data as JSON for a script element; the texts in it cannot end the element.

    Example:
        >>> encode_script_data({"text": "</script><!--"})
        '{"text":"\\u003c/script>\\u003c!--"}'
    """
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", content.replace("<", "\\u003c"))
