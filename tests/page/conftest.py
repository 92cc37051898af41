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
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import ROOT

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


class Served(NamedTuple):
    """The served page: its URL, the folder of uploads, the log, the process id, and causes that may end a process."""

    address: str
    uploads: Path
    log: Path
    process: int = 0
    expected: set[str] = set()  # noqa: RUF012, shared on purpose


def write_table(path: Path, count: int) -> Path:
    """Write a table in which every third answer is wrong, with seven kinds of questions."""
    with open(path, "w") as stream:
        for number in range(count):
            slip = "" if number % 3 else "x"
            references = [f"answer {number} of the page", "another one"]
            row = {"prediction": f"answer {number}{slip} of the page", "references": references, "kind": number % 7}
            stream.write(json.dumps(row) + "\n")
    return path


def is_up(address: str) -> bool:
    """Whether a server answers at this URL."""
    try:
        urllib.request.urlopen(address, timeout=60).read()
        return True
    except OSError:
        return False


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, run like a Space: from a folder with the files of the repository, in its own process."""
    pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")
    folder = tmp_path_factory.mktemp("space") / "app"
    folder.mkdir()
    for name in ("anls.py", "app.py"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "anls_metric", folder / "anls_metric", ignore=shutil.ignore_patterns("__pycache__"))
    found = Served("", folder.parent / "uploads", folder.parent / "log")
    private = folder.parent / "private"
    for each in (private, found.uploads):
        each.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_TEMP_DIR": str(found.uploads),
        "TMPDIR": str(private),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(folder),
    }
    address = f"http://127.0.0.1:{port}/"
    with open(found.log, "w") as log:
        process = subprocess.Popen([sys.executable, "app.py"], cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            while not is_up(address):
                assert process.poll() is None, found.log.read_text()
                time.sleep(0.25)
            yield found._replace(address=address, process=process.pid)
        finally:
            process.terminate()
            process.wait(60)
    logged = found.log.read_text()
    assert "a call failed" not in logged, logged
    assert set(re.findall(r"a process was ended by (.*)", logged)) <= found.expected, logged
    for place in (private, found.uploads):
        assert not any(path.is_file() for path in place.rglob("*"))  # uploads were deleted with the server


class Visit:
    """The page of one user, with its requests and errors."""

    def __init__(self, browser: Any, address: str, size: str = "desktop", scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_default_timeout(180_000)
        self.address = address
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self._refused(message.text))

    def _note(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.elsewhere.append(url)

    def _refused(self, words: str) -> None:
        if "Content Security Policy" in words:
            self.errors.append(words)

    def open(self, query: str = "") -> Visit:
        self.page.goto(self.address + query, wait_until="commit")
        self.page.wait_for_function("window.anls && anls.settled")
        return self

    def see(self, selector: str, text: str = "") -> Any:
        found = self.page.locator(selector, has_text=text) if text else self.page.locator(selector)
        found.first.wait_for(state="visible")
        return found.first

    def pick(self, field: str, option: str) -> None:
        """Choose from a dropdown. If its choices load after the click that opens it, the click is repeated."""
        choice = self.page.get_by_role("option", name=option, exact=True).last
        for _ in range(10):
            self.page.locator(f"{field} input").click()
            with suppress(Exception):  # the timeout of playwright, which may not be installed
                choice.click(timeout=10_000)
                return
            self.page.keyboard.press("Escape")
        pytest.fail(f"{field} has no choice {option}")

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def field(self, name: str) -> Any:
        return self.page.locator(f"#{name} textarea, #{name} input").first

    def choose(self, selector: str, option: str) -> None:
        self.page.locator(selector).click()
        self.page.get_by_role("option", name=option).click()

    def drop(self, *paths: Path) -> None:
        self.page.locator("#files input[type=file]").set_input_files(paths)
        self.see("#files button[aria-label=Clear]")

    def report(self, text: str = "ANLS") -> Any:
        """Wait for the report in its frame."""
        frame = self.page.frame_locator("#result iframe")
        frame.locator("body", has_text=text).wait_for()
        frame.locator("#list tr.row").first.wait_for()
        return frame

    def fits(self) -> bool:
        """Whether nothing overflows the window."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width <= int(self.page.viewport_size["width"])


@pytest.fixture
def visit(browser: Any, served: Served) -> Iterator[Callable[..., Visit]]:
    """A function that opens pages of different users. Afterwards, none has used another host or had errors."""
    visits: list[Visit] = []

    def opened(query: str = "", size: str = "desktop", scheme: str = "light") -> Visit:
        visits.append(Visit(browser, served.address, size, scheme))
        return visits[-1].open(query)

    yield opened
    for one in visits:
        assert one.elsewhere == []
        assert one.errors == []
        assert one.page.evaluate("window.ran") is None
        one.page.close()
