"""Builds the data that the script of the report reads: every question with its answers, as columns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anls_metric.analysis.alignment import Aligner
from anls_metric.analysis.confusions import list_confused
from anls_metric.analysis.outcomes import OUTCOMES, Judge
from anls_metric.analysis.points import find_points
from anls_metric.analysis.questions import Question
from anls_metric.analysis.scored import ScoredRow, ScoredSet, group_names
from anls_metric.core.explanation import WORDS, Explanation
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import Variant, get_variant
from anls_metric.reading.values import format_value
from anls_metric.report.document import MOST_CONFUSIONS, get_question_text
from anls_metric.report.images import Images, find_page_name

if TYPE_CHECKING:
    from anls_metric.nested.star_explanation import Branch

MOST_BYTES = 24_000_000
"""The limit for the texts of a report: about 200,000 answers of everyday length."""

_PLACES = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}
_BYTES_BESIDES_TEXT = 24  # per answer
_NO_ANSWER = "The submission has no answer to it, so 0."


def select_questions(questions: Sequence[Question], most_bytes: int = MOST_BYTES) -> list[Question]:
    """Select as many questions as fit, in their order. Questions with a difference or a zero take precedence.

    Args:
        questions: all questions.
        most_bytes: the approximate limit for their texts.
    """
    sizes = list(map(_count_bytes, questions))
    if sum(sizes) <= most_bytes:
        return list(questions)
    places, room = set(), most_bytes
    for place in sorted(range(len(questions)), key=lambda place: not questions[place].needs_a_look):
        room -= sizes[place]
        if room >= 0:
            places.add(place)
        elif not questions[place].needs_a_look:
            break
        else:
            room += sizes[place]  # too large; the next question may fit
    return [question for place, question in enumerate(questions) if place in places]


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
    added: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """Build the data of N questions, with a list of length N for each property.

    Args:
        questions: the N questions to show.
        scored_sets: the scored sets of the submissions, as many as each question has answers.
        fields: the fields of the records that group the questions.
        images: the images of the report; the images of the questions are added to it.
        added: the accepted answers that corrections added, by the id of the question.

    Returns:
        A dict of values that JSON can hold. Answers that are lists or objects are JSON texts.

        - ``ids``, ``questions``: N texts.
        - ``references``: N lists of texts; ``added``: those that corrections added, by the number of the question.
        - ``pages``: the image or document of each question: ``names``, and ``of``, N indices into ``names``.
        - ``pictures``: ``data:`` URLs; ``images``: N indices into them. The index -1 is the first item of ``missing``,
          -2 the second, and so on: the reason why the image is not embedded, "" for a question without an image.
        - ``groups``: for each field a dict: ``names`` of the groups, and ``of``, for each question an index into
          ``names``, or a list of indices.
        - ``sentences``: the distinct reasons of scores.
        - ``answers``: a dict for each submission. Its columns of length N are ``predictions`` (None: no answer),
          ``scores`` (None: the submission does not have the question), ``outcomes`` (indices into `OUTCOMES`, or -1),
          ``sentences`` (indices) and ``closest`` (indices into the references). Other data are dicts by the number of
          the question: ``references``, if they differ from those of the question; ``written``, the raw model output;
          ``trees`` of nested values; ``edits`` of texts that differ from the closest accepted answer (see
          `alignment.Aligner`; None for too many); ``similarities``, if they differ from the score; and ``points``: for
          each field of `Points` the numbers of the questions that count in it.
        - ``confusions``: for each submission and each confusion that its document lists, the numbers of the questions.
    """
    keys = images.embed(questions) if images else []
    pictures = {key: place for place, key in enumerate(images.data)} if images else {}
    left_out = images.left_out if images else {}
    reasons = _Index()
    reasons.add("")  # for questions without an image
    sentences = _Index()
    return {
        "ids": [question.id for question in questions],
        "questions": [get_question_text(question.row) or "" for question in questions],
        "references": [_format_references(question.row.references) for question in questions],
        "added": {number: list(added[each.id]) for number, each in enumerate(questions) if added and each.id in added},
        "pages": _index_pages(questions),
        "images": [pictures.get(key, -1 - reasons.add(left_out.get(key, ""))) for key in keys]
        if pictures or left_out
        else [],
        "pictures": [images.data[key] for key in pictures] if images else [],
        "missing": list(reasons.places),
        "groups": {field: _index_groups(questions, field) for field in fields},
        "answers": [
            _collect_answers(questions, place, scored_set, sentences) for place, scored_set in enumerate(scored_sets)
        ],
        "sentences": list(sentences.places),
        "confusions": [
            _find_questions_with_confusions(_list_runs(questions, place), scored_set)
            for place, scored_set in enumerate(scored_sets)
        ],
    }


class _Index:
    """A list of distinct texts, and the place of each in the list."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Return the place of a text, after adding it if it is new."""
        return self.places.setdefault(text, len(self.places))


def _index_groups(questions: Sequence[Question], field: str) -> dict[str, Any]:
    names = _Index()
    of = [[names.add(name) for name in group_names(question.row.record, field)] for question in questions]
    return {"names": list(names.places), "of": [places[0] if len(places) == 1 else places for places in of]}


def _index_pages(questions: Sequence[Question]) -> dict[str, Any]:
    names = _Index()
    of = [names.add(find_page_name(question.row.record)) for question in questions]
    return {"names": list(names.places), "of": of if any(names.places) else []}


