"""Finds problems in files that can still be scored, and suggests remedies.

A hint comes from a row of the account of lost points that good models do not have, or from a sign, which no single
answer shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any, NamedTuple, get_args

from anls_metric.analysis.causes import MIN_ANSWERS, NULLS, show
from anls_metric.analysis.hint import MANY_RIGHT, Hint
from anls_metric.analysis.lost_points import COUNTED, LostPoints, account_for
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.step_search import advise, try_values
from anls_metric.analysis.steps import RAW
from anls_metric.core.scorer import Form
from anls_metric.core.strings.abstention import abstains
from anls_metric.core.strings.matches import contains_any
from anls_metric.messages import Message
from anls_metric.reading.answers import list_places, list_references

MAX_HINTS = 3
"""The maximum number of hints about the answers in a submission."""

LEAST = 4  # answers with a cause that also occurs with good models


class WrongAnswer(NamedTuple):
    """An answer that scores less than 1."""

    prediction: Any
    references: Sequence[Any]
    score: float


def find_hints(scored: Scored) -> list[Hint]:
    r"""Find at most three hints about the answers in a submission, with those that cost the most points first.

    A hint comes from a row of the account of lost points that good models do not have, or from a sign, which is not a
    cause.

    Example:
        >>> from anls_metric import score
        >>> scores = score(["<think>A logo.</think>Coca Cola", "Pepsi"], [["Coca Cola"], ["Pepsi"]])
        >>> (hint,) = find_hints(scores["data"])
        >>> print(hint.text("command").replace(": ", ":\n"))
        1 of 2 predictions look like raw model output:
        extract the answers with --extract think (0.5000 now, 1.0000 then)
    """
    answers = scored.answers
    rows = zip(answers.predictions, list_references(answers), scored.answer_scores)
    wrong = [WrongAnswer(*row) for row in rows if row[2] < 1.0 and row[0] is not None]
    hints = [*_list_rows(scored, account_for(scored)), *_hint_at_values(scored), *_try_signs(SIGNS, scored, wrong)]
    if 4 * sum(hint.cost for hint in hints) < 1.0 - scored.anls:
        hints += _try_signs(LAST_SIGNS, scored, wrong)[:1]
    return sorted(hints, key=lambda hint: -hint.cost)[:MAX_HINTS]


def _say(scored: Scored, count: float, sentence: str, start: str = COUNTED, **values: Any) -> Hint:
    """Create a hint about some answers, whose cost is the share of these answers among all given answers."""
    total = len(scored.answers.predictions) - scored.answers.predictions.count(None) or 1
    return Hint(Message("", start + sentence, {"count": round(count), "total": total, **values}), cost=count / total)


def _list_rows(scored: Scored, account: LostPoints) -> Iterator[Hint]:
    """Create a hint from each row of the account of lost points that is worth one."""
    total = len(scored.answer_scores)
    shares = {cause.name: cause.share for cause in account.table.rows}
    for row in account.rows:
        values, sentence = {**row.meaning.values, **row.remedy.values}, f"{row.meaning.sentence}: {row.remedy.sentence}"
        start = account.table.counted if row.anls is None else COUNTED
        hint = _say(scored, row.answers, sentence, start, **values)
        if row.anls is not None:
            extract = tuple((row.options or {}).get("extract", "").split(",")) if row.cause == RAW else ()
            yield replace(hint, extract=extract, before=scored.anls, anls=row.anls, cost=row.points)
        else:
            share = shares.get(row.cause)
            is_many = share and row.answers >= LEAST and row.points > share + 10 * share / sqrt(total)
            if share == 0.0 or is_many:
                yield replace(hint, cost=row.points)


def _hint_at_values(scored: Scored) -> list[Hint]:
    """Return a hint if references are JSON but scored as strings, and if the account has no step that scores their
    fields because such a step would not raise the score.
    """
    found = None if "variant" in account_for(scored).typed else try_values(scored)
    if found is None:
        return []
    step, anls = found
    remedy = advise("references are JSON, and are scored as strings: score their fields", step.options)
    predictions = scored.answers.predictions
    hint = _say(scored, len(predictions) - predictions.count(None), remedy.sentence, **remedy.values)
    return [replace(hint, before=scored.anls, anls=anls)]


# Signs, which no single answer shows. Each is a cheap count over all answers.


Found = tuple[int, str]
"""The number of answers that show a sign, and the value that the sign's sentence mentions, or "" for no value."""


