"""Reads rows that a visitor pastes, and writes them as CSV, so that they can be scored like a file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from anls_metric.reading.roles import ANSWERS, IDS, LESS_CERTAIN_REFERENCES, PREDICTIONS, QUESTIONS, REFERENCES

_HEADS = ["prediction", "references"]
_KNOWN = {*IDS, *QUESTIONS, *PREDICTIONS, *REFERENCES, *LESS_CERTAIN_REFERENCES, *ANSWERS}


def read_rows(text: str) -> list[list[str]]:
    r"""Read pasted spreadsheet cells or two pasted JSON lists as rows, the first of which contains the headings.

    Example:
        >>> read_rows("CocaCola\tCoca Cola\n")
        [['prediction', 'references'], ['CocaCola', 'Coca Cola']]
        >>> read_rows('predictions=["a", "b"], references=[["a", "c"], "b"]')
        [['prediction', 'references'], ['a', '["a", "c"]'], ['b', 'b']]

    Raises:
        ValueError: there is only one column, or the lists have different lengths.
    """
    lists = [] if "\t" in text else _find_lists(text)
    if len(lists) == 2:
        if len(lists[0]) != len(lists[1]):
            raise ValueError(
                f"There are {len(lists[0])} predictions but references for {len(lists[1])} questions: paste references "
                "for each prediction."
            )
        return [_HEADS, *([_write_cell(each) for each in row] for row in zip(*lists))]
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), "excel-tab") if any(row)]
    width = max(map(len, rows), default=0)
    if width < 2:
        raise ValueError("There is only one column: paste two, the predictions and the references.")
    heads = _HEADS + [f"column {number}" for number in range(3, width + 1)]
    has_heads = len(_KNOWN & {cell.strip().lower() for cell in rows[0]}) > 1
    return [*([] if has_heads else [heads]), *([*row, *[""] * (width - len(row))] for row in rows)]


def _find_lists(text: str) -> list[list[Any]]:
    """Find the JSON lists in a string, with the predictions first, or return [] if a list is not valid."""
    found, end = [], 0
    while (place := text.find("[", end)) >= 0:
        is_second = "reference" in text[end:place]
        try:
            value, end = json.JSONDecoder().raw_decode(text, place)
        except (ValueError, RecursionError):
            return []
        found.append((is_second, value))
    return [value for _, value in sorted(found, key=lambda pair: pair[0])]


def _write_cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def write_rows(rows: list[list[str]]) -> str:
    r"""Write rows as CSV, converting a cell with several lines in a references column to a list.

    Example:
        >>> write_rows([["prediction", "references"], ["b", "a\nb"]])
        'prediction,references\nb,"[""a"", ""b""]"\n'
    """
    stream = io.StringIO()
    for row in rows:
        cells = (
            _write_cell(cell.split("\n")) if head in REFERENCES and "\n" in cell.strip() else cell
            for head, cell in zip(rows[0], row)
        )
        csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()
