"""Defines the rule for MMLongBench-Doc in lmms-eval, which uses the first number in a string and compares `Not
answerable` after cleaning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from anls_metric.core.scorer import mean
from anls_metric.rules.answer_formats import judge_equal, judge_float, judge_sorted, judge_text
from anls_metric.rules.answerable import find_f1
from anls_metric.rules.benchmark_rule import Rule, Summary
from anls_metric.rules.cleaning import is_exact, strip_signs
from anls_metric.rules.closeness import OVER_HALF_OF_CHARACTERS
from anls_metric.rules.judgment import Judgment, Row
from anls_metric.rules.literals import parse_literal
from anls_metric.rules.mmlongbench_doc import COLUMNS
from anls_metric.rules.shapes import fit_text

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)")
_NOT_ANSWERABLE = "not answerable"


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer according to its format."""
    gold, prediction = row["gold"], str(row["prediction"]).strip()
    answer_format = str(row["answer_format"] or "").strip().lower()
    if answer_format == "none":
        return judge_equal(prediction, _NOT_ANSWERABLE, _clean(prediction) == _NOT_ANSWERABLE)
    if answer_format == "list":
        answers, golds = (list(map(_clean, _read_items(value))) for value in (prediction, gold))
        return judge_sorted(answers, golds, _must_be_equal, OVER_HALF_OF_CHARACTERS, list)
    if answer_format not in ("int", "integer", "float"):
        return judge_text(_clean(prediction), _clean(gold), _is_exact, OVER_HALF_OF_CHARACTERS)
    answer, accepted = _find_number(prediction), _find_number(gold)
    if answer is None or accepted is None:
        return Judgment(0.0, "{} and {} do not both have a number", (prediction, gold))
    if answer_format == "float":
        return judge_float(answer, accepted)
    return judge_equal(int(answer), int(accepted), int(answer) == int(accepted))


def _clean(value: Any) -> str:
    if not value:
        return ""
    text = strip_signs(str(value).lower().strip())
    for unit in (" miles", " mile", " million"):
        text = text.removesuffix(unit).strip()
    return " ".join(text.split())


def _is_exact(text: str) -> bool:
    return is_exact(text, ("https://", "http://", "a.m.", "p.m."), (".py", ".ipynb"))


def _find_number(value: Any) -> float | None:
    """Find the first number in a string, ignoring commas between thousands."""
    match = _NUMBER.search(str(value).replace(",", "")) if value else None
    return float(match[0]) if match else None


def _read_items(value: Any) -> list[str]:
    if isinstance(value, str):
        value = parse_literal(value, [value])
    return list(map(str, value)) if isinstance(value, list) else [] if value is None else [str(value)]


def _must_be_equal(text: str) -> bool:
    return _find_number(text) is not None or _is_exact(text)


def summarize(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """Compute the accuracy of a set and the F1 of its answerable questions. For precision, the predictions determine
    which questions are answerable.
    """
    shares = []
    for column in ("gold", "prediction"):
        answerable = [score for row, score in zip(rows, scores) if _clean(row[column]) != _NOT_ANSWERABLE]
        shares.append(mean(answerable) if answerable else 0.0)
    return {"acc": mean(scores), "f1": find_f1(*shares)}


MMLONGBENCH_DOC_LMMS_EVAL = Rule(
    "mmlongbench_doc_lmms_eval",
    "accuracy",
    "MMLongBench-Doc in lmms-eval: the first number in a string counts, at any place",
    "https://github.com/EvolvingLMMs-Lab/lmms-eval",
    COLUMNS,
    "gold",
    judge,
    summarize,
    fit=fit_text,
)
