"""Decides which of several tables is the gold file.

The first table is the gold file unless field names indicate another. A table with references but no predictions takes
precedence over a table whose only `answer` field may contain either, and a table with predictions comes last. Every
other table must have predictions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from anls_metric.messages import InputError
from anls_metric.reading.reading import Reading
from anls_metric.reading.records import ABSENT
from anls_metric.reading.roles import may_be_either
from anls_metric.reading.table import Roles, Table, read_column, show_path
from anls_metric.reading.values import read_columns_together

Contents = Literal["references", "predictions", "both", "either", "references or both", "neither"]
"""What a table may contain. "either" means that the same field may contain predictions or references, as in an object
of answers keyed by id. "references or both" means that the `answer` field nearly always equals a reference in the same
record, as in a gold file or in a submission that copies the references.
"""

_GOLDS: tuple[Contents, ...] = ("references", "references or both")
_SUBMISSIONS: tuple[Contents, ...] = ("predictions", "both", "either", "references or both")
_NEARLY_ALL = 0.9


def find_golds(tables: Sequence[Table], reading: Reading, places: Sequence[int] | None = None) -> list[int]:
    """Find the positions of the tables that may be the gold file, with the most likely table first.

    Args:
        tables: the tables.
        reading: how to read the tables.
        places: the positions of the tables that the user does not name as submissions, or None for all positions.

    Returns:
        The positions, of which there are several if the field names do not decide, or [] if each table has its own
        predictions and references or all tables are named as submissions.
    """
    contents = [find_contents(table, reading) for table in tables]
    if set(contents) == {"both"}:
        return []
    places = range(len(tables)) if places is None else places
    golds = [
        place
        for place in places
        if contents[place] not in ("predictions", "neither")
        and all(each in _SUBMISSIONS for other, each in enumerate(contents) if other != place)
    ]
    certain = [place for place in golds or places if contents[place] in _GOLDS]
    if certain:
        return certain
    if not golds:  # something is missing
        return [place for place in places if contents[place] != "predictions"][:1] or list(places[:1])
    return golds if contents[golds[0]] == "both" else [place for place in golds if contents[place] == "either"]


def find_contents(table: Table, reading: Reading) -> Contents:
    """Determine whether a table may contain predictions, references or both."""
    prediction, references = (_find_path(table, reading, side) for side in ("submission", "gold"))
    if prediction is None or references is None:
        return "references" if references is not None else "neither" if prediction is None else "predictions"
    if show_path(prediction) == show_path(references):
        return "either"
    if may_be_either(prediction) and _is_copied(table, prediction, references, reading):
        return "references or both"
    return "both"


def _is_copied(table: Table, prediction: Any, references: Any, reading: Reading) -> bool:
    """Whether nearly every prediction equals a reference in the same record."""
    with suppress(InputError):
        column = read_columns_together(table, references)
        accepted = reading.form.read_references(column, table, references, reading.settings)
        return count_equal(read_column(table, prediction), accepted) > 0
    return False


def _find_path(table: Table, reading: Reading, side: Literal["submission", "gold"]) -> Any:
    """Find the field of the predictions (for a submission) or the references (for a gold file), or return None if the
    table has no such field.
    """
    roles = Roles()
    with suppress(InputError):
        roles = reading.find_roles(table, side)
    return roles.prediction if side == "submission" else roles.references


def count_equal(predictions: Sequence[Any], references: Sequence[Sequence[Any]]) -> int:
    """Count the predictions that equal one of their references, ignoring case and whitespace, or return 0 unless nearly
    all predictions do.
    """
    pairs = [pair for pair in zip(predictions, references) if pair[0] not in (None, ABSENT)]
    others, most = 0, len(pairs) - max(1, _NEARLY_ALL * len(pairs))
    for prediction, accepted in pairs:
        others += fold(prediction) not in map(fold, accepted)
        if others > most:
            return 0
    return len(pairs) - others


def fold(value: Any) -> str:
    """Convert a value to a string without differences in case and whitespace."""
    return " ".join(str(value).casefold().split())


def is_named_gold(name: str) -> bool:
    """Whether a file has a name that is typical of gold files.

    Example:
        >>> is_named_gold("data/gold_label.json"), is_named_gold("ocr_gt.json"), is_named_gold("length.json")
        (True, True, False)
    """
    return re.search(_NAMES, os.path.basename(name).lower()) is not None


_NAMES = r"gold|label|truth|(?:^|[\W_])(?:gt|refs?|references?|targets?)(?:[\W_]|$)"