class Sign(NamedTuple):
    """A sign that something is wrong with the answers, which is a row of `SIGNS` or `LAST_SIGNS`.

    Attributes:
        find: a function that counts the answers with the sign and finds the value that the sentence mentions, or
            returns None if there is no sign.
        sentence: the text after the number of answers, which says what is wrong and what to do.
        forms: the forms of answers to which the sign applies.
        least: the smallest number of answers that leads to a hint; above 1 if the sign can occur by chance.
    """

    find: Callable[[Scored, Sequence[WrongAnswer]], Found | None]
    sentence: str
    forms: tuple[Form, ...] = get_args(Form)
    least: int = 1


def _try_signs(signs: Sequence[Sign], scored: Scored, wrong: Sequence[WrongAnswer]) -> list[Hint]:
    """Check signs, and create hints from those that enough answers show."""
    hints = []
    for sign in signs:
        found = sign.find(scored, wrong) if scored.scorer.form in sign.forms else None
        if found and found[0] >= sign.least:
            hints.append(_say(scored, found[0], sign.sentence, value=found[1]))
    return hints


def _find_copies(scored: Scored, wrong: Sequence[WrongAnswer]) -> Found | None:
    """Return the number of predictions if every prediction equals a reference, as in a copy of the gold file.

    A good model may get every number and every multiple-choice letter right, but it writes some words in its own way.
    """
    answers = scored.answers
    rows = zip(answers.predictions, list_references(answers))
    pairs = [] if wrong or answers.raw else [row for row in rows if row[0] is not None]
    words = {str(text) for text, _ in pairs if str(text).upper() != str(text).lower()}
    are_copied = len(words) >= MIN_ANSWERS and all(text in texts for text, texts in pairs)
    return (len(pairs), "") if are_copied else None


def _find_same(scored: Scored, wrong: Sequence[WrongAnswer]) -> Found | None:
    """Find a wrong answer that is given at least ten times as often as there are questions whose references it
    contains.
    """
    [(text, count)] = Counter(case.prediction for case in wrong).most_common(1) or [("", 0)]
    if count < max(MIN_ANSWERS, 0.05 * len(scored.answer_scores)) or text in NULLS or abstains(text):
        return None
    references = (list(map(str.lower, texts)) for texts in list_references(scored.answers))
    accepted = sum(contains_any(text.lower(), texts) for texts in references)
    return (count, show(text)) if 10 * accepted <= count else None


def _find_zeros(scored: Scored, wrong: Sequence[WrongAnswer]) -> Found | None:
    """Find the answers that score 0, if they are more than half of all answers and too many to be due to chance."""
    zeros = [case for case in wrong if case.score == 0.0]
    total = len(scored.answer_scores)
    if len(zeros) < min(total, total / 2 + 1.5 * sqrt(total)):
        return None
    some = zeros[:: len(zeros) // 3 or 1][:3]
    return len(zeros), ", ".join(f"{show(case.prediction)} for {show(case.references[0])}" for case in some)


def _find_blank_questions(scored: Scored, wrong: Sequence[WrongAnswer]) -> Found | None:
    """Find wrong answers to questions that have neither text nor references."""
    texts, references, answers = scored.questions.texts, list_references(scored.answers), scored.answers.predictions
    blank = [
        place
        for place, (question, score) in enumerate(zip(list_places(scored.answers), scored.answer_scores))
        if score < 1.0 and answers[place] is not None and texts[question] == "" and not any(references[place])
    ]
    return (len(blank), "") if blank else None


def _find_prompts(scored: Scored, wrong: Sequence[WrongAnswer]) -> Found | None:
    """Find wrong answers that contain the text of their question."""
    texts, answers = scored.questions.texts, scored.answers
    outputs = answers.predictions if answers.raw is None else answers.raw
    count = sum(
        score < 1.0 and len(text := texts[question] or "") >= _LONG and text in str(outputs[place])
        for place, (question, score) in enumerate(zip(list_places(answers), scored.answer_scores))
    )
    return (count, "") if count else None


_LONG = 12  # characters of a question, which no answer contains by chance

SIGNS = (
    Sign(
        _find_prompts,
        "predictions contain the question: if the output includes the prompt, decode only the generated tokens",
        forms=("text",),
        least=LEAST,
    ),
    Sign(
        _find_blank_questions,
        "questions have no text and no reference, so any answer is wrong: leave them out of the gold file",
        forms=("text",),
    ),
    Sign(
        _find_copies,
        "predictions equal a reference exactly, as in a copy of the gold file: check {use.prediction}",
        least=MANY_RIGHT,
    ),
)
LAST_SIGNS = (
    Sign(
        _find_same,
        "predictions are the same wrong answer, {value}: check the program that wrote them",
        forms=("text",),
    ),
    Sign(_find_zeros, "predictions score 0, such as {value}: check the ids, the split, and {use.prediction}", least=5),
)
"""The signs to check only if other hints explain less than a quarter of the lost points. Only the first sign that
applies leads to a hint.
"""
