"""Every limit of the page, so that no visitor waits long for another one."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

KEPT_SECONDS = 3600  # the time for which an upload is kept
TIDY_SECONDS = 60  # the time between two searches for old uploads

# Limits for one visitor
MOST_REQUEST = 256 * 1024  # bytes of a request that is not an upload
MOST_VALUES = 8_000  # of such a request: texts, numbers, lists
MOST_REFERENCES = 1_000  # accepted answers of one answer that a program wants explained
MOST_CHARACTERS = 20_000  # characters of a text field
MOST_COMPARED = 10_000**2  # the work for one answer, as `measure_work` counts it
MOST_COMPARED_AT_ONCE = 10**9  # the work for the answers of one request
MOST_COMPARED_IN_FILE = 6 * 10**9  # the work for the files of one call
MOST_BYTES = 50 * 1024 * 1024  # bytes of a file
MOST_UPLOAD = 2 * MOST_BYTES  # bytes of a request that uploads files
MOST_FILES_AT_ONCE = 100  # files of such a request
MOST_CONTENT_TYPE = 200  # characters of its header, which holds the boundary between files
MOST_PATH = 4_096  # characters of the path of a file
REQUEST_SECONDS = 30  # the time for a request that is not an upload
UPLOAD_SECONDS = 600  # the time for an upload
PAUSE_SECONDS = 30  # the time between two pieces of a request
MOST_QUESTIONS = 200_000  # questions of a file
MOST_VALUES_IN_FILE = 8_000_000  # values of a file that is not compressed: see `count_values`
MOST_PAIRS = 250_000  # pairs of a value inside one answer and a value inside its accepted values
MOST_UNPACKED = 500 * 1000 * 1000  # bytes of memory for the files of one call after reading
MOST_COLUMNS = 1_000  # columns of a table to choose from
MOST_SUBMISSIONS = 20  # submissions of one call
MOST_WORST = 100  # worst answers of a submission that an endpoint returns
MOST_SHOWN = 6_000_000  # bytes of the texts of a report
MOST_OF_IMAGES = 12_000_000  # bytes of the images of pages in a report
IMAGE_SECONDS = 60  # after the beginning of a call, in which images go into its report
MOST_BY_VARIANT = 50_000  # answers that a report scores again under every variant

# Limits for all visitors together
MOST_SESSIONS = 20  # sessions whose last fields and answers gradio remembers
MOST_UPLOADED = 2_000 * 1000 * 1000  # bytes of all uploads
MOST_FILES = 5_000  # uploads
MOST_MEMORY = 6_000 * 1000 * 1000  # bytes for all work

SMALL_FILES = 200_000  # bytes of the files of a call that does not wait for large calls

WITH_COMMAND = "score it with anls on your computer"
BUSY = "many others are waiting for their scores: try again in a minute"

_PADDING = 100  # characters added to each text, for the fixed cost of a comparison


def measure_work(prediction: str, references: Sequence[str]) -> int:
    """Measure the cost of comparing a prediction with all accepted answers. 10**10 takes about a second.

    Example:
        >>> measure_work("a" * 900, ["b" * 900, "c" * 1900])
        3000000
    """
    return (len(prediction) + _PADDING) * (sum(map(len, references)) + _PADDING * len(references))


def count_values(content: bytes) -> int:
    """Estimate the number of values in JSON or CSV, because a small value takes many times its size in memory.

    Example:
        >>> count_values(b'{"data": [1, [2, 3]]}')
        5
    """
    return sum(map(content.count, (b",", b"[", b"{")))


def refuse_too_long(prediction: str, references: Sequence[str], what: str) -> int:
    """Refuse texts that take too long to compare.

    Args:
        prediction: the answer; a value as JSON.
        references: the accepted answers.
        what: the name of the answer in an error.

    Returns:
        The cost of the comparison: see `measure_work`.

    Raises:
        ValueError: the comparison costs too much.
    """
    work = measure_work(prediction, references)
    if work > MOST_COMPARED:
        raise ValueError(
            f"{what}: {len(prediction):,} characters and {len(references):,} accepted answers of "
            f"{sum(map(len, references)):,} together are too long to compare here: {WITH_COMMAND}"
        )
    return work


def refuse_too_many_pairs(prediction: str, references: Sequence[str], what: str) -> int:
    """Refuse lists and nested values, as JSON, that take too long to compare.

    Returns:
        The approximate number of pairs of inner values to compare.

    Raises:
        ValueError: there are too many pairs.
    """
    counts = [count_values(text.encode("utf-8", "replace")) + 1 for text in (prediction, *references)]
    pairs = counts[0] * sum(counts[1:])
    if pairs > MOST_PAIRS:
        raise ValueError(f"{what}: there are too many values in it to match here: {WITH_COMMAND}")
    return pairs


def measure_memory(value: Any) -> int:
    """Estimate how much memory a value of a file takes."""
    size = sys.getsizeof(value)
    if isinstance(value, dict):
        return size + sum(map(measure_memory, value.values()))
    return size + sum(map(measure_memory, value)) if isinstance(value, list) else size


class ExhaustedError(ValueError):
    """Work exceeded its allowance."""

    def __init__(self, remedy: str = WITH_COMMAND) -> None:
        super().__init__(f"this needs more memory or time than the page has for it: {remedy}")


class Allowance(NamedTuple):
    """The limits of a piece of work, at which the system ends it: seconds, and bytes of memory."""

    seconds: float
    memory: int


class Lane:
    """Admits a limited number of pieces of work at a time.

    Args:
        waiting: how many pieces may wait or run.
        inside: how many pieces may run at a time.
        allowance: the limits of each piece.

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
        """Wait for a free place.

        Raises:
            ValueError: too many pieces wait.
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
"""The number of threads: more than can wait in the lanes, so that other requests find a free thread."""

small = Lane(MOST_WAITING[0], 48, Allowance(seconds=2, memory=1_000 * 1000 * 1000))
"""The lane for work that seems small: many pieces at a time, each for a moment."""

# Two pieces on one processor would each take twice as long, and together twice the memory.
large = Lane(MOST_WAITING[1], min(2, os.cpu_count() or 1), Allowance(seconds=120, memory=3_000 * 1000 * 1000))
"""The lane for large work, and for work that exceeded the limits of small work."""

SECOND_TRY = Allowance(seconds=20, memory=large.allowance.memory)
"""The limits for work that had seemed small."""
