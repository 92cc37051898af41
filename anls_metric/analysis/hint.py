"""Defines `Hint`, and decides whether the module `hints` needs to look for hints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from anls_metric.analysis.scored import Scored
from anls_metric.messages import FrontEnd, Message
from anls_metric.options import RUNS, Settings


@dataclass(frozen=True)
class Hint:
    """A reason to doubt a score. It never changes a score.

    Attributes:
        message: what looks wrong, and what to do.
        submission: the name of the submission; "" if the hint is about all submissions or about the only one.
        extract: the proposed extraction steps, including those in use; () if none are proposed.
        anls: the score after the remedy; None if it is not known.
        cost: the amount by which the score is too low, which decides the order of hints; 1 if a file or a comparison is
            not what it seems.
        before: the score before the remedy, if the text shows the scores before and after the remedy.
    """

    message: Message
    submission: str = ""
    extract: tuple[str, ...] = ()
    anls: float | None = None
    cost: float = 0.0
    before: float | None = None

    def text(self, front_end: FrontEnd = "python", form: Callable[[Any], str] = "{:.4f}".format) -> str:
        """Return the text of the hint for a front end, including the submission name. The function `form` formats
        scores.
        """
        text = self.message.text(front_end)
        if self.before is not None:
            text += f" ({form(self.before)} now, {form(self.anls)} then)"
        return f"{self.submission}: {text}" if self.submission else text


def wants_account(settings: Settings) -> bool:
    """Whether the settings call for the account of lost points and for hints about answers."""
    is_kept = bool(settings.report) or any(path.lower().endswith(RUNS) for path in settings.output)
    return is_kept or not (settings.quiet or settings.score_only)


MANY_RIGHT = 25
"""The minimum number of answers for a submission without errors to look like a copy of the references."""


def may_have_hints(scored: Scored) -> bool:
    """Whether hints about answers are possible because any answer loses points, there are many answers, or any
    reference is a string that looks like JSON.
    """
    if len(scored.answer_scores) >= MANY_RIGHT or any(score < 1.0 for score in scored.answer_scores):
        return True
    texts = chain.from_iterable(scored.questions.references)
    return any(isinstance(text, str) and text.lstrip()[:1] in ("{", "[") for text in texts)
