"""Objects that are not columns of texts. The doors promise a ValueError for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st


def nested(depth: int) -> Any:
    """Nest a list in lists, deeper than Python can print."""
    value: Any = "a"
    for _ in range(depth):
        value = [value]
    return value


# Functions, because each test needs new iterators.
ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "NaN": lambda: float("nan"),
    "a number": lambda: 5,
    "400 digits": lambda: 10**400,
    "more digits than Python writes": lambda: 10**5000,
    "bytes": lambda: b"a",
    "a bytearray": lambda: bytearray(b"a"),
    "100,000 lists": lambda: nested(100_000),
    "an object": object,
    "a class": lambda: int,
    "an iterator": lambda: iter([1]),
    "a range": lambda: range(1),
    "a dict": lambda: {"a": 1},
    "a set": lambda: {1, "a"},
}

_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=2)
# Anything that can be written down.
trees = st.recursive(
    _LEAVES,
    lambda items: (
        st.lists(items, max_size=3)
        | st.tuples(items, items)
        | st.dictionaries(st.text(max_size=1), items, max_size=2)
        | st.frozensets(_LEAVES, max_size=2)
    ),
    max_leaves=6,
)
quick = settings(max_examples=200, deadline=None, derandomize=True, database=None)
