"""A shortcut for plain columns, in which predictions are strings, references are lists of strings, and rows are paired
by position.

The call itself identifies the columns, and plain columns have no ids, fields or other types that could contradict the
call. The general reader, which reads all other input, would return the same result for plain columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from anls_metric.core.names import get_base
from anls_metric.core.scorer import Scorer
from anls_metric.options import INPUT, OPTIONS, PAGES, Settings
from anls_metric.reading.answers import Answers, Questions, Source
from anls_metric.reading.inputs import Input
from anls_metric.reading.table import Roles, Table, name_places

_PREDICTION, _REFERENCES = "prediction", "references"
_DECIDING = [name for name, option in OPTIONS.items() if option.group == INPUT] + [_PREDICTION, _REFERENCES, "extract"]
"""The options that decide how input is read, all of which must have their defaults for this shortcut."""


def pair_columns(
    inputs: Sequence[Input], gold: Input | None, settings: Settings, scorer: Scorer
) -> list[Answers] | None:
    """Pair each submission with the references by position, or return None if the input is not plain columns.

    Args:
        inputs: the submissions.
        gold: the references.
        settings: the user's options.
        scorer: the scorer that will score the answers.
    """
    is_plain = scorer.form == "text" and all(getattr(settings, name) == OPTIONS[name].default for name in _DECIDING)
    are_named = 0 < len(inputs) == len({each.name for each in inputs} - {""})  # inputs with the same name are runs
    if not (gold and gold.name and is_plain and are_named) or PAGES in settings.metrics:
        return None
    accepted = _find_column(gold, _REFERENCES)
    columns = [_find_column(each, _PREDICTION) for each in inputs]
    if not _are_references(accepted) or not all(_are_texts(each) and len(each) == len(accepted) for each in columns):
        return None
    table = Table([{_REFERENCES: own} for own in accepted], gold.name, name_places("row"), fields={_REFERENCES: False})
    numbers = [str(number) for number in range(1, len(accepted) + 1)]
    questions = Questions(
        table, numbers, list(accepted), [None] * len(accepted), has_ids=False, roles=Roles(references=_REFERENCES)
    )
    count, theirs = f"{len(accepted):,} of {len(accepted):,}", get_base(gold.name)
    return [
        Answers(
            each.name,
            questions,
            list(column),
            Source(_PREDICTION, get_base(each.name), _REFERENCES, theirs, "position", count),
        )
        for each, column in zip(inputs, columns)
    ]


def _find_column(each: Input, field: str) -> Any:
    """Return the column of an input that contains only the given field, or None for any other input."""
    return each.data[field] if isinstance(each.data, dict) and [*each.data] == [field] else None


def _are_texts(column: Any) -> bool:
    """Whether a column contains only strings, none of which looks like a list of several answers."""
    is_column = isinstance(column, (list, tuple)) and set(map(type, column)) == {str}
    return is_column and not any(text[:1] == "[" for text in column)


def _are_references(column: Any) -> bool:
    """Whether a column contains only nonempty lists of strings."""
    is_column = isinstance(column, (list, tuple)) and set(map(type, column)) == {list} and all(column)
    return is_column and set(map(type, chain.from_iterable(column))) == {str}
