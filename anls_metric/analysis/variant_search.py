"""Finds the variants, thresholds, metrics and extraction steps that reproduce a published number for these answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, get_args

from anls_metric.analysis.metric_values import compute_values
from anls_metric.analysis.scored import Scored, score_answers, score_under
from anls_metric.core.extraction.extract import EXTRACTORS, PROGRAMS, extract_all, extractor
from anls_metric.core.scorer import SCORERS, Scorer, get_scorer, mean
from anls_metric.core.statistics.identification_cases import THRESHOLDS
from anls_metric.core.strings.metrics import find_metrics
from anls_metric.core.values import Average, NoneKeys
from anls_metric.messages import InputError
from anls_metric.options import Settings
from anls_metric.reading.answers import list_places
from anls_metric.reading.reading import Reading
from anls_metric.reading.values import read_columns

# A score is written as a fraction or as a percentage.
SCALES = (1, 100)

METRICS = ("exact_match", "contains", "relaxed", "vqa_accuracy")
"""Metrics that are published as the score of a document benchmark."""


class VariantMatch(NamedTuple):
    """A variant or another metric that reproduces a number or comes closest to it.

    Attributes:
        name: the name of the submission.
        variant: the name of the variant or the metric.
        scale: the scale of the number: 1 or 100.
        anls: the mean under the variant.
        exact: whether the mean rounds to the number, rather than only being the nearest mean.
        extract: the extraction steps that lead to this number; "" for none.
        threshold: the threshold; None if it is the variant's own.
        average, none_keys: the options with these names for a variant for nested values; "" for their defaults.
    """

    name: str
    variant: str
    scale: int
    anls: float
    exact: bool
    extract: str
    threshold: float | None = None
    average: str = ""
    none_keys: str = ""


class VariantSearch(NamedTuple):
    """The result of a search for a number, and how conclusive the result is.

    Attributes:
        matches: the variants and metrics, as returned by `find_variants`.
        tried: the number of combinations of a variant or metric and an extraction step that were tried, including
            combinations of a variant and another threshold if no other combination fits.
        share: the share of the nearby numbers with as many digits (see `NEAR`) that at least one of these combinations
            produces.
    """

    matches: list[VariantMatch]
    tried: int
    share: float


NEAR, LEAST_NEAR = Decimal("0.03"), 5
"""The largest distance at which numbers are near: three points or, if that is more, five units of the last digit."""


def find_variants(number: str, submissions: Sequence[Scored], scorers: Iterable[Scorer] = ()) -> list[VariantMatch]:
    """Find the variants and metrics whose mean, rounded to the digits of a number, equals this number, with the answers
    as they are or after an extraction step.

    Each variant is also tried at other thresholds. With so many combinations, some combination may match any number by
    chance.

    Args:
        number: the number as it is printed: 84.75, 0.8475, 84.8%.
        submissions: the submissions.
        scorers: the only variants to try. By default, all variants and metrics are tried, including variants for nested
            values with the options behind published numbers, and the rules of benchmarks whose columns exist.

    Returns:
        All variants and metrics that reproduce the number, with those at other thresholds last, or only the nearest one
        if none reproduces the number.

    Raises:
        ValueError: the string is not a number.

    Example:
        >>> from anls_metric import score
        >>> scored = score(["**Cola**", "Cola"], [["Cola"], ["Cola"]])["data"]
        >>> scorers = [VARIANTS["standard"], VARIANTS["due"]]
        >>> [(match.variant, match.extract) for match in find_variants("1.0", [scored], scorers)]
        [('standard', 'bold'), ('due', 'bold')]
        >>> [(match.variant, match.threshold) for match in find_variants("75", [scored], scorers)][:3]
        [('standard', None), ('standard', 0.0), ('standard', 0.1)]
        >>> find_variants("0.76", [scored], scorers)[0][:6]
        ('data', 'standard', 1, 0.75, False, '')
        >>> [match.variant for match in find_variants("0.5", [scored]) if match.threshold is None][-2:]
        ['exact_match', 'relaxed']
    """
    return search_variants(number, submissions, scorers).matches


def search_variants(number: str, submissions: Sequence[Scored], scorers: Iterable[Scorer] = ()) -> VariantSearch:
    """Find the variants and metrics that reproduce a number, like `find_variants`, and compute how conclusive the
    result is.
    """
    wanted, chosen = _parse_number(number), list(scorers)
    half = Decimal((0, (5,), int(wanted.as_tuple().exponent) - 1))

    def find_distance(anls: float, scale: int) -> Decimal:
        return abs(Decimal(anls) * scale - wanted)

    def try_all(find: Callable[[Scored, Sequence[Scorer]], Iterable[_Trial]]) -> list[VariantMatch]:
        return [
            VariantMatch(scored.name, variant, scale, anls, find_distance(anls, scale) <= half, *options)
            for scored in submissions
            for variant, anls, *options in find(scored, chosen)
            for scale in SCALES
        ]

    usual, others = try_all(_try_rules), try_all(_try_thresholds)
    exact = [match for match in (*usual, *others) if match.exact]
    nearest = min(usual, key=lambda match: find_distance(match.anls, match.scale) / match.scale)
    counted = usual if any(match.exact for match in usual) else [*usual, *others]
    means = [match.anls for match in counted[:: len(SCALES)]]
    return VariantSearch(exact or [nearest], len(means), _share_near(wanted, means))


def _share_near(wanted: Decimal, means: Iterable[float]) -> float:
    """Return the share of the numbers near the wanted one, with as many digits, to which some mean rounds."""
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


_Trial = tuple[Any, ...]
"""The name of a variant or metric, its mean, and the last fields of `VariantMatch`."""


def _try_rules(scored: Scored, scorers: Sequence[Scorer]) -> Iterator[_Trial]:
    """Try each variant and metric on the answers of a submission: as they are, without extraction, and with each
    extraction step.
    """
    answers, texts = scored.answers, {scored.extract: scored.answers.predictions}
    are_texts = scored.scorer.form == "text"
    if are_texts:
        raw = answers.predictions if answers.raw is None else answers.raw
        texts.setdefault("", raw)
        for name in (*EXTRACTORS, *PROGRAMS):
            changed, _ = extract_all(extractor(name), raw)
            if changed != raw and any(changed):  # a step may leave nothing
                texts.setdefault(name, changed)
    for rules, predictions in texts.items():
        for scorer in _list_scorers(scored, scorers):
            with suppress(InputError):  # ANLSL cannot score objects
                options = _list_options(scored.scorer, scorer)
                yield scorer.name, score_under(answers, scorer, predictions), rules, None, *options
        if are_texts and not scorers:
            again = score_answers(answers._replace(predictions=predictions), scored.scorer)
            references = min(map(len, scored.questions.references))
            for metric in (each for each in find_metrics(METRICS) if each.least_references <= references):
                yield metric.name, mean(compute_values(metric, again)), rules, None
            yield from _try_benchmarks(again, rules)


def _try_thresholds(scored: Scored, scorers: Sequence[Scorer]) -> Iterator[_Trial]:
    """Try each variant at other thresholds on the unchanged answers of a submission."""
    for variant in _list_scorers(scored, scorers) if scored.scorer.form == "text" else ():
        for threshold in THRESHOLDS:
            if threshold != variant.threshold and "threshold" in variant.options:
                anls = score_under(scored.answers, get_scorer(variant, threshold=threshold))
                yield variant.name, anls, scored.extract, threshold


def _list_scorers(scored: Scored, scorers: Sequence[Scorer]) -> Sequence[Scorer]:
    """List the variants to try: those that the user chose or, if there are none, all variants that can score the same
    answers.
    """
    return scorers or scored.scorer.list_alternatives()


_CHOICES: Mapping[str, tuple[Any, ...]] = {"average": get_args(Average), "none_keys": get_args(NoneKeys)}


def _list_options(own: Scorer, scorer: Scorer) -> list[str]:
    """List the options of a variant for nested values, with "" for a default."""
    values = [(getattr(scorer, name, ""), choices[0]) for name, choices in _CHOICES.items()]
    return ["" if value == default else value for value, default in values]


def _try_benchmarks(scored: Scored, rules: str) -> Iterator[_Trial]:
    """Try the rules of benchmarks whose specific columns the questions have."""
    answers, table = scored.answers, scored.questions.table
    for name, rule in SCORERS.items():
        own = rule.columns.keys() - {"prediction", rule.references}
        columns = read_columns(table, Reading(Settings(), rule).find_roles(table, "gold"))
        if not own or any({*own, rule.references} - row.keys() for row in columns):
            continue
        pairs = zip(answers.predictions, list_places(answers))
        rows = [
            ({**columns[place], "prediction": prediction or ""}, f"question {place}") for prediction, place in pairs
        ]
        with suppress(ValueError):  # the columns are from another benchmark
            fitted = answers._replace(columns=[rule.fit_row(*row) for row in rows])
            yield name, score_under(fitted, rule), rules, None
