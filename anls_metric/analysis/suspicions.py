"""Explains why the label of a question is suspected to be wrong."""

from __future__ import annotations

from collections.abc import Sequence

from anls_metric.analysis.causes import show
from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.scored import Scored
from anls_metric.analysis.suspects import find_suspects

SAME_VALUE = "another form"
"""The cause of an answer that has the same value as a reference."""


def explain_suspicions(submissions: Sequence[Scored]) -> list[tuple[str, str]]:
    """List the ids of the questions whose references look incomplete, each with the reason. Questions on which most
    submissions agree come first, followed by questions whose answer has the same value as a reference.

    Example:
        >>> from anls_metric import score
        >>> explain_suspicions([score(["4"], [["four"]])["data"]])
        [('1', '"4" has the value of a reference, written differently')]
    """
    found = {
        suspect.id: (
            f"{suspect.submissions} models give the same answer, {show(suspect.answer)}, and it is not a reference"
        )
        for suspect in find_suspects(submissions)
    }
    for scored in submissions:
        causes, answers = account_for(scored).main_causes, scored.answers
        for place, answer in enumerate(scored.representatives):
            if causes[answer] == SAME_VALUE and isinstance(answers.predictions[answer], str):
                reason = f"{show(answers.predictions[answer])} has the value of a reference, written differently"
                found.setdefault(scored.questions.ids[place], reason)
    return list(found.items())
