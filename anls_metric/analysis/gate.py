"""Decides whether scores are too low or a submission is worse than the baseline, for `anls gate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anls_metric.analysis.comparison import Comparison
from anls_metric.analysis.verdicts import MIN_CLUSTERS, TOO_FEW
from anls_metric.core.checks import count_noun, describe_unknown
from anls_metric.core.names import find_name
from anls_metric.messages import InputError, list_some, make_error


def list_low(submissions: Sequence[Mapping[str, Any]], limits: Mapping[str, float]) -> Iterator[str]:
    """Yield one sentence about each score that is below its limit.

    Args:
        submissions: submissions of a document.
        limits: the limits, keyed by the name of a group or a key of structured answers, or by "" for whole submissions.

    Raises:
        InputError: a submission has no group or key with a name.
    """
    for submission in submissions:
        groups = [(name, group) for own in submission["groups"].values() for name, group in own.items()]
        for named, limit in limits.items():
            scores = [group["anls"] for name, group in groups if name == named] if named else [submission["anls"]]
            if not scores:
                raise _error_of_group(submission["name"], named, [name for name, _ in groups])
            what = f"{submission['name']} for {named}" if named else submission["name"]
            for score in scores:
                if score is None:
                    yield f"{what} has no values to score"
                elif score < limit:
                    yield f"the ANLS of {what} is {score:.6g}, under {limit}"


def _error_of_group(submission: str, named: str, known: Sequence[str]) -> InputError:
    """Create the error for a limit of a group that a submission does not have."""
    sentence = "no group or key {named!r}: to limit the score of one, add {use.by} or {use.by_key}"
    if known:
        sentence = "no group or key {named!r} (found {known})"
    return make_error(submission, sentence, named=named, known=list_some(known, 12))


def list_gates(run: Mapping[str, Any], baseline: str | None = None) -> list[Any]:
    """List the comparisons with a baseline, with the reason for each comparison that cannot be decided.

    Args:
        run: a document that contains these comparisons.
        baseline: the name of the baseline; None for the first submission.

    Returns:
        A dict for each comparison: see `schema.Gate`.

    Raises:
        InputError: there is only one submission, or the baseline does not exist.
    """
    questions = {each["name"]: each["questions"] for each in run["submissions"]}
    name = choose_baseline(run, baseline)
    return [
        {
            "first": pair.first,
            "second": pair.second,
            "difference": pair.difference,
            "p_value_adjusted": pair.p_value_adjusted,
            "p_value_is_bound": pair.p_value_is_bound,
            "verdict": pair.verdict,
            "doubt": _doubt(pair, questions[pair.first], questions[pair.second]),
            "differing": pair.differing,
        }
        for pair in _compare_with(run, name)
    ]


def choose_baseline(run: Mapping[str, Any], baseline: str | None = None) -> str:
    """Return the name of the baseline. Raises the same errors as `list_gates`."""
    names = [each["name"] for each in run["submissions"]]
    if len(names) < 2:
        sentence = "{use.fail_if_worse} needs a comparison: pass the baseline before the other submissions, or compare "
        raise make_error("", sentence + "saved runs with anls compare BASELINE RUN {use.fail_if_worse}")
    name = find_name(baseline, names) if baseline else names[0]
    if not name:
        raise make_error("", "{problem}", problem=describe_unknown("baseline", str(baseline), names))
    return name


def has_comparisons(run: Mapping[str, Any], baseline: str) -> bool:
    """Whether a document contains comparisons with a baseline whose p-values are not adjusted for choosing the best."""
    return bool(run["all_pairs"] or (run["baseline"] == baseline and not run["chose_best"]))


def _compare_with(run: Mapping[str, Any], baseline: str) -> Sequence[Comparison]:
    """Find the comparisons with a baseline, in the order of the submissions."""
    pairs = {(pair["first"], pair["second"]): _read(pair) for pair in run["comparisons"]}
    known = {**pairs, **{(each.second, each.first): each.reverse() for each in pairs.values()}}
    return [known[baseline, each["name"]] for each in run["submissions"] if each["name"] != baseline]


def _read(pair: Mapping[str, Any]) -> Comparison:
    known = {key: value for key, value in pair.items() if key in Comparison._fields and key != "one_document"}
    return Comparison(**known)


def _doubt(pair: Comparison, first: int, second: int) -> str | None:
    """Return the reason why a comparison cannot be decided, or None if it can."""
    if pair.verdict == TOO_FEW:
        return TOO_FEW
    differ = f"different questions ({first:,} and {second:,}, {pair.questions:,} in common)"
    return differ if {first, second} != {pair.questions} else None


def describe_gates(gates: Sequence[Mapping[str, Any]], allow_doubt: bool) -> tuple[list[str], list[str]]:
    """Return one sentence for each comparison that fails, and one for each comparison that passes despite a doubt."""
    failures, notes = [], []
    for gate in gates:
        words = f"{gate['second']} is worse than {gate['first']}: {gate['difference']:+.4f}"
        if gate["verdict"] == "worse":
            failures.append(f"{words}, p {'<=' if gate['p_value_is_bound'] else '='} {gate['p_value_adjusted']:.2g}")
        elif not gate["doubt"] and gate["difference"] < 0 and gate["differing"] in range(MIN_CLUSTERS):
            many = count_noun(gate["differing"], "cluster")
            limit = f"with fewer than {MIN_CLUSTERS}, no test is significant; --fail-under sets a limit"
            lower = f"{gate['second']} scores {-gate['difference']:.4f} lower than {gate['first']}"
            notes.append(f"{lower}, but only in {many}: {limit}")
        elif gate["doubt"] and allow_doubt:
            notes.append(f"{gate['doubt']} to tell whether {words}")
        elif gate["doubt"]:
            failures.append(f"{gate['doubt']} to tell whether {words}; to pass all the same, add --allow-doubt")
    return failures, notes
