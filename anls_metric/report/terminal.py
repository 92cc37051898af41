"""Formats scores for a terminal: the summary of a scored set, and the alignment of two texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anls_metric.analysis.evaluation import Entry
from anls_metric.analysis.scored import ScoredRow, ScoredSet, sort_groups
from anls_metric.core.explanation import Edit
from anls_metric.core.variants import OF_VALUES, VARIANTS, Scorer, Variant
from anls_metric.reading.layouts import LAYOUTS
from anls_metric.reading.values import format_value
from anls_metric.report.beside import list_lines
from anls_metric.report.document import MOST_CONFUSIONS, describe_beside, get_question_text
from anls_metric.report.numbers import PLAIN, Numbers


def make_printable(text: str) -> str:
    """Make a text safe to print: one line, with dots in place of control characters."""
    return "".join(character if character.isprintable() else "·" for character in text)


def shorten(text: str, length: int = 160) -> str:
    """Cut the middle out of a text that is longer than `length`."""
    return text if len(text) <= length else text[: length // 2] + " … " + text[-length // 2 :]


def format_summary(entry: Entry, numbers: Numbers = PLAIN, most_confusions: int = MOST_CONFUSIONS) -> str:
    """Format the summary of a submission: mean, zeros, signature, extraction, variants, groups, worst answers.

    Args:
        entry: the submission.
        numbers: how scores are printed.
        most_confusions: how many confusions to list, if they were counted.
    """
    scored_set = entry.scored_set
    extraction = entry.extraction.sentences if entry.extraction else ()
    zeros = {name: count for name, count in scored_set.zeros.items() if count}
    why = f" ({', '.join(f'{name}: {count:,}' for name, count in zeros.items())})" if zeros else ""
    lines = [
        f"{scored_set.label:10} {numbers.format(scored_set.mean)}",
        f"questions  {scored_set.count:,}",
        *_format_interval_line(scored_set, numbers),
        *_format_runs_line(scored_set, numbers),
        f"exact      {numbers.format(scored_set.exact_match)}",
        f"contains   {numbers.format(scored_set.contains)}",
        f"scored 0   {sum(zeros.values()):,}{why}",
        *(
            f"{name:10} {make_printable(text)}"
            for name, text in list_lines(describe_beside(entry, most_confusions), numbers)
        ),
        f"signature  {make_printable(entry.signature)}",
        *(f"{'' if n else 'extracted':9}  {make_printable(sentence)}" for n, sentence in enumerate(extraction)),
    ]
    parts = [lines]
    parts += [["by variant", *_format_variants(scored_set.means, numbers)]] if scored_set.means else []
    parts += [_format_groups(field, scored_set, numbers) for field, groups in scored_set.groups.items() if groups]
    parts += [format_answer(scored, scored_set) for scored in scored_set.worst]
    parts += [[LEGEND]] if has_alignments(scored_set) else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _format_interval_line(scored_set: ScoredSet, numbers: Numbers) -> list[str]:
    interval, clusters = scored_set.interval, scored_set.clusters
    if interval is None:
        return []
    of = f", {clusters.count:,} clusters by {make_printable(clusters.field)}" if clusters else ""
    return [f"95 %       {numbers.format_interval(interval)}{of}"]


def _format_runs_line(scored_set: ScoredSet, numbers: Numbers) -> list[str]:
    scores, deviation = scored_set.run_scores, scored_set.run_deviation
    if deviation is None:
        return []
    spread = f"{numbers.format_interval((min(scores), max(scores)))}, deviation {numbers.format(deviation)}"
    return [f"runs       {len(scores)}, {spread}"]


def format_layouts() -> str:
    """Format the layouts as a table: name, what such files hold, the fields that identify them, and the source."""
    rows = [(layout.name, layout.holds, ", ".join(layout.fields), layout.source) for layout in LAYOUTS]
    return _format_table([("layout", "holds", "fields by which it is recognized", "source"), *rows])


def format_variants() -> str:
    """Format the variants as a table: name, what is special about the variant, and the source."""
    from anls_metric.nested import get_value_variant
    from anls_metric.rules import RULES

    scorers: list[Scorer] = [*VARIANTS.values(), *map(get_value_variant, OF_VALUES), *RULES.values()]
    rows = [(scorer.name, scorer.meaning.replace("`", ""), scorer.source) for scorer in scorers]
    return _format_table([("variant", "what is special about it", "source"), *rows])


def _format_table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows of texts as aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows)


def format_matches(number: str, matches: Iterable[Mapping[str, Any]]) -> str:
    """Format the variants that `variant_search.find_variants` found for a number: a line for each exact score.

    A variant that gives the number without extraction is not repeated for a rule.
    """
    number = make_printable(number)
    rules_by_line: dict[tuple[str, str, str], dict[str, str]] = {}  # the rule of each variant on a line
    for match in matches:
        start = f"{number} is" if match["exact"] else f"no variant gives {number}; the nearest is"
        score = f"{match['anls'] * match['scale']:.6g}"
        line = start, make_printable(match["name"]), score
        rules_by_line.setdefault(line, {}).setdefault(match["variant"], match["extract"])
    lines = []
    for (start, name, score), rules in rules_by_line.items():
        variants: dict[str, list[str]] = {}
        for variant, rule in sorted(rules.items(), key=lambda pair: pair[1] != ""):
            variants.setdefault(f" with --extract {rule}" if rule else "", []).append(variant)
        words = " or ".join(f"{', '.join(names)}{rule}" for rule, names in variants.items())
        lines.append(f"{start} {words} on {name}: {score}")
    return "\n".join(lines)


def _format_variants(means: Mapping[str, float], numbers: Numbers) -> list[str]:
    width = max(map(len, means))
    return [f"  {name:{width}}  {numbers.format(mean)}" for name, mean in means.items()]


def _format_groups(field: str, scored_set: ScoredSet, numbers: Numbers) -> list[str]:
    groups, intervals = sort_groups(scored_set.groups[field]), scored_set.find_group_intervals(field)
    rows = [[f"by {make_printable(field)}", scored_set.label, "95 %", "questions"]]
    for name, group in groups.items():
        interval = numbers.format_interval(intervals[name])
        rows.append([f"  {make_printable(name)}", numbers.format(group.mean), interval, str(group.count)])
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def format_answer(scored: ScoredRow, scored_set: ScoredSet) -> list[str]:
    """Format an answer above the closest accepted answer, with the reason for the score, as lines."""
    why = scored_set.explain(scored)
    head = f"question {make_printable(scored.row.id)}  score {scored.score:.4f}  "
    if why is None:
        return [head + "the submission has no answer to it"]
    names, lines = _format_leaves(why.leaves) if hasattr(why, "leaves") else (_SIDES, align_texts(why.edits))
    question, raw_text = get_question_text(scored.row), scored.row.written
    raw_text = None if raw_text == scored.row.prediction else raw_text
    before = {"question": question, "written": raw_text}
    texts = [(name, _format_line(text)) for name, text in before.items() if text is not None]
    texts += zip(names, lines)
    texts.append(("accepted", "; ".join(_format_line(format_value(value)) for value in scored.row.references)))
    return [head + shorten(str(why)), *(f"  {name:10}  {line}".rstrip() for name, line in texts)]


def _format_line(text: str) -> str:
    """Format a text as one line that is not too long."""
    return shorten(make_printable(" ".join(text.split())))


LEGEND = "alignment: * no character, D delete, I insert, R replace"
"""Explains the marks of `align_texts`."""


def has_alignments(scored_set: ScoredSet) -> bool:
    """Whether one of the worst answers is shown as an alignment, which only texts have."""
    answers = (scored.row.prediction for scored in scored_set.worst)
    return isinstance(scored_set.scorer, Variant) and any(answer is not None for answer in answers)


def _format_leaves(leaves: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Format the names and texts of lines, a line for each leaf that does not score 1."""
    wrong = [leaf for leaf in leaves if leaf.score < 1]
    more = [f"... and {len(wrong) - _MOST_LEAVES} more"] if len(wrong) > _MOST_LEAVES else []
    lines = [shorten(make_printable(str(leaf))) for leaf in wrong[:_MOST_LEAVES]] + more
    return ["leaves" if lines else "", *[""] * (len(lines) - 1)], lines


