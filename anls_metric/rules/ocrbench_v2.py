"""Defines the rule for questions in OCRBench v2: a prediction must contain a short answer or resemble a long one."""

from __future__ import annotations

import math
import re
from typing import Any

from anls_metric.rules.answer_formats import judge_equal
from anls_metric.rules.benchmark_rule import Rule, summarize_mean
from anls_metric.rules.closeness import HALF_OR_MORE
from anls_metric.rules.judgment import Judgment, Row, Similarity, refuse

_ENGLISH = frozenset(
    f"{name} en"
    for name in (
        "APP agent",
        "ASCII art classification",
        "math QA",
        "reasoning VQA",
        "science QA",
        "text recognition",
        "document classification",
        "cognition VQA",
        "diagram QA",
    )
)
_CHINESE = frozenset(("cognition VQA cn", "reasoning VQA cn"))
_LATEX_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_JOINTS = (".", ". ", ",", ", ", "、", ";", "; ", " ", "和")
_NOTHING = Judgment(0.0, "")
_STANDS_IN = "the short answer {} is in the prediction"
_DIGITS = re.compile(r"\d+")


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer by the rule named in the column `rule`."""
    name, prediction, answers = row["rule"], row["prediction"], row["answers"]
    if name == "item":
        return _judge_item(row, prediction, answers)
    if name not in ("en", "cn", "case"):
        raise refuse("rule", name, "en, cn, case or item")
    return _judge_by_rule(name, prediction, answers)


def _judge_by_rule(rule: str, prediction: Any, answers: Any) -> Judgment:
    """Judge a prediction against the closest reference."""
    if not isinstance(answers, list):
        answer = _prepare(_take_text("answers", answers), rule)
        return _judge_single(rule, _prepare(_take_text("prediction", prediction), rule), answer)
    if not answers:
        return Judgment(0.0, "there are no references")
    best, text = _NOTHING, None
    for answer in answers:
        if not isinstance(answer, str):
            answer = _take_text("answers", answer, numbers=True)
        if text is None:
            text = _prepare(_take_text("prediction", prediction, numbers=rule != "case"), rule)
        answer = _prepare(answer, rule)
        if not _is_short(answer, rule):
            judged = _compare(text, answer)
        elif answer in text:
            return Judgment(1.0, _STANDS_IN, (answer,))
        else:
            continue
        best = judged if judged.score > best.score else best
    return best if best.score else Judgment(0.0, "no answer of {} is in {} or is similar to it", (answers, text))


def _judge_single(rule: str, text: str, answer: str) -> Judgment:
    """Judge a prediction against a single reference, which the program treats differently from a list."""
    if not _is_short(answer, rule):
        return _compare(text, answer) if rule == "en" else Judgment(0.0, "{} is long and not in a list", (answer,))
    judged = _contain(text, answer)
    return judged if judged.score or rule == "en" else _compare(text, answer)


def _take_text(column: str, value: Any, numbers: bool = False) -> str:
    if isinstance(value, str):
        return value
    if numbers and isinstance(value, (int, float)):
        return str(value)
    raise refuse(column, value, "a string")


def _prepare(text: str, rule: str) -> str:
    if rule == "cn":
        return text.lower().strip().replace("\n", "").replace(" ", "")
    return (text if rule == "case" else text.lower()).strip().replace("\n", " ")


def _is_short(answer: str, rule: str) -> bool:
    return answer.count(",") < 3 if rule == "cn" else len(answer.split(None, 4)) < 5


def _contain(text: str, answer: str) -> Judgment:
    if answer in text:
        return Judgment(1.0, _STANDS_IN, (answer,))
    return Judgment(0.0, "the short answer {} is not in {}", (answer, text))


def _compare(text: str, answer: str) -> Judgment:
    score = HALF_OR_MORE.score(text, [answer])
    return Judgment(
        score, "{} is compared with {} as text, kept at a similarity of {} or more", (text, answer, Similarity(0.5))
    )


def _judge_item(row: Row, prediction: Any, answers: Any) -> Judgment:
    """Judge an answer by the rule for the type of its question."""
    kind = row.get("type")
    if not isinstance(kind, str):
        raise refuse("type", kind, "a string, the type of the question")
    if kind in _ENGLISH or kind in _CHINESE:
        return _judge_question("cn" if kind in _CHINESE else "en", row, prediction, answers)
    if kind == "text counting en":
        return _judge_count(row.get("eval"), prediction, answers)
    if kind == "formula recognition en":
        text = _squeeze_formula(_take_text("prediction", prediction))
        return _contain_any(text, [_squeeze_formula(_take_text("answers", answer)) for answer in _as_list(answers)])
    if kind == "formula recognition cn":
        return _judge_chinese_formula(prediction, answers)
    if kind == "handwritten answer extraction cn" and "简答" not in str(row.get("question")):
        answer, text = _take_text("answers", _take_only(answers)), _take_text("prediction", prediction)
        return _contain_any(text, [answer, *(joint.join(answer) for joint in _JOINTS)])
    raise refuse("type", kind, "a type of question that is scored as question answering")


def _judge_question(rule: str, row: Row, prediction: Any, answers: Any) -> Judgment:
    if "eval" not in row:
        return _judge_by_rule(rule, prediction, answers)
    if row["eval"] == "case sensitive":
        return _judge_by_rule("case", prediction, answers)
    if row["eval"] != "multiple choice":
        raise refuse("eval", row["eval"], "multiple choice, case sensitive or absent")
    answer = _take_only([answers] if rule == "en" and isinstance(answers, str) else answers)
    if not isinstance(prediction, str) and rule == "en":
        return Judgment(0.0, "the prediction is not a string")
    letters = "".join(filter(str.isalpha, _take_text("prediction", prediction)))
    return judge_equal(letters, answer, letters == answer)


def _take_only(answers: Any) -> Any:
    if not isinstance(answers, (list, str)) or len(answers) != 1:
        raise refuse("answers", answers, "a list of one string")
    return answers[0]


def _as_list(answers: Any) -> list[Any]:
    return answers if isinstance(answers, list) else [answers]


def _judge_count(evaluation: Any, prediction: Any, answers: Any) -> Judgment:
    """Judge a count by whether the prediction contains a reference or, for regression, by how close the first number in
    the prediction is to a reference.
    """
    if evaluation not in ("exact match", "regression") or answers == []:
        return Judgment(0.0, "eval is {}, and there are {} references", (evaluation, len(_as_list(answers))))
    if isinstance(prediction, float) and math.isnan(prediction):
        return Judgment(0.0, "the prediction is not a string")
    raw = _take_text("prediction", prediction)
    is_list, text = isinstance(answers, list), _prepare(raw, "en")
    golds = [_prepare(_take_text("answers", answer, numbers=is_list), "en") for answer in _as_list(answers)]
    if evaluation == "exact match":
        return _contain_any(raw if is_list else text, golds)
    number = _DIGITS.search(text)
    if not number or len(number[0]) > 4000 or not int(number[0]):
        return Judgment(0.0, "the prediction has no number, or 0")
    count = int(number[0])
    return max((_judge_number(count, gold) for gold in golds), key=lambda judged: judged.score)


def _judge_number(count: int, gold: str) -> Judgment:
    try:
        expected = int(gold)
    except ValueError:
        raise refuse("answers", gold, "a whole number") from None
    similarity = 1 - abs(count - expected) / expected if 0 < count < 2 * expected else 0.0
    score = similarity if similarity > 0.5 else 0.0
    return Judgment(
        score, "the number {} is compared with {}, kept above a similarity of {}", (count, expected, Similarity(0.5))
    )


def _judge_chinese_formula(prediction: Any, answers: Any) -> Judgment:
    if prediction is None or str(prediction).lower() == "nan":
        return Judgment(0.0, "the prediction is not a string")
    sides = ("prediction", prediction), ("answers", _take_only(answers))
    text, answer = (_squeeze_formula(_LATEX_TEXT.sub(r"\1", _take_text(*side))) for side in sides)
    return _contain_any(text, [answer])


def _squeeze_formula(formula: str) -> str:
    return formula.strip().replace("\n", " ").replace(" ", "")


def _contain_any(text: str, answers: list[str]) -> Judgment:
    match = next((answer for answer in answers if answer in text), None)
    if match is None:
        return Judgment(0.0, "none of {} is in the prediction", (answers,))
    return Judgment(1.0, "{} is in the prediction", (match,))


OCRBENCH_V2 = Rule(
    "ocrbench_v2",
    "score",
    "OCRBench v2: a short answer must be part of the prediction, a long one must be similar to it",
    "https://github.com/Yuliang-Liu/MultimodalOCR",
    {
        "rule": "en, cn or case: the language, or English with case; item: by the columns type, eval and question",
        "answers": "the list of references",
        "prediction": "the output of the model",
    },
    "answers",
    judge,
    summarize_mean("score"),
    optional={
        "type": "for the rule item: the type of the question, such as `science QA en`",
        "eval": "for the rule item: multiple choice, case sensitive, exact match, regression or absent",
        "question": "for the rule item: the question",
    },
)