def _collect_answers(
    questions: Sequence[Question], place: int, scored_set: ScoredSet, sentences: _Index
) -> dict[str, Any]:
    columns: dict[str, Any] = {"predictions": [], "scores": [], "outcomes": [], "sentences": [], "closest": []}
    columns |= {"references": {}, "written": {}, "trees": {}, "edits": {}, "similarities": {}}
    scorer = scored_set.scorer
    aligner = Aligner(scorer if isinstance(scorer, Variant) else get_variant())
    for number, question in enumerate(questions):
        answer = question.answers[place]
        why = _explain(answer, scored_set) if answer else _Reason("")
        columns["predictions"].append(_format_prediction(answer))
        columns["scores"].append(answer.score if answer else None)
        columns["outcomes"].append(_PLACES[answer.outcome] if answer else -1)
        columns["sentences"].append(sentences.add(why.sentence))
        columns["closest"].append(why.closest)
        if answer and answer.row.references != question.row.references:
            columns["references"][number] = _format_references(answer.row.references)
        if answer and answer.row.written not in (None, columns["predictions"][-1]):
            columns["written"][number] = answer.row.written
        if answer and answer.similarity is not None and answer.similarity != answer.score:
            columns["similarities"][number] = round(answer.similarity, 6)
        if why.tree:
            columns["trees"][number] = _list_branch(why.tree, aligner)
        if why.text:
            columns["edits"][number] = aligner.align(why.text.prediction, why.text.best)
    answers = _list_runs(questions, place)
    columns["points"] = _find_questions_with_points(answers, scorer) if isinstance(scorer, Variant) else {}
    return columns


_Answers = Sequence["tuple[int, ScoredRow]"]


def _list_runs(questions: Sequence[Question], place: int) -> _Answers:
    """List the answers of all runs of a submission, each with the number of its question."""
    return [
        (number, answer)
        for number, question in enumerate(questions)
        if (scored := question.answers[place])
        for answer in scored.runs or [scored]
    ]


def _find_questions_with_points(answers: _Answers, variant: Variant) -> dict[str, list[int]]:
    """For each field of `Points` the questions that count in it."""
    places_by_name = find_points(
        Judge(variant),
        [answer.row for _, answer in answers],
        [answer.score for _, answer in answers],
        [answer.outcome for _, answer in answers],
    )
    return {
        name: list(dict.fromkeys(answers[each][0] for each in sorted(places)))
        for name, places in places_by_name.items()
    }


def _find_questions_with_confusions(answers: _Answers, scored_set: ScoredSet) -> list[list[int]]:
    """For each confusion of the document the questions that count in it."""
    if scored_set.confusions is None or not isinstance(scored_set.scorer, Variant):
        return []
    listed = scored_set.confusions.list_most_frequent(MOST_CONFUSIONS)
    numbers: dict[tuple[str, str], dict[int, None]] = {(each.predicted, each.accepted): {} for each in listed}
    for number, answer in answers:
        for pair in list_confused(scored_set.scorer, answer.row, answer.score):
            numbers.get(pair, {})[number] = None
    return list(map(list, numbers.values()))


class _Reason(NamedTuple):
    """The reason of a score: a sentence, the index of the closest accepted answer, and data to draw."""

    sentence: str
    closest: int = 0
    text: Explanation | None = None
    tree: Branch | None = None


def _explain(answer: ScoredRow, scored_set: ScoredSet) -> _Reason:
    row, scorer = answer.row, scored_set.scorer
    if row.prediction is None:
        return _Reason(_NO_ANSWER)
    # Most answers score 1, and need no distance.
    if answer.score == 1.0 and isinstance(scorer, Variant) and not scorer.all_or_nothing:
        if row.prediction in row.references:
            return _Reason(WORDS["equal"].sentence, row.references.index(row.prediction))
        normalize = normalizer(scorer)
        accepted = list(map(normalize, map(str, row.references)))
        return _Reason(WORDS["alike"].sentence, accepted.index(normalize(str(row.prediction))))
    why = scored_set.explain(answer)
    if isinstance(why, Explanation):
        return _Reason(why.sentence, why.winner, why if _has_edits(why) else None)
    if scorer.columns:
        return _Reason(why.sentence)
    return _Reason(why.tree.sentence, tree=why.tree if why.tree.children else None)


def _has_edits(why: Explanation) -> bool:
    return bool(why.best.distance and why.normalized_prediction)


def _list_branch(branch: Branch, aligner: Aligner) -> list[Any]:
    """List the data of a branch: name, prediction, reference, score, sentence, the branches inside it, edits."""
    inside = [_list_branch(child, aligner) for child in branch.children]
    values = (None, None) if inside else (branch.prediction, branch.reference)
    texts = [None if value is None else format_value(value) for value in values]
    parts: list[Any] = [branch.name, *texts, branch.score, branch.sentence, inside]
    why = branch.leaf.text if branch.leaf else None
    if why and _has_edits(why) and texts == [why.prediction, why.closest]:
        parts.append(aligner.align(why.prediction, why.best))
    return parts


def _format_prediction(answer: ScoredRow | None) -> str | None:
    """Format the answer of a submission as a text; None for none."""
    return None if answer is None or answer.row.prediction is None else format_value(answer.row.prediction)


def _format_references(references: Sequence[Any]) -> list[str]:
    return list(map(format_value, references))


_SURROGATE = re.compile("[\ud800-\udfff]")


def encode_script_data(data: Mapping[str, Any]) -> str:
    r"""Encode data as JSON for a script element. Texts in the data cannot end the element.

    Example:
        >>> encode_script_data({"text": "</script><!--"})
        '{"text":"\\u003c/script>\\u003c!--"}'
    """
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", content.replace("<", "\\u003c"))
