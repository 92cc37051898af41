"""Computes two parts of a score: what a submission loses because of formatting, and what it gains from wrong
numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from anls_metric.analysis.outcomes import is_another_number, is_same_but_formatting
from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.analysis.scored import Scored, average
from anls_metric.core.scorer import mean
from anls_metric.reading.answers import list_references


class PartialCredit(NamedTuple):
    """Parts of a score, from 0 to 1. The fields are keys of the JSON document.

    Attributes:
        format_loss: how much higher the score would be if each answer scored 1 that has the value, or the letters and
            digits, of an accepted answer.
        wrong_number_credit: how much lower the score would be if wrong numbers scored 0: answers under 1 that contain
            digits, and different digits from every accepted answer. An answer of `format_loss` is not wrong.
    """

    format_loss: float
    wrong_number_credit: float


FORMAT_LOSS, WRONG_NUMBER_CREDIT = PartialCredit._fields

# Answers with another outcome score 0, or 1, and have neither the same value nor the same letters and digits.
_OUTCOMES = frozenset({"close enough", "same value", "contains an answer", "part of an answer", "formatting"})


def find_partial_credit(scored: Scored) -> dict[str, list[int]]:
    """Find the answers that lose credit because of their format, and those that gain credit although their number is
    wrong.

    Args:
        scored: answers of strings.

    Returns:
        The places of the answers for each field of `PartialCredit`.

    Example:
        >>> from anls_metric import score
        >>> find_partial_credit(score(["240", "0.26"], [["240.00"], ["0.28"]])["data"])
        {'format_loss': [0], 'wrong_number_credit': [1]}
    """
    answers, scores = scored.answers, scored.answer_scores
    references, normalize = list_references(answers), scored.scorer.as_text
    lost, gained = [], []
    for place, outcome in enumerate(scored.answer_outcomes):
        if outcome in _OUTCOMES and scores[place] < 1.0:
            prediction, accepted = answers.predictions[place] or "", references[place]
            if is_any_same_value(prediction, accepted) or is_same_but_formatting(
                normalize(prediction), list(map(normalize, accepted))
            ):
                lost.append(place)
            elif scores[place] > 0.0 and is_another_number(prediction, accepted):
                gained.append(place)
    return {FORMAT_LOSS: lost, WRONG_NUMBER_CREDIT: gained}


def measure_partial_credit(scored: Scored) -> PartialCredit:
    """Measure the partial credit of string answers. Runs are averaged by question.

    Example:
        >>> from anls_metric import score
        >>> measure_partial_credit(score(["240", "0.26", "coal"], [["240.00"], ["0.28"], ["cola"]])["data"])
        PartialCredit(format_loss=0.16666666666666666, wrong_number_credit=0.25)
    """
    scores, places = scored.answer_scores, find_partial_credit(scored)
    lost, gained = [0.0] * len(scores), [0.0] * len(scores)
    for place in places[FORMAT_LOSS]:
        lost[place] = 1.0 - scores[place]
    for place in places[WRONG_NUMBER_CREDIT]:
        gained[place] = scores[place]
    return PartialCredit(mean(average(scored.answers, lost)), mean(average(scored.answers, gained)))
