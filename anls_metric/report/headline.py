"""Writes the heading of the report and the sentences under the heading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.verdicts import TOO_FEW, OneDocument
from anls_metric.core.names import drop_shared_prefix
from anls_metric.report.lost import list_lost
from anls_metric.report.numbers import PERCENT, NumberFormat, format_p_value
from anls_metric.report.schema import Document, Headline, PairComparison, Run, Submission

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def describe_headline(run: Run) -> Headline:
    """Describe the top of the report, with keys that the command's JSON document also has if ``--report`` is given.

    Args:
        run: a document that contains what the report needs.

    Returns:
        The heading and the sentences under it, and the figures that the report draws first.
    """
    document, standings, numbers = run["report"]["document"], run["report"]["standings"], percent_numbers(run)
    submissions, variants = document["submissions"], standings["variants"]
    full = [each["name"] for each in submissions]
    names = dict(zip(full, drop_shared_prefix(full)))
    warnings = [*_write_raw(document, names), *_write_empty(submissions, names)]
    if "ranks" not in standings:
        return {**_describe_score(submissions[0], names, numbers, warnings), "names": names, "variants": variants}
    ranks, difference = standings["ranks"], standings["best_two"]
    second = difference["first"]
    oriented: Any = _orient(difference, standings["reported_baseline"])
    sentences = _write_difference(oriented, standings["p_value"], ranks, names, numbers)
    warnings = [*_write_deciding(standings["one_document"]), *warnings]
    return {
        "heading": _write_heading(ranks, difference, names, numbers),
        "summary": " ".join([*sentences, *warnings, *_write_reversals(standings, names[second], numbers)]),
        "warnings": warnings,
        "names": names,
        "variants": variants,
        "ranks": ranks,
        "reported_baseline": standings["reported_baseline"],
        "pairs": standings["pairs"],
        "reversed_by": standings["reversed_by"],
    }


def percent_numbers(run: Run) -> NumberFormat:
    """Return the number format of the report, which is percentages with one digit unless the user requests another
    number of digits.
    """
    return PERCENT if run["digits"] is None else PERCENT._replace(digits=run["digits"])


def _describe_score(
    submission: Submission, names: Mapping[str, str], numbers: NumberFormat, warnings: Sequence[str]
) -> Headline:
    """Describe the score of a single submission, in a heading and a summary."""
    interval = [f"The 95% CI is {numbers.format(submission['interval'])}."] if submission["interval"] else []
    return {
        "heading": f"{names[submission['name']]} scores {numbers.format(submission['anls'])}",
        "summary": " ".join([*interval, *warnings]),
        "warnings": list(warnings),
    }


def _spell(count: int) -> str:
    """Write a small number as a word."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def _join(names: Sequence[str], most: int = 3) -> str:
    """Join names for a sentence: "a, b and c" or, if there are too many for `most`, "a, b and 7 others"."""
    shown = list(names) if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


# Here, a comparison is that of the best two submissions, with the best as its second.


def _write_heading(
    ranks: Mapping[str, int], comparison: PairComparison, names: Mapping[str, str], numbers: NumberFormat
) -> str:
    """Write which submission is best, or that there is no significant difference."""
    count, ties = len(ranks), [names[name] for name, rank in ranks.items() if rank == 1]
    if comparison["verdict"] == TOO_FEW:
        return f"Too few documents to rank {'both' if count == 2 else f'all {_spell(count)}'}"
    if len(ties) == 1:
        best, points = f"the best of {_spell(count)}, " * (count > 2), _show(comparison["difference"], numbers)
        return f"{ties[0]} is {best}better than {names[comparison['first']]} by {points} points"
    if len(ties) == count:
        between = f"between {_join(ties)}" if count == 2 else f"among the {_spell(count)} models"
        return f"No significant difference {between}"
    if len(ties) > 4:
        return f"No significant difference among the best {_spell(len(ties))} of {_spell(count)}: {_join(ties)}"
    return f"{_join(ties)} are the best of {_spell(count)}, without a significant difference"


