"""The words for what a comparison found. Views use them, too, so nothing here computes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from anls_metric.core.checks import count_noun

NO_DIFFERENCE, TOO_FEW = "no significant difference", "too few documents"
"""Verdicts on differences that are neither better nor worse."""


class OneDocument(NamedTuple):
    """A comparison repeated without the document that decides it. The fields are keys of the JSON document.

    Attributes:
        document: the name of the document.
        questions: the number of questions about it.
        difference: the difference without them.
        interval: its 95% confidence interval.
        p_value: the p-value without them, not adjusted.
    """

    document: Hashable
    questions: int
    difference: float
    interval: Sequence[float] | None
    p_value: float

    def describe(self, difference: float) -> str:
        """Describe in a sentence how the document affects a comparison with this difference."""
        part = "half" if 2 * abs(self.difference) <= abs(difference) else "much"
        name, questions = str(self.document).rstrip("/").rpartition("/")[2], count_noun(self.questions, "question")
        left = f"{100 * self.difference:+.1f} points instead of {100 * difference:+.1f}, p = {self.p_value:.2f}"
        return f"{part} of the difference is one document, {name} ({questions}): without it {left}"
