"""Reads tables in memory as records, which are then processed like the records of files.

A table is a DataFrame of pandas or polars, a `datasets.Dataset`, a table of pyarrow, a list of records, or a dict of
columns. This module imports no library: a user who has a table of a library has imported it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from anls_metric.core.rows import as_column, describe
from anls_metric.reading.column_records import ColumnRecords
from anls_metric.reading.containers import NAMES, records_of
from anls_metric.reading.errors import InputError
from anls_metric.reading.image_cells import holds_image
from anls_metric.reading.input_file import CHUNK, Chunk, list_some, split_into_chunks
from anls_metric.reading.records import Records


class Columns(NamedTuple):
    """A table as columns.

    Attributes:
        names: the names of the columns.
        read: reads some columns, as lists, of the rows from a start to a stop.
        length: the number of rows.
        of_bytes: the names of columns that hold bytes or images. They are read only if the user names them.
    """

    names: Sequence[str]
    read: Callable[[Sequence[str], int, int], Sequence[Sequence[Any]]]
    length: int
    of_bytes: Sequence[str] = ()


class Table(Records):
    """The records of a table in memory.

    Args:
        name: the name of the table in errors.
        content: the table as columns, or a list of records.
    """

    def __init__(self, name: str, content: Columns | Sequence[Any]) -> None:
        super().__init__("")
        self.name, self._content = name, content
        if isinstance(content, Columns):
            self.refuse_repeated(content.names)
            self.fields = [*content.names, *content.of_bytes]

    def reopen(self) -> Table:
        """Return the same records from the beginning."""
        return Table(self.name, self._content)

    def _read(self) -> Iterator[Chunk]:
        content = self._content
        if isinstance(content, Columns):
            return self._read_columns(content)
        return split_into_chunks(enumerate(content, 1), "record")

    def _read_columns(self, content: Columns) -> Iterator[Chunk]:
        names = content.names if self.columns is None else self._choose(content)
        step = CHUNK if set(names).isdisjoint(content.of_bytes) else _CHUNK_OF_BYTES
        for start in range(0, content.length, step):
            stop = min(start + step, content.length)
            columns, kinds = {}, set()
            for name, column in zip(names, content.read(names, start, stop)):
                of_column = set(map(type, column))
                columns[name] = list(_clean(column, of_column))
                kinds |= of_column
            records = ColumnRecords(columns, stop - start, is_flat=kinds <= _FLAT or None)
            yield Chunk(records, range(start + 1, stop + 1), "row")

    def _choose(self, content: Columns) -> list[str]:
        columns = set(self.columns or ())
        wanted = columns.union(self.unless_bytes)
        return [name for name in content.names if name in wanted] + [n for n in content.of_bytes if n in columns]


_CHUNK_OF_BYTES = 16  # rows; the image of a page can take several MB
_FLAT: set[type] = {str, int, float, bool, type(None), list}
_PLAIN: set[type] = {*_FLAT, dict}


def _clean(column: Sequence[Any], kinds: set[type]) -> Iterable[Any]:
    """Replace the values of libraries in a column, which has values of these types, by Python values."""
    return column if kinds <= _PLAIN else map(_clean_value, column)


def _clean_value(value: Any) -> Any:
    """Replace a value of a library by a Python value. A missing value becomes None."""
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas
        return None
    return value


def make_table(data: Any, name: str, named: Collection[str] = ()) -> Table:
    """Make a table of data in memory.

    Args:
        data: a DataFrame, a `datasets.Dataset`, a table of pyarrow, a list of records or answers, a dict of columns, or
            a dict as a JSON file holds it: records by id, or a list of records under "data".
        name: the name of the table in errors.
        named: the fields that the user names.

    Raises:
        InputError: the data are none of these, or columns have different lengths.

    Example:
        >>> table = make_table({"prediction": ["Cola"], "references": [["Coca Cola"]]}, "data")
        >>> list(table.first_records())
        [{'prediction': 'Cola', 'references': ['Coca Cola']}]
    """
    for kind in _KINDS:
        if kind.fits(data):
            return Table(name, kind.read(data, name))
    if isinstance(data, Mapping):
        return Table(name, _read_mapping(data, name, named))
    if isinstance(data, (list, tuple)):
        return Table(name, data)
    if hasattr(data, "__len__") and not isinstance(data, (str, bytes, set, frozenset)):
        return Table(name, make_column(data, name))
    raise InputError(
        f"it is {describe(data)}",
        name,
        "give a list of texts, the path of a file, a DataFrame, a list of dicts, or a dict of columns",
    )


def make_column(data: Any, name: str) -> list[Any]:
    """Make a list of a column: a list, or a column of pandas, polars, numpy, pyarrow or datasets.

    Raises:
        InputError: the data are not a column.
    """
    if not hasattr(data, "__len__"):
        raise InputError(f"it is {describe(data)}", name, "give a list")
    try:
        column = as_column(data, name)
        return list(_clean(column, set(map(type, column))))
    except ValueError as error:
        raise InputError(str(error).removeprefix(f"{name} is "), name) from None


def _read_mapping(data: Mapping[str, Any], name: str, named: Collection[str]) -> Columns | Sequence[Any]:
    columns = all(
        hasattr(column, "__len__") and not isinstance(column, (str, bytes, Mapping)) for column in data.values()
    )
    if data and columns and not {*NAMES, *named}.isdisjoint(data):
        return join_columns(data, name)
    records = records_of(dict(data))
    if records is None:
        problem = f"it is a dict with the keys {list_some(map(repr, data))}" if data else "it is empty"
        raise InputError(problem, name, "give a dict of columns, or of answers by the ids of their questions")
    return records


def list_labels(data: Any) -> list[Any] | None:
    """List the index of a Series or a DataFrame of pandas; None for other data."""
    has_index = type(data).__name__ in ("Series", "DataFrame") and hasattr(data, "index")
    return data.index.tolist() if has_index else None


def join_columns(data: Mapping[str, Any], name: str) -> Columns:
    """Join columns to a table.

    Raises:
        InputError: the columns have different lengths, or one is not a column.
    """
    columns = {field: make_column(column, f"{name}, {field}") for field, column in data.items()}
    lengths = {field: len(column) for field, column in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{field} has {length:,}" for field, length in lengths.items())
        raise InputError(f"the columns have different lengths: {counts}", name, "give columns of the same length")

    def read(names: Sequence[str], start: int, stop: int) -> list[list[Any]]:
        return [columns[field][start:stop] for field in names]

    names, of_bytes = _split_names(columns, lambda field: next((x for x in columns[field] if x is not None), None))
    return Columns(names, read, next(iter(lengths.values())), of_bytes)


# Tables of libraries


class _Kind(NamedTuple):
    """A kind of tables: a row of `_KINDS`.

    Attributes:
        name: the name of the class.
        library: the library that has it.
        read: makes columns of such a table; it also gets the name of the table.
    """

    name: str
    library: str
    read: Callable[[Any, str], Columns]

    def fits(self, data: Any) -> bool:
        """Whether an object is such a table, or a subclass of it."""
        return any(
            base.__name__ == self.name and base.__module__.partition(".")[0] == self.library
            for base in type(data).__mro__
        )


def _read_pandas(data: Any, name: str) -> Columns:
    # The ids of the questions are often the index: it has a name, or stands beside one column and counts no rows.
    counts = data.index.tolist() == list(range(len(data))) if len(data.columns) == 1 else True
    if not counts or any(label is not None for label in data.index.names):
        data = data.reset_index()
    columns: dict[str, list[Any]] = {}

    def read(names: Sequence[str], start: int, stop: int) -> list[list[Any]]:
        for field in names:
            if field not in columns and field not in of_bytes:
                columns[field] = data.iloc[:, places[field]].tolist()
        return [
            data.iloc[start:stop, places[field]].tolist() if field in of_bytes else columns[field][start:stop]
            for field in names
        ]

    all_names = list(map(str, data.columns))
    places = {field: place for place, field in enumerate(all_names)}
    names, of_bytes = _split_names(
        all_names, lambda field: next(iter(data.iloc[:, places[field]].dropna().head(1)), None)
    )
    return Columns(names, read, len(data), of_bytes)


def _read_polars(data: Any, name: str) -> Columns:
    def read(names: Sequence[str], start: int, stop: int) -> list[list[Any]]:
        return [data.get_column(field)[start:stop].to_list() for field in names]

    names, of_bytes = _split_names(
        data.columns, lambda field: next(iter(data.get_column(field).drop_nulls().head(1).to_list()), None)
    )
    return Columns(names, read, data.height, of_bytes)


def _read_pyarrow(data: Any, name: str) -> Columns:
    def read(names: Sequence[str], start: int, stop: int) -> list[list[Any]]:
        part = data.slice(start, stop - start)
        return [part.column(data.schema.get_field_index(field)).to_pylist() for field in names]

    names, of_bytes = _split_schema(data.schema)
    return Columns(names, read, data.num_rows, of_bytes)


def _read_dataset(data: Any, name: str) -> Columns:
    names, of_bytes = _split_schema(data.features.arrow_schema)

    def read(names: Sequence[str], start: int, stop: int) -> list[list[Any]]:
        part = data.select_columns(list(names)).with_format("arrow")[start:stop]  # without decoding images
        return [part.column(field).to_pylist() for field in names]

    return Columns(names, read, len(data), of_bytes)


def _split_names(names: Iterable[str], find_first: Callable[[str], Any]) -> tuple[list[str], list[str]]:
    """Split names into those of columns without images, and of columns whose first value holds an image."""
    parts: tuple[list[str], list[str]] = [], []
    for name in names:
        parts[holds_image(find_first(name))].append(name)
    return parts


def _split_schema(schema: Any) -> tuple[list[str], list[str]]:
    """Return the names of the columns without bytes, and of the columns with bytes."""
    from anls_metric.reading.binary_formats import holds_bytes

    names: tuple[list[str], list[str]] = [], []
    for field in schema:
        names[holds_bytes(field.type)].append(field.name)
    return names


def _make_refuser(problem: str, remedy: str) -> Callable[[Any, str], Columns]:
    def read(data: Any, name: str) -> Columns:
        keys = list_some(map(str, data)) if isinstance(data, Mapping) else ""
        raise InputError(problem.format(keys=keys), name, remedy)

    return read


_KINDS = (
    _Kind("DataFrame", "pandas", _read_pandas),
    _Kind("DataFrame", "polars", _read_polars),
    _Kind("LazyFrame", "polars", _make_refuser("it is a query of polars", "run it with .collect()")),
    _Kind("Table", "pyarrow", _read_pyarrow),
    _Kind("RecordBatch", "pyarrow", _read_pyarrow),
    _Kind("Dataset", "datasets", _read_dataset),
    _Kind("IterableDataset", "datasets", _make_refuser("it is a stream of datasets", "load it with streaming=False")),
    _Kind("DatasetDict", "datasets", _make_refuser("it has several splits ({keys})", "give one of them")),
    _Kind("DataFrame", "pyspark", _make_refuser("it is a DataFrame of Spark", "give its toPandas()")),
)
