"""Defines the rules of benchmarks that extend ANLS and need more than a prediction and its references.

A rule asks for columns by name, such as an answer format, a question type or a confidence. Each rule reproduces the
numbers of its source program bit for bit. Where that program crashes, runs an answer as Python code or depends on the
current day, the rule raises a `ValueError` that names the row and the column, or returns a sensible score.

The modules, from the ground up; each imports only modules above it:

* `judgment`: the score of an answer with the branch that decided it, and errors that name a column;
* `literals`: parses lists that are written as strings;
* `cleaning`: cleans strings and determines which strings must match exactly;
* `closeness`: compares two numbers or two strings;
* `dates`: reads dates with python-dateutil;
* `benchmark_rule`: the class `Rule`;
* `answer_formats`, `answerable`: judge numbers, strings and lists by format; compute F1 with unanswerable questions;
* a module for each benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from anls_metric.core.checks import describe_unknown
from anls_metric.core.scorer import get_scorer
from anls_metric.rules.benchmark_rule import Rule, Summary
from anls_metric.rules.chartqapro import CHARTQAPRO, CHARTQAPRO_LMMS_EVAL, CHARTQAPRO_OPENBENCH
from anls_metric.rules.docvqa_2026 import DOCVQA_2026
from anls_metric.rules.dude import DUDE
from anls_metric.rules.judgment import Judgment, Row
from anls_metric.rules.longdocurl import LONGDOCURL, LONGDOCURL_VLMEVALKIT
from anls_metric.rules.madqa import MADQA
from anls_metric.rules.mmlongbench_doc import MMLONGBENCH_DOC
from anls_metric.rules.mmlongbench_doc_lmms_eval import MMLONGBENCH_DOC_LMMS_EVAL
from anls_metric.rules.ocrbench_v2 import OCRBENCH_V2

__all__ = ["RULES", "Judgment", "Row", "Rule", "Summary", "rule"]

_TABLE = (
    *(DOCVQA_2026, DUDE, MMLONGBENCH_DOC, MMLONGBENCH_DOC_LMMS_EVAL, LONGDOCURL, LONGDOCURL_VLMEVALKIT),
    *(CHARTQAPRO, CHARTQAPRO_LMMS_EVAL, CHARTQAPRO_OPENBENCH, OCRBENCH_V2, MADQA),
)
RULES: Mapping[str, Rule] = MappingProxyType({each.name: each for each in _TABLE})
"""The rules, keyed by name."""


def rule(name: str, **options: Any) -> Rule:
    """Return a benchmark metric by name.

    Args:
        name: a name in `anls_metric.rules.RULES`; ``anls variants`` lists the names.
        **options: ``threshold``, if the benchmark's program has one; only "dude" does, for strings.

    Returns:
        A `Rule`, with ``columns``, ``scores(rows)``, ``summary(rows)``, ``explain(row)`` and ``signature()``.

    Raises:
        ValueError: the rule does not exist, or the rule does not have the option.

    Example:
        >>> dude = rule("dude")
        >>> rows = [
        ...     {"answer_type": "extractive", "gold": ["Coca Cola"], "prediction": ["CocaCola"]},
        ...     {"answer_type": "not-answerable", "gold": [], "prediction": []},
        ... ]
        >>> dude.scores(rows)
        [0.8888888888888888, 1.0]
        >>> dude.summary(rows)
        {'anls': 0.9444444444444444, 'Extractive': 0.8888888888888888, 'Not Answerable': 1.0}
        >>> dude.signature()
        'anls|dude|threshold:0.5|v2'
    """
    if not isinstance(name, str) or name not in RULES:
        raise ValueError(describe_unknown("rule", name, RULES, "`anls variants`"))
    return cast("Rule", get_scorer(name, **options))
