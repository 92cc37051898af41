"""The scores under several variants."""

from __future__ import annotations

from collections.abc import Mapping

from anls_metric.analysis.part import Part

PART = Part(
    key="variants",
    sentence="of several variants, the score under each",
    find=lambda scored: scored.means,
    type=Mapping[str, float],
    order=100,
    by_name=False,
)
