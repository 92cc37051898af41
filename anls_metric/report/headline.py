"""Says in words what the report shows, in its heading and in the sentences under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.comparison import TOO_FEW, Comparison, compare_each_with_each, rank_submissions
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.lost_points import account_for
from anls_metric.analysis.scored import Scored, score_under
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.options import Settings
from anls_metric.reading.reader import drop_shared_prefix
from anls_metric.report.numbers import PERCENT, NumberFormat, format_p_value
from anls_metric.report.schema import Headline, PairComparison

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def describe_headline(result: Result) -> Headline:
    """Describe the top of the report. The JSON document of a command with ``--report`` also has these keys.

    Args:
        result: the result, sorted by `sort_for_report`.

    Returns:
        The heading and the sentences under it, and the figures that the report draws first.
    """
    numbers, variants = percent_numbers(result.settings), _score_under_variants(result.submissions)
    full = [scored.name for scored in result.submissions]
    names = dict(zip(full, drop_shared_prefix(full)))
    proposed = [hint for hint in result.hints if hint.extract]
    extracted = {hint.submission or full[0]: hint.anls for hint in proposed if hint.anls is not None}
    warnings = [*_write_raw(result.submissions, extracted, names), *_write_empty(result.submissions, names)]
    compared = result.compared
    if compared is None:
        return {
            **_describe_score(result.submissions[0], names, numbers, warnings),
            "names": names,
            "variants": variants,
        }
    ranks = rank_submissions(result.submissions, compared)
    pairs = compare_each_with_each(result.submissions, compared, compared.chose_best)
    best, second, *_ = ranks
    difference = pairs[second][best]
    turned = difference.reverse() if compared.baseline == best else difference  # the model minus the baseline
    sentences = _write_difference(turned, compared.p_values[second], ranks, names, numbers)
    warnings = [*_write_deciding(compared.comparisons, difference), *warnings]
    reversed_by = {}
    if variants:
        gains = {name: variants[second][name] - score for name, score in variants[best].items()}
        reversed_by = {name: gain for name, gain in gains.items() if gain > 0}
    return {
        "heading": _write_heading(ranks, difference, names, numbers),
        "summary": " ".join([*sentences, *warnings, *_write_reversals(variants, reversed_by, names[second], numbers)]),
        "warnings": warnings,
        "names": names,
        "variants": variants,
        "ranks": ranks,
        "reported_baseline": compared.baseline,
        "pairs": {
            baseline: {name: _describe_pair(each) for name, each in others.items()}
            for baseline, others in pairs.items()
        },
        "reversed_by": reversed_by,
    }


def _describe_pair(comparison: Comparison) -> PairComparison:
    values: Any = {**comparison._asdict(), "note": comparison.note}
    del values["one_document"]  # it is only known for the comparisons of the document
    return values  # type: ignore[no-any-return]


def percent_numbers(settings: Settings) -> NumberFormat:
    """Make the number format of the report: percent, with one digit unless the user asks for a different number of
    digits.
    """
    return PERCENT if settings.digits is None else PERCENT._replace(digits=settings.digits)


def _score_under_variants(submissions: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """Score each submission of strings under every variant."""
    return {
        scored.name: {variant.name: score_under(scored.answers, variant) for variant in VARIANTS.values()}
        for scored in submissions
        if scored.scorer.scores_strings
    }


def _describe_score(
    scored: Scored, names: Mapping[str, str], numbers: NumberFormat, warnings: Sequence[str]
) -> Headline:
    """Describe the score of a single submission: its heading and summary."""
    interval = [f"The 95% CI is {numbers.format(scored.interval)}."] if scored.interval else []
    return {
        "heading": f"{names[scored.name]} scores {numbers.format(scored.anls)}",
        "summary": " ".join([*interval, *warnings]),
        "warnings": list(warnings),
    }


def _spell(count: int) -> str:
    """Write a small number as a word."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def _join(names: Sequence[str], most: int = 3) -> str:
    """Join names as a sentence does: "a, b and c", or for more than `most`, "a, b and 7 others"."""
    shown = list(names) if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


# A comparison is that of the best two: its second is the best.


