"""Makes strings from files safe to print or to put into HTML, and aligns strings in columns."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from anls_metric.core.printing import make_printable
from anls_metric.messages import shorten

_FORMULA = re.compile(r"'* *[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def guard_formula(text: str) -> str:
    """Put an apostrophe before text that spreadsheets would treat as a formula. `read_bytes` removes it from CSV.

    Example:
        >>> guard_formula("=1+1"), guard_formula("-1.5"), guard_formula("a")
        ("'=1+1", '-1.5', 'a')
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def escape(value: object, limit: int = 300) -> str:
    """Format any value as escaped HTML text without control characters, and without its middle part if the text is
    longer than `limit`.
    """
    return html.escape(make_printable(shorten(str(value), limit))).replace("{", "&#123;").replace("$", "&#36;")


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
