"""Why an answer scores what it scores, in a word: a table of predicates, of which the first that fits counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from anls import Variant, reason
from anls_metric.reading.rows import Row


class Outcome(NamedTuple):
    """A row of `OUTCOMES`.

    Attributes:
        name: what it is called wherever it is shown.
        fits: whether an answer with this score under this variant is one.
        scores_zero: whether its score is 0.
    """

    name: str
    fits: Callable[[Row, float, Variant], bool]
    scores_zero: bool = True


def _is_missing(row: Row, score: float, variant: Variant) -> bool:
    return row.prediction is None


def _is_equal(row: Row, score: float, variant: Variant) -> bool:
    return score == 1.0


def _is_close_enough(row: Row, score: float, variant: Variant) -> bool:
    return score > 0.0


def _is_empty(row: Row, score: float, variant: Variant) -> bool:
    return reason(row.prediction or "", score, variant=variant) == "empty"


def _has_nothing_in_common(row: Row, score: float, variant: Variant) -> bool:
    return reason(row.prediction or "", score, variant=variant) == "nothing in common"


def _is_any(row: Row, score: float, variant: Variant) -> bool:
    return True


OUTCOMES = (
    Outcome("missing", _is_missing),
    Outcome("equal", _is_equal, scores_zero=False),
    Outcome("close enough", _is_close_enough, scores_zero=False),
    Outcome("empty", _is_empty),
    Outcome("nothing in common", _has_nothing_in_common),
    Outcome("under the threshold", _is_any),
)

ZERO_OUTCOMES = frozenset(outcome.name for outcome in OUTCOMES if outcome.scores_zero)


def outcome_of(row: Row, score: float, variant: Variant) -> str:
    """The name of the first outcome that fits.

    Args:
        row: the question with its answer.
        score: what the variant gives it.
        variant: which ANLS.

    Example:
        >>> from anls import VARIANTS
        >>> outcome_of(Row("7", "The Coca", ["Coca Cola"], {}), 0.0, VARIANTS["standard"])
        'under the threshold'
    """
    return next(outcome.name for outcome in OUTCOMES if outcome.fits(row, score, variant))
