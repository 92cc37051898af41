"""One JSON document for all that is known: what the command prints for programs, and what the page hands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import Scored, ScoredSet, in_order
from anls_metric.core.variants import Variant
from anls_metric.reading.values import as_json

if TYPE_CHECKING:
    from anls_metric.analysis.comparison import Compared, Comparison, Pair

RESULTS_FILE = "results.json"


def document(
    entries: Sequence[Entry], compared: Compared | None = None, hints: Sequence[str] = (), most_changes: int = 0
) -> dict[str, Any]:
    """What is known of one submission or more.

    Args:
        entries: the submissions, the first of which says the signature.
        compared: how they compare, where there are several.
        hints: what to know of the numbers before believing them.
        most_changes: how many of the questions are wanted that a submission lost against the baseline, and won.

    Returns:
        Objects, lists, texts and numbers: ``signature``, ``questions``, ``clusters``, ``hints``, ``submissions`` and
        ``comparisons``; where submissions are compared also ``best`` and ``least_difference``; ``label``, what the
        number is called, where that is not ANLS.
    """
    first = entries[0].scored_set
    clusters = compared.clusters if compared else first.clusters
    known: dict[str, Any] = {
        "signature": first.signature,
        "questions": max(entry.scored_set.count for entry in entries),
        "clusters": {"field": clusters.field, "count": clusters.count} if clusters else None,
        "hints": list(hints),
        "submissions": [_submission(entry) for entry in entries],
        "comparisons": [_comparison(one) for one in compared.comparisons] if compared else [],
    }
    if first.label != Variant.label:
        known["label"] = first.label
    if compared:
        known["best"] = {"name": compared.best, "not_told_apart": compared.ties}
        known["least_difference"] = compared.least_difference
    if compared and most_changes:
        from anls_metric.analysis.comparison import changes

        scored_sets = {entry.name: entry.scored_set for entry in entries}
        for comparison in known["comparisons"]:
            lost, won = changes(scored_sets[comparison["first"]], scored_sets[comparison["second"]], most_changes)
            comparison["regressions"] = [_change(pair) for pair in lost]
            comparison["improvements"] = [_change(pair) for pair in won]
    return known


def _submission(entry: Entry) -> dict[str, Any]:
    scored_set = entry.scored_set
    known = {
        "name": entry.name,
        "layout": entry.layout,
        "questions": scored_set.count,
        "anls": scored_set.mean,
        "interval": _pair(scored_set.interval),
        "exact_match": scored_set.exact_match,
        "contains": scored_set.contains,
        "outcomes": dict(scored_set.outcomes),
        "groups": {
            field: {value: {"anls": tally.mean, "questions": tally.count} for value, tally in in_order(groups).items()}
            for field, groups in scored_set.groups.items()
        },
    }
    if scored_set.means:
        known["variants"] = scored_set.means
    if scored_set.worst:
        known["worst"] = [_worst(scored, scored_set) for scored in scored_set.worst]
    return known


def _comparison(one: Comparison) -> dict[str, Any]:
    return one._asdict() | {"interval": _pair(one.interval)}


def _change(pair: Pair) -> dict[str, Any]:
    row = pair[0].row
    answers = [{"prediction": as_json(one.row.prediction), "score": one.score, "outcome": one.outcome} for one in pair]
    asked = row.record.get("question")
    return {
        "id": row.id,
        "question": asked if isinstance(asked, str) else None,
        "references": list(map(as_json, row.references)),
        "first": answers[0],
        "second": answers[1],
    }


def _pair(interval: tuple[float, float] | None) -> list[float] | None:
    return list(interval) if interval else None


def _worst(scored: Scored, scored_set: ScoredSet) -> dict[str, Any]:
    why = scored_set.explain(scored)
    return {
        "id": scored.row.id,
        "score": scored.score,
        "outcome": scored.outcome,
        "prediction": as_json(scored.row.prediction),
        **({} if scored.row.written is None else {"written": scored.row.written}),
        "closest_reference": None if why is None else as_json(why.closest),
        **_edits_or_leaves(why),
    }


def _edits_or_leaves(why: Any) -> dict[str, Any]:
    """How a text differs from the closest accepted answer, or each leaf of a value."""
    if hasattr(why, "leaves"):
        return {"leaves": [_leaf(leaf) for leaf in why.leaves]}
    return {"edits": [] if why is None else [*map(list, why.edits)]}


def _leaf(leaf: Any) -> dict[str, Any]:
    return {  # not "path", which gradio takes for a file
        "where": leaf.path,
        "prediction": as_json(leaf.prediction),
        "reference": as_json(leaf.reference),
        "score": leaf.score,
        "leaves": leaf.length,
        "why": leaf.sentence,
        "edits": [*map(list, leaf.edits)],
    }
