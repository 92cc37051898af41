"""What the site has besides docs/: a hook that mkdocs.yml names.

A page of docs/ keeps its name in the site, and every other file of this checkout keeps its path. So a link that works
on the forge also works in the site: this hook adds the pages outside docs/ that the navigation names, and each file
that a page links to. It also makes the reference from the docstrings, and the report from examples/compare.
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
OF_LIBRARIES = ("trl", "torchmetrics", "keras", "transformers", "inspect_ai", "lm_eval")
TABLE_ROW = re.compile(r"^\|.*", re.MULTILINE)
LINK = re.compile(r"(\]\()(?!https?://|#)([^)#\s]+)((?:#[^)]*)?\))")


class ExamplesOfDocstrings(griffe.Extension):  # type: ignore[misc]
    """Show the section "Example:" of a docstring as code, which griffe does for "Examples:" only."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rename the section."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the addresses that forges give them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add everything that does not lie in docs/."""
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
    """Turn the links of a page, which are paths in the checkout, into paths in the site."""
    source = source_of(page.file.src_uri)

    def relink(match: re.Match[str]) -> str:
        target = in_site(resolve(source, match[2]))
        return match[1] + os.path.relpath(target, os.path.dirname(page.file.src_uri) or ".") + match[3]

    return TABLE_ROW.sub(unescape_bars, LINK.sub(relink, markdown))


def unescape_bars(row: re.Match[str]) -> str:
    """A row of a table without the escapes that forges need in code and that Python-Markdown would show."""
    return re.sub(r"`[^`]+`", lambda code: code[0].replace(r"\|", "|"), row[0])


def slugify(heading: str, separator: str) -> str:
    """The address of a heading, as forges make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", separator)


def list_paths(nav: Any) -> Iterator[str]:
    """List the paths in a navigation of any depth."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from list_paths(entry)


def source_of(uri: str) -> str:
    """The path in the checkout of a page of the site."""
    return f"docs/{uri}" if (ROOT / "docs" / uri).is_file() else uri


def in_site(path: str) -> str:
    """The path in the site of a file of the checkout."""
    return path.removeprefix("docs/")


def resolve(page: str, link: str) -> str:
    """The path in the checkout that a link of a page leads to."""
    return os.path.relpath((ROOT / page).parent / link, ROOT)


def targets(page: str) -> set[str]:
    """The files of the checkout that a page links to."""
    return {resolve(page, link) for _, link, _ in LINK.findall((ROOT / page).read_text(encoding="utf-8"))}


def reference() -> str:
    """The public names in the groups of `help(anls_metric)`, and the modules that are named after libraries."""
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
    """The report on the made-up models, as the command writes it."""
    compared = ROOT / "examples" / "compare"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        command = [sys.executable, "-m", "anls_metric", "--quiet", "--report", str(path), "--by", "kind", "gold.json"]
        subprocess.run(
            [*command, *(f"{model}.json" for model in MODELS)], cwd=compared, check=True, stdout=subprocess.DEVNULL
        )
        return path.read_bytes()
