"""Opens reports in a browser, and reads what they show."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.report.sample_reports import build_report

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

OpenReport = Callable[..., Any]


class Browsing:
    """Reports that are open in a browser, and what went wrong in them.

    Args:
        browser: the browser.
        folder: where the reports are written.
    """

    def __init__(self, browser: Any, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.pages: list[Any] = []
        self.problems: list[str] = []

    def open(
        self,
        submissions: Mapping[str, Any] | str,
        records: Any = (),
        size: str = "desktop",
        scheme: str = "light",
        url: str = "",
        **options: Any,
    ) -> Any:
        """Write and open a report, given its submissions or its content."""
        path = self._folder / f"report {len(self.pages)}.html"
        text = submissions if isinstance(submissions, str) else build_report(submissions, records, **options)
        path.write_bytes(text.encode())
        page = self._browser.new_page()
        self.pages.append(page)
        page.set_viewport_size(dict(zip(("width", "height"), SIZES[size])))
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda request: self._check(request.url))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", lambda message: self.problems.append(message.text))
        page.goto(path.as_uri() + url)
        page.locator("#list > tbody").wait_for(state="attached")
        return page

    def _check(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.problems.append(url)

    def close(self) -> None:
        """Close the reports. They used no network, had no errors, and ran no hostile text."""
        for page in self.pages:
            assert page.evaluate("window.ran") is None
            page.evaluate("localStorage.clear()")
            page.close()
        assert self.problems == []


def list_ids(page: Any) -> list[str]:
    """List the ids of the visible questions."""
    texts: list[str] = page.locator("#list tr.row small bdi:first-child").all_inner_texts()
    return texts


def read_open(page: Any) -> str:
    """Read the id of the open question."""
    text: str = page.locator("#list tr.open small bdi").first.inner_text()
    return text


def read_status(page: Any) -> str:
    """Read the number of questions."""
    text: str = page.get_by_role("status").first.inner_text()
    return text


def open_question(page: Any, key: str) -> None:
    """Open a question by its URL, and wait until it is open."""
    page.evaluate("key => { location.hash = '#q-' + key }", key)
    page.locator(f"#list tr.open a[data-row='{key}']").wait_for()


def read_query(page: Any) -> dict[str, list[str]]:
    """Read the parameters of the URL."""
    return urllib.parse.parse_qs(page.url.partition("?")[2])


def find_chip(page: Any, name: str) -> Any:
    """Find a filter."""
    return page.locator("#filters button", has_text=re.compile(f"^{re.escape(name)} "))


def fits_width(page: Any) -> bool:
    """Whether no part is wider than the window."""
    width: int = page.evaluate("document.documentElement.scrollWidth")
    return width <= int(page.viewport_size["width"])


def download(page: Any, name: str, path: Path) -> str:
    """Press a button of the menu that downloads a file. Returns its content."""
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as started:
        page.locator("#more").get_by_role("button", name=name).click()
    started.value.save_as(path)
    return path.read_bytes().decode()
