"""Creates records from in-memory data, such as lists, dicts, and the tables of pandas, polars, pyarrow and datasets.

This module does not import any of these libraries, because a user who passes a table has already imported its library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from anls_metric.core.checks import describe
from anls_metric.core.strings.rows import as_column, find_lazy_call, has_stream, read_stream
from anls_metric.messages import make_error
from anls_metric.reading.image_cells import holds_image
from anls_metric.reading.kinds import find_dump, is_list
from anls_metric.reading.records import NAMES, Records
from anls_metric.reading.table import Table, name_places

_SAMPLE = 100  # records
_PLAIN = {str, int, float, bool, type(None), list, dict}


def read_memory(data: Any, name: str, named: Collection[str | None] = ()) -> Table:
    """Read in-memory data as a table.

    Args:
        data: a pandas or polars DataFrame, a pyarrow table, a `datasets.Dataset`, a list of dicts or answers, a column
            of answers, a dict of columns, or a dict with the structure of a JSON file, such as answers keyed by id.
        name: the name that errors use for the data.
        named: the fields that the user names.

    Raises:
        InputError: the data have an unsupported type, or the columns have different lengths.

    Example:
        >>> read_memory({"prediction": ["Cola"], "references": [["Coca Cola"]]}, "data").records
        [{'prediction': 'Cola', 'references': ['Coca Cola']}]
    """
    reader = _find_reader(data)
    if reader:
        return Table(reader(data, name), name, name_places("row"))
    if isinstance(data, (list, tuple)):
        data = list(map(_clean, data)) if any(type(item) not in _PLAIN for item in data) else data
    if isinstance(data, Mapping):
        # Lists are columns if one of them has a usual name or is named by the user. Otherwise they are answers by id.
        if not {*NAMES, *named}.isdisjoint(data) and all(map(is_list, data.values())):
            return Table(join_columns(data, name), name, name_places("row"))
        from anls_metric.reading.formats import find_records  # lists do not need it

        return find_records({key: _clean(value) for key, value in data.items()}, name)
    if isinstance(data, (list, tuple)) and all(isinstance(item, Mapping) for item in data):
        return Table(_clean_records(data), name)
    call = find_lazy_call(data)
    if call:
        raise make_error(name, "a lazy {kind} has no rows yet: call {call} first", kind=type(data).__name__, call=call)
    if not hasattr(data, "__len__"):
        sentence = "expected a path, a DataFrame, a list of dicts or a dict of columns, got {data}"
        raise make_error(name, sentence, data=describe(data))
    return Table(read_values(data, name), name)


def fetch_rows(data: Any, name: str) -> Any:
    """Fetch the rows of an Arrow stream, such as a DuckDB relation, which may be readable only once, and return other
    data unchanged.
    """
    return read_stream(data, name) if has_stream(data) and not _find_reader(data) else data


def read_values(data: Any, name: str) -> list[Any]:
    """Convert a list or a library's column to a list of plain values."""
    column = as_column(data, name)
    return column if set(map(type, column)) <= _PLAIN else list(map(_clean, column))


def join_columns(columns: Mapping[Any, Any], name: str) -> Records:
    """Create records from columns, leaving out image columns.

    Raises:
        InputError: the columns have different lengths, or a value is not a column.
    """
    lists = {str(field): read_values(column, f"{name}, {field}") for field, column in columns.items()}
    if len(set(map(len, lists.values()))) > 1:
        counts = ", ".join(f"{field} has {len(column):,}" for field, column in lists.items())
        raise make_error(name, "the columns have different lengths: {counts}", counts=counts)
    texts = {field: column for field, column in lists.items() if not holds_image(next(filter(None, column), None))}
    texts = texts or lists  # if all columns contain bytes, they are kept and later rejected as answers
    return [dict(zip(texts, row)) for row in zip(*texts.values())]


# Libraries

_Reader = Callable[[Any, str], Records]


def _find_reader(data: Any) -> _Reader | None:
    """Find the reader for an object by its class or base classes, or return None if none of them is in `_READERS`."""
    names = ((base.__module__.partition(".")[0], base.__name__) for base in type(data).__mro__)
    return next(filter(None, map(_READERS.get, names)), None)


def _read_pandas(data: Any, name: str) -> Records:
    # The index often contains the ids of the questions: if it has a name, or if there is only one column and the index
    # does not just number the rows.
    counts = len(data.columns) != 1 or data.index.tolist() == list(range(len(data)))
    if not counts or any(label is not None for label in data.index.names):
        data = data.reset_index()
    from anls_metric.reading.formats import check_header

    check_header(list(map(str, data.columns)), name)
    return join_columns(dict(data.items()), name)


def _read_polars(data: Any, name: str) -> Records:
    return join_columns(data.to_dict(), name)


def _read_arrow(data: Any, name: str) -> Records:
    from anls_metric.reading.formats import list_columns

    records: Records = data.select(list_columns(data.schema, name)).to_pylist()
    return records


def _read_dataset(data: Any, name: str) -> Records:
    from anls_metric.reading.formats import list_columns

    names = list_columns(data.features.arrow_schema, name)
    records: Records = data.select_columns(names).to_list()
    return records


_READERS: Mapping[tuple[str, str], _Reader] = {
    ("pandas", "DataFrame"): _read_pandas,
    ("polars", "DataFrame"): _read_polars,
    ("pyarrow", "Table"): _read_arrow,
    ("pyarrow", "RecordBatch"): _read_arrow,
    ("datasets", "Dataset"): _read_dataset,
}
"""The readers for tables, keyed by the library and the name of the class."""


def _clean_records(records: Sequence[Mapping[Any, Any]]) -> Records:
    """Convert records to dicts, and also convert their values if one of the first records contains pydantic, dataclass
    or attrs objects.
    """
    if any(find_dump(value) for record in records[:_SAMPLE] for value in record.values()):
        return [{field: _clean(value) for field, value in record.items()} for record in records]
    return list(map(dict, records))


def _clean(value: Any) -> Any:
    """Convert a numpy or pandas value to a Python value, and a pydantic, dataclass or attrs object to a dict.

    A missing pandas value becomes None.
    """
    if type(value) in _PLAIN:
        return value
    dump = find_dump(value)
    if dump:
        return dump(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return value.tolist() if hasattr(value, "tolist") else value
