"""Counts the questions that corrections to the gold data changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from anls_metric.analysis.part import Line, Part, Write
from anls_metric.analysis.scored import Scored
from anls_metric.core.checks import count_noun


class Corrections(TypedDict):
    """The effect of the corrections."""

    accepted: int
    excluded: int
    """the number of questions with added references, and of questions left out"""
    anls_without: float
    """the score without corrections"""


def count_corrections(scored: Scored) -> Corrections | None:
    """Count the questions that were corrected, or return None if there are no corrections."""
    if scored.uncorrected is None:
        return None
    accepted = len(list(filter(None, scored.added.values())))
    return Corrections(accepted=accepted, excluded=len(scored.added) - accepted, anls_without=scored.uncorrected)


def _write_lines(values: Corrections, write: Write) -> Iterable[Line]:
    accepted, without = count_noun(values["accepted"], "question"), write(values["anls_without"])
    words = f"{accepted} with more references, {values['excluded']} excluded; without corrections {without}"
    return [Line("corrected", words)]


PART = Part(
    key="corrections",
    sentence="with `--corrections`",
    find=count_corrections,
    type=Corrections,
    order=50,
    by_name=False,
    lines=_write_lines,
)
