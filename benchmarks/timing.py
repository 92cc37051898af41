"""What the benchmarks of whole programs share: an environment for each, its processor time and its peak memory."""

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
    """The folder of the programs of an environment with these packages."""
    folder = ENVIRONMENTS / f"command-{name}"
    if not (folder / "ready").exists():
        print(f"making the environment {name}, once ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "--compile", *packages], check=True)
        (folder / "ready").touch()
    return folder / "bin"


def with_ours(name: str, *packages: str, extra: str = "") -> Path:
    """The same with ours, installed as a user does, and anew, so that it is this checkout as it is now."""
    programs = environment(name, f"{ROOT}{extra}", *packages)
    pip: Command = [programs / "python", "-m", "pip", "install", "-q"]
    subprocess.run([*pip, "--no-deps", "--force-reinstall", ROOT], check=True)
    return programs


def machine() -> dict[str, str]:
    """Where the figures were measured."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if sys.platform == "linux" else []
    cpu = next((line.partition(":")[2].strip() for line in lines if "model name" in line), platform.processor())
    return {
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {cpu}",
    }


# Programs


class Took(NamedTuple):
    """What a program took, and what it printed."""

    milliseconds: float  # on the processor
    megabytes: float  # the most that it held, of the kilobytes that Linux gives
    printed: str


def run(command: Command, folder: str | Path | None = None) -> Took:
    """Run a program to its end."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as error:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=error)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode:
            error.seek(0)
            raise RuntimeError(f"{command} ended with {process.returncode}:\n{error.read()}")
        return Took(1000 * (used.ru_utime + used.ru_stime), used.ru_maxrss / 1024, out.read())


def race(programs: Mapping[str, Command], folder: str | Path, repetitions: int) -> dict[str, Took]:
    """Each program in turn, again and again: the least time on the processor, so that other work counts little."""
    turns = [{name: run(command, folder) for name, command in programs.items()} for _ in range(repetitions)]
    return {name: min(turn[name] for turn in turns) for name in programs}


def call(python: Path, function: str, *arguments: Any) -> None:
    """Call a function of a benchmark elsewhere: what a program is said to hold is at least what its parent holds."""
    program = f"import json, sys, {function.partition('.')[0]}; {function}(*json.loads(sys.argv[1]))"
    run([python, "-c", program, json.dumps(arguments)], HERE)


# What is typed, and what is printed


def options(description: str | None, repetitions: int) -> argparse.Namespace:
    """What was typed: each of these benchmarks has the same flags."""
    flags = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--repetitions", type=int, default=repetitions, help="with the least rows; fewer with more")
    flags.add_argument("--quick", action="store_true", help="the least rows alone")
    flags.add_argument("--json", metavar="FILE", help="write the figures to a file")
    return flags.parse_args()


def markdown(columns: Mapping[str, tuple[str, str]], rows: Iterable[Any]) -> str:
    """Rows as the documents have them: by its heading, what a column shows of a row, and how; nothing is a dash."""
    table = [[*columns], ["---"] * len(columns)]
    for row in rows:
        values = [getattr(row, name) for name, _ in columns.values()]
        table.append(
            ["-" if value is None else form.format(value) for value, (_, form) in zip(values, columns.values())]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in table)


def keep(file: str | None, rows: Iterable[Any]) -> None:
    """Write the figures of named tuples to a file, where one is named."""
    if file:
        figures = {**machine(), "rows": [row._asdict() for row in rows]}
        Path(file).write_text(json.dumps(figures, indent=1) + "\n")
