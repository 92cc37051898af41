"""Handles fields with several answers from a model to one question, by scoring all of them or choosing one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from anls_metric.core.checks import count_noun
from anls_metric.core.scorer import Scorer
from anls_metric.reading.answers import Answers, choose_answers, list_places, list_references
from anls_metric.reading.join import extract_answers
from anls_metric.reading.reading import Reading
from anls_metric.reading.responses import Samples

_Choose = Callable[[Answers, Sequence[int], Scorer], int]
"""A function that returns the position of one of the answers at the given positions, chosen with the help of a scorer.
"""


def _vote(answers: Answers, rows: Sequence[int], scorer: Scorer) -> int:
    """Choose the answer that is most frequent after normalization, or the first of several equally frequent answers."""
    texts = {row: scorer.as_text(answers.predictions[row]) for row in rows if answers.predictions[row] is not None}
    if not texts:
        return rows[0]
    [(text, _)] = Counter(texts.values()).most_common(1)
    return next(row for row, own in texts.items() if own == text)


def _take_best(answers: Answers, rows: Sequence[int], scorer: Scorer) -> int:
    """Choose the answer with the highest score, or the first of several answers with the same score, by using the
    references as an oracle would.
    """
    references = list_references(answers)
    given = [row for row in rows if answers.predictions[row] is not None]
    scores = scorer.score([answers.predictions[row] for row in given], [references[row] for row in given])
    return max(zip(scores, given), key=lambda pair: float(pair[0]))[1] if given else rows[0]


_WAYS: Mapping[str, tuple[str, _Choose | None]] = {
    "mean": ("the mean of {samples}", None),
    "vote": ("the most frequent of {samples}", _vote),
    "best": ("the best of {samples}, as an oracle chooses", _take_best),
}
"""For each value of the option, the text to add to the line that says what was read, and the function that chooses an
answer, or None to keep all answers.
"""


def extract_samples(answers: Answers, reading: Reading) -> Answers:
    """Extract the answers from raw model output in which questions may have several answers, and choose one answer to
    each question if the option asks for this.

    Args:
        answers: the answers, each of which may be `Samples`.
        reading: how to read the answers.

    Returns:
        All answers, as for several runs, or the answer that was chosen from each `Samples`.
    """
    samples = [own if isinstance(own, Samples) else [own] for own in answers.predictions]
    rows = [row for row, own in enumerate(samples) for _ in own]
    places, way = list_places(answers), reading.settings.samples or "mean"
    each = choose_answers(answers, answers.questions, rows, [places[row] for row in rows])
    each = extract_answers(each._replace(predictions=[answer for own in samples for answer in own]), reading)
    words, choose = _WAYS[way]
    sizes = {len(own) for own, prediction in zip(samples, answers.predictions) if prediction is not None}
    size = sizes.pop() if len(sizes) == 1 else None
    count = f"{size} samples per question" if size else count_noun(len(rows), "sample")
    if size != 1:
        each = each._replace(read=each.read.add(words.format(samples=count)))
    if choose is None:
        return each
    groups: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row, []).append(number)
    chosen = [choose(each, group, reading.scorer) for group in groups.values()]
    each = choose_answers(each, each.questions, chosen, places)
    return each._replace(samples=f"{way}_of_{size}" if size else way)
