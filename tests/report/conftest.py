"""Shared by the tests of the report: opens reports in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.report.sample_reports import build_report

SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}

OpenReport = Callable[..., Any]


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[OpenReport]:
    """A function that writes and opens a report, given its submissions or its content.

    At the end, check that the reports used no network, had no errors, and ran no hostile text.
    """
    pages: list[Any] = []
    problems: list[str] = []

    def check(url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            problems.append(url)

    def open_it(
        submissions: Mapping[str, Any] | str,
        records: Any = (),
        size: str = "desktop",
        scheme: str = "light",
        url: str = "",
        **options: Any,
    ) -> Any:
        path = tmp_path / f"report {len(pages)}.html"
        text = submissions if isinstance(submissions, str) else build_report(submissions, records, **options)
        path.write_bytes(text.encode())
        page = browser.new_page()
        pages.append(page)
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda request: check(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.goto(path.as_uri() + url)
        page.locator("#list > tbody").wait_for(state="attached")
        return page

    yield open_it
    for page in pages:
        assert page.evaluate("window.ran") is None
        page.evaluate("localStorage.clear()")
        page.close()
    assert problems == []
