"""Finds the variants and extraction rules that give a published number for these answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from anls_metric.analysis.scored import Scored, score_under
from anls_metric.core.variants import VARIANTS, Scorer, Variant
from anls_metric.reading.extract import EXTRACTORS, extract_all, extractor

# A score is written as a fraction or in percent.
SCALES = (1, 100)


class VariantMatch(NamedTuple):
    """A variant that gives a number.

    Attributes:
        name: the name of the submission.
        variant: the name of the variant.
        scale: the scale of the number: 1 or 100.
        anls: the mean under the variant.
        exact: whether the mean rounds to the number; otherwise it is only the nearest mean.
        extract: the rules that extract the answers for this number, "" for none.
    """

    name: str
    variant: str
    scale: int
    anls: float
    exact: bool
    extract: str


def find_variants(number: str, submissions: Sequence[Scored], scorers: Iterable[Scorer] = ()) -> list[VariantMatch]:
    """Find the variants that give a number, rounded to its digits, with unchanged answers or with an extraction rule.

    Args:
        number: the printed number: 84.75, 0.8475, 84.8%.
        submissions: the submissions.
        scorers: the variants to try; by default all variants, or for lists and nested values the scorer of the set.

    Returns:
        All variants that give the number; if there are none, the nearest one.

    Raises:
        ValueError: the string is not a number.

    Example:
        >>> from anls_metric import score
        >>> scored = score(["**Cola**", "Cola"], [["Cola"], ["Cola"]])["data"]
        >>> scorers = [VARIANTS["standard"], VARIANTS["due"]]
        >>> [(match.variant, match.extract) for match in find_variants("75", [scored], scorers)]
        [('standard', '')]
        >>> [(match.variant, match.extract) for match in find_variants("1.0", [scored], scorers)]
        [('standard', 'bold'), ('due', 'bold')]
        >>> find_variants("0.76", [scored], scorers)
        [VariantMatch(name='data', variant='standard', scale=1, anls=0.75, exact=False, extract='')]
    """
    wanted = _parse_number(number)
    half = Decimal((0, (5,), int(wanted.as_tuple().exponent) - 1))
    matches = [
        (abs(Decimal(mean) * scale - wanted), VariantMatch(scored.name, variant, scale, mean, True, rules))
        for scored in submissions
        for (rules, variant), mean in _try_all(scored, list(scorers)).items()
        for scale in SCALES
    ]
    exact = [match for distance, match in matches if distance <= half]
    return exact or [min(matches, key=lambda pair: pair[0] / pair[1].scale)[1]._replace(exact=False)]


def _parse_number(number: str) -> Decimal:
    try:
        wanted = Decimal(number.strip().removesuffix("%").strip())
    except InvalidOperation:
        wanted = Decimal("nan")
    if not wanted.is_finite():
        raise ValueError(f"{number!r} is not a number: write it as it is printed, such as 84.75 or 0.8475")
    return wanted


def _try_all(scored: Scored, scorers: Sequence[Scorer]) -> dict[tuple[str, str], float]:
    """Compute the mean of a set under each variant: with its own extraction rules, with none, and with each rule."""
    answers, texts = scored.answers, {scored.extract: scored.answers.predictions}
    if isinstance(scored.scorer, Variant):
        raw = answers.predictions if answers.raw is None else answers.raw
        texts.setdefault("", raw)
        for name in EXTRACTORS:
            changed, _ = extract_all(extractor(name), raw)
            if changed != raw:
                texts.setdefault(name, changed)
        scorers = scorers or list(VARIANTS.values())
    return {
        (rules, scorer.name): score_under(answers, scorer, predictions)
        for rules, predictions in texts.items()
        for scorer in scorers or [scored.scorer]
    }
