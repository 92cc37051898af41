"""The text of a hint or an error on the page, and the button beside it that changes a setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from anls_metric.analysis.clusters import CLUSTER_BY
from anls_metric.analysis.hints import Hint
from anls_metric.core.variants import OF_VALUES
from anls_metric.page.messages import describe_error
from anls_metric.reading import remedies
from anls_metric.reading.remedies import Door, Remedy


class Action(NamedTuple):
    """What the button for a remedy does: a row of `ACTIONS`. ``{value}`` stands for the value of the hint or error.

    Attributes:
        setting: the setting to change, by the name of the argument of an endpoint.
        value: the new value; "true" turns on a switch.
        label: the label of the button.
    """

    setting: str
    value: str
    label: str


_UNANSWERED = Action("unanswered_score_0", "true", "Score unanswered questions 0")
_RUNS = Action("runs", "question", "Take them as runs of one model")

ACTIONS: Mapping[Remedy, Action] = {
    remedies.EXTRACT: Action("extract", "{value}", "Extract with {value}"),
    remedies.MISSING: _UNANSWERED,
    remedies.NO_ANSWER: _UNANSWERED,
    remedies.EXTRA: Action("ignore_extra", "true", "Ignore answers to other questions"),
    remedies.UNKNOWN_IDS: Action("id_field", "none", "Match answers by position"),
    remedies.REPEATED_IDS: _RUNS,
    remedies.RUNS: _RUNS,
    remedies.SUBMISSION_FIELD: Action("submission_field", "{value}", "Score each {value} by itself"),
    remedies.REFERENCES_SEPARATOR: Action("references_separator", "{value}", "Split accepted answers at “{value}”"),
    **dict.fromkeys(
        (remedies.VALUES, remedies.PART_OR_VALUES), Action("variant", OF_VALUES[0], f"Score with {OF_VALUES[0]}")
    ),
    CLUSTER_BY: Action("cluster_by", "{value}", "Cluster questions by {value}"),
}


class Advice(NamedTuple):
    """A sentence for a visitor, and the button beside it.

    Attributes:
        text: the sentence.
        action: the action of the button, with the value filled in; None for no button.
    """

    text: str
    action: Action | None = None


def advise(problem: Hint | Exception, door: Door = "page") -> Advice:
    """Describe a problem, and offer to change the setting that fixes it.

    Example:
        >>> hint = Hint("wrapped", "9 of 10 predictions look like raw model output", remedies.EXTRACT, "think,final")
        >>> advise(hint).action
        Action(setting='extract', value='think,final', label='Extract with think,final')
        >>> advise(ValueError("too large"))
        Advice(text='too large', action=None)
    """
    text = problem.format_for(door) if isinstance(problem, Hint) else describe_error(problem, door)
    remedy, value = getattr(problem, "remedy", ""), getattr(problem, "value", "")
    action = ACTIONS.get(remedy) if isinstance(remedy, Remedy) and len(value) <= _LONGEST_VALUE else None
    if action and (value or "{value}" not in action.value):
        action = Action(*(part.format(value=value) for part in action))
        return Advice(text, action)
    return Advice(text)


_LONGEST_VALUE = 200  # characters of a value in a label
