"""Defines the rule for MMLongBench-Doc, in which an answer is an integer, float, string or list, as its format says."""

from __future__ import annotations

from typing import Any

from anls_metric.rules.answer_formats import judge_equal, judge_float, judge_sorted, judge_text, read_items
from anls_metric.rules.answerable import summarize_answerable
from anls_metric.rules.benchmark_rule import Rule
from anls_metric.rules.cleaning import is_exact, strip_signs
from anls_metric.rules.closeness import parse_float
from anls_metric.rules.judgment import Judgment, Row, refuse
from anls_metric.rules.shapes import fit_text


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer according to its format."""
    answer_format, gold, prediction = row["answer_format"], row["gold"], row["prediction"]
    if answer_format == "Int":
        return _judge_integer(prediction, gold)
    if answer_format == "Float":
        return judge_float(parse_float(_clean(prediction)), _read_float(gold))
    if answer_format in ("Str", "None"):
        return judge_text(_clean(prediction), _clean(gold))
    golds = read_items(gold)
    if golds is None:
        raise refuse("gold", gold, "a list, like ['a', 'b'], since it begins with a bracket")
    items = read_items(prediction)
    answers = [prediction] if items is None else items
    return judge_sorted(list(map(_clean, answers)), list(map(_clean, golds)), must_be_equal)


def _clean(value: Any) -> str:
    return strip_signs(str(value).lower().strip())


def _judge_integer(prediction: Any, gold: Any) -> Judgment:
    try:
        answer, accepted = int(float(prediction)), int(gold)
    except (TypeError, ValueError, OverflowError):
        return Judgment(float(gold == ""), "{} and {} are not both integers", (prediction, gold))
    return judge_equal(answer, accepted, answer == accepted)


def _read_float(gold: Any) -> float:
    number = parse_float(_clean(gold))
    if number is None:
        raise refuse("gold", gold, "a number, since its answer_format is Float")
    return number


def must_be_equal(text: str) -> bool:
    """Whether a list that begins with this item must be matched exactly, because the item is a number or `is_exact` is
    true of it.
    """
    return parse_float(text) is not None or is_exact(text)


COLUMNS = {
    "answer_format": "how the answer is compared: Int, Float, Str, List or None",
    "gold": "the reference",
    "prediction": "the answer that was extracted from the output of the model",
}

MMLONGBENCH_DOC = Rule(
    "mmlongbench_doc",
    "accuracy",
    "MMLongBench-Doc: integers, floats, strings and lists by the format of the answer",
    "https://github.com/mayubo2333/MMLongBench-Doc",
    COLUMNS,
    "gold",
    judge,
    summarize_answerable,
    fit=fit_text,
)
