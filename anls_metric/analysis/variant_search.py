"""Finds the variant that gives a published number on these answers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

# A score is written as a fraction or in percent.
SCALES = (1, 100)


class VariantMatch(NamedTuple):
    """A variant that gives a number.

    Attributes:
        name: the name of the submission.
        variant: the name of the variant.
        scale: the factor of its mean: 1 or 100.
        anls: its mean.
        exact: whether the mean has all digits of the number; otherwise it is only the nearest one.
    """

    name: str
    variant: str
    scale: int
    anls: float
    exact: bool


def find_variants(number: str, means: Mapping[str, Mapping[str, float]]) -> list[VariantMatch]:
    """Find the variants that give a number, rounded to its digits.

    Args:
        number: the number as it is printed: 84.75, 0.8475, 84.8 %.
        means: the mean under each variant, by submission.

    Returns:
        All variants that give the number; if there are none, the nearest one.

    Raises:
        ValueError: it is not a number.

    Example:
        >>> means = {"base": {"standard": 0.8512, "rrc": 0.84749, "due": 0.8475}}
        >>> [(match.variant, match.scale) for match in find_variants("84.75", means)]
        [('rrc', 100), ('due', 100)]
        >>> find_variants("0.86", means)
        [VariantMatch(name='base', variant='standard', scale=1, anls=0.8512, exact=False)]
    """
    try:
        wanted = Decimal(number.strip().removesuffix("%").strip())
    except InvalidOperation:
        wanted = Decimal("nan")
    if not wanted.is_finite():
        raise ValueError(f"{number!r} is no number: write it as it is printed, like 84.75 or 0.8475")
    half = Decimal((0, (5,), int(wanted.as_tuple().exponent) - 1))
    matches = [
        (abs(Decimal(mean) * scale - wanted), VariantMatch(name, variant, scale, mean, True))
        for name, by_variant in means.items()
        for variant, mean in by_variant.items()
        for scale in SCALES
    ]
    exact = [match for distance, match in matches if distance <= half]
    return exact or [min(matches, key=lambda pair: pair[0] / pair[1].scale)[1]._replace(exact=False)]
