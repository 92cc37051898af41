"""Times calls in turn, and keeps the figures."""

from __future__ import annotations

import os
import platform
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

Call = Callable[[], object]

BATCH = 0.05  # seconds: a faster call is repeated in a batch, because the clock of the processor is coarse


class Row(NamedTuple):
    """The time of this package and of another program for the same work."""

    ours: str  # what of this package
    other: str
    workload: str
    rows: int
    our_time: float  # microseconds a row
    their_time: float

    @property
    def ratio(self) -> float:
        """How many times as fast this package is."""
        return self.their_time / self.our_time


def processor_seconds() -> float:
    """Return what this process and its children that have ended used of the processor."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def measure(call: Call, times: int = 1) -> float:
    """Return the seconds of one call on the processor, as the mean of several calls."""
    start = processor_seconds()
    for _ in range(times):
        call()
    return (processor_seconds() - start) / times


def race(calls: Mapping[str, Call], repetitions: int) -> dict[str, float]:
    """Time the calls in turn, and return the least seconds of each, so that other work has little effect."""
    batches = {name: 1 + int(BATCH / max(measure(call), 1e-6)) for name, call in calls.items()}  # this also warms up
    turns = [{name: measure(calls[name], times) for name, times in batches.items()} for _ in range(repetitions)]
    return {name: min(turn[name] for turn in turns) for name in calls}


def machine() -> dict[str, str]:
    """Describe the machine of the measurements."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    processor = next((line.partition(":")[2].strip() for line in lines if "model name" in line), platform.processor())
    return {
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {processor}",
    }
