"""Defines the rule for MADQA, with the ANLS* of an answer, the F1 of the cited pages, and the effort of the agent."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from anls_metric.core.scorer import mean
from anls_metric.core.values.value_variants import VALUE_VARIANTS
from anls_metric.rules.answerable import divide, find_f1
from anls_metric.rules.benchmark_rule import Rule, Summary
from anls_metric.rules.judgment import ColumnError, Judgment, Row, refuse

Measures = dict[str, Any]
"""The measures of a question and its answer, by name."""

_ANLS_STAR = VALUE_VARIANTS["anls_star"]


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer by ANLS* against the closest accepted list."""
    prediction, variants = row["prediction"], row["answer_variants"]
    if variants is not None and not isinstance(variants, (list, tuple)):
        raise refuse("answer_variants", variants, "a list of references, each a list of strings")
    answer = [prediction] if isinstance(prediction, str) else prediction or []
    if not isinstance(answer, (list, tuple, dict)):
        raise refuse("prediction", prediction, "a string, or a list of strings")
    if not answer or not variants:
        return Judgment(0.0, "there is no answer, or no accepted one")
    items = [str(item).lower() for item in answer]
    accepted = [_list_texts(variant) for variant in variants]
    # The program swaps prediction and reference.
    scores = list(map(float, _ANLS_STAR.score(accepted, [items] * len(accepted), "variant {}".format)))
    best = max(range(len(scores)), key=scores.__getitem__)
    return Judgment(scores[best], "ANLS* of {} and {}", (items, accepted[best]))


def _list_texts(variant: Any) -> list[str]:
    if not isinstance(variant, (str, list, tuple, dict)):
        raise refuse("answer_variants", variant, "a list of references, each a list of strings")
    return [str(item).lower() for item in ([variant] if isinstance(variant, str) else variant)]


def score_citations(citations: Any, evidence: Any, level: str) -> dict[str, float]:
    """Compute the precision, recall and F1 of the documents or pages that an answer cites.

    Args:
        citations: a list of objects with `file` or `document`, and `page`.
        evidence: a list of objects with `document` and `page`.
        level: "document" or "page".

    Returns:
        The three measures and, as `support`, the number of documents or pages that should be cited.

    Raises:
        ColumnError: an item is not an object, its page is a list, or its document is under another key.

    Example:
        >>> score_citations([{"file": "a.pdf", "page": 1}], [{"document": "a.pdf", "page": 2}], "document")
        {'precision': 1.0, 'recall': 1.0, 'f1': 1.0, 'support': 1}
    """
    expected = _list_places("evidence", evidence, ("document",), level)
    if not expected:
        return {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0}
    cited = _list_places("citations", citations, ("file", "document"), level)
    common = len(cited & expected)
    precision, recall = divide(common, len(cited)), divide(common, len(expected))
    return {"precision": precision, "recall": recall, "f1": find_f1(recall, precision), "support": len(expected)}


def _list_places(column: str, places: Any, names: Collection[str], level: str) -> set[Any]:
    """Collect the documents of citations, each with its page if the level is "page"."""
    keys = set()
    for place in places or ():
        if not isinstance(place, Mapping) or (place.keys().isdisjoint(names) and place.keys() - {"page"}):
            raise refuse(column, place, 'an object such as {"document": "a.pdf", "page": 1}')
        document = next((place[name] for name in names if place.get(name)), place.get("document"))
        page = place.get("page")
        key = document if level == "document" else (document, page)
        is_missing = not document if level == "document" else document is None or page is None
        try:
            if not is_missing:
                keys.add(key)
        except TypeError:
            raise refuse(column, key, "a document and a page") from None
    return keys


