"""Makes strings safe to print and shows the edits between two strings on three lines."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import zip_longest

GAP = "·"
"""The sign for a missing character in an alignment."""


def make_printable(text: str) -> str:
    """Make a string safe to print on a single line, with a dot in place of each unprintable character."""
    return "".join(character if character.isprintable() else "·" for character in text)


def align_texts(edits: Sequence[Sequence[str]], width: int = 100) -> list[str]:
    """Return three aligned lines that show the prediction, the reference, and marks for the differences.

    Args:
        edits: the edits of a match, as in `Match.edits`.
        width: the number of columns to show. Longer lines are cut and end in an ellipsis.

    Returns:
        Three lines of the same width. `GAP` stands for a missing character; the last line marks differences with D
        (delete), I (insert) and R (replace).

    Example:
        >>> from anls_metric import explain
        >>> align_texts(explain("the cola", ["coca cola"]).best.edits)
        ['·the cola', 'coca cola', 'IRRR     ']
    """
    lines = ["", "", ""]
    for operation, left, right in edits:
        mark = " " if operation == "equal" else operation[0].upper()
        for pair in zip_longest(left, right, fillvalue=GAP):
            cells = list(map(_format_character, pair))
            columns = max(map(_count_columns, cells))
            texts = [*(cell + " " * (columns - _count_columns(cell)) for cell in cells), mark * columns]
            lines = [line + text for line, text in zip(lines, texts)]
            if len(lines[2]) > width:
                return [line + "…" for line in lines]
    return lines


def _format_character(character: str) -> str:
    """Make a character safe to print. A combining character is placed on a dotted circle."""
    return "◌" + character if unicodedata.combining(character) else make_printable(character)


def _count_columns(cell: str) -> int:
    return 2 if unicodedata.east_asian_width(cell[0]) in "WF" else 1
