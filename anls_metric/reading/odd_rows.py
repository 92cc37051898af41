"""Finds rows at the edges of a table that are probably no questions: totals, footnotes, and types of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from anls_metric.reading.input_file import Chunk
from anls_metric.reading.repeats import Doubt

_WORD = (
    r"(?:accuracy|acc|totals?|subtotal|grand|average|avg|mean|median|overall|sum|scores?|anls|exact|match|em|f1|count)"
)
_NUMBER = r"[-+]?\d[\d.,]*(?: ?%| ?/ ?\d+)?"
_TYPE = r"(?:int|integer|str|string|text|float|double|number|bool|boolean|list|object|json|varchar)(?:\d+|\[\w+\])?"
# Patterns of the values of a row that are not empty, each on a line, with what the row is.
_KINDS = {
    rf"(?i){_WORD}(?: {_WORD}){{0,3}} ?(?:\(%\)|%)? ?[:=]?(?:\n{_NUMBER})+": "a row of totals",
    r"(?i)(?:\* |notes?:|source:|legend:)[^\n]*": "a footnote",
    rf"(?i){_TYPE}(?:\n{_TYPE})+": "a row of types",
}


def doubt_row(chunk: Chunk, number: int, prediction: Any, references: Sequence[Any]) -> list[Doubt]:
    """Doubt that the first or the last row of a table is a question.

    Args:
        chunk: the records around it.
        number: the place of the row in the chunk.
        prediction, references: its answers. If the prediction is right, the row is a question.

    Example:
        >>> records = [{"answers": "ice tea", "prediction": "tea"}, {"answers": "Total", "prediction": "1/1"}]
        >>> print(doubt_row(Chunk(records, [2, 3], "line"), 1, "1/1", ["Total"])[0].text)
        line 3 looks like a row of totals ("Total", "1/1"), and counts as a question
    """
    record = chunk.records[number]
    is_flat = all(value is None or isinstance(value, (str, int, float)) for value in record.values())
    if prediction in references or not is_flat:
        return []
    cells = {name: str(value).strip() for name, value in record.items() if value not in (None, "") and value == value}
    field, first = next(iter(cells.items()), ("", ""))
    column = [str(value) for each in chunk.records if isinstance(value := each.get(field), (str, int, float))]
    if column.count(first) != 1 or not any(re.search(r"[\W\d]", text) for text in column if text != first):
        return []  # it is one of several names of fields, such as company, date and total
    for pattern, what in _KINDS.items():
        if re.fullmatch(pattern, "\n".join(cells.values())):
            quoted = ", ".join(f'"{cell}"' for cell in [*cells.values()][:3])
            text = f"{chunk.place_of(number)} looks like {what} ({quoted:.100}), and counts as a question"
            return [Doubt(text, "if it is none, remove this row")]
    return []
