"""Classifies answers by the reason for their scores: a table of outcomes, of which the first that fits counts.

Texts are compared after the normalization of the variant. A text "stands in" another text as whole words: no letter or
digit is right before or after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from itertools import repeat
from operator import contains
from typing import Any, NamedTuple

from anls_metric.analysis.same_value import is_any_same_value
from anls_metric.core.scoring import normalizer
from anls_metric.core.variants import Scorer, Variant, get_variant
from anls_metric.reading.batch import Batch, Row
from anls_metric.reading.values import format_value


class Answer:
    """An answer with its score and its normalized texts, which the outcomes examine.

    Args:
        prediction: the answer; None for none.
        references: the accepted answers.
        score: the score of the answer.
        judge: normalizes the texts.

    Attributes:
        raw: the prediction, unchanged.
        raw_references: the accepted answers, unchanged.
        prediction: the prediction, normalized; "" if it counts as no answer in the variant.
        references: the accepted answers, normalized.
    """

    __slots__ = ("prediction", "raw", "raw_references", "references", "score")

    def __init__(self, prediction: Any, references: Sequence[Any], score: float, judge: Judge) -> None:
        self.raw, self.raw_references, self.score = prediction, references, score
        text = "" if prediction is None else judge.normalize(prediction)
        self.prediction = "" if text in judge.no_answers else text
        self.references = list(map(judge.normalize, references))


class Outcome(NamedTuple):
    """A row of `OUTCOMES`.

    Attributes:
        name: the name, wherever it is shown.
        meaning: what it says about an answer, in one line.
        fits: whether an answer that fits no earlier row has this outcome.
        scores_zero: whether such an answer scores 0.
        of_texts: whether only texts have this outcome, and not lists and nested values.
    """

    name: str
    meaning: str
    fits: Callable[[Answer], bool]
    scores_zero: bool = True
    of_texts: bool = False


def _is_missing(answer: Answer) -> bool:
    return answer.raw is None


def _is_equal(answer: Answer) -> bool:
    return answer.score == 1.0


def _is_close_enough(answer: Answer) -> bool:
    return answer.score > 0.0


def _is_empty(answer: Answer) -> bool:
    return not answer.prediction


def _has_the_same_value(answer: Answer) -> bool:
    return is_any_same_value(answer.prediction, answer.references)


def _contains_an_answer(answer: Answer) -> bool:
    return _any_stands_in(answer.references, answer.prediction)


def _is_part_of_an_answer(answer: Answer) -> bool:
    prediction, references = answer.prediction, answer.references
    return any(map(contains, references, repeat(prediction))) and any(map(stands_in, repeat(prediction), references))


def has_the_letters_and_digits(answer: Answer) -> bool:
    """Whether an answer equals an accepted answer, except for punctuation, symbols, spaces and accents."""
    letters, *accepted = keep_in_each(keep_letters_and_digits, [answer.prediction, *answer.references])
    return letters != "" and letters in accepted


def _is_another_number(answer: Answer) -> bool:
    digits, *accepted = keep_in_each(keep_digits, [answer.prediction, *answer.references])
    return digits != "" and digits not in accepted and any(accepted)


def _is_a_refusal(answer: Answer) -> bool:
    return refuses(answer.prediction) and not any(map(refuses, answer.references))


def _is_any(answer: Answer) -> bool:
    return True


OUTCOMES = (
    Outcome("missing", "the submission has no answer", _is_missing),
    Outcome("equal", "an accepted answer", _is_equal, scores_zero=False),
    Outcome("close enough", "similar enough to an accepted answer to score", _is_close_enough, scores_zero=False),
    Outcome("empty", "nothing, or what the variant takes for no answer", _is_empty),
    Outcome(
        "same value", "the number or date of an accepted answer, written otherwise", _has_the_same_value, of_texts=True
    ),
    Outcome("contains an answer", "an accepted answer stands in it, among other words", _contains_an_answer),
    Outcome("part of an answer", "it stands in an accepted answer, among other words", _is_part_of_an_answer),
    Outcome(
        "formatting",
        "an accepted answer except for punctuation, symbols, spaces and accents",
        has_the_letters_and_digits,
        of_texts=True,
    ),
    Outcome("another number", "a number, and not the accepted one", _is_another_number, of_texts=True),
    Outcome("refusal", "it says that it cannot answer", _is_a_refusal),
    Outcome("other", "something else", _is_any),
)

ZERO_OUTCOMES = tuple(outcome.name for outcome in OUTCOMES if outcome.scores_zero)


class Judge:
    """Finds the outcomes of answers under a scorer.

    Args:
        scorer: the name of a variant, or any `Scorer`. Lists and nested values are compared as JSON texts.

    Example:
        >>> judge = Judge()
        >>> judge.find_outcome(Row("7", "It is Coca Cola.", ["Coca Cola"], {}), 0.0)
        'contains an answer'
        >>> judge.find_outcome(Row("8", "1988", ["2019"], {}), 0.0)
        'another number'
    """

    def __init__(self, scorer: str | Scorer = "standard") -> None:
        scorer = get_variant(scorer) if isinstance(scorer, str) else scorer
        of_texts = isinstance(scorer, Variant)
        self.normalize: Callable[[Any], str] = normalizer(scorer) if isinstance(scorer, Variant) else _normalize_value
        self.no_answers: Collection[str] = scorer.no_answers if isinstance(scorer, Variant) else ()
        self.all_or_nothing = isinstance(scorer, Variant) and scorer.all_or_nothing
        self._outcomes = [outcome for outcome in OUTCOMES if of_texts or not outcome.of_texts]
        self._outcomes_of_zero = [outcome for outcome in self._outcomes if outcome.scores_zero]
        self._of_score: dict[float, str] = {}

    def find_outcome(self, row: Row, score: float) -> str:
        """Find the name of the first outcome that fits an answer and its score."""
        return self._find_outcome(row.prediction, row.references, score)

    def find_outcomes(self, rows: Sequence[Row], scores: Sequence[float]) -> list[str]:
        """Find the outcome of each answer."""
        batch, by_score = Batch.of(rows), self._of_score
        for score in set(scores) - by_score.keys():  # a score above 0 is enough to know the outcome
            by_score[score] = self._find_outcome("", (), score) if score > 0.0 else ""
        outcomes = list(map(by_score.__getitem__, scores))
        for place, (prediction, score) in enumerate(zip(batch.predictions, scores)):
            if score == 0.0 or prediction is None:
                outcomes[place] = self._find_outcome(prediction, batch.references[place], score)
        return outcomes

    def _find_outcome(self, prediction: Any, references: Sequence[Any], score: float) -> str:
        answer = Answer(prediction, references, score, self)
        for outcome in self._outcomes_of_zero if score == 0.0 else self._outcomes:
            if outcome.fits(answer):
                return outcome.name
        raise AssertionError("the last outcome fits any answer")

    def count_matches(self, rows: Sequence[Row], scores: Sequence[float], outcomes: Sequence[str]) -> tuple[int, int]:
        """Count the answers that equal an accepted answer after normalization, and those that contain one."""
        batch, normalize = Batch.of(rows), self.normalize
        exact = 0 if self.all_or_nothing else outcomes.count("equal")  # all of these are equal
        contain = exact + outcomes.count("contains an answer")
        open_outcomes = {"close enough", "missing", *(["equal"] if self.all_or_nothing else ())}
        for place, outcome in enumerate(outcomes):
            if outcome == "same value" or (outcome in open_outcomes and scores[place] > 0.0):
                prediction = normalize(batch.predictions[place] or "")
                inside = [text for text in map(normalize, batch.references[place]) if text in prediction]
                if prediction in inside:
                    exact += 1
                    contain += 1
                elif inside:
                    contain += any(map(stands_in, inside, repeat(prediction)))
        return exact, contain


_squeeze = normalizer()


def _normalize_value(value: Any) -> str:
    """Normalize a value as a text: "" if it is empty."""
    if value is None or (isinstance(value, (str, list, dict)) and not value):
        return ""
    return _squeeze(str(value) if isinstance(value, (bool, int, float)) else format_value(value))


# Texts


def stands_in(part: str, whole: str) -> bool:
    """Whether a text stands in another one as whole words; an empty text stands in none.

    Example:
        >>> stands_in("5", "page 5 of 15"), stands_in("5", "page 15")
        (True, False)
    """
    place = whole.find(part) if part else -1
    while place >= 0:
        end = place + len(part)
        if not (_is_word_character(whole[place - 1 : place]) or _is_word_character(whole[end : end + 1])):
            return True
        place = whole.find(part, place + 1)
    return False


def _is_word_character(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def _any_stands_in(parts: Sequence[str], whole: str) -> bool:
    return any(map(whole.__contains__, parts)) and any(map(stands_in, parts, repeat(whole)))


def keep_letters_and_digits(text: str) -> str:
    """Remove punctuation, symbols, spaces and accents from a text.

    Example:
        >>> keep_letters_and_digits("Café, 12.50 $")
        'Cafe1250'
    """
    if text.isascii():
        return text.encode().translate(None, _NO_LETTERS_AND_DIGITS).decode()
    import unicodedata  # a megabyte of tables, which most runs do not need

    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text)))


def keep_digits(text: str) -> str:
    """Keep the digits of a text.

    Example:
        >>> keep_digits("Café, 12.50 $")
        '1250'
    """
    if text.isascii():
        return text.encode().translate(None, _NO_DIGITS).decode()
    return "".join(filter(str.isdigit, text))


def keep_in_each(keep: Callable[[str], str], texts: Sequence[str]) -> list[str]:
    """What a function like `keep_digits` leaves of each text: in one call if all are ASCII.

    Example:
        >>> keep_in_each(keep_digits, ["5 a", "b", "6, 7"])
        ['5', '', '67']
    """
    joined = _END.join(texts)
    if joined.isascii() and joined.count(_END) == len(texts) - 1:
        return keep(joined).split(_END)
    return list(map(keep, texts))


# It ends a text among others. Removing punctuation from a text leaves it.
_END = "\0"
# The characters that are removed from ASCII texts, which most are. The zero character stays: it can separate texts.
_NO_LETTERS_AND_DIGITS = bytes(code for code in range(1, 128) if not chr(code).isalnum())
_NO_DIGITS = bytes(code for code in range(1, 128) if not chr(code).isdigit())


# Every refusal contains one of these and few other texts do. Searching them first takes a tenth of the time.
_REFUSAL_MARKS = ("not", "n't", "n’t", "no ", "unable", "sorry", "apologi", "an ai", "unanswer")

_REFUSALS = (
    r"(?i)"
    r"\b(?:i (?:can ?not|can['’]t|could not|couldn['’]t|do not|don['’]t|am not able|am unable|['’]m (?:sorry|unable))"
    r"|i am sorry|i apologi[sz]e|as an ai|unable to (?:answer|determine|read|see)|no (?:answer|(?:such )?information)"
    r"|not (?:possible|specified|mentioned|provided|visible|given|available|stated|legible|found)|(?:un|not )answerable"
    r"|can(?:not|['’]t| not) be (?:determined|answered|read)|does not (?:say|mention|contain|provide|specify|show)"
    r"|doesn['’]t (?:say|mention|contain|provide|specify|show))\b"
)


def refuses(text: str) -> bool:
    """Whether a text says that it cannot answer.

    Example:
        >>> refuses("I'm sorry, the document does not mention it."), refuses("Sorry Street 5")
        (True, False)
    """
    return any(map(text.lower().__contains__, _REFUSAL_MARKS)) and re.search(_REFUSALS, text) is not None
