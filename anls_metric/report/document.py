"""Builds one JSON document of all results, which the command prints and the endpoints of the page return."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Entry, Evaluation
from anls_metric.analysis.scored import ScoredRow, ScoredSet, sort_groups
from anls_metric.core.variants import Variant
from anls_metric.reading.batch import Row
from anls_metric.reading.extract import describe_extraction
from anls_metric.reading.values import as_json

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Comparison, ComparisonSet, Pair
    from anls_metric.analysis.suspects import Suspect

RESULTS_FILE = "results.json"

MOST_CONFUSIONS = 20
MOST_DIFFERENCES = 20
"""The most answers to list on which score and judge disagree."""


def describe_evaluation(
    evaluation: Evaluation,
    hints: Sequence[str] = (),
    most_changes: int = 0,
    most_confusions: int = MOST_CONFUSIONS,
    with_suspects: bool = False,
) -> dict[str, Any]:
    """Describe an evaluation as a document: see `build_document`.

    Raises:
        ValueError: `with_suspects` is set, and there are fewer than three submissions.
    """
    suspects = evaluation.find_suspects() if with_suspects else None
    content = build_document(
        evaluation.entries, evaluation.compared, hints, most_changes, most_confusions, suspects=suspects
    )
    for comparison in content["comparisons"]:
        if comparison["first"] == content["baseline"] and evaluation.compared_metrics:
            comparison["metrics"] = {
                each.metric: each._asdict() | {"interval": _list_interval(each.interval)}
                for each in evaluation.compared_metrics[comparison["second"]]
            }
    return content


def build_document(
    entries: Sequence[Entry],
    compared: ComparisonSet | None = None,
    hints: Sequence[str] = (),
    most_changes: int = 0,
    most_confusions: int = MOST_CONFUSIONS,
    suspects: Sequence[Suspect] | None = None,
) -> dict[str, Any]:
    """Build the document of one or more submissions.

    Args:
        entries: the submissions. The signature is that of the first submission.
        compared: the comparison of several submissions.
        hints: warnings about the scores.
        most_changes: how many lost questions to list for each submission, and as many won questions.
        most_confusions: how many confusions to list for each submission that counted them.
        suspects: the questions with suspect accepted answers; None to leave them out.

    Returns:
        A dict of values that JSON can hold: ``signature``, ``questions`` (their number), ``clusters`` (field and count,
        or None), ``hints``, ``submissions`` and ``comparisons``, both lists of dicts. With `compared` also ``best``,
        ``baseline`` and ``all_pairs``. ``label`` is the name of the score if it is not ANLS.
    """
    first = entries[0].scored_set
    clusters = compared.clusters if compared else first.clusters
    content: dict[str, Any] = {
        "signature": entries[0].signature,
        "questions": max(entry.scored_set.count for entry in entries),
        "clusters": {"field": clusters.field, "count": clusters.count} if clusters else None,
        "hints": list(hints),
        "submissions": [_describe_submission(entry, compared, most_confusions) for entry in entries],
        "comparisons": list(map(_describe_comparison, compared.comparisons)) if compared else [],
    }
    if suspects is not None:
        content["suspects"] = [each._asdict() | {"accepted": list(map(as_json, each.accepted))} for each in suspects]
    if first.label != Variant.label:
        content["label"] = first.label
    if compared:
        content["best"] = {"name": compared.best, "not_told_apart": compared.ties}
        content |= {"baseline": compared.baseline, "all_pairs": compared.all_pairs}
    if compared and most_changes:
        from anls_metric.analysis.comparison import find_changes

        scored_sets = {entry.name: entry.scored_set for entry in entries}
        for comparison in content["comparisons"]:
            lost, won = find_changes(scored_sets[comparison["first"]], scored_sets[comparison["second"]], most_changes)
            comparison["regressions"] = [_describe_change(pair) for pair in lost]
            comparison["improvements"] = [_describe_change(pair) for pair in won]
    return content


def _describe_submission(entry: Entry, compared: ComparisonSet | None, most_confusions: int) -> dict[str, Any]:
    scored_set = entry.scored_set
    content: dict[str, Any] = {
        "name": entry.name,
        "layout": entry.layout,
        "questions": scored_set.count,
        "anls": scored_set.mean,
        "interval": _list_interval(scored_set.interval),
        "exact_match": scored_set.exact_match,
        "contains": scored_set.contains,
        "outcomes": dict(scored_set.outcomes),
        "groups": {field: _describe_groups(entry, field, compared) for field in scored_set.groups},
    }
    if scored_set.run_scores:
        content["runs"] = len(scored_set.run_scores)
        content["run_scores"] = scored_set.run_scores
        content["run_deviation"] = scored_set.run_deviation
    if entry.extraction is not None:
        content["extraction"] = entry.extraction.as_dict()
    content |= describe_beside(entry, most_confusions)
    if scored_set.means:
        content["variants"] = scored_set.means
    if scored_set.worst:
        content["worst"] = [_describe_answer(scored, scored_set) for scored in scored_set.worst]
    return content


def _clear_nan(value: Any) -> Any:
    """Replace NaN and infinite numbers in a value by None, since JSON does not have them."""
    if isinstance(value, dict):
        return {name: _clear_nan(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def describe_beside(entry: Entry, most_confusions: int = MOST_CONFUSIONS) -> dict[str, Any]:
    """Describe the other results of a submission, besides its score, by the keys of the document."""
    scored_set, assessments = entry.scored_set, entry.assessments
    content: dict[str, Any] = {}
    if summary := scored_set.summary:
        content["summary"] = _clear_nan(summary)
    if scored_set.points:
        content["points"] = scored_set.points._asdict()
    if entry.corrections:
        content["corrections"] = {
            "accepted": entry.corrections.accepted,
            "excluded": entry.corrections.excluded,
            "anls_without": entry.uncorrected,
        }
    if scored_set.metrics:
        content["metrics"] = {
            name: {"mean": summary.mean, "interval": _list_interval(summary.interval)}
            for name, summary in scored_set.metrics.summarize().items()
        }
    if scored_set.confusions:
        content["confusions"] = [asdict(each) for each in scored_set.confusions.list_most_frequent(most_confusions)]
    if assessments and assessments.confidence:
        content["confidence"] = assessments.confidence._asdict()
    if assessments and assessments.judge:
        differences = [each._asdict() for each in assessments.differences[:MOST_DIFFERENCES]]
        content["judge"] = assessments.judge._asdict() | {"differences": differences}
    return content


def _describe_groups(entry: Entry, field: str, compared: ComparisonSet | None) -> dict[str, dict[str, Any]]:
    """Describe the groups of a field: score, interval and size; if compared, also the difference from the baseline."""
    intervals = entry.scored_set.find_group_intervals(field)
    content: dict[str, dict[str, Any]] = {
        name: {"anls": group.mean, "interval": _list_interval(intervals[name]), "questions": group.count}
        for name, group in sort_groups(entry.scored_set.groups[field]).items()
    }
    if compared and entry.name in compared.groups:
        differences = compared.groups[entry.name][field]
        for name, group in content.items():
            difference, interval = differences.get(name, (None, None))
            group |= {"difference": difference, "difference_interval": _list_interval(interval)}
    return content


def index_comparisons(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Index the comparisons with the baseline by the name of the submission."""
    return {
        comparison["second"]: comparison
        for comparison in document["comparisons"]
        if comparison["first"] == document["baseline"]
    }


