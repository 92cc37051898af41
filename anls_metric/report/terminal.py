"""What a terminal shows: the summary of a scored set, and texts above each other with what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.analysis.scored import Groups, Scored, ScoredSet, in_order
from anls_metric.core.explanation import Edit
from anls_metric.reading.layouts import LAYOUTS


def printable(text: str) -> str:
    """The text as a terminal may show it: on one line, and without obeying it."""
    return "".join(character if character.isprintable() else "·" for character in text)


def shortened(text: str, length: int = 160) -> str:
    """The text without its middle, where it is long."""
    return text if len(text) <= length else text[: length // 2] + " … " + text[-length // 2 :]


def summary(scored_set: ScoredSet) -> str:
    """All that is said of a scored set: mean, zeros, signature, groups, worst answers."""
    zeros = {name: count for name, count in scored_set.zeros.items() if count}
    why = f" ({', '.join(f'{count} {name}' for name, count in zeros.items())})" if zeros else ""
    lines = [
        f"{scored_set.label:10} {scored_set.mean:.4f}",
        f"questions  {scored_set.count}",
        *_interval(scored_set),
        f"exact      {scored_set.exact_match:.4f}",
        f"contains   {scored_set.contains:.4f}",
        f"scored 0   {sum(zeros.values())}{why}",
        f"signature  {scored_set.signature}",
    ]
    more = details(scored_set)
    return "\n".join(lines) + (f"\n\n{more}" if more else "")


def details(scored_set: ScoredSet) -> str:
    """The variants, groups and worst answers of a scored set; "" where none were asked for."""
    parts = [["by variant", *_variant_lines(scored_set.means)]] if scored_set.means else []
    parts += [_group_lines(field, groups) for field, groups in scored_set.groups.items() if groups]
    parts += [answer_lines(scored, scored_set) for scored in scored_set.worst]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _interval(scored_set: ScoredSet) -> list[str]:
    interval, clusters = scored_set.interval, scored_set.clusters
    if interval is None:
        return []
    of = f", {clusters.count:,} clusters by {printable(clusters.field)}" if clusters else ""
    return [f"95 %       {interval.low:.4f} to {interval.high:.4f}{of}"]


def layouts() -> str:
    """The layouts that are recognised, one a line: name, the fields by which it is, and whose it is."""
    width = max(len(layout.name) for layout in LAYOUTS)
    return "\n".join(f"{layout.name:{width}}  {', '.join(layout.fields)}  {layout.source}" for layout in LAYOUTS)


def matching_variants(number: str, matches: Iterable[Mapping[str, Any]]) -> str:
    """Which variants give a number, as `variant_search.find_variants` finds them."""
    number = printable(number)
    lines = []
    for match in matches:
        times = f" x {match['scale']}" if match["scale"] > 1 else ""
        verb = f"{number} is" if match["exact"] else f"no variant gives {number}; the nearest is"
        score = f"{match['anls'] * match['scale']:.6g}"
        lines.append(f"{verb} {match['variant']}{times} on {printable(match['name'])}: {score}")
    return "\n".join(lines)


def _variant_lines(means: Mapping[str, float]) -> list[str]:
    width = max(map(len, means))
    return [f"  {name:{width}}  {mean:.4f}" for name, mean in means.items()]


def _group_lines(field: str, groups: Groups) -> list[str]:
    names = {value: printable(value) for value in in_order(groups)}
    width = max(len(field) + 1, *map(len, names.values()))
    head = f"{'by ' + printable(field):{width + 2}}  ANLS    questions"
    rows = ((name, groups[value]) for value, name in names.items())
    return [head, *(f"  {name:{width}}  {tally.mean:.4f}  {tally.count}" for name, tally in rows)]


def answer_lines(scored: Scored, scored_set: ScoredSet) -> list[str]:
    """An answer above the closest accepted one, and why it scores what it scores."""
    why = scored_set.explain(scored)
    head = f"question {printable(scored.row.id)}  score {scored.score:.4f}  "
    if why is None:
        return [head + "the submission has no answer to it"]
    names, lines = _leaf_lines(why.leaves) if hasattr(why, "leaves") else (_SIDES, alignment(why.edits))
    asked = scored.row.record.get("question")
    if isinstance(asked, str):
        names, lines = ["question", *names], [shortened(printable(" ".join(asked.split()))), *lines]
    return [head + shortened(str(why)), *(f"  {name:10}  {line}".rstrip() for name, line in zip(names, lines))]


def _leaf_lines(leaves: Sequence[Any]) -> tuple[list[str], list[str]]:
    """A line for each leaf that is not right."""
    wrong = [leaf for leaf in leaves if leaf.score < 1]
    more = [f"... and {len(wrong) - _MOST_LEAVES} more"] if len(wrong) > _MOST_LEAVES else []
    lines = [shortened(printable(str(leaf))) for leaf in wrong[:_MOST_LEAVES]] + more
    return ["leaves" if lines else "", *[""] * (len(lines) - 1)], lines


_MOST_LEAVES = 10
_SIDES = ["prediction", "reference", ""]


def alignment(edits: Sequence[Edit], width: int = 100) -> list[str]:
    """Three lines that show two texts above each other: the prediction, the reference, and what differs.

    Args:
        edits: `Match.edits`.
        width: how many columns to show; what is beyond is cut and marked with an ellipsis.

    Returns:
        Lines of the same width. ``*`` stands where a side has no character; the last line has D (delete), I
        (insert) and R (replace) under what differs.

    Example:
        >>> from anls_metric import explain
        >>> alignment(explain("the cola", ["coca cola"]).best.edits)
        ['*the cola', 'coca cola', 'IRRR     ']
    """
    prediction, reference, marks = "", "", ""
    for operation, left, right in edits:
        mark = " " if operation == "equal" else operation[0].upper()
        for place in range(max(len(left), len(right))):
            cells = [_cell(side[place]) if place < len(side) else "" for side in (left, right)]
            columns = max(map(_columns, cells)) or 1
            prediction += _padded(cells[0], columns)
            reference += _padded(cells[1], columns)
            marks += mark * columns
            if len(marks) > width:
                return [line + "…" for line in (prediction, reference, marks)]
    return [prediction, reference, marks]


def _cell(character: str) -> str:
    """The character as a terminal may show it: alone, and without obeying it."""
    import unicodedata  # only where there is an alignment to print

    if unicodedata.combining(character):
        return "◌" + character
    return printable(character)


def _columns(cell: str) -> int:
    import unicodedata

    wide = cell and unicodedata.east_asian_width(cell[0]) in "WF"
    return 2 if wide else min(len(cell), 1)


def _padded(cell: str, columns: int) -> str:
    return cell + " " * (columns - _columns(cell)) if cell else "*" * columns
