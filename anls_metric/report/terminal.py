"""Formats the document of all results for a terminal, and the alignment of two strings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from anls_metric.analysis.outcomes import ZERO_OUTCOMES
from anls_metric.core.explanation import Edit
from anls_metric.report.document import Document, describe_clusters, list_extraction
from anls_metric.report.extras import Lines, list_lines, name_first
from anls_metric.report.numbers import PLAIN, Numbers
from anls_metric.report.texts import align_rows, make_printable, shorten

if TYPE_CHECKING:
    from anls_metric.report.columns import Names
    from anls_metric.report.tables import Block

MAX_HINTS = 3
"""The most hints to print. The document has all."""

MAX_LEAVES = 10

LEGEND = "alignment: * no character, D delete, I insert, R replace"
"""Explains the marks of `align_texts`."""


def as_text(document: Document, numbers: Numbers = PLAIN, columns: Names = (), width: int | None = None) -> str:
    """Format a document: a submission as a list of figures, several submissions as tables.

    Args:
        document: as `document.build_document` makes it.
        numbers: how scores are printed.
        columns: the columns that the user asks for, which always make a table; empty for the usual columns.
        width: the width of the terminal. A wider table is split; None never splits.
    """
    submissions = document["submissions"]
    if len(submissions) > 1 or columns:
        parts = _format_comparison(document, numbers, columns, width)
    else:
        parts = _format_submission(document, numbers, width)
    several = len(submissions) > 1
    for submission in submissions:
        parts += [submission["name"]] if several and submission.get("worst") else []
        parts += ["\n".join(format_answer(answer)) for answer in submission.get("worst", ())]
    if any(answer.get("edits") for submission in submissions for answer in submission.get("worst", ())):
        parts.append(LEGEND)
    return "\n\n".join("\n".join(map(make_printable, part.split("\n"))) for part in parts)


def format_hints(document: Document) -> str:
    """Format the hints that cost most, a line for each."""
    return "\n".join(make_printable(f"hint: {hint['text']}") for hint in document["hints"][:MAX_HINTS])


def format_read(document: Document) -> str:
    """Format what was read, as one line if the lines of the submissions differ in one word, such as the file."""
    lines = [re.split("([,:]? )", submission["read"]) for submission in document["submissions"]]
    columns = list(zip(*lines))
    has_equal_lengths = len(set(map(len, lines))) == 1
    if has_equal_lengths and sum(len(set(words)) > 1 for words in columns) <= 1:
        lines = [[", ".join(dict.fromkeys(words)) for words in columns]]
    return _format_lines([("read", "".join(line)) for line in lines])


def _format_submission(document: Document, numbers: Numbers, width: int | None) -> list[str]:
    """Format a submission: its figures, its variants and its groups."""
    submission = document["submissions"][0]
    zeros = {name: count for name, count in submission["outcomes"].items() if count and name in ZERO_OUTCOMES}
    why = f" ({', '.join(f'{name}: {count:,}' for name, count in zeros.items())})" if zeros else ""
    lines = [(document.get("label", "ANLS"), numbers.format(submission["anls"]))]
    if submission["interval"]:
        interval = [numbers.format_interval(submission["interval"]), describe_clusters(document)]
        lines.append(("95% CI", ", ".join(filter(None, interval))))
    if "run_sd" in submission:
        scores = submission["run_scores"]
        spread = numbers.format_interval((min(scores), max(scores)))
        lines.append(("runs", f"{submission['runs']}, {spread}, SD {numbers.format(submission['run_sd'])}"))
    exact, contains = map(numbers.format, (submission["exact_match"], submission["contains"]))
    lines += [
        ("metrics", f"exact match {exact}, contains {contains}"),
        ("scored 0", f"{sum(zeros.values()):,}{why}"),
        *list_lines(submission, numbers),
        ("questions", f"{submission['questions']:,}"),
        ("read", submission["read"]),
        ("signature", document["signature"]),
        *name_first("extracted", list_extraction(document)),
    ]
    parts = [_format_lines(lines)]
    if submission["groups"] or submission.get("variants"):
        from anls_metric.report import tables

        parts += [_format_block(block, width) for block in tables.build_blocks(document, numbers)[1:]]
    return parts


def _format_lines(lines: Lines, indent: str = "") -> str:
    width = max(10, *(len(name) for name, _ in lines))
    return "\n".join(f"{indent}{name:{width}} {text}" for name, text in lines)


def _format_comparison(document: Document, numbers: Numbers, columns: Names, width: int | None) -> list[str]:
    """Format several submissions: the tables, the other figures of each, and what was read."""
    from anls_metric.report import tables

    first, *others = tables.build_blocks(document, numbers, columns)
    parts = ["\n".join([_format_block(first, width), *tables.list_notes(document), document["signature"]])]
    parts.append(format_read(document))
    for submission in document["submissions"]:
        lines = list_lines(submission, numbers, ("partial_credit", "metrics"))
        parts += [f"{submission['name']}\n" + _format_lines(lines, "  ")] if lines else []
    extraction = list_extraction(document)
    parts += ["\n".join(["extracted", *(f"  {each}" for each in extraction)])] if extraction else []
    return [*parts, *(_format_block(block, width) for block in others)]


def _format_block(block: Block, width: int | None) -> str:
    """Format a table. A wide table is split, also before the differences. Each part begins with the names."""
    keys = [column.key for column in block.columns]
    names = 1 + ("group" in keys and "name" in keys)
    columns = list(zip(*block.table))

    def is_too_wide(columns: Sequence[Sequence[str]]) -> bool:
        return width is not None and sum(max(map(len, column)) + 2 for column in columns) - 2 > width

    parts = [columns[:names]]
    for place, column in enumerate(columns[names:], names):
        is_apart = keys[place : place + 1] == ["difference"] and is_too_wide(columns)
        if len(parts[-1]) > names and (is_apart or is_too_wide([*parts[-1], column])):
            parts.append(columns[:names])
        parts[-1].append(column)
    texts = [align_rows(list(zip(*part))) for part in parts]
    return (f"{block.title}\n" if block.title else "") + "\n\n".join(texts)


def format_matches(number: str, matches: Sequence[Document]) -> str:
    """Format the variants that `variant_search.find_variants` found for a number: a line for each rule and score.

    A variant that gives the number without extraction is not repeated for a rule.
    """
    firsts: dict[tuple[str, str], Document] = {}
    for match in sorted(matches, key=lambda match: match["extract"] != ""):
        score = f" on {match['name']}: {match['anls'] * match['scale']:.6g}"
        firsts.setdefault((match["variant"], score), match)
    variants: dict[str, list[str]] = {}  # the words after the variants -> the variants
    for (variant, score), match in firsts.items():
        rule = f" with --extract {match['extract']}" if match["extract"] else ""
        variants.setdefault(rule + score, []).append(variant)
    start = f"{number} is" if matches[0]["exact"] else f"no variant gives {number}; the nearest is"
    return "\n".join(make_printable(f"{start} {', '.join(names)}{words}") for words, names in variants.items())


# Answers


def format_answer(answer: Document) -> list[str]:
    """Format an answer of the document above the closest accepted answer, with the reason for the score, as lines."""
    head = f"question {answer['id']}  score {answer['score']:.4f}  "
    if answer["why"] is None:
        return [head + "no answer"]
    texts = [(name, _format_line(answer[name])) for name in ("question", "raw") if answer.get(name) is not None]
    if "leaves" in answer:
        texts += name_first("leaves", _format_leaves(answer["leaves"]))
    else:
        texts += zip(("prediction", "reference", ""), align_texts(answer["edits"]))
    texts.append(("accepted", "; ".join(map(_format_line, answer["references"]))))
    return [head + shorten(answer["why"]), *(f"  {name:10}  {line}".rstrip() for name, line in texts)]


def _format_line(value: Any) -> str:
    """Format a value as one line that is not too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shorten(make_printable(" ".join(text.split())))


