"""Computes the figures about a submission besides its score. Each figure has its own module, which declares it as
`PART`.

To add a figure, add a module: there is no other list of figures.
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
"""The parts, in the order in which they are shown everywhere."""

BY_NAME: Mapping[str, Part] = {part.key: part for part in PARTS if part.by_name}
"""The parts that are requested with ``--metrics``, by name."""


@once
def find_parts(scored: Scored) -> dict[str, Any]:
    """Compute the parts for a submission: those that the user asks for, and those for which data are available.

    Returns:
        The values of each part, by key.

    Raises:
        InputError: a field that the user names lacks a value.
    """
    asked = (part for part in PARTS if not part.by_name or part.key in scored.settings.metrics)
    found = {part.key: part.find(scored) for part in asked}
    return {key: values for key, values in found.items() if values not in (None, {})}
