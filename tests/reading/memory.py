"""Limits the memory of a part of a test, so that a failure does not exhaust the machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST_MEMORY = 1_500_000_000  # bytes, in addition to the current memory of the process


@contextmanager
def limit_memory() -> Iterator[None]:
    """Limit the memory that this process can take in addition. Only Linux enforces it."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MOST_MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
