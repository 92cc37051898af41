"""A sign that a score depends on how a file is written rather than on how well the questions are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from anls_metric.analysis.evidence import Case, Evidence
from anls_metric.reading.remedies import Remedy

Findings = Mapping[int, str]
"""The numbers of the predictions that show a sign, each with the value that the hint names, or ""."""


class Sign(NamedTuple):
    """A row of a table of signs.

    Attributes:
        key: the name of the sign.
        find: finds the predictions that show the sign.
        text: the words of the hint after "9 of 10 "; {value} is filled in.
        remedy: what to do: a row of `remedies`, or a sentence.
        share: the smallest share of predictions that gives a hint; 0 if the share does not matter.
        least: the smallest number of predictions that gives a hint: above 1 if the sign can occur by chance.
    """

    key: str
    find: Callable[[Evidence], Findings]
    text: str
    remedy: Remedy | str
    share: float = 0.0
    least: int = 1


def each(shows: Callable[[Case], bool], *marks: str) -> Callable[[Evidence], Findings]:
    """Make a finder that examines each prediction, if any of them contains one of the marks."""

    def find(evidence: Evidence) -> Findings:
        if marks and not any(mark in evidence.text for mark in marks):
            return {}
        return {case.number: "" for case in evidence.wrong if shows(case)}

    return find
