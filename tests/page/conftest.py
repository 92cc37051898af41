"""The page, served once for all tests, and a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT

SIZES = {"desktop": (1280, 900), "phone": (360, 800)}

# A stage may be shown for a moment only, so the page keeps a list of those that it showed.
KEEP_STAGES = """window.stages = [""];
window.shown = "";
new MutationObserver(() => {
  const stage = document.querySelector("#stage")?.textContent.trim() ?? "";
  if (stage !== window.shown) window.stages.push(window.shown = stage);
}).observe(document, {childList: true, subtree: true, characterData: true});"""
PASS_STAGE = """text => {
  const place = window.stages.findIndex((stage) => stage.includes(text));
  window.stages.splice(0, place + 1);
  return place >= 0;
}"""


class Served(NamedTuple):
    """The served page: its URL, the folder of uploads, the process id, and causes that may end a process."""

    address: str
    uploads: Path
    process: int
    expected: set[str]


def write_table(path: Path, count: int) -> Path:
    """Write a table in which every third answer is wrong, with seven kinds of questions."""
    with open(path, "w") as stream:
        for number in range(count):
            slip = "" if number % 3 else "x"
            references = [f"answer {number} of the page", "another one"]
            row = {"prediction": f"answer {number}{slip} of the page", "references": references, "kind": number % 7}
            stream.write(json.dumps(row) + "\n")
    return path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, run like a Space: from a folder with the files of the repository, in its own process."""
    pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")
    place = tmp_path_factory.mktemp("space")
    app, uploads, private, log = (place / name for name in ("app", "uploads", "private", "log"))
    for folder in (app, uploads, private):
        folder.mkdir()
    for name in ("anls.py", "app.py"):
        shutil.copy(ROOT / name, app)
    shutil.copytree(ROOT / "anls_metric", app / "anls_metric", ignore=shutil.ignore_patterns("__pycache__"))
    folders = {"GRADIO_TEMP_DIR": str(uploads), "TMPDIR": str(private), "PYTHONPATH": str(app)}
    port = {"GRADIO_SERVER_PORT": str(_find_port())}  # gradio's search for one can meet that of another process
    environment = {**os.environ, **folders, **port, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    expected: set[str] = set()
    with open(log, "w") as stream:
        process = subprocess.Popen([sys.executable, "app.py"], cwd=app, env=environment, stdout=stream, stderr=stream)
        try:
            while not (address := re.search(r"http://[\d.:]+(?=\s)", log.read_text())):
                assert process.poll() is None, log.read_text()
                time.sleep(0.25)
            yield Served(f"{address[0]}/", uploads, process.pid, expected)
        finally:
            process.terminate()
            process.wait(60)
    logged = log.read_text()
    assert "a call failed" not in logged, logged
    assert set(re.findall(r"a process was ended by (.*)", logged)) <= expected, logged
    for folder in (private, uploads):
        assert not any(path.is_file() for path in folder.rglob("*"))  # uploads were deleted with the server


def _find_port() -> int:
    """Find a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Visit:
    """The page of one user, with its requests and errors."""

    def __init__(self, browser: Any, address: str, query: str, size: str, scheme: str) -> None:
        width, height = SIZES[size]
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_default_timeout(120_000)
        self.address = address
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.console: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.add_init_script(KEEP_STAGES)
        self.page.goto(address + query, wait_until="commit")
        self.page.locator("#answer > *, .help").first.wait_for()

    def see(self, selector: str, text: str = "") -> Any:
        found = self.page.locator(selector, has_text=text or None).first
        found.wait_for(state="visible")
        return found

    def pass_stage(self, text: str) -> None:
        """Wait until a stage with this text is shown, or was shown after the last one that was waited for."""
        self.page.wait_for_function(PASS_STAGE, arg=text)

    def pick(self, name: str, value: str) -> None:
        """Choose or type the value of a setting."""
        self.open_settings()
        control = self.page.locator(f"#settings [name={name}]")
        if control.evaluate("control => control.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.fill(value)
            control.press("Tab")
        self.page.keyboard.press("Escape")

    def open_settings(self) -> None:
        """Open the settings, with the options for files."""
        self.page.locator(".chosen:visible").click()
        if not self.page.locator("#options[open]").count():
            self.page.locator("#options > summary").click()

    def field(self, name: str) -> Any:
        return self.page.locator(f"#{name}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def drop(self, *paths: Path) -> None:
        self.page.locator("#chooser").set_input_files(paths)
        self.page.locator("#many:not([hidden])").wait_for()

    def clear(self) -> None:
        self.press("Clear")
        self.see("#drop", "drop files or paste rows anywhere")
        assert not self.page.locator("#many").is_visible()

    def list_files(self) -> list[str]:
        """List the files as the line above the report names them."""
        return list(
            self.page.locator("#files li > :first-child").evaluate_all(
                "all => all.map((part) => part.value ?? part.firstChild.textContent)"
            )
        )

    def report(self, text: str = "ANLS") -> Any:
        """Wait for the report in its frame."""
        frame = self.page.frame_locator("#result iframe")
        frame.locator("body", has_text=text).wait_for()
        frame.locator("#list tr.row").first.wait_for()
        return frame

    def save(self) -> Any:
        """Save the report, and return the download."""
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name="Save", exact=True).click()
        return download.value

    def fits(self) -> bool:
        """Whether nothing overflows the window."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width <= int(self.page.viewport_size["width"])


@pytest.fixture
def visit(browser: Any, served: Served) -> Iterator[Callable[..., Visit]]:
    """A function that opens a page, and drops files. Afterwards, no page has used another host or had errors."""
    visits: list[Visit] = []

    def opened(query: str = "", *files: Path, size: str = "desktop", scheme: str = "light") -> Visit:
        visits.append(Visit(browser, served.address, query, size, scheme))
        if files:
            visits[-1].drop(*files)
        return visits[-1]

    yield opened
    for one in visits:
        assert not [url for url in one.requests if not url.startswith((served.address, "data:", "blob:"))]
        assert one.errors == []
        assert not [words for words in one.console if "Content Security Policy" in words]
        assert one.page.evaluate("window.ran") is None
        one.page.close()
