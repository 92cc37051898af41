"""Finds the variants and extraction rules that give a published number for these answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from anls_metric.analysis.scored import ScoredSet, score_rows
from anls_metric.core.variants import VARIANTS, Scorer, Variant
from anls_metric.reading.batch import Row
from anls_metric.reading.extract import EXTRACTORS, Extractor

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


def find_variants(
    number: str, scored_sets: Mapping[str, ScoredSet], scorers: Iterable[Scorer] = ()
) -> list[VariantMatch]:
    """Find the variants that give a number, rounded to its digits, with unchanged answers or with an extraction rule.

    Args:
        number: the printed number: 84.75, 0.8475, 84.8 %.
        scored_sets: sets that keep their rows, by the names of the submissions.
        scorers: the variants to try; by default all variants, or for lists and nested values the scorer of the set.

    Returns:
        All variants that give the number; if there are none, the nearest one.

    Raises:
        ValueError: the text is not a number.

    Example:
        >>> from anls_metric.reading.batch import Row
        >>> scored_set = ScoredSet(keep=True)
        >>> _ = scored_set.add([Row("7", "**Cola**", ["Cola"], {}), Row("8", "Cola", ["Cola"], {})])
        >>> scorers = [VARIANTS["standard"], VARIANTS["due"]]
        >>> [(match.variant, match.extract) for match in find_variants("75", {"base": scored_set}, scorers)]
        [('standard', '')]
        >>> [(match.variant, match.extract) for match in find_variants("1.0", {"base": scored_set}, scorers)]
        [('standard', 'bold'), ('due', 'bold')]
        >>> find_variants("0.76", {"base": scored_set}, scorers)
        [VariantMatch(name='base', variant='standard', scale=1, anls=0.75, exact=False, extract='')]
    """
    wanted = _parse_number(number)
    half = Decimal((0, (5,), int(wanted.as_tuple().exponent) - 1))
    matches = [
        (abs(Decimal(mean) * scale - wanted), VariantMatch(name, variant, scale, mean, True, rules))
        for name, scored_set in scored_sets.items()
        for (rules, variant), mean in _try_all(scored_set, list(scorers)).items()
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
        raise ValueError(f"{number!r} is no number: write it as it is printed, like 84.75 or 0.8475")
    return wanted


def _try_all(scored_set: ScoredSet, scorers: Iterable[Scorer]) -> dict[tuple[str, str], float]:
    """Compute the mean of a set under each variant: with its own extraction rules, with none, and with each rule."""
    is_of_texts = isinstance(scored_set.scorer, Variant)
    scorers = list(scorers or (VARIANTS.values() if is_of_texts else [scored_set.scorer]))
    means = {(scored_set.extract, name): mean for name, mean in _compute_means(scored_set, scorers).items()}
    if not is_of_texts:
        return means
    rows = scored_set.list_answers()
    raw = [row if row.written is None else row._replace(prediction=row.written, written=None) for row in rows]
    changes = {rule.name: _extract(rule, raw) for rule in EXTRACTORS.values()}
    changes = {rule: changed for rule, changed in changes.items() if changed}
    for scorer in scorers if changes or scored_set.extract else ():
        scores = dict(enumerate(score_rows(raw, scorer)))
        for rule, changed in {"": dict[int, Row](), **changes}.items():
            rescored = scores | dict(zip(changed, score_rows(list(changed.values()), scorer) if changed else ()))
            means.setdefault((rule, scorer.name), scored_set.average(list(rescored.values()), scorer))
    return means


def _compute_means(scored_set: ScoredSet, scorers: Iterable[Scorer]) -> dict[str, float]:
    """Compute the mean of a set under each scorer, except means that the set already has."""
    known = scored_set.means
    unknown = [scorer for scorer in scorers if scorer.name not in known]
    return {**known, **scored_set.means_under(unknown)}


def _extract(rule: Extractor, rows: Sequence[Row]) -> dict[int, Row]:
    """Apply a rule, and return the rows whose predictions it changes, by their places."""
    return {
        place: row._replace(prediction=answer)
        for place, row in enumerate(rows)
        if row.prediction is not None and (answer := rule.find(str(row.prediction))) not in (None, row.prediction)
    }
