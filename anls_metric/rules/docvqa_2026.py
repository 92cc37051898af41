"""Defines the rule for DocVQA 2026, in which the answer follows a marker, numbers with units, versions and dates must
be equal, and strings must be nearly equal.
"""

from __future__ import annotations

import re
import string
from dataclasses import replace
from typing import Any

from anls_metric.core.strings.variants import VARIANTS, compile_kernel
from anls_metric.rules.benchmark_rule import Rule, summarize_mean
from anls_metric.rules.dates import parse_date
from anls_metric.rules.judgment import ColumnError, Judgment, Row
from anls_metric.rules.literals import NoLiteralError, TooLargeError, read_literal

_MARKER = "FINAL ANSWER:"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation, " "))
_NEARLY_EQUAL = compile_kernel(replace(VARIANTS["nls"], threshold=0.9, all_or_nothing=True))


def judge(row: Row, threshold: float) -> Judgment:
    """Judge an answer, which scores either 1 or 0."""
    prediction, gold = str(row["prediction"]), row["gold"]
    _, marker, answer = prediction.rpartition(_MARKER)
    if not marker:
        return Judgment(0.0, "the prediction has no {}", (_MARKER,))
    answer = answer.strip()
    candidates = _list_candidates(gold)
    number, has_number = _split_number(answer), False
    for candidate in candidates:
        accepted = _split_number(candidate)
        has_number = has_number or accepted is not None
        if accepted and number and accepted[0] == number[0]:
            if accepted[1] == number[1]:
                return Judgment(1.0, "{} and {} are the same number and unit", (answer, candidate))
        elif kind := _find_match(answer, candidate):
            return Judgment(1.0, "{} and {} are the same " + kind, (answer, candidate))
    if has_number:
        return Judgment(0.0, "{} is not the number, version or date {}", (answer, gold))
    if candidates and _NEARLY_EQUAL.score(_clean(answer), list(map(_clean, candidates))):
        return Judgment(1.0, "{} differs from {} in at most one character in ten", (answer, gold))
    return Judgment(0.0, "{} differs from {} in more than one character in ten", (answer, gold))


def _list_candidates(gold: Any) -> list[str]:
    """List the references, which are the items of a gold answer that is a list or is written as one, or the string form
    of any other gold answer.
    """
    text = str(gold)
    if "[" not in text:
        return [text]
    try:
        value = read_literal(text)
    except NoLiteralError as error:
        if isinstance(gold, list) and isinstance(error, TooLargeError):
            raise ColumnError("gold", str(error)) from None
        return [text]
    return list(map(str, value)) if isinstance(value, list) else [text]


def _split_number(text: str) -> tuple[float, str] | None:
    """Split a string into the number at its start and the unit that follows, or return None if that is impossible."""
    text = text.lower().strip()
    number = _NUMBER.match(text)
    if not number:
        return None
    unit = text[number.end() :].strip()
    return None if "\n" in unit else (float(number[0]), unit)


def _find_match(answer: str, candidate: str) -> str:
    """Return "version" if two strings are equal versions, "date" if they are equal dates, and "" otherwise."""
    answer, candidate = answer.strip(), candidate.strip()
    if _VERSION.fullmatch(answer) or _VERSION.fullmatch(candidate):
        return "version" if answer == candidate else ""
    if len(answer) < 6 or len(candidate) < 6:
        return ""
    date = parse_date(candidate)
    return "date" if date and date == parse_date(answer) else ""


def _clean(text: str) -> str:
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


DOCVQA_2026 = Rule(
    "docvqa_2026",
    "accuracy",
    "DocVQA 2026: the answer after `FINAL ANSWER:`; numbers, versions and dates must be equal",
    "https://huggingface.co/datasets/VLR-CVC/DocVQA-2026",
    {
        "gold": "the reference, or a list of references, which may be written as a string",
        "prediction": "the whole output of the model",
    },
    "gold",
    judge,
    summarize_mean("accuracy"),
    marker=_MARKER,
)
