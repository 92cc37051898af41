"""Every question with its answers, as columns: what the script of the report reads."""

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
from anls_metric.reading.values import written
from anls_metric.report.images import Images, image_name

MOST_BYTES = 24_000_000
"""Of the texts of a report: about 200,000 answers of everyday length."""

_PLACES = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}
_ANSWER = 24  # bytes of an answer besides its text
_NO_ANSWER = "The submission has no answer to it, so 0."


def shown_questions(questions: Sequence[Question], most_bytes: int = MOST_BYTES) -> list[Question]:
    """As many questions as a file may hold, in their order; every difference and every zero comes before any other."""
    sizes = list(map(_size, questions))
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
            room += sizes[place]  # a giant; the next one may fit
    return [question for place, question in enumerate(questions) if place in kept]


def _size(question: Question) -> int:
    row = question.row
    texts = [row.id, str(row.record.get("question", "")), *_references(row.references)]
    texts += [_text(answer) or "" for answer in question.answers]
    texts += [answer.row.written or "" for answer in question.answers if answer]
    return sum(map(len, texts)) + _ANSWER * len(question.answers)


def columns(
    questions: Sequence[Question],
    scored_sets: Sequence[ScoredSet],
    fields: Sequence[str] = (),
    images: Images | None = None,
) -> dict[str, Any]:
    """What is known of questions, a list for each thing.

    Args:
        questions: those that are shown.
        scored_sets: those of the submissions, which say why an answer has its score.
        fields: of the records, by which questions are put into groups.
        images: takes in those of the questions.

    Returns:
        ``ids``, ``questions``, ``references``; ``pictures`` and for each question the place of its own in them (-1 for
        none); ``groups``: by field, the names and for each question the places of its own; ``sentences``; ``answers``:
        for each submission the predictions, scores (None: it was not asked), outcomes, and places of the sentences and
        of the closest accepted answers, with the references where they are others than those of the question, with
        what the model wrote where the prediction was taken out of that, and with the trees of lists and nested values.
        A value is written as JSON.
    """
    names = [image_name(one.row.record) for one in questions]
    if images:
        images.add(name for name, one in zip(names, questions) if one.needs_a_look)
        images.add(names)
    pictures = list(images.data) if images else []
    picture_places = {name: place for place, name in enumerate(pictures)}
    sentences = _Places()
    return {
        "ids": [one.id for one in questions],
        "questions": [_asked(one.row.record) for one in questions],
        "references": [_references(one.row.references) for one in questions],
        "image_names": names,
        "images": [picture_places.get(name, -1) for name in names],
        "pictures": [images.data[name] for name in pictures] if images else [],
        "groups": {field: _groups(questions, field) for field in fields},
        "answers": [_answers(questions, place, one, sentences) for place, one in enumerate(scored_sets)],
        "sentences": list(sentences.known),
    }


def _asked(record: Mapping[str, Any]) -> str:
    asked = record.get("question")
    return asked if isinstance(asked, str) else ""


class _Places:
    """Texts, each kept once, and their places."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


def _groups(questions: Sequence[Question], field: str) -> dict[str, Any]:
    places = _Places()
    of = [[places.of(name) for name in group_names(one.row.record, field)] for one in questions]
    return {"names": list(places.known), "of": of}


def _answers(questions: Sequence[Question], place: int, scored_set: ScoredSet, sentences: _Places) -> dict[str, Any]:
    found: dict[str, Any] = {"predictions": [], "scores": [], "outcomes": [], "sentences": [], "closest": []}
    found |= {"references": {}, "written": {}, "trees": {}}
    for number, question in enumerate(questions):
        answer = question.answers[place]
        said, closest, tree = _explain(answer, scored_set) if answer else ("", 0, None)
        found["predictions"].append(_text(answer))
        found["scores"].append(answer.score if answer else None)
        found["outcomes"].append(_PLACES[answer.outcome] if answer else -1)
        found["sentences"].append(sentences.of(said))
        found["closest"].append(closest)
        if answer and answer.row.references != question.row.references:
            found["references"][number] = _references(answer.row.references)
        if answer and answer.row.written not in (None, found["predictions"][-1]):
            found["written"][number] = answer.row.written
        if tree:
            found["trees"][number] = tree
    return found


def _explain(answer: Scored, scored_set: ScoredSet) -> tuple[str, int, list[Any] | None]:
    """Why an answer has its score, in a sentence; the place of the closest accepted answer; and the tree of a value."""
    row, scorer = answer.row, scored_set.scorer
    if row.prediction is None:
        return _NO_ANSWER, 0, None
    if answer.score == 1.0 and isinstance(scorer, Variant) and not scorer.all_or_nothing:  # most: nothing is measured
        if row.prediction in row.references:
            return WORDS["equal"].sentence, row.references.index(row.prediction), None
        normalize = normalizer(scorer)
        return WORDS["alike"].sentence, [*map(normalize, row.references)].index(normalize(row.prediction)), None
    why = scored_set.explain(answer)
    if isinstance(why, Explanation):
        return why.sentence, why.winner, None
    return why.tree.sentence, 0, _branch(why.tree) if why.tree.children else None


def _branch(branch: Any) -> list[Any]:
    """A branch of the tree of a value: name, prediction, reference, score, sentence, and what is inside it."""
    inside = [_branch(child) for child in branch.children]
    sides = () if inside else (branch.prediction, branch.reference)
    texts = [None if one is None else written(one) for one in sides] or [None, None]
    return [branch.name, *texts, branch.score, branch.sentence, inside]


def _text(answer: Scored | None) -> str | None:
    """What a submission says, None where it says nothing."""
    return None if answer is None or answer.row.prediction is None else written(answer.row.prediction)


def _references(references: Sequence[Any]) -> list[str]:
    return [written(one) for one in references]


_SURROGATE = re.compile("[\ud800-\udfff]")


def as_script(data: Mapping[str, Any]) -> str:
    r"""Data as JSON that can stand in a script element, whatever texts it holds.

    Example:
        >>> as_script({"text": "</script><!--"})
        '{"text":"\\u003c/script>\\u003c!--"}'
    """
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", written.replace("<", "\\u003c"))
