"""The comparison of several submissions, as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anls_metric.analysis.scored import ScoredSet
from anls_metric.report import tables
from anls_metric.report.document import list_extraction
from anls_metric.report.terminal import format_answer, make_printable, shorten


def as_text(document: Mapping[str, Any], scored_sets: Mapping[str, ScoredSet], width: int | None = None) -> str:
    """The comparison of several submissions: the tables, the changed questions, and the worst answers.

    Args:
        document: as `document.build_document` makes it.
        scored_sets: the submissions, by name.
        width: the width of the terminal. A first table that is wider is split into two; None never splits it.
    """
    first, *others = tables.build_blocks(document)
    table = tables.as_text(first.table)
    if width and max(map(len, table.splitlines())) > width:
        halves = ([row[: tables.OWN] for row in first.table], [[row[0], *row[tables.OWN :]] for row in first.table])
        table = "\n\n".join(map(tables.as_text, halves))
    parts = ["\n".join([table, *map(make_printable, tables.format_footnote(document))])]
    extraction = list_extraction(document)
    parts += ["\n".join(["extracted", *(f"  {make_printable(each)}" for each in extraction)])] if extraction else []
    parts += [_format_block(block) for block in others]
    for comparison in document["comparisons"]:
        for kind, word in _CHANGES.items():
            parts += [_format_change(comparison, word, change) for change in comparison.get(kind, ())]
    for name, scored_set in scored_sets.items():
        worst = ["\n".join(format_answer(scored, scored_set)) for scored in scored_set.worst]
        parts += [f"{make_printable(name)}\n\n" + "\n\n".join(worst)] if worst else []
    return "\n\n".join(parts)


# The key of a comparison -> what happened to its questions.
_CHANGES = {"regressions": "lost", "improvements": "won"}


def _format_block(block: tables.Block) -> str:
    return f"{make_printable(block.title)}\n{tables.as_text(block.table)}"


def _format_change(comparison: Mapping[str, Any], word: str, change: Mapping[str, Any]) -> str:
    """A question that a submission lost or won against the baseline."""
    names = [comparison["first"], comparison["second"]]
    lines = [
        (names[place], f"{change[key]['score']:.4f}  {_format_value(change[key]['prediction'])}")
        for place, key in enumerate(("first", "second"))
    ]
    lines.append(("accepted", "; ".join(map(_format_value, change["references"]))))
    if change["question"]:
        lines.insert(0, ("question", " ".join(change["question"].split())))
    width = max(len(make_printable(name)) for name, _ in lines)
    head = f"question {make_printable(change['id'])}  {word} by {make_printable(comparison['second'])}"
    return "\n".join(
        [head, *(f"  {make_printable(name):{width}}  {shorten(make_printable(text))}" for name, text in lines)]
    )


def _format_value(value: Any) -> str:
    """A prediction or an accepted answer, as text."""
    if value is None:
        return "no answer"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
