"""Defines the rules for LongDocURL, in which an answer is an integer, a float, a string or a list, depending on its
format, and units and commas are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anls_metric.core.scorer import mean
from anls_metric.core.values.row_scores import total
from anls_metric.rules.answer_formats import judge_equal, judge_float, judge_text, read_items
from anls_metric.rules.answerable import summarize_answerable
from anls_metric.rules.benchmark_rule import Rule, Summary, summarize_mean
from anls_metric.rules.cleaning import strip_signs
from anls_metric.rules.closeness import OVER_HALF, parse_float
from anls_metric.rules.judgment import ColumnError, Judgment, Row
from anls_metric.rules.mmlongbench_doc import COLUMNS, must_be_equal
from anls_metric.rules.shapes import fit_text

_UNITS = ("kg", "mm", "m", "meters", "acres", "minutes", "mile", "miles", "million", "thousand", "billion")
_NO_ANSWER = "Fail to extract"


def clean(value: Any) -> str:
    """Remove units in the same way as the authors' program, which strips all letters of a unit, so that `program`
    becomes `progra`.
    """
    text = str(value).lower().strip().replace(",", "")
    for unit in _UNITS:
        if text.endswith(unit):
            text = text.rstrip(unit).strip()
    return strip_signs(text, "$£")


def clean_as_vlmevalkit(value: Any) -> str:
    """Remove the longest unit at the end of a string, such as `mm` rather than just `m`."""
    text = str(value).lower().strip().replace(",", "")
    unit = max(filter(text.endswith, _UNITS), key=len, default="")
    return strip_signs(text.removesuffix(unit).strip(), "$£")


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer according to its format."""
    return _judge(row, clean, row["prediction"], row["gold"])


def judge_as_vlmevalkit(row: Row, threshold: float) -> Judgment:
    """Judge an answer according to its format in the same way as VLMEvalKit."""
    prediction, gold = (
        value.strip() if isinstance(value, str) else value for value in (row["prediction"], row["gold"])
    )
    return _judge(row, clean_as_vlmevalkit, prediction, gold)


def _judge(row: Row, clean: Callable[[Any], str], prediction: Any, gold: Any) -> Judgment:
    answer_format = row["answer_format"]
    if answer_format == "Integer":
        answer, accepted = clean(prediction), clean(gold)
        # A prediction that is not an integer is treated as empty.
        return judge_equal(answer, accepted, _parse_integer(answer, "") == _parse_integer(accepted, accepted))
    if answer_format == "Float":
        expected = parse_float(clean(gold))
        if expected is None:
            return Judgment(0.0, "the reference {} is not a number", (gold,))
        return judge_float(parse_float(clean(prediction)), expected)
    if answer_format in ("String", "None"):
        return judge_text(clean(prediction), clean(gold))
    return _judge_list(prediction, gold, clean)


def _parse_integer(text: str, default: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return default


def _judge_list(prediction: Any, gold: Any, clean: Callable[[Any], str]) -> Judgment:
    golds, predictions = read_items(gold), read_items(prediction)
    if predictions == []:
        return Judgment(0.0, "the prediction is an empty list")
    if golds == []:
        raise ColumnError("gold", "is an empty list: add a reference")
    accepted, answers = (
        list(map(clean, _join_values([value] if items is None else items)))
        for items, value in ((golds, gold), (predictions, prediction))
    )
    if must_be_equal(accepted[0]):
        return judge_equal(answers, accepted, "-".join(answers) == "-".join(accepted))
    best = [max(OVER_HALF.score(answer, [text]) for answer in answers) for text in accepted]
    score = total(best) / len(accepted) * min(1, len(accepted) / len(answers)) ** 0.5
    words = "the best answer for each of {} scores {}, and there are {} answers"
    return Judgment(score, words, (accepted, [round(number, 4) for number in best], len(answers)))


def _join_values(items: list[Any]) -> list[Any]:
    """Replace each object among the items with its values, joined by hyphens."""
    if not isinstance(items[0], dict):
        return items
    return ["-".join(map(str, item.values())) if isinstance(item, dict) else item for item in items]


def summarize(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """Compute the accuracy, the F1, and the accuracy with failed extractions scored as 0. All three figures are 0 if
    there are no rows.
    """
    if not rows:
        return {"acc": 0.0, "f1": 0.0, "generalized_accuracy": 0.0}
    extracted = [0.0 if row["prediction"] == _NO_ANSWER else score for row, score in zip(rows, scores)]
    return {**summarize_answerable(rows, scores, threshold), "generalized_accuracy": mean(extracted)}


_COLUMNS = {**COLUMNS, "answer_format": "how the answer is compared: Integer, Float, String, List or None"}

LONGDOCURL = Rule(
    "longdocurl",
    "accuracy",
    "LongDocURL: integers, floats, strings and lists by the format of the answer, without units",
    "https://github.com/dengc2023/LongDocURL",
    _COLUMNS,
    "gold",
    judge,
    summarize,
    fit=fit_text,
)

LONGDOCURL_VLMEVALKIT = Rule(
    "longdocurl_vlmevalkit",
    "accuracy",
    "LongDocURL in VLMEvalKit: cuts one whole unit instead of its letters",
    "https://github.com/open-compass/VLMEvalKit",
    _COLUMNS,
    "gold",
    judge_as_vlmevalkit,
    summarize_mean("acc"),
    fit=fit_text,
)
