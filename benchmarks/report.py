"""Measures the cost of a report: ``python benchmarks/report.py``.

`anls --report` scores made-up answers. A browser opens the report, and searches for a word that is in every question,
so each letter finds and shows all rows. It needs ``pip install -e ".[test]" playwright`` and Chromium.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from programs import ANLS, run
from timing import measure
from workloads import another, docvqa_like, gold_file, submission_file

FILE = "report.html"
WORD = "date"
SIZES = [(1_000, 9), (20_000, 4), (200_000, 1)]  # questions and submissions

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


class BrowserTimes(NamedTuple):
    """Seconds until a report is open, and the most milliseconds from a letter of the search to its rows."""

    opened: float
    letter: float


def write_files(folder: Path, questions: int, submissions: int) -> list[str]:
    """Write a gold file, and submissions that differ in one answer out of five. Return their names."""
    rows = docvqa_like(questions)
    contents: dict[str, Any] = {"gold.json": gold_file(rows[1]), "0.json": submission_file(rows[0])}
    for number in range(1, submissions):
        contents[f"{number}.json"] = submission_file(another(rows, number))
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return list(contents)


def open_and_search(browser: Any, file: Path) -> BrowserTimes:
    """Open a report in a new window, and type a word into its search box."""
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.locator("#list tr.row").first.wait_for()
    page.evaluate(PAINTED)
    opened = time.perf_counter() - start
    page.get_by_role("searchbox").focus()
    letters = []
    for letter in WORD:
        page.evaluate(LISTEN)
        page.keyboard.press(letter)
        letters.append(float(page.evaluate("window.shown")))
    page.close()
    return BrowserTimes(opened, max(letters))


def main() -> None:
    """Run the benchmark."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    print("| questions | submissions | file | written in | open in | a letter |", "|---" * 6 + "|", sep="\n")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for questions, submissions in SIZES:
            files = write_files(Path(folder), questions, submissions)
            written = measure(partial(run, ANLS, "--quiet", *files, "--report", FILE, folder=folder))
            report = Path(folder, FILE)
            opened, letter = map(min, zip(*[open_and_search(browser, report) for _ in range(3)]))
            size = report.stat().st_size / 1e6
            cells = f"{size:.1f} MB", f"{written:.1f} s", f"{opened:.2f} s", f"{letter:.0f} ms"
            print("|", " | ".join([f"{questions:,}", str(submissions), *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
