"""Reports that no field identifies the documents of questions, and suggests a field that may."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import filterfalse, groupby
from typing import Any

from anls_metric.analysis.scored import Scored
from anls_metric.core.statistics.clusters import keep_names
from anls_metric.reading.roles import is_of_answers, list_plain_fields, take_whole_record
from anls_metric.reading.table import are_numbers, read_column

LEAST_DOCUMENTS = 6
"""The minimum number of distinct values in a field that may identify documents, since fewer documents cannot be tested.
"""


def describe_independence(scored: Scored) -> str:
    """Write a sentence that says that no field identifies the documents of questions and, if possible, suggests the
    field with repeated values that has the most distinct values.

    Example:
        >>> from anls_metric import score
        >>> rows = [{"prediction": "a", "references": ["a"], "scan": n // 2} for n in range(20)]
        >>> describe_independence(score(rows)["data"]).rpartition("; ")[2]
        "if 'scan' does, add --cluster-by scan (cluster_by)"
    """
    table, roles = scored.questions.table, scored.questions.roles
    is_one_answer = roles.references is take_whole_record  # then all fields are values to score
    sizes = {}
    for name in [] if is_one_answer else filterfalse(is_of_answers, list_plain_fields(table, roles)):
        values = keep_names(read_column(table, name))
        size = len({*values})
        if LEAST_DOCUMENTS <= size < len(values) and None not in values and _may_be_documents(values):
            sizes[name] = size
    sentence = "questions taken as independent: no field names their document"
    if not sizes:
        return sentence
    field = max(sizes, key=sizes.__getitem__)
    return f"{sentence}; if {field!r} does, add --cluster-by {shlex.quote(field)} (cluster_by)"


def _may_be_documents(values: Sequence[Any]) -> bool:
    """Whether values may identify documents, which numbers may do only if equal numbers are adjacent."""
    blocks = sum(1 for _ in groupby(values))
    return blocks == len({*values}) or not are_numbers(values)
