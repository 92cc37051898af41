"""What is known about a submission besides its score: a module for each figure, which declares it as `PART`.

A further figure is a further module: nothing else lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from anls_metric.analysis.part import Part
from anls_metric.analysis.scored import Scored, once

_FOUND: list[Part] = [import_module(f"{__name__}.{module.name}").PART for module in iter_modules(__path__)]
PARTS = tuple(sorted(_FOUND, key=lambda part: (part.order, part.key)))
"""The parts, in the order in which everything shows them."""

BY_NAME: Mapping[str, Part] = {part.key: part for part in PARTS if part.by_name}
"""The parts that ``--metrics`` asks for, by their names."""


@once
def find_parts(scored: Scored) -> dict[str, Any]:
    """Find the parts of a submission: those that the user asks for, and those for which there are data.

    Returns:
        The values of each part, by its key.

    Raises:
        InputError: a field that the user names lacks a value.
    """
    asked = (part for part in PARTS if not part.by_name or part.key in scored.settings.metrics)
    found = {part.key: part.find(scored) for part in asked}
    return {key: values for key, values in found.items() if values not in (None, {})}
