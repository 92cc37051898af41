"""Compares runs that were saved in files, question by question, as if their submissions had been scored together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from anls_metric.analysis.comparison import ComparisonSet, compare, pair_questions
from anls_metric.analysis.decisions import decide
from anls_metric.analysis.groups import group_scores
from anls_metric.analysis.hint import Hint
from anls_metric.analysis.lost_points import compare_losses
from anls_metric.analysis.scored import Scored
from anls_metric.core.scorer import get_scorer
from anls_metric.document import describe_comparison, describe_groups, describe_hint, describe_message
from anls_metric.messages import Message, make_error
from anls_metric.options import KEYS, NONE, Settings
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.table import Table
from anls_metric.report.schema import Run as Whole
from anls_metric.report.schema import Words

_DOCUMENT = "(document)"  # the field of a record that names the document of its question

_Names = Mapping[tuple[str, str], str]  # new submission names, keyed by the names of the run and the submission

_OWN = ("rows", "report", "figures")
"""The parts that a document of compared runs lacks."""

_CHANGING = ("extract:", "samples:")
"""The prefixes of signature parts that may differ between runs, because they say how answers are obtained from model
output.
"""


def compare_runs(runs: Mapping[str, Whole], baseline: str | None = None, against_first: bool = False) -> Whole:
    """Compare the submissions of runs.

    Args:
        runs: the runs by name, with the baseline first. If two submissions have the same name, every submission is
            renamed after its run, whose name replaces the name of its only submission, or is put before the names of
            its submissions if there are several.
        baseline: the name of the submission with which the others are compared; None selects the first of two
            submissions, or the best of three or more.
        against_first: whether the first submission is the baseline unless another is named.

    Returns:
        The same document as if the submissions had been scored together, but without the answers and the data for the
        report and the figures.

    Raises:
        InputError: the runs are about different questions, or were scored by different rules. ValueError: there is no
            such baseline.
    """
    for name, run in runs.items():
        check_run(name, run, next(iter(runs.values())))
    runs = _share_groups(runs)
    first = next(iter(runs.values()))
    names = name_submissions(runs)
    restored = {
        names[run_name, each["name"]]: _restore(run, each, names[run_name, each["name"]])
        for run_name, run in runs.items()
        for each in run["submissions"]
    }
    compared = compare(list(restored.values()), baseline or (next(iter(restored)) if against_first else None))
    words = dict(chain.from_iterable(run["words"].items() for run in runs.values()))
    signatures = [get_signature(run, each) for run in runs.values() for each in run["submissions"]]
    differ = len({*signatures}) > 1
    hints = _list_hints(runs, names, compared, words)
    content: Any = {
        **{key: value for key, value in first.items() if key not in _OWN},
        "signature": share_signature(signatures),
        "questions": max(run["questions"] for run in runs.values()),
        "hints": [hint for hint, _ in hints],
        "messages": [message for _, message in hints],
        "submissions": [
            _describe_submission(each, restored[name], compared)
            | ({"signature": get_signature(run, each)} if differ else {})
            for run_name, run in runs.items()
            for each in run["submissions"]
            for name in [names[run_name, each["name"]]]
        ],
        "comparisons": _list_comparisons(runs, names, restored, compared),
        "best": {"name": compared.best, "no_significant_difference": compared.ties},
        "baseline": compared.baseline,
        "all_pairs": compared.all_pairs,
        "chose_best": compared.chose_best,
        "words": words,
    }
    whole: Whole = json.loads(json.dumps(content))  # lists in place of tuples
    return whole


def list_models(runs: Mapping[str, Whole]) -> list[str]:
    """List the names of the submissions if every run has the same two or more; otherwise, the list is empty."""
    first, *others = ([each["name"] for each in run["submissions"]] for run in runs.values())
    return first if len(first) > 1 and all({*own} == {*first} for own in others) else []


def choose_model(runs: Mapping[str, Whole], model: str) -> dict[str, Whole]:
    """Keep only the submission with a name in each run. It gets the name of its run and of the model."""
    chosen: dict[str, Any] = {}
    for name, run in runs.items():
        submissions = [each for each in run["submissions"] if each["name"] == model]
        own = {"submissions": submissions, "rows": {model: run["rows"][model]}, "hints": [], "messages": []}
        chosen[f"{name}/{model}"] = {**run, **own}
    return chosen


def _share_groups(runs: Mapping[str, Whole]) -> dict[str, Whole]:
    """Keep only the groups by a field that all submissions have."""
    submissions = [each for run in runs.values() for each in run["submissions"]]
    shared = set.intersection(*(set(each["groups"]) for each in submissions))
    kept: dict[str, Any] = {}
    for name, run in runs.items():
        groups = [
            {field: own for field, own in each["groups"].items() if field in shared} for each in run["submissions"]
        ]
        kept[name] = {**run, "submissions": [{**each, "groups": own} for each, own in zip(run["submissions"], groups)]}
    return kept


def _list_hints(runs: Mapping[str, Whole], names: _Names, compared: ComparisonSet, words: Words) -> list[Any]:
    """List the hints of all runs and of the comparison with their messages, with the most expensive first."""
    hints: list[Any] = [
        ({**hint, "submission": _rename(name, run, hint["submission"], names)}, message)
        for name, run in runs.items()
        for hint, message in zip(run["hints"], run["messages"], strict=True)
        if not message["is_note"]
    ]
    hints += [(describe_hint(hint), describe_message(hint, False, words)) for hint in map(_doubt, compared.hints)]
    hints += [(describe_hint(hint), describe_message(hint, True, words)) for hint in map(Hint, compared.notes)]
    return sorted(hints, key=lambda pair: -pair[1]["cost"])


def _doubt(message: Message) -> Hint:
    return Hint(message, cost=1.0)


def _rename(name: str, run: Whole, submission: str | None, names: _Names) -> str | None:
    """Return the new name of the submission that a hint is about, which is the only submission of the run if the hint
    names none, or None for a hint about several submissions.
    """
    if submission is None and len(run["submissions"]) == 1:
        submission = run["submissions"][0]["name"]
    return submission and names[name, submission]


def _describe_submission(submission: Any, scored: Scored, compared: ComparisonSet) -> dict[str, Any]:
    """Describe a submission under its new name, with the differences between its groups and the baseline's."""
    against = compared.groups.get(scored.name)
    groups = {
        field: describe_groups(own, scored.clusters, against and against[field]) for field, own in scored.groups.items()
    }
    return {**submission, "name": scored.name, "groups": {**submission["groups"], **groups}}