_MOST_LEAVES = 10
_SIDES = ["prediction", "reference", ""]


def align_texts(edits: Sequence[Edit], width: int = 100) -> list[str]:
    """Align two texts: the prediction, the reference below it, and a line that marks the differences.

    Args:
        edits: `Match.edits`.
        width: how many columns to show. Longer lines are cut and end in an ellipsis.

    Returns:
        Three lines of the same width. ``*`` stands for a missing character; the last line marks differences with D
        (delete), I (insert) and R (replace).

    Example:
        >>> from anls_metric import explain
        >>> align_texts(explain("the cola", ["coca cola"]).best.edits)
        ['*the cola', 'coca cola', 'IRRR     ']
    """
    prediction, reference, marks = "", "", ""
    for operation, left, right in edits:
        mark = " " if operation == "equal" else operation[0].upper()
        for place in range(max(len(left), len(right))):
            cells = [_format_character(side[place]) if place < len(side) else "" for side in (left, right)]
            columns = max(map(_count_columns, cells)) or 1
            prediction += _pad(cells[0], columns)
            reference += _pad(cells[1], columns)
            marks += mark * columns
            if len(marks) > width:
                return [line + "…" for line in (prediction, reference, marks)]
    return [prediction, reference, marks]


def _format_character(character: str) -> str:
    """Make a character safe to print. A combining character is placed on a dotted circle."""
    import unicodedata  # slow to import, and only needed for an alignment

    if unicodedata.combining(character):
        return "◌" + character
    return make_printable(character)


def _count_columns(cell: str) -> int:
    import unicodedata

    wide = cell and unicodedata.east_asian_width(cell[0]) in "WF"
    return 2 if wide else min(len(cell), 1)


def _pad(cell: str, columns: int) -> str:
    return cell + " " * (columns - _count_columns(cell)) if cell else "*" * columns
