"""Defines the rules for ChartQAPro, which compare lists item by item, require equal years, accept numbers within 5%,
and score strings with ANLS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from anls_metric.core.scorer import mean
from anls_metric.core.strings.kernel import Kernel
from anls_metric.core.values.row_scores import total
from anls_metric.rules.answer_formats import judge_equal, judge_similar
from anls_metric.rules.benchmark_rule import Rule, Summary
from anls_metric.rules.closeness import OPENBENCH, PYPI_ANLS, parse_float
from anls_metric.rules.judgment import ColumnError, Judgment, Row, refuse
from anls_metric.rules.literals import parse_list, parse_literal
from anls_metric.rules.shapes import fit_list

_WORD = re.compile(r"(?<!['\w])\w['\w]*")
_EXACT_TYPES = ("Fact Checking", "Multi Choice")


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer by the mean score of its items. The program also computes an exact mode, but never uses it."""
    answers, flags = row["answer"], row["year"]
    if not isinstance(answers, (list, tuple, str)) or not answers:
        raise refuse("answer", answers, "a list of one or more strings")
    if not isinstance(flags, (list, tuple, str)) or not flags or not all(isinstance(flag, str) for flag in flags):
        raise refuse("year", flags, "a list of one or more values, each YES or NO")
    if not isinstance(answers[-1], str):
        raise refuse("answer", answers[-1], "a string")
    gold, prediction = _strip_point(answers[-1]), _strip_point(str(row["prediction"]))
    flags = list(flags[-1:] if row["question_type"] == "Conversational" else flags)
    return _judge(gold, prediction, [flag.lower() == "yes" for flag in flags])


def judge_as_lmms_eval(row: Row, threshold: float) -> Judgment:
    """Judge an answer in the same way as lmms-eval, where Fact Checking and Multi Choice require an exact match."""
    answer, years = _read_last(row)
    texts = ("" if value is None else str(value).strip() for value in (answer, row["prediction"]))
    gold, prediction = map(_strip_point, texts)
    return _judge(gold, prediction, years, row["question_type"] in _EXACT_TYPES)


def judge_as_openbench(row: Row, threshold: float) -> Judgment:
    """Judge an answer in the same way as openbench, which differs from lmms-eval in its ANLS and strips spaces last."""
    answer, years = _read_last(row)
    gold, prediction = (_strip_point(str(value)).strip() for value in (answer, row["prediction"]))
    return _judge(gold, prediction, years, row["question_type"] in _EXACT_TYPES, OPENBENCH)


def _read_last(row: Row) -> tuple[Any, list[bool]]:
    """Read the last reference, which is the one that is scored, and whether the reference or each item is a year."""
    answers, flags = row["answer"], row["year"]
    answers = list(answers) if isinstance(answers, (list, tuple)) else [answers]
    if not answers:
        raise ColumnError("answer", "is an empty list: add a reference")
    flags = list(flags) if isinstance(flags, (list, tuple)) else [flags] if flags else []
    if row["question_type"] == "Conversational":
        flags = flags[-1:]
    return answers[-1], [isinstance(flag, str) and flag.lower() == "yes" for flag in flags] or [False]


def _strip_point(text: str) -> str:
    return text.strip(".").strip("\n")


def _judge(
    gold: str, prediction: str, years: list[bool], is_exact: bool = False, texts: Kernel = PYPI_ANLS
) -> Judgment:
    golds, answers = _list_golds(gold), _list_items(prediction) or [prediction]
    if len(golds) == len(answers) == 1:
        return _judge_item(answers[0], golds[0], years[0] or is_exact, texts)
    if len(years) < len(golds):
        years = years * len(golds)
    judged = [
        _judge_item(answer, accepted, is_year or is_exact, texts).score
        for answer, accepted, is_year in zip(answers, golds, years)
    ]
    score = total(judged) / max(len(golds), len(answers))
    words = "items {} and {} score {} position by position, and {} positions have no partner"
    return Judgment(score, words, (answers, golds, judged, abs(len(golds) - len(answers))))


def _judge_item(answer: str, gold: str, is_exact: bool, texts: Kernel) -> Judgment:
    if is_exact:
        return judge_equal(answer, gold, answer.strip().lower() == gold.strip().lower())
    answer, gold = (text.strip().strip("%").strip() for text in (answer, gold))
    number, expected = parse_float(answer.strip("%")), parse_float(gold.strip("%"))
    if number is None or expected is None:
        return judge_similar(answer, gold, texts.score(answer.lower(), [gold.lower()]))
    is_close = number == 0 if expected == 0 else abs(number - expected) / abs(expected) <= 0.05
    words = "numbers {} and {} differ by " + ("at most 5%" if is_close else "more than 5%")
    return Judgment(float(is_close), words, (number, expected))


def _list_golds(gold: str) -> list[str]:
    """List the items of the reference, after adding any quotes that its words lack."""
    text = gold
    if gold.startswith("[") and gold.endswith("]") and "\n" not in gold:
        text = str(parse_literal(_WORD.sub(r"'\g<0>'", gold), gold))
    return _list_items(text) or [gold]


def _list_items(text: str) -> list[str]:
    return [str(item).strip(" ").strip("'") for item in parse_list(text) or ()]


def summarize(
    rows: Sequence[Row],
    scores: Sequence[float],
    threshold: float,
    name: Callable[[str], str] = str,
    overall: str = "Overall",
) -> Summary:
    """Compute the mean score for each question type and for all questions."""
    by_type: dict[str, list[float]] = {}
    for row, score in zip(rows, scores):
        by_type.setdefault(name(str(row["question_type"])), []).append(score)
    return {**{kind: mean(of_kind) for kind, of_kind in by_type.items()}, overall: mean(scores)}


def _name_of_lmms_eval(question_type: str) -> str:
    return f"relaxed_{question_type.lower().replace(' ', '_')}"


_COLUMNS = {
    "question_type": "Factoid, Conversational, Fact Checking, Multi Choice or Hypothetical",
    "year": "a list of YES or NO: whether the answer is a year, which must be equal",
    "answer": "a list of references, one for each turn of a conversation: the last counts",
    "prediction": "the answer of the model",
}

CHARTQAPRO = Rule(
    "chartqapro",
    "relaxed accuracy",
    "ChartQAPro: lists item by item, years equal, numbers within 5%, strings by ANLS",
    "https://github.com/vis-nlp/ChartQAPro",
    _COLUMNS,
    "answer",
    judge,
    summarize,
    fit=fit_list,
)

CHARTQAPRO_LMMS_EVAL = Rule(
    "chartqapro_lmms_eval",
    "relaxed accuracy",
    "ChartQAPro in lmms-eval: Fact Checking and Multi Choice must be equal",
    "https://github.com/EvolvingLMMs-Lab/lmms-eval",
    _COLUMNS,
    "answer",
    judge_as_lmms_eval,
    partial(summarize, name=_name_of_lmms_eval, overall="relaxed_overall"),
    fit=fit_list,
)

CHARTQAPRO_OPENBENCH = Rule(
    "chartqapro_openbench",
    "relaxed accuracy",
    "ChartQAPro in openbench: as in lmms-eval, with spaces inside a string kept",
    "https://github.com/groq/openbench/blob/main/src/openbench/scorers/chartqapro.py",
    _COLUMNS,
    "answer",
    judge_as_openbench,
    partial(summarize, overall="overall"),
    fit=fit_list,
)
