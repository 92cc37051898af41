"""Measures the cost of the report: ``python benchmarks/report.py``.

The command scores made-up answers, like those of DocVQA, with and without `--report` in turn. The table shows the least
processor time, the peak memory, and the size of the file. If playwright and Chromium are installed, a browser opens the
file and searches it; the table shows the least time until the rows are visible.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from timing import Command, call, keep, markdown, options, race, with_ours
from workloads import another, docvqa_like, gold_file, submission_file

FILE = "report.html"
WORD = "date"  # it is in every question, so that each letter of the search finds, sorts and shows all rows


class Size(NamedTuple):
    questions: int
    submissions: int


SIZES = [Size(2_000, 1), Size(20_000, 3), Size(200_000, 1)]


def write_files(folder: str, questions: int, submissions: int) -> None:
    """Write a gold file, and submissions that differ in one answer out of five."""
    rows = docvqa_like(questions)
    Path(folder, "gold.json").write_text(json.dumps(gold_file(rows[1])))
    for number in range(submissions):
        predictions = another(rows, number) if number else rows[0]
        Path(folder, f"{number}.json").write_text(json.dumps(submission_file(predictions)))


# In a browser


class BrowserTimes(NamedTuple):
    """The waits in a browser: seconds until a file is open, milliseconds from a letter until its rows are shown."""

    opened: float
    first_letter: float
    next_letter: float


PAINTED = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
LISTEN = """() => {
  window.shown = new Promise(done => {
    addEventListener("keydown", ({ timeStamp }) => {
      addEventListener("input", () => {
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - timeStamp)));
      }, { once: true });
    }, { once: true });
  });
}"""


def open_and_search(browser: Any, file: Path) -> BrowserTimes:
    """Open a report in a new window, and type a word into its search box."""
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.locator("#list tr.row").first.wait_for()
    page.evaluate(PAINTED)
    opened = time.perf_counter() - start
    page.get_by_role("searchbox").focus()
    first, *others = [_measure_letter(page, letter) for letter in WORD]
    page.close()
    return BrowserTimes(opened, first, max(others))


def _measure_letter(page: Any, letter: str) -> float:
    page.evaluate(LISTEN)
    page.keyboard.press(letter)
    return float(page.evaluate("window.shown"))


def browse(file: Path, repetitions: int) -> BrowserTimes | None:
    """Measure the least times; None without a browser, or without playwright to control it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        turns = [open_and_search(browser, file) for _ in range(repetitions)]
        browser.close()
    return BrowserTimes(*map(min, zip(*turns)))


# Measuring


class Row(NamedTuple):
    """One line of the table."""

    questions: int
    submissions: int
    megabytes: float
    written: float  # processor seconds of the whole command with the report
    without: float  # processor seconds without the report
    memory: float
    opened: float | None  # seconds; None without a browser
    first_letter: float | None  # milliseconds
    next_letter: float | None


def measure(size: Size, command: Command, repetitions: int) -> Row:
    """Write and open a report of this size."""
    with tempfile.TemporaryDirectory() as folder:
        call(Path(sys.executable), "report.write_files", folder, *size)
        score = [*command, "--quiet", "gold.json", *(f"{number}.json" for number in range(size.submissions))]
        programs: dict[str, Command] = {"with": [*score, "--report", FILE], "without": score}
        written, without = race(programs, folder, repetitions).values()
        assert written.printed == without.printed
        file = Path(folder, FILE)
        megabytes = file.stat().st_size / 1e6
        seen = browse(file, repetitions) or (None, None, None)
    return Row(*size, megabytes, written.milliseconds / 1000, without.milliseconds / 1000, written.megabytes, *seen)


def measure_all(sizes: list[Size], repetitions: int) -> Iterator[Row]:
    """Measure a report of each size."""
    command = [with_ours("ours") / "anls"]
    for size in sizes:
        yield measure(size, command, max(3, repetitions * sizes[0].questions // size.questions))


COLUMNS = {
    "questions": ("questions", "{:,}"),
    "submissions": ("submissions", "{}"),
    "file": ("megabytes", "{:.1f} MB"),
    "written in": ("written", "{:.1f} s"),
    "without it": ("without", "{:.1f} s"),
    "memory": ("memory", "{:.0f} MB"),
    "open in": ("opened", "{:.1f} s"),
    "first letter": ("first_letter", "{:.0f} ms"),
    "others": ("next_letter", "{:.0f} ms"),
}


def main() -> None:
    """Run the benchmark."""
    flags = options(__doc__, repetitions=10)
    rows = list(measure_all(SIZES[: 1 if flags.quick else None], flags.repetitions))
    print(markdown(COLUMNS, rows))
    if any(row.opened is None for row in rows):
        print("There is no Chromium here, or no playwright: no report was opened.", file=sys.stderr)
    keep(flags.json, rows)


if __name__ == "__main__":
    main()
