"""The whole command against the ten lines one would write, and PyPI anls: ``python benchmarks/command.py``.

It makes two environments beside this file, one with ours as a user installs it and one with PyPI anls, writes files
like those of the leaderboard, and runs the programs in turn. What is compared is the time on the processor, the least
of the repetitions, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENTS = HERE / ".environment"

TEN_LINES = """
import json
import sys
from anls import anls_scores, mean
with open(sys.argv[1]) as file:
    gold = json.load(file)["data"]
with open(sys.argv[2]) as file:
    answers = {record["questionId"]: record["answer"] for record in json.load(file)}
predictions = [answers[record["questionId"]] for record in gold]
print(mean(anls_scores(predictions, [record["answers"] for record in gold])))
"""


class Time(NamedTuple):
    """What one program took, in milliseconds on the processor."""

    name: str
    least: float


def environment(name: str, *packages: str) -> Path:
    """The folder of the programs of an environment with these packages."""
    folder = ENVIRONMENTS / f"command-{name}"
    if not (folder / "ready").exists():
        print(f"making the environment {name}, once ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", "--compile", *packages], check=True)
        (folder / "ready").touch()
    return folder / "bin"


def write_files(folder: Path, count: int) -> list[str]:
    """A gold file and a submission like those of DocVQA."""
    from workloads import docvqa_like

    predictions, references = docvqa_like(count)
    records = [
        {
            "questionId": number,
            "question": "What is the date at the top of the page?",
            "question_types": ["handwritten", "form"],
            "image": f"documents/page{number // 4}.png",
            "docId": number // 4,
            "ucsf_document_id": f"page{number // 4}",
            "ucsf_document_page_no": "2",
            "answers": accepted,
            "data_split": "val",
        }
        for number, accepted in enumerate(references)
    ]
    gold, submission = folder / f"gold-{count}.json", folder / f"submission-{count}.json"
    gold.write_text(json.dumps({"dataset_name": "made up", "data": records}))
    submission.write_text(json.dumps([{"questionId": key, "answer": text} for key, text in enumerate(predictions)]))
    return [str(gold), str(submission)]


def run(command: list[str], folder: Path) -> tuple[float, str]:
    """Processor time of a program in milliseconds, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), done.stdout


def race(programs: dict[str, list[str]], folder: Path, repetitions: int) -> list[Time]:
    """Each program in turn, again and again."""
    found: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(repetitions):
        for name, command in programs.items():
            found[name].append(run(command, folder)[0])
    return [Time(name, min(times)) for name, times in found.items()]


def rows(counts: list[int], repetitions: int) -> Iterator[tuple[int, list[Time]]]:
    """What the programs took on files of so many questions."""
    ours, pypi = environment("ours", str(ROOT)), environment("pypi", "anls==0.0.2")
    subprocess.run([ours / "python", "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", ROOT], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ten_lines.py").write_text(TEN_LINES)
        for count in counts:
            gold, submission = write_files(folder, count)
            files = ["--gold-label-file", gold, "--submission-file", submission]
            programs = {
                "calculate-anls": [str(ours / "calculate-anls"), *files],
                "ten lines": [str(ours / "python"), "ten_lines.py", gold, submission],
                "import anls": [str(ours / "python"), "-c", "import anls"],
                "python": [str(ours / "python"), "-c", "pass"],
            }
            if count <= 5_000:
                programs["PyPI anls 0.0.2"] = [str(pypi / "calculate-anls"), *files, "--output-dir", name]
            score = float(run(programs["ten lines"], folder)[1])
            assert f"ANLS       {score:.4f}\n" in run(programs["calculate-anls"], folder)[1]
            yield count, race(programs, folder, repetitions if count <= 5_000 else max(3, repetitions // 4))


def main() -> None:
    """The command."""
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("--repetitions", type=int, default=20)
    command.add_argument("--counts", type=int, nargs="+", default=[5_000, 200_000])
    command.add_argument("--json", metavar="FILE", help="write the figures to a file")
    flags = command.parse_args()
    figures = {}
    for count, times in rows(flags.counts, flags.repetitions):
        ours = times[0].least
        figures[count] = {time.name: time.least for time in times}
        for time in times:
            print(f"{count:8,}  {time.name:16}  {time.least:8.1f} ms  ours is {ours / time.least:.2f} times that")
    if flags.json:
        Path(flags.json).write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
