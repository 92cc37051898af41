"""Shared by the tests of the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.browsing import Browsing, OpenReport


@pytest.fixture
def open_report(browser: Any, tmp_path: Path) -> Iterator[OpenReport]:
    """A function that writes and opens a report. At the end, check that it used no network and had no errors."""
    browsing = Browsing(browser, tmp_path)
    yield browsing.open
    browsing.close()
