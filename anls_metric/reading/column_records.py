"""Records that are stored as columns. A dict for a record is created only when it is accessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, overload


class ColumnRecords(Sequence[dict[str, Any]]):
    """The records of a table, stored as columns.

    Args:
        columns: the columns by their names; all have the same length.
        length: the number of records.
        is_flat: whether no value is a dict; None if that is not known yet.

    Example:
        >>> records = ColumnRecords({"id": ["7", "8"], "answer": ["tea", "milk"]}, 2)
        >>> records[1], records.get_column("id")
        ({'id': '8', 'answer': 'milk'}, ['7', '8'])
    """

    __slots__ = ("_columns", "_is_flat", "_length")

    def __init__(self, columns: Mapping[str, list[Any]], length: int, is_flat: bool | None = None) -> None:
        self._columns, self._length, self._is_flat = columns, length, is_flat

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self._columns)

    def get_column(self, name: str) -> list[Any]:
        """Return a column. KeyError: there is none of this name."""
        return self._columns[name]

    @property
    def is_flat(self) -> bool:
        """Whether no value is a dict."""
        if self._is_flat is None:
            self._is_flat = dict not in map(type, chain.from_iterable(self._columns.values()))
        return self._is_flat

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        if not self._columns:
            return iter([{} for _ in range(self._length)])
        return map(dict, map(zip, repeat(self.names), zip(*self._columns.values())))

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> ColumnRecords: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | ColumnRecords:
        if isinstance(place, slice):
            length = len(range(*place.indices(self._length)))
            columns = {name: column[place] for name, column in self._columns.items()}
            return ColumnRecords(columns, length, self._is_flat or None)
        return {name: column[place] for name, column in self._columns.items()}


def get_column(records: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """Return the values of a field of all records.

    Raises:
        KeyError: a record does not have the field.

    Example:
        >>> get_column([{"id": "7"}, {"id": "8"}], "id")
        ['7', '8']
    """
    if isinstance(records, ColumnRecords):
        return records.get_column(name)
    return list(map(itemgetter(name), records))