def _write_heading(
    ranks: Mapping[str, int], comparison: Comparison, names: Mapping[str, str], numbers: NumberFormat
) -> str:
    """Write which submission is best, or that there is no significant difference."""
    count, ties = len(ranks), [names[name] for name, rank in ranks.items() if rank == 1]
    if comparison.verdict == TOO_FEW:
        return f"Too few documents to rank {'both' if count == 2 else f'all {_spell(count)}'}"
    if len(ties) == 1:
        best, points = f"the best of {_spell(count)}, " * (count > 2), _show(comparison.difference, numbers)
        return f"{ties[0]} is {best}better than {names[comparison.first]} by {points} points"
    if len(ties) == count:
        between = f"between {_join(ties)}" if count == 2 else f"among the {_spell(count)} models"
        return f"No significant difference {between}"
    if len(ties) > 4:
        return f"No significant difference among the best {_spell(len(ties))} of {_spell(count)}: {_join(ties)}"
    return f"{_join(ties)} are the best of {_spell(count)}, without a significant difference"


def _write_raw(submissions: Sequence[Scored], extracted: Mapping[str, float], names: Mapping[str, str]) -> list[str]:
    """Write which scores are of raw output, and which submission overtakes which other one after extraction."""
    if not extracted:
        return []
    count, several = len(extracted), len(submissions) > 1
    all_of = "Both" if count == 2 else f"All {_spell(count)}"
    who = all_of if count == len(submissions) else _spell(count).capitalize()
    passed = []
    for place, scored in enumerate(submissions):
        after = extracted.get(scored.name, scored.anls)
        above = [other.name for other in submissions[:place] if extracted.get(other.name, other.anls) < after]
        passed += [f"{names[scored.name]} passes {names[above[0]]}"] if above else []
    only = f"{names[next(iter(extracted))]}'s score is" if several else "The score is"
    scores, them = (f"{who} scores are", "them") if count > 1 else (only, "it")
    more = f": {_join(passed)}" if passed else ""
    return [f"{scores} for raw output; ◇ marks {them} after extraction{more}."]


_MANY_EMPTY = 0.1  # of all answers: the lines of the submissions have the others


def _write_empty(submissions: Sequence[Scored], names: Mapping[str, str]) -> list[str]:
    """Write which submissions left many answers empty."""
    many = [
        scored
        for scored in submissions
        for row in account_for(scored).rows
        if row.cause == "empty" and row.points >= _MANY_EMPTY
    ]
    return [f"{_join([names[scored.name] for scored in many])} left many answers empty."] if many else []


def _write_difference(
    comparison: Comparison, p_value: float, ranks: Mapping[str, int], names: Mapping[str, str], numbers: NumberFormat
) -> list[str]:
    """Write the difference between the best two, its interval and its p-value; nothing if several share the lead."""
    several, is_significant = len(names) > 2, list(ranks.values()).count(1) == 1
    if several and not is_significant:
        return []
    if comparison.interval is None:
        return ["The difference has no confidence interval: it needs two clusters of questions."]
    adjusted = ", adjusted for choosing the best" if several else ""
    interval = f"{'unadjusted ' * several}95% CI {numbers.format(comparison.interval, '+')}"
    few = "; few documents" * comparison.few_documents
    evidence = f"{interval}, {format_p_value(p_value)}{adjusted}{few}"
    points = _show(comparison.difference, numbers, "+")
    return [f"{names[comparison.second]} minus {names[comparison.first]}: {points} points ({evidence})."]


def _show(value: float, numbers: NumberFormat, form: str = "") -> str:
    """Write a difference with more digits if the usual ones would show 0."""
    digits = numbers.digits or 0
    texts = [numbers._replace(digits=digits + more).format(value, form) for more in range(5)]
    return next((text for text in texts if text.strip("+-0.")), texts[0])


def _write_deciding(comparisons: Sequence[Comparison], best_two: Comparison) -> list[str]:
    """Write which document makes up half of the difference between the best two, or decides it."""
    for each in (*comparisons, *map(Comparison.reverse, comparisons)):
        if (each.first, each.second) == (best_two.first, best_two.second) and each.one_document:
            sentence = each.one_document.describe(each._asdict())
            return [f"{sentence[0].upper()}{sentence[1:]}."]
    return []


def _write_reversals(
    variants: Mapping[str, Any], reversals: Mapping[str, float], second: str, numbers: NumberFormat
) -> list[str]:
    """Write under how many variants the second leads the best, and by how much at most."""
    if not variants:
        return []
    if not reversals:
        return [f"The order is the same under all {len(VARIANTS)} variants."]
    cases = {VARIANTS[name].ignore_case for name in reversals}
    which = ", all of them case-sensitive," if len(reversals) > 1 else ", which is case-sensitive,"
    which = which if cases == {False} else ""
    points = numbers.format(max(10 ** -((numbers.digits or 0) + 2), *reversals.values()))  # not 0.0
    return [f"Under {len(reversals)} of {len(VARIANTS)} variants{which} {second} leads, by at most {points}."]
