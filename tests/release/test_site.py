"""The site that mkdocs builds from README and docs: all pages, with nothing from another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    for needed in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_site_has_the_readme_every_page_of_docs_and_the_report(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    expected = {f"{path.stem}.html" for path in ROOT.glob("docs/*.md")}
    expected |= {"index.html", "CHANGELOG.html", "reference.html", "integrations.html"}
    assert expected <= built
    report = (site / "examples/compare/report.html").read_text(encoding="utf-8")
    assert all(model in report for model in ("base", "tuned", "chatty"))


def test_reference_has_every_public_name(site: Path) -> None:
    page = (site / "reference.html").read_text(encoding="utf-8")
    headings = set(re.findall(r'<h[1-6] id="anls_metric\.(\w+)"', page))
    assert set(anls_metric.__all__) - headings == {"__version__"}
    assert "Example:" not in page


def test_pages_of_the_site_load_nothing_from_another_host(site: Path) -> None:
    loaded = re.compile(
        r'<(?:script|img|iframe)[^>]*src="?https?:|<link[^>]*rel="?(?:stylesheet|preconnect)"?[^>]*https?:'
    )
    fetched = re.compile(r"@import|url\([\"']?https?:")
    assert [path.name for path in site.rglob("*.html") if loaded.search(path.read_text(encoding="utf-8"))] == []
    assert [path.name for path in site.rglob("*.css") if fetched.search(path.read_text(encoding="utf-8"))] == []


def test_bars_in_the_code_of_tables_have_no_backslash(site: Path) -> None:
    page = (site / "extraction.html").read_text(encoding="utf-8")
    assert "&lt;|im_start|&gt;assistant" in page
    assert r"\|" not in page
