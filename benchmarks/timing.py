"""Shared by the benchmarks of whole programs: environments, processor time and peak memory."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENTS = HERE / ".environment"

Command = Sequence[str | Path]


# Environments


def environment(name: str, *packages: str) -> Path:
    """Make an environment with these packages, and return the folder of its programs."""
    folder = ENVIRONMENTS / f"command-{name}"
    if not (folder / "ready").exists():
        print(f"making the environment {name}, once ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "--compile", *packages], check=True)
        (folder / "ready").touch()
    return folder / "bin"


def with_ours(name: str, *packages: str, extra: str = "") -> Path:
    """Make an environment with these packages and this checkout, freshly installed as a user does."""
    programs = environment(name, f"{ROOT}{extra}", *packages)
    pip: Command = [programs / "python", "-m", "pip", "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--force-reinstall", ROOT], check=True)
    return programs


def machine() -> dict[str, str]:
    """Describe the machine of the measurements."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    cpu = next((line.partition(":")[2].strip() for line in lines if "model name" in line), platform.processor())
    return {
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {cpu}",
    }


# Programs


class Cost(NamedTuple):
    """The cost of a run of a program, and its output."""

    milliseconds: float  # processor time
    megabytes: float  # peak memory; Linux gives kilobytes
    printed: str


def run(command: Command, folder: str | Path | None = None) -> Cost:
    """Run a program, and measure it."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=error)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode:
            error.seek(0)
            raise RuntimeError(f"{command} ended with {process.returncode}:\n{error.read()}")
        return Cost(1000 * (used.ru_utime + used.ru_stime), used.ru_maxrss / 1024, out.read())


def race(programs: Mapping[str, Command], folder: str | Path, repetitions: int) -> dict[str, Cost]:
    """Run the programs in turn several times. The least processor time counts, so that other work has little effect."""
    turns = [{name: run(command, folder) for name, command in programs.items()} for _ in range(repetitions)]
    return {name: min(turn[name] for turn in turns) for name in programs}


def call(python: Path, function: str, *arguments: Any) -> None:
    """Call a function of a benchmark in another process, since a program seems to use at least its parent's memory."""
    program = f"import json, sys, {function.partition('.')[0]}; {function}(*json.loads(sys.argv[1]))"
    run([python, "-c", program, json.dumps(arguments)], HERE)


# Arguments and output


def options(description: str | None, repetitions: int) -> argparse.Namespace:
    """Parse the flags, which are the same for each of these benchmarks."""
    flags = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--repetitions", type=int, default=repetitions, help="with the least rows; fewer with more")
    flags.add_argument("--quick", action="store_true", help="the least rows alone")
    flags.add_argument("--json", metavar="FILE", help="write the figures to a file")
    return flags.parse_args()


def markdown(columns: Mapping[str, tuple[str, str]], rows: Iterable[Any]) -> str:
    """Format rows as a Markdown table, given the attribute and the format of each column by heading; "-" for None."""
    table = [[*columns], ["---"] * len(columns)]
    for row in rows:
        values = [getattr(row, name) for name, _ in columns.values()]
        table.append(
            ["-" if value is None else form.format(value) for value, (_, form) in zip(values, columns.values())]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def keep(file: str | None, rows: Iterable[Any]) -> None:
    """Write the figures of named tuples to a file, if the user names one."""
    if file:
        figures = {**machine(), "rows": [row._asdict() for row in rows]}
        Path(file).write_text(json.dumps(figures, indent=1) + "\n")
