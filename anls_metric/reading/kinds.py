"""Distinguishes a column of answers from a library's table by the attributes of an object.

This module does not import any of these libraries, because a user who passes an object has already imported its
library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence, ValuesView
from typing import Any

from anls_metric.core.strings.rows import COLUMN_METHODS, has_stream


def is_list(data: Any) -> bool:
    """Whether an object is a list or a library's column rather than a table or a string."""
    if isinstance(data, (str, bytes, Mapping)):
        return False
    is_column = isinstance(data, (Sequence, ValuesView)) or any(hasattr(data, method) for method in COLUMN_METHODS)
    return is_column and not is_table(data)


def is_table(data: Any) -> bool:
    """Whether an object is the table of a library, such as a data frame or an Arrow stream."""
    if find_dump(data):  # pydantic models also have a schema
        return False
    if any(hasattr(data, name) for name in ("columns", "column_names", "schema")):
        return True
    return has_stream(data) and not any(hasattr(data, method) for method in COLUMN_METHODS)


def _dump_attrs(value: Any) -> Any:
    import attrs  # it is installed: the object is an instance of an attrs class

    return attrs.asdict(value)


# An attribute of pydantic, dataclass or attrs objects -> the function that converts such an object to a dict.
_DUMPS: Mapping[str, Callable[[Any], Any]] = {
    "model_dump": lambda value: value.model_dump(mode="json"),
    "__dataclass_fields__": dataclasses.asdict,
    "__attrs_attrs__": _dump_attrs,
}


def find_dump(value: Any) -> Callable[[Any], Any] | None:
    """Find the function that converts a pydantic, dataclass or attrs object to a dict, or return None for any other
    object.
    """
    marks = (mark for mark in _DUMPS if hasattr(value, mark) and not isinstance(value, type))
    return next(map(_DUMPS.__getitem__, marks), None)
