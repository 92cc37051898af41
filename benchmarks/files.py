"""Measures the cost of reading each kind of file: ``python benchmarks/files.py``.

The same made-up answers, like those of DocVQA, are written as each kind of file (kinds.py). Each file is scored by
`anls --score-only` and by a short script, in turn, after a check that both give the same number. It compares the least
processor time of the repetitions, and the peak memory.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kinds import KINDS, Kind
from timing import Command, call, keep, markdown, options, race, run, with_ours

COUNTS = [5_000, 100_000]


class Row(NamedTuple):
    """One line of the table: milliseconds on the processor and megabytes."""

    kind: str
    rows: int
    ours: float
    lines: float
    our_memory: float
    their_memory: float

    @property
    def ratio(self) -> float:
        """Our time divided by the time of the script."""
        return self.ours / self.lines


def measure(kind: Kind, count: int, programs: Path, repetitions: int) -> Row:
    """Measure ours and the script in turn, on the same files."""
    with tempfile.TemporaryDirectory() as folder:
        call(programs / "python", "kinds.write", kind.name, count, folder)
        entrants: dict[str, Command] = {
            "ours": [programs / "anls", "--score-only", *kind.files],
            "lines": [programs / "python", "-c", kind.lines, *kind.files],
        }
        printed = {run(command, folder).printed for command in entrants.values()}
        assert len(printed) == 1, (kind, printed)
        ours, lines = race(entrants, folder, repetitions).values()
    return Row(kind.name, count, ours.milliseconds, lines.milliseconds, ours.megabytes, lines.megabytes)


def measure_all(counts: list[int], repetitions: int) -> Iterator[Row]:
    """Measure every kind of file, with each of these numbers of rows."""
    programs = with_ours("files", "pandas", "openpyxl", extra="[files]")
    for kind in KINDS.values():
        for count in counts:
            if count <= kind.most:
                yield measure(kind, count, programs, max(3, repetitions * counts[0] // count))


COLUMNS = {
    "a file of": ("kind", "{}"),
    "rows": ("rows", "{:,}"),
    "`anls`": ("ours", "{:,.0f} ms"),
    "your lines": ("lines", "{:,.0f} ms"),
    "ratio": ("ratio", "{:.1f}"),
    "`anls` memory": ("our_memory", "{:.0f} MB"),
    "your memory": ("their_memory", "{:.0f} MB"),
}


def main() -> None:
    """Run the benchmark."""
    flags = options(__doc__, repetitions=20)
    rows = []
    for row in measure_all(COUNTS[: 1 if flags.quick else None], flags.repetitions):
        rows.append(row)
        print(markdown(COLUMNS, [row]).splitlines()[-1], file=sys.stderr)
    print(markdown(COLUMNS, rows))
    keep(flags.json, rows)


if __name__ == "__main__":
    main()
