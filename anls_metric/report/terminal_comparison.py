"""Formats the comparison of several submissions for a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anls_metric.analysis.scored import ScoredSet
from anls_metric.report import tables
from anls_metric.report.beside import format_suspects, list_lines
from anls_metric.report.document import list_extraction
from anls_metric.report.numbers import PLAIN, Numbers
from anls_metric.report.terminal import LEGEND, format_answer, has_alignments, make_printable, shorten


def as_text(
    document: Mapping[str, Any],
    scored_sets: Mapping[str, ScoredSet],
    width: int | None = None,
    numbers: Numbers = PLAIN,
    columns: tables.Names = (),
) -> str:
    """Format the comparison of several submissions: the tables, the changed questions, and the worst answers.

    Args:
        document: as `document.build_document` makes it.
        scored_sets: the submissions, by name.
        width: the width of the terminal. A wider table is split; None never splits.
        numbers: how scores are printed.
        columns: the columns that the user asks for; empty for the usual columns.
    """
    first, *others = tables.build_blocks(document, numbers, columns)
    parts = ["\n".join([_format_table(first, width), *map(make_printable, tables.format_footnote(document))])]
    for submission in document["submissions"]:
        texts = [f"  {name:10} {make_printable(text)}" for name, text in list_lines(submission, numbers, _IN_TABLE)]
        parts += ["\n".join([make_printable(submission["name"]), *texts])] if texts else []
    if "suspects" in document:
        parts.append("\n".join(map(make_printable, format_suspects(document["suspects"]))))
    extraction = list_extraction(document)
    parts += ["\n".join(["extracted", *(f"  {make_printable(each)}" for each in extraction)])] if extraction else []
    parts += [f"{make_printable(block.title)}\n{_format_table(block, width)}" for block in others]
    for comparison in document["comparisons"]:
        for kind, word in _CHANGES.items():
            parts += [_format_change(comparison, word, change) for change in comparison.get(kind, ())]
    for name, scored_set in scored_sets.items():
        worst = ["\n".join(format_answer(scored, scored_set)) for scored in scored_set.worst]
        parts += [f"{make_printable(name)}\n\n" + "\n\n".join(worst)] if worst else []
    parts += [LEGEND] if any(map(has_alignments, scored_sets.values())) else []
    return "\n\n".join(parts)


_IN_TABLE = ("points", "metrics")

# The key of a list of questions in a comparison -> the word for what happened to them.
_CHANGES = {"regressions": "lost", "improvements": "won"}


def _format_table(block: tables.Block, width: int | None) -> str:
    """Format a table. A wide table is split, first before the differences. Each part begins with the names."""
    text = tables.as_text(block.table)
    if not width or _measure_width(text) <= width:
        return text
    keys = [column.key for column in block.columns]
    names = [place for place, key in enumerate(keys) if key in ("group", "name")] or [0]
    parts = [names]
    for place in range(len(names), len(block.table[0])):
        longer = [*parts[-1], place]
        is_apart = place < len(keys) and keys[place] == "difference"
        if parts[-1] != names and (is_apart or _measure_width(_format_part(block, longer)) > width):
            parts.append([*names, place])
        else:
            parts[-1] = longer
    return "\n\n".join(_format_part(block, part) for part in parts)


def _format_part(block: tables.Block, places: Sequence[int]) -> str:
    return tables.as_text([[row[place] for place in places] for row in block.table])


def _measure_width(text: str) -> int:
    return max(map(len, text.splitlines()))


def _format_change(comparison: Mapping[str, Any], word: str, change: Mapping[str, Any]) -> str:
    """Format a question that a submission lost or won against the baseline."""
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
    """Format a prediction or an accepted answer as a text."""
    if value is None:
        return "no answer"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
