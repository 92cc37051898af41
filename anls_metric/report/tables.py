"""A scored set as tables: CSV."""

from __future__ import annotations

import csv
import io
import json

from anls_metric.analysis.scored import ScoredSet
from anls_metric.report.document import answer_records


def to_csv(scored_set: ScoredSet) -> str:
    """Every answer of a set that keeps its rows; what a spreadsheet takes for a formula gets an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream)  # its line ends make it quote a lone carriage return as well
    for number, record in enumerate(answer_records(scored_set)):
        record["references"] = json.dumps(record["references"], ensure_ascii=False)
        record["signature"] = scored_set.signature
        if not number:
            writer.writerow(record)
        writer.writerow([_no_formula(value) if isinstance(value, str) else value for value in record.values()])
    return stream.getvalue().encode("utf-8", "replace").decode("utf-8")


def _no_formula(text: str) -> str:
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
