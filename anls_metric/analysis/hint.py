"""A hint, and whether hints have to be looked for. Finding them takes more: see `hints`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from anls_metric.analysis.scored import Scored
from anls_metric.core.strings.abstention import abstains
from anls_metric.messages import FrontEnd, Message
from anls_metric.options import RUNS, Settings
from anls_metric.reading.answers import list_references


@dataclass(frozen=True)
class Hint:
    """A reason to doubt a score. It never changes a score.

    Attributes:
        message: what looks wrong, and what to do.
        submission: the name of the submission; "" for all.
        extract: the extraction steps that it proposes, with those in use; () for none.
        anls: the score after the remedy; None if it is not known.
        cost: by how much the score of the set is too low; the most expensive hint is shown first. It is 1 if a file or
            a comparison is not what it seems.
        before: the score before the remedy, if the text shows both.
    """

    message: Message
    submission: str = ""
    extract: tuple[str, ...] = ()
    anls: float | None = None
    cost: float = 0.0
    before: float | None = None

    def text(self, front_end: FrontEnd = "python", form: Callable[[Any], str] = "{:.4f}".format) -> str:
        """Word the hint for a front end, and include the submission name. `form` formats scores."""
        text = self.message.text(front_end)
        if self.before is not None:
            text += f" ({form(self.before)} now, {form(self.anls)} then)"
        return f"{self.submission}: {text}" if self.submission else text


def wants_account(settings: Settings) -> bool:
    """Whether the account of lost points, and hints about answers, are shown."""
    is_kept = bool(settings.report) or any(path.lower().endswith(RUNS) for path in settings.output)
    return is_kept or not (settings.quiet or settings.score_only)


LEAST = 4
"""So many answers must have a cause that good models have, too."""

MANY_RIGHT = 25
"""So many answers that are all right look like a copy of the references."""

_FEW_REFERENCES = 3  # more of one letter each are a string that was taken apart
_OF_PROGRAMS = r"(?i)na[nt]|null|undefined|timeout|.*(?:error|exception|assistantfinal).*"


def may_have_hints(scored: Scored) -> bool:
    """Whether there may be hints about answers. There are none if a few plain words lose points, or none do."""
    answers, scores = scored.answers, scored.answer_scores
    accepted = list_references(answers)
    wrong = [place for place, score in enumerate(scores) if score < 1.0]
    tells_more = answers.raw is not None or answers.columns is not None or scored.scorer.marker
    if len(scores) >= MANY_RIGHT or len(wrong) >= LEAST or (wrong and tells_more):
        return True
    if not all(_are_plain(answers.predictions[place], accepted[place]) for place in wrong):
        return True
    texts = chain.from_iterable(accepted)
    return any(isinstance(text, str) and text.lstrip()[:1] in ("{", "[") for text in texts)  # JSON


def _are_plain(prediction: Any, references: Sequence[Any]) -> bool:
    """Whether an answer and its references are words from which no step and no cause can tell more."""
    return len(references) <= _FEW_REFERENCES and all(map(_is_plain, (prediction, *references)))


def _is_plain(text: Any) -> bool:
    """Whether a text is a word, or a whole number, that does not stand in place of an answer."""
    is_word = isinstance(text, str) and re.fullmatch("[A-Za-z0-9]+", text)
    return bool(is_word) and not re.fullmatch(_OF_PROGRAMS, text) and not abstains(text)
