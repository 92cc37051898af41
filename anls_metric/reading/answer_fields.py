"""Reads two fields beside an answer: the confidence of the model, and the verdict of a judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from anls_metric.core.rows import describe
from anls_metric.reading.layouts import ABSENT, look_up

CONFIDENCE, JUDGE = "confidence", "judge"
"""The names of these fields in `Row.beside` and in the JSON document."""

NOTHING_BESIDE: Mapping[str, Any] = MappingProxyType({})

# The usual names of a confidence. `score` is not among them, because many logs use it for the score of the answer.
CONFIDENCE_FIELDS = ("confidence", "logprob")

VERDICTS: Mapping[str, bool] = {
    "true": True,
    "false": False,
    "1": True,
    "0": False,
    "correct": True,
    "incorrect": False,
    "yes": True,
    "no": False,
}
"""The verdicts of a judge as texts, in any case."""


def read_confidence(record: Mapping[str, Any], path: str) -> float | None:
    """Read a confidence: a probability from 0 to 1, or its logarithm where the field is called ``logprob``.

    Args:
        record: the record of an answer.
        path: the path of the field.

    Returns:
        The probability; None where the record has none.

    Raises:
        ValueError: the value is not a number, or not a probability.

    Example:
        >>> read_confidence({"confidence": "0.75"}, "confidence"), read_confidence({"logprob": 0}, "logprob")
        (0.75, 1.0)
        >>> read_confidence({"confidence": 95}, "confidence")
        Traceback (most recent call last):
        ValueError: confidence is 95 (int): write a probability from 0 to 1
    """
    value = look_up(record, path)
    if value is ABSENT or value is None or value == "":
        return None
    number = _as_number(value)
    if path.rpartition(".")[2] == "logprob":
        if number is None or not number <= 0.0:
            raise ValueError(f"{path} is {describe(value)}: write the logarithm of a probability, at most 0")
        return math.exp(number)
    if number is None or not 0.0 <= number <= 1.0:
        raise ValueError(f"{path} is {describe(value)}: write a probability from 0 to 1")
    return number


def _as_number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def read_verdict(record: Mapping[str, Any], path: str) -> bool | None:
    """Read the verdict of a judge: true or false, 1 or 0, correct or incorrect, yes or no.

    Args:
        record: the record of an answer.
        path: the path of the field.

    Returns:
        Whether the judge calls the answer right; None where the record has no verdict.

    Raises:
        ValueError: the value is not a verdict.

    Example:
        >>> read_verdict({"judge": "Correct"}, "judge"), read_verdict({"judge": 0}, "judge"), read_verdict({}, "judge")
        (True, False, None)
        >>> read_verdict({"judge": "perhaps"}, "judge")
        Traceback (most recent call last):
        ValueError: judge is 'perhaps' (str): write true or false, 1 or 0, correct or incorrect, yes or no
    """
    value = look_up(record, path)
    if value is ABSENT or value is None or value == "":
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip().lower()
    if text not in VERDICTS:
        raise ValueError(f"{path} is {describe(value)}: write true or false, 1 or 0, correct or incorrect, yes or no")
    return VERDICTS[text]


READERS: Mapping[str, Callable[[Mapping[str, Any], str], float | bool | None]] = {
    CONFIDENCE: read_confidence,
    JUDGE: read_verdict,
}
"""The name of a field -> the function that reads it, given the record of an answer and the path of the field."""
