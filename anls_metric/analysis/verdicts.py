"""Defines the words and limits for verdicts on comparisons. Views also use this module, which loads no statistics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.checks import count_noun

SIGNIFICANT = 0.05
"""The adjusted p-value below which a verdict says "better" or "worse"."""

MIN_CLUSTERS, FEW = 6, 30
"""The number of clusters below which no difference is significant, and the number below which clusters are described as
few.
"""

MIN_SHARE, CLOSE = 1 / 3, 0.03
"""The minimum share of a difference that a single document is said to make up, and the p-value from which a significant
p-value is described as close to 0.05.
"""

NO_DIFFERENCE, TOO_FEW = "no significant difference", "too few documents"
"""The verdicts on submissions that are neither better nor worse."""


class OneDocument(NamedTuple):
    """A comparison repeated without the document that decides it. The fields are keys of the JSON document.

    Attributes:
        document: the name of the document.
        questions: the number of questions about the document.
        difference: the difference without these questions.
        interval: the 95% confidence interval of this difference.
        p_value: the unadjusted p-value without these questions.
    """

    document: Hashable
    questions: int
    difference: float
    interval: Sequence[float] | None
    p_value: float

    def describe(self, pair: Mapping[str, Any]) -> str:
        """Describe how the document affects a comparison, which is given as a dict. The text says whether the verdict
        depends on the document, and gives the document's share of the difference if this share is at least a third.
        """
        name, questions = str(self.document).rstrip("/").rpartition("/")[2], count_noun(self.questions, "question")
        before, after = pair["p_value_adjusted"], adjust_alike(self.p_value, pair)
        parts = []
        if before < SIGNIFICANT <= after:
            close = ", which is close to 0.05" * (before >= CLOSE)
            p_values = f"p = {before:.2g}{close}, and {after:.2g} without it"
            parts.append(f"the verdict hangs on {name} ({questions}): {p_values}")
        share = 1 - self.difference / pair["difference"] if pair["difference"] else 0.0
        if share >= MIN_SHARE:
            of = f"{name} ({questions})" * (not parts) or "this document"
            left = f"{100 * pair['difference']:+.1f} points, and {100 * self.difference:+.1f} without it"
            parts.append(f"{of} is {_name_share(share)} of the difference: {left}")
        return "; ".join(parts)


def adjust_alike(p_value: float, pair: Mapping[str, Any]) -> float:
    """Adjust a p-value for a part of the questions by the same factor as the p-value for all questions.

    Example:
        >>> adjust_alike(0.02, {"p_value": 0.01, "p_value_adjusted": 0.03})
        0.06
    """
    factor: float = pair["p_value_adjusted"] / pair["p_value"]
    return min(1.0, factor * p_value)


def _name_share(share: float) -> str:
    """Format a share of at least a third.

    Example:
        >>> _name_share(0.34), _name_share(0.58), _name_share(1.2)
        ('34%', '58%', 'all')
    """
    return "all" if share >= 1 else f"{share:.0%}"


def choose_wanted(pairs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Choose the comparison that a user would most like to report: the largest difference without a verdict or, failing
    that, the first comparison.

    Example:
        >>> pairs = [{"difference": 0.1, "verdict": "better"}, {"difference": -0.05, "verdict": NO_DIFFERENCE}]
        >>> choose_wanted(pairs)["difference"], choose_wanted(pairs[:1])["difference"]
        (-0.05, 0.1)
    """
    opened = [pair for pair in pairs if pair["verdict"] not in ("better", "worse")]
    return max(opened, key=lambda pair: abs(pair["difference"])) if opened else pairs[0]
