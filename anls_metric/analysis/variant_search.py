"""Finds the variants, thresholds, metrics and extraction rules that give a published number for these answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from anls_metric.analysis.metrics import compute_values
from anls_metric.analysis.scored import Scored, score_answers, score_under
from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS, extract_all, extractor
from anls_metric.core.scorer import Scorer, mean
from anls_metric.core.statistics.identification_cases import THRESHOLDS
from anls_metric.core.strings.metrics import find_metrics
from anls_metric.core.strings.variants import VARIANTS, Variant

# A score is written as a fraction or in percent.
SCALES = (1, 100)

METRICS = ("exact_match", "contains", "relaxed", "vqa_accuracy")
"""Metrics that are published as the score of a document benchmark."""


class VariantMatch(NamedTuple):
    """A variant, or another metric, that gives a number.

    Attributes:
        name: the name of the submission.
        variant: the name of the variant or the metric.
        scale: the scale of the number: 1 or 100.
        anls: the mean under the variant.
        exact: whether the mean rounds to the number; otherwise it is only the nearest mean.
        extract: the rules that extract the answers for this number, "" for none.
        threshold: the threshold of the variant, if it is not its own.
    """

    name: str
    variant: str
    scale: int
    anls: float
    exact: bool
    extract: str
    threshold: float | None = None


class VariantSearch(NamedTuple):
    """What a search for a number found, and how much it says.

    Attributes:
        matches: as `find_variants` returns them.
        tried: how many combinations of variants or metrics, thresholds and extraction rules were tried.
        share: the share of the numbers with as many digits, at most `NEAR` from it, that one of them gives.
    """

    matches: list[VariantMatch]
    tried: int
    share: float


NEAR, LEAST_NEAR = Decimal("0.03"), 5
"""Up to three points away, or five units of the last digit, numbers are near."""


def find_variants(number: str, submissions: Sequence[Scored], scorers: Iterable[Scorer] = ()) -> list[VariantMatch]:
    """Find what gives a number, when rounded to its digits: which variant or metric, with the answers as they are or
    extracted.

    If there is nothing, each variant is tried at other thresholds. By chance, one of so many may give any number.

    Args:
        number: the printed number: 84.75, 0.8475, 84.8%.
        submissions: the submissions.
        scorers: the variants to try, and no other metrics; by default all variants, or for lists and nested values the
            scorer of the set.

    Returns:
        All variants and metrics that give the number; if there are none, the nearest one.

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
        [VariantMatch(name='data', variant='standard', scale=1, anls=0.75, exact=False, extract='', threshold=None)]
        >>> [match.variant for match in find_variants("0.5", [scored])][-2:]
        ['exact_match', 'relaxed']
    """
    return search_variants(number, submissions, scorers).matches


def search_variants(number: str, submissions: Sequence[Scored], scorers: Iterable[Scorer] = ()) -> VariantSearch:
    """Find what gives a number, as `find_variants` does, and how much that says."""
    wanted, chosen = _parse_number(number), list(scorers)
    half = Decimal((0, (5,), int(wanted.as_tuple().exponent) - 1))

    def find_distance(anls: float, scale: int) -> Decimal:
        return abs(Decimal(anls) * scale - wanted)

    nearest: list[VariantMatch] = []
    means: list[float] = []
    for find in (_try_rules, _try_thresholds):
        matches = [
            VariantMatch(scored.name, variant, scale, anls, find_distance(anls, scale) <= half, extract, threshold)
            for scored in submissions
            for variant, anls, extract, threshold in find(scored, chosen)
            for scale in SCALES
        ]
        means += [match.anls for match in matches[:: len(SCALES)]]
        exact = [match for match in matches if match.exact]
        nearest = nearest or [min(matches, key=lambda match: find_distance(match.anls, match.scale) / match.scale)]
        if exact:
            break
    return VariantSearch(exact or nearest, len(means), _share_near(wanted, means))


def _share_near(wanted: Decimal, means: Iterable[float]) -> float:
    """Compute the share of the numbers near one, with as many digits, to which some mean rounds."""
    scale = 1 if wanted <= 1 else 100
    unit = Decimal((0, (1,), int(wanted.as_tuple().exponent)))
    reach = max(LEAST_NEAR, int(NEAR * scale / unit))
    steps = range(max(-reach, -int(wanted / unit)), min(reach, int((scale - wanted) / unit)) + 1)
    given = {round((Decimal(mean) * scale - wanted) / unit) for mean in means}
    return len(given.intersection(steps)) / max(1, len(steps))


def _parse_number(number: str) -> Decimal:
    try:
        wanted = Decimal(number.strip().removesuffix("%").strip())
    except InvalidOperation:
        wanted = Decimal("nan")
    if not wanted.is_finite():
        raise ValueError(f"{number!r} is not a number: write it as it is printed, such as 84.75 or 0.8475")
    return wanted


_Trial = tuple[str, float, str, float | None]
"""The name of a variant or metric, its mean, the extraction rules, and a threshold that is not the variant's own."""


def _try_rules(scored: Scored, scorers: Sequence[Scorer]) -> Iterator[_Trial]:
    """Try each variant and metric on the answers of a set as they are, without extraction, and with each rule."""
    answers, texts = scored.answers, {scored.extract: scored.answers.predictions}
    of_strings = scored.scorer.scores_strings
    if of_strings:
        raw = answers.predictions if answers.raw is None else answers.raw
        texts.setdefault("", raw)
        for name in (*EXTRACTORS, *PROGRAMS):
            changed, _ = extract_all(extractor(name), raw)
            if changed != raw and any(changed):  # a program may leave nothing
                texts.setdefault(name, changed)
    for rules, predictions in texts.items():
        for scorer in _list_scorers(scored, scorers):
            yield scorer.name, score_under(answers, scorer, predictions), rules, None
        if of_strings and not scorers:
            again = score_answers(answers._replace(predictions=predictions), scored.scorer)
            references = min(map(len, scored.questions.references))
            for metric in (each for each in find_metrics(METRICS) if each.least_references <= references):
                yield metric.name, mean(compute_values(metric, again)), rules, None


def _try_thresholds(scored: Scored, scorers: Sequence[Scorer]) -> Iterator[_Trial]:
    """Try each variant at other thresholds on the answers of a set as they are."""
    variants = [scorer for scorer in _list_scorers(scored, scorers) if isinstance(scorer, Variant)]
    for variant in variants:
        for threshold in THRESHOLDS:
            if threshold != variant.threshold:
                anls = score_under(scored.answers, replace(variant, threshold=threshold))
                yield variant.name, anls, scored.extract, threshold


def _list_scorers(scored: Scored, scorers: Sequence[Scorer]) -> Sequence[Scorer]:
    """List the variants to try: those that the user chose; or all, if the answers are strings."""
    return scorers or (list(VARIANTS.values()) if scored.scorer.scores_strings else [scored.scorer])
