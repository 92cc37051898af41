"""Classifies answers by the reason for their scores, using a table of outcomes. The first outcome that applies counts.

Strings are compared after the normalization of the variant. A string is contained in another one as whole words: no
letter or digit is right before or after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.scorer import Scorer
from anls_metric.core.strings.abstention import abstains
from anls_metric.core.strings.metrics import contains_any, is_contained, normalize


class Outcome(NamedTuple):
    """A possible outcome of an answer: a row of `OUTCOMES`.

    Attributes:
        name: the name, wherever it is shown.
        meaning: what it says about an answer, in one line.
        applies: for a score of 0: whether a normalized prediction and the accepted answers have this outcome.
        of_strings: whether only strings have this outcome, and not lists and nested values.
    """

    name: str
    meaning: str
    applies: Callable[[str, Sequence[str]], bool] = lambda prediction, references: False
    of_strings: bool = False


def _is_part_of_any(prediction: str, references: Sequence[str]) -> bool:
    return any(is_contained(prediction, text) for text in references if prediction in text)


def is_same_but_formatting(prediction: str, references: Sequence[str]) -> bool:
    """Whether a string equals one of several other strings, except for punctuation, symbols, spaces and accents."""
    letters = keep_letters_and_digits(prediction)
    return letters != "" and letters in map(keep_letters_and_digits, references)


def is_another_number(prediction: str, references: Sequence[str]) -> bool:
    """Whether a string has digits, and at least one of several other strings does, but none of them has the same
    digits.
    """
    digits = keep_digits(prediction)
    if not digits:
        return False
    accepted = list(map(keep_digits, references))
    return digits not in accepted and any(accepted)


def _is_a_refusal(prediction: str, references: Sequence[str]) -> bool:
    return abstains(prediction) and not any(map(abstains, filter(None, references)))


_OF_ZERO = (
    Outcome(
        "empty",
        "is empty, or is a string that the variant treats as empty",
        lambda prediction, references: not prediction,
    ),
    Outcome(
        "same value",
        "is the number or date of a reference, written differently",
        is_any_same_value,
        of_strings=True,
    ),
    Outcome("contains an answer", "contains a reference among other words", contains_any),
    Outcome("part of an answer", "is part of a reference", _is_part_of_any),
    Outcome(
        "formatting",
        "equals a reference except for punctuation, symbols, spaces and accents",
        is_same_but_formatting,
        of_strings=True,
    ),
    Outcome("another number", "contains different digits from every reference", is_another_number, of_strings=True),
    Outcome("refusal", "says that the model cannot answer", _is_a_refusal),
    Outcome("other", "is something else", lambda prediction, references: True),
)
OUTCOMES = (
    Outcome("missing", "is not in the submission"),
    Outcome("equal", "equals a reference"),
    Outcome("close enough", "is similar enough to a reference to score"),
    *_OF_ZERO,
)
ZERO_OUTCOMES = ("missing", *(outcome.name for outcome in _OF_ZERO))


def find_outcomes(
    predictions: Sequence[Any], references: Sequence[Sequence[Any]], scores: Sequence[float], scorer: Scorer
) -> list[str]:
    """Find the outcome of each answer.

    Example:
        >>> from anls_metric import get_variant
        >>> find_outcomes(["It is Coca Cola.", "1988"], [["Coca Cola"], ["2019"]], [0.0, 0.0], get_variant())
        ['contains an answer', 'another number']
    """
    of_zero = [outcome for outcome in _OF_ZERO if scorer.scores_strings or not outcome.of_strings]

    def find_outcome(prediction: Any, accepted: Sequence[Any], score: float) -> str:
        if prediction is None:
            return "missing"
        if score > 0.0:
            return "equal" if score == 1.0 else "close enough"
        texts = normalize(prediction, accepted, scorer)
        return next(outcome.name for outcome in of_zero if outcome.applies(*texts))

    return list(map(find_outcome, predictions, references, scores))


# Strings


def keep_letters_and_digits(text: str) -> str:
    """Remove punctuation, symbols, spaces and accents from a string.

    Example:
        >>> keep_letters_and_digits("Café, 12.50 $")
        'Cafe1250'
    """
    if not text.isascii():
        import unicodedata  # a megabyte of tables, which most runs do not need

        text = unicodedata.normalize("NFKD", text)
    return "".join(filter(str.isalnum, text))


def keep_digits(text: str) -> str:
    """Return only the digits of a string.

    Example:
        >>> keep_digits("Café, 12.50 $")
        '1250'
    """
    return "".join(filter(str.isdigit, text))
