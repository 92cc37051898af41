"""How much the page takes on, so that no visitor waits long for a stranger: every limit of it, and who keeps it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

KEPT_SECONDS = 3600  # for which an upload is kept
TIDY_SECONDS = 60  # after which old uploads are looked for again

# Of one visitor
MOST_REQUEST = 256 * 1024  # bytes of a request that is no upload
MOST_VALUES = 8_000  # of such a request: texts, numbers, lists
MOST_REFERENCES = 1_000  # of one answer that is explained to a program
MOST_CHARACTERS = 20_000  # of a text field
MOST_COMPARED = 10_000**2  # of one answer, as `measure_work` counts it
MOST_COMPARED_AT_ONCE = 10**9  # of the answers of one request
MOST_COMPARED_IN_FILE = 6 * 10**9  # of the answers of the files of one call
MOST_BYTES = 50 * 1024 * 1024  # of a file
MOST_UPLOAD = 2 * MOST_BYTES  # of a request that uploads files
MOST_FILES_AT_ONCE = 100  # of such a request
MOST_CONTENT_TYPE = 200  # characters of its header, which holds what stands between the files
MOST_PATH = 4_096  # characters of the path of a file
REQUEST_SECONDS = 30  # in which a request that is no upload comes
UPLOAD_SECONDS = 600  # in which an upload comes
PAUSE_SECONDS = 30  # between two pieces of a request
MOST_QUESTIONS = 200_000  # of a file
MOST_VALUES_IN_FILE = 8_000_000  # of a file that is not compressed, see `count_values`
MOST_PAIRS = 250_000  # of the values inside one answer with those of its accepted values
MOST_UNPACKED = 500 * 1000 * 1000  # bytes of memory that the files of one call take once they are read
MOST_COLUMNS = 1_000  # of a table, to pick from
MOST_SUBMISSIONS = 20  # of one call
MOST_WORST = 100  # worst answers of a submission, from an endpoint
MOST_SHOWN = 6_000_000  # bytes of the texts of a report
MOST_BY_VARIANT = 50_000  # answers that a report scores again under every variant

# Of all visitors together
MOST_SESSIONS = 20  # whose last fields and answers gradio remembers
MOST_UPLOADED = 2_000 * 1000 * 1000  # bytes of all uploads
MOST_FILES = 5_000  # uploads
MOST_MEMORY = 6_000 * 1000 * 1000  # bytes that all work takes

SMALL_FILES = 200_000  # bytes of the files of one call, which does not wait for large ones

WITH_COMMAND = "score it with anls on your computer"
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


class ExhaustedError(ValueError):
    """Work that took more than its allowance."""

    def __init__(self, remedy: str = WITH_COMMAND) -> None:
        super().__init__(f"this needs more memory or time than the page has for it: {remedy}")


class Allowance(NamedTuple):
    """What a piece of work may take before the system ends it: seconds, and bytes of memory."""

    seconds: float
    memory: int


class Lane:
    """Lets a few pieces of work through at a time.

    Args:
        waiting: how many may wait, or be inside.
        inside: how many at a time.
        allowance: what each of them may take.

    Example:
        >>> lane = Lane(waiting=1, inside=1, allowance=Allowance(seconds=1, memory=10**9))
        >>> with lane.admit():
        ...     "nobody else works here"
        'nobody else works here'
    """

    def __init__(self, waiting: int, inside: int, allowance: Allowance) -> None:
        self.allowance = allowance
        self._places = threading.BoundedSemaphore(waiting)
        self._inside = threading.BoundedSemaphore(inside)

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Wait for one's turn.

        Raises:
            ValueError: too many others wait.
        """
        if not self._places.acquire(blocking=False):
            raise ValueError(BUSY)
        try:
            with self._inside:
                yield
        finally:
            self._places.release()


MOST_WAITING = 96, 32  # pieces of small work, and of large work

THREADS = sum(MOST_WAITING) + 32
"""More than wait for their turn, so that everybody else finds one free."""

small = Lane(MOST_WAITING[0], 48, Allowance(seconds=2, memory=1_000 * 1000 * 1000))
"""Where all work passes first that seems to be small: many at a time, each for a moment."""

# Two on one processor would take twice as long each, and twice the memory.
large = Lane(MOST_WAITING[1], min(2, os.cpu_count() or 1), Allowance(seconds=120, memory=3_000 * 1000 * 1000))
"""Where large work passes, and what took more than small work may."""

SECOND_TRY = Allowance(seconds=20, memory=large.allowance.memory)
"""What work may take that seemed to be small."""
