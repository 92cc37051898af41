"""Finds the records, the fields and the layout of a table."""

from __future__ import annotations

from itertools import chain

from anls_metric.messages import list_some, make_error
from anls_metric.options import Settings
from anls_metric.reading.layouts import Layout, find_layout, recognize_layout
from anls_metric.reading.record_lists import choose_lists, split_documents
from anls_metric.reading.records import ABSENT, VALUE, take_column
from anls_metric.reading.table import Table, choose_records, find_places, list_fields, name_place, read_column


def apply_layout(table: Table, settings: Settings, of_values: bool = False) -> Table:
    """Find the records, the fields and the layout of a table, and split records that contain several questions.

    Args:
        table: the table as it is in the file.
        settings: the user's options, which may specify the path of the records, the layout and the filter.
        of_values: whether answers are lists and nested values.

    Raises:
        InputError: there are no records, the user must choose one of several lists of records, a record is not an
            object, or the filter does not exist. ValueError: the layout does not exist.
    """
    table = _check_records(choose_lists(table, settings, of_values))
    table, layout = _find_layout(table, settings)
    if layout is None:
        questions = split_documents(table, settings, of_values)
        table, layout = (table, layout) if questions is table else _find_layout(questions, settings)
    fields = table.fields
    if layout and of_values:
        layout = layout._replace(**layout.of_values)
    if layout and layout.expand:
        parts = take_column(table.records, layout.expand)
        parts = [[record] if own is ABSENT else own for record, own in zip(table.records, parts)]  # of another shape
        numbers = [number for number, own in enumerate(parts) for _ in own]
        table = table._replace(records=[part for own in parts for part in own], numbers=numbers)
        fields = list_fields(table.records)
    table = table._replace(fields=fields, layout=layout, root=None)
    return _choose_filter(table, layout, settings) if layout and layout.repeated_by else table


def _find_layout(table: Table, settings: Settings) -> tuple[Table, Layout | None]:
    """Find the fields and the layout of a table."""
    fields = list_fields(table.records)
    if settings.layout in (None, "auto"):
        layout = recognize_layout(table.records[0], fields)
    else:
        layout = None if settings.layout == "table" else find_layout(settings.layout)
    return table._replace(fields=fields), layout


def _check_records(table: Table) -> Table:
    """Put bare answers into the field `VALUE`. Raises InputError if any other record is not an object."""
    kinds = set(map(type, table.records))
    if kinds == {dict}:
        return table
    are_lists = kinds == {list} and set(map(type, chain.from_iterable(table.records))) == {str}  # of references
    if are_lists or kinds <= {str, int, float, type(None)}:
        return table._replace(records=[{VALUE: record} for record in table.records])
    place = next(place for place, record in enumerate(table.records) if not isinstance(record, dict))
    sentence = 'expected an object, got {kind}: write each record like {{"questionId": 1, "answer": "Coca Cola"}}'
    raise make_error(name_place(table, place), sentence, kind=f"a {type(table.records[place]).__name__}")


def _choose_filter(table: Table, layout: Layout, settings: Settings) -> Table:
    """Keep one answer to each question from a program that writes an answer for each filter, such as
    lm-evaluation-harness.
    """
    column = list(map(str, read_column(table, layout.repeated_by)))
    names = list(dict.fromkeys(column))
    table = choose_records(table, find_places(table, layout.repeated_by, column, settings.filter or names[0]))
    if len(names) == 1 or settings.filter is not None:
        return table
    about = f"{len(names)} {layout.repeated_by}s ({list_some(names)}), none of them applied"
    return table._replace(layout=layout._replace(prediction=layout.unrepeated), about=about)
