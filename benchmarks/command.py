"""Times the whole command against ten lines of Python, and against PyPI anls: ``python benchmarks/command.py``.

It makes two environments beside this file, one with this package as a user installs it and one with PyPI anls, writes
files like those of the leaderboard, and runs the programs in turn. It compares the least processor time of the
repetitions, so that other work on the machine has little effect.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kinds import TEN_LINES, write_leaderboard
from timing import environment, options, race, run, with_ours
from workloads import docvqa_like

COUNTS = [5_000, 200_000]


def write_files(folder: Path, count: int) -> list[str]:
    """Write a gold file and a submission like those of DocVQA."""
    files = folder / f"gold-{count}.json", folder / f"submission-{count}.json"
    write_leaderboard(docvqa_like(count), *files)
    return list(map(str, files))


def rows(counts: list[int], repetitions: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Measure the programs on files with these numbers of questions."""
    ours, pypi = with_ours("ours"), environment("pypi", "anls==0.0.2")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ten_lines.py").write_text(TEN_LINES)
        for count in counts:
            gold, submission = write_files(folder, count)
            files = ["--gold-label-file", gold, "--submission-file", submission]
            programs = {
                "anls": [str(ours / "anls"), *files],
                "ten lines": [str(ours / "python"), "ten_lines.py", gold, submission],
                "import anls_metric": [str(ours / "python"), "-c", "import anls_metric"],
                "python": [str(ours / "python"), "-c", "pass"],
            }
            if count <= 5_000:
                programs["PyPI anls 0.0.2"] = [str(pypi / "calculate-anls"), *files, "--output-dir", name]
            score = float(run(programs["ten lines"], folder).printed)
            assert f"ANLS       {score:.4f}\n" in run(programs["anls"], folder).printed
            times = race(programs, folder, repetitions if count <= 5_000 else max(3, repetitions // 4))
            yield count, {name: took.milliseconds for name, took in times.items()}


def main() -> None:
    """Run the benchmark."""
    flags = options(__doc__, repetitions=20)
    figures = {}
    for count, times in rows(COUNTS[: 1 if flags.quick else None], flags.repetitions):
        figures[count] = times
        for name, least in times.items():
            print(f"{count:8,}  {name:16}  {least:8.1f} ms  ours is {times['anls'] / least:.2f} times that")
    if flags.json:
        Path(flags.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