def list_extraction(document: Mapping[str, Any]) -> list[str]:
    """List sentences about what the extraction rules did, with the names of the submissions if there are several."""
    several = len(document["submissions"]) > 1
    return [
        f"{submission['name']}: {sentence}" if several else sentence
        for submission in document["submissions"]
        for sentence in describe_extraction(submission.get("extraction", {}))
    ]


def _describe_comparison(comparison: Comparison) -> dict[str, Any]:
    return comparison._asdict() | {"interval": _list_interval(comparison.interval)}


def _describe_change(pair: Pair) -> dict[str, Any]:
    row = pair[0].row
    first, second = (
        {"prediction": as_json(scored.row.prediction), "score": scored.score, "outcome": scored.outcome}
        for scored in pair
    )
    return {
        "id": row.id,
        "question": get_question_text(row),
        "references": list(map(as_json, row.references)),
        "first": first,
        "second": second,
    }


def get_question_text(row: Row) -> str | None:
    """Return the text of the question of a row; None if its record has none."""
    question = row.record.get("question")
    return question if isinstance(question, str) else None


def _list_interval(interval: tuple[float, float] | None) -> list[float] | None:
    return list(interval) if interval else None


def _describe_answer(scored: ScoredRow, scored_set: ScoredSet) -> dict[str, Any]:
    why = scored_set.explain(scored)
    return {
        "id": scored.row.id,
        "score": scored.score,
        "outcome": scored.outcome,
        "prediction": as_json(scored.row.prediction),
        **({} if scored.row.written is None else {"written": scored.row.written}),
        "closest_reference": None if why is None else as_json(why.closest),
        **_describe_differences(why),
        **({"why": why.sentence} if scored_set.scorer.columns and why else {}),
    }


def _describe_differences(why: Any) -> dict[str, Any]:
    """Describe the edits from a text to the closest accepted answer, or the leaves of a value."""
    if hasattr(why, "leaves"):
        return {"leaves": [_describe_leaf(leaf) for leaf in why.leaves]}
    return {"edits": [] if why is None else [*map(list, why.edits)]}


def _describe_leaf(leaf: Any) -> dict[str, Any]:
    return {
        "where": leaf.path,  # not "path": gradio takes a dict with this key for a file
        "prediction": as_json(leaf.prediction),
        "reference": as_json(leaf.reference),
        "score": leaf.score,
        "leaves": leaf.length,
        "why": leaf.sentence,
        "edits": [*map(list, leaf.edits)],
    }
