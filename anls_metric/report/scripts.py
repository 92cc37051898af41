"""Reads the scripts and styles of the report, some of which the web app also uses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).parent / "assets" / "report"

# Each module comes after the modules that it imports.
_MODULES = """
elements formats edits data marks effects state questions downloads forest copies confusions parts question list map
main
"""

SCRIPT = [ASSETS / f"{name}.js" for name in _MODULES.split()]
"""The script modules of the report."""

DRAWING = SCRIPT[:3]
"""The script modules that draw an answer, both for the report and for the web app."""


def read_asset(name: str) -> str:
    """Read an asset of the report, such as "palette.css", which contains the colors of the report and the web app."""
    return (ASSETS / name).read_text(encoding="utf-8")


def join_modules(modules: Iterable[Path]) -> str:
    """Join modules into one script with a single scope, removing imports and exports."""
    lines = [line for path in modules for line in path.read_text(encoding="utf-8").splitlines(keepends=True)]
    return "".join(line.removeprefix("export ") for line in lines if not line.startswith("import "))


def encode_script_data(data: Mapping[str, Any]) -> str:
    r"""Encode data as JSON for a script element, so that no string in the data can end the element.

    Example:
        >>> encode_script_data({"text": "</script><!--"})
        '{"text":"\\u003c/script>\\u003c!--"}'
    """
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str).replace(
        "<", "\\u003c"
    )
    return content.encode("utf-8", "backslashreplace").decode()  # half of a surrogate pair becomes a JSON escape
