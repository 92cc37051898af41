"""A limit of memory for a part of a test: what takes more fails, and does not take the machine with it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST_MEMORY = 1_500_000_000  # bytes, besides what the process has


@contextmanager
def limit_memory() -> Iterator[None]:
    """Let this process take no more memory than it has, and some. Only Linux enforces it."""
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
