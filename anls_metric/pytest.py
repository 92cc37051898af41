"""The pytest fixture ``assert_anls``, which pytest loads by an entry point in every project of the environment.

So this module imports only pytest, until a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

__all__ = ["assert_anls"]

MOST_SHOWN = 5
LONGEST = 200


@pytest.fixture
def assert_anls() -> Callable[..., float]:
    """Return a function that fails if the ANLS is too low: ``assert_anls(predictions, references, at_least=0.9)``."""
    return _assert_anls


def _assert_anls(predictions: Iterable[str], references: Iterable[Any], at_least: float = 0.9, **options: Any) -> float:
    """Score answers, and fail if their ANLS is too low. The message shows the worst answers.

    Args:
        predictions, references: the answers and their accepted answers, as `anls_scores` takes them.
        at_least: the lowest ANLS that passes, from 0 to 1.
        **options: ``threshold``, ``variant`` and ``ignore_case``, as `anls_scores` takes them.

    Returns:
        The ANLS.

    Raises:
        AssertionError: the ANLS is below ``at_least``.
        ValueError: a row cannot be scored, an option is wrong, or ``at_least`` is outside [0, 1].
    """
    __tracebackhide__ = True
    from anls_metric.core.choices import check_number
    from anls_metric.core.variants import get_variant

    check_number("at_least", at_least)
    variant = get_variant(**options)
    predictions, references = variant.check(predictions, references)
    scores = variant.score_checked(predictions, references)
    anls = variant.mean(scores)
    if anls < at_least:
        raise AssertionError(
            f"ANLS {anls:.4f} is under {at_least} ({variant.signature()}); the worst of {len(scores):,} answers:\n"
            + "\n".join(_describe_worst(scores, predictions, references))
        )
    return anls


def _describe_worst(
    scores: list[float], predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> Iterator[str]:
    rows = sorted(zip(scores, range(len(scores)), predictions, references))
    for score, row, prediction, accepted in rows[:MOST_SHOWN]:
        if score < 1:
            texts = " or ".join(map(_shorten, accepted))
            yield f"  row {row}: {score:.4f}  predicted {_shorten(prediction)}, accepted {texts}"


def _shorten(text: str) -> str:
    return repr(text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}")
