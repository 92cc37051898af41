"""Combines runs that were saved in files into one run, as if their submissions had been scored together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from anls_metric.analysis.evaluation import Result, conclude, find_scorers
from anls_metric.analysis.question_hash import hash_questions
from anls_metric.analysis.scored import Scored, score_answers
from anls_metric.compare_runs import check_run, get_signature, name_submissions, share_signature
from anls_metric.core.json_values import from_json
from anls_metric.core.scorer import Scorer
from anls_metric.document import EVERYTHING, build_document
from anls_metric.messages import make_error
from anls_metric.options import KEYS, NONE, PAGES, Settings, make_settings
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.table import Table
from anls_metric.report.schema import Run as Whole

_OF_SCORING = ("variant", "threshold", "ignore_case", "normalize", "none_keys", "average", "numbers", "ignore_keys")
_TOGETHER = "score the files together"


def combine_runs(
    runs: Mapping[str, Whole], baseline: str | None = None, against_first: bool = False, command: str = ""
) -> Whole:
    """Combine the submissions of runs into one run.

    The answers in the runs are scored again, because the report and the figures show submissions side by side.

    Args:
        runs, baseline, against_first: as for `compare_runs`.
        command: the command that combines the runs.

    Returns:
        The document of the submissions, with everything that views need. It lacks hints about files, and is grouped
        only by fields that all runs have.

    Raises:
        InputError: the runs are about different questions, were scored by different rules or with corrections, have
            lost columns that their metric needs, or have other scores now. ValueError: there is no such baseline.
    """
    first = next(iter(runs.values()))
    for name, run in runs.items():
        check_run(name, run, first)
        if "corrections" in run["options"]:
            raise make_error(name, f"it was scored with corrections: {_TOGETHER}, with {{use.corrections}}")
    settings = replace(_restore_settings(runs), baseline=baseline, fail_if_worse=against_first)
    scorers, names = find_scorers(settings), name_submissions(runs)
    if scorers[0].columns:
        raise make_error("", f"runs do not keep the columns that {{metric}} needs: {_TOGETHER}", metric=scorers[0].name)
    submissions = [
        _score_again(run_name, run, each, names[run_name, each["name"]], settings, scorers)
        for run_name, run in runs.items()
        for each in run["submissions"]
    ]
    signatures = {scored.name: scored.signature for scored in submissions}
    result: Result = conclude(submissions, settings, share_signature(list(signatures.values())))
    combined: Any = build_document(result, {EVERYTHING}, command=command)
    differ = len({*signatures.values()}) > 1
    stored = {names[name, each["name"]]: each for name, run in runs.items() for each in run["submissions"]}
    for document in (combined, combined["report"]["document"]):
        document["clusters"] = first["clusters"]
        document["submissions"] = [
            {**stored[each["name"]], **each, **({"signature": signatures[each["name"]]} if differ else {})}
            for each in document["submissions"]
        ]
    whole: Whole = combined
    return whole


def _restore_settings(runs: Mapping[str, Whole]) -> Settings:
    """Restore the options for scoring and groups that all runs share."""
    first = next(iter(runs.values()))
    submissions = [each for run in runs.values() for each in run["submissions"]]
    shared = [field for field in submissions[0]["groups"] if all(field in each["groups"] for each in submissions)]
    metrics = [
        metric
        for metric in first["options"].get("metrics", ())
        if metric != PAGES and all(metric in run["options"].get("metrics", ()) for run in runs.values())
    ]
    options = {name: first["options"][name] for name in _OF_SCORING if name in first["options"]}
    return replace(
        make_settings({**options, "by_key": KEYS in shared or None, "metrics": metrics}),
        by=tuple(field for field in shared if field != KEYS),
        cluster_by=first["clusters"]["field"] if first["clusters"] else None if "independent" in first else NONE,
    )


def _score_again(
    run_name: str, run: Whole, submission: Any, name: str, settings: Settings, scorers: Sequence[Scorer]
) -> Scored:
    """Score the answers of a submission in a run. Raises InputError if the score is another one now."""
    extract = _find_part(get_signature(run, submission), "extract")
    answers = _restore_answers(run, submission, name, tuple if scorers[0].reads_json else list)
    own = replace(settings, extract=tuple(extract.split(",")) if extract else None)
    scored = score_answers(answers, scorers[0], own, scorers if len(scorers) > 1 else ())
    if scored.anls != submission["anls"]:
        sentence = f"its answers score {{now:.6g}} now, and {{before:.6g}} when it was made: {_TOGETHER}"
        raise make_error(run_name, sentence, now=scored.anls, before=submission["anls"])
    return scored


def _find_part(signature: str, name: str) -> str:
    """Return the value of a part of a signature, or "" if it is absent."""
    return next((part.partition(":")[2] for part in signature.split("|") if part.startswith(f"{name}:")), "")


def _restore_answers(
    run: Whole, submission: Any, name: str, as_references: Callable[[list[Any]], Sequence[Any]]
) -> Answers:
    """Restore the answers of a submission. The references of a question are a tuple for values, or else a list."""
    rows = run["rows"][submission["name"]]
    signature = get_signature(run, submission)
    field = run["clusters"]["field"] if run["clusters"] else None
    records = [{**row["groups"], **({field: row["document"]} if field else {})} for row in rows]
    questions = Questions(
        Table(records, submission["source"]["gold"] or submission["source"]["file"]),
        [row["id"] for row in rows],
        [as_references(from_json(row["references"])) for row in rows],
        [row["question"] for row in rows],
        has_ids=True,
    )
    if hash_questions(questions) != _find_part(signature, "gold"):
        questions = questions._replace(has_ids=False)
    each_run: list[list[Any]] = [list(row.get("runs", [row])) for row in rows]
    given = [answer for own in each_run for answer in own]
    return Answers(
        name,
        questions,
        [from_json(answer["prediction"]) for answer in given],
        Source(**{key: submission["source"][key] for key in Source._fields}),
        layout=submission["layout"],
        places=[place for place, own in enumerate(each_run) for _ in own] if len(given) > len(rows) else None,
        raw=[answer["raw"] for answer in given] if "raw" in given[0] else None,
        samples=_find_part(signature, "samples"),
    )
