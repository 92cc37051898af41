"""Writes the two HTML pages of the web app, the first of which page.js fills with the server's responses."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from anls_metric.core.extraction.extract import EXTRACTORS
from anls_metric.core.scorer import SCORERS, Scorer
from anls_metric.core.strings.variants import VARIANTS, signature
from anls_metric.options import OPTIONS
from anls_metric.page import limits
from anls_metric.report.scripts import DRAWING, join_modules, read_asset
from anls_metric.report.texts import escape

_ASSETS = Path(__file__).parent / "assets"
_SCRIPT = [*DRAWING, _ASSETS / "answer.js", _ASSETS / "page.js"]


_SHARED = ("variant", "threshold", "ignore_case", "gold")

SETTINGS: Sequence[str] = [name for name, option in OPTIONS.items() if option.label and name not in _SHARED]
"""The options whose controls appear only for files, which are all options with a label except those in `_SHARED`."""

_FIELDS = ("by", "prediction", "references", "id", "gold_id", "submission", "cluster_by")
_LISTS: Mapping[str, str] = {**dict.fromkeys(_FIELDS, "fields"), "extract": "extractors", "baseline": "submissions"}
"""The names of the HTML lists that contain suggested values for options, keyed by option name."""


def write_page() -> str:
    """Write the HTML of the main page."""
    return _fill(
        "page.html",
        script=join_modules(_SCRIPT),
        scorers=json.dumps([*map(_describe_scorer, SCORERS.values())]).replace("<", "\\u003c"),
        examples=_read("examples.json"),
        settings="".join(map(_write_setting, SETTINGS)),
        extractors=_write_options({name: each.meaning for name, each in EXTRACTORS.items()}),
        characters=limits.MAX_CHARACTERS,
        megabytes=limits.MAX_FILE // limits.MB,
        count=len(VARIANTS),
        **{f"label_{name}": OPTIONS[name].label for name in _SHARED},
    )


def write_help() -> str:
    """Write the HTML of the page that explains how the web app works and mentions the name of this Space."""
    space = escape(os.environ.get("SPACE_ID") or "./anls.py")  # Hugging Face sets it
    return _fill("how.html", signature=signature(), space=space)


def _fill(name: str, **values: Any) -> str:
    """Fill in the template of a page, using the style sheets of the report and of the page."""
    style = read_asset("palette.css") + read_asset("report.css") + _read("page.css")
    return Template(_read(name)).substitute(style=style, **values)


def _read(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _describe_scorer(scorer: Scorer) -> dict[str, Any]:
    """Describe a scorer and its default settings for page.js. A scorer without an option for case counts as ignoring
    case.
    """
    own = {"threshold": scorer.threshold, "ignore_case": getattr(scorer, "ignore_case", True)}
    return {"name": scorer.name, "meaning": scorer.meaning.replace("`", ""), "options": scorer.options, **own}


def _write_setting(name: str) -> str:
    """Write the HTML control for an option. The suggested fields and submissions are added once files are read."""
    option = OPTIONS[name]
    if option.choices:
        texts = {"": "default", **dict(zip(option.choices, option.choices))}
        control = f'<select name="{name}">{_write_options(texts)}</select>'
    else:
        control = f'<input name="{name}" list="{_LISTS.get(name, "")}" placeholder="default" autocomplete="off">'
    return f"<label>{escape(option.label)}{control}</label>"


def _write_options(texts: Mapping[str, str]) -> str:
    """Write the HTML choices in a control, given the labels keyed by value."""
    return "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in texts.items())
