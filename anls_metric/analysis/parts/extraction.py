"""Reports how many answers each extraction step changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from anls_metric.analysis.part import Line, Part, Write
from anls_metric.core.extraction.extract import Counts, describe_extraction


def _write_lines(counts: Counts, write: Write) -> Iterable[Line]:
    return [Line("" if place else "extracted", text) for place, text in enumerate(describe_extraction(counts))]


PART = Part(
    key="extraction",
    sentence="with `--extract`, how many answers each step `changed` and `left`",
    find=lambda scored: scored.answers.extraction,
    type=Mapping[str, Mapping[str, int]],
    order=90,
    by_name=False,
    lines=_write_lines,
)