def _list_comparisons(
    runs: Mapping[str, Whole], names: _Names, restored: Mapping[str, Scored], compared: ComparisonSet
) -> list[dict[str, Any]]:
    """List the comparisons, with the differences by cause if all runs include accounts of lost points."""
    losses = {names[run_name, name]: rows for run_name, run in runs.items() for name, rows in run["rows"].items()}
    has_accounts = all("lost" in each for run in runs.values() for each in run["submissions"])
    comparisons = []
    for each in compared.comparisons:
        content = {**describe_comparison(each), **decide(compared, each)}
        if has_accounts:
            pair = pair_questions(restored[each.first], restored[each.second])
            first, second = ([row["lost"] for row in losses[name]] for name in (each.first, each.second))
            content["lost"] = compare_losses(first, second, zip(pair.first, pair.second))
        comparisons.append(content)
    return comparisons


def check_run(name: str, run: Whole, first: Whole) -> None:
    """Raise InputError if a run has other questions than the first run or was scored by other rules, or if its score is
    a mean of leaves.
    """
    own, theirs = (_split_signature(each["signature"]) for each in (run, first))
    if own["gold"] != theirs["gold"]:
        sentence = "its questions have the hash {own}, and those of the first run have {theirs}: compare runs of the "
        raise make_error(name, sentence + "same questions and references", own=own["gold"], theirs=theirs["gold"])
    if own != theirs:
        sentence = "it was scored by other rules ({own}) than the first run ({theirs}): score both by the same"
        raise make_error(name, sentence, own=run["signature"], theirs=first["signature"])
    if not run["averages_rows"]:
        raise make_error(name, "submissions can only be compared question by question: use {use.average:rows}")


def get_signature(run: Whole, submission: Any) -> str:
    """Return the signature of a submission, which is that of its run unless the submissions of the run differ."""
    return str(submission.get("signature", run["signature"]))


def share_signature(signatures: Sequence[str]) -> str:
    """Return the parts of signatures that all of them have. The rest says how the answers of a run were obtained."""
    first, *others = (signature.split("|") for signature in signatures)
    return "|".join(part for part in first if all(part in other for other in others))


def _split_signature(signature: str) -> dict[str, str]:
    """Split a signature into its parts, leaving out the number of questions and the parts that may differ."""
    parts = [part for part in signature.split("|") if not part.startswith((*_CHANGING, "questions:"))]
    return {"gold": "", **dict(part.partition(":")[::2] for part in parts)}


def name_submissions(runs: Mapping[str, Whole]) -> _Names:
    """Return a new name for each submission of all runs, which is its own name or, if two submissions have the same
    name, is built from the name of its run.
    """
    own = [(name, each["name"]) for name, run in runs.items() for each in run["submissions"]]
    if len({name for _, name in own}) == len(own):
        return {pair: pair[1] for pair in own}
    return {(run, name): run if len(runs[run]["submissions"]) == 1 else f"{run}/{name}" for run, name in own}


def _restore(run: Whole, submission: Any, name: str) -> Scored:
    """Restore the parts of a scored submission that comparisons need."""
    rows = run["rows"][submission["name"]]
    records = [{**row["groups"], _DOCUMENT: row["document"]} for row in rows]
    questions = Questions(
        Table(records, name),
        [row["id"] for row in rows],
        [row["references"] for row in rows],
        [row["question"] for row in rows],
        has_ids=True,
    )
    runs: list[list[Any]] = [list(row.get("runs", [row])) for row in rows]
    places = [place for place, own in enumerate(runs) for _ in own] if any("runs" in row for row in rows) else None
    answers = [answer for own in runs for answer in own]
    source = Source(**{key: submission["source"][key] for key in Source._fields})
    predictions = [answer["prediction"] for answer in answers]
    values = [answer["score"] for answer in answers]
    fields = [field for field in submission["groups"] if field != KEYS]
    return Scored(
        Answers(name, questions, predictions, source, places=places),
        get_scorer(),
        values,
        [row["score"] for row in rows],
        submission["anls"],
        Settings(cluster_by=_DOCUMENT if run["clusters"] else NONE),
        groups={field: group_scores(records, [row["score"] for row in rows], field) for field in fields},
    )
