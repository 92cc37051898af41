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

    Example:
        >>> records = ColumnRecords({"id": ["7", "8"], "answer": ["tea", "milk"]}, 2)
        >>> records[1], records.get_column("id")
        ({'id': '8', 'answer': 'milk'}, ['7', '8'])
    """

    __slots__ = ("_columns", "_length")

    def __init__(self, columns: Mapping[str, list[Any]], length: int) -> None:
        self._columns, self._length = columns, length

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return list(self._columns)

    def get_column(self, name: str) -> list[Any]:
        """Return a column. KeyError: there is none of this name."""
        return self._columns[name]

    def list_values(self) -> Iterator[Any]:
        """List the values of all columns."""
        return chain.from_iterable(self._columns.values())

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
            return ColumnRecords({name: column[place] for name, column in self._columns.items()}, length)
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
