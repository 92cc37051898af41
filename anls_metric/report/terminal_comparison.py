"""What a terminal shows of several submissions side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from anls_metric.analysis.scored import ScoredSet
from anls_metric.report import tables
from anls_metric.report.terminal import answer_lines, printable, shortened


def as_text(document: Mapping[str, Any], scored_sets: Mapping[str, ScoredSet], width: int | None = None) -> str:
    """All that a terminal is told of several submissions: how they compare, groups, variants, changes, the worst.

    Args:
        document: as `document.document` makes it.
        scored_sets: the submissions, by name.
        width: the columns of the terminal; where the first table has more, how they compare is a table of its own.
    """
    first, *others = tables.blocks(document)
    told = tables.as_text(first.table)
    if width and max(map(len, told.splitlines())) > width:
        halves = ([row[: tables.OWN] for row in first.table], [[row[0], *row[tables.OWN :]] for row in first.table])
        told = "\n\n".join(map(tables.as_text, halves))
    parts = ["\n".join([told, *map(printable, tables.footnote(document))])]
    parts += [_block(block) for block in others]
    for comparison in document["comparisons"]:
        for kind, word in _CHANGES.items():
            parts += [_change_lines(comparison, word, change) for change in comparison.get(kind, ())]
    for name, scored_set in scored_sets.items():
        worst = ["\n".join(answer_lines(scored, scored_set)) for scored in scored_set.worst]
        parts += [f"{printable(name)}\n\n" + "\n\n".join(worst)] if worst else []
    return "\n\n".join(parts)


_CHANGES = {"regressions": "lost", "improvements": "won"}


def _block(block: tables.Block) -> str:
    return f"{printable(block.title)}\n{tables.as_text(block.table)}"


def _change_lines(comparison: Mapping[str, Any], word: str, change: Mapping[str, Any]) -> str:
    """A question that a submission lost or won against the baseline."""
    names = [comparison["first"], comparison["second"]]
    lines = [
        (names[place], f"{change[key]['score']:.4f}  {_said(change[key]['prediction'])}")
        for place, key in enumerate(("first", "second"))
    ]
    lines.append(("accepted", "; ".join(map(_said, change["references"]))))
    if change["question"]:
        lines.insert(0, ("question", " ".join(change["question"].split())))
    width = max(len(printable(name)) for name, _ in lines)
    head = f"question {printable(change['id'])}  {word} by {printable(comparison['second'])}"
    return "\n".join([head, *(f"  {printable(name):{width}}  {shortened(printable(text))}" for name, text in lines)])


def _said(value: Any) -> str:
    """A prediction or an accepted answer of a document."""
    if value is None:
        return "no answer"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