def _format_leaves(leaves: Sequence[Document]) -> list[str]:
    """Format the leaves of a value that do not score 1, a line for each."""
    wrong = [leaf for leaf in leaves if leaf["score"] < 1]
    more = [f"... and {len(wrong) - MAX_LEAVES} more"] if len(wrong) > MAX_LEAVES else []
    return [
        shorten(make_printable(": ".join(filter(None, [leaf["where"], leaf["why"]])))) for leaf in wrong[:MAX_LEAVES]
    ] + more


def align_texts(edits: Sequence[Edit], width: int = 100) -> list[str]:
    """Align two strings: the prediction, the reference below it, and a line that marks the differences.

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
    lines = ["", "", ""]
    for operation, left, right in edits:
        mark = " " if operation == "equal" else operation[0].upper()
        for pair in zip_longest(left, right, fillvalue=""):
            cells = list(map(_format_character, pair))
            columns = max(map(_count_columns, cells))
            texts = [*(cell + " " * (columns - _count_columns(cell)) for cell in cells), mark * columns]
            lines = [line + text for line, text in zip(lines, texts)]
            if len(lines[2]) > width:
                return [line + "…" for line in lines]
    return lines


def _format_character(character: str) -> str:
    """Make a character safe to print. A combining character is placed on a dotted circle."""
    import unicodedata  # a megabyte of tables, and only needed for an alignment

    if not character:
        return "*"
    return "◌" + character if unicodedata.combining(character) else make_printable(character)


def _count_columns(cell: str) -> int:
    import unicodedata

    return 2 if unicodedata.east_asian_width(cell[0]) in "WF" else 1
