"""The gradio tab for a pasted table, which is turned into a file in the tab for files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import gradio as gr

from anls_metric.page.answers import format_error
from anls_metric.page.uploads import keep_text
from anls_metric.reading.roles import ANSWERS, IDS, LESS_CERTAIN_REFERENCES, PREDICTIONS, QUESTIONS, REFERENCES

NAME = "pasted table.csv"

_HEADS = ["prediction", "references"]
_KNOWN = {*IDS, *QUESTIONS, *PREDICTIONS, *REFERENCES, *LESS_CERTAIN_REFERENCES, *ANSWERS}
_EXAMPLE = [["CocaCola", "Coca Cola"], ["12/15/89", '["12/15/88", "15 December 1988"]']]
_HELP = (
    "Paste cells from a spreadsheet into the table, with or without a row of headings. A cell of references may "
    "contain one reference, several (one per line), or a JSON list. Or paste two JSON lists: predictions and "
    "references, as `evaluate` takes them."
)
_QUIET: Any = {"show_progress": "hidden", "api_visibility": "private"}


def add_table_tab() -> Callable[[gr.File, gr.Tabs], None]:
    """Add the tab.

    Returns:
        A function that lets its button score the table as a file in another tab.
    """
    with gr.Column(elem_id="table-tab"):
        gr.Markdown(_HELP)
        table = gr.Dataframe(
            _EXAMPLE,
            headers=_HEADS,
            column_widths=["40%", "60%"],
            type="pandas",
            datatype="str",
            interactive=True,
            wrap=True,
            elem_id="table",
        )
        pasted = gr.Textbox(label="Paste here instead, if the table takes no paste", lines=2, elem_id="pasted")
        with gr.Row():
            score = gr.Button("Score the table", scale=0, min_width=180)
        problem = gr.HTML()

    def fill(text: str) -> tuple[Any, str, str]:
        """Fill the table with what was pasted, and empty the field."""
        if not text.strip():
            return gr.skip(), "", gr.skip()
        try:
            heads, *rows = read_pasted(text)
        except ValueError as error:
            return gr.skip(), text, format_error(str(error))
        return gr.Dataframe({"headers": heads, "data": rows}), "", ""

    def keep(content: Any) -> tuple[Any, Any, str]:
        """Keep the table as a file, and show the tab that scores it."""
        cells = content.astype(str)
        rows = cells[cells.ne("").any(axis=1)]
        if rows.empty:
            return gr.skip(), gr.skip(), format_error("The table is empty: paste a prediction and its references.")
        return [keep_text(NAME, write_csv(rows))], gr.Tabs(selected="file"), ""

    pasted.change(fill, pasted, [table, pasted, problem], **_QUIET)
    return lambda files, tabs: score.click(keep, table, [files, tabs, problem], **_QUIET) and None


def read_pasted(text: str) -> list[list[str]]:
    r"""Read pasted spreadsheet cells, or two pasted JSON lists, as rows. The first row has the headings.

    Example:
        >>> read_pasted("CocaCola\tCoca Cola\n")
        [['prediction', 'references'], ['CocaCola', 'Coca Cola']]
        >>> read_pasted('predictions=["a", "b"], references=[["a", "c"], "b"]')
        [['prediction', 'references'], ['a', '["a", "c"]'], ['b', 'b']]

    Raises:
        ValueError: there is one column, or the lists have different lengths.
    """
    lists = [] if "\t" in text else _find_lists(text)
    if len(lists) == 2:
        if len(lists[0]) != len(lists[1]):
            raise ValueError(
                f"There are {len(lists[0])} predictions and {len(lists[1])} references: paste references for each "
                "prediction."
            )
        return [_HEADS, *([_write_cell(each) for each in row] for row in zip(*lists))]
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), "excel-tab") if any(row)]
    width = max(map(len, rows))
    if width < 2:
        raise ValueError("There is only one column: paste two, the predictions and the references.")
    heads = _HEADS + [f"column {number}" for number in range(3, width + 1)]
    has_heads = len(_KNOWN & {cell.strip().lower() for cell in rows[0]}) > 1
    return [*([] if has_heads else [heads]), *([*row, *[""] * (width - len(row))] for row in rows)]


def _find_lists(text: str) -> list[list[Any]]:
    """Find the JSON lists in a text, those of predictions first."""
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


def write_csv(table: Any) -> str:
    r"""Write a pandas table as CSV. Several lines in a cell of references become a list.

    Example:
        >>> import pandas
        >>> write_csv(pandas.DataFrame({"prediction": ["b"], "references": ["a\nb"]}))
        'prediction,references\nb,"[""a"", ""b""]"\n'
    """

    def list_lines(cell: str) -> str:
        return _write_cell(cell.split("\n")) if "\n" in cell.strip() else cell

    text: str = table.apply(lambda column: column.map(list_lines) if column.name in REFERENCES else column).to_csv(
        index=False, lineterminator="\n"
    )
    return text
