"""Makes texts of files safe to print, and aligns them in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def make_printable(text: str) -> str:
    """Make a text safe to print: one line, with dots in place of control characters."""
    return "".join(character if character.isprintable() else "·" for character in text)


def align_rows(rows: Iterable[Sequence[str]]) -> str:
    """Format the rows of a table as aligned columns.

    Example:
        >>> print(align_rows([["name", "score"], ["a", "0.5"]]))
        name  score
        a     0.5
    """
    cells = [list(map(make_printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)
