"""Defines the rule for DUDE, in which an answer is a string, a list or absent and comes with a confidence."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any

from anls_metric.core.scorer import mean
from anls_metric.core.strings.scoring import anls_score
from anls_metric.core.values.row_scores import total
from anls_metric.core.values.value_variants import VALUE_VARIANTS
from anls_metric.rules.benchmark_rule import Rule, Summary
from anls_metric.rules.judgment import ColumnError, Judgment, Row, Similarity, refuse
from anls_metric.rules.shapes import fit_list

_TYPES = {"abstractive": "Abstractive", "extractive": "Extractive", "not-answerable": "Not Answerable"}


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer by ANLS or, if it is a list, by ANLSL."""
    kind, gold, prediction = row["answer_type"], row["gold"], row["prediction"]
    if not isinstance(kind, str):
        raise refuse("answer_type", kind, "a string, such as extractive or list/extractive")
    gold = list(gold) if isinstance(gold, (str, tuple)) else gold
    if not isinstance(gold, list):
        raise refuse("gold", gold, "a list of strings")
    if not isinstance(prediction, (str, list, tuple, dict)):
        raise refuse("prediction", prediction, "a string, or a list of strings")
    if "list" in kind:
        return _judge_list(gold, list(prediction))
    if kind == "not-answerable" and not gold:
        gold = [""]
    answer = _take_text(prediction)
    _check_texts("gold", gold)
    _check_texts("prediction", [answer])
    if not gold:
        raise ColumnError("gold", 'is empty: only the type "not-answerable" has no answers')
    score = anls_score(answer, gold, threshold, "rrc")
    words = "question type {}: {} against {}, kept at a similarity of {} or more"
    return Judgment(score, words, (kind, answer, gold, Similarity(threshold)))


def _judge_list(gold: list[Any], items: list[Any]) -> Judgment:
    _check_texts("gold", gold)
    if not gold:
        raise ColumnError("gold", "is empty: a list question needs at least one answer")
    if not items:
        return Judgment(0.0, "as a list: no answers, where {} are expected", (gold,))
    if len(gold) < len(items):  # the items are compared like answers to separate questions
        items = list(map(_take_text, items))
    _check_texts("prediction", items)
    score = float(VALUE_VARIANTS["anlsl"].score_row(items, gold))
    return Judgment(score, "as a list: {} matched one to one with {}", (items, gold))


def _take_text(answer: Any) -> Any:
    """Take the string that DUDE compares, which is the first item of a list or the answer itself."""
    if isinstance(answer, (list, tuple)):
        return answer[0] if answer else ""
    return "" if answer == {} else answer


def _check_texts(column: str, texts: Sequence[Any]) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise refuse(column, text, "a string")


def summarize(rows: Sequence[Row], scores: Sequence[float], threshold: float) -> Summary:
    """Compute ANLS for the whole set and by type. If there are confidences, also compute AURC and, if all rows have a
    data split, the AUROC for separating "test2" from the rest.
    """
    summary: Summary = {"anls": mean(scores) if scores else 0.0}
    for kind, name in _TYPES.items():
        of_kind = [score for row, score in zip(rows, scores) if row["answer_type"] == kind]
        if of_kind:
            summary[name] = mean(of_kind)
    confidences = list(_read_confidences(rows))
    if confidences and len(confidences) >= len(rows) - 1:  # the program does not notice that the last one is missing
        summary["aurc"] = _compute_aurc([score >= threshold for score in scores], confidences)
    if confidences and len(confidences) == len(rows) and all("data_split" in row for row in rows):
        summary["auroc"] = _compute_auroc([row["data_split"] != "test2" for row in rows], confidences)
    return summary


def _read_confidences(rows: Sequence[Row]) -> Iterator[float]:
    """Yield the confidences as 32-bit floats, up to the first missing one."""
    for place, row in enumerate(rows):
        confidence = row.get("confidence", -1)
        if isinstance(confidence, (list, tuple)) and confidence:
            confidence = confidence[0]
        if confidence == -1:
            return
        try:
            yield array("f", [math.nan if confidence is None else float(confidence)])[0]
        except (TypeError, ValueError):
            error = refuse("confidence", confidence, "a number")
            error.place = place
            raise error from None


