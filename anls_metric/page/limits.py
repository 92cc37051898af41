"""How much the page takes on, so that no visitor waits long for a stranger: every limit of it, and who keeps it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

KEPT_SECONDS = 3600  # for which an upload is kept

# Of one visitor
MOST_REQUEST = 256 * 1024  # bytes of a request that is no upload
MOST_VALUES = 8_000  # of such a request: texts, numbers, lists
MOST_REFERENCES = 1_000  # of one answer that is explained to a program
MOST_CHARACTERS = 20_000  # of a text field
MOST_COMPARED = 10_000**2  # of one answer, as `measure_work` counts it
MOST_COMPARED_AT_ONCE = 10**9  # of the answers of one request
MOST_COMPARED_IN_FILE = 6 * 10**9  # of the answers of the files of one call
MOST_BYTES = 50 * 1024 * 1024  # of a file
MOST_QUESTIONS = 200_000  # of a file
MOST_VALUES_IN_FILE = 8_000_000  # of a file that is not compressed, see `count_values`
MOST_PAIRS = 250_000  # of the values inside one answer with those of its accepted values
MOST_SECONDS = 120  # for which the files of one call are worked on
MOST_UNPACKED = 500 * 1000 * 1000  # bytes of memory that the files of one call take once they are read
MOST_COLUMNS = 1_000  # of a table, to pick from
MOST_SUBMISSIONS = 20  # of one call
MOST_WORST = 100  # worst answers of a submission, from an endpoint
MOST_SHOWN = 6_000_000  # bytes of the texts of a report
MOST_BY_VARIANT = 50_000  # answers that a report scores again under every variant

# Of all visitors together
MOST_SESSIONS = 20  # whose last fields and answers gradio remembers
MOST_UPLOADED = 2_000 * 1000 * 1000  # bytes of all uploads
MOST_WAITING = 32  # large pieces of work

# What is smaller does not wait.
SMALL_WORK = 10**7
SMALL_FILES = 200_000  # bytes of the files of one call

WITH_COMMAND = "score it with anls"
BUSY = "many others are waiting for their scores: try again in a minute"

_PADDING = 100  # a comparison has a price however short the texts are: as if each were so much longer


def measure_work(prediction: str, references: Sequence[str]) -> int:
    """Measure what a comparison with all accepted answers costs: about a second is 10**10.

    Example:
        >>> measure_work("a" * 900, ["b" * 900, "c" * 1900])
        3000000
    """
    return (len(prediction) + _PADDING) * (sum(map(len, references)) + _PADDING * len(references))


def count_values(content: bytes) -> int:
    """Count, about, the values in JSON or CSV. A small value takes many times its size in memory.

    Example:
        >>> count_values(b'{"data": [1, [2, 3]]}')
        5
    """
    return sum(map(content.count, (b",", b"[", b"{")))


def refuse_too_long(prediction: str, references: Sequence[str], what: str) -> int:
    """Refuse texts whose comparison would keep others waiting.

    Args:
        prediction: the answer; of a value, what it is as JSON.
        references: its accepted answers.
        what: what to call the answer in an error.

    Returns:
        What the comparison costs, see `measure_work`.

    Raises:
        ValueError: it costs too much.
    """
    work = measure_work(prediction, references)
    if work > MOST_COMPARED:
        raise ValueError(
            f"{what}: {len(prediction):,} characters and {len(references):,} accepted answers of "
            f"{sum(map(len, references)):,} together are too long to compare here: {WITH_COMMAND}"
        )
    return work


def refuse_too_many_pairs(prediction: str, references: Sequence[str], what: str) -> int:
    """Refuse lists and nested values, given as JSON, whose comparison would keep others waiting.

    Returns:
        About how many pairs of what is inside them are compared.

    Raises:
        ValueError: there are too many.
    """
    counts = [count_values(text.encode("utf-8", "replace")) + 1 for text in (prediction, *references)]
    pairs = counts[0] * sum(counts[1:])
    if pairs > MOST_PAIRS:
        raise ValueError(f"{what}: there are too many values in it to match here: {WITH_COMMAND}")
    return pairs


def measure_memory(value: Any) -> int:
    """Measure, about, how much memory a value of a file takes."""
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        return size + sum(map(measure_memory, value.values()))
    return size + sum(map(measure_memory, value)) if isinstance(value, list) else size


class Turnstile:
    """Lets a few large pieces of work through at a time, while small ones pass at once.

    Args:
        most_waiting: how many may wait, or be inside.
        inside: how many at a time: two on one processor would take twice as long each, and twice the memory.

    Example:
        >>> turnstile = Turnstile(most_waiting=1)
        >>> with turnstile.admit(large=True):
        ...     "nobody else works on something large"
        'nobody else works on something large'
    """

    def __init__(self, most_waiting: int = MOST_WAITING, inside: int = 1) -> None:
        self._places = threading.BoundedSemaphore(most_waiting)
        self._inside = threading.BoundedSemaphore(inside)

    @contextmanager
    def admit(self, large: bool) -> Iterator[None]:
        """Wait for one's turn, where the work is large.

        Raises:
            ValueError: too many others wait.
        """
        if not large:
            yield
        elif not self._places.acquire(blocking=False):
            raise ValueError(BUSY)
        else:
            try:
                with self._inside:
                    yield
            finally:
                self._places.release()


turnstile = Turnstile(inside=min(2, os.cpu_count() or 1))
"""Where all large work of the page passes."""
