"""Adds everything outside docs/ to the site: a hook that mkdocs.yml names.

A page of docs/ keeps its name in the site, and every other file of this checkout keeps its path, so that the same links
work on the forge and in the site. This hook adds the pages outside docs/ that the navigation names, and each file to
which a page links. It also makes the reference from the docstrings, and the report from examples/compare.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
REFERENCE, REPORT = "reference.md", "examples/compare/report.html"
MODELS = ("base", "tuned", "chatty")
OF_LIBRARIES = ("generation", "trl", "torchmetrics", "keras", "transformers", "inspect_ai", "lm_eval")
TABLE_ROW = re.compile(r"^\|.*", re.MULTILINE)
LINK = re.compile(r"(\]\()(?!https?://|#)([^)#\s]+)((?:#[^)]*)?\))")


class ExamplesOfDocstrings(griffe.Extension):  # type: ignore[misc]
    """Shows the section "Example:" of a docstring as code. griffe only knows "Examples:"."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the anchors that forges give them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add all pages and files outside docs/."""
    outside = [path for path in list_paths(config.nav) if path.endswith(".md") and (ROOT / path).is_file()]
    pages = outside + [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    linked = {target for page in pages for target in targets(page) if not target.startswith("docs/")}
    for path in [*outside, *sorted(linked - set(outside))]:
        if (ROOT / path).is_file():
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, REFERENCE, content=reference()))
    files.append(File.generated(config, REPORT, content=report()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Convert the links of a page from paths in the checkout to paths in the site."""
    source = source_of(page.file.src_uri)

    def relink(match: re.Match[str]) -> str:
        target = in_site(resolve(source, match[2]))
        return match[1] + os.path.relpath(target, os.path.dirname(page.file.src_uri) or ".") + match[3]

    return TABLE_ROW.sub(unescape_bars, LINK.sub(relink, markdown))


def unescape_bars(row: re.Match[str]) -> str:
    """Remove escapes of bars in code from a row of a table. Forges need them, but Python-Markdown would show them."""
    return re.sub(r"`[^`]+`", lambda code: code[0].replace(r"\|", "|"), row[0])


def slugify(heading: str, separator: str) -> str:
    """Make the anchor of a heading as forges do."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", separator)


def list_paths(nav: Any) -> Iterator[str]:
    """List the paths in a navigation of any depth."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from list_paths(entry)


def source_of(uri: str) -> str:
    """Return the path in the checkout of a page of the site."""
    return f"docs/{uri}" if (ROOT / "docs" / uri).is_file() else uri


def in_site(path: str) -> str:
    """Return the path in the site of a file of the checkout."""
    return path.removeprefix("docs/")


def resolve(page: str, link: str) -> str:
    """Return the path in the checkout to which a link of a page leads."""
    return os.path.relpath((ROOT / page).parent / link, ROOT)


def targets(page: str) -> set[str]:
    """Find the files of the checkout to which a page links."""
    return {resolve(page, link) for _, link, _ in LINK.findall((ROOT / page).read_text(encoding="utf-8"))}


def reference() -> str:
    """Build the reference: the public names in the groups of `help(anls_metric)`, and the modules for libraries."""
    import anls_metric

    described = (anls_metric.__doc__ or "").partition("Import every public name")[2].partition("\nThe modules")[0]
    lines = ["# Reference", "", "Import these names from `anls_metric`. The last section has modules for libraries."]
    for line in described.splitlines()[2:]:
        if not line.startswith(" "):
            lines += ["", f"## {line}"]
            continue
        names, _, meaning = line.strip().partition("  ")
        for name in [*names.split(", "), *re.findall(r"`(\w+)`", meaning)]:
            if name in anls_metric.__all__:
                lines += ["", f"::: anls_metric.{name}"]
    lines += ["", "## Modules for libraries"]
    for module in OF_LIBRARIES:
        lines += ["", f"::: anls_metric.{module}", "    options: {show_root_full_path: true}"]
    return "\n".join(lines) + "\n"


def report() -> bytes:
    """Build the report on the synthetic models with the command."""
    compared = ROOT / "examples" / "compare"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        command = [sys.executable, "-m", "anls_metric", "--quiet", "--report", str(path), "--by", "kind", "gold.json"]
        subprocess.run(
            [*command, *(f"{model}.json" for model in MODELS)], cwd=compared, check=True, stdout=subprocess.DEVNULL
        )
        return path.read_bytes()