def _write_raw(document: Document, names: Mapping[str, str]) -> list[str]:
    """Write which scores are for raw output, and which submissions overtake which others after extraction."""
    submissions = document["submissions"]
    scores = {each["name"]: each["anls"] for each in submissions}
    proposed = [hint for hint in document["hints"] if hint["extract"] and hint["anls"] is not None]
    extracted = {hint["submission"] or next(iter(scores)): hint["anls"] for hint in proposed}
    if not extracted:
        return []
    count, several = len(extracted), len(submissions) > 1
    all_of = "Both" if count == 2 else f"All {_spell(count)}"
    who = all_of if count == len(submissions) else _spell(count).capitalize()
    after, passed = {**scores, **extracted}, []
    for place, name in enumerate(scores):
        above = [other for other in [*scores][:place] if after[other] < after[name]]
        passed += [f"{names[name]} passes {names[above[0]]}"] if above else []
    only = f"{names[next(iter(extracted))]}'s score is" if several else "The score is"
    said, them = (f"{who} scores are", "them") if count > 1 else (only, "it")
    more = f": {_join(passed)}" if passed else ""
    return [f"{said} for raw output; ◇ marks {them} after extraction{more}."]


_MANY_EMPTY = 0.1  # of all answers; smaller numbers are in the rows of the submissions


def _write_empty(submissions: Sequence[Submission], names: Mapping[str, str]) -> list[str]:
    """Write which submissions left many answers empty."""
    many = [
        names[each["name"]]
        for each in submissions
        for row in list_lost(each)
        if row["cause"] == "empty" and row["points"] >= _MANY_EMPTY
    ]
    return [f"{_join(many)} left many answers empty."] if many else []


def _write_difference(
    comparison: PairComparison,
    p_value: float,
    ranks: Mapping[str, int],
    names: Mapping[str, str],
    numbers: NumberFormat,
) -> list[str]:
    """Write the difference between the best two, its interval and its p-value, unless there are more than two
    submissions and several share the lead.
    """
    several, is_significant = len(names) > 2, list(ranks.values()).count(1) == 1
    if several and not is_significant:
        return []
    if comparison["interval"] is None:
        return ["The difference has no confidence interval: it needs two clusters of questions."]
    adjusted = ", adjusted for choosing the best" if several else ""
    interval = f"{'unadjusted ' * several}95% CI {numbers.format(comparison['interval'], '+')}"
    points, few = _show(comparison["difference"], numbers, "+"), "; few documents" * comparison["few_documents"]
    evidence = f"{interval}, {format_p_value(p_value)}{adjusted}{few}"
    return [f"{names[comparison['second']]} minus {names[comparison['first']]}: {points} points ({evidence})."]


def _orient(pair: Mapping[str, Any], baseline: str) -> Mapping[str, Any]:
    """Reverse a comparison if its second submission is the baseline, so that it is the model minus the baseline."""
    if pair["second"] != baseline:
        return pair
    interval = pair["interval"] and [0.0 - end for end in reversed(pair["interval"])]
    turned = {"first": baseline, "second": pair["first"], "difference": 0.0 - pair["difference"]}
    return {**pair, **turned, "interval": interval}


def _show(value: float, numbers: NumberFormat, form: str = "") -> str:
    """Format a difference, with more digits than usual if it would otherwise appear as 0."""
    digits = numbers.digits or 0
    texts = [numbers._replace(digits=digits + more).format(value, form) for more in range(5)]
    return next((text for text in texts if text.strip("+-0.")), texts[0])


def _write_deciding(deciding: Any) -> list[str]:
    """Write which document decides the difference between the best two or makes up a third of the difference."""
    if deciding is None:
        return []
    fields = {key: value for key, value in deciding.items() if key != "of"}
    sentence = OneDocument(**fields).describe(deciding["of"])
    return [f"{sentence.replace('the verdict', 'The verdict', 1)}."]  # it may also begin with a name


def _write_reversals(standings: Mapping[str, Any], second: str, numbers: NumberFormat) -> list[str]:
    """Write the number of variants under which the second-best submission leads, and its largest lead."""
    reversals, variants = standings["reversed_by"], next(iter(standings["variants"].values()), None)
    if not variants:
        return []
    if not reversals:
        return [f"The order is the same under all {len(variants)} variants."]
    count_case = ", all of them case-sensitive," if len(reversals) > 1 else ", which is case-sensitive,"
    which = count_case if standings["reversals_count_case"] else ""
    points = numbers.format(max(10 ** -((numbers.digits or 0) + 2), *reversals.values()))  # not 0.0
    return [f"Under {len(reversals)} of {len(variants)} variants{which} {second} leads, by at most {points}."]
