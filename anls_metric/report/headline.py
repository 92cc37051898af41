"""Says in words what the report shows: its heading, the sentence under it, and the ranks of the submissions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.comparison import TOO_FEW, Comparison, compare_each_with_each, rank_submissions
from anls_metric.analysis.evaluation import Result
from anls_metric.analysis.scored import Scored, score_under
from anls_metric.core.strings.variants import VARIANTS
from anls_metric.options import Settings
from anls_metric.reading.reader import drop_shared_prefix
from anls_metric.report.numbers import PERCENT, Numbers

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def describe_headline(result: Result) -> dict[str, Any]:
    """Describe the top of the report. The JSON document of a command with ``--report`` has these keys, too.

    Returns:
        ``heading`` and ``summary``, sentences; ``names``, how the report calls each submission; ``variants``, the score
        of each submission under every variant, by both names; and, of several submissions, ``ranks`` by name;
        ``reported_baseline``, the submission with which the report compares the others; ``pairs``, the comparisons by
        the names of the baseline and of the other submission; and ``reversed_by``, by how much which variants reverse
        the order of the best two.
    """
    numbers, variants = percent_numbers(result.settings), _score_under_variants(result.submissions)
    full = [scored.name for scored in result.submissions]
    names = dict(zip(full, drop_shared_prefix(full)))
    raw = len({hint.submission for hint in result.hints if hint.extract and hint.anls is not None})
    compared = result.compared
    if compared is None:
        return {
            **_describe_score(result.submissions[0], names, numbers, bool(raw)),
            "names": names,
            "variants": variants,
        }
    chose_best = result.settings.baseline is None and len(names) > 2
    ranks = rank_submissions(result.submissions, compared)
    pairs = compare_each_with_each(result.submissions, compared, chose_best)
    best, second, *_ = ranks
    difference = pairs[second][best]
    summary = _write_difference(difference, compared.p_values[second], names, numbers)
    reversed_by = {}
    if variants:
        gains = {name: variants[second][name] - score for name, score in variants[best].items()}
        reversed_by = {name: gain for name, gain in gains.items() if gain > 0}
        summary += f" {_write_reversals(reversed_by, numbers)}"
    return {
        "heading": _write_heading(ranks, difference, names, numbers) + _count_raw(raw, len(names)),
        "summary": summary,
        "names": names,
        "variants": variants,
        "ranks": ranks,
        "reported_baseline": best if chose_best else compared.baseline,
        "pairs": {
            baseline: {name: {**each._asdict(), "note": each.note} for name, each in others.items()}
            for baseline, others in pairs.items()
        },
        "reversed_by": reversed_by,
    }


def percent_numbers(settings: Settings) -> Numbers:
    """Make the format of scores in the report: percent, with one digit unless the user names another number."""
    return PERCENT if settings.digits is None else PERCENT._replace(digits=settings.digits)


def _score_under_variants(submissions: Sequence[Scored]) -> dict[str, dict[str, float]]:
    """Score each submission of strings under every variant."""
    return {
        scored.name: {variant.name: score_under(scored.answers, variant) for variant in VARIANTS.values()}
        for scored in submissions
        if scored.scorer.scores_strings
    }


def _describe_score(scored: Scored, names: Mapping[str, str], numbers: Numbers, is_raw: bool) -> dict[str, str]:
    """Describe the score of a single submission: its heading and summary."""
    heading = f"{names[scored.name]} scores {numbers.format(scored.anls)}" + (" on raw output" if is_raw else "")
    summary = f"The 95% CI is {numbers.format(scored.interval)}." if scored.interval else ""
    return {"heading": heading, "summary": summary}


def _spell(count: int) -> str:
    """Write a small number as a word."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


# A comparison is that of the best two: its second is the best.


def _write_heading(ranks: Mapping[str, int], comparison: Comparison, names: Mapping[str, str], numbers: Numbers) -> str:
    """Write which submission is best, or that there is no significant difference."""
    count, ties = len(ranks), [names[name] for name, rank in ranks.items() if rank == 1]
    best = f"the best of {_spell(count)}"
    if comparison.verdict == TOO_FEW:
        return f"Too few documents to rank {'both' if count == 2 else f'all {_spell(count)}'}"
    if len(ties) == 1:
        points = numbers.format(comparison.difference)
        return f"{ties[0]} is {f'{best}, ' * (count > 2)}better than {names[comparison.first]} by {points} points"
    if len(ties) == count > 2:
        return f"No significant difference among the {_spell(count)} models"
    if len(ties) > 3:
        return f"No significant difference among the best {_spell(len(ties))} of {_spell(count)}"
    between = f"{'between' if len(ties) == 2 else 'among'} {', '.join(ties[:-1])} and {ties[-1]}"
    return f"No significant difference {between}{f', {best}' * (count > 2)}"


def _count_raw(number: int, count: int) -> str:
    """Say how many scores are of raw output; "" for none."""
    if not number:
        return ""
    if number == count:
        return f". {'Both' if count == 2 else f'All {_spell(count)}'} scores are of raw output"
    return f". {_spell(number).capitalize()} of {_spell(count)} scores {'is' if number == 1 else 'are'} of raw output"


def _write_difference(comparison: Comparison, p_value: float, names: Mapping[str, str], numbers: Numbers) -> str:
    """Write the interval and the p-value of the difference between the best two."""
    several = len(names) > 2
    who = f" between {names[comparison.second]} and {names[comparison.first]}" if several else ""
    if comparison.interval is None:
        return f"The difference{who} has no confidence interval: it needs two clusters of questions."
    p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    adjusted = ", adjusted for choosing the best" if several else ""
    return f"The 95% CI of the difference{who} is {numbers.format(comparison.interval)} points, {p}{adjusted}."


def _write_reversals(reversals: Mapping[str, float], numbers: Numbers) -> str:
    """Write how many variants reverse the order of the best two, and by how much at most."""
    if not reversals:
        return f"The order is the same under all {len(VARIANTS)} variants."
    cases = {VARIANTS[name].ignore_case for name in reversals}
    which = "" if cases != {False} else ", all of which count case," if len(reversals) > 1 else ", which counts case,"
    points = numbers.format(max(10 ** -((numbers.digits or 0) + 2), *reversals.values()))  # not 0.0
    count = f"{len(reversals)} of {len(VARIANTS)}"
    return f"Under {count} variants{which} the order is reversed, by at most {points} points."