def _compute_aurc(correct: Sequence[bool], confidences: Sequence[float]) -> float:
    """Compute the area under the risk-coverage curve like DUDE's script, in which ties end at their first item."""
    count = len(correct)
    order = sorted(range(len(confidences)), key=lambda place: _nan_last(confidences[place]))
    wrong = sum(not correct[place] for place in order)
    risks, weights, pending = [wrong / count], [], 0
    last = math.nan
    for number, place in enumerate(islice(order, len(order) - 1)):
        wrong -= not correct[place]
        pending += 1
        if number == 0 or confidences[place] != last:
            risks.append(wrong / (count - 1 - number))
            weights.append(pending / count)
            pending = 0
        last = confidences[place]
    if pending:
        risks.append(risks[-1])
        weights.append(pending / count)
    return total((risks[place] + risks[place + 1]) * 0.5 * weight for place, weight in enumerate(weights))


def _nan_last(number: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(number) else (False, number)


def _compute_auroc(positive: Sequence[bool], confidences: Sequence[float]) -> float:
    """Compute the area under the ROC curve, with ties counted as one half, or return NaN if all labels are the same or
    a confidence is NaN.
    """
    if len(set(positive)) < 2 or any(map(math.isnan, confidences)):
        return math.nan
    area, below, ties = 0.0, 0, sorted(zip(confidences, positive))
    for _, group in groupby(ties, key=itemgetter(0)):
        kinds = [kind for _, kind in group]
        negatives = kinds.count(False)
        area += kinds.count(True) * (below + negatives / 2)
        below += negatives
    return area / (below * (len(positive) - below))


def find_refusal(gold: Any, submission: Any) -> str:
    """Return the message with which DUDE's script rejects two files, or "" if the script accepts both files.

    Also returns "" if a record has no id, for which the script raises a KeyError.
    """
    if not isinstance(gold, dict) or "data" not in gold:
        return "The GT file is not valid (no data key)"
    if "dataset_name" not in gold:
        return "The GT file is not valid (no dataset_name key)"
    if gold["dataset_name"] != "DUDE Dataset":
        return "The GT file is not valid dataset_name should be DUDE Dataset"
    if not isinstance(submission, list):
        return "The Det file is not valid (root item must be an array)"
    questions = gold["data"] if isinstance(gold["data"], list) else []
    if len(questions) != len(submission):
        return (
            f"The Det file is not valid (invalid number of answers. Expected:{len(questions)} Found:{len(submission)})"
        )
    if not all(isinstance(record, dict) and "questionId" in record for record in chain(questions, submission)):
        return ""
    asked = [str(question["questionId"]) for question in questions]
    answers = {str(answer["questionId"]): answer for answer in submission}
    if sorted(asked) != sorted(str(answer["questionId"]) for answer in submission):
        return "The Det file is not valid. Question IDs must match GT"
    without = next((name for name in asked if "answers" not in answers[name]), None)
    return "" if without is None else f"Question {without} not valid (no answer key)"


DUDE = Rule(
    "dude",
    "ANLS",
    "DUDE: strings, lists and unanswerable questions by their type; confidences give AURC",
    "https://github.com/Jordy-VL/DUDEeval",
    {
        "answer_type": "extractive, abstractive, list/extractive, list/abstractive or not-answerable",
        "gold": "the list of references",
        "prediction": "the list of answers of the model: of strings, the first counts",
    },
    "gold",
    judge,
    summarize,
    optional={
        "confidence": "the confidence from 0 to 1; -1 for none",
        "data_split": "the part of the data: test2 holds documents of other domains",
    },
    options=("threshold",),
    prediction_field="answers",
    find_refusal=find_refusal,
    fit=fit_list,
    confidence_bins=100,
)