def summarize(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """Compute the figures of the whole set and, under `by_hop_type`, those of questions about one page, several pages
    or several documents.
    """
    measured = []
    for place, (row, score) in enumerate(zip(rows, scores)):
        try:
            measured.append(_measure(row, score))
        except ColumnError as error:
            error.place = place
            raise
    by_hop_type: dict[str, list[Measures]] = {}
    for each in measured:
        by_hop_type.setdefault(each["hop_type"], []).append(each)
    groups = {name: _aggregate(of_type) for name, of_type in sorted(by_hop_type.items())}
    return {**_aggregate(measured), "by_hop_type": groups}


def _measure(row: Row, score: float) -> Measures:
    evidence, citations = row.get("evidence"), row.get("citations")
    pages = _list_places("evidence", evidence, ("document",), "page")
    documents = _list_places("evidence", evidence, ("document",), "document")
    steps = row.get("steps")
    if steps is None:
        steps = len(row.get("search_history") or ()) or row.get("iterations") or 0
    return {
        "anls": score,
        "correct": score >= 0.5,
        "doc_f1": score_citations(citations, evidence, "document")["f1"],
        "page_f1": score_citations(citations, evidence, "page")["f1"],
        "steps": steps,
        "hop_type": "cross_doc" if len(documents) > 1 else "cross_page" if len(pages) > 1 else "single",
    }


def _aggregate(measured: Sequence[Measures]) -> Summary:
    """Compute the figures of a group of questions. Without a judge, the program uses ANLS* as the semantic score."""
    if not measured:
        return {}
    mean_anls = mean(each["anls"] for each in measured)
    return {
        "n": len(measured),
        "accuracy": mean(float(each["correct"]) for each in measured),
        "mean_anls": mean_anls,
        "mean_semantic": mean_anls,
        "semantic_ci": None,
        "doc_f1": mean(each["doc_f1"] for each in measured),
        "page_f1": mean(each["page_f1"] for each in measured),
        **_find_kuiper(measured),
        **_compare_effort(measured),
    }


def _list_efforts(measured: Sequence[Measures]) -> list[tuple[float, bool]]:
    """List the number of steps and whether the answer is correct for each question with more than 0 steps."""
    efforts = []
    for each in measured:
        try:
            effort = float(each["steps"])
        except (TypeError, ValueError):
            continue
        if effort > 0:
            efforts.append((effort, each["correct"]))
    return efforts


def _find_kuiper(measured: Sequence[Measures]) -> Summary:
    """Compute Kuiper's statistic, which measures how unevenly correct answers are distributed over levels of effort."""
    correct = [is_correct for _, is_correct in sorted(_list_efforts(measured), key=lambda effort: effort[0])]
    if len(set(correct)) < 2:
        return {"kuiper_stat": math.nan, "kuiper_degenerate": True}
    share, running, least, most = sum(correct) / len(correct), 0.0, math.inf, -math.inf
    for is_correct in correct:
        running += is_correct - share
        least, most = min(least, running), max(most, running)
    return {"kuiper_stat": most - least, "kuiper_degenerate": False}


def _compare_effort(measured: Sequence[Measures]) -> Summary:
    """Compute the mean effort of wrong answers divided by the mean effort of correct answers."""
    efforts = _list_efforts(measured)
    right, wrong = ([effort for effort, is_correct in efforts if is_correct is kind] for kind in (True, False))
    of_right, of_wrong = (mean(kind) if kind else 0.0 for kind in (right, wrong))
    return {
        "wasted_effort_ratio": of_wrong / of_right if right else math.inf,
        "mean_steps_correct": of_right,
        "mean_steps_incorrect": of_wrong,
    }


MADQA = Rule(
    "madqa",
    "ANLS*",
    "MADQA: ANLS* of lists with several accepted lists; citations and effort of the agent",
    "https://github.com/OxRML/MADQA",
    {
        "answer_variants": "the list of references, each a list of strings",
        "prediction": "the answer of the model: a string, or a list of strings",
    },
    "answer_variants",
    judge,
    summarize,
    optional={
        "citations": 'the pages that the answer cites: a list of objects such as {"file": "a.pdf", "page": 1}',
        "evidence": 'the pages that it should cite: a list of objects such as {"document": "a.pdf", "page": 1}',
        "search_history": "the searches of the agent, whose number is its effort",
        "iterations": "the effort of the agent, where it made no searches",
        "steps": "the effort of the agent",
    },
)
